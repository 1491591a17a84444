/* Waits as long as the apps say, or until told to end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/serve/serve_ticker.h"

#define TICK_MS 1000

struct serve_ticker {
	struct app *const *apps;
	size_t count;
	struct backend **backends; /* as the apps */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping; /* under the lock */
};

/* Whether it is time to end. */
static bool wait_ms(struct serve_ticker *t, int64_t ms)
{
	struct timespec until;
	bool stopping;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&t->lock);
	while (!t->stopping && pthread_cond_timedwait(&t->changed, &t->lock, &until) == 0)
		;
	stopping = t->stopping;
	pthread_mutex_unlock(&t->lock);
	return stopping;
}

static void *tick(void *arg)
{
	struct serve_ticker *t = arg;
	int64_t next_ms = TICK_MS;
	bool last;

	do {
		last = wait_ms(t, next_ms);
		next_ms = TICK_MS;
		for (size_t i = 0; i < t->count; i++) {
			int64_t ms = app_tick(t->apps[i], t->backends[i], last);

			next_ms = ms < next_ms ? ms : next_ms;
		}
	} while (!last);
	return NULL;
}

static void release(struct serve_ticker *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	for (size_t i = 0; t->backends && i < t->count; i++)
		backend_free(t->backends[i]);
	mem_free(t->backends);
	mem_free(t);
}

static bool open_backends(struct serve_ticker *t)
{
	t->backends = mem_zalloc(t->count * sizeof(*t->backends));
	for (size_t i = 0; t->backends && i < t->count; i++)
		if (!(t->backends[i] = database_open(app_database(t->apps[i]))))
			return false;
	return t->backends;
}

struct serve_ticker *serve_ticker_start(struct app *const *apps, size_t count)
{
	struct serve_ticker *t = mem_zalloc(sizeof(*t));
	pthread_condattr_t attr;

	if (!t)
		return NULL;
	t->apps = apps;
	t->count = count;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (open_backends(t) && pthread_create(&t->thread, NULL, tick, t) == 0)
		return t;
	release(t);
	return NULL;
}

void serve_ticker_stop(struct serve_ticker *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	release(t);
}
