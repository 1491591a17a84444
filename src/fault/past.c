/* Views of the database at past moments.
 *
 * Views are taken at intervals and kept for as long as reads may lag. A read holds a reference to its view, so the
 * list may drop the view meanwhile.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "fault/internal.h"

struct moment {
	struct moment *older;
	struct store_view *view;
	int64_t at_us;    /* monotonic, read after the view was taken: nothing in it is younger */
	unsigned holders; /* including the list */
	struct past *past;
};

struct past {
	pthread_mutex_t taking; /* serializes views, so they are in order; take before `lock` */
	pthread_mutex_t lock;
	struct moment *newest;
};

struct past *past_new(void)
{
	struct past *p = mem_zalloc(sizeof(*p));

	if (!p)
		return NULL;
	pthread_mutex_init(&p->taking, NULL);
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void let_go(void *moment)
{
	struct moment *m = moment;
	struct past *p = m->past;
	bool last;

	pthread_mutex_lock(&p->lock);
	last = --m->holders == 0;
	pthread_mutex_unlock(&p->lock);
	if (!last)
		return;
	store_view_free(m->view);
	mem_free(m);
}

static void let_go_all(struct moment *m)
{
	while (m) {
		struct moment *older = m->older;

		let_go(m);
		m = older;
	}
}

void past_free(struct past *p)
{
	if (!p)
		return;
	let_go_all(p->newest);
	pthread_mutex_destroy(&p->lock);
	pthread_mutex_destroy(&p->taking);
	mem_free(p);
}

/* The youngest view that is at least that old; NULL: none. Lock held. */
static struct moment *find_moment(const struct past *p, int64_t age_ms)
{
	int64_t until = clock_monotonic_us() - age_ms * 1000;
	struct moment *m = p->newest;

	while (m && m->at_us > until)
		m = m->older;
	return m;
}

static struct moment *moment_now(struct past *p, struct store *s)
{
	struct moment *m = mem_zalloc(sizeof(*m));

	if (!m)
		return NULL;
	m->view = store_view(s, NULL);
	if (!m->view) {
		mem_free(m);
		return NULL;
	}
	m->at_us = clock_monotonic_us();
	m->holders = 1;
	m->past = p;
	return m;
}

void past_take(struct past *p, struct store *s, int64_t keep_ms)
{
	struct moment *m, *gone, *last;

	pthread_mutex_lock(&p->taking);
	m = keep_ms ? moment_now(p, s) : NULL;
	pthread_mutex_lock(&p->lock);
	if (m) {
		m->older = p->newest;
		p->newest = m;
	}
	last = keep_ms ? find_moment(p, keep_ms) : NULL;
	gone = keep_ms ? (last ? last->older : NULL) : p->newest;
	if (last)
		last->older = NULL;
	if (!keep_ms)
		p->newest = NULL;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_unlock(&p->taking);
	let_go_all(gone);
}

static struct moment *hold(struct past *p, int64_t age_ms)
{
	struct moment *m;

	pthread_mutex_lock(&p->lock);
	m = find_moment(p, age_ms);
	if (!m)
		for (m = p->newest; m && m->older; m = m->older)
			;
	if (m)
		m->holders++;
	pthread_mutex_unlock(&p->lock);
	return m;
}

struct held {
	struct moment *moment;
};

static void end_hold(void *held)
{
	struct held *h = held;

	if (h->moment)
		let_go(h->moment);
	h->moment = NULL;
}

const struct store_view *past_view(struct past *p, int64_t age_ms, struct arena *a)
{
	struct held *h = arena_new(a, struct held);

	h->moment = NULL;
	arena_defer(a, end_hold, h); /* before taking the reference it releases */
	h->moment = hold(p, age_ms);
	return h->moment ? h->moment->view : NULL;
}
