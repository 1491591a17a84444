/* QueryFilter, ScanFilter, Expected and KeyConditions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/legacy.h"
#include "expr/limits.h"
#include "value/codec.h"

#define INVALID "One or more parameter values were invalid: "

static enum test_op test_op(enum comparison c)
{
	switch (c) {
	case COMPARE_EQ: return TEST_EQ;
	case COMPARE_NE: return TEST_NE;
	case COMPARE_IN: return TEST_IN;
	case COMPARE_LE: return TEST_LE;
	case COMPARE_LT: return TEST_LT;
	case COMPARE_GE: return TEST_GE;
	case COMPARE_GT: return TEST_GT;
	case COMPARE_BETWEEN: return TEST_BETWEEN;
	case COMPARE_NOT_NULL: return TEST_EXISTS;
	case COMPARE_NULL: return TEST_NOT_EXISTS;
	case COMPARE_CONTAINS: return TEST_CONTAINS;
	case COMPARE_NOT_CONTAINS: return TEST_NOT_CONTAINS;
	default: return TEST_BEGINS_WITH;
	}
}

static void make_test(struct arena *a, const struct legacy_condition *c, const struct path *path, struct test *out)
{
	struct operand *args = arena_array(a, struct operand, c->arg_count + 1);

	args[0].is_path = true;
	args[0].path = *path;
	for (size_t i = 0; i < c->arg_count; i++)
		args[i + 1].value = c->args[i];
	*out = (struct test){ .op = test_op(c->op), .args = args, .arg_count = c->arg_count + 1 };
}

/* Splits in halves, to limit how deep evaluation recurses. */
static const struct test *combine(struct arena *a, enum test_op op, const struct test *tests, size_t n)
{
	struct test *t;

	if (n == 1)
		return tests;
	t = arena_new(a, struct test);
	t->op = op;
	t->left = combine(a, op, tests, n / 2);
	t->right = combine(a, op, tests + n / 2, n - n / 2);
	return t;
}

static const struct condition *make_condition(struct arena *a, enum test_op op,
					      const struct legacy_condition *conditions, size_t n)
{
	struct condition *c = arena_new(a, struct condition);
	struct test *tests = arena_array(a, struct test, n ? n : 1);
	struct path_step *steps = arena_array(a, struct path_step, n);
	struct path *paths = arena_array(a, struct path, n);

	for (size_t i = 0; i < n; i++) {
		steps[i].name = conditions[i].name;
		paths[i] = (struct path){ &steps[i], 1 };
		make_test(a, &conditions[i], &paths[i], &tests[i]);
	}
	if (n == 0)
		tests[0].op = TEST_TRUE;
	c->root = combine(a, op, tests, n ? n : 1);
	c->paths = paths;
	c->path_count = n;
	return c;
}

static bool check_operator(struct arena *a, struct slice operator, size_t n, enum test_op *out, struct error *e)
{
	*out = TEST_AND;
	if (operator.n == 0)
		return true;
	if (n == 0)
		return error_set(e, a, ERR_VALIDATION, "ConditionalOperator cannot be used without Filter or Expected");
	if (n == 1)
		return error_set(e, a, ERR_VALIDATION,
				 "ConditionalOperator can only be used when Filter or Expected has two "
				 "or more elements");
	if (slice_is(operator, "OR"))
		*out = TEST_OR;
	else if (!slice_is(operator, "AND"))
		return error_set(e, a, ERR_VALIDATION,
				 "1 validation error detected: Value '%.*s' at 'conditionalOperator' "
				 "failed to satisfy constraint: Member must satisfy enum value set: "
				 "[OR, AND]",
				 SLICE_ARG(operator));
	return true;
}

static bool check_number(struct arena *a, const struct legacy_condition *conditions, size_t n, struct error *e)
{
	size_t all = n;

	for (size_t i = 0; i < n; i++)
		all += conditions[i].arg_count;
	if (all <= EXPR_LEGACY_MAX)
		return true;
	return error_set(e, a, ERR_VALIDATION, INVALID "Too many conditions and values; at most %d can be given",
			 EXPR_LEGACY_MAX);
}

/* {Value, Exists} or {ComparisonOperator, AttributeValueList or Value}. */
static bool expected_value(struct arena *a, const struct json_member *m, struct legacy_condition *out, struct error *e)
{
	const struct json *value = json_get_present(&m->value, "Value");
	const struct json *exists = json_get_present(&m->value, "Exists");
	struct value *v = arena_new(a, struct value);
	bool wanted = true;

	if (exists && !bool_from_json(a, exists, &wanted, e))
		return false;
	if (wanted && !value)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Value must be provided when Exists is %s for Attribute: %.*s",
				 exists ? "true" : "null", SLICE_ARG(m->name));
	if (!wanted && value)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Value cannot be used when Exists is false for Attribute: %.*s",
				 SLICE_ARG(m->name));
	if (!wanted) {
		out->op = COMPARE_NULL;
		return true;
	}
	if (!value_from_json(a, value, v, e))
		return false;
	*out = (struct legacy_condition){ m->name, COMPARE_EQ, v, 1 };
	return true;
}

static bool expected_comparison(struct arena *a, const struct json_member *m, struct legacy_condition *out,
				struct error *e)
{
	const struct json *value = json_get_present(&m->value, "Value");
	const struct json *list = json_get_present(&m->value, "AttributeValueList");
	const struct json *op = json_get_present(&m->value, "ComparisonOperator");
	struct value *v = arena_new(a, struct value);

	if (!legacy_operator(a, "expected", m->name, op, &out->op, e))
		return false;
	if (json_get_present(&m->value, "Exists"))
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Exists and ComparisonOperator cannot be used together for "
					 "Attribute: %.*s",
				 SLICE_ARG(m->name));
	if (!value && !list && out->op != COMPARE_NULL && out->op != COMPARE_NOT_NULL)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Value or AttributeValueList must be used with "
					 "ComparisonOperator: %.*s for Attribute: %.*s",
				 SLICE_ARG(op->string), SLICE_ARG(m->name));
	if (!legacy_values(a, list, out, e))
		return false;
	if (value) {
		if (!value_from_json(a, value, v, e))
			return false;
		out->args = v;
		out->arg_count = 1;
	}
	return legacy_check(a, out, e);
}

static bool expected_condition(struct arena *a, const struct json_member *m, struct legacy_condition *out,
			       struct error *e)
{
	const struct json *list = json_get_present(&m->value, "AttributeValueList");

	*out = (struct legacy_condition){ .name = m->name };
	if (m->value.type != JSON_OBJECT)
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	if (list && json_get_present(&m->value, "Value"))
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "Value and AttributeValueList cannot be used together for "
					 "Attribute: %.*s",
				 SLICE_ARG(m->name));
	if (json_get_present(&m->value, "ComparisonOperator"))
		return expected_comparison(a, m, out, e);
	if (list)
		return error_set(e, a, ERR_VALIDATION,
				 INVALID "AttributeValueList can only be used with a ComparisonOperator "
					 "for Attribute: %.*s",
				 SLICE_ARG(m->name));
	return expected_value(a, m, out, e);
}

static bool conditions_of(struct arena *a, const struct json *j, const char *field, struct legacy_condition **out,
			  size_t *count, struct error *e)
{
	const struct json_member **members;
	struct legacy_condition *conditions;

	if (!legacy_members(a, j, &members, count, e))
		return false;
	conditions = arena_array(a, struct legacy_condition, *count);
	for (size_t i = 0; i < *count; i++)
		if (!legacy_condition(a, field, members[i], &conditions[i], e))
			return false;
	*out = conditions;
	return true;
}

bool condition_from_filter(struct arena *a, const struct json *filter, struct slice conditional_operator,
			   const struct condition **out, struct error *e)
{
	struct legacy_condition *conditions;
	enum test_op op;
	size_t n;

	if (!conditions_of(a, filter, "filter", &conditions, &n, e) || !check_number(a, conditions, n, e) ||
	    !check_operator(a, conditional_operator, n, &op, e))
		return false;
	*out = make_condition(a, op, conditions, n);
	return true;
}

bool condition_from_expected(struct arena *a, const struct json *expected, struct slice conditional_operator,
			     const struct condition **out, struct error *e)
{
	const struct json_member **members;
	struct legacy_condition *conditions;
	enum test_op op;
	size_t n;

	if (!legacy_members(a, expected, &members, &n, e))
		return false;
	conditions = arena_array(a, struct legacy_condition, n);
	for (size_t i = 0; i < n; i++)
		if (!expected_condition(a, members[i], &conditions[i], e))
			return false;
	if (!check_number(a, conditions, n, e) || !check_operator(a, conditional_operator, n, &op, e))
		return false;
	*out = make_condition(a, op, conditions, n);
	return true;
}

static bool key_op_of(enum comparison c, enum key_op *out)
{
	switch (c) {
	case COMPARE_EQ: *out = KEY_EQ; return true;
	case COMPARE_LE: *out = KEY_LE; return true;
	case COMPARE_LT: *out = KEY_LT; return true;
	case COMPARE_GE: *out = KEY_GE; return true;
	case COMPARE_GT: *out = KEY_GT; return true;
	case COMPARE_BETWEEN: *out = KEY_BETWEEN; return true;
	case COMPARE_BEGINS_WITH: *out = KEY_BEGINS_WITH; return true;
	default: return false;
	}
}

bool key_terms_from_conditions(struct arena *a, const struct json *key_conditions, struct key_term **terms,
			       size_t *count, struct error *e)
{
	struct legacy_condition *conditions;
	size_t n;

	if (!conditions_of(a, key_conditions, "keyConditions", &conditions, &n, e))
		return false;
	*terms = arena_array(a, struct key_term, n);
	*count = n;
	for (size_t i = 0; i < n; i++) {
		struct key_term *t = &(*terms)[i];

		t->name = conditions[i].name;
		t->not_indexable = !key_op_of(conditions[i].op, &t->op);
		if (t->not_indexable)
			continue;
		t->value = conditions[i].args[0];
		if (t->op == KEY_BETWEEN)
			t->upper = conditions[i].args[1];
	}
	return true;
}
