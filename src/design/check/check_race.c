/* Rules about concurrent writes: numbers that two items get, decisions that no condition guards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* ---- numbers ---- */

struct numbering {
	struct checker *c;
	const struct entity *entity;
	struct slice attribute; /* that gets the number */
};

static void find_counter(void *ctx, const struct term *t)
{
	struct numbering *x = ctx;
	const struct entity *of = t->kind == TERM_FETCH ? t->entity : NULL;
	const struct attribute *from = of ? entity_attribute(of, t->attribute) : NULL;

	if (!from || !from->counter)
		return;
	check_say(x->c, t->place, "%.*s is numbered by how many there are in %.*s", SLICE_ARG(x->attribute),
		  SLICE_ARG(t->attribute));
	check_repair(
		x->c,
		"Give %.*s a sequence (`%.*s_numbers: sequence`) and take from it: `%.*s: integer, next of %.*s(…).%.*s_numbers`.",
		SLICE_ARG(of->name), SLICE_ARG(x->attribute), SLICE_ARG(x->attribute), SLICE_ARG(of->name),
		SLICE_ARG(x->attribute));
}

/* E(x).counter + 1: a sum of a counter and something else. */
static void find_sum(void *ctx, const struct term *t)
{
	if (t->kind == TERM_ADD)
		for (size_t i = 0; i < t->arg_count; i++)
			find_counter(ctx, t->args[i]);
}

static void numbers_repeat(struct checker *c, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		struct numbering x = { c, e, a->name };
		if (a->default_)
			term_walk(a->default_, find_sum, &x);
	}
	EACH (struct action, action, e->actions, e->action_count)
		EACH (struct assignment, s, action->set, action->set_count) {
			struct numbering x = { c, e, s->attribute };
			term_walk(s->term, find_sum, &x);
		}
}

/* ---- decisions by absence ---- */

struct deciding {
	struct checker *c;
	const struct entity *entity;
	const char *where;
};

static void say_absence(struct deciding *x, const struct term *t)
{
	if (t->kind == TERM_MAY)
		check_say(x->c, t->place, "%s is decided by a permission that the caller does not have", x->where);
	else
		check_say(x->c, t->place, "%s is decided by there being no %.*s, which only a query can tell", x->where,
			  SLICE_ARG(t->name));
}

static void find_absence(struct deciding *x, const struct term *t, bool yes);

/* A value of another item: if absent it compares as false, except with <> and `is absent`. */
static void find_absent_value(struct deciding *x, const struct term *t, bool absent_holds)
{
	for (size_t i = 0; i < t->arg_count; i++)
		if (t->args[i]->kind == TERM_FETCH && absent_holds && t->args[i]->entity->found_by.n)
			say_absence(x, t->args[i]);
}

/* `yes`: the write happens if the term holds (not: if it does not). */
static void find_absence(struct deciding *x, const struct term *t, bool yes)
{
	switch (t->kind) {
	case TERM_AND:
	case TERM_OR:
		find_absence(x, t->args[0], yes);
		find_absence(x, t->args[1], yes);
		break;
	case TERM_NOT: find_absence(x, t->args[0], !yes); break;
	case TERM_EXISTS:
	case TERM_VISIBLE:
		if (!yes && t->entity->found_by.n)
			say_absence(x, t);
		break;
	case TERM_MAY:
		if (!yes)
			say_absence(x, t);
		break;
	case TERM_NE:
	case TERM_ABSENT: find_absent_value(x, t, yes); break;
	default: find_absent_value(x, t, !yes); break;
	}
}

static void decides(struct checker *c, const struct entity *e, const char *where, const struct term *t)
{
	struct deciding x = { c, e, where };

	if (t)
		find_absence(&x, t, true);
}

static void absence_not_held(struct checker *c, const struct entity *e)
{
	decides(c, e, "creating", e->allow[ALLOW_CREATE]);
	decides(c, e, "updating", e->allow[ALLOW_UPDATE]);
	decides(c, e, "deleting", e->allow[ALLOW_DELETE]);
	EACH (struct check_rule, k, e->checks, e->check_count)
		decides(c, e, "a check", k->term);
	EACH (struct action, a, e->actions, e->action_count) {
		decides(c, e, "an action", a->allow);
		decides(c, e, "an action", a->when);
	}
}

const struct rule check_rules_race[] = {
	{ "numbers-repeat", SEVERITY_ERROR,
	  "A counter goes back when something is deleted, and then numbers come again; everything that counts on it moves it.",
	  "Declare a `sequence` and take numbers from it with `next of`.", .entity = numbers_repeat },
	{ "absence-not-held", SEVERITY_WARNING,
	  "DynamoDB can hold a condition on an item that a key leads to, not on a query that finds nothing: an item created at the same moment is not seen.",
	  "Give the entity a key that follows from its identity, or a companion that guards it.",
	  .entity = absence_not_held },
	{ NULL },
};
