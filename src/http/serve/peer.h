/* Other servers of a table ask this one for records: POST /relay/<design>, on a listener of its own (server_options.peer_listen).
 * Requests are sealed with the secret of the table's servers (process/relay/relay.h); any other gets 403.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_PEER_H
#define THORPE_HTTP_SERVE_PEER_H

#include "http/connection/route.h"
#include "process/relay/relay.h"

struct peer_http {
	struct relay *const *relays; /* may be set after server_new(), before server_run(); a NULL in it is none */
	size_t count;
};

struct http_route peer_route(struct peer_http *p);

#endif
