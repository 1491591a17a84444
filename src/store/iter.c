/* Walking a range of keys, upwards or downwards.
 *
 * Memtables are singly linked: a step back is a search from the top, five times as expensive as a step forward, and
 * more as items are added. Many backward walks cover partitions of little more than a page. So a backward walk
 * that wants many entries starts at the front of its range and keeps the entries it passes. If the range ends soon,
 * it returns them in reverse. If not, the walk goes backwards after all, and the next walks of the same table or
 * index go backwards at once; after some of those one tries the front again, at growing intervals if it fails.
 *
 * A walk within a partition that has a limit first looks in the hot ranges (hot.h), and stores its result there if
 * it is wanted.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "store/health.h"
#include "store/hot.h"
#include "store/internal.h"

#define WANTED_LEAST   8 /* for fewer, walking backwards is as fast */
#define STRAIGHT_FIRST 8
#define STRAIGHT_MOST  256

struct store_iter {
	struct store *store;
	const struct store_view *view;
	rocksdb_iterator_t *it; /* NULL: not begun, closed, or not needed */
	rocksdb_readoptions_t *options;
	struct arena *arena;
	enum store_family family;
	struct slice from, to; /* our copies: RocksDB keeps pointers to them */
	bool backwards, started, done;
	bool one_partition;
	size_t most; /* store_walk.most */
	struct hot_walk hot;
	const struct hot_entry *kept; /* entries to return, in order; NULL: use RocksDB's iterator */
	size_t count, at;             /* of kept */
	bool in_full;                 /* kept holds the whole range */
	bool goes_on;                 /* more entries follow kept */
	const struct hot_run *run;    /* held while kept points into it */
};

static void iter_end(void *ptr)
{
	struct store_iter *it = ptr;

	if (it->it) {
		rocksdb_iter_destroy(it->it);
		rocksdb_readoptions_destroy(it->options);
		it->it = NULL;
	}
	if (it->run)
		hot_let_go(it->run);
	it->run = NULL;
	it->done = true;
}

/* Whether every key in between starts with the same STORE_PREFIX bytes. */
static bool within_prefix(struct slice from, struct slice to)
{
	return from.n >= STORE_PREFIX && to.n >= STORE_PREFIX && memcmp(from.p, to.p, STORE_PREFIX) == 0;
}

static rocksdb_readoptions_t *options_of(const struct store_iter *it)
{
	rocksdb_readoptions_t *o = rocksdb_readoptions_create();

	if (it->view)
		rocksdb_readoptions_set_snapshot(o, it->view->snapshot);
	if (it->from.n)
		rocksdb_readoptions_set_iterate_lower_bound(o, it->from.p, it->from.n);
	if (it->to.n)
		rocksdb_readoptions_set_iterate_upper_bound(o, it->to.p, it->to.n);
	rocksdb_readoptions_set_total_order_seek(o, !it->one_partition);
	/* Only the ranges of dropped tables and indexes are deleted, and their ids are never used again: a walk
	 * within a partition of a live one need not check them. */
	rocksdb_readoptions_set_ignore_range_deletions(o, it->one_partition);
	return o;
}

static struct store_iter *iter_new(const struct store_at *at, const struct store_walk *w, struct arena *a)
{
	struct store_iter *it = arena_new(a, struct store_iter);

	it->store = at->store;
	it->view = at->view;
	it->arena = a;
	it->family = at->family;
	it->backwards = w->backwards;
	it->most = w->most;
	it->from = arena_copy(a, w->from);
	it->to = arena_copy(a, w->to);
	it->one_partition = (at->family == STORE_ITEMS || at->family == STORE_INDEX) && within_prefix(w->from, w->to);
	it->done = w->to.n && slice_cmp(w->from, w->to) >= 0;
	arena_defer(a, iter_end, it); /* the last allocation before there is anything to close: I1 */
	return it;
}

static void begin_iterator(struct store_iter *it)
{
	store_count_nothing();
	it->options = options_of(it);
	it->it = rocksdb_create_iterator_cf(it->store->db, it->options, it->store->families[it->family]);
}

static bool take_hot(struct store_iter *it)
{
	if (!it->most || !it->one_partition || it->view)
		return false;
	it->hot = (struct hot_walk){ .family = it->family, .backwards = it->backwards, .from = it->from, .to = it->to };
	it->run = hot_find(it->store->hot, &it->hot, it->most);
	if (!it->run)
		return false;
	it->kept = it->run->entries;
	it->count = it->run->count;
	it->in_full = it->run->whole;
	return true;
}

struct store_iter *store_iter(const struct store_at *at, const struct store_walk *w, struct arena *a)
{
	struct store_iter *it = iter_new(at, w, a);

	if (!it->done && !take_hot(it))
		begin_iterator(it);
	return it;
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

/* Whether to begin at the front, based on earlier walks of the same id. Threads may disturb each other's counts: it
 * is only a guess. */
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
		atomic_store_explicit(&it->store->straight[kind].left, next ? next : STRAIGHT_FIRST,
				      memory_order_relaxed);
	next = was_short ? 0 : !next ? 2 * STRAIGHT_FIRST : next < STRAIGHT_MOST ? 2 * next : next;
	atomic_store_explicit(&it->store->straight[kind].next, next, memory_order_relaxed);
}

/* With bounds set, first and last are those of the range. */
static void seek(struct store_iter *it, bool backwards)
{
	if (backwards)
		rocksdb_iter_seek_to_last(it->it);
	else
		rocksdb_iter_seek_to_first(it->it);
}

static void step(struct store_iter *it, bool backwards)
{
	if (backwards)
		rocksdb_iter_prev(it->it);
	else
		rocksdb_iter_next(it->it);
}

/* Copies the range from its beginning, or from its end, up to `most` entries or more bytes than a short range has.
 * RocksDB's iterator is then at the next entry. If there is none: at the end of the range it->in_full is set, after
 * an error kept is not. */
static void gather(struct store_iter *it, bool backwards, struct hot_entry *into, size_t most)
{
	size_t n = 0, bytes = 0;
	struct reason ignored; /* the caller will get the same error */
	char *err = NULL;

	for (seek(it, backwards); n < most && rocksdb_iter_valid(it->it); step(it, backwards)) {
		struct slice key = key_here(it), value = value_here(it);

		bytes += key.n + value.n;
		if (bytes > STORE_SHORT_BYTES)
			break;
		into[n++] = (struct hot_entry){ arena_copy(it->arena, key), arena_copy(it->arena, value) };
	}
	it->kept = into;
	it->count = n;
	it->in_full = !rocksdb_iter_valid(it->it);
	rocksdb_iter_get_error(it->it, &err);
	if (store_take_reason(&err, &ignored))
		it->kept = NULL;
}

static void reverse(struct hot_entry *e, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct hot_entry other = e[n - 1 - i];

		e[n - 1 - i] = e[i];
		e[i] = other;
	}
}

/* A walk backwards that begins at the front. */
static bool keep_from_front(struct store_iter *it)
{
	size_t most = it->most < STORE_SHORT_ENTRIES / 2 ? 2 * it->most : STORE_SHORT_ENTRIES;
	struct hot_entry *into;

	if (!it->backwards || !it->one_partition || it->most < WANTED_LEAST || !may_be_short(it))
		return false;
	into = arena_array(it->arena, struct hot_entry, most);
	gather(it, false, into, most);
	if (!it->in_full)
		it->kept = NULL;
	if (it->kept)
		reverse(into, it->count);
	learn(it, it->kept);
	return it->kept;
}

/* Gathers the result of the walk in advance, for later walks. */
static bool keep_in_order(struct store_iter *it)
{
	size_t most = it->most < STORE_SHORT_ENTRIES ? it->most : STORE_SHORT_ENTRIES;

	gather(it, it->backwards, arena_array(it->arena, struct hot_entry, most), most);
	it->goes_on = it->kept && !it->in_full && it->count < it->most;
	return it->kept;
}

static void first_step(struct store_iter *it)
{
	it->started = true;
	if (it->kept)
		return;
	if (!keep_from_front(it) && !(it->hot.wanted && keep_in_order(it)))
		seek(it, it->backwards);
	else if (it->hot.wanted && !it->goes_on)
		hot_keep(it->store->hot, &it->hot, it->kept, it->count, it->in_full);
}

/* Moves RocksDB's iterator past the kept entries. */
static void go_on(struct store_iter *it)
{
	it->goes_on = false;
	it->kept = NULL;
}

bool store_iter_next(struct store_iter *it)
{
	if (it->done)
		return false;
	if (!it->started)
		first_step(it);
	else if (it->kept)
		it->at++;
	else
		step(it, it->backwards);
	if (it->goes_on && it->at == it->count)
		go_on(it);
	if (!it->kept) {
		it->done = !rocksdb_iter_valid(it->it);
	} else if (it->at == it->count) {
		assert(it->in_full || it->count >= it->most); /* callers take at most what they announced */
		it->done = true;
	}
	return !it->done;
}

bool store_iter_is_short(const struct store_iter *it)
{
	return it->kept && !it->goes_on;
}

struct slice store_iter_key(const struct store_iter *it)
{
	assert(it->started && !it->done);
	return it->kept ? it->kept[it->at].key : key_here(it);
}

struct slice store_iter_value(const struct store_iter *it)
{
	assert(it->started && !it->done);
	return it->kept ? it->kept[it->at].value : value_here(it);
}

bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (store_fault(it->store, &r))
		return health_read_failed(it->store, &r, a, e);
	if (!it->it)
		return true;
	rocksdb_iter_get_error(it->it, &err);
	return store_take_reason(&err, &r) ? health_read_failed(it->store, &r, a, e) : true;
}

void store_iter_close(struct store_iter *it)
{
	if (it)
		iter_end(it);
}
