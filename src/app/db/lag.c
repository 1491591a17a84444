/* Follows one new item at a time until its index shows it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/lag.h"

#include <pthread.h>
#include "app/run/state.h"
#include "app/db/late.h"
#include "base/alloc.h"
#include "base/clock.h"

#define LOOK_AGAIN_MS 50  /* or after a quarter of the time it has been missing, the largest error */
#define FIRST_MS      100 /* until the first is seen; waiting here costs no request */
#define ROWS_MOST     100 /* with the same key in the index; the item must be among these */

/* The item to look for. `ms` are of the steady clock. */
struct sample {
	const struct design_index *index; /* NULL: none is looked for */
	uint8_t *bytes;                   /* of the keys */
	struct value keys;                /* an M: of the table and of the index */
	int64_t since_ms;                 /* when its write was done */
};

struct lag {
	bool *asked; /* for each index of the design */
	_Atomic int64_t allowance_ms;
	_Atomic bool wants; /* wants an item to look for; read without the lock, so that most writes never take it */
	pthread_mutex_t lock;
	struct sample sample; /* changed under the lock: by lag_note() while `wants`, by lag_look() otherwise */
	_Atomic size_t turn;  /* which index comes next */
	/* the looking thread's */
	int64_t looked_ms;   /* when an item was last seen */
	int64_t longest_ms;  /* delay in this stretch of LAG_MEMORY_MS … */
	int64_t previous_ms; /* … and in the one before */
	int64_t stretch_ms;  /* when this one began */
	int64_t missing_ms;  /* the age at which the item was missing; 0: it has not been */
	bool is_known;       /* an item has been seen */
};

struct lag *lag_new(const struct design *d)
{
	struct lag *l = mem_zalloc(sizeof(*l));
	bool any = false;

	if (!l)
		return NULL;
	l->asked = mem_zalloc(d->index_count ? d->index_count * sizeof(*l->asked) : 1);
	if (l->asked)
		late_indexes(d, l->asked);
	for (size_t i = 0; l->asked && i < d->index_count; i++)
		any |= l->asked[i];
	if (!any) {
		mem_free(l->asked);
		mem_free(l);
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	l->allowance_ms = LAG_UNKNOWN_MS;
	l->wants = true;
	return l;
}

void lag_free(struct lag *l)
{
	if (!l)
		return;
	mem_free(l->sample.bytes);
	pthread_mutex_destroy(&l->lock);
	mem_free(l->asked);
	mem_free(l);
}

int64_t lag_ms(const struct lag *l)
{
	return atomic_load(&l->allowance_ms);
}

/* ---- an item to look for ---- */

static bool has_all(struct value item, const struct key_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!value_present(value_get(item, attrs[i].name)))
			return false;
	return true;
}

static bool is_in(const struct design_index *x, struct value item)
{
	return has_all(item, x->key.hash, x->key.hash_count) && has_all(item, x->key.range, x->key.range_count);
}

/* The first index, starting at `turn`, that includes such an item; NULL: none. */
static const struct design_index *index_of(const struct lag *l, const struct design *d, struct value item)
{
	for (size_t i = 0; i < d->index_count; i++) {
		size_t at = (l->turn + i) % d->index_count;

		if (l->asked[at] && is_in(&d->indexes[at], item))
			return &d->indexes[at];
	}
	return NULL;
}

static void take_sample(struct lag *l, struct run *r, const struct design_index *x, struct value item)
{
	struct value keys = dyn_start_key_of(r, x->name, item);
	uint8_t *bytes = mem_alloc(keys.n);

	pthread_mutex_lock(&l->lock);
	if (bytes && l->wants) {
		memcpy(bytes, keys.p, keys.n);
		l->sample = (struct sample){ .index = x, .bytes = bytes, .keys = { bytes, keys.n } };
		l->sample.since_ms = clock_steady_ms(r->app->clock);
		l->wants = false;
		bytes = NULL;
	}
	pthread_mutex_unlock(&l->lock);
	mem_free(bytes);
}

/* Skips items that replace another: the index showed the old one already. */
void lag_note(struct run *r, const struct dyn_write *w, size_t n)
{
	struct lag *l = r->app ? r->app->lag : NULL;

	for (size_t i = 0; l && atomic_load_explicit(&l->wants, memory_order_relaxed) && i < n; i++) {
		const struct design_index *x = NULL;

		if (w[i].kind == DYN_PUT && !w[i].table.n && w[i].must_not_exist)
			x = index_of(l, r->design, w[i].item);
		if (x)
			take_sample(l, r, x, w[i].item);
	}
}

/* ---- looking ---- */

static size_t where_of(struct dyn_condition *out, const struct key_attr *attrs, size_t n, struct value keys)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (struct dyn_condition){ .attribute = attrs[i].name,
						 .op = WHERE_EQ,
						 .value = value_get(keys, attrs[i].name) };
	return n;
}

enum sight {
	SEEN,
	MISSING,
	UNKNOWN, /* the request failed */
	OVER,    /* the item is of no use any more */
};

/* Whether the table still has it with the keys it was written with. Call after the query of the index. */
static enum sight missing_or_over(struct run *r, const struct sample *s)
{
	struct value item;

	if (!dyn_get(r, dyn_key_of(r, s->keys), true, &item))
		return UNKNOWN;
	return value_present(item) && value_equal(dyn_start_key_of(r, s->index->name, item), s->keys) ? MISSING : OVER;
}

static enum sight look_for(struct run *r, const struct sample *s)
{
	struct dyn_condition where[KEY_HASH_MAX + KEY_RANGE_MAX];
	const struct key_schema *k = &s->index->key;
	struct dyn_query q = { .index = s->index->name, .where = where, .limit = ROWS_MOST };
	struct value key = dyn_key_of(r, s->keys);
	struct dyn_page page = { .last = VALUE_ABSENT };

	q.where_count = where_of(where, k->hash, k->hash_count, s->keys);
	q.where_count += where_of(where + q.where_count, k->range, k->range_count, s->keys);
	if (!dyn_query(r, &q, &page))
		return UNKNOWN;
	for (size_t i = 0; i < page.count; i++)
		if (value_equal(dyn_key_of(r, page.items[i]), key))
			return SEEN;
	return value_present(page.last) ? OVER : missing_or_over(r, s);
}

/* ---- the allowance ---- */

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* L1 to L4. */
static void allow(struct lag *l, int64_t now_ms, int64_t seen_ms)
{
	int64_t ms;

	if (now_ms - l->stretch_ms > LAG_MEMORY_MS) {
		l->previous_ms = now_ms - l->stretch_ms > 2 * LAG_MEMORY_MS ? 0 : l->longest_ms;
		l->longest_ms = 0;
		l->stretch_ms = now_ms;
	}
	l->longest_ms = larger(l->longest_ms, seen_ms);
	ms = larger(l->longest_ms, l->previous_ms);
	ms = ms <= LAG_LEAST_MS ? LAG_LEAST_MS : ms + ms / 2;
	if (l->missing_ms)
		ms = larger(ms, 2 * l->missing_ms + LAG_LEAST_MS);
	if (!l->is_known)
		ms = larger(ms, LAG_UNKNOWN_MS);
	atomic_store(&l->allowance_ms, ms < LAG_MOST_MS ? ms : LAG_MOST_MS);
}

static void forget(struct lag *l)
{
	pthread_mutex_lock(&l->lock);
	mem_free(l->sample.bytes);
	l->sample = (struct sample){ 0 };
	l->turn++;
	pthread_mutex_unlock(&l->lock);
	l->missing_ms = 0;
}

/* When to look again, in milliseconds. */
static int64_t look_for_sample(struct run *r, struct lag *l)
{
	int64_t now_ms = clock_steady_ms(r->app->clock), age_ms = now_ms - l->sample.since_ms;

	switch (look_for(r, &l->sample)) {
	case SEEN:
		l->is_known = true;
		l->looked_ms = now_ms;
		forget(l);
		allow(l, now_ms, age_ms);
		break;
	case MISSING:
		l->missing_ms = larger(age_ms, 1);
		allow(l, now_ms, 0);
		break;
	case OVER: forget(l); break;
	case UNKNOWN: break;
	}
	return l->missing_ms ? larger(l->missing_ms / 4, LOOK_AGAIN_MS) : INT64_MAX;
}

/* Whether there is an item to look for. If not, may request one. */
static bool has_sample(struct lag *l, int64_t now_ms)
{
	bool any;

	pthread_mutex_lock(&l->lock);
	any = l->sample.index != NULL;
	if (!any && (!l->is_known || now_ms - l->looked_ms >= LAG_EVERY_MS))
		l->wants = true;
	pthread_mutex_unlock(&l->lock);
	return any;
}

int64_t lag_look(struct run *r)
{
	struct lag *l = r->app->lag;

	if (!l)
		return INT64_MAX;
	if (has_sample(l, clock_steady_ms(r->app->clock)))
		return look_for_sample(r, l);
	return l->is_known ? INT64_MAX : FIRST_MS;
}
