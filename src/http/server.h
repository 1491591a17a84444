/* The HTTP/1.1 server: one thread that accepts, N that each run an event loop of connections, and workers for what has
 * to wait.
 *
 *     s = server_new(&options, why, sizeof(why));   the address is bound and listened on
 *     server_address(s)                             where, the port chosen for port 0 included
 *     server_run(s, api)                            until server_stop() or a signal, then drains
 *     server_free(s)
 *
 * Draining: accepts no more connections, closes idle ones, answers requests in flight with "Connection: close", and
 * cuts off the rest after limits.drain_ms. It always waits for a request that the api or a worker holds: its memory
 * is in use. SIGHUP (with handle_signals) runs the hooks of server_on_hangup(), one of which may replace keys and
 * certificate. Threads: server_stop() and server_hangup() may be called by any thread; the rest by one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVER_H
#define THORPE_HTTP_SERVER_H

#include "api/api.h"
#include "http/door/address.h"
#include "http/door/keys.h"
#include "http/parse/http_limits.h"
#include "http/door/proxies.h"
#include "http/connection/route.h"
#include "http/connection/tls.h"
#include "http/workers.h"

struct server;
struct app;

/* An additional part of /metrics. Several threads may call it at once. */
struct metrics_writer {
	void (*write)(void *ctx, struct buf *out);
	void *ctx;
};

/* Takes DynamoDB requests for other databases. True: it has taken the request, and replies now or later (forward.h).
 * NULL: all are for this server's database. */
struct http_forward {
	bool (*take)(struct exchange *ex, void *ctx, struct slice target, struct slice body);
	void *ctx;
};

/* Why not all requests can be answered now, besides what api_health() knows: a sentence without paths; NULL: they can.
 * Must be quick: event loops call it. `why` NULL: nothing else is known. */
struct http_ready {
	const char *(*why)(void *ctx);
	void *ctx;
};

/* The delay before a write starts, in milliseconds. `app` NULL: a write of DynamoDB's API. Must be quick: event loops
 * call it. */
struct write_delay {
	int64_t (*ms)(void *ctx, const struct app *app); /* NULL: no write waits */
	void *ctx;
};

/* zero is the default everywhere; everything pointed to must outlive the server, except shares */
struct server_options {
	const char *listen;            /* NULL: 127.0.0.1:8000 */
	unsigned threads;              /* 0: as many as processors */
	const char *region;            /* NULL: us-east-1 */
	struct keys *keys;             /* NULL: signatures are not needed and not checked. The server takes a share */
	struct tls_context *tls;       /* NULL: plain HTTP. The server takes a share */
	const struct proxies *proxies; /* trusted to name the client, and with any number of connections; NULL: none */
	const char *const *hosts;      /* further names it answers to without keys (origin.h) */
	size_t host_count;
	const char *const *cors; /* further origins whose pages may call, besides loopback ones; "*": all */
	size_t cors_count;
	const char *metrics_listen; /* NULL: none. Else a second address: ROUTE_MONITOR only, plain HTTP, no keys */
	const char *peer_listen; /* NULL: none. Else another address: ROUTE_PEER only, plain HTTP; rows check callers */
	const struct http_route *routes; /* matched before the server's own */
	size_t route_count;
	struct thread_local_maker local;      /* private data of each thread that answers requests */
	const struct metrics_writer *metrics; /* a list */
	size_t metric_count;
	struct write_delay write_delay;
	struct http_forward forward;
	struct http_ready ready; /* for /readyz */
	struct http_limits limits;
	const struct clock *clock; /* for signatures; NULL: the system's */
	bool handle_signals;       /* SIGTERM and SIGINT stop the server; a second one at once */
};

#define SERVER_DEFAULT_LISTEN "127.0.0.1:8000"

/* NULL with a sentence in `why`: bad address, port in use, no memory. */
struct server *server_new(const struct server_options *o, char *why, size_t n);
const struct address *server_address(const struct server *s);
/* Returns when stopped and drained. False: out of threads or memory; it has served nothing, and the log says so. */
bool server_run(struct server *s, struct api *api) MUST_CHECK;
void server_stop(struct server *s);

/* ---- while it runs ---- */

#define SERVER_HOOKS 8
/* Before server_run(), at most SERVER_HOOKS. Hooks run on the accepting thread, in the order of these calls, until the
 * server stops: they must be quick. */
void server_on_hangup(struct server *s, void (*hook)(void *ctx), void *ctx);
/* As SIGHUP does. */
void server_hangup(struct server *s);
/* From a hook: new requests are verified with these keys, new connections get this certificate. NULL: unchanged; keys
 * or TLS absent at server_new() cannot be added. Open connections and requests in flight continue. The server takes
 * shares; each event loop changes between two turns, and the log says when the last one has. A request that takes
 * several turns may see both: it must not keep a secret's slice. False: out of memory; nothing has changed. */
bool server_replace(struct server *s, struct keys *keys, struct tls_context *tls) MUST_CHECK;
/* The bound address of metrics_listen; NULL: none. */
const struct address *server_monitor_address(const struct server *s);
/* The same for peer_listen. */
const struct address *server_peer_address(const struct server *s);

void server_free(struct server *s); /* NULL is fine */

#endif
