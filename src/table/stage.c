/* The stage: reads through the overlays, and a request's writes. SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "table/batch.h"
#include "table/layout.h"

void stage_init(struct stage *s, struct batch *b, struct arena *a)
{
	*s = (struct stage){ .batch = b, .arena = a, .sequence = b->sequence, .next_id = b->next_id };
	s->last = &s->first;
	map_init(&s->names, a);
}

void stage_release(struct stage *s)
{
	catalog_unref(s->catalog);
	s->catalog = NULL;
}

/* ---- reading ---- */
static struct slice full_name(struct arena *a, enum store_family f, struct slice key)
{
	char *p = arena_alloc(a, 1 + key.n);

	p[0] = (char)f;
	if (key.n)
		memcpy(p + 1, key.p, key.n);
	return slice_make(p, 1 + key.n);
}

bool stage_get(struct stage *s, enum store_family f, struct slice key, struct slice *value, bool *found, struct error *e)
{
	struct slice name = full_name(s->arena, f, key);
	const struct staged *w = map_get(&s->names, name);

	if (!w)
		w = map_get(&s->batch->overlay, name);
	if (!w)
		return store_get(&(struct store_at){ s->batch->db->store, NULL, f }, key, s->arena, value, found, e);
	*found = w->kind == STAGED_PUT;
	/* It may be in another request's arena, which is cleared before this one's. */
	*value = *found ? arena_copy(s->arena, w->value) : SLICE("");
	return true;
}

bool stage_get_item(struct stage *s, uint32_t table, struct item_key k, struct value *item, struct error *e)
{
	struct slice bytes;
	bool found;

	if (!stage_get(s, STORE_ITEMS, layout_item_key(s->arena, table, k), &bytes, &found, e))
		return false;
	*item = found ? (struct value){ (const uint8_t *)bytes.p, bytes.n } : VALUE_ABSENT;
	return true;
}

/* ---- writing ---- */
static struct staged *add_staged(struct stage *s, enum staged_kind kind, enum store_family f, struct slice key)
{
	struct staged *w = arena_new(s->arena, struct staged);

	w->kind = kind;
	w->family = f;
	w->name = full_name(s->arena, f, key);
	*s->last = w;
	s->last = &w->next;
	s->bytes += key.n;
	return w;
}

void stage_put(struct stage *s, enum store_family f, struct slice key, struct slice value)
{
	struct staged *w = add_staged(s, STAGED_PUT, f, key);

	w->value = value;
	s->bytes += value.n;
	map_set(&s->names, w->name, w);
}

void stage_delete(struct stage *s, enum store_family f, struct slice key)
{
	struct staged *w = add_staged(s, STAGED_DELETE, f, key);

	map_set(&s->names, w->name, w);
}

void stage_delete_range(struct stage *s, enum store_family f, struct slice from, struct slice to)
{
	add_staged(s, STAGED_RANGE, f, from)->value = to;
}

void stage_delete_prefix(struct stage *s, enum store_family f, struct slice prefix)
{
	stage_delete_range(s, f, prefix, layout_after_prefix(s->arena, prefix));
}

/* ---- counters ---- */
static struct batch_delta *delta_of(struct batch *b, uint32_t id, struct stats *stats)
{
	struct batch_delta *d;
	struct buf key;

	buf_init(&key, &b->arena);
	buf_be32(&key, id);
	d = map_get(&b->deltas, buf_slice(&key));
	if (d)
		return d;
	d = arena_new(&b->arena, struct batch_delta);
	d->id = id;
	d->stats = stats;
	memcpy(d->key, key.p, sizeof(d->key));
	map_set(&b->deltas, slice_make(d->key, sizeof(d->key)), d);
	return d;
}

static struct stage_delta *add_delta(struct stage *s, uint32_t id, struct stats *stats)
{
	struct batch_delta *of = delta_of(s->batch, id, stats);
	struct stage_delta *d;

	for (d = s->deltas; d; d = d->next)
		if (d->of == of)
			return d;
	d = arena_new(s->arena, struct stage_delta);
	d->of = of;
	d->next = s->deltas;
	s->deltas = d;
	return d;
}

void stage_count(struct stage *s, uint32_t id, struct stats *stats, int64_t items, int64_t bytes)
{
	struct stage_delta *d;

	if (!items && !bytes)
		return;
	d = add_delta(s, id, stats);
	d->items += items;
	d->bytes += bytes;
}

void stage_drop_counters(struct stage *s, uint32_t id, struct stats *stats)
{
	add_delta(s, id, stats)->drop = true;
	stage_delete(s, STORE_STATS, layout_stats_key(s->arena, id));
}

/* Judged by its effect, not its operation: a transaction that deletes an item and decrements a counter elsewhere
 * frees room too. */
bool stage_frees(const struct stage *s)
{
	const struct staged *w;
	const struct stage_delta *d;
	bool puts = false;
	int64_t bytes = 0;

	for (w = s->first; w; w = w->next) {
		if (w->kind == STAGED_RANGE)
			return true;
		puts |= w->kind == STAGED_PUT;
	}
	for (d = s->deltas; d; d = d->next)
		bytes += d->bytes;
	return !puts || bytes < 0;
}

/* ---- the catalog ---- */
const struct catalog *stage_catalog(const struct stage *s)
{
	return s->catalog ? s->catalog : s->batch->catalog;
}

static void set_catalog(struct stage *s, struct catalog *c)
{
	if (!c)
		arena_out_of_memory(s->arena);
	catalog_unref(s->catalog);
	s->catalog = c;
}

const struct table *stage_put_table(struct stage *s, const struct table *t)
{
	const struct table *in;

	set_catalog(s, catalog_with(stage_catalog(s), t));
	stage_put(s, STORE_CATALOG, layout_id(s->arena, t->id), table_to_text(t, s->arena));
	in = catalog_table_by_id(s->catalog, t->id);
	catalog_hold(s->catalog, in, s->arena);
	return in;
}

void stage_drop_table(struct stage *s, uint32_t id)
{
	set_catalog(s, catalog_without(stage_catalog(s), id));
	stage_delete(s, STORE_CATALOG, layout_id(s->arena, id));
}

/* Milliseconds in the upper bits, and always greater than the last one (T5). Ignores a clock that is absurdly far
 * ahead: it would use up the numbers. */
uint64_t stage_next_sequence(struct stage *s)
{
	int64_t ms = s->batch->now_ms;
	uint64_t by_time = ms > 0 && ms < STREAM_LAST_MS ? (uint64_t)ms << STREAM_SEQUENCE_SHIFT : 0;

	s->sequence = s->sequence + 1 > by_time ? s->sequence + 1 : by_time;
	return s->sequence;
}

uint32_t stage_new_id(struct stage *s)
{
	assert(s->next_id < UINT32_MAX);
	return s->next_id++;
}
