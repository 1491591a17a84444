/* A stack of idle connections and a count of all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/pool.h"
#include "base/cond.h"
#include <pthread.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "remote/wait.h"

#define LOOK_US 200000 /* how often a waiting thread checks whether to stop */

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t given; /* signalled when a connection is given back */
	struct fetch_options options;
	char *ca_bundle;
	unsigned most, made, idle_count;
	struct fetch *idle[]; /* room for `most` */
};

struct pool *pool_new(unsigned most, const struct fetch_options *o)
{
	struct pool *p = mem_zalloc(sizeof(*p) + most * sizeof(p->idle[0]));

	if (!p)
		return NULL;
	p->most = most;
	p->options = *o;
	if (o->ca_bundle) {
		p->options.ca_bundle = p->ca_bundle = mem_strndup(o->ca_bundle, strlen(o->ca_bundle));
		if (!p->ca_bundle) {
			mem_free(p);
			return NULL;
		}
	}
	pthread_mutex_init(&p->lock, NULL);
	cond_init(&p->given);
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->idle_count; i++)
		fetch_free(p->idle[i]);
	pthread_cond_destroy(&p->given);
	pthread_mutex_destroy(&p->lock);
	mem_free(p->ca_bundle);
	mem_free(p);
}

static bool is_stopped(const struct pool *p)
{
	return p->options.stop && atomic_load(p->options.stop);
}

/* With the lock. */
static bool wait_for_one(struct pool *p, int64_t deadline_us)
{
	while (!p->idle_count && p->made == p->most) {
		int64_t now = clock_monotonic_us(), until = now + LOOK_US;

		if (is_stopped(p) || now >= deadline_us)
			return false;
		(void)cond_wait_until(&p->given, &p->lock, until < deadline_us ? until : deadline_us);
	}
	return true;
}

struct fetch *pool_take(struct pool *p, int64_t deadline_us)
{
	struct fetch *f = NULL;
	bool make = false;

	pthread_mutex_lock(&p->lock);
	if (!is_stopped(p) && wait_for_one(p, deadline_us)) {
		make = !p->idle_count;
		if (make)
			p->made++;
		else
			f = p->idle[--p->idle_count];
	}
	pthread_mutex_unlock(&p->lock);
	if (!make)
		return f;
	f = fetch_new(&p->options);
	if (!f) {
		pthread_mutex_lock(&p->lock);
		p->made--;
		pthread_cond_signal(&p->given);
		pthread_mutex_unlock(&p->lock);
	}
	return f;
}

void pool_give(struct pool *p, struct fetch *f)
{
	pthread_mutex_lock(&p->lock);
	p->idle[p->idle_count++] = f;
	pthread_cond_signal(&p->given);
	pthread_mutex_unlock(&p->lock);
}

unsigned pool_busy(struct pool *p)
{
	unsigned n;

	pthread_mutex_lock(&p->lock);
	n = p->made - p->idle_count;
	pthread_mutex_unlock(&p->lock);
	return n;
}
