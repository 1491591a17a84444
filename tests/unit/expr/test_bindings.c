/* ExpressionAttributeNames and -Values, reserved words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

static const char *bound(const char *names, const char *values)
{
	struct expr_bindings *b;
	struct error e = { 0 };

	if (!expr_bindings_new(&arena, NULL, json(names), json(values), &b, &e))
		return message(&e);
	return "ok";
}

#define BAD_NAME  "ExpressionAttributeNames contains invalid "
#define BAD_VALUE "ExpressionAttributeValues contains invalid "

static void names_and_values_are_checked_alone(void **state)
{
	/* clang-format off */
	static const struct {
		const char *names, *values, *wanted;
	} rows[] = {
		{ NULL, NULL, "ok" },
		{ "{'#a1_':'x'}", "{':Z9_':{'S':''}}", "ok" },
		{ "{}", "{}", "ExpressionAttributeNames must not be empty" },
		{ NULL, "{}", "ExpressionAttributeValues must not be empty" },
		{ "{'a':'b'}", NULL, BAD_NAME "key: Syntax error; key: \"a\"" },
		{ "{'#':'b'}", NULL, BAD_NAME "key: Syntax error; key: \"#\"" },
		{ "{'#a-b':'b'}", NULL, BAD_NAME "key: Syntax error; key: \"#a-b\"" },
		{ "{'#a':''}", NULL, BAD_NAME "value: Empty attribute name for key #a" },
		{ NULL, "{'s':{'S':'x'}}", BAD_VALUE "key: Syntax error; key: \"s\"" },
		{ NULL, "{':t':{},'bad':{'S':'x'}}", BAD_VALUE "key: Syntax error; key: \"bad\"" },
		{ NULL, "{':s':{}}",
		  BAD_VALUE
		  "value: Supplied AttributeValue is empty, must contain exactly one of the "
		  "supported datatypes for key :s" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].wanted, bound(rows[i].names, rows[i].values), rows[i].wanted);
}

static const char *unused(const char *names, const char *values)
{
	struct expr_bindings *b = bindings(names, values);
	const struct condition *c;
	struct error e = { 0 };

	assert_true(condition_compile(b, CONDITION_EXPRESSION, SLICE("#a = :a"), &c, &e));
	return expr_bindings_check_used(b, &e) ? "ok" : message(&e);
}

static void what_no_expression_uses_is_refused(void **state)
{
	(void)state;
	expect("all used", unused("{'#a':'a'}", "{':a':{'S':'x'}}"), "ok");
	expect("values", unused("{'#a':'a'}", "{':t':{'S':'x'},':a':{'S':'x'},':u':{'S':'x'}}"),
	       "Value provided in ExpressionAttributeValues unused in expressions: keys: {:t, :u}");
	expect("names first", unused("{'#a':'a','#q':'q'}", "{':a':{'S':'x'},':u':{'S':'x'}}"),
	       "Value provided in ExpressionAttributeNames unused in expressions: keys: {#q}");
}

static void reserved_words_are_known_in_any_case(void **state)
{
	static const char *const reserved[] = { "ABORT", "status", "Name", "zone", "LOCALTIMESTAMP",
						"size",  "set",    "TTL",  "year" };
	static const char *const free_words[] = { "",      "A",     "ABORTS", "ABOR",
						  "pk",    "ZONES", "zzz",    "LOCALTIMESTAMPLOCALTIMESTAMP",
						  "remove" };

	(void)state;
	for (size_t i = 0; i < COUNT(reserved); i++)
		assert_true(expr_is_reserved(slice_str(reserved[i])));
	for (size_t i = 0; i < COUNT(free_words); i++)
		assert_false(expr_is_reserved(slice_str(free_words[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_and_values_are_checked_alone),
		TEST(what_no_expression_uses_is_refused),
		TEST(reserved_words_are_known_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
