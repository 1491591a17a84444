/* Who may: an entity's rules, asked of an item.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity.h"

bool entity_allows(struct run *r, const struct entity *e, enum allow_verb verb, struct value full, struct value old, bool *out)
{
	const struct term *rule = e->allow[verb];
	struct fields f;
	struct scope s = { .run = r, .item = &f, .old = old };

	*out = r->caller.operator_;
	if (!rule && verb == ALLOW_LIST)
		rule = e->allow[ALLOW_READ];
	if (*out || !rule)
		return true;
	fields_from_item(&f, r->arena, full);
	return scope_holds(&s, rule, out);
}
