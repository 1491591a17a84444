/* Items laid out: one walk through the item and the slots of its entity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "value/layout.h"

#define PARTS_AT_HAND 16

/* Whether the item has that name at `p`: sixteen bytes at once, which must be there and are all of most names. */
static inline bool is_at(const struct slot *n, const uint8_t *p, const uint8_t *end)
{
	uint64_t here[2];

	memcpy(here, p, sizeof(here));
	if (((here[0] ^ n->head[0]) & n->head_mask[0]) | ((here[1] ^ n->head[1]) & n->head_mask[1]))
		return false;
	return n->encoded.n <= sizeof(here) ||
	       ((size_t)(end - p) >= n->encoded.n &&
		memcmp(p + sizeof(here), n->encoded.p + sizeof(here), n->encoded.n - sizeof(here)) == 0);
}

/* slice_cmp(); most names differ in their first byte. */
static inline int compare_names(struct slice a, struct slice b)
{
	int order = a.n && b.n ? (uint8_t)a.p[0] - (uint8_t)b.p[0] : 0;

	return order ? order : slice_cmp(a, b);
}

struct value *slots_lay(struct arena *a, const struct slots *slots, struct value item)
{
	struct value *values = arena_array(a, struct value, slots->count);
	const struct slot *n = slots->sorted, *last = n + slots->count;
	const uint8_t *p, *end, *safe;
	size_t size;

	if (value_type(item) != VALUE_M)
		return values;
	p = item.p + LAYOUT_HEAD;
	end = item.p + item.n;
	safe = item.n >= LAYOUT_HEAD + sizeof(n->head) ? end - sizeof(n->head)
						       : p - 1; /* so much can be read up to there */
	while (p < end && n < last) {
		if (p > safe || !is_at(n, p, end)) {
			const uint8_t *value = p;
			int order = compare_names(n->name->text, layout_bytes(&value));

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
		size = layout_size_mostly_short(p);
		values[n->at] = (struct value){ p, size };
		p += size;
		n++;
	}
	return values;
}

static bool matches(struct arena *a, const struct slot_key *k, struct slice key)
{
	const struct template *t = k->template;
	struct slice at_hand[PARTS_AT_HAND], *parts = at_hand;

	if (k->simple)
		return slice_starts(key, k->text) && (key.n > k->text.n) == k->rest &&
		       !(k->sign && key.n > k->text.n && memchr(key.p + k->text.n, k->sign, key.n - k->text.n));
	if (t->part_count > PARTS_AT_HAND)
		parts = arena_array(a, struct slice, t->part_count);
	return template_match(t, key, parts);
}

bool slots_are_keyed(struct arena *a, const struct slots *s, const struct value *values)
{
	for (size_t i = 0; i < s->key_count && s->keyed; i++) {
		struct value v = values[s->keys[i].at];
		const uint8_t *p = v.p;

		if (value_type(v) != VALUE_S)
			return false;
		p++;
		if (!matches(a, &s->keys[i], layout_bytes(&p)))
			return false;
	}
	return s->keyed;
}

bool slots_agree(const struct slots *s, const struct value *values)
{
	for (size_t i = 0; i < s->constant_count; i++) {
		struct value v = values[s->constants[i].at];

		if (value_present(v) &&
		    (value_type(v) != VALUE_S || !slice_equal(value_bytes(v), s->constants[i].template->text)))
			return false;
	}
	return true;
}

bool slots_are_whole(const struct slots *s, const struct value *values)
{
	for (size_t i = 0; i < s->identity_count; i++)
		if (!value_present(values[s->identity[i]]))
			return false;
	return true;
}
