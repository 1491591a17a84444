/* What one client may ask of the server before it is refused or dropped.
 *
 * Every number is an option; zero takes the default named here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_HTTP_LIMITS_H
#define THORPE_HTTP_HTTP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/*        name              default             why that much
 * MS: milliseconds. */
#define HTTP_LIMIT_MAP(X)                                                                        \
	X(header_bytes,     32 * 1024)        /* session tokens alone reach several kilobytes */ \
	X(header_count,     100)                                                                 \
	X(body_bytes,       16 * 1024 * 1024) /* DynamoDB's largest request; unzipped too */ \
	X(pipelined,        16)               /* requests of one connection in flight */         \
	X(pipelined_bytes,  1024 * 1024)      /* bodies and replies of those, before reading pauses */ \
	X(connections,      10000)                                                               \
	X(idle_ms,          120 * 1000)       /* SDKs drop theirs after 60 s or less */          \
	X(header_ms,        10 * 1000)        /* first byte to last byte of a head; handshake */ \
	X(body_ms,          20 * 1000)        /* head start of a body over body_rate */          \
	X(body_rate,        1024)             /* bytes a second a body must come in with */      \
	X(write_ms,         30 * 1000)        /* without the client taking a byte */             \
	X(linger_ms,        5 * 1000)         /* reading on after a refusal, so that it arrives */ \
	X(drain_ms,         10 * 1000)        /* for requests in flight when the server stops */ \
	X(workers,          64)               /* threads for what has to wait: that many writes share an fsync */ \
	X(waiting,          1024)             /* requests without a worker yet, before 503 */ \
	X(hashers,          0)                /* threads for password hashes; 0: half of the processors, at least 1 */ \
	X(hash_waiting,     1024)             /* requests that wait for one, before 503; half of them for one client */ \
	X(watchers,         20000)            /* of lists, at once; each has a connection */ \
	X(watch_bytes,      256 * 1024)       /* waiting for one watcher, before he is cut off */ \
	X(keep_alive_ms,    15 * 1000)        /* of silence, before a watcher is told that it is still there */

struct http_limits {
#define X(name, otherwise) uint64_t name;
	HTTP_LIMIT_MAP(X)
#undef X
};

/* Replaces every zero by its default. */
static inline void http_limits_complete(struct http_limits *l)
{
#define X(name, otherwise) \
	if (!l->name)      \
		l->name = (otherwise);
	HTTP_LIMIT_MAP(X)
#undef X
}

#endif
