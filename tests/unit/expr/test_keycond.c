/* Key conditions: what they are taken apart into, and what they may not be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

static const char *terms(const char *text)
{
	static const char *const ops[] = { "=", "<", "<=", ">", ">=", "BETWEEN", "BEGINS_WITH" };
	struct expr_bindings *b =
		bindings("{'#pk':'pk'}", "{':s':{'S':'x'},':t':{'S':'y'},':n':{'N':'1'},':b':{'BOOL':true}}");
	const struct condition *c;
	struct key_term *t;
	struct error e = { 0 };
	struct buf out;
	size_t n;

	if (!key_condition_compile(b, slice_str(text), &c, &e) || !key_condition_terms(&arena, c, &t, &n, &e))
		return message(&e);
	buf_init(&out, &arena);
	for (size_t i = 0; i < n; i++) {
		buf_printf(&out, "%s%.*s %s %.*s", i ? ", " : "", SLICE_ARG(t[i].name), ops[t[i].op],
			   SLICE_ARG(value_bytes(t[i].value)));
		if (value_present(t[i].upper))
			buf_printf(&out, " %.*s", SLICE_ARG(value_bytes(t[i].upper)));
	}
	buf_byte(&out, 0);
	return out.p;
}

static void conjunctions_become_terms(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "pk = :s", "pk = x" },
		{ "(#pk = :s) AND (sk = :t)", "pk = x, sk = y" },
		{ "(pk = :s AND (sk < :t))", "pk = x, sk < y" },
		{ ":s = pk AND :t < sk", "pk = x, sk > y" },
		{ "pk = :s AND :t >= sk", "pk = x, sk <= y" },
		{ "pk = :s AND sk BETWEEN :s AND :t", "pk = x, sk BETWEEN x y" },
		{ "pk = :s AND begins_with(sk, :t)", "pk = x, sk BEGINS_WITH y" },
		{ "a = :s AND b = :s AND c = :s AND d > :t", "a = x, b = x, c = x, d > y" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, terms(rows[i].text), rows[i].wanted);
}

#define OPERATOR  "Invalid operator used in KeyConditionExpression: "
#define CONDITION "Invalid condition in KeyConditionExpression: "

static void other_conditions_are_refused(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "Invalid KeyConditionExpression: The expression can not be empty;" },
		{ "pk",
		  "Invalid KeyConditionExpression: Syntax error; token: \"<EOF>\", near: \"pk\"" },
		{ "((pk = :s))",
		  "Invalid KeyConditionExpression: The expression has redundant parentheses;" },
		{ "pk = :s AND sk < :b", "Invalid KeyConditionExpression: Incorrect operand type "
					 "for operator or function; "
					 "operator or function: <, operand type: BOOL" },
		{ "pk = :s OR sk = :s", OPERATOR "OR" },
		{ "pk <> :s OR sk = :s", OPERATOR "OR" },
		{ "pk = :s AND NOT sk = :s", OPERATOR "NOT" },
		{ "pk IN (:s)", OPERATOR "IN" },
		{ "pk <> :s", OPERATOR "<>" },
		{ "attribute_not_exists(pk)", OPERATOR "attribute_not_exists" },
		{ "pk = :s AND contains(sk, :s)", OPERATOR "contains" },
		{ "pk = :s AND size(sk) = :n",
		  "KeyConditionExpressions cannot contain nested operations" },
		{ "pk = :s AND begins_with(:s, sk)", CONDITION
		  "begins_with operator must have the key attribute as its first operand" },
		{ "pk = :s AND :s BETWEEN :s AND sk",
		  CONDITION "BETWEEN operator must have the key attribute as its first operand" },
		{ "pk = sk", CONDITION "Multiple attribute names used in one condition" },
		{ ":s = :s", CONDITION "No key attribute specified" },
		{ "pk = :s AND pk = :t",
		  "KeyConditionExpressions must only contain one condition per key" },
		{ "pk.a = :s",
		  "KeyConditionExpressions cannot have conditions on nested attributes" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, terms(rows[i].text), rows[i].wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(conjunctions_become_terms),
		TEST(other_conditions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
