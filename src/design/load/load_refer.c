/* References: an attribute that names another item (by requires, counts or a copy) is stored as the identity of that item is. Else
 * `Toys` would be found as `toys` when it is checked, and in no list of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* The attribute that the argument is as it is, if it is one that clients or the design give as a text. What the caller is called
 * and what follows from elsewhere stay as they are. */
static struct attribute *given_text(const struct entity *e, const struct term *arg)
{
	const struct attribute *a =
		arg->kind == TERM_PATH && arg->name_count == 1 ? entity_attribute(e, arg->names[0]) : NULL;

	if (!a || a->lower || a->the_caller || a->derived || a->copy_entity.n ||
	    (a->type != ATTR_STRING && a->type != ATTR_TEXT))
		return NULL;
	return (struct attribute *)(uintptr_t)a; /* ours, until loading is done */
}

static void while_holds(struct load *l, struct attribute *a, const struct term *when)
{
	const struct term **list;

	for (size_t i = 0; i < a->lower_when_count; i++)
		if (a->lower_when[i] == when)
			return;
	list = arena_array(l->a, const struct term *, a->lower_when_count + 1);
	for (size_t i = 0; i < a->lower_when_count; i++)
		list[i] = a->lower_when[i];
	list[a->lower_when_count] = when;
	a->lower_when = list;
	a->lower_when_count++;
}

/* Whether something has changed. */
static bool refer(struct load *l, const struct entity *e, struct slice target, const struct term *const *args,
		  size_t count, const struct term *when)
{
	const struct entity *to = design_entity(l->d, target);
	bool changed = false;

	for (size_t i = 0; to && i < count && i < to->param_count; i++) {
		const struct attribute *identity = entity_attribute(to, to->params[i]);
		struct attribute *a = given_text(e, args[i]);

		if (!a || !identity || !identity->lower || identity == a)
			continue;
		if (when) {
			while_holds(l, a, when);
		} else {
			a->lower = true;
			changed = true;
		}
	}
	return changed;
}

static bool refer_required(struct load *l, const struct entity *e, const struct requirement *list, size_t count)
{
	bool changed = false;

	for (size_t i = 0; i < count; i++)
		changed |=
			refer(l, e, list[i].target.entity, list[i].target.args, list[i].target.arg_count, list[i].when);
	return changed;
}

static bool refer_entity(struct load *l, const struct entity *e)
{
	bool changed = refer_required(l, e, e->requires, e->require_count);

	for (size_t i = 0; i < e->count_count; i++)
		changed |= refer(l, e, e->counts[i].target.entity, e->counts[i].target.args,
				 e->counts[i].target.arg_count, e->counts[i].when);
	for (size_t i = 0; i < e->action_count; i++)
		changed |= refer_required(l, e, e->actions[i].requires, e->actions[i].require_count);
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct reference *next = e->attributes[i].next;

		if (next)
			changed |= refer(l, e, next->entity, next->args, next->arg_count, NULL);
		if (e->attributes[i].copy_entity.n)
			changed |= refer(l, e, e->attributes[i].copy_entity, e->attributes[i].copy_args,
					 e->attributes[i].copy_arg_count, NULL);
	}
	return changed;
}

/* What refers to something that refers: until nothing changes any more. */
void load_refer(struct load *l)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < l->d->entity_count; i++)
			changed |= refer_entity(l, &l->entities[i]);
	}
}
