/* Turning one put, update, delete or check of a request into a write_action.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/action.h"
#include "value/codec.h"

static const char *const update_expressions[] = { "UpdateExpression", "ConditionExpression", NULL };
static const char *const update_legacy[] = { "AttributeUpdates", "Expected", "ConditionalOperator", NULL };
static const char *const condition_expressions[] = { "ConditionExpression", NULL };
static const char *const condition_legacy[] = { "Expected", "ConditionalOperator", NULL };

static bool check_mix(struct op_state *s, enum write_kind kind, const struct json *obj, struct error *e)
{
	if (kind == WRITE_UPDATE)
		return params_check_mix(s, obj, update_expressions, update_legacy, e);
	return params_check_mix(s, obj, condition_expressions, condition_legacy, e);
}

static bool check_return_values(struct op_state *s, enum write_kind kind, const struct json *obj,
				struct error *e)
{
	struct slice rv = op_string(obj, "ReturnValues");

	if (kind == WRITE_UPDATE || !rv.n || slice_is(rv, "ALL_OLD") || slice_is(rv, "NONE"))
		return true;
	return error_set(e, s->arena, ERR_VALIDATION, "ReturnValues can only be ALL_OLD or NONE");
}

static bool parse_update(struct op_state *s, const struct json *obj, struct expr_bindings *b,
			 struct write_action *act, struct error *e)
{
	if (op_has(obj, "UpdateExpression"))
		return update_compile(b, op_string(obj, "UpdateExpression"), &act->update, e);
	if (op_has(obj, "AttributeUpdates") && json_get(obj, "AttributeUpdates")->count)
		return update_from_attribute_updates(s->arena, json_get(obj, "AttributeUpdates"), &act->update,
						     e);
	return true;
}

static bool parse_expressions(struct op_state *s, enum write_kind kind, const struct json *obj,
			      struct write_action *act, struct error *e)
{
	struct expr_bindings *b;

	if (!params_conditional_operator(s, obj, "Expected", e))
		return false;
	if (!params_bindings(s, obj, &b, e))
		return false;
	if (kind == WRITE_UPDATE && !parse_update(s, obj, b, act, e))
		return false;
	if (!params_condition(s, obj, b, &act->condition, e))
		return false;
	return expr_bindings_check_used(b, e);
}

bool action_parse(struct op_state *s, enum write_kind kind, const struct json *obj, struct write_action *act,
		  struct error *e)
{
	act->kind = kind;
	act->return_old_on_failure =
		slice_is(op_string(obj, "ReturnValuesOnConditionCheckFailure"), "ALL_OLD");
	if (!check_mix(s, kind, obj, e))
		return false;
	if (kind == WRITE_PUT) {
		if (!item_from_json(s->arena, json_get(obj, "Item"), &act->item, e))
			return false;
	} else if (!item_from_json(s->arena, json_get(obj, "Key"), &act->key_item, e)) {
		return false;
	}
	if (!check_return_values(s, kind, obj, e))
		return false;
	if (kind == WRITE_PUT && !table_check_item_size(act->item, false, s->arena, e))
		return false;
	return parse_expressions(s, kind, obj, act, e);
}

static bool check_key_not_updated(struct op_state *s, const struct table *t, const struct update *u,
				  struct error *e)
{
	const struct path *paths;
	size_t n = update_paths(u, &paths);

	for (size_t i = 0; i < n; i++) {
		struct slice name = paths[i].steps[0].name;

		if (is_key_attribute(&t->key, name))
			return error_set(e, s->arena, ERR_VALIDATION,
					 "One or more parameter values were invalid: Cannot update attribute "
					 "%.*s. This attribute is part of the key", SLICE_ARG(name));
	}
	return true;
}

/* What can be said of keys of indexes without the item; the rest when it is known. */
static bool check_index_keys_updated(struct op_state *s, const struct table *t,
				     const struct update *u, struct error *e)
{
	const struct path *paths;
	size_t n = update_paths(u, &paths);

	for (size_t i = 0; i < n; i++) {
		enum value_type type = update_known_type(u, i);

		if (type != VALUE_NONE &&
		    !table_check_index_key_type(t, paths[i].steps[0].name, type, s->arena, e))
			return false;
	}
	if (!params_check_key_paths(s, t, paths, n, e))
		return false;
	n = update_reads(u, s->arena, &paths);
	return params_check_key_paths(s, t, paths, n, e);
}

bool action_resolve(struct op_state *s, const struct table *t, struct write_action *act, struct error *e)
{
	act->table = t;
	if (act->kind == WRITE_PUT)
		return table_key_of_item(t, act->item, s->arena, &act->key, e) &&
		       table_check_index_keys(t, act->item, s->arena, e);
	if (!table_key_of_key(t, act->key_item, s->arena, &act->key, e))
		return false;
	return !act->update || (check_key_not_updated(s, t, act->update, e) &&
				check_index_keys_updated(s, t, act->update, e));
}

struct value action_key_item(const struct write_action *act, struct arena *a)
{
	if (act->kind != WRITE_PUT)
		return act->key_item;
	return table_key_item(act->table, NULL, act->item, a);
}
