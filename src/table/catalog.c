/* Catalogs: immutable sets of tables, shared by reference count; and loading them at opening.
 *
 * A catalog holds a reference to each of its tables, so a table lives as long as the last catalog
 * that has it, and a change of one table copies pointers, not definitions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/alloc.h"
#include "table/internal.h"
#include "table/layout.h"

struct table_box {
	_Atomic uint32_t refs;
	struct arena arena; /* everything the table points to, except its counters */
	struct table table;
};

struct catalog {
	_Atomic uint32_t refs;
	size_t count;
	struct table_box **by_name; /* sorted */
	struct table_box **by_id;   /* sorted */
};

/* ---- tables ---- */
static struct table_box *box_of(const struct table *t)
{
	return (struct table_box *)((char *)t - offsetof(struct table_box, table));
}

static void box_unref(void *box)
{
	struct table_box *b = box;

	if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1) {
		arena_release(&b->arena);
		mem_free(b);
	}
}

static struct table_box *box_ref(struct table_box *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

static void copy_attrs(struct arena *a, struct key_attr *k, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		k[i].name = arena_copy(a, k[i].name);
}

static void *copy_array(struct arena *a, const void *from, size_t size, size_t n)
{
	void *to = arena_alloc(a, arena_array_size(size, n));

	if (n)
		memcpy(to, from, size * n);
	return to;
}

static void copy_key(struct arena *a, struct key_schema *k)
{
	copy_attrs(a, k->hash, k->hash_count);
	copy_attrs(a, k->range, k->range_count);
}

static void copy_indexes(struct arena *a, struct table *t)
{
	struct index *x = copy_array(a, t->indexes, sizeof(*x), t->index_count);
	size_t i, n;

	t->has_local_indexes = false;
	for (i = 0; i < t->index_count; i++) {
		struct slice *include = copy_array(a, x[i].include, sizeof(*include), x[i].include_count);

		t->has_local_indexes |= !x[i].global;
		x[i].name = arena_copy(a, x[i].name);
		copy_key(a, &x[i].key);
		for (n = 0; n < x[i].include_count; n++)
			include[n] = arena_copy(a, include[n]);
		x[i].include = include;
	}
	t->indexes = x;
}

static void copy_stream(struct arena *a, struct stream *s)
{
	s->label = arena_copy(a, s->label);
	s->splits = copy_array(a, s->splits, sizeof(*s->splits), s->split_count);
}

static void copy_streams(struct arena *a, struct table *t)
{
	struct stream *closed = copy_array(a, t->closed_streams, sizeof(*closed), t->closed_stream_count);
	size_t i;

	for (i = 0; i < t->closed_stream_count; i++)
		copy_stream(a, &closed[i]);
	t->closed_streams = closed;
	if (t->stream) {
		struct stream *s = copy_array(a, t->stream, sizeof(*s), 1);

		copy_stream(a, s);
		t->stream = s;
	}
}

static void copy_lists(struct arena *a, struct table *t)
{
	struct key_attr *attributes = copy_array(a, t->attributes, sizeof(*attributes), t->attribute_count);
	struct tag *tags = copy_array(a, t->tags, sizeof(*tags), t->tag_count);
	size_t i;

	copy_attrs(a, attributes, t->attribute_count);
	t->attributes = attributes;
	for (i = 0; i < t->tag_count; i++)
		tags[i] = (struct tag){ arena_copy(a, tags[i].key), arena_copy(a, tags[i].value) };
	t->tags = tags;
}

static void copy_table(struct arena *a, struct table *to, const struct table *t)
{
	*to = *t;
	to->name = arena_copy(a, t->name);
	to->uuid = arena_copy(a, t->uuid);
	to->ttl_attribute = arena_copy(a, t->ttl_attribute);
	to->table_class = arena_copy(a, t->table_class);
	to->sse_key = arena_copy(a, t->sse_key);
	copy_key(a, &to->key);
	copy_indexes(a, to);
	copy_streams(a, to);
	copy_lists(a, to);
}

static struct table_box *box_new(const struct table *t)
{
	struct table_box *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->refs, 1);
	arena_init(&b->arena);
	ARENA_TRY(&b->arena, { copy_table(&b->arena, &b->table, t); }, {
		box_unref(b);
		b = NULL;
	});
	return b;
}

/* ---- catalogs ---- */
static struct catalog *catalog_alloc(size_t count)
{
	struct catalog *c = mem_zalloc(sizeof(*c) + 2 * count * sizeof(struct table_box *));

	if (!c)
		return NULL;
	atomic_init(&c->refs, 1);
	c->by_name = (struct table_box **)(c + 1);
	c->by_id = c->by_name + count;
	return c;
}

struct catalog *catalog_new(void)
{
	return catalog_alloc(0);
}

struct catalog *catalog_ref(struct catalog *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

void catalog_unref(void *catalog)
{
	struct catalog *c = catalog;
	size_t i;

	if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (i = 0; i < c->count; i++)
		box_unref(c->by_name[i]);
	mem_free(c);
}

/* The position in by_name of the table of this name, present or not. */
static size_t name_position(const struct catalog *c, struct slice name)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (slice_cmp(c->by_name[mid]->table.name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t id_position(const struct catalog *c, uint32_t id)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->by_id[mid]->table.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct table_box *find_id(const struct catalog *c, uint32_t id)
{
	size_t i = id_position(c, id);

	return i < c->count && c->by_id[i]->table.id == id ? c->by_id[i] : NULL;
}

static void insert(struct table_box **list, size_t count, size_t at, struct table_box *b)
{
	memmove(list + at + 1, list + at, (count - at) * sizeof(*list));
	list[at] = b;
}

/* Takes the reference. There must be room. */
static void add_box(struct catalog *c, struct table_box *b)
{
	insert(c->by_name, c->count, name_position(c, b->table.name), b);
	insert(c->by_id, c->count, id_position(c, b->table.id), b);
	c->count++;
}

/* A copy of `c` without the table `id`, with room for one more. */
static struct catalog *copy_without(const struct catalog *c, uint32_t id)
{
	struct catalog *to = catalog_alloc(c->count + 1);
	size_t i, n = 0;

	if (!to)
		return NULL;
	for (i = 0; i < c->count; i++)
		if (c->by_name[i]->table.id != id)
			to->by_name[n++] = box_ref(c->by_name[i]);
	for (i = 0, n = 0; i < c->count; i++)
		if (c->by_id[i]->table.id != id)
			to->by_id[n++] = c->by_id[i];
	to->count = n;
	return to;
}

struct catalog *catalog_without(const struct catalog *c, uint32_t id)
{
	return copy_without(c, id);
}

struct catalog *catalog_with(const struct catalog *c, const struct table *t)
{
	struct table_box *b = box_new(t);
	struct catalog *to = b ? copy_without(c, t->id) : NULL;

	if (to)
		add_box(to, b);
	else if (b)
		box_unref(b);
	return to;
}

void catalog_hold(const struct catalog *c, const struct table *t, struct arena *a)
{
	assert(find_id(c, t->id) == box_of(t));
	(void)c;
	arena_defer(a, box_unref, box_ref(box_of(t)));
}

/* ---- looking up ---- */
const struct catalog *db_catalog(struct db *db, struct arena *a)
{
	struct catalog *c;

	pthread_mutex_lock(&db->catalog_lock);
	c = catalog_ref(db->catalog);
	pthread_mutex_unlock(&db->catalog_lock);
	arena_defer(a, catalog_unref, c);
	return c;
}

const struct table *catalog_table(const struct catalog *c, struct slice name_or_arn)
{
	struct slice name = table_name_of_arn(name_or_arn);
	size_t i = name_position(c, name);

	return i < c->count && slice_equal(c->by_name[i]->table.name, name) ? &c->by_name[i]->table : NULL;
}

const struct table *catalog_table_by_id(const struct catalog *c, uint32_t id)
{
	struct table_box *b = find_id(c, id);

	return b ? &b->table : NULL;
}

size_t catalog_count(const struct catalog *c)
{
	return c->count;
}

const struct table *catalog_at(const struct catalog *c, size_t i)
{
	return &c->by_name[i]->table;
}

/* ---- opening ---- */
static bool load_stats(struct db *db, uint32_t id, struct arena *a, struct stats **out, struct error *e)
{
	int64_t items = 0, bytes = 0;
	struct slice record;
	bool found;

	*out = db_stats(db, id);
	if (!*out)
		arena_out_of_memory(a);
	if (!store_get(&(struct store_at){ db->store, NULL, STORE_STATS }, layout_stats_key(a, id), a, &record, &found,
		       e))
		return false;
	if (found && !layout_read_stats_record(record, &items, &bytes))
		return error_set(e, a, ERR_INTERNAL, "The counters of %u are damaged", id);
	atomic_store(&(*out)->items, items);
	atomic_store(&(*out)->bytes, bytes);
	return true;
}

static bool load_table(struct db *db, struct slice text, struct arena *a, struct catalog **c, struct error *e)
{
	struct catalog *more;
	struct table t;
	struct index *x;
	size_t i;

	if (!table_from_text(text, a, &t))
		return error_set(e, a, ERR_INTERNAL, "A table definition is damaged");
	t.region = slice_str(db->region);
	x = (struct index *)t.indexes; /* mutable: just made in this arena */
	if (!load_stats(db, t.id, a, &t.stats, e))
		return false;
	for (i = 0; i < t.index_count; i++)
		if (!load_stats(db, x[i].id, a, &x[i].stats, e))
			return false;
	more = catalog_with(*c, &t);
	if (!more)
		arena_out_of_memory(a);
	catalog_unref(*c);
	*c = more;
	return true;
}

bool catalog_load(struct db *db, struct arena *a, struct error *e)
{
	struct slice none = SLICE("");
	struct store_iter *it =
		store_iter(&(struct store_at){ db->store, NULL, STORE_CATALOG }, &(struct store_walk){ none, none }, a);

	while (store_iter_next(it))
		if (!load_table(db, store_iter_value(it), a, &db->catalog, e))
			return false;
	return store_iter_ok(it, a, e);
}
