/* Expressions made of parts, and printed: they mean what their text means, and text and back gives the same text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"
#include "expr/build.h"
#include "expr/limits.h"
#include "expr/print.h"

static struct value s(const char *text)
{
	return value_make_s(&arena, slice_str(text));
}

static struct value n(int64_t i)
{
	return value_make_i64(&arena, i);
}

static const struct test *attribute(enum test_op op, const char *name, struct value v)
{
	return test_attribute(&arena, op, slice_str(name), v);
}

static const struct condition *made(const struct test *t)
{
	const struct condition *c = NULL;
	struct error e = { 0 };

	if (!condition_of(&arena, CONDITION_EXPRESSION, t, &c, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return c;
}

/* "text | names | values" */
static const char *text_of(const struct condition *c, const struct update *u)
{
	struct expr_printer p;
	struct buf text;

	buf_init(&text, &arena);
	expr_printer_init(&p, &arena, &text);
	if (c)
		expr_print_condition(&p, c);
	else
		expr_print_update(&p, u);
	return arena_cstr(&arena, arena_printf(&arena, "%.*s | %.*s | %.*s", SLICE_ARG(buf_slice(&text)),
					       SLICE_ARG(buf_slice(&p.names)), SLICE_ARG(buf_slice(&p.values))));
}

/* ---- conditions ---- */

static void every_test_is_printed_as_its_text(void **state)
{
	struct test_operand in[] = { test_name(SLICE("a")), test_value(n(1)), test_name(SLICE("b")) };
	struct test_operand size[] = { { .name = SLICE("a"), .size = true }, test_value(n(3)) };
	const struct {
		const struct test *test;
		const char *text;
	} cases[] = {
		{ attribute(TEST_EQ, "a", s("x")), "#n0 = :v0" },
		{ attribute(TEST_NE, "a", s("x")), "#n0 <> :v0" },
		{ attribute(TEST_LT, "a", n(1)), "#n0 < :v0" },
		{ attribute(TEST_LE, "a", n(1)), "#n0 <= :v0" },
		{ attribute(TEST_GT, "a", n(1)), "#n0 > :v0" },
		{ attribute(TEST_GE, "a", n(1)), "#n0 >= :v0" },
		{ attribute(TEST_EXISTS, "a", VALUE_ABSENT), "attribute_exists(#n0)" },
		{ attribute(TEST_NOT_EXISTS, "a", VALUE_ABSENT), "attribute_not_exists(#n0)" },
		{ attribute(TEST_TYPE, "a", s("SS")), "attribute_type(#n0, :v0)" },
		{ attribute(TEST_BEGINS_WITH, "a", s("x")), "begins_with(#n0, :v0)" },
		{ attribute(TEST_CONTAINS, "a", s("x")), "contains(#n0, :v0)" },
		{ test_of(&arena, TEST_IN, in, 3), "#n0 IN (:v0, #n1)" },
		{ test_of(&arena, TEST_BETWEEN, in, 3), "#n0 BETWEEN :v0 AND #n1" },
		{ test_of(&arena, TEST_GE, size, 2), "size(#n0) >= :v0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = text_of(made(cases[i].test), NULL);

		if (strncmp(text, cases[i].text, strlen(cases[i].text)) || text[strlen(cases[i].text)] != ' ')
			fail_msg("%s instead of %s", text, cases[i].text);
	}
}

static void parentheses_stand_where_they_are_needed_only(void **state)
{
	const struct test *a = attribute(TEST_EXISTS, "a", VALUE_ABSENT), *b = attribute(TEST_EXISTS, "b", VALUE_ABSENT);
	const struct test *c = attribute(TEST_EQ, "c", s("\"x\""));
	const struct test *either = test_join(&arena, TEST_OR, a, b), *both = test_join(&arena, TEST_AND, a, b);

	(void)state;
	assert_string_equal(
		text_of(made(test_join(&arena, TEST_AND, either, c)), NULL),
		"(attribute_exists(#n0) OR attribute_exists(#n1)) AND #n2 = :v0 | \"#n0\":\"a\",\"#n1\":\"b\",\"#n2\":\"c\" | "
		"\":v0\":{\"S\":\"\\\"x\\\"\"}");
	assert_string_equal(
		text_of(made(test_join(&arena, TEST_AND, c, both)), NULL),
		"#n0 = :v0 AND attribute_exists(#n1) AND attribute_exists(#n2) | \"#n0\":\"c\",\"#n1\":\"a\",\"#n2\":\"b\" | "
		"\":v0\":{\"S\":\"\\\"x\\\"\"}");
	assert_string_equal(text_of(made(test_not(&arena, both)), NULL),
			    "NOT (attribute_exists(#n0) AND attribute_exists(#n1)) | \"#n0\":\"a\",\"#n1\":\"b\" | ");
	assert_string_equal(text_of(made(test_not(&arena, a)), NULL), "NOT attribute_exists(#n0) | \"#n0\":\"a\" | ");
	assert_ptr_equal(test_join(&arena, TEST_AND, NULL, a), a);
	assert_ptr_equal(test_join(&arena, TEST_AND, a, NULL), a);
}

static void a_condition_knows_its_paths_and_holds(void **state)
{
	const struct condition *c =
		made(test_join(&arena, TEST_AND, attribute(TEST_EQ, "a", n(1)), attribute(TEST_TYPE, "b", s("S"))));
	const struct path *paths;

	(void)state;
	assert_int_equal(condition_paths(c, &paths), 2);
	assert_true(slice_is(paths[0].steps[0].name, "a") && slice_is(paths[1].steps[0].name, "b"));
	assert_true(condition_holds(c, item("{'a':{'N':'1'},'b':{'S':''}}"), &arena));
	assert_false(condition_holds(c, item("{'a':{'N':'1'},'b':{'N':'1'}}"), &arena));
	assert_false(condition_holds(c, VALUE_ABSENT, &arena));
}

/* What is compiled of a text prints as a text that compiles to the same. */
static void text_and_back_gives_the_same_text(void **state)
{
	static const char *const texts[] = {
		"#n0 = :v0 AND (#n1 < :v1 OR NOT contains(#n2.#n3[4].#n5, :v2))",
		"size(#n0) BETWEEN :v0 AND :v1",
		"#n0 IN (:v0, :v1, #n1) OR attribute_type(#n2, :v2)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct condition *c;
		struct expr_bindings *b;
		struct expr_printer p;
		struct error e = { 0 };
		struct buf names, values, text;

		buf_init(&names, &arena);
		buf_init(&values, &arena);
		for (int k = 0; k < 6; k++)
			buf_printf(&names, "%s\"#n%d\":\"name %d\"", k ? "," : "{", k, k);
		buf_lit(&names, "}");
		buf_lit(&values, "{\":v0\":{\"N\":\"1\"},\":v1\":{\"N\":\"2\"},\":v2\":{\"S\":\"S\"}}");
		assert_true(expr_bindings_new(&arena, NULL, json_parse(&arena, buf_slice(&names)),
					      json_parse(&arena, buf_slice(&values)), &b, &e));
		assert_true(condition_compile(b, CONDITION_EXPRESSION, slice_str(texts[i]), &c, &e));
		buf_init(&text, &arena);
		expr_printer_init(&p, &arena, &text);
		expr_print_condition(&p, c);
		if (i)
			assert_true(slice_is(buf_slice(&text), texts[i]));
		else /* steps of a path are numbered as they come */
			assert_true(slice_is(buf_slice(&text),
					     "#n0 = :v0 AND (#n1 < :v1 OR NOT contains(#n2.#n3[4].#n4, :v2))"));
	}
}

/* ---- limits ---- */

static void assert_refused(const struct test *t, const char *message)
{
	const struct condition *c;
	struct error e = { 0 };

	assert_false(condition_of(&arena, FILTER_EXPRESSION, t, &c, &e));
	assert_int_equal(e.code, ERR_VALIDATION);
	if (!slice_is(e.message, message))
		fail_msg("%.*s", SLICE_ARG(e.message));
}

static const struct test *many(size_t count, enum test_op op)
{
	const struct test *t = NULL;

	for (size_t i = 0; i < count; i++)
		t = test_join(&arena, TEST_AND, t, attribute(op, "a", n(1)));
	return t;
}

static void what_dynamodb_would_refuse_of_the_text_is_refused(void **state)
{
	struct value empty = value_make_set(&arena, VALUE_SS, NULL, 0), deep = n(1);

	(void)state;
	made(many(150, TEST_EQ));
	assert_refused(many(151, TEST_EQ),
		       "Invalid FilterExpression: The expression contains too many operators; operator count: 301");
	made(many(149, TEST_EXISTS));
	assert_refused(
		many(149, TEST_NOT_EXISTS),
		"Invalid FilterExpression: Expression size has exceeded the maximum allowed size; expression size: 4653");
	if (value_present(empty))
		assert_refused(attribute(TEST_EQ, "a", empty),
			       "ExpressionAttributeValues contains invalid value: One or more parameter values were "
			       "invalid: An string set  may not be empty");
	for (int i = 0; i < 40; i++)
		deep = value_make_list(&arena, &deep, 1);
	assert_refused(attribute(TEST_EQ, "a", deep),
		       "ExpressionAttributeValues contains invalid value: Nesting Levels have exceeded supported limits: Attributes in the item have "
		       "nested levels beyond supported limit");
}

/* ---- updates ---- */

static void an_update_of_parts_changes_and_prints(void **state)
{
	/* clang-format off */
	struct update_part parts[] = {
		{ ACTION_SET, SLICE("a"), s("x") }, { ACTION_ADD, SLICE("n"), n(2) }, { ACTION_REMOVE, SLICE("gone"), VALUE_ABSENT },
		{ ACTION_SET, SLICE("b"), n(1) },
	};
	/* clang-format on */
	const struct update *u;
	struct error e = { 0 };
	struct value out;

	(void)state;
	assert_true(update_of(&arena, parts, 4, &u, &e));
	assert_true(update_apply(u, item("{'k':{'S':'k'},'n':{'N':'1'},'gone':{'S':'soon'}}"), &arena, &out, &e));
	assert_true(value_equal(out, item("{'a':{'S':'x'},'b':{'N':'1'},'k':{'S':'k'},'n':{'N':'3'}}")));
	assert_string_equal(text_of(NULL, u), "SET #n0 = :v0, #n1 = :v1 REMOVE #n2 ADD #n3 :v2 | "
					      "\"#n0\":\"a\",\"#n1\":\"b\",\"#n2\":\"gone\",\"#n3\":\"n\" | "
					      "\":v0\":{\"S\":\"x\"},\":v1\":{\"N\":\"1\"},\":v2\":{\"N\":\"2\"}");
}

static void an_update_that_makes_no_sense_is_refused(void **state)
{
	struct update_part twice[] = { { ACTION_SET, SLICE("a"), s("x") }, { ACTION_REMOVE, SLICE("a"), VALUE_ABSENT } };
	struct update_part text[] = { { ACTION_ADD, SLICE("a"), s("x") } };
	const struct update *u;
	struct error e = { 0 };

	(void)state;
	assert_false(update_of(&arena, twice, 2, &u, &e));
	assert_true(slice_is(
		e.message,
		"Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of "
		"these paths; path one: [a], path two: [a]"));
	assert_false(update_of(&arena, text, 1, &u, &e));
	assert_true(slice_is(
		e.message,
		"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ADD, operand type: "
		"STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_test_is_printed_as_its_text),
		TEST(parentheses_stand_where_they_are_needed_only),
		TEST(a_condition_knows_its_paths_and_holds),
		TEST(text_and_back_gives_the_same_text),
		TEST(what_dynamodb_would_refuse_of_the_text_is_refused),
		TEST(an_update_of_parts_changes_and_prints),
		TEST(an_update_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
