/* Turning puts, updates, deletes and checks into what the writer does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/action.h"
#include "api/op/cancellation.h"
#include "value/codec.h"

#define TRANSACTION_BYTES_MAX (4u << 20)

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

static bool check_return_values(struct op_state *s, enum write_kind kind, const struct json *obj, struct error *e)
{
	struct slice rv = json_get_text(obj, "ReturnValues");

	if (kind == WRITE_UPDATE || !rv.n || slice_is(rv, "ALL_OLD") || slice_is(rv, "NONE"))
		return true;
	return error_set(e, s->arena, ERR_VALIDATION, "ReturnValues can only be ALL_OLD or NONE");
}

static bool parse_update(struct op_state *s, const struct json *obj, struct expr_bindings *b,
			 struct request_action *act, struct error *e)
{
	if (op_has(obj, "UpdateExpression"))
		return update_compile(b, json_get_text(obj, "UpdateExpression"), &act->update, e);
	if (op_has(obj, "AttributeUpdates") && json_get(obj, "AttributeUpdates")->count)
		return update_from_attribute_updates(s->arena, json_get(obj, "AttributeUpdates"), &act->update, e);
	return true;
}

static bool parse_expressions(struct op_state *s, enum write_kind kind, const struct json *obj,
			      struct request_action *act, struct error *e)
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

bool action_parse(struct op_state *s, enum write_kind kind, const struct json *obj, struct request_action *act,
		  struct error *e)
{
	act->kind = kind;
	act->table = json_get_text(obj, "TableName");
	act->return_old_on_failure = slice_is(json_get_text(obj, "ReturnValuesOnConditionCheckFailure"), "ALL_OLD");
	if (!check_mix(s, kind, obj, e))
		return false;
	if (kind == WRITE_PUT) {
		if (!item_from_json(s->arena, json_get(obj, "Item"), &act->item, e))
			return false;
	} else if (!item_from_json(s->arena, json_get(obj, "Key"), &act->key, e)) {
		return false;
	}
	if (!check_return_values(s, kind, obj, e))
		return false;
	if (kind == WRITE_PUT && !table_check_item_size(act->item, false, s->arena, e))
		return false;
	return parse_expressions(s, kind, obj, act, e);
}

static bool check_key_not_updated(struct op_state *s, const struct table *t, const struct update *u, struct error *e)
{
	const struct path *paths;
	size_t n = update_paths(u, &paths);

	for (size_t i = 0; i < n; i++) {
		struct slice name = paths[i].steps[0].name;

		if (is_key_attribute(&t->key, name))
			return error_set(e, s->arena, ERR_VALIDATION,
					 "One or more parameter values were invalid: Cannot update attribute "
					 "%.*s. This attribute is part of the key",
					 SLICE_ARG(name));
	}
	return true;
}

/* Checks index keys as far as possible without the item; the rest follows once it has been read. */
static bool check_index_keys_updated(struct op_state *s, const struct table *t, const struct update *u, struct error *e)
{
	const struct path *paths;
	size_t n = update_paths(u, &paths);

	for (size_t i = 0; i < n; i++) {
		enum value_type type = update_known_type(u, i);

		if (type != VALUE_NONE && !table_check_index_key_type(t, paths[i].steps[0].name, type, s->arena, e))
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
	return !act->update ||
	       (check_key_not_updated(s, t, act->update, e) && check_index_keys_updated(s, t, act->update, e));
}

/* ---- a whole request ---- */

static size_t payload(const struct request_action *act)
{
	return item_size(act->kind == WRITE_PUT ? act->item : act->key);
}

static bool check_total_size(struct op_state *s, const struct request_write *q, struct error *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < q->count; i++) {
		bytes += payload(&q->actions[i]);
		if (bytes > TRANSACTION_BYTES_MAX)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "Transaction payload size cannot exceed 4MB. Payload Size: %zu", bytes);
	}
	return true;
}

static void take_action(const struct request_action *in, struct write_action *out)
{
	out->kind = in->kind;
	out->key_item = in->key;
	out->item = in->item;
	out->condition = in->condition;
	out->update = in->update;
	out->return_old_on_failure = in->return_old_on_failure;
}

/* Errors of single actions become cancellation reasons; a missing table fails the request. Only the first faulty
 * action is reported: DynamoDB checks no further. */
static bool resolve_together(struct op_state *s, const struct request_write *q, struct error *e)
{
	struct error reason = { 0 };
	size_t faulty = q->count;

	for (size_t i = 0; i < q->count; i++) {
		const struct table *t = op_table(s, q->actions[i].table, e);

		if (!t)
			return false;
		if (faulty == q->count && !action_resolve(s, t, &s->write.actions[i], &reason))
			faulty = i;
	}
	if (faulty == q->count)
		return check_total_size(s, q, e);
	s->reasons = arena_array(s->arena, struct reply_reason, q->count);
	s->reasons[faulty].error = reason;
	return cancellation_set(e, s->arena, s->reasons, q->count);
}

bool actions_prepare(struct op_state *s, const struct request_write *q, struct error *e)
{
	const struct table *t;

	s->write.mode = request_is_transaction(q) ? REQUEST_ALL : REQUEST_EACH;
	s->write.actions = arena_array(s->arena, struct write_action, q->count);
	s->write.action_count = q->count;
	for (size_t i = 0; i < q->count; i++)
		take_action(&q->actions[i], &s->write.actions[i]);
	if (s->write.mode == REQUEST_ALL)
		return resolve_together(s, q, e);
	t = op_table(s, q->actions[0].table, e);
	return t && action_resolve(s, t, &s->write.actions[0], e);
}

bool actions_failed(struct op_state *s, struct error *e)
{
	const struct write_request *w = &s->write;

	*e = w->error;
	if (w->error.code == ERR_NONE && w->mode == REQUEST_EACH)
		*e = w->actions[0].error;
	if (e->code != ERR_TRANSACTION_CANCELED && e->code != ERR_CONDITION_FAILED)
		return e->code != ERR_NONE;
	s->reasons = arena_array(s->arena, struct reply_reason, w->action_count);
	for (size_t i = 0; i < w->action_count; i++) {
		s->reasons[i].error = w->actions[i].error;
		if (w->actions[i].return_old_on_failure)
			s->reasons[i].item = w->actions[i].old_item;
	}
	return true;
}

struct value action_key_item(const struct write_action *act, struct arena *a)
{
	if (act->kind != WRITE_PUT)
		return act->key_item;
	return table_key_item(act->table, NULL, act->item, a);
}
