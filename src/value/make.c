/* Building values: scalars, containers from parts, and copies with one part changed.
 *
 * Lengths are known before a byte is written, so each value is one allocation and one pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/layout.h"
#include "value/sort.h"

struct value value_copy(struct arena *a, struct value v)
{
	struct slice s;

	if (!value_present(v))
		return VALUE_ABSENT;
	s = arena_copy(a, value_slice(v));
	return (struct value){ (const uint8_t *)s.p, s.n };
}

static struct value make_bytes(struct arena *a, enum value_type t, struct slice s)
{
	size_t n = 1 + layout_varint_size(s.n) + s.n;
	uint8_t *p = arena_alloc(a, n);

	p[0] = (uint8_t)t;
	layout_put_bytes(p + 1, s);
	return (struct value){ p, n };
}

struct value value_make_s(struct arena *a, struct slice s)
{
	return make_bytes(a, VALUE_S, s);
}

struct value value_make_b(struct arena *a, struct slice s)
{
	return make_bytes(a, VALUE_B, s);
}

struct value value_make_n(struct arena *a, const struct number *n)
{
	uint8_t encoded[NUMBER_ENCODED_MAX];

	return make_bytes(a, VALUE_N, slice_make(encoded, number_encode(n, encoded)));
}

struct value value_make_i64(struct arena *a, int64_t v)
{
	struct number n = number_from_i64(v);

	return value_make_n(a, &n);
}

struct value value_make_bool(struct arena *a, bool v)
{
	uint8_t *p = arena_alloc(a, 2);

	p[0] = VALUE_BOOL;
	p[1] = v;
	return (struct value){ p, 2 };
}

struct value value_make_null(struct arena *a)
{
	uint8_t *p = arena_alloc(a, 1);

	p[0] = VALUE_NULL;
	return (struct value){ p, 1 };
}

struct value value_element(struct arena *a, const struct value_iter *it)
{
	struct number n;

	switch (it->type) {
	case VALUE_SS: return value_make_s(a, it->element);
	case VALUE_BS: return value_make_b(a, it->element);
	case VALUE_NS: n = number_decode((const uint8_t *)it->element.p, it->element.n); return value_make_n(a, &n);
	default: return it->value;
	}
}

/* Allocates a container whose elements take `bytes`, and fills in its head. */
static uint8_t *make_head(struct arena *a, enum value_type t, size_t count, size_t bytes)
{
	uint8_t *p = arena_alloc(a, LAYOUT_HEAD + bytes);

	p[0] = (uint8_t)t;
	layout_put_be32(p + 1, (uint32_t)(4 + bytes));
	layout_put_be32(p + 5, (uint32_t)count);
	return p;
}

static size_t bytes_size(struct slice s)
{
	return layout_varint_size(s.n) + s.n;
}

static uint8_t *put_value(uint8_t *p, struct value v)
{
	memcpy(p, v.p, v.n);
	return p + v.n;
}

/* Keeps the last of equal neighbours; returns the number left. */
static size_t drop_repeated(struct sort_entry *e, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!sort_repeats(e, i, n))
			e[kept++] = e[i];
	return kept;
}

static struct sort_entry *entry_room(struct arena *a, struct sort_entry *stack, size_t n)
{
	return n <= SORT_ON_STACK ? stack : arena_alloc(a, arena_array_size(sizeof(*stack), n));
}

struct value value_make_map(struct arena *a, const struct value_member *members, size_t n)
{
	struct sort_entry stack[SORT_ON_STACK];
	struct sort_entry *e = entry_room(a, stack, n);
	bool ordered = true;
	size_t bytes = 0;
	uint8_t *start, *p;

	for (size_t i = 0; i < n; i++) {
		e[i] = sort_entry(members[i].name, &members[i].value);
		ordered = ordered && (i == 0 || sort_precedes(&e[i - 1], &e[i]));
	}
	if (!ordered) {
		sort_entries(a, e, n);
		n = drop_repeated(e, n);
	}
	for (size_t i = 0; i < n; i++)
		bytes += bytes_size(e[i].key) + ((const struct value *)e[i].data)->n;
	start = make_head(a, VALUE_M, n, bytes);
	p = start + LAYOUT_HEAD;
	for (size_t i = 0; i < n; i++) {
		p = layout_put_bytes(p, e[i].key);
		p = put_value(p, *(const struct value *)e[i].data);
	}
	return (struct value){ start, LAYOUT_HEAD + bytes };
}

struct value value_make_list(struct arena *a, const struct value *values, size_t n)
{
	size_t bytes = 0;
	uint8_t *start, *p;

	for (size_t i = 0; i < n; i++)
		bytes += values[i].n;
	start = make_head(a, VALUE_L, n, bytes);
	p = start + LAYOUT_HEAD;
	for (size_t i = 0; i < n; i++)
		p = put_value(p, values[i]);
	return (struct value){ start, LAYOUT_HEAD + bytes };
}

struct value value_make_set(struct arena *a, enum value_type type, const struct slice *elements, size_t n)
{
	struct sort_entry stack[SORT_ON_STACK];
	struct sort_entry *e = entry_room(a, stack, n);
	size_t bytes = 0;
	uint8_t *start, *p;

	for (size_t i = 0; i < n; i++)
		e[i] = sort_entry(elements[i], NULL);
	sort_entries(a, e, n);
	n = drop_repeated(e, n);
	for (size_t i = 0; i < n; i++)
		bytes += bytes_size(e[i].key);
	start = make_head(a, type, n, bytes);
	p = start + LAYOUT_HEAD;
	for (size_t i = 0; i < n; i++)
		p = layout_put_bytes(p, e[i].key);
	return (struct value){ start, LAYOUT_HEAD + bytes };
}

/* Walks two sets side by side; keeps elements only in x and, if asked, those only in y or in both. */
static struct value merge_sets(struct arena *a, struct value x, struct value y, bool with_y, bool with_both)
{
	struct value_iter ix = value_iter(x), iy = value_iter(y);
	uint8_t *start = make_head(a, value_type(x), 0, x.n + (with_y ? y.n : 0));
	uint8_t *p = start + LAYOUT_HEAD;
	bool more_x = value_next(&ix), more_y = value_next(&iy);
	uint32_t count = 0;

	while (more_x || more_y) {
		int order = !more_x ? 1 : !more_y ? -1 : slice_cmp(ix.element, iy.element);

		if (order < 0 || (order == 0 ? with_both : with_y)) {
			p = layout_put_bytes(p, order <= 0 ? ix.element : iy.element);
			count++;
		}
		if (order <= 0)
			more_x = value_next(&ix);
		if (order >= 0)
			more_y = value_next(&iy);
	}
	if (count == 0)
		return VALUE_ABSENT;
	layout_put_be32(start + 1, (uint32_t)(p - start - 5));
	layout_put_be32(start + 5, count);
	return (struct value){ start, (size_t)(p - start) };
}

struct value value_set_union(struct arena *a, struct value x, struct value y)
{
	return merge_sets(a, x, y, true, true);
}

struct value value_set_minus(struct arena *a, struct value x, struct value y)
{
	return merge_sets(a, x, y, false, false);
}

/* part of a container: [from, to) of its bytes */
struct cut {
	const uint8_t *from, *to;
};

/* Copies the container with the cut replaced by `middle` bytes, which the caller writes at *gap. `count`: its elements
 * afterwards. */
static struct value splice(struct arena *a, struct value v, struct cut cut, size_t middle, size_t count, uint8_t **gap)
{
	size_t before = (size_t)(cut.from - v.p) - LAYOUT_HEAD;
	size_t behind = (size_t)(v.p + v.n - cut.to);
	size_t bytes = before + middle + behind;
	uint8_t *p = make_head(a, value_type(v), count, bytes);

	memcpy(p + LAYOUT_HEAD, v.p + LAYOUT_HEAD, before);
	*gap = p + LAYOUT_HEAD + before;
	memcpy(*gap + middle, cut.to, behind);
	return (struct value){ p, LAYOUT_HEAD + bytes };
}

struct value value_map_with(struct arena *a, struct value map, struct slice name, struct value v)
{
	struct value_iter it = value_iter(map);
	struct cut cut = { it.next, it.end };
	size_t count = value_count(map);
	bool there = false;
	struct value out;
	uint8_t *gap;

	for (; value_next(&it); cut.from = it.next) {
		int order = slice_cmp(it.name, name);

		if (order < 0)
			continue;
		there = order == 0;
		cut.to = there ? it.next : cut.from;
		break;
	}
	count = count - there + value_present(v);
	out = splice(a, map, cut, value_present(v) ? bytes_size(name) + v.n : 0, count, &gap);
	if (value_present(v))
		put_value(layout_put_bytes(gap, name), v);
	return out;
}
