/* Forwards DynamoDB's requests for tables of designs that are in another database, with this server's credentials. So
 * the console, and every SDK that this server admits, can use a design's table here, wherever it is.
 *
 * Forwarded: requests that name such a table (or <table>.thorpe), or its stream. ListTables lists these tables with
 * the server's own (api_list_also()).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_FORWARD_H
#define THORPE_HTTP_SERVE_FORWARD_H

#include "http/serve/rest.h"

struct exchange;

/* For server_options.forward; ctx: the struct rest. True: it has taken the request, and replies now or later. */
bool forward_take(struct exchange *ex, void *ctx, struct slice target, struct slice body);

#endif
