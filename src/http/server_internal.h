/* Inside http/: the server's own state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVER_INTERNAL_H
#define THORPE_HTTP_SERVER_INTERNAL_H

#include "http/loop.h"
#include "http/server.h"

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
	struct workers *hashers; /* the same */
	struct api *api;
	int64_t started_us;

	/* the accepting thread's */
	uv_loop_t uv;
	uv_poll_t acceptor;
	uv_timer_t retry;   /* accepting goes on when it is over */
	uint64_t warned_at; /* uv_now() of the last line about missing descriptors; 0: never */
	uv_async_t wake;
	uv_signal_t sigterm, sigint;
	bool has_loop;
	bool stopping;
	_Atomic uint64_t refused; /* connections over the limit */
	atomic_bool stop_wanted;
	atomic_uint finished; /* loops that have drained */
};

#endif
