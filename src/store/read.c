/* Reading: single keys, and views of one moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "store/health.h"
#include "store/hot.h"
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

/* A value that RocksDB pins while it is copied. */
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

static const rocksdb_readoptions_t *options_at(const struct store_at *at)
{
	return at->view ? at->view->options : at->store->latest;
}

bool store_get(const struct store_at *at, struct slice key, struct arena *a, struct slice *value, bool *found,
	       struct error *e)
{
	struct store *s = at->store;
	struct reason r = { 0 };
	struct pin *pin;
	char *err = NULL;
	const char *p;
	size_t n;

	*found = false;
	*value = SLICE("");
	if (store_fault(s, &r))
		return health_read_failed(s, &r, a, e);
	store_count_nothing();
	pin = arena_new(a, struct pin);
	arena_defer(a, pin_end, pin);
	pin->slice =
		rocksdb_get_pinned_cf(s->db, options_at(at), s->families[at->family], store_bytes(key), key.n, &err);
	if (store_take_reason(&err, &r))
		return health_read_failed(s, &r, a, e);
	if (!pin->slice)
		return true;
	p = rocksdb_pinnableslice_value(pin->slice, &n);
	*value = arena_copy(a, slice_make(p, n));
	*found = true;
	pin_end(pin);
	return true;
}

/* ---- several keys ---- */

#define TOGETHER 32 /* RocksDB's own batch size */

struct pins {
	rocksdb_pinnableslice_t *slices[TOGETHER];
};

static void pins_end(void *ptr)
{
	struct pins *p = ptr;

	for (size_t i = 0; i < TOGETHER; i++) {
		if (p->slices[i])
			rocksdb_pinnableslice_destroy(p->slices[i]);
		p->slices[i] = NULL;
	}
}

/* At most TOGETHER. False: *r says why. */
static bool look_up(const struct store_at *at, const struct slice *keys, size_t n, struct pins *pins, struct reason *r)
{
	struct store *s = at->store;
	const char *bytes[TOGETHER];
	char *errs[TOGETHER] = { NULL };
	size_t sizes[TOGETHER];
	struct reason one;

	for (size_t i = 0; i < n; i++) {
		bytes[i] = store_bytes(keys[i]);
		sizes[i] = keys[i].n;
	}
	rocksdb_batched_multi_get_cf(s->db, options_at(at), s->families[at->family], n, bytes, sizes, pins->slices,
				     errs, false);
	for (size_t i = 0; i < n; i++)
		if (store_take_reason(&errs[i], &one))
			*r = one;
	return !r->failed;
}

bool store_get_many(const struct store_at *at, const struct slice *keys, size_t n, struct arena *a,
		    struct slice *values, struct error *e)
{
	struct store *s = at->store;
	struct pins *pins = arena_new(a, struct pins);
	struct reason r = { 0 };

	arena_defer(a, pins_end, pins);
	store_count_nothing();
	for (size_t from = 0, some; from < n; from += some) {
		some = n - from < TOGETHER ? n - from : TOGETHER;
		if (store_fault(s, &r) || !look_up(at, keys + from, some, pins, &r))
			return health_read_failed(s, &r, a, e);
		for (size_t i = 0; i < some; i++) {
			size_t size = 0;
			const char *p = pins->slices[i] ? rocksdb_pinnableslice_value(pins->slices[i], &size) : NULL;

			values[from + i] = p ? arena_copy(a, slice_make(p, size)) : (struct slice){ 0 };
		}
		pins_end(pins);
	}
	return true;
}

uint64_t store_version(struct store *s, struct slice key)
{
	return hot_version(s->hot, key);
}
