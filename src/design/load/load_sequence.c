/* Sequences, and the attributes that take their numbers from them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static void check_taker(struct load *l, const struct attribute *a)
{
	const struct entity *target = design_entity(l->d, a->next->entity);
	const struct attribute *from = target ? entity_attribute(target, a->next_attribute) : NULL;

	if (from && !from->sequence)
		load_error(l, a->next->place, "wrong-type", "'%.*s' of %.*s is no sequence",
			   SLICE_ARG(a->next_attribute), SLICE_ARG(target->name))
			->repair = arena_printf(l->a, "declare it so: `%.*s: sequence`", SLICE_ARG(a->next_attribute));
}

static void check_assigned(struct load *l, const struct entity *e, const struct assignment *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct attribute *a = entity_attribute(e, list[i].attribute);

		if (a && a->sequence)
			load_error(l, list[i].place, "wrong-type",
				   "'%.*s' is a sequence and moves only when a number is taken from it",
				   SLICE_ARG(a->name));
		else if (a && a->next)
			load_error(l, list[i].place, "wrong-type", "'%.*s' is taken from a sequence and never changes",
				   SLICE_ARG(a->name));
	}
}

static void check_processor(struct load *l, const struct processor *p)
{
	const struct entity *target = p->effect == EFFECT_COUNT ? design_entity(l->d, p->target) : NULL;
	const struct attribute *a = target ? entity_attribute(target, p->target_attribute) : NULL;

	if (a && a->sequence)
		load_error(l, p->place, "wrong-type", "'%.*s' of %.*s is no number that can be counted",
			   SLICE_ARG(a->name), SLICE_ARG(target->name));
}

void load_check_sequences(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++) {
		const struct entity *e = &l->d->entities[i];

		for (size_t k = 0; k < e->attribute_count; k++)
			if (e->attributes[k].next)
				check_taker(l, &e->attributes[k]);
		for (size_t k = 0; k < e->action_count; k++)
			check_assigned(l, e, e->actions[k].set, e->actions[k].set_count);
		check_assigned(l, e, e->delete_.set, e->delete_.set_count);
	}
	for (size_t i = 0; i < l->d->processor_count; i++)
		check_processor(l, &l->d->processors[i]);
}
