/* Whether untrusted bytes are a value in canonical form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/layout.h"

struct cursor {
	const uint8_t *p, *end;
};

static bool check_value(struct cursor *c, int depth);

static bool is_continuation(const uint8_t *p, const uint8_t *end, int n)
{
	if (end - p <= n)
		return false;
	for (int i = 1; i <= n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* No overlong forms, no surrogates, nothing above U+10FFFF: what JSON may carry. */
static bool is_utf8(struct slice s)
{
	const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;

	while (p < end) {
		uint8_t c = *p;
		int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

		if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || !is_continuation(p, end, more))
			return false;
		if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) || (c == 0xf0 && p[1] < 0x90) ||
		    (c == 0xf4 && p[1] > 0x8f))
			return false;
		p += more + 1;
	}
	return true;
}

static bool take_bytes(struct cursor *c, struct slice *out)
{
	uint64_t n;
	size_t used = read_varint(c->p, c->end, &n);

	/* A varint longer than needed would give one value two forms (V1). */
	if (used == 0 || used != layout_varint_size(n) || n > (uint64_t)(c->end - c->p) - used)
		return false;
	*out = slice_make(c->p + used, n);
	c->p += used + n;
	return true;
}

static bool element_is_valid(enum value_type t, struct slice s)
{
	switch (t) {
	case VALUE_S:
	case VALUE_SS: return is_utf8(s);
	case VALUE_N:
	case VALUE_NS: return number_is_valid((const uint8_t *)s.p, s.n);
	default: return true;
	}
}

/* Reads what follows the type byte of a container or set: its end and count. */
static bool take_head(struct cursor *c, struct cursor *body, size_t *count)
{
	size_t bytes;

	if (c->end - c->p < 8)
		return false;
	bytes = layout_be32(c->p);
	if (bytes < 4 || bytes > (size_t)(c->end - c->p) - 4)
		return false;
	*count = layout_be32(c->p + 4);
	*body = (struct cursor){ c->p + 8, c->p + 4 + bytes };
	c->p += 4 + bytes;
	return true;
}

static bool check_set(struct cursor *c, enum value_type t)
{
	struct slice before = { NULL, 0 }, s;
	struct cursor body;
	size_t count;

	if (!take_head(c, &body, &count) || count == 0)
		return false;
	for (size_t i = 0; i < count; i++, before = s) {
		if (!take_bytes(&body, &s) || !element_is_valid(t, s))
			return false;
		if (i && slice_cmp(before, s) >= 0)
			return false;
	}
	return body.p == body.end;
}

static bool check_container(struct cursor *c, enum value_type t, int depth)
{
	struct slice before = { NULL, 0 }, name = before;
	struct cursor body;
	size_t count;

	if (depth <= 0 || !take_head(c, &body, &count))
		return false;
	for (size_t i = 0; i < count; i++, before = name) {
		if (t == VALUE_M) {
			if (!take_bytes(&body, &name) || !is_utf8(name))
				return false;
			if (i && slice_cmp(before, name) >= 0)
				return false;
		}
		if (!check_value(&body, depth - 1))
			return false;
	}
	return body.p == body.end;
}

static bool check_value(struct cursor *c, int depth)
{
	enum value_type t;
	struct slice s;

	if (c->p == c->end)
		return false;
	t = (enum value_type) * c->p++;
	switch (t) {
	case VALUE_S:
	case VALUE_N:
	case VALUE_B: return take_bytes(c, &s) && element_is_valid(t, s);
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return check_set(c, t);
	case VALUE_M:
	case VALUE_L: return check_container(c, t, depth);
	case VALUE_BOOL: return c->p < c->end && *c->p++ <= 1;
	case VALUE_NULL: return true;
	default: return false;
	}
}

bool value_is_valid(struct value v, int depth)
{
	struct cursor c;

	if (!value_present(v))
		return false;
	c = (struct cursor){ v.p, v.p + v.n };
	return check_value(&c, depth) && c.p == c.end;
}
