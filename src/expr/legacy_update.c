/* AttributeUpdates and AttributesToGet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/legacy.h"
#include "expr/limits.h"
#include "expr/path.h"
#include "expr/update.h"
#include "value/codec.h"

#define INVALID "One or more parameter values were invalid: "

static bool action_kind(struct arena *a, const struct json_member *m, enum action_kind *out, struct error *e)
{
	const struct json *action = json_get_present(&m->value, "Action");

	*out = ACTION_SET;
	if (!action)
		return true;
	if (action->type != JSON_STRING)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	if (slice_is(action->string, "PUT"))
		return true;
	*out = ACTION_ADD;
	if (slice_is(action->string, "ADD"))
		return true;
	*out = ACTION_DELETE;
	if (slice_is(action->string, "DELETE"))
		return true;
	return error_set(e, a, ERR_VALIDATION,
			 "1 validation error detected: Value '%.*s' at "
			 "'attributeUpdates.%.*s.member.action' failed to satisfy constraint: Member must "
			 "satisfy enum value set: [ADD, PUT, DELETE]",
			 SLICE_ARG(action->string), SLICE_ARG(m->name));
}

static bool check_type(struct arena *a, const struct action *x, struct error *e)
{
	enum value_type t = value_type(x->source.value);
	bool set = value_type_is_set(t);

	if (x->kind == ACTION_DELETE && !set)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "DELETE action with value is not supported for the type %s",
				 value_type_name(t));
	if (x->kind == ACTION_ADD && !set && t != VALUE_N && t != VALUE_L)
		return error_set(e, a, ERR_VALIDATION, INVALID "ADD action is not supported for the type %s",
				 value_type_name(t));
	return true;
}

static bool read_action(struct arena *a, const struct json_member *m, struct action *out, struct error *e)
{
	const struct json *value;

	if (m->value.type != JSON_OBJECT)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	value = json_get_present(&m->value, "Value");
	if (!action_kind(a, m, &out->kind, e))
		return false;
	if (value)
		return value_from_json(a, value, &out->source.value, e) && check_type(a, out, e);
	if (out->kind != ACTION_DELETE)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Only DELETE action is allowed when no attribute value is "
					 "specified");
	out->kind = ACTION_REMOVE;
	return true;
}

static bool check_number(struct arena *a, const struct action *actions, size_t n, struct error *e)
{
	size_t looked_up = 0;

	for (size_t i = 0; i < n; i++)
		looked_up += actions[i].kind == ACTION_ADD || actions[i].kind == ACTION_DELETE;
	if (looked_up <= EXPR_LEGACY_MAX)
		return true;
	return error_set(e, a, ERR_VALIDATION, INVALID "Too many ADD and DELETE actions; at most %d can be given",
			 EXPR_LEGACY_MAX);
}

bool update_from_attribute_updates(struct arena *a, const struct json *updates, const struct update **out,
				   struct error *e)
{
	const struct json_member **members;
	struct path_step *steps;
	struct action *actions;
	struct path *paths;
	struct update *u;
	size_t n;

	if (!legacy_members(a, updates, &members, &n, e))
		return false;
	steps = arena_array(a, struct path_step, n);
	actions = arena_array(a, struct action, n);
	paths = arena_array(a, struct path, n);
	for (size_t i = 0; i < n; i++) {
		steps[i].name = members[i]->name;
		paths[i] = (struct path){ &steps[i], 1 };
		if (!read_action(a, members[i], &actions[i], e))
			return false;
	}
	if (!check_number(a, actions, n, e))
		return false;
	u = arena_new(a, struct update);
	*u = (struct update){ actions, paths, n, path_sorted(a, paths, n), true };
	*out = u;
	return true;
}

bool projection_from_attributes(struct arena *a, const struct json *names, const struct projection **out,
				struct error *e)
{
	struct slice *list;
	struct map seen;

	if (!json_is(names, JSON_ARRAY))
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	list = arena_array(a, struct slice, names->count);
	map_init(&seen, a);
	for (uint32_t i = 0; i < names->count; i++) {
		if (names->items[i].type != JSON_STRING)
			return error_set(e, a, ERR_SERIALIZATION, "Unexpected value type in payload");
		list[i] = names->items[i].string;
		if (list[i].n == 0)
			return error_set(e, a, ERR_VALIDATION, "Empty attribute name");
		if (map_set(&seen, list[i], &list[i]))
			return error_set(e, a, ERR_VALIDATION, INVALID "Duplicate value in attribute name: %.*s",
					 SLICE_ARG(list[i]));
	}
	*out = projection_of_names(a, list, names->count);
	return true;
}
