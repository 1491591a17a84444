/* The cache of parsed texts: what it keeps, for how long, and trees that outlive it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"
#include "expr/tree.h"

static const struct tree *parse(struct expr_cache *c, struct arena *a, enum tree_kind kind, const char *text)
{
	const struct tree *t = NULL;
	struct error e = { 0 };

	assert_true(expr_cache_parse(c, a, &(struct expr_text){ kind, "Label", slice_str(text) }, &t, &e));
	return t;
}

static void a_text_is_parsed_once(void **state)
{
	struct expr_cache *c = expr_cache_new(4);
	const struct tree *first = parse(c, &arena, TREE_CONDITION, "a = :b");

	(void)state;
	assert_ptr_equal(parse(c, &arena, TREE_CONDITION, "a = :b"), first);
	assert_ptr_not_equal(parse(c, &arena, TREE_CONDITION, "a = :c"), first);
	expr_cache_free(c);
}

static void kinds_of_expression_are_kept_apart(void **state)
{
	struct expr_cache *c = expr_cache_new(4);
	const struct tree *p = parse(c, &arena, TREE_PROJECTION, "a");
	struct error e = { 0 };
	const struct tree *t;

	(void)state;
	assert_int_equal(p->kind, TREE_PROJECTION);
	assert_false(expr_cache_parse(c, &arena, &(struct expr_text){ TREE_CONDITION, "Label", SLICE("a") }, &t, &e));
	assert_ptr_equal(parse(c, &arena, TREE_PROJECTION, "a"), p);
	expr_cache_free(c);
}

static void the_least_recently_used_text_goes_first(void **state)
{
	struct expr_cache *c = expr_cache_new(2);
	const struct tree *a = parse(c, &arena, TREE_PROJECTION, "a");
	const struct tree *b = parse(c, &arena, TREE_PROJECTION, "b");

	(void)state;
	assert_ptr_equal(parse(c, &arena, TREE_PROJECTION, "a"), a);
	parse(c, &arena, TREE_PROJECTION, "c");
	assert_ptr_equal(parse(c, &arena, TREE_PROJECTION, "a"), a);
	assert_ptr_not_equal(parse(c, &arena, TREE_PROJECTION, "b"), b);
	expr_cache_free(c);
}

static void errors_are_the_same_every_time(void **state)
{
	struct expr_cache *c = expr_cache_new(2);
	struct error e = { 0 };
	const struct tree *t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_false(
			expr_cache_parse(c, &arena, &(struct expr_text){ TREE_UPDATE, "X", SLICE("SET a") }, &t, &e));
		expect("SET a", message(&e), "Invalid X: Syntax error; token: \"<EOF>\", near: \"a\"");
	}
	expr_cache_free(c);
}

static void what_is_compiled_outlives_the_cache(void **state)
{
	struct expr_cache *c = expr_cache_new(1);
	const struct condition *held, *other;
	struct expr_bindings *b;
	struct error e = { 0 };

	(void)state;
	assert_true(expr_bindings_new(&arena, c, NULL, json("{':v':{'N':'1'}}"), &b, &e));
	for (int i = 0; i < 2; i++) {
		char text[] = "count1 = :v"; /* the text itself may go too */

		assert_true(condition_compile(b, CONDITION_EXPRESSION, slice_str(text), &held, &e));
		memset(text, '!', sizeof(text));
	}
	assert_true(condition_compile(b, CONDITION_EXPRESSION, SLICE("b = :v"), &other, &e));
	expr_cache_free(c);
	assert_true(condition_holds(held, item("{'count1':{'N':'1'}}"), &arena));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_text_is_parsed_once),
		TEST(kinds_of_expression_are_kept_apart),
		TEST(the_least_recently_used_text_goes_first),
		TEST(errors_are_the_same_every_time),
		TEST(what_is_compiled_outlives_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
