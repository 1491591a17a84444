/* Adds that wait: many views of a card become one write a minute.
 *
 * Invariants
 *   G1 A gathered sum is added once. With a remote database, a write can succeed although its reply is an error. So
 *   it has a token (ClientRequestToken), and while its outcome is unknown the sum does not change: it is sent again
 *   unchanged, and the database recognizes it. Further additions to the item are gathered separately.
 *   G2 The database remembers a token for ten minutes. A sum with unknown outcome by then is dropped: better never
 *   than twice.
 *
 * One lock, held for a few instructions and never during a write or an arena allocation (which may leave by longjmp).
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "app/run/state.h"
#include "app/write/write_plan.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/ulid.h"
#include "value/key.h"

#define BUCKETS    1024
#define MOST       100000      /* gathered at once: additions beyond that are written immediately */
#define TOKEN_MS   (9 * 60000) /* G2, with a minute for the last try */
#define LAST_TRIES 3

struct gathered {
	struct gathered *next;
	const struct entity *entity;
	struct slice attribute; /* the design's, which outlives the app */
	int64_t due_ms;         /* clock_steady_ms() */
	int64_t unsure_ms;      /* G1: likewise: when it was first sent, so may have been written; only with a token */
	struct number sum;
	char token[ULID_LENGTH]; /* empty: never sent with one */
	bool is_written;
	size_t key_size;
	uint8_t key[];
};

struct gather {
	pthread_mutex_t lock;
	size_t count;
	struct gathered *buckets[BUCKETS];
	struct gathered *unsure; /* G1: with a token, in no bucket */
};

struct gather *gather_new(void)
{
	struct gather *g = mem_zalloc(sizeof(*g));

	if (g && pthread_mutex_init(&g->lock, NULL)) {
		mem_free(g);
		return NULL;
	}
	return g;
}

static void free_list(struct gathered *list)
{
	while (list) {
		struct gathered *next = list->next;

		mem_free(list);
		list = next;
	}
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		free_list(g->buckets[i]);
	free_list(g->unsure);
	pthread_mutex_destroy(&g->lock);
	mem_free(g);
}

/* ---- in ---- */

static struct gathered **place_of(struct gather *g, const struct gathered *x)
{
	struct gathered **p = &g->buckets[key_hash(slice_make(x->key, x->key_size)) % BUCKETS];

	while (*p && ((*p)->key_size != x->key_size || memcmp((*p)->key, x->key, x->key_size) ||
		      !slice_equal((*p)->attribute, x->attribute)))
		p = &(*p)->next;
	return p;
}

/* Exact or fails, without an error text, which would need memory. */
static bool sum(struct number *x, const struct number *y)
{
	struct arena a;
	struct error e = { 0 };
	struct number n;
	bool ok;

	arena_init(&a);
	ok = number_add(x, y, &n, &a, &e);
	arena_release(&a);
	if (ok)
		*x = n;
	return ok;
}

/* Takes over `x`. False: not possible; the caller still owns it. */
static bool put_in(struct gather *g, struct gathered *x)
{
	struct gathered **p;
	bool taken = true;

	pthread_mutex_lock(&g->lock);
	p = place_of(g, x);
	if (*p) {
		taken = sum(&(*p)->sum, &x->sum);
	} else if (g->count < MOST) {
		x->next = NULL;
		*p = x;
		g->count++;
		x = NULL;
	} else {
		taken = false;
	}
	pthread_mutex_unlock(&g->lock);
	if (taken)
		mem_free(x);
	return taken;
}

bool gather_add(struct gather *g, const struct entity *e, struct value key, struct slice attribute,
		const struct number *n, int64_t due_ms)
{
	struct gathered *x = g ? mem_alloc(sizeof(*x) + key.n) : NULL;

	if (!x)
		return false;
	*x = (struct gathered){ .entity = e, .attribute = attribute, .due_ms = due_ms, .sum = *n, .key_size = key.n };
	memcpy(x->key, key.p, key.n);
	if (put_in(g, x))
		return true;
	mem_free(x);
	return false;
}

/* ---- out ---- */

struct taken {
	struct gather *gather;
	struct gathered *list;
};

static void put_aside(struct gather *g, struct gathered *x)
{
	pthread_mutex_lock(&g->lock);
	x->next = g->unsure;
	g->unsure = x;
	g->count++;
	pthread_mutex_unlock(&g->lock);
}

/* Puts back sums that were not written, for whatever reason. */
static void give_back(void *ctx)
{
	struct taken *t = ctx;

	while (t->list) {
		struct gathered *x = t->list;

		t->list = x->next;
		if (x->token[0] && !x->is_written)
			put_aside(t->gather, x);
		else if (x->is_written || !put_in(t->gather, x))
			mem_free(x);
	}
}

static void take_sum(struct taken *t, struct gathered **p)
{
	struct gathered *x = *p;

	*p = x->next;
	x->next = t->list;
	t->list = x;
	t->gather->count--;
}

static void take_due(struct taken *t, int64_t now_ms, bool all)
{
	struct gather *g = t->gather;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < BUCKETS; i++) {
		struct gathered **p = &g->buckets[i];

		while (*p) {
			if (all || (*p)->due_ms <= now_ms)
				take_sum(t, p);
			else
				p = &(*p)->next;
		}
	}
	while (g->unsure)
		take_sum(t, &g->unsure);
	pthread_mutex_unlock(&g->lock);
}

static enum plan_end write_one(struct run *r, struct gathered *x)
{
	const struct write_options options = { .token = slice_make(x->token, x->token[0] ? sizeof(x->token) : 0) };
	struct value key = value_copy(r->arena, (struct value){ x->key, x->key_size });
	struct write w = { .run = r, .entity = x->entity, .options = &options, .trusted = true };
	struct plan p;
	struct plan_action *a;
	enum plan_end end;

	plan_init(&p, &w, VALUE_ABSENT, NULL);
	a = plan_add(&p, PLAN_TARGET, DYN_UPDATE, key);
	a->entity = x->entity;
	a->must_exist = true; /* drops the sum of a deleted item */
	fields_set(&a->add, x->attribute, value_make_n(r->arena, &x->sum));
	end = plan_commit(&p);
	x->is_written = end == PLAN_DONE;
	if (x->is_written && !a->left_out)
		plan_follow(&p);
	return end;
}

/* G1: holds from here on, even if memory runs out. */
static bool begin_surely(struct run *r, struct gathered *x)
{
	if (!r->app->database || !r->app->database->is_remote || x->token[0])
		return true;
	x->unsure_ms = clock_steady_ms(r->app->clock);
	return ulid_new(r->now_ms, x->token) || run_fail(r, PROBLEM_BUSY, "cannot get random bytes");
}

/* Known not to have been written: the sum may grow again. */
static void make_sure(struct gathered *x)
{
	x->token[0] = 0;
}

static bool is_given_up(struct run *r, const struct gathered *x)
{
	if (!x->token[0] || clock_steady_ms(r->app->clock) - x->unsure_ms < TOKEN_MS)
		return false;
	log_error("%.*s: additions to %.*s of a %.*s may be lost: the database has not reported their outcome for too long",
		  SLICE_ARG(r->design->name), SLICE_ARG(x->attribute), SLICE_ARG(x->entity->name));
	return true;
}

static enum plan_end write_surely(struct run *r, struct gathered *x, int tries)
{
	bool was_unsure = x->token[0];
	enum plan_end end = PLAN_FAILED;

	if (!begin_surely(r, x))
		return PLAN_FAILED;
	for (int i = 0; i < tries && end != PLAN_DONE; i++) {
		end = write_one(r, x);
		was_unsure |= end != PLAN_DONE && r->is_unsure;
	}
	if (end != PLAN_DONE && !was_unsure)
		make_sure(x);
	return end;
}

bool write_flush_gathered(struct run *r, bool all)
{
	struct taken *t = arena_new(r->arena, struct taken);
	struct run *b = branch_new(r);
	bool good = true;

	t->gather = r->app->gather;
	if (!t->gather)
		return true;
	arena_defer(r->arena, give_back, t);
	take_due(t, clock_steady_ms(r->app->clock), all);
	for (struct gathered **p = &t->list; *p;) {
		struct gathered *x = *p;
		enum plan_end end = is_given_up(r, x) ? PLAN_DONE : write_surely(b, x, all ? LAST_TRIES : 1);

		if (end == PLAN_FAILED) {
			log_warn("%.*s: gathered additions still wait: %.*s", SLICE_ARG(r->design->name),
				 SLICE_ARG(b->problem.detail));
			good = false;
		}
		if (end == PLAN_DONE) {
			*p = x->next;
			mem_free(x);
		} else {
			p = &x->next;
		}
		branch_clear(b, r);
	}
	give_back(t);
	return good || run_fail(r, PROBLEM_BUSY, "not everything that was gathered could be written");
}
