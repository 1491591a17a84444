/* Checks sequences and the attributes that take numbers from them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static void check_taker(struct load *l, const struct attribute *a)
{
	const struct entity *target = a->next->to;
	const struct attribute *from = target ? entity_attribute(target, a->next_attribute) : NULL;

	if (from && !from->sequence)
		load_error(l, a->next->place, "wrong-type", "'%.*s' of %.*s is not a sequence",
			   SLICE_ARG(a->next_attribute), SLICE_ARG(target->name))
			->repair = arena_printf(l->a, "declare it so: `%.*s: sequence`", SLICE_ARG(a->next_attribute));
}

static void check_assigned(struct load *l, const struct entity *e, const struct assignment *list, size_t n)
{
	EACH (struct assignment, s, list, n) {
		const struct attribute *a = entity_attribute(e, s->attribute);

		if (a && a->sequence)
			load_error(l, s->place, "wrong-type",
				   "'%.*s' is a sequence and moves only when a number is taken from it",
				   SLICE_ARG(a->name));
		else if (a && a->next)
			load_error(l, s->place, "wrong-type", "'%.*s' is taken from a sequence and never changes",
				   SLICE_ARG(a->name));
	}
}

static void check_processor(struct load *l, const struct processor *p)
{
	const struct entity *target = p->effect == EFFECT_COUNT ? p->target_ref.to : NULL;
	const struct attribute *a = target ? entity_attribute(target, p->target_attribute) : NULL;

	if (a && a->sequence)
		load_error(l, p->place, "wrong-type", "'%.*s' of %.*s is not a number that can be counted",
			   SLICE_ARG(a->name), SLICE_ARG(target->name));
}

void load_check_sequences(struct load *l)
{
	EACH (struct entity, e, l->d->entities, l->d->entity_count) {
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->next)
				check_taker(l, a);
		EACH (struct action, x, e->actions, e->action_count)
			check_assigned(l, e, x->set, x->set_count);
		check_assigned(l, e, e->delete_.set, e->delete_.set_count);
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count)
		check_processor(l, p);
}
