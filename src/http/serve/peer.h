/* Serves records to other servers of a table: POST /relay/<design>, on a separate listener
 * (server_options.peer_listen). Requests are sealed with the secret of the table's servers (process/relay/relay.h);
 * all others get 403.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_PEER_H
#define THORPE_HTTP_SERVE_PEER_H

#include "http/connection/route.h"
#include "process/relay/relay.h"

struct peer_http {
	struct relay *const *relays; /* set before server_run(); entries may be NULL */
	size_t count;
};

struct http_route peer_route(struct peer_http *p);

#endif
