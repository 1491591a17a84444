/* One page of a Query or Scan: walks a range of keys until the limit, 1 MB or the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/read.h"

#include "table/bounds.h"
#include "table/layout.h"
#include "table/page_size.h"

/* A page in the making. */
struct walk {
	struct db *db;
	const struct page_request *r;
	struct arena *arena;
	struct arena *scratch; /* memory for one item; cleared before the next */
	const struct store_view *view;
	struct page *page;
	size_t read_bytes; /* sum of the sizes of walked items, for capacity */
	size_t page_bytes; /* against PAGE_BYTES_MAX */
	bool measures;     /* false: neither of the two is needed */
};

static void release_arena(void *arena)
{
	arena_release(arena);
}

/* Running out of memory leaves by the exit of `a`. */
static struct arena *scratch_of(struct arena *a)
{
	struct arena *scratch = arena_new(a, struct arena);

	arena_init(scratch);
	scratch->oom = a->oom;
	arena_defer(a, release_arena, scratch);
	return scratch;
}

/* The whole item of an index entry, from the same view. */
static bool fetch_item(struct walk *w, struct slice index_key, struct value *item, struct error *e)
{
	struct item_key key;

	if (!layout_read_index_key(w->scratch, w->r->index, index_key, &key))
		return error_set(e, w->arena, ERR_INTERNAL, "An index entry is malformed");
	if (!db_get(&(struct db_at){ w->db, w->view, w->r->table }, key, w->scratch, item, e)) {
		e->message = arena_copy(w->arena, e->message);
		return false;
	}
	if (!value_present(*item))
		return error_set(e, w->arena, ERR_INTERNAL, "An index entry has no item");
	w->page->capacity.table_units += capacity_read_units(item_size(*item), w->r->consistent);
	return true;
}

/* Evaluates one entry. *full tells whether the page ends with it. */
static bool take_entry(struct walk *w, struct slice key, struct value item, bool *full, struct error *e)
{
	const struct page_request *r = w->r;
	struct page *page = w->page;
	size_t entry_bytes = r->fetch_items ? item_size(item) : 0, item_bytes;

	if (r->fetch_items && !fetch_item(w, key, &item, e))
		return false;
	page->scanned++;
	if (w->measures) {
		w->page_bytes += page_size_of_item(r->table, item, &item_bytes);
		w->read_bytes += r->fetch_items ? entry_bytes : item_bytes;
	}
	if (!r->filter || condition_holds(r->filter, item, w->scratch)) {
		page->count++;
		if (r->emit)
			r->emit(r->ctx, item);
	}
	*full = (r->limit && page->scanned >= r->limit) || w->page_bytes >= PAGE_BYTES_MAX;
	if (*full)
		page->last_key = table_key_item(r->table, r->index, item, w->arena);
	return true;
}

/* A value counts at most twice its bytes, plus a sort key of up to 1 KB for every 3 KB of that. So a short range
 * stays far below PAGE_BYTES_MAX, unless its entries refer to larger items. */
static bool must_measure(const struct page_request *r, const struct store_iter *it)
{
	return !r->uncounted || r->fetch_items || !store_iter_is_short(it);
}

static bool walk_range(struct walk *w, const struct key_range *range, struct error *e)
{
	const struct page_request *r = w->r;
	struct store_iter *it =
		store_iter(&(struct store_at){ db_store(w->db), w->view, r->index ? STORE_INDEX : STORE_ITEMS },
			   &(struct store_walk){ range->from, range->to, .backwards = r->backwards,
						 .most = r->limit ? (size_t)r->limit : SIZE_MAX },
			   w->arena);
	bool full = false, ok = true;

	while (ok && !full && store_iter_next(it)) {
		struct slice value = store_iter_value(it);

		arena_clear(w->scratch);
		w->measures = must_measure(r, it);
		ok = take_entry(w, store_iter_key(it), (struct value){ (const uint8_t *)value.p, value.n }, &full, e);
	}
	if (ok && !full)
		ok = store_iter_ok(it, w->arena, e);
	store_iter_close(it);
	return ok;
}

bool db_page(struct db *db, const struct page_request *r, struct arena *a, struct page *out, struct error *e)
{
	struct walk w = { .db = db, .r = r, .arena = a, .page = out };
	struct key_range range = bounds_after_start(r, bounds_of_request(r, a), a);
	double units;

	*out = (struct page){ .capacity.read = true };
	if (!key_range_is_empty(&range)) {
		w.scratch = scratch_of(a);
		w.view = r->view;
		if (r->fetch_items && !w.view)
			w.view = store_view(db_store(db), a);
		if (!walk_range(&w, &range, e))
			return false;
	}
	units = capacity_read_units(w.read_bytes, r->consistent);
	if (r->index)
		out->capacity.index_units[r->index - r->table->indexes] += units;
	else
		out->capacity.table_units += units;
	stats_add(&r->table->stats->reads, out->scanned ? out->scanned : 1); /* finding nothing counts as a read */
	return true;
}
