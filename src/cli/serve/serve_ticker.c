/* Waits as long as the apps say, or until stopped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/waker.h"
#include "cli/serve/serve_ticker.h"

#define TICK_MS 1000

struct serve_ticker {
	struct app *const *apps;
	size_t count;
	struct backend **backends; /* as the apps */
	pthread_t thread;
	struct waker waker;
};

static void *tick(void *arg)
{
	struct serve_ticker *t = arg;
	int64_t next_ms = TICK_MS;
	bool last;

	do {
		last = !waker_wait(&t->waker, next_ms);
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
	waker_release(&t->waker);
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

	if (!t)
		return NULL;
	t->apps = apps;
	t->count = count;
	waker_init(&t->waker);
	if (open_backends(t) && pthread_create(&t->thread, NULL, tick, t) == 0)
		return t;
	release(t);
	return NULL;
}

void serve_ticker_stop(struct serve_ticker *t)
{
	if (!t)
		return;
	waker_stop(&t->waker);
	pthread_join(t->thread, NULL);
	release(t);
}
