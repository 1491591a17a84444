/* Turns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/turn.h"

#include <xxhash.h>
#include "base/clock.h"
#include "base/cond.h"

#define PLACES 64

struct place_in_line {
	pthread_mutex_t lock;
	pthread_cond_t free;
	bool taken;
};

static struct place_in_line places[PLACES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct turn {
	struct place_in_line *place; /* NULL: given back */
};

static void make_places(void)
{
	for (size_t i = 0; i < PLACES; i++) {
		pthread_mutex_init(&places[i].lock, NULL);
		cond_init(&places[i].free);
	}
}

static bool wait_for(struct place_in_line *p)
{
	int64_t until_us = clock_monotonic_us() + TURN_WAIT_MS * 1000;
	bool got;

	pthread_mutex_lock(&p->lock);
	while (p->taken && cond_wait_until(&p->free, &p->lock, until_us))
		;
	got = !p->taken;
	p->taken = true;
	pthread_mutex_unlock(&p->lock);
	return got;
}

void turn_give(struct turn *t)
{
	struct place_in_line *p = t ? t->place : NULL;

	if (!p)
		return;
	t->place = NULL;
	pthread_mutex_lock(&p->lock);
	p->taken = false;
	pthread_cond_signal(&p->free);
	pthread_mutex_unlock(&p->lock);
}

static void give_back(void *ctx)
{
	turn_give(ctx);
}

struct turn *turn_take(struct arena *a, struct slice name)
{
	struct turn *t = arena_new(a, struct turn);

	pthread_once(&once, make_places);
	arena_defer(a, give_back, t);
	t->place = &places[XXH3_64bits(name.p, name.n) % PLACES];
	if (!wait_for(t->place))
		t->place = NULL;
	return t;
}
