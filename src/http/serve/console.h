/* /console: the console's files from the binary, and the documents it asks for.
 *
 *     GET /                            a browser is led to /console/; everything else passes on to the server's own
 *     GET /console/…                   the files (console/files.h); nothing else is ever served from there
 *     GET /console/api/session         console/console.h has the documents
 *     GET /console/api/stats
 *     GET /console/api/designs/<name>
 *     GET, POST /console/api/verify/<name>   what the oracle says of its items; POST begins a new check
 *
 * The files are for anyone. The documents hold operators' tokens, so they are for operators:
 *   - a server with keys wants them signed (SigV4), as it wants DynamoDB's requests;
 *   - a server without takes every caller for an operator, but never a web page of another origin: beside what
 *     origin.h asks of every request, one for a document must have the header x-thorpe-console, which a page can
 *     only send to its own origin unless a preflight allows it. Preflights are refused here, even for --cors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_CONSOLE_H
#define THORPE_HTTP_SERVE_CONSOLE_H

#include "console/console.h"
#include "http/connection/route.h"

#define CONSOLE_BASE   "/console"
#define CONSOLE_ROUTES 8

struct console_http {
	struct console *console; /* set before server_run() */
};

/* Fills CONSOLE_ROUTES rows, which point to `c`. */
void console_routes(struct console_http *c, struct http_route *rows);

#endif
