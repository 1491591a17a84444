/* Checks T4 by recounting: indexes, counters, TTL entries and collection sizes against the items.
 *
 * Reads everything from one view. Looks up, item by item, the entries that must exist; surplus entries show in the
 * counts. Compares counters in memory only if no write happened meanwhile.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/internal.h"
#include "table/layout.h"

struct count {
	int64_t items, bytes;
};

struct check {
	struct db *db;
	struct arena *arena;   /* memory for the whole check */
	struct arena *scratch; /* memory for one item */
	struct store_view *view;
	struct buf *report;
	bool agree;
};

/* Totals implied by the items of one table. */
struct implied {
	struct count table, index[INDEXES_MAX];
	int64_t ttl_entries, collections;
	struct slice partition; /* of the item collection being added up: its key in STATS */
	int64_t partition_bytes;
};

static void differs(struct check *c, const struct table *t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void differs(struct check *c, const struct table *t, const char *fmt, ...)
{
	va_list ap;

	c->agree = false;
	if (t)
		buf_printf(c->report, "table %.*s: ", SLICE_ARG(t->name));
	va_start(ap, fmt);
	buf_put(c->report, arena_vprintf(c->scratch, fmt, ap));
	va_end(ap);
	buf_byte(c->report, '\n');
}

static bool lookup(struct check *c, enum store_family f, struct slice key, struct slice *value)
{
	struct error e;
	bool found;

	if (!store_get(&(struct store_at){ db_store(c->db), c->view, f }, key, c->scratch, value, &found, &e)) {
		differs(c, NULL, "cannot read: %.*s", SLICE_ARG(e.message));
		return false;
	}
	return found;
}

static void iter_done(struct check *c, struct store_iter *it)
{
	struct error e;

	if (!store_iter_ok(it, c->scratch, &e))
		differs(c, NULL, "cannot read: %.*s", SLICE_ARG(e.message));
	store_iter_close(it);
}

static struct store_iter *iter_prefix(struct check *c, enum store_family f, struct slice prefix)
{
	return store_iter(&(struct store_at){ db_store(c->db), c->view, f },
			  &(struct store_walk){ prefix, layout_after_prefix(c->arena, prefix) }, c->arena);
}

static struct slice hex(struct check *c, struct slice key)
{
	struct buf b;

	buf_init(&b, c->scratch);
	buf_hex(&b, key);
	return buf_slice(&b);
}

/* ---- what each item implies ---- */

static void check_index_entry(struct check *c, const struct table *t, const struct index *i, struct value item,
			      struct item_key k, struct count *implied)
{
	struct slice key, entry;
	struct value projected;

	if (!index_holds(i, item))
		return;
	key = layout_index_key(c->scratch, i, item, k);
	projected = index_projected(t, i, item, c->scratch);
	if (!lookup(c, STORE_INDEX, key, &entry)) {
		if (i->status == STATUS_CREATING)
			return; /* not backfilled yet */
		differs(c, t, "index %.*s lacks %.*s", SLICE_ARG(i->name), SLICE_ARG(hex(c, key)));
	} else if (!value_equal(projected, (struct value){ (const uint8_t *)entry.p, entry.n })) {
		differs(c, t, "index %.*s has another value at %.*s", SLICE_ARG(i->name), SLICE_ARG(hex(c, key)));
	}
	implied->items++;
	implied->bytes += (int64_t)item_size(projected);
}

static void check_ttl_entry(struct check *c, const struct table *t, struct value item, struct item_key k,
			    struct implied *implied)
{
	struct slice key, nothing;
	int64_t expiry;

	if (t->ttl != TTL_ENABLED || !layout_ttl_of_item(t, item, &expiry))
		return;
	key = layout_ttl_key(c->scratch, t->id, expiry, k);
	if (lookup(c, STORE_TTL, key, &nothing))
		implied->ttl_entries++;
	else if (!t->ttl_backfilling)
		differs(c, t, "no TTL entry %.*s", SLICE_ARG(hex(c, key)));
}

/* Compares the counter of the item collection that ends here. */
static void finish_collection(struct check *c, const struct table *t, struct implied *implied)
{
	struct slice record;
	uint64_t bytes;

	if (!implied->partition.n)
		return;
	implied->collections++;
	if (!lookup(c, STORE_STATS, implied->partition, &record) || !layout_read_u64_record(record, &bytes))
		differs(c, t, "no size of collection %.*s", SLICE_ARG(hex(c, implied->partition)));
	else if ((int64_t)bytes != implied->partition_bytes)
		differs(c, t, "collection %.*s: %lld bytes counted, %lld stored", SLICE_ARG(hex(c, implied->partition)),
			(long long)bytes, (long long)implied->partition_bytes);
}

static void check_collection(struct check *c, const struct table *t, struct value item, struct item_key k,
			     struct implied *implied)
{
	struct slice partition = layout_collection_key(c->scratch, t->id, k.pk);

	if (!t->has_local_indexes)
		return;
	if (!slice_equal(partition, implied->partition)) {
		finish_collection(c, t, implied);
		implied->partition = arena_copy(c->arena, partition);
		implied->partition_bytes = 0;
	}
	implied->partition_bytes += (int64_t)item_size(item);
	for (size_t i = 0; i < t->index_count; i++) {
		const struct index *x = &t->indexes[i];

		if (!x->global && index_holds(x, item))
			implied->partition_bytes += (int64_t)item_size(index_projected(t, x, item, c->scratch));
	}
}

static void check_item(struct check *c, const struct table *t, struct slice key, struct slice bytes,
		       struct implied *implied)
{
	struct value item = { (const uint8_t *)bytes.p, bytes.n };
	struct item_key k, own;
	struct error e;
	uint32_t id;

	if (!layout_read_item_key(key, &id, &k) || !value_is_valid(item, 32)) {
		differs(c, t, "malformed item %.*s", SLICE_ARG(hex(c, key)));
		return;
	}
	if (!table_key_of_item(t, item, c->scratch, &own, &e) || !slice_equal(own.pk, k.pk) ||
	    !slice_equal(own.sk, k.sk))
		differs(c, t, "item %.*s has another key", SLICE_ARG(hex(c, key)));
	implied->table.items++;
	implied->table.bytes += (int64_t)item_size(item);
	for (size_t i = 0; i < t->index_count; i++)
		check_index_entry(c, t, &t->indexes[i], item, k, &implied->index[i]);
	check_ttl_entry(c, t, item, k, implied);
	check_collection(c, t, item, k, implied);
}

/* ---- surplus entries ---- */

static int64_t count_keys(struct check *c, enum store_family f, struct slice prefix)
{
	struct store_iter *it = iter_prefix(c, f, prefix);
	int64_t n = 0;

	while (store_iter_next(it))
		n++;
	iter_done(c, it);
	return n;
}

static void check_number(struct check *c, const struct table *t, const char *what, struct slice name, int64_t there,
			 int64_t implied)
{
	if (there != implied)
		differs(c, t, "%s %.*s: %lld, should be %lld", what, SLICE_ARG(name), (long long)there,
			(long long)implied);
}

static void check_counters(struct check *c, const struct table *t, uint32_t id, struct slice name,
			   const struct count *implied)
{
	int64_t items = 0, bytes = 0;
	struct slice record;

	if (lookup(c, STORE_STATS, layout_stats_key(c->scratch, id), &record) &&
	    !layout_read_stats_record(record, &items, &bytes))
		differs(c, t, "malformed counters of %.*s", SLICE_ARG(name));
	check_number(c, t, "item counter of", name, items, implied->items);
	check_number(c, t, "byte counter of", name, bytes, implied->bytes);
}

static void check_memory(struct check *c, const struct table *t, const struct stats *s, struct slice name,
			 const struct count *implied)
{
	check_number(c, t, "item counter in memory of", name, atomic_load(&s->items), implied->items);
	check_number(c, t, "byte counter in memory of", name, atomic_load(&s->bytes), implied->bytes);
}

static void check_totals(struct check *c, const struct table *t, const struct implied *implied)
{
	check_counters(c, t, t->id, t->name, &implied->table);
	for (size_t i = 0; i < t->index_count; i++) {
		const struct index *x = &t->indexes[i];

		check_counters(c, t, x->id, x->name, &implied->index[i]);
		check_number(c, t, "entries of index", x->name, count_keys(c, STORE_INDEX, layout_id(c->arena, x->id)),
			     implied->index[i].items);
	}
	check_number(c, t, "TTL entries of", t->name, count_keys(c, STORE_TTL, layout_id(c->arena, t->id)),
		     implied->ttl_entries);
	check_number(c, t, "collections of", t->name,
		     count_keys(c, STORE_STATS, layout_collection_from(c->arena, t->id)), implied->collections);
}

static void check_table(struct check *c, const struct table *t, struct implied *implied)
{
	struct store_iter *it = iter_prefix(c, STORE_ITEMS, layout_id(c->arena, t->id));

	while (store_iter_next(it)) {
		arena_clear(c->scratch);
		check_item(c, t, store_iter_key(it), store_iter_value(it), implied);
	}
	iter_done(c, it);
	finish_collection(c, t, implied);
	check_totals(c, t, implied);
}

/* ---- orphans: keys of no table ---- */

static bool is_known(const struct catalog *cat, enum store_family f, uint32_t id)
{
	for (size_t i = 0; i < catalog_count(cat); i++) {
		const struct table *t = catalog_at(cat, i);

		if (f != STORE_INDEX && f != STORE_STREAM && t->id == id)
			return true;
		for (size_t j = 0; f == STORE_INDEX && j < t->index_count; j++)
			if (t->indexes[j].id == id)
				return true;
		if (f == STORE_STREAM && t->stream && t->stream->id == id)
			return true;
		for (size_t j = 0; f == STORE_STREAM && j < t->closed_stream_count; j++)
			if (t->closed_streams[j].id == id)
				return true;
	}
	return false;
}

/* Jumps from each id to the next that has any key. */
static void check_orphans(struct check *c, const struct catalog *cat, enum store_family f)
{
	struct slice from = SLICE("");

	for (;;) {
		struct store_iter *it = store_iter(&(struct store_at){ db_store(c->db), c->view, f },
						   &(struct store_walk){ from, SLICE("") }, c->arena);
		bool any = store_iter_next(it) && store_iter_key(it).n >= 4;
		uint32_t id = any ? read_be32(store_iter_key(it).p) : 0;

		iter_done(c, it);
		if (!any)
			return;
		if (!is_known(cat, f, id))
			differs(c, NULL, "family %d has keys of id %u, which does not exist", (int)f, id);
		if (id == UINT32_MAX)
			return;
		from = layout_id(c->arena, id + 1);
	}
}

static void check_all(struct check *c)
{
	const struct catalog *cat = db_catalog(c->db, c->arena);
	uint64_t batches = atomic_load(&c->db->batches);
	size_t n = catalog_count(cat);
	struct implied *implied = arena_array(c->arena, struct implied, n);

	c->view = store_view(db_store(c->db), c->arena);
	for (size_t i = 0; i < n; i++)
		check_table(c, catalog_at(cat, i), &implied[i]);
	check_orphans(c, cat, STORE_ITEMS);
	check_orphans(c, cat, STORE_INDEX);
	check_orphans(c, cat, STORE_STREAM);
	check_orphans(c, cat, STORE_TTL);
	if (atomic_load(&c->db->batches) != batches)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct table *t = catalog_at(cat, i);

		check_memory(c, t, t->stats, t->name, &implied[i].table);
		for (size_t j = 0; j < t->index_count; j++)
			check_memory(c, t, t->indexes[j].stats, t->indexes[j].name, &implied[i].index[j]);
	}
}

bool db_verify(struct db *db, struct buf *report)
{
	struct arena arena, scratch;
	struct check c = { .db = db, .arena = &arena, .scratch = &scratch, .report = report, .agree = true };
	volatile bool finished = false;

	arena_init(&arena);
	arena_init(&scratch);
	ARENA_TRY(&arena, {
		scratch.oom = arena.oom;
		check_all(&c);
		finished = true;
	}, {
		buf_lit(report, "out of memory\n");
	});
	arena_release(&scratch);
	arena_release(&arena);
	return finished && c.agree;
}
