/* Limits on what one client may use before it is refused or dropped.
 *
 * Every number is an option; zero means the default given here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_HTTP_LIMITS_H
#define THORPE_HTTP_PARSE_HTTP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/machine.h"

/*        name              default             why that much
 * MS: milliseconds. Default 0: computed. */
#define HTTP_LIMIT_MAP(X)                                                                                              \
	X(header_bytes, 32 * 1024) /* session tokens alone reach several kilobytes */                                  \
	X(header_count, 100)                                                                                           \
	X(body_bytes, 16 * 1024 * 1024) /* DynamoDB's largest request; also when decompressed */                       \
	X(rest_body_bytes, 1024 * 1024) /* of the REST API; more if a design's attributes are longer */                \
	X(request_memory, 0)            /* for all requests in flight; see http_limits_complete() */                   \
	X(pipelined, 16)                /* requests of one connection in flight */                                     \
	X(pipelined_bytes, 1024 * 1024) /* bodies and replies of these, before reading pauses */                       \
	X(connections, 10000)                                                                                          \
	X(connections_per_address, 0) /* see http_limits_complete() */                                                 \
	X(reserved_connections, 64)   /* in addition, for health checks and operators */                               \
	X(idle_ms, 120 * 1000)        /* SDKs drop theirs after 60 s or less */                                        \
	X(header_ms, 10 * 1000)       /* first byte to last byte of a head; handshake */                               \
	X(body_ms, 10 * 1000)         /* a body must arrive at body_rate over any such interval */                     \
	X(body_rate, 1024)            /* bytes a second, on average over body_ms */                                    \
	X(write_ms, 30 * 1000)        /* without the client taking a byte */                                           \
	X(linger_ms, 5 * 1000)        /* reading on after a refusal, so that the reply arrives */                      \
	X(drain_ms, 10 * 1000)        /* for requests in flight when the server stops */                               \
	X(workers, 64)                /* threads for requests that block: this many writes can share an fsync */       \
	X(waiting, 1024)              /* requests without a worker yet, before 503 */                                  \
	X(hashers, 0)                 /* threads for password hashes; 0: half of the processors, at least 1 */         \
	X(hash_waiting, 1024)         /* requests waiting for one, before 503; at most half of them from one client */ \
	X(watchers, 20000)            /* of lists, at once; each has a connection */                                   \
	X(watch_bytes, 256 * 1024)    /* queued for one watcher, before it is disconnected */                          \
	X(keep_alive_ms, 15 * 1000)   /* of silence, before a watcher gets a keep-alive */

struct http_limits {
#define X(name, otherwise) uint64_t name;
	HTTP_LIMIT_MAP(X)
#undef X
};

#define REQUEST_MEMORY_PART  8                     /* of the machine's, or the container's */
#define REQUEST_MEMORY_LEAST ((uint64_t)64 << 20)  /* one request of DynamoDB's largest, parsed */
#define REQUEST_MEMORY_MOST  ((uint64_t)256 << 20) /* a few such requests; refused clients retry */
#define PER_ADDRESS_PART     4                     /* of all connections, so that no client can take them all */
#define PER_ADDRESS_LEAST    64
#define HTTP_RESERVE_BURST   4 /* this many times reserved_connections may exist for a moment */

static inline uint64_t http_default_request_memory(void)
{
	uint64_t part = machine_memory() / REQUEST_MEMORY_PART;

	if (part < REQUEST_MEMORY_LEAST)
		return REQUEST_MEMORY_LEAST;
	return part < REQUEST_MEMORY_MOST ? part : REQUEST_MEMORY_MOST;
}

static inline uint64_t http_default_per_address(uint64_t connections)
{
	uint64_t part = connections / PER_ADDRESS_PART;

	return part > PER_ADDRESS_LEAST ? part : PER_ADDRESS_LEAST;
}

/* Replaces every zero by its default. */
static inline void http_limits_complete(struct http_limits *l)
{
#define X(name, otherwise) \
	if (!l->name)      \
		l->name = (otherwise);
	HTTP_LIMIT_MAP(X)
#undef X
	if (!l->request_memory)
		l->request_memory = http_default_request_memory();
	if (!l->connections_per_address)
		l->connections_per_address = http_default_per_address(l->connections);
}

#endif
