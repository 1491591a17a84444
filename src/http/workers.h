/* Threads that may block, for requests that an event loop must not run itself: those of an application, which wait
 * for their writes.
 *
 *     workers_reserve()    a place in the queue, or none: the request is then refused at once
 *     workers_submit()     puts the exchange in that place
 *
 * Invariants
 *   W1  A reserved place is guaranteed: workers_submit() does not fail, and a thread is there to serve it.
 *   W2  At most `waiting` places exist in addition to one for each thread.
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

/* Private data of each thread of the server, event loops and workers alike: the applications' connections to their
 * databases. */
struct thread_local_maker {
	void *(*make)(void *ctx); /* NULL: out of memory; make itself NULL: threads have no context */
	void (*drop)(void *local);
	void *ctx;
};

struct workers_options {
	unsigned threads; /* at most */
	size_t waiting;   /* W2 */
	bool fair;        /* W4 */
	struct thread_local_maker local;
};

struct workers *workers_new(const struct workers_options *o); /* NULL: out of memory */
/* Waits for running work. The queue must be empty. NULL is fine. */
void workers_free(struct workers *w);

bool workers_reserve(struct workers *w) MUST_CHECK;
/* Reserves and submits, for a worker of another pool. False: no place; nothing has happened. */
bool workers_hand_over(struct workers *w, struct exchange *ex) MUST_CHECK;
void workers_unreserve(struct workers *w);
void workers_submit(struct workers *w, struct exchange *ex);

struct workers_metrics {
	uint64_t threads, idle, waiting, refused;
};
struct workers_metrics workers_metrics(struct workers *w);

#endif
