/* The server's part of /metrics, in Prometheus' text format.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_METRICS_H
#define THORPE_HTTP_SERVE_METRICS_H

#include "base/buf.h"

struct server;

uint64_t metrics_watchers(const struct server *s);

struct metrics_server {
	int64_t uptime_ms;
	uint64_t memory_bytes; /* resident; 0: unknown */
	uint64_t connections;
};
struct metrics_server metrics_server(const struct server *s);
void metrics_write(const struct server *s, struct buf *out);

#endif
