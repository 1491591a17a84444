/* Items laid out: one walk through the item and its entity's outline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/outline.h"
#include "value/layout.h"

#define PARTS_AT_HAND 16

/* Names are short: two words that overlap, instead of a call. */
static inline bool is_same(const char *x, const char *y, size_t n)
{
	uint64_t a, b, c, d;
	uint32_t e, f, g, h;

	if (n > 16)
		return memcmp(x, y, n) == 0;
	if (n >= 8) {
		memcpy(&a, x, 8);
		memcpy(&b, y, 8);
		memcpy(&c, x + n - 8, 8);
		memcpy(&d, y + n - 8, 8);
		return ((a ^ b) | (c ^ d)) == 0;
	}
	if (n >= 4) {
		memcpy(&e, x, 4);
		memcpy(&f, y, 4);
		memcpy(&g, x + n - 4, 4);
		memcpy(&h, y + n - 4, 4);
		return ((e ^ f) | (g ^ h)) == 0;
	}
	return n == 0 || (x[0] == y[0] && x[n / 2] == y[n / 2] && x[n - 1] == y[n - 1]);
}

const struct value *outline_lay(struct arena *a, const struct outline *o, struct value item)
{
	struct value *places = arena_array(a, struct value, o->count);
	const struct outline_name *n = o->sorted, *last = n + o->count;
	const uint8_t *p, *end;

	if (value_type(item) != VALUE_M)
		return places;
	p = item.p + LAYOUT_HEAD;
	end = item.p + item.n;
	while (p < end) {
		struct slice name = layout_bytes(&p);
		size_t size = layout_size(p);

		for (; n < last; n++) {
			if (n->name.n == name.n && is_same(n->name.p, name.p, name.n)) {
				places[n++->place] = (struct value){ p, size };
				break;
			}
			if (slice_cmp(n->name, name) > 0)
				break; /* none of the entity's */
		}
		p += size;
	}
	return places;
}

bool outline_is_keyed(struct run *r, const struct outline *o, const struct value *places)
{
	struct slice at_hand[PARTS_AT_HAND], *parts;

	for (size_t i = 0; i < o->key_count && o->keyed; i++) {
		const struct template *t = o->keys[i].template;
		struct value v = places[o->keys[i].place];

		parts = t->part_count <= PARTS_AT_HAND ? at_hand : arena_array(r->arena, struct slice, t->part_count);
		if (value_type(v) != VALUE_S || !template_match(t, value_bytes(v), parts))
			return false;
	}
	return o->keyed;
}

bool outline_is_whole(const struct outline *o, const struct value *places)
{
	for (size_t i = 0; i < o->identity_count; i++)
		if (!value_present(places[o->identity[i]]))
			return false;
	return true;
}
