/* Inside http/: the server's own state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVER_INTERNAL_H
#define THORPE_HTTP_SERVER_INTERNAL_H

#include "base/budget.h"
#include "http/addresses.h"
#include "http/loop.h"
#include "http/server.h"

#define SERVER_FULL_TEXT                                                            \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n" \
	"Connection: close\r\nRetry-After: 1\r\n\r\n"

struct loop_thread {
	struct loop loop;
	pthread_t thread;
	bool ready;   /* loop_init() was done */
	bool started; /* the thread was */
};

struct server {
	struct server_options options; /* completed */
	struct address address;
	int listen_fd;  /* -1 once draining */
	int reserve_fd; /* given up for a moment when descriptors run out */
	struct loop_thread *threads;
	unsigned thread_count;
	struct workers *workers; /* while it runs */
	struct api *api;
	int64_t started_us;

	/* the accepting thread's */
	uv_loop_t uv;
	uv_poll_t acceptor;
	uv_timer_t retry;   /* accepting goes on when it is over */
	uint64_t warned_at; /* uv_now() of the last line about missing descriptors; 0: never */
	uint64_t warned_of_address_at; /* the same, about an address with too many connections */
	uv_async_t wake;
	uv_signal_t sigterm, sigint;
	bool has_loop;
	bool stopping;
	_Atomic uint64_t refused; /* connections over the limit */
	atomic_bool stop_wanted;
	atomic_uint finished; /* loops that have drained */

	/* shared by the loops */
	struct budget budget;        /* memory of requests in flight */
	struct addresses addresses;
	_Atomic uint64_t on_reserve; /* connections now; counted up by the acceptor */
};

/* The socket is gone: it counts no more. From any thread. */
void server_forget(struct server *s, const struct loop_socket *sock);
void server_count_refused(struct server *s); /* from any thread */

#endif
