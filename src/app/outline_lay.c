/* Items laid out: one walk through the item and its entity's outline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/outline.h"
#include "value/layout.h"

#define PARTS_AT_HAND 16

/* Whether the item has that name at `p`: sixteen bytes at once, which is all of most names. False also near the item's end, where
 * so many cannot be read. */
static inline bool is_at(const struct outline_name *n, const uint8_t *p, const uint8_t *end)
{
	uint64_t here[2];

	if ((size_t)(end - p) < sizeof(here))
		return false;
	memcpy(here, p, sizeof(here));
	if (((here[0] ^ n->head[0]) & n->head_mask[0]) | ((here[1] ^ n->head[1]) & n->head_mask[1]))
		return false;
	return n->encoded.n <= sizeof(here) ||
	       ((size_t)(end - p) >= n->encoded.n &&
		memcmp(p + sizeof(here), n->encoded.p + sizeof(here), n->encoded.n - sizeof(here)) == 0);
}

/* As layout_size(): most values are short texts and numbers. */
static inline size_t size_of(const uint8_t *p)
{
	return p[0] >= VALUE_S && p[0] <= VALUE_B && p[1] < 0x80 ? 2 + (size_t)p[1] : layout_size(p);
}

const struct value *outline_lay(struct arena *a, const struct outline *o, struct value item)
{
	struct value *places = arena_array(a, struct value, o->count);
	const struct outline_name *n = o->sorted, *last = n + o->count;
	const uint8_t *p, *end;
	size_t size;

	if (value_type(item) != VALUE_M)
		return places;
	p = item.p + LAYOUT_HEAD;
	end = item.p + item.n;
	while (p < end && n < last) {
		if (!is_at(n, p, end)) {
			const uint8_t *value = p;
			int order = slice_cmp(n->name, layout_bytes(&value));

			if (order < 0) { /* the item has no such attribute */
				n++;
				continue;
			}
			if (order > 0) { /* the entity has not */
				p = value + layout_size(value);
				continue;
			}
		}
		p += n->encoded.n;
		size = size_of(p);
		places[n->place] = (struct value){ p, size };
		p += size;
		n++;
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
		if (value_type(v) != VALUE_S)
			return false;
		if (t->part_count == 1 && !t->parts[0].names ? !slice_equal(value_bytes(v), t->parts[0].literal)
							     : !template_match(t, value_bytes(v), parts))
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
