/* Reading: one key, a range, and views that hold a moment still.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include "base/alloc.h"
#include "store/internal.h"

static void view_end(void *ptr)
{
	struct store_view *v = ptr;

	if (!v->snapshot)
		return;
	rocksdb_readoptions_destroy(v->options);
	rocksdb_release_snapshot(v->store->db, v->snapshot);
	v->snapshot = NULL;
}

struct store_view *store_view(struct store *s, struct arena *defer_to)
{
	struct store_view *v;

	if (defer_to) {
		v = arena_new(defer_to, struct store_view);
		arena_defer(defer_to, view_end, v); /* before there is anything to release: I1 */
	} else {
		v = mem_zalloc(sizeof(*v));
		if (!v)
			return NULL;
	}
	v->store = s;
	v->in_arena = defer_to != NULL;
	v->options = rocksdb_readoptions_create();
	v->snapshot = rocksdb_create_snapshot(s->db);
	rocksdb_readoptions_set_snapshot(v->options, v->snapshot);
	return v;
}

void store_view_free(struct store_view *v)
{
	if (!v)
		return;
	view_end(v);
	if (!v->in_arena)
		mem_free(v);
}

static bool read_failed(const struct reason *r, struct arena *a, struct error *e)
{
	return error_set(e, a, ERR_INTERNAL, "The read failed: %s", r->text);
}

/* A value RocksDB holds still while it is copied. */
struct pin {
	rocksdb_pinnableslice_t *slice;
};

static void pin_end(void *ptr)
{
	struct pin *p = ptr;

	if (p->slice)
		rocksdb_pinnableslice_destroy(p->slice);
	p->slice = NULL;
}

bool store_get(struct store *s, const struct store_view *v, enum store_family f, struct slice key,
	       struct arena *a, struct slice *value, bool *found, struct error *e)
{
	const rocksdb_readoptions_t *options = v ? v->options : s->latest;
	struct reason r = { 0 };
	struct pin *pin;
	char *err = NULL;
	const char *p;
	size_t n;

	*found = false;
	*value = SLICE("");
	if (store_fault(s, &r))
		return read_failed(&r, a, e);
	pin = arena_new(a, struct pin);
	arena_defer(a, pin_end, pin);
	pin->slice = rocksdb_get_pinned_cf(s->db, options, s->families[f], store_bytes(key), key.n,
					   &err);
	if (store_take_reason(&err, &r))
		return read_failed(&r, a, e);
	if (!pin->slice)
		return true;
	p = rocksdb_pinnableslice_value(pin->slice, &n);
	*value = arena_copy(a, slice_make(p, n));
	*found = true;
	pin_end(pin);
	return true;
}

struct store_iter {
	struct store *store;
	rocksdb_iterator_t *it; /* NULL: closed, or a range that holds nothing */
	rocksdb_readoptions_t *options;
	struct slice from, to;  /* our copies: RocksDB keeps pointers to them */
	bool backwards, started, done;
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

struct store_iter *store_iter(struct store *s, const struct store_view *v, enum store_family f,
			      struct slice from, struct slice to, bool backwards, struct arena *a)
{
	struct store_iter *it = arena_new(a, struct store_iter);

	it->store = s;
	it->backwards = backwards;
	it->from = arena_copy(a, from);
	it->to = arena_copy(a, to);
	arena_defer(a, iter_end, it); /* the last allocation before there is something to close: I1 */
	if (to.n && slice_cmp(from, to) >= 0) {
		it->done = true;
		return it;
	}
	it->options = rocksdb_readoptions_create();
	if (v)
		rocksdb_readoptions_set_snapshot(it->options, v->snapshot);
	if (it->from.n)
		rocksdb_readoptions_set_iterate_lower_bound(it->options, it->from.p, it->from.n);
	if (it->to.n)
		rocksdb_readoptions_set_iterate_upper_bound(it->options, it->to.p, it->to.n);
	rocksdb_readoptions_set_total_order_seek(it->options, !within_prefix(from, to));
	it->it = rocksdb_create_iterator_cf(s->db, it->options, s->families[f]);
	return it;
}

bool store_iter_next(struct store_iter *it)
{
	if (it->done)
		return false;
	/* With bounds set, first and last are those of the range. */
	if (!it->started && it->backwards)
		rocksdb_iter_seek_to_last(it->it);
	else if (!it->started)
		rocksdb_iter_seek_to_first(it->it);
	else if (it->backwards)
		rocksdb_iter_prev(it->it);
	else
		rocksdb_iter_next(it->it);
	it->started = true;
	it->done = !rocksdb_iter_valid(it->it);
	return !it->done;
}

struct slice store_iter_key(const struct store_iter *it)
{
	size_t n;
	const char *p;

	assert(it->started && !it->done);
	p = rocksdb_iter_key(it->it, &n);
	return slice_make(p, n);
}

struct slice store_iter_value(const struct store_iter *it)
{
	size_t n;
	const char *p;

	assert(it->started && !it->done);
	p = rocksdb_iter_value(it->it, &n);
	return slice_make(p, n);
}

bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (store_fault(it->store, &r))
		return read_failed(&r, a, e);
	if (!it->it)
		return true;
	rocksdb_iter_get_error(it->it, &err);
	return store_take_reason(&err, &r) ? read_failed(&r, a, e) : true;
}

void store_iter_close(struct store_iter *it)
{
	if (it)
		iter_end(it);
}
