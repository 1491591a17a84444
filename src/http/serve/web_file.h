/* Replies with a file of the console or of an app.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_WEB_FILE_H
#define THORPE_HTTP_SERVE_WEB_FILE_H

#include "console/web_file.h"
#include "http/connection/exchange.h"

/* Compressed if the client takes gzip; 304 if it has the file. `guards`: header lines for every reply. */
void web_file_reply(struct exchange *ex, const struct web_file *f, struct slice guards);
/* Whether the client has this version already (If-None-Match). */
bool web_file_is_known(const struct exchange *ex, struct slice etag);

#endif
