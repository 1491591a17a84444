/* From key terms, segments and start keys to ranges of store keys.
 *
 * In ITEMS the raw sort key comes last: `= v` is [v, v\0), and the other operators follow from that. In INDEX every
 * range attribute is escaped and terminated, so no encoded value is a prefix of another, and more bytes follow: `= v`
 * is everything that starts with the encoded v.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/bounds.h"

const struct key_term *page_term(const struct page_request *r, struct slice name)
{
	for (size_t i = 0; i < r->term_count; i++)
		if (slice_equal(r->terms[i].name, name))
			return &r->terms[i];
	return NULL;
}

#include <assert.h>
#include "table/layout.h"
#include "value/key.h"

static struct slice concat(struct arena *a, struct slice x, struct slice y)
{
	struct buf b;

	buf_init(&b, a);
	buf_put(&b, x);
	buf_put(&b, y);
	return buf_slice(&b);
}

/* The smallest key greater than `key`. */
static struct slice just_after(struct arena *a, struct slice key)
{
	return concat(a, key, slice_make("\0", 1));
}

/* ---- the position of one value of the last given range attribute ---- */

/* The bounds of keys with this value, of keys with greater values, and of keys that start with it (begins_with). */
struct place {
	struct slice at, after, prefix_end;
};

static struct place place_in_items(struct arena *a, struct slice base, struct value v)
{
	struct place p;

	p.at = concat(a, base, value_bytes(v));
	p.after = just_after(a, p.at);
	p.prefix_end = layout_after_prefix(a, p.at);
	return p;
}

static struct place place_in_index(struct arena *a, struct slice base, struct value v, bool prefix)
{
	struct place p;
	struct buf b;

	buf_init(&b, a);
	buf_put(&b, base);
	if (prefix)
		key_add_escaped_prefix(&b, value_bytes(v));
	else
		key_add_escaped(&b, value_bytes(v));
	p.at = buf_slice(&b);
	p.after = p.prefix_end = layout_after_prefix(a, p.at);
	return p;
}

static struct key_range range_of_term(const struct page_request *r, const struct key_term *t, struct slice base,
				      struct arena *a)
{
	bool prefix = t->op == KEY_BEGINS_WITH;
	struct place v = r->index ? place_in_index(a, base, t->value, prefix) : place_in_items(a, base, t->value);
	struct slice end = layout_after_prefix(a, base);

	switch (t->op) {
	case KEY_EQ: return (struct key_range){ v.at, v.after };
	case KEY_LT: return (struct key_range){ base, v.at };
	case KEY_LE: return (struct key_range){ base, v.after };
	case KEY_GT: return (struct key_range){ v.after, end };
	case KEY_GE: return (struct key_range){ v.at, end };
	case KEY_BEGINS_WITH: return (struct key_range){ v.at, v.prefix_end };
	case KEY_BETWEEN: break;
	}
	struct place upper = r->index ? place_in_index(a, base, t->upper, false) : place_in_items(a, base, t->upper);

	return (struct key_range){ v.at, upper.after };
}

/* ---- queries ---- */

static struct slice partition_of_query(const struct page_request *r, struct arena *a)
{
	const struct key_schema *k = page_key(r);
	struct slice hash[KEY_HASH_MAX];
	struct buf b;

	for (int i = 0; i < k->hash_count; i++) {
		const struct key_term *t = page_term(r, k->hash[i].name);

		assert(t && t->op == KEY_EQ); /* the caller has checked it */
		hash[i] = value_bytes(t->value);
	}
	if (!r->index)
		return layout_item_partition(a, r->table->id, hash[0]);
	buf_init(&b, a);
	layout_index_partition(&b, r->index, hash);
	return buf_slice(&b);
}

static struct key_range range_of_query(const struct page_request *r, struct arena *a)
{
	const struct key_schema *k = page_key(r);
	struct slice base = partition_of_query(r, a);

	for (int i = 0; i < k->range_count; i++) {
		const struct key_term *t = page_term(r, k->range[i].name);
		bool is_last = i + 1 == k->range_count || !page_term(r, k->range[i + 1].name);

		if (!t)
			break;
		if (is_last)
			return range_of_term(r, t, base, a);
		base = place_in_index(a, base, t->value, false).at;
	}
	return (struct key_range){ base, layout_after_prefix(a, base) };
}

/* ---- scans ---- */

bool bounds_segment_hash(uint32_t segment, uint32_t total, uint64_t *hash)
{
	unsigned __int128 whole = (unsigned __int128)1 << 64;

	if (segment >= total)
		return false;
	*hash = (uint64_t)((whole * segment + total - 1) / total);
	return true;
}

uint32_t bounds_segment_of_hash(uint64_t hash, uint32_t total)
{
	return (uint32_t)(((unsigned __int128)hash * total) >> 64);
}

static struct key_range range_of_scan(const struct page_request *r, struct arena *a)
{
	uint32_t id = r->index ? r->index->id : r->table->id;
	uint32_t total = r->total_segments ? r->total_segments : 1;
	uint64_t first = 0, next = 0;
	struct key_range range;

	(void)bounds_segment_hash(r->segment, total, &first);
	bool bounded = bounds_segment_hash(r->segment + 1, total, &next);

	range.from = r->index ? layout_index_from_hash(a, id, first) : layout_item_from_hash(a, id, first);
	if (!bounded)
		range.to = layout_after_prefix(a, layout_id(a, id));
	else
		range.to = r->index ? layout_index_from_hash(a, id, next) : layout_item_from_hash(a, id, next);
	return range;
}

struct key_range bounds_of_request(const struct page_request *r, struct arena *a)
{
	return r->terms ? range_of_query(r, a) : range_of_scan(r, a);
}

/* ---- ExclusiveStartKey ---- */

/* The store key of the item (or entry) with the key attributes in `start`. */
static struct slice key_of_start(const struct page_request *r, struct arena *a)
{
	const struct key_schema *k = &r->table->key;
	struct item_key key = { .pk = value_bytes(value_get(r->start, k->hash[0].name)) };

	if (k->range_count)
		key.sk = value_bytes(value_get(r->start, k->range[0].name));
	return r->index ? layout_index_key(a, r->index, r->start, key) : layout_item_key(a, r->table->id, key);
}

struct key_range bounds_after_start(const struct page_request *r, struct key_range all, struct arena *a)
{
	struct slice start;

	if (!value_present(r->start))
		return all;
	start = key_of_start(r, a);
	if (r->backwards) {
		if (slice_cmp(start, all.to) < 0)
			all.to = start;
	} else {
		start = just_after(a, start);
		if (slice_cmp(start, all.from) > 0)
			all.from = start;
	}
	return all;
}

static bool term_holds(const struct key_term *t, struct value v)
{
	int low = value_cmp(v, t->value);

	switch (t->op) {
	case KEY_EQ: return low == 0;
	case KEY_LT: return low < 0;
	case KEY_LE: return low <= 0;
	case KEY_GT: return low > 0;
	case KEY_GE: return low >= 0;
	case KEY_BETWEEN: return low >= 0 && value_cmp(v, t->upper) <= 0;
	case KEY_BEGINS_WITH: return slice_starts(value_bytes(v), value_bytes(t->value));
	}
	return false;
}

/* Whether the start meets every term on the attributes `attrs`; *given counts the terms. */
static bool start_fits(const struct page_request *r, const struct key_attr *attrs, int n, int *given)
{
	bool fits = true;

	*given = 0;
	for (int i = 0; i < n; i++) {
		const struct key_term *t = page_term(r, attrs[i].name);

		if (!t)
			continue;
		++*given;
		fits &= term_holds(t, value_get(r->start, attrs[i].name));
	}
	return fits;
}

enum page_start page_start_check(const struct page_request *r)
{
	const struct key_schema *k = page_key(r);
	int hash_terms, range_terms;

	if (!r->terms || !value_present(r->start))
		return PAGE_START_FITS;
	bool hash_fits = start_fits(r, k->hash, k->hash_count, &hash_terms);
	bool range_fits = start_fits(r, k->range, k->range_count, &range_terms);

	if (!range_fits)
		return PAGE_START_NOT_IN_RANGE;
	if (!hash_fits)
		return range_terms ? PAGE_START_NOT_RESTARTABLE : PAGE_START_OUTSIDE;
	return PAGE_START_FITS;
}

bool page_start_in_segment(const struct page_request *r, struct arena *a)
{
	if (!value_present(r->start) || r->total_segments <= 1)
		return true;
	return bounds_segment_of_hash(layout_hash_of(key_of_start(r, a)), r->total_segments) == r->segment;
}

bool page_start_in_bounds(const struct page_request *r, struct arena *a)
{
	return page_start_check(r) == PAGE_START_FITS && page_start_in_segment(r, a);
}
