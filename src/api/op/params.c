/* Parameters that many operations take: conditions, projections, expression names and values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/params.h"

static void list_present(struct buf *b, const struct json *obj, const char *const *names)
{
	bool first = true;

	for (; *names; names++) {
		if (!op_has(obj, *names))
			continue;
		if (!first)
			buf_lit(b, ", ");
		first = false;
		buf_str(b, *names);
	}
}

static bool any_present(const struct json *obj, const char *const *names)
{
	for (; *names; names++)
		if (op_has(obj, *names))
			return true;
	return false;
}

/* ExpressionAttributeValues are used by every expression except a projection. */
static bool check_values_used(struct op_state *s, const struct json *obj, const char *const *expressions,
			      struct error *e)
{
	struct buf names;
	int count = 0;

	if (!op_has(obj, "ExpressionAttributeValues"))
		return true;
	buf_init(&names, s->arena);
	for (; *expressions; expressions++) {
		if (strcmp(*expressions, "ProjectionExpression") == 0)
			continue;
		if (op_has(obj, *expressions))
			return true;
		if (count++)
			buf_lit(&names, " and ");
		buf_str(&names, *expressions);
	}
	if (!count)
		return true;
	return error_set(e, s->arena, ERR_VALIDATION,
			 "ExpressionAttributeValues can only be specified when using expressions: %.*s %s null",
			 SLICE_ARG(buf_slice(&names)), count > 1 ? "are" : "is");
}

bool params_check_mix(struct op_state *s, const struct json *obj, const char *const *expressions,
		      const char *const *legacy, struct error *e)
{
	bool has_expression = any_present(obj, expressions);

	if (has_expression && any_present(obj, legacy)) {
		struct buf old_names, new_names;

		buf_init(&old_names, s->arena);
		buf_init(&new_names, s->arena);
		list_present(&old_names, obj, legacy);
		list_present(&new_names, obj, expressions);
		return error_set(e, s->arena, ERR_VALIDATION,
				 "Can not use both expression and non-expression parameters in the same "
				 "request: Non-expression parameters: {%.*s} Expression parameters: {%.*s}",
				 SLICE_ARG(buf_slice(&old_names)), SLICE_ARG(buf_slice(&new_names)));
	}
	if (!has_expression && op_has(obj, "ExpressionAttributeNames"))
		return error_set(e, s->arena, ERR_VALIDATION,
				 "ExpressionAttributeNames can only be specified when using expressions");
	return check_values_used(s, obj, expressions, e);
}

bool params_bindings(struct op_state *s, const struct json *obj, struct expr_bindings **out, struct error *e)
{
	const struct json *names =
		op_has(obj, "ExpressionAttributeNames") ? json_get(obj, "ExpressionAttributeNames") : NULL;
	const struct json *values =
		op_has(obj, "ExpressionAttributeValues") ? json_get(obj, "ExpressionAttributeValues") : NULL;

	return expr_bindings_new(s->arena, s->cache, names, values, out, e);
}

bool params_conditional_operator(struct op_state *s, const struct json *obj, const char *conditions, struct error *e)
{
	const struct json *c = json_get(obj, conditions);

	if (!op_has(obj, "ConditionalOperator"))
		return true;
	if (!c || c->type != JSON_OBJECT || c->count == 0)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "ConditionalOperator cannot be used without Filter or Expected");
	if (c->count == 1)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "ConditionalOperator can only be used when Filter or Expected has two or more "
				 "elements");
	return true;
}

bool params_condition(struct op_state *s, const struct json *obj, struct expr_bindings *b, const struct condition **out,
		      struct error *e)
{
	*out = NULL;
	if (op_has(obj, "ConditionExpression"))
		return condition_compile(b, CONDITION_EXPRESSION, json_get_text(obj, "ConditionExpression"), out, e);
	if (op_has(obj, "Expected") && json_get(obj, "Expected")->count)
		return condition_from_expected(s->arena, json_get(obj, "Expected"),
					       json_get_text(obj, "ConditionalOperator"), out, e);
	return true;
}

bool params_projection(struct op_state *s, const struct json *obj, struct expr_bindings *b,
		       const struct projection **out, struct error *e)
{
	*out = NULL;
	if (op_has(obj, "ProjectionExpression"))
		return projection_compile(b, json_get_text(obj, "ProjectionExpression"), out, e);
	if (op_has(obj, "AttributesToGet"))
		return projection_from_attributes(s->arena, json_get(obj, "AttributesToGet"), out, e);
	return true;
}

bool params_check_key_paths(struct op_state *s, const struct table *t, const struct path *paths, size_t n,
			    struct error *e)
{
	static const char why[] = "Key attributes must be scalars; list random access '[]' and map lookup '.' "
				  "are not allowed: ";

	for (size_t i = 0; i < n; i++) {
		struct slice name = paths[i].steps[0].name;

		if (paths[i].count < 2)
			continue;
		if (is_key_attribute(&t->key, name))
			return error_set(e, s->arena, ERR_VALIDATION, "%sKey: %.*s", why, SLICE_ARG(name));
		for (size_t j = 0; j < t->index_count; j++)
			if (is_key_attribute(&t->indexes[j].key, name))
				return error_set(e, s->arena, ERR_VALIDATION, "%sIndexKey: %.*s", why, SLICE_ARG(name));
	}
	return true;
}

bool params_check_projection_keys(struct op_state *s, const struct table *t, const struct projection *p, struct error *e)
{
	const struct path *paths;
	size_t n = p ? projection_paths(p, &paths) : 0;

	return !n || params_check_key_paths(s, t, paths, n, e);
}
