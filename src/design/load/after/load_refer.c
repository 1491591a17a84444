/* References: an attribute that names another item (by a reference, requires, counts or a copy) is stored in the normal form of
 * that item's identity. Otherwise `Toys` would pass the check as `toys`, but be missing from lists of `toys`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* The attribute that the argument is, if its text is given by clients or the design. The caller's name and values that
 * follow from elsewhere keep their form. */
static struct attribute *given_text(const struct entity *e, const struct term *arg)
{
	const struct attribute *a = term_name(arg) ? entity_attribute(e, *term_name(arg)) : NULL;

	if (!a || a->lower || a->the_caller || a->derived || a->copy_entity.n ||
	    (a->type != ATTR_STRING && a->type != ATTR_TEXT))
		return NULL;
	return OURS(struct attribute, a);
}

static void lower_while(struct load *l, struct attribute *a, const struct term *when)
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

/* Returns whether something changed, as the functions below. */
static bool refer(struct load *l, const struct entity *e, const struct reference *r, const struct term *when)
{
	const struct entity *to = r->to;
	bool changed = false;

	for (size_t i = 0; to && i < r->arg_count && i < to->param_count; i++) {
		const struct attribute *identity = entity_attribute(to, to->params[i]);
		struct attribute *a = given_text(e, r->args[i]);

		if (!a || !identity || !identity->lower || identity == a)
			continue;
		if (when) {
			lower_while(l, a, when);
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

	EACH (struct requirement, r, list, count)
		changed |= refer(l, e, &r->target, r->when);
	return changed;
}

/* Also the values beside it that address the item. */
static bool refer_reference(struct load *l, const struct entity *e, const struct attribute *a)
{
	const struct attribute *identity = attribute_referred(a);
	bool lower = identity && identity->lower && !a->lower && !a->the_caller;

	if (lower)
		OURS(struct attribute, a)->lower = true;
	return refer(l, e, a->refers, NULL) || lower;
}

static bool refer_entity(struct load *l, const struct entity *e)
{
	bool changed = refer_required(l, e, e->requires, e->require_count);

	EACH (struct count_rule, c, e->counts, e->count_count)
		changed |= refer(l, e, &c->target, c->when);
	EACH (struct action, x, e->actions, e->action_count)
		changed |= refer_required(l, e, x->requires, x->require_count);
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		struct reference copied = attribute_source(a);

		if (a->refers)
			changed |= refer_reference(l, e, a);
		if (a->next)
			changed |= refer(l, e, a->next, NULL);
		changed |= refer(l, e, &copied, NULL);
	}
	return changed;
}

/* Repeated until nothing changes: an attribute that refers may be an identity itself. */
void load_refer(struct load *l)
{
	bool changed = true;

	while (changed) {
		changed = false;
		EACH (struct entity, e, l->entities, l->d->entity_count)
			changed |= refer_entity(l, e);
	}
}
