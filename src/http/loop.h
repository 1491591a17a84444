/* One thread's event loop: its connections, and the state they share without locks.
 *
 * Everything here belongs to the loop's thread, except what is marked as shared.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_LOOP_H
#define THORPE_HTTP_LOOP_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/clock.h"
#include "http/connection/exchange.h"
#include "wire/gzip.h"
#include "http/door/keys.h"
#include "http/door/origin.h"
#include "http/door/proxies.h"
#include "http/connection/route.h"
#include "http/door/sigv4.h"
#include "http/connection/tls.h"
#include "http/workers.h"
#include "process/live/live.h"

#define LOOP_READ_BYTES (64 * 1024)

struct address_entry;
struct app;
struct budget;

/* Shared: written by the loop's thread, read by any. */
#define LOOP_COUNTER_MAP(X)                                                         \
	X(accepted, "connections_accepted_total", "Connections accepted")           \
	X(timeouts, "timeouts_total", "Connections dropped for being slow or idle") \
	X(requests, "requests_total", "Requests received, refused ones included")   \
	X(foreign, "foreign_total", "Requests refused for their Host or Origin")    \
	X(bytes_in, "received_bytes_total", "Bytes received")                       \
	X(bytes_out, "sent_bytes_total", "Bytes of replies")

struct loop_counters {
#define X(name, metric, help) _Atomic uint64_t name;
	LOOP_COUNTER_MAP(X)
#undef X
	_Atomic uint64_t status[6]; /* replies by the first digit of their status */
	_Atomic uint64_t open;      /* connections now, except those on the reserve; the acceptor increments it */
	_Atomic uint64_t watchers;  /* streams now, from the request on */
	_Atomic uint64_t watchers_cut, events; /* since the start */
};

struct loop_socket {
	int fd;
	struct address_entry *from; /* in the server's addresses; NULL: not counted there */
	bool on_reserve;            /* connection.h */
};

/* Work to do on the loop's thread. */
struct loop_post {
	struct loop_post *next;
	void (*run)(struct loop *l, struct loop_post *p); /* frees it */
};

/* The only connection that has sent a request for a while: the loop's thread may wait for the disk itself, once per
 * turn, so that a new client waits for at most one write. */
struct loop_lone {
	const struct conn *conn; /* the last one that sent a request */
	uint64_t since;          /* when it became the only one */
	bool has_waited;         /* in this turn */
	uint64_t waited_us;      /* recent average */
	uint64_t not_before;     /* after a long wait: not again until then */
};

struct loop {
	struct server *server;
	uv_loop_t uv;
	uv_async_t wake;
	uv_timer_t tick;
	uv_prepare_t turn; /* a turn of the loop begins */
	uv_timer_t delay;  /* runs while something is delayed */
	pthread_t self;
	/* from the server's options */
	const struct http_limits *limits;
	struct budget *budget; /* of all loops' requests */
	struct keys *keys;     /* this and `tls`: the loop's own shares; server_replace() replaces them */
	struct tls_context *tls;
	const struct origin_rules *origin;
	int only; /* serves only rows with this flag; 0: all but ROUTE_PEER */
	struct origin_memo origin_memo;
	const struct proxies *proxies; /* NULL: none is trusted */
	const struct clock *clock;
	const char *region;
	const struct http_route *routes, *own_routes; /* matched in this order */
	size_t route_count, own_route_count;
	struct api *api;
	struct api_thread *api_thread;
	struct workers *workers; /* shared by all loops; has its own lock */
	struct workers *hashers; /* the same for requests that hash a password */
	const struct http_forward *forward;
	const struct http_ready *ready;
	void *local; /* as each worker has, for requests answered inline (workers.h) */

	struct conn *conns; /* all of them */
	size_t conn_count;
	struct conn *reserve_first, *reserve_last; /* those on the reserve, oldest first */
	size_t reserve_count;
	size_t running; /* exchanges the api or a worker holds, and delayed ones */
	struct loop_lone lone;
	struct exchange *delayed; /* linked by `completed`, which is unused until then */
	struct exchange *free_exchanges;
	size_t free_count;
	bool draining;
	uint64_t draining_since;
	struct gzip gzip;
	struct sigv4_cache sigv4;
	struct request_ids ids;
	char date[40]; /* for the Date header, updated once a second */
	size_t date_len;
	uint64_t date_made;
	char *read_buffer;         /* LOOP_READ_BYTES: the callback consumes all input */
	char *plain_buffer;        /* the same for decrypted bytes; NULL without TLS */
	struct live_target live;   /* receives the events of watched lists: rest_live.c */
	struct conn *stream_turns; /* while posts run: connections whose streams have something to send */

	/* Shared with other threads: */
	_Atomic(struct exchange *) completed; /* a stack, filled by the api's writer and by workers */
	atomic_int completing;                /* threads inside loop_complete(); the loop must outlive them */
	pthread_mutex_t inbox_lock;
	struct loop_socket *inbox; /* accepted */
	size_t inbox_n, inbox_cap;
	struct loop_post *posts, **posts_end; /* under the inbox's lock, oldest first */
	atomic_bool streams_lost;             /* an event for watchers could not be posted */
	atomic_bool drain_wanted, cut_wanted;
	struct loop_counters counters;
};

/* False: out of memory or descriptors. Set the fields "from the options" before. */
bool loop_init(struct loop *l) MUST_CHECK;
/* Returns when drained. */
void loop_run(struct loop *l);
void loop_release(struct loop *l);
void loop_close_handle(uv_handle_t *h, void *unused); /* for uv_walk() */

/* ---- from any thread ---- */
/* Takes over the socket. False: out of memory; the caller still owns it. */
bool loop_adopt(struct loop *l, int fd) MUST_CHECK;
bool loop_adopt_socket(struct loop *l, struct loop_socket s) MUST_CHECK;
void loop_drain(struct loop *l);
void loop_cut(struct loop *l); /* stop waiting for clients */
void loop_complete(struct loop *l, struct exchange *ex);
/* Posts run in order. The loop must not have ended. */
void loop_post(struct loop *l, struct loop_post *p);
/* Watchers have missed an event: cuts off all streams of the loop. */
void loop_lose_streams(struct loop *l);

/* ---- from the loop's thread ---- */
bool loop_is_current(const struct loop *l);
struct exchange *loop_take_exchange(struct loop *l); /* NULL: out of memory */
void loop_give_exchange(struct loop *l, struct exchange *ex);
/* Begins the exchange, which is RUNNING, after ex->delay_ms. */
void loop_delay(struct loop *l, struct exchange *ex);
/* The delay before a write (server.h). */
int64_t loop_write_delay(const struct loop *l, const struct app *app);
/* Call when a request of this connection begins. */
void loop_asked_by(struct loop *l, const struct conn *c);
/* Whether the loop's thread may wait for a write of this connection (NULL: one that has closed). Report the wait with
 * loop_has_waited(). */
bool loop_may_wait_for(const struct loop *l, const struct conn *c);
void loop_has_waited(struct loop *l, uint64_t us);
/* Stops counting a socket that is closed, or will be within this turn. */
void loop_forget(struct loop *l, const struct loop_socket *s);
/* Call when a connection or a running exchange has ended: ends a drained loop. */
void loop_check_end(struct loop *l);
struct slice loop_http_date(struct loop *l);
/* Runs all posts. */
void loop_take_posts(struct loop *l);
/* Gives the stream's connection a turn after the current posts. */
void loop_turn_stream(struct loop *l, struct sse *s);

/* Only one thread writes: no locked instruction is needed. */
static inline void loop_count(_Atomic uint64_t *c, uint64_t n)
{
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline void loop_count_status(struct loop *l, int status)
{
	loop_count(&l->counters.status[status >= 100 && status < 600 ? status / 100 : 0], 1);
}

static inline void loop_count_reply(struct loop *l, size_t bytes)
{
	loop_count(&l->counters.requests, 1);
	loop_count(&l->counters.bytes_out, bytes);
}

#endif
