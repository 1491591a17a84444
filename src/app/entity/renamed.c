/* From old names to new ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/renamed.h"

#include "app/db/beside.h"

#define CHAIN_MOST 16 /* names that lead to one another */

struct value renamed_identity(struct run *r, const struct entity *e, const struct value *args)
{
	struct value_member *list = arena_array(r->arena, struct value_member, e->param_count);

	for (size_t i = 0; i < e->param_count; i++) {
		if (!value_present(args[i]) || value_type(args[i]) == VALUE_NULL)
			return VALUE_ABSENT;
		list[i] = (struct value_member){ e->params[i], args[i] };
	}
	return value_make_map(r->arena, list, e->param_count);
}

const struct value *renamed_args(struct run *r, const struct entity *e, struct value identity)
{
	struct value *args = arena_array(r->arena, struct value, e->param_count);

	for (size_t i = 0; i < e->param_count; i++) {
		args[i] = value_type(identity) == VALUE_M ? value_get(identity, e->params[i]) : VALUE_ABSENT;
		if (!value_present(args[i]))
			return NULL;
	}
	return args;
}

struct slice renamed_kind(struct run *r, const struct entity *e)
{
	return arena_printf(r->arena, RENAMED_PREFIX "%.*s", SLICE_ARG(e->name));
}

struct value renamed_key(struct run *r, const struct entity *e, struct value identity)
{
	return beside_key(r, renamed_kind(r, e), beside_values(r, identity));
}

void renamed_note(struct run *r, const struct entity *e, const struct value *from, const struct value *to)
{
	struct renamed *x = arena_new(r->arena, struct renamed);

	*x = (struct renamed){ r->renames, e, from, to };
	r->renames = x;
}

static const struct renamed *find(const struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	for (const struct renamed *x = r->renames; x; x = x->next)
		if (x->entity == e && n == e->param_count && values_equal(x->from, args, n))
			return x;
	return NULL;
}

const struct value *renamed_now(const struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	const struct renamed *x = find(r, e, args, n);

	for (int i = 0; x && i < CHAIN_MOST; i++) {
		args = x->to;
		x = find(r, e, args, n);
	}
	return args;
}

bool renamed_look(struct run *r, const struct entity *e, const struct value *args, size_t n, bool *found)
{
	const struct value *from, *to;
	struct value identity, item;

	*found = false;
	if (!e->rename.then_count || n != e->param_count || find(r, e, args, n))
		return true;
	identity = renamed_identity(r, e, args);
	if (!value_present(identity))
		return true;
	if (!beside_get(r, renamed_key(r, e, identity), &item))
		return false;
	if (!value_present(item) ||
	    !value_equal(value_get(item, SLICE("layout")), value_make_i64(r->arena, RENAMED_LAYOUT)))
		return true;
	from = renamed_args(r, e, value_get(item, SLICE("from")));
	to = renamed_args(r, e, value_get(item, SLICE("to")));
	*found = from && to && values_equal(from, args, n); /* else the name is the new one */
	if (*found)
		renamed_note(r, e, from, to);
	return true;
}
