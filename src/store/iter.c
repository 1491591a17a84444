/* Walking a range of keys, upwards or downwards.
 *
 * Memtables are lists that know what comes next and not what came before: a step back is a search from the top, five times as
 * dear as a step forward and more with every item. Many walks backwards are of partitions that have little more than a page.
 * So a walk backwards that wants many entries begins at the front of its range, and keeps what it passes: when the end comes
 * soon, it has them all and gives them in reverse. When it does not come, the walk goes backwards after all, and the next ones
 * of the same table or index go backwards at once; after some of those one tries again, after ever more of them when it fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "store/internal.h"

#define WANTED_LEAST 8          /* fewer are found backwards as quickly */
#define STRAIGHT_FIRST 8
#define STRAIGHT_MOST 256

struct entry {
	struct slice key, value;
};

struct store_iter {
	struct store *store;
	rocksdb_iterator_t *it; /* NULL: closed, or a range that holds nothing */
	rocksdb_readoptions_t *options;
	struct arena *arena;
	struct slice from, to;  /* our copies: RocksDB keeps pointers to them */
	bool backwards, started, done;
	bool one_partition;
	size_t keep_most;       /* entries, of a walk that begins at the front; 0: it does not */
	struct entry *kept;     /* NULL: RocksDB's iterator is where we are; otherwise kept[count - 1] is */
	size_t count;
};

static void iter_end(void *ptr)
{
	struct store_iter *it = ptr;

	if (!it->it)
		return;
	rocksdb_iter_destroy(it->it);
	rocksdb_readoptions_destroy(it->options);
	it->it = NULL;
	it->done = true;
}

/* Whether every key in between starts with the same STORE_PREFIX bytes. */
static bool within_prefix(struct slice from, struct slice to)
{
	return from.n >= STORE_PREFIX && to.n >= STORE_PREFIX && memcmp(from.p, to.p, STORE_PREFIX) == 0;
}

static rocksdb_readoptions_t *options_of(const struct store_iter *it, const struct store_view *v)
{
	rocksdb_readoptions_t *o = rocksdb_readoptions_create();

	if (v)
		rocksdb_readoptions_set_snapshot(o, v->snapshot);
	if (it->from.n)
		rocksdb_readoptions_set_iterate_lower_bound(o, it->from.p, it->from.n);
	if (it->to.n)
		rocksdb_readoptions_set_iterate_upper_bound(o, it->to.p, it->to.n);
	rocksdb_readoptions_set_total_order_seek(o, !it->one_partition);
	/* Ranges are deleted of tables and indexes that are gone, and their ids are never given again: whoever walks a partition
	 * of a live one need not look among them. */
	rocksdb_readoptions_set_ignore_range_deletions(o, it->one_partition);
	return o;
}

struct store_iter *store_iter(struct store *s, const struct store_view *v, enum store_family f,
			      struct slice from, struct slice to, bool backwards, struct arena *a)
{
	struct store_iter *it = arena_new(a, struct store_iter);

	it->store = s;
	it->arena = a;
	it->backwards = backwards;
	it->from = arena_copy(a, from);
	it->to = arena_copy(a, to);
	it->one_partition = (f == STORE_ITEMS || f == STORE_INDEX) && within_prefix(from, to);
	arena_defer(a, iter_end, it); /* the last allocation before there is something to close: I1 */
	if (to.n && slice_cmp(from, to) >= 0) {
		it->done = true;
		return it;
	}
	store_count_nothing();
	it->options = options_of(it, v);
	it->it = rocksdb_create_iterator_cf(s->db, it->options, s->families[f]);
	return it;
}

void store_iter_expect(struct store_iter *it, size_t most)
{
	if (!it->backwards || !it->one_partition || most < WANTED_LEAST)
		return;
	it->keep_most = most < STORE_SHORT_ENTRIES / 2 ? 2 * most : STORE_SHORT_ENTRIES;
}

static struct slice key_here(const struct store_iter *it)
{
	size_t n;
	const char *p = rocksdb_iter_key(it->it, &n);

	return slice_make(p, n);
}

static struct slice value_here(const struct store_iter *it)
{
	size_t n;
	const char *p = rocksdb_iter_value(it->it, &n);

	return slice_make(p, n);
}

/* Whether to begin at the front, by what came of it for the same id before. Threads may disturb each other's count:
 * it is a guess. */
static bool may_be_short(const struct store_iter *it)
{
	unsigned kind = (uint8_t)it->from.p[3] % STORE_WALK_KINDS;
	unsigned left = atomic_load_explicit(&it->store->straight[kind].left, memory_order_relaxed);

	if (left)
		atomic_store_explicit(&it->store->straight[kind].left, left - 1, memory_order_relaxed);
	return left == 0;
}

static void learn(const struct store_iter *it, bool was_short)
{
	unsigned kind = (uint8_t)it->from.p[3] % STORE_WALK_KINDS;
	unsigned next = atomic_load_explicit(&it->store->straight[kind].next, memory_order_relaxed);

	if (was_short && !next)
		return;
	if (!was_short)
		atomic_store_explicit(&it->store->straight[kind].left, next ? next : STRAIGHT_FIRST, memory_order_relaxed);
	next = was_short ? 0 : !next ? 2 * STRAIGHT_FIRST : next < STRAIGHT_MOST ? 2 * next : next;
	atomic_store_explicit(&it->store->straight[kind].next, next, memory_order_relaxed);
}

/* Keeps all entries of the range. False: there are too many, or they cannot be read; nothing is kept. */
static bool keep_all(struct store_iter *it)
{
	struct entry *kept = arena_array(it->arena, struct entry, it->keep_most);
	size_t n = 0, bytes = 0;
	struct reason ignored;
	char *err = NULL;

	for (rocksdb_iter_seek_to_first(it->it); rocksdb_iter_valid(it->it); rocksdb_iter_next(it->it)) {
		struct slice key = key_here(it), value = value_here(it);

		bytes += key.n + value.n;
		if (n == it->keep_most || bytes > STORE_SHORT_BYTES) {
			learn(it, false);
			return false;
		}
		kept[n++] = (struct entry){ arena_copy(it->arena, key), arena_copy(it->arena, value) };
	}
	rocksdb_iter_get_error(it->it, &err);
	if (store_take_reason(&err, &ignored))
		return false; /* going backwards will meet it, too */
	learn(it, true);
	it->kept = kept;
	it->count = n;
	return true;
}

static void first_step(struct store_iter *it)
{
	it->started = true;
	if (it->keep_most && may_be_short(it) && keep_all(it))
		return;
	/* With bounds set, first and last are those of the range. */
	if (it->backwards)
		rocksdb_iter_seek_to_last(it->it);
	else
		rocksdb_iter_seek_to_first(it->it);
}

bool store_iter_next(struct store_iter *it)
{
	if (it->done)
		return false;
	if (!it->started)
		first_step(it);
	else if (it->kept)
		it->count--;
	else if (it->backwards)
		rocksdb_iter_prev(it->it);
	else
		rocksdb_iter_next(it->it);
	it->done = it->kept ? it->count == 0 : !rocksdb_iter_valid(it->it);
	return !it->done;
}

bool store_iter_is_short(const struct store_iter *it)
{
	return it->kept != NULL;
}

struct slice store_iter_key(const struct store_iter *it)
{
	assert(it->started && !it->done);
	return it->kept ? it->kept[it->count - 1].key : key_here(it);
}

struct slice store_iter_value(const struct store_iter *it)
{
	assert(it->started && !it->done);
	return it->kept ? it->kept[it->count - 1].value : value_here(it);
}

bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (store_fault(it->store, &r))
		return store_read_failed(&r, a, e);
	if (!it->it)
		return true;
	rocksdb_iter_get_error(it->it, &err);
	return store_take_reason(&err, &r) ? store_read_failed(&r, a, e) : true;
}

void store_iter_close(struct store_iter *it)
{
	if (it)
		iter_end(it);
}
