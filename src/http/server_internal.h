/* Inside http/: the server's own state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVER_INTERNAL_H
#define THORPE_HTTP_SERVER_INTERNAL_H

#include "base/budget.h"
#include "http/door/addresses.h"
#include "http/loop.h"
#include "http/server.h"

#define SERVER_FULL_TEXT                                            \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n" \
	"Connection: close\r\nRetry-After: 1\r\n\r\n"

/* listeners beside the server's own */
enum { SIDE_MONITOR, SIDE_PEERS, SIDES };

struct loop_thread {
	struct loop loop;
	pthread_t thread;
	bool ready;   /* loop_init() succeeded */
	bool started; /* the thread runs */
};

struct server {
	struct server_options options; /* completed */
	struct address address;
	int listen_fd;  /* -1 once draining */
	int reserve_fd; /* closed for a moment when descriptors run out */
	struct loop_thread *threads;
	unsigned thread_count;
	struct workers *workers; /* while the server runs */
	struct origin_rules origin;
	struct workers *hashers; /* the same */
	struct api *api;
	int64_t started_us;

	/* the accepting thread's */
	uv_loop_t uv;
	uv_poll_t acceptor;
	uv_timer_t retry;              /* resumes accepting */
	uint64_t warned_at;            /* uv_now() of the last line about missing descriptors; 0: never */
	uint64_t warned_of_address_at; /* the same, about an address with too many connections */
	uv_async_t wake;
	uv_signal_t sigterm, sigint, sighup;
	bool has_loop;
	bool stopping;
	_Atomic uint64_t refused; /* connections over the limit */
	atomic_bool stop_wanted, hangup_wanted;
	atomic_uint finished; /* loops that have drained, those of the sides included */

	/* server_hangup.c */
	struct {
		void (*run)(void *ctx);
		void *ctx;
	} hooks[SERVER_HOOKS];
	size_t hook_count;

	/* server_side.c; the accepting thread's, except the loops */
	struct server_side {
		struct server *server;
		const char *listen; /* NULL: there is none */
		int only;           /* serves only rows with this flag */
		struct address address;
		int listen_fd; /* -1: closed */
		struct loop_thread thread;
		struct origin_rules origin;
		uv_poll_t acceptor;
		uv_timer_t retry;
	} sides[SIDES];

	/* shared by the loops */
	struct budget budget; /* memory of requests in flight */
	struct addresses addresses;
	_Atomic uint64_t on_reserve; /* connections now; the acceptor increments it */
};

/* Stops counting a closed socket. From any thread. */
void server_forget(struct server *s, const struct loop_socket *sock);
void server_count_refused(struct server *s); /* from any thread */

/* A loop's thread, from its start until it has drained. `arg`: the loop. */
void *server_loop_thread(void *arg);
/* The rules for one address (origin.h). */
struct origin_rules server_origin_rules(const struct server_options *o, const char *listen, const struct address *a,
					bool open);

/* ---- server_hangup.c ---- */
void server_run_hooks(struct server *s);

/* ---- server_side.c: further listeners. With none, these functions do nothing. ---- */

/* Binds and listens. False with a sentence in `why`. */
bool sides_open(struct server *s, char *why, size_t n) MUST_CHECK;
/* The handles of the accepting thread's loop. */
bool sides_init(struct server *s) MUST_CHECK;
/* Threads, then accepting. False: memory or threads. */
bool sides_start(struct server *s) MUST_CHECK;
/* Begins to drain, without waiting for clients. */
void sides_stop(struct server *s);
void sides_cut(struct server *s);
/* After the accepting thread's loop has ended: waits for the threads. */
void sides_end(struct server *s);
void sides_close(struct server *s); /* closes remaining listeners */
unsigned sides_loops(const struct server *s);

#endif
