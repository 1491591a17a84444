/* Uses the monotonic clock: setting the date does not move background work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/waker.h"

#include <errno.h>
#include <time.h>

void waker_init(struct waker *w)
{
	pthread_condattr_t monotonic;

	*w = (struct waker){ 0 };
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&w->lock, NULL);
}

void waker_release(struct waker *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}

static struct timespec in_ms(int64_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

bool waker_wait(struct waker *w, int64_t ms)
{
	struct timespec until = in_ms(ms > 0 ? ms : 0);
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (ms > 0 && !w->stopping && !w->woken)
		if (pthread_cond_timedwait(&w->changed, &w->lock, &until) == ETIMEDOUT)
			break;
	w->woken = false;
	go_on = !w->stopping;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void set(struct waker *w, bool *flag)
{
	pthread_mutex_lock(&w->lock);
	*flag = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void waker_wake(struct waker *w)
{
	set(w, &w->woken);
}

void waker_stop(struct waker *w)
{
	set(w, &w->stopping);
}
