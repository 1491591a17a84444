/* Comparison operators of the legacy forms and the checks on their arguments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/legacy.h"
#include "value/codec.h"

#define INVALID  "One or more parameter values were invalid: "
#define BIT(t)   (1u << (t))
#define ANY_TYPE (~0u)
#define ORDERED  (BIT(VALUE_S) | BIT(VALUE_N) | BIT(VALUE_B))

#define MANY SIZE_MAX

/* clang-format off */
static const struct comparison_row {
	const char *name;
	size_t least, most;
	unsigned types;
} rows[] = {
	[COMPARE_EQ] = { "EQ", 1, 1, ANY_TYPE },
	[COMPARE_NE] = { "NE", 1, 1, ANY_TYPE },
	[COMPARE_IN] = { "IN", 1, MANY, ORDERED },
	[COMPARE_LE] = { "LE", 1, 1, ORDERED },
	[COMPARE_LT] = { "LT", 1, 1, ORDERED },
	[COMPARE_GE] = { "GE", 1, 1, ORDERED },
	[COMPARE_GT] = { "GT", 1, 1, ORDERED },
	[COMPARE_BETWEEN] = { "BETWEEN", 2, 2, ORDERED },
	[COMPARE_NOT_NULL] = { "NOT_NULL", 0, 0, ANY_TYPE },
	[COMPARE_NULL] = { "NULL", 0, 0, ANY_TYPE },
	[COMPARE_CONTAINS] = { "CONTAINS", 1, 1, ORDERED | BIT(VALUE_BOOL) | BIT(VALUE_NULL) },
	[COMPARE_NOT_CONTAINS] = { "NOT_CONTAINS", 1, 1,
				   ORDERED | BIT(VALUE_BOOL) | BIT(VALUE_NULL) },
	[COMPARE_BEGINS_WITH] = { "BEGINS_WITH", 1, 1, BIT(VALUE_S) | BIT(VALUE_B) },
};
/* clang-format on */

bool legacy_members(struct arena *a, const struct json *obj, const struct json_member ***out, size_t *count,
		    struct error *e)
{
	const struct json_member **members;
	struct map seen;
	size_t n = 0;

	if (!json_is(obj, JSON_OBJECT))
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	map_init(&seen, a);
	members = arena_array(a, const struct json_member *, obj->count);
	for (uint32_t i = 0; i < obj->count; i++) {
		const struct json_member *m = &obj->members[i];
		const struct json_member **at;

		if (m->value.type == JSON_NULL)
			continue;
		if (m->name.n == 0)
			return error_set(e, a, ERR_VALIDATION, "Empty attribute name");
		at = map_get(&seen, m->name);
		if (!at) {
			at = &members[n++];
			map_set(&seen, m->name, at);
		}
		*at = m;
	}
	*out = members;
	*count = n;
	return true;
}

bool legacy_operator(struct arena *a, const char *field, struct slice attribute, const struct json *j,
		     enum comparison *out, struct error *e)
{
	static const char names[] = "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, "
				    "BEGINS_WITH, GE, CONTAINS]";

	if (!j)
		return error_set(e, a, ERR_VALIDATION,
				 "1 validation error detected: Value null at "
				 "'%s.%.*s.member.comparisonOperator' failed to satisfy constraint: "
				 "Member must not be null",
				 field, SLICE_ARG(attribute));
	if (j->type != JSON_STRING)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (slice_is(j->string, rows[i].name)) {
			*out = (enum comparison)i;
			return true;
		}
	}
	return error_set(e, a, ERR_VALIDATION,
			 "1 validation error detected: Value '%.*s' at "
			 "'%s.%.*s.member.comparisonOperator' failed to satisfy constraint: Member must "
			 "satisfy enum value set: %s",
			 SLICE_ARG(j->string), field, SLICE_ARG(attribute), names);
}

bool legacy_values(struct arena *a, const struct json *list, struct legacy_condition *c, struct error *e)
{
	struct value *values;

	c->args = NULL;
	c->arg_count = 0;
	if (!list)
		return true;
	if (list->type != JSON_ARRAY)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	values = arena_array(a, struct value, list->count);
	for (uint32_t i = 0; i < list->count; i++)
		if (!value_from_json(a, &list->items[i], &values[i], e))
			return false;
	c->args = values;
	c->arg_count = list->count;
	return true;
}

bool legacy_check(struct arena *a, const struct legacy_condition *c, struct error *e)
{
	const struct comparison_row *row = &rows[c->op];
	enum value_type type = c->arg_count ? value_type(c->args[0]) : VALUE_NONE;

	if (c->arg_count < row->least || c->arg_count > row->most)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Invalid number of argument(s) for the %s ComparisonOperator", row->name);
	for (size_t i = 1; i < c->arg_count; i++)
		if (value_type(c->args[i]) != type)
			return error_set(e, a, ERR_VALIDATION,
					 INVALID "AttributeValues inside AttributeValueList must be of "
						 "same type");
	if (c->arg_count && !(row->types & BIT(type)))
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "ComparisonOperator %s is not valid for %s AttributeValue type", row->name,
				 value_type_name(type));
	if (c->op == COMPARE_BETWEEN && value_cmp(c->args[0], c->args[1]) > 0)
		return error_set(e, a, ERR_VALIDATION,
				 "The BETWEEN condition was provided a range where the lower bound is "
				 "greater than the upper bound");
	return true;
}

bool legacy_condition(struct arena *a, const char *field, const struct json_member *m, struct legacy_condition *out,
		      struct error *e)
{
	const struct json *j = &m->value;

	*out = (struct legacy_condition){ .name = m->name };
	if (j->type != JSON_OBJECT)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	return legacy_operator(a, field, m->name, json_get_present(j, "ComparisonOperator"), &out->op, e) &&
	       legacy_values(a, json_get_present(j, "AttributeValueList"), out, e) && legacy_check(a, out, e);
}
