/* DynamoDB's requests for tables of designs that are elsewhere: sent on to where they are, with this server's credentials. So the
 * console, and every SDK that this server lets in, finds a design's table here, wherever it is.
 *
 * What is sent on: requests that name such a table (or <table>.thorpe), or its stream. ListTables names these tables beside the server's
 * own (api_list_also()).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_FORWARD_H
#define THORPE_HTTP_SERVE_FORWARD_H

#include "http/serve/rest.h"

struct exchange;

/* For server_options.forward; ctx: the struct rest. Whether it has taken the request: then it is answered, or will be. */
bool forward_take(struct exchange *ex, void *ctx, struct slice target, struct slice body);

#endif
