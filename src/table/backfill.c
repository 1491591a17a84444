/* Filling a new index (or TTL entries) of a table that has items already.
 *
 * After the commit that created the index, every write keeps it up to date; so it is enough to visit once every item
 * of a later view. This file collects keys from the view; the writer then reads each current item and adds its entry
 * unless a write has already done so. Other writes run between chunks. As in DynamoDB, an item is left out if it
 * lacks the index's key attributes or has them with other types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/background.h"

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/log.h"
#include "table/internal.h"
#include "table/layout.h"

#define CHUNK_KEYS  200          /* per request to the writer */
#define CHUNK_BYTES (256 * 1024) /* items read by one step */
#define CHUNK_ITEMS 2000

void backfill_release(struct backfill *b)
{
	mem_free(b->cursor);
	*b = (struct backfill){ 0 };
}

/* The index to fill (NULL: TTL entries). */
struct job {
	const struct table *table;
	const struct index *index;
};

static bool find_job_of_table(const struct table *t, struct job *out)
{
	*out = (struct job){ .table = t };
	for (size_t i = 0; i < t->index_count; i++) {
		out->index = &t->indexes[i];
		if (out->index->backfilling)
			return true;
	}
	out->index = NULL;
	return t->ttl == TTL_ENABLED && t->ttl_backfilling;
}

static bool find_job(const struct catalog *c, struct job *out)
{
	for (size_t i = 0; i < catalog_count(c); i++)
		if (find_job_of_table(catalog_at(c, i), out))
			return true;
	return false;
}

/* Whether the job needs this item. */
static bool wants(const struct job *j, struct value item)
{
	int64_t expiry;

	return j->index ? index_holds(j->index, item) : layout_ttl_of_item(j->table, item, &expiry);
}

/* ---- one chunk ---- */

struct chunk {
	struct item_key keys[CHUNK_KEYS];
	size_t key_count;
	struct slice last; /* the last item read; empty: none */
	bool at_end;
};

/* Until the chunk is full, or (at_end) the table has no further items. */
static void collect_from(struct store_iter *it, const struct job *j, struct chunk *out, struct arena *a)
{
	size_t bytes = 0;

	for (size_t n = 0; n < CHUNK_ITEMS && bytes < CHUNK_BYTES; n++) {
		struct slice value;
		uint32_t table;

		if (out->key_count == CHUNK_KEYS)
			return;
		out->at_end = !store_iter_next(it);
		if (out->at_end)
			return;
		value = store_iter_value(it);
		bytes += value.n;
		out->last = arena_copy(a, store_iter_key(it));
		if (wants(j, (struct value){ (const uint8_t *)value.p, value.n }) &&
		    layout_read_item_key(out->last, &table, &out->keys[out->key_count]))
			out->key_count++;
	}
}

static bool collect(struct db *db, const struct backfill *b, const struct job *j, struct chunk *out, struct arena *a)
{
	struct slice all = layout_id(a, j->table->id);
	struct slice from = b->cursor ? slice_make(b->cursor, b->cursor_n) : all;
	struct store_iter *it = store_iter(&(struct store_at){ db_store(db), NULL, STORE_ITEMS },
					   &(struct store_walk){ from, layout_after_prefix(a, all) }, a);
	struct error e;

	collect_from(it, j, out, a);
	if (!store_iter_ok(it, a, &e)) {
		log_warn("backfill put off: %.*s", SLICE_ARG(e.message));
		return false;
	}
	store_iter_close(it);
	return true;
}

/* Right after the last item examined. */
static bool move_cursor(struct backfill *b, struct slice last)
{
	char *p = mem_alloc(last.n + 1);

	if (!p)
		return false;
	memcpy(p, last.p, last.n);
	p[last.n] = 0;
	mem_free(b->cursor);
	b->cursor = p;
	b->cursor_n = last.n + 1;
	return true;
}

static bool enter_chunk(struct db *db, const struct job *j, const struct chunk *chunk, struct arena *a)
{
	struct control control = {
		.kind = j->index ? CONTROL_BACKFILL_CHUNK : CONTROL_TTL_CHUNK,
		.table_id = j->table->id,
		.index_id = j->index ? j->index->id : 0,
		.keys = chunk->keys,
		.key_count = chunk->key_count,
	};

	return !chunk->key_count || background_control(db, &control, a);
}

static bool finish(struct db *db, struct backfill *b, const struct job *j, struct arena *a)
{
	struct control control = {
		.kind = j->index ? CONTROL_BACKFILL_DONE : CONTROL_TTL_DONE,
		.table_id = j->table->id,
		.index_id = j->index ? j->index->id : 0,
		.ttl_epoch = j->table->ttl_epoch,
	};

	backfill_release(b);
	return background_control(db, &control, a);
}

/* Continues the current job, or begins another. */
static void take_up(struct backfill *b, const struct job *j)
{
	uint32_t index_id = j->index ? j->index->id : 0;
	uint64_t ttl_epoch = j->index ? 0 : j->table->ttl_epoch;

	if (b->table_id == j->table->id && b->index_id == index_id && b->ttl_epoch == ttl_epoch)
		return;
	backfill_release(b);
	b->table_id = j->table->id;
	b->index_id = index_id;
	b->ttl_epoch = ttl_epoch;
}

bool backfill_step(struct db *db, struct backfill *b, struct arena *a)
{
	struct chunk *chunk = arena_new(a, struct chunk);
	struct job j;

	if (!find_job(db_catalog(db, a), &j)) {
		backfill_release(b);
		return false;
	}
	take_up(b, &j);
	if (!collect(db, b, &j, chunk, a) || !enter_chunk(db, &j, chunk, a))
		return false;
	crash_point(chunk->at_end ? "backfill-end" : "backfill-chunk");
	if (chunk->at_end)
		return finish(db, b, &j, a);
	return move_cursor(b, chunk->last);
}
