/* Key conditions: conditions that are a conjunction of one simple test per key attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "expr/condition.h"

struct collector {
	struct arena *arena;
	struct error *e;
	struct key_term *terms;
	size_t count, room;
};

static bool refuse_keys(struct collector *x, const char *why)
{
	return error_set(x->e, x->arena, ERR_VALIDATION, "%s", why);
}

static bool check_operator(struct collector *x, const struct test *t)
{
	const char *name = test_op_name(t->op);

	switch (t->op) {
	case TEST_EQ:
	case TEST_LT:
	case TEST_LE:
	case TEST_GT:
	case TEST_GE:
	case TEST_AND: return true;
	case TEST_BETWEEN:
	case TEST_BEGINS_WITH:
		if (t->args[0].is_path || t->args[0].is_size)
			return true;
		return error_set(x->e, x->arena, ERR_VALIDATION,
				 "Invalid condition in KeyConditionExpression: %s operator must have the "
				 "key attribute as its first operand",
				 name);
	default:
		return error_set(x->e, x->arena, ERR_VALIDATION, "Invalid operator used in KeyConditionExpression: %s",
				 name);
	}
}

/* The one operand that is an attribute. */
static bool find_attribute(struct collector *x, const struct test *t, size_t *at)
{
	bool found = false;

	for (size_t i = 0; i < t->arg_count; i++) {
		const struct operand *o = &t->args[i];

		if (o->is_size)
			return refuse_keys(x, "KeyConditionExpressions cannot contain nested operations");
		if (!o->is_path)
			continue;
		if (found)
			return refuse_keys(x, "Invalid condition in KeyConditionExpression: Multiple attribute "
					      "names used in one condition");
		if (o->path.count > 1)
			return refuse_keys(x, "KeyConditionExpressions cannot have conditions on nested "
					      "attributes");
		found = true;
		*at = i;
	}
	return found || refuse_keys(x, "Invalid condition in KeyConditionExpression: No key attribute "
				       "specified");
}

/* :v < a is a > :v */
static enum key_op key_op(enum test_op op, bool reversed)
{
	switch (op) {
	case TEST_LT: return reversed ? KEY_GT : KEY_LT;
	case TEST_LE: return reversed ? KEY_GE : KEY_LE;
	case TEST_GT: return reversed ? KEY_LT : KEY_GT;
	case TEST_GE: return reversed ? KEY_LE : KEY_GE;
	case TEST_BETWEEN: return KEY_BETWEEN;
	case TEST_BEGINS_WITH: return KEY_BEGINS_WITH;
	default: return KEY_EQ;
	}
}

static bool add_term(struct collector *x, struct key_term term)
{
	for (size_t i = 0; i < x->count; i++)
		if (slice_equal(x->terms[i].name, term.name))
			return refuse_keys(x, "KeyConditionExpressions must only contain one condition per key");
	GROW_IN(x->arena, x->terms, x->count, x->room, 4);
	x->terms[x->count++] = term;
	return true;
}

static bool collect(struct collector *x, const struct test *t)
{
	struct key_term term = { .value = VALUE_ABSENT };
	size_t at = 0;

	if (!check_operator(x, t))
		return false;
	if (t->op == TEST_AND)
		return collect(x, t->left) && collect(x, t->right);
	if (!find_attribute(x, t, &at))
		return false;
	term.name = t->args[at].path.steps[0].name;
	term.op = key_op(t->op, at == 1);
	term.value = t->args[at == 0 ? 1 : 0].value;
	if (t->op == TEST_BETWEEN)
		term.upper = t->args[2].value;
	return add_term(x, term);
}

bool key_condition_compile(struct expr_bindings *b, struct slice text, const struct condition **out, struct error *e)
{
	return condition_compile_as(b, "KeyConditionExpression", text, out, e);
}

bool key_condition_terms(struct arena *a, const struct condition *c, struct key_term **terms, size_t *count,
			 struct error *e)
{
	struct collector x = { .arena = a, .e = e };

	if (!collect(&x, c->root))
		return false;
	*terms = x.terms;
	*count = x.count;
	return true;
}
