/* What the text does not say and follows from it: types of derived attributes and copies. And what
 * needs those. SPDX-License-Identifier: Apache-2.0 */
#include "design/load.h"

#define COPIES_MOST 8 /* of copies; a circle ends here */

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth);

static void take_type(struct attribute *to, const struct attribute *from)
{
	to->type = from->type;
	to->element = from->element;
	to->choices = from->choices;
	to->choice_count = from->choice_count;
}

static void type_of_attribute(struct load *l, const struct entity *e, struct slice name,
			      struct attribute *out, int depth)
{
	const struct attribute *a = e ? entity_attribute(e, name) : NULL;

	if (!a || depth == COPIES_MOST)
		return;
	infer(l, e, (struct attribute *)(uintptr_t)a, depth + 1); /* ours, until loading is done */
	take_type(out, a);
}

static void type_of_call(const struct term *t, struct attribute *out)
{
	static const char *const numbers[] = { "size", "min", "max", "epoch", "power", "round", NULL };

	for (size_t i = 0; numbers[i]; i++)
		if (slice_is(t->name, numbers[i]))
			out->type = ATTR_NUMBER;
	if (slice_is(t->name, "words")) {
		out->type = ATTR_LIST;
		out->element = ATTR_STRING;
	} else if (slice_is(t->name, "days_ago")) {
		out->type = ATTR_TIMESTAMP;
	}
}

static void type_of_literal(struct value v, struct attribute *out)
{
	if (value_type(v) == VALUE_N)
		out->type = ATTR_NUMBER;
	else if (value_type(v) == VALUE_BOOL)
		out->type = ATTR_BOOLEAN;
}

static void type_of_term(struct load *l, const struct entity *e, const struct term *t,
			 struct attribute *out, int depth)
{
	switch (t->kind) {
	case TERM_LITERAL:
		type_of_literal(t->value, out);
		break;
	case TERM_PATH:
		if (t->name_count == 1)
			type_of_attribute(l, e, t->names[0], out, depth);
		break;
	case TERM_FETCH:
		type_of_attribute(l, design_entity(l->d, t->name), t->attribute, out, depth);
		break;
	case TERM_NOW:
		out->type = ATTR_TIMESTAMP;
		break;
	case TERM_TODAY:
	case TERM_CALLER:
		break;
	case TERM_ADD:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_DIV:
	case TERM_NEGATE:
		out->type = ATTR_NUMBER;
		break;
	case TERM_CALL:
		if (slice_is(t->name, "choose") && t->arg_count > 1)
			type_of_term(l, e, t->args[1], out, depth);
		else if (slice_is(t->name, "first") && t->arg_count > 1)
			type_of_term(l, e, t->args[1], out, depth);
		else
			type_of_call(t, out);
		break;
	default:
		out->type = ATTR_BOOLEAN;
		break;
	}
}

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth)
{
	const struct entity *source = a->copy_entity.n ? design_entity(l->d, a->copy_entity) : NULL;
	const struct attribute *from = source ? entity_attribute(source, a->copy_attribute) : NULL;

	if (a->copy_entity.n)
		type_of_attribute(l, source, a->copy_attribute, a, depth);
	if (from)
		a->lower = from->lower; /* for who asks by it */
	else if (a->derived)
		type_of_term(l, e, a->derived, a, depth);
}

static bool is_number(const struct attribute *a)
{
	return a->type == ATTR_NUMBER || a->type == ATTR_INTEGER;
}

static void check_counts(struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < e->count_count; i++) {
		const struct count_rule *c = &e->counts[i];
		const struct entity *target = design_entity(l->d, c->target.entity);
		const struct attribute *a = target ? entity_attribute(target, c->attribute) : NULL;

		if (a && (!is_number(a) || a->derived || a->sequence))
			load_error(l, c->target.place, "wrong-type",
				   "'%.*s' of %.*s is no number that can be counted",
				   SLICE_ARG(c->attribute), SLICE_ARG(target->name));
	}
	for (size_t i = 0; i < e->action_count; i++)
		for (size_t k = 0; k < e->actions[i].add_count; k++) {
			const struct assignment *add = &e->actions[i].add[k];
			const struct attribute *a = entity_attribute(e, add->attribute);

			if (a && (!is_number(a) || a->derived || a->sequence))
				load_error(l, add->place, "wrong-type",
					   "'%.*s' is no number that can be added to",
					   SLICE_ARG(add->attribute));
		}
}

void load_infer(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		for (size_t k = 0; k < l->entities[i].attribute_count; k++)
			infer(l, &l->entities[i],
			      (struct attribute *)(uintptr_t)&l->entities[i].attributes[k], 0);
	for (size_t i = 0; i < l->d->entity_count; i++) {
		l->subject = arena_printf(l->a, "entity %.*s", SLICE_ARG(l->entities[i].name));
		check_counts(l, &l->entities[i]);
	}
	l->subject = SLICE("");
}
