/* Uses the monotonic clock: setting the date does not move background work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/waker.h"
#include "base/clock.h"
#include "base/cond.h"

void waker_init(struct waker *w)
{
	*w = (struct waker){ 0 };
	cond_init(&w->changed);
	pthread_mutex_init(&w->lock, NULL);
}

void waker_release(struct waker *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
}

bool waker_wait(struct waker *w, int64_t ms)
{
	int64_t until_us = clock_monotonic_us() + ms * 1000;
	bool go_on;

	pthread_mutex_lock(&w->lock);
	while (ms > 0 && !w->stopping && !w->woken && cond_wait_until(&w->changed, &w->lock, until_us))
		;
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
