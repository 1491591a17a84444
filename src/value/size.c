/* Measures values as DynamoDB does, for capacity and for pages in one pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/layout.h"

/* Adds the value at `p`; returns what follows it. */
static const uint8_t *add_other(const uint8_t *p, struct item_sizes *s);

/* Most values are strings. */
static inline const uint8_t *add_value(const uint8_t *p, struct item_sizes *s)
{
	const uint8_t *at = p + 1;
	size_t n;

	if (p[0] != VALUE_S)
		return add_other(p, s);
	n = layout_bytes(&at).n;
	s->size += n;
	s->stored += n + (n < 128 ? 1 : n < 16384 ? 2 : 3);
	return at;
}

static const uint8_t *add_set(const uint8_t *p, struct item_sizes *s)
{
	const uint8_t *end = p + layout_size(p);
	bool numbers = p[0] == VALUE_NS;
	size_t bytes = 0, count = layout_be32(p + 5);

	for (p += LAYOUT_HEAD; p < end;) {
		struct slice e = layout_bytes(&p);

		bytes += numbers ? number_size_encoded((const uint8_t *)e.p, e.n) : e.n;
	}
	s->size += bytes;
	s->stored += bytes + count + 1;
	return p;
}

/* Three bytes for a list or map and one for each element; a stored map has two for each, and no names. */
static const uint8_t *add_container(const uint8_t *p, struct item_sizes *s)
{
	const uint8_t *end = p + layout_size(p);
	bool named = p[0] == VALUE_M;

	s->size += 3;
	s->stored += 3;
	for (p += LAYOUT_HEAD; p < end;) {
		s->size += 1 + (named ? layout_bytes(&p).n : 0);
		s->stored += named ? 2 : 1;
		p = add_value(p, s);
	}
	return p;
}

static const uint8_t *add_other(const uint8_t *p, struct item_sizes *s)
{
	const uint8_t *at = p + 1;
	struct slice bytes;
	size_t n;

	switch ((enum value_type)p[0]) {
	case VALUE_S: break; /* add_value() */
	case VALUE_N:
		bytes = layout_bytes(&at);
		n = number_size_encoded((const uint8_t *)bytes.p, bytes.n);
		s->size += n;
		s->stored += n + 1;
		return at;
	case VALUE_B:
		n = layout_bytes(&at).n;
		s->size += n;
		s->stored += n + 1;
		return at;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return add_set(p, s);
	case VALUE_L:
	case VALUE_M: return add_container(p, s);
	case VALUE_BOOL:
		s->size += 1;
		s->stored += 1;
		return at + 1;
	case VALUE_NULL: s->size += 1; break;
	case VALUE_NONE: break;
	}
	return at;
}

/* Keeps the sums in registers while it adds strings, whose stored form is as long as ours without the type. */
struct item_sizes item_sizes(struct value item, struct slice apart)
{
	const uint8_t *p, *end = item.p + item.n;
	struct item_sizes others = { 0 };
	size_t size = 0, stored = 0;

	if (value_type(item) != VALUE_M)
		return others;
	for (p = item.p + LAYOUT_HEAD; p < end;) {
		struct slice name = layout_bytes(&p);
		bool is_apart = name.n == apart.n && memcmp(name.p, apart.p, name.n) == 0;

		size += name.n;
		stored += !is_apart;
		if (is_apart) {
			struct item_sizes alone = { 0 };

			p = add_value(p, &alone);
			others.size += others.apart = alone.size;
		} else if (p[0] == VALUE_S && p[1] < 0x80) {
			size += p[1];
			stored += p[1] + 1u;
			p += p[1] + 2u;
		} else {
			p = add_value(p, &others);
		}
	}
	others.size += size;
	others.stored += stored;
	return others;
}

size_t item_size(struct value item)
{
	return item_sizes(item, SLICE("")).size;
}

size_t value_size(struct value v)
{
	struct item_sizes s = { 0 };

	if (value_present(v))
		add_value(v.p, &s);
	return s.size;
}
