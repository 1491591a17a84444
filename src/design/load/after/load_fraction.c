/* Counters that may get fractions: what they are moved by says so. They are numbers; all others are whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/after/load_type.h"

#define STEPS_MOST 16 /* derived attributes made of others; protects the stack */

static bool may_be_fraction(struct load *l, const struct load_scope *scope, const struct term *t, int steps);

static bool any_argument(struct load *l, const struct load_scope *scope, const struct term *t, size_t from, int steps)
{
	for (size_t i = from; i < t->arg_count; i++)
		if (may_be_fraction(l, scope, t->args[i], steps))
			return true;
	return false;
}

/* What is not known may be one. */
static bool attribute_may_be(struct load *l, const struct attribute *a, int steps)
{
	if (!a || steps > STEPS_MOST)
		return true;
	if (a->derived)
		return may_be_fraction(l, load_term_scope(l, a->derived), a->derived, steps + 1);
	if (a->copy_entity.n)
		return !a->copy_of || attribute_may_be(l, entity_attribute(a->copy_of, a->copy_attribute), steps + 1);
	return a->type == ATTR_NUMBER;
}

static bool call_may_be(struct load *l, const struct load_scope *scope, const struct term *t, int steps)
{
	switch (t->function) {
	case CALL_SIZE:
	case CALL_COUNT:
	case CALL_FLOOR:
	case CALL_CEIL:
	case CALL_HASH:
	case CALL_EPOCH: return false;
	case CALL_ROUND: return t->arg_count > 1;
	case CALL_SUM: return t->arg_count < 2 || may_be_fraction(l, scope, t->args[1], steps);
	case CALL_CHOOSE: return any_argument(l, scope, t, 1, steps);
	case CALL_MIN:
	case CALL_MAX:
	case CALL_ABS:
	case CALL_MOD: return any_argument(l, scope, t, 0, steps);
	default: return true;
	}
}

static bool may_be_fraction(struct load *l, const struct load_scope *scope, const struct term *t, int steps)
{
	struct typing y = { .l = l, .scope = scope, .quiet = true };

	switch (t->kind) {
	case TERM_LITERAL: return value_type(t->value) == VALUE_N && value_number(t->value).exponent < 0;
	case TERM_PATH:
		return attribute_may_be(l, t->member && t->name_count == 1 ? t->member : type_of_term(&y, t).of, steps);
	case TERM_FETCH: return attribute_may_be(l, type_of_term(&y, t).of, steps);
	case TERM_ADD:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_NEGATE: return any_argument(l, scope, t, 0, steps);
	case TERM_CALL: return call_may_be(l, scope, t, steps);
	default: return true;
	}
}

static void move(struct load *l, const struct entity *e, struct slice attribute, const struct term *by)
{
	struct attribute *a = e && by ? OURS(struct attribute, entity_attribute(e, attribute)) : NULL;

	if (a && a->counter && !a->sequence && a->type == ATTR_INTEGER &&
	    may_be_fraction(l, load_term_scope(l, by), by, 0))
		a->type = ATTR_NUMBER;
}

static void move_all(struct load *l, const struct entity *e, const struct assignment *list, size_t count)
{
	EACH (struct assignment, x, list, count)
		move(l, e, x->attribute, x->term);
}

static void move_also(struct load *l, const struct also_rule *list, size_t count)
{
	EACH (struct also_rule, x, list, count)
		move_all(l, x->to, x->add, x->add_count);
}

/* Once more than there may be steps: what moves a counter may be another one. */
void load_fractions(struct load *l)
{
	for (int i = 0; i < STEPS_MOST; i++) {
		EACH (struct entity, e, l->entities, l->d->entity_count) {
			EACH (struct count_rule, c, e->counts, e->count_count)
				move(l, c->target.to, c->attribute, c->by);
			EACH (struct action, x, e->actions, e->action_count) {
				move_all(l, e, x->add, x->add_count);
				move_also(l, x->also, x->also_count);
			}
			move_also(l, e->also, e->also_count);
		}
		EACH (struct processor, p, l->d->processors, l->d->processor_count) {
			move_all(l, p->target_ref.to, p->add, p->add_count);
			move(l, p->target_ref.to, p->target_attribute, p->by);
		}
	}
}
