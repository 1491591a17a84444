/* What a background thread waits on: until a time, until it is woken, or until it must stop.
 *
 *     while (waker_wait(&w, 1000))            the thread
 *             step();
 *     waker_wake(&w);                         anyone
 *     waker_stop(&w), pthread_join(thread…), waker_release(&w);
 *
 * A wake during the thread's work is not lost: the next wait ends at once. Uses the monotonic clock.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_WAKER_H
#define THORPE_BASE_WAKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct waker {
	pthread_mutex_t lock; /* guards the two flags */
	pthread_cond_t changed;
	bool woken, stopping;
};

void waker_init(struct waker *w);
void waker_release(struct waker *w);
/* False: the thread must stop. ms <= 0: checks that without waiting. */
bool waker_wait(struct waker *w, int64_t ms);
void waker_wake(struct waker *w);
/* All waits end from now on. */
void waker_stop(struct waker *w);

#endif
