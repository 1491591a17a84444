/* /console: the console's files from the binary, and its documents.
 *
 *     GET /                            redirects browsers to /console/; other clients get the server's own row
 *     GET /console/…                   the files (console/files.h), nothing else
 *     GET /console/api/session         console/console.h has the documents
 *     GET /console/api/stats
 *     GET /console/api/designs/<name>
 *     GET, POST /console/api/verify/<name>   the oracle's findings on its items; POST begins a new check
 *
 * The files are for anyone. The documents hold operators' tokens, so they are for operators:
 *   - a server with keys requires a signature (SigV4), as for DynamoDB's requests;
 *   - a server without keys treats every caller as an operator, except web pages of other origins: in addition to the
 *     rules of origin.h, a request for a document must have the header x-thorpe-console, which a page can send only
 *     to its own origin unless a preflight allows it. Preflights are refused here, even for --cors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_CONSOLE_H
#define THORPE_HTTP_SERVE_CONSOLE_H

#include "console/console.h"
#include "http/connection/route.h"

#define CONSOLE_BASE   "/console"
#define CONSOLE_ROUTES 8

struct console_http {
	struct console *console; /* set before server_run() */
	const char *uploads; /* pages may send files there, and show them: a bucket's origin; "" or NULL: only here */
};

/* Fills CONSOLE_ROUTES rows, which point to `c`. */
void console_routes(struct console_http *c, struct http_route *rows);

#endif
