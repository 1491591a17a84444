/* Reading values in place: scalars, walking, searching.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/layout.h"

static const char *const type_names[] = {
	[VALUE_NONE] = "", [VALUE_S] = "S",       [VALUE_N] = "N",       [VALUE_B] = "B",
	[VALUE_SS] = "SS", [VALUE_NS] = "NS",     [VALUE_BS] = "BS",     [VALUE_M] = "M",
	[VALUE_L] = "L",   [VALUE_BOOL] = "BOOL", [VALUE_NULL] = "NULL",
};

const char *value_type_name(enum value_type t)
{
	return type_names[t];
}

enum value_type value_type_parse(struct slice s)
{
	switch (s.n) {
	case 1:
		switch (s.p[0]) {
		case 'S': return VALUE_S;
		case 'N': return VALUE_N;
		case 'B': return VALUE_B;
		case 'M': return VALUE_M;
		case 'L': return VALUE_L;
		}
		return VALUE_NONE;
	case 2:
		if (s.p[1] != 'S')
			return VALUE_NONE;
		switch (s.p[0]) {
		case 'S': return VALUE_SS;
		case 'N': return VALUE_NS;
		case 'B': return VALUE_BS;
		}
		return VALUE_NONE;
	case 4:
		if (memcmp(s.p, "BOOL", 4) == 0)
			return VALUE_BOOL;
		return memcmp(s.p, "NULL", 4) == 0 ? VALUE_NULL : VALUE_NONE;
	}
	return VALUE_NONE;
}

struct slice value_bytes(struct value v)
{
	enum value_type t = value_type(v);
	const uint8_t *p;

	if (t != VALUE_S && t != VALUE_N && t != VALUE_B)
		return slice_make("", 0);
	p = v.p + 1;
	return layout_bytes(&p);
}

struct number value_number(struct value v)
{
	struct slice s = value_bytes(v);

	return number_decode((const uint8_t *)s.p, s.n);
}

bool value_bool(struct value v)
{
	return v.p[1] != 0;
}

static bool has_elements(enum value_type t)
{
	return t == VALUE_M || t == VALUE_L || layout_is_set(t);
}

size_t value_count(struct value v)
{
	return has_elements(value_type(v)) ? layout_be32(v.p + 5) : 0;
}

bool value_equal(struct value x, struct value y)
{
	return slice_equal(value_slice(x), value_slice(y));
}

int value_cmp(struct value x, struct value y)
{
	return slice_cmp(value_bytes(x), value_bytes(y));
}

struct value_iter value_iter(struct value v)
{
	struct value_iter it = { .type = value_type(v) };

	if (has_elements(it.type)) {
		it.next = v.p + LAYOUT_HEAD;
		it.end = v.p + v.n;
	}
	return it;
}

bool value_next(struct value_iter *it)
{
	if (it->next == it->end)
		return false;
	if (layout_is_set(it->type)) {
		it->element = layout_bytes(&it->next);
		return true;
	}
	if (it->type == VALUE_M)
		it->name = layout_bytes(&it->next);
	it->value = (struct value){ it->next, layout_size_mostly_short(it->next) };
	it->next += it->value.n;
	return true;
}

struct value value_get(struct value map, struct slice name)
{
	uint8_t first = name.n ? (uint8_t)name.p[0] : 0;
	const uint8_t *p, *end;

	if (value_type(map) != VALUE_M)
		return VALUE_ABSENT;
	p = map.p + LAYOUT_HEAD;
	end = map.p + map.n;
	while (p < end) {
		struct slice at = layout_bytes(&p);
		size_t n = layout_size_mostly_short(p);
		int order;

		if (at.n && (uint8_t)at.p[0] < first) { /* most names that come before it differ in their first letter */
			p += n;
			continue;
		}
		order = slice_cmp(at, name);
		if (order >= 0)
			return order ? VALUE_ABSENT : (struct value){ p, n };
		p += n;
	}
	return VALUE_ABSENT;
}

struct value value_at(struct value list, size_t index)
{
	struct value_iter it;

	if (value_type(list) != VALUE_L || index >= value_count(list))
		return VALUE_ABSENT;
	it = value_iter(list);
	while (value_next(&it) && index--)
		;
	return it.value;
}

bool value_set_has(struct value set, struct slice element)
{
	struct value_iter it = value_iter(set);

	if (!layout_is_set(it.type))
		return false;
	while (value_next(&it)) {
		int order = slice_cmp(it.element, element);

		if (order >= 0)
			return order == 0;
	}
	return false;
}
