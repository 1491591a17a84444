/* Reading: one key, and views that hold a moment still.
 * SPDX-License-Identifier: Apache-2.0 */
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

bool store_read_failed(const struct reason *r, struct arena *a, struct error *e)
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
		return store_read_failed(&r, a, e);
	store_count_nothing();
	pin = arena_new(a, struct pin);
	arena_defer(a, pin_end, pin);
	pin->slice = rocksdb_get_pinned_cf(s->db, options, s->families[f], store_bytes(key), key.n,
					   &err);
	if (store_take_reason(&err, &r))
		return store_read_failed(&r, a, e);
	if (!pin->slice)
		return true;
	p = rocksdb_pinnableslice_value(pin->slice, &n);
	*value = arena_copy(a, slice_make(p, n));
	*found = true;
	pin_end(pin);
	return true;
}
