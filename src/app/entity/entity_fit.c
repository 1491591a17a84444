/* Whether an item in the table is one that the design could have written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"

/* ---- types ---- */

/* The type that values of the attribute are stored as; false: several are possible. */
static bool stored_type(const struct attribute *a, enum value_type *out)
{
	if (a->compressed)
		return false;
	switch (a->type) {
	case ATTR_STRING:
	case ATTR_TEXT:
	case ATTR_TIMESTAMP:
	case ATTR_ENUM: *out = VALUE_S; return true;
	case ATTR_NUMBER:
	case ATTR_INTEGER:
	case ATTR_EPOCH: *out = VALUE_N; return true;
	case ATTR_BOOLEAN: *out = VALUE_BOOL; return true;
	case ATTR_LIST: *out = VALUE_L; return true;
	case ATTR_SET:
	case ATTR_MAP:
	case ATTR_BINARY: break;
	}
	return false;
}

static bool types_fit(struct run *r, const struct row *item, struct slice *why)
{
	const struct entity *e = item->entity;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct value v = row_get(item, a->at);
		enum value_type type;

		if (a->from_key || !value_present(v) || value_type(v) == VALUE_NULL || !stored_type(a, &type) ||
		    value_type(v) == type)
			continue;
		*why = arena_printf(r->arena, "its %.*s is of type %s and not %s", SLICE_ARG(a->name),
				    value_type_name(value_type(v)), value_type_name(type));
		return false;
	}
	return true;
}

/* ---- the identity ---- */

/* Whether the item makes the key that it has. (Formats may lose a part of a value, so reading the key back is not
 * enough.) */
static bool key_follows(struct run *r, const struct row *item, const struct row *full)
{
	const struct entity *e = item->entity;
	struct scope s = { .run = r, .item = full };

	for (size_t i = 0; i < key_count(r->design); i++) {
		const struct name *key = r->design->key_at[i];
		const struct key_rule *rule;
		struct value v;

		if (!key_rule_choose(&s, e->keys, e->key_count, key, &rule))
			return false;
		if (rule && (!scope_fill(&s, rule->template, true, &v) || !value_equal(v, row_get(item, key))))
			return false;
	}
	return true;
}

static bool identity_fits(struct run *r, const struct row *item, struct slice *why)
{
	const struct entity *e = item->entity;
	struct row told, full; /* the identity as the key has it; the item with what only the key holds */

	row_copy(&told, r->arena, item);
	row_copy(&full, r->arena, item);
	for (size_t i = 0; i < e->param_count; i++)
		row_drop(&told, e->param_at[i]);
	key_read(r, item, &told, false);
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].from_key)
			row_set(&full, e->attributes[i].at, row_get(&told, e->attributes[i].at));
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);
		struct value v = row_get(item, e->param_at[i]), in_key = row_get(&told, e->param_at[i]);

		if (!a || a->from_key)
			continue;
		if (!value_present(v) || value_type(v) == VALUE_NULL) {
			*why = arena_printf(r->arena, "it has no %.*s", SLICE_ARG(a->name));
			return false;
		}
		if (value_present(in_key) && !value_equal(v, in_key) && !key_follows(r, item, &full)) {
			*why = arena_printf(r->arena, "its %.*s is not the one in its key", SLICE_ARG(a->name));
			return false;
		}
	}
	return true;
}

bool entity_fits(struct run *r, const struct row *stored, struct slice *why)
{
	struct problem before = r->problem;
	bool fits;

	*why = SLICE("");
	fits = types_fit(r, stored, why) && identity_fits(r, stored, why);
	r->problem = before; /* failing to make a key is not an error of the request */
	return fits;
}

struct slice entity_key_text(struct run *r, struct value key)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; i < key_count(r->design); i++) {
		if (i)
			buf_lit(&b, ", ");
		buf_put(&b, run_text(r, key_part(key, r->design->key_at[i])));
	}
	return buf_slice(&b);
}
