/* The batch: successful stages together, and their commit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "table/batch.h"
#include "table/layout.h"

struct batch *batch_new(void)
{
	struct batch *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	b->out = store_batch_new();
	if (!b->out) {
		mem_free(b);
		return NULL;
	}
	arena_init(&b->arena);
	return b;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	arena_release(&b->arena);
	store_batch_free(b->out);
	mem_free(b);
}

void batch_start(struct batch *b, struct db *db)
{
	b->db = db;
	map_init(&b->overlay, &b->arena);
	map_init(&b->deltas, &b->arena);
	/* Only the holder of the writer's turn changes db->catalog (T1), so reading it needs no lock. */
	b->catalog = catalog_ref(db->catalog);
	b->sequence = atomic_load(&db->last_sequence);
	b->next_id = db->next_id;
	b->now_ms = clock_now_ms(db->clock);
	b->bytes = 0;
	b->wake = false;
	b->only_frees = !store_takes_growth(db->store);
	b->grows = false;
	b->ttl_deleted = 0;
}

void batch_clear(struct batch *b)
{
	catalog_unref(b->catalog);
	b->catalog = NULL;
	store_batch_clear(b->out);
	arena_clear(&b->arena);
}

/* ---- taking a stage ---- */
static struct slice key_of(const struct staged *w)
{
	return slice_make(w->name.p + 1, w->name.n - 1);
}

static void write_out(struct batch *b, const struct staged *w)
{
	struct store *store = b->db->store;

	switch (w->kind) {
	case STAGED_PUT: store_batch_put(b->out, store, w->family, key_of(w), w->value); break;
	case STAGED_DELETE: store_batch_delete(b->out, store, w->family, key_of(w)); break;
	case STAGED_RANGE: store_batch_delete_range(b->out, store, w->family, key_of(w), w->value); break;
	}
}

static void take_overlay(struct batch *b, struct stage *s)
{
	struct staged *w;

	for (w = s->first; w; w = w->next) {
		if (w->kind == STAGED_RANGE)
			continue;
		w->shadowed = map_get(&b->overlay, w->name);
		map_set(&b->overlay, w->name, w);
		w->taken = true;
	}
}

static void take_counters(struct stage *s)
{
	struct stage_delta *d;

	for (d = s->deltas; d; d = d->next) {
		d->of->items += d->items;
		d->of->bytes += d->bytes;
		d->of->dropped |= d->drop;
	}
}

void batch_take(struct batch *b, struct stage *s)
{
	const struct staged *w;

	take_overlay(b, s); /* the only step that can run out of memory */
	take_counters(s);
	b->grows = b->grows || !stage_frees(s);
	for (w = s->first; w; w = w->next)
		write_out(b, w);
	if (s->catalog) {
		catalog_unref(b->catalog);
		b->catalog = s->catalog;
		s->catalog = NULL;
	}
	b->sequence = s->sequence;
	b->next_id = s->next_id;
	b->bytes += s->bytes;
	b->wake |= s->wake;
	b->ttl_deleted += s->ttl_deleted;
}

/* Newest first: a name may have been staged twice, the later entry shadowing the earlier. An
 * overlay entry whose value is NULL counts as none. */
void batch_undo(struct batch *b, struct stage *s)
{
	struct staged *w, *reversed = NULL, *next;

	for (w = s->first; w; w = next) {
		next = w->next;
		w->next = reversed;
		reversed = w;
	}
	for (w = reversed; w; w = w->next)
		if (w->taken)
			map_find(&b->overlay, w->name)->value = w->shadowed;
	s->first = NULL;
}

/* ---- committing ---- */
static void write_counters(struct batch *b)
{
	struct arena *a = &b->arena;
	size_t i;

	for (i = 0; i < b->deltas.n; i++) {
		const struct batch_delta *d = b->deltas.entries[i].value;

		if (d->dropped || (!d->items && !d->bytes))
			continue;
		store_batch_put(b->out, b->db->store, STORE_STATS, layout_stats_key(a, d->id),
				layout_stats_record(a, atomic_load(&d->stats->items) + d->items,
						    atomic_load(&d->stats->bytes) + d->bytes));
	}
}

static void write_meta(struct batch *b)
{
	struct db *db = b->db;
	struct arena *a = &b->arena;

	assert(b->sequence >= atomic_load(&db->last_sequence)); /* T5 */
	if (b->sequence != atomic_load(&db->last_sequence))
		store_batch_put(b->out, db->store, STORE_META, SLICE("sequence"), layout_u64_record(a, b->sequence));
	if (b->next_id != db->next_id)
		store_batch_put(b->out, db->store, STORE_META, SLICE("next_id"), layout_id(a, b->next_id));
}

static bool write_all(struct batch *b, struct error *e)
{
	static const struct error no_memory = { .code = ERR_INTERNAL, .message = { "out of memory", 13 } };
	volatile bool ok = false;

	ARENA_TRY(&b->arena, {
		write_counters(b);
		write_meta(b);
		if (!b->grows)
			store_batch_set_frees(b->out);
		ok = store_write(b->db->store, b->out,
				 b->db->options.durability == DURABILITY_SYNCED, &b->arena, e);
	}, {
		*e = no_memory;
	});
	return ok;
}

static void publish(struct batch *b)
{
	struct db *db = b->db;
	size_t i;

	for (i = 0; i < b->deltas.n; i++) {
		const struct batch_delta *d = b->deltas.entries[i].value;

		atomic_fetch_add(&d->stats->items, d->items);
		atomic_fetch_add(&d->stats->bytes, d->bytes);
	}
	if (b->catalog != db->catalog) {
		struct catalog *was = db->catalog;

		pthread_mutex_lock(&db->catalog_lock);
		db->catalog = catalog_ref(b->catalog);
		pthread_mutex_unlock(&db->catalog_lock);
		catalog_unref(was);
	}
	db->next_id = b->next_id;
	atomic_store(&db->last_sequence, b->sequence);
	atomic_fetch_add(&db->ttl_deleted, b->ttl_deleted);
	atomic_fetch_add(&db->batches, 1);
}

bool batch_commit(struct batch *b, struct error *e)
{
	if (!store_batch_count(b->out))
		return true;
	if (!write_all(b, e))
		return false;
	crash_point("written");
	publish(b);
	return true;
}
