/* Threads that may wait, for what an event loop must not do itself: requests of an application, which writes and waits for it.
 *
 *     workers_reserve()    a place in the queue, or none: then the request is refused at once
 *     workers_submit()     the exchange takes the place
 *
 * Invariants
 *   W1  A reserved place is guaranteed: workers_submit() does not fail, and a thread is there to serve it.
 *   W2  At most `waiting` have a place beyond what all threads can run at once.
 *   W3  A worker leaves an exchange alone once it is completed (loop_complete()) or handed over: it may be gone.
 *   W4  In a fair pool clients have turns (exchange.client): the n-th waiting request of a client comes after the
 *       (n-1)-th of every other, and one client has at most half of the places. A client that floods the queue
 *       delays each other client by one request.
 *
 * Threads are started when there is work and none is idle, and they stay. Reserve and submit may be called by any
 * thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_WORKERS_H
#define THORPE_HTTP_WORKERS_H

#include "base/alloc.h"

struct exchange;
struct workers;

/* What each thread of the server has for itself, event loops and workers alike: the applications' connections to their databases. */
struct thread_local_maker {
	void *(*make)(void *ctx); /* NULL when memory is out; make itself NULL: threads have nothing */
	void (*drop)(void *local);
	void *ctx;
};

struct workers_options {
	unsigned threads; /* at most */
	size_t waiting;   /* W2 */
	bool fair;        /* W4 */
	struct thread_local_maker local;
};

struct workers *workers_new(const struct workers_options *o); /* NULL when memory is out */
/* Waits for what is being run. Nothing may be queued any more. NULL is fine. */
void workers_free(struct workers *w);

bool workers_reserve(struct workers *w) MUST_CHECK;
/* Both at once, for a worker of another pool. False: there is no place for it, and nothing has happened. */
bool workers_hand_over(struct workers *w, struct exchange *ex) MUST_CHECK;
void workers_unreserve(struct workers *w);
void workers_submit(struct workers *w, struct exchange *ex);

struct workers_metrics {
	uint64_t threads, idle, waiting, refused;
};
struct workers_metrics workers_metrics(struct workers *w);

#endif
