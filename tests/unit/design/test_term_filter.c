/* Terms as DynamoDB expressions: what they become, and that they mean the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "term_helper.h"
#include "expr/build.h"
#include "expr/print.h"

static const struct condition *condition(const struct test *t)
{
	const struct condition *c = NULL;
	struct error e = { 0 };

	if (!condition_of(&arena, FILTER_EXPRESSION, t, &c, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return c;
}

struct text {
	struct buf text, names, values;
};

static struct text print(const struct test *t)
{
	struct expr_printer p;
	struct text out;

	buf_init(&out.text, &arena);
	expr_printer_init(&p, &arena, &out.text);
	expr_print_condition(&p, condition(t));
	out.names = p.names;
	out.values = p.values;
	return out;
}

/* "text | names | values", or "no: why". */
static const char *filtered(const char *text, const char *caller)
{
	struct world w = world_of(item("{'input':{'M':{'q':{'S':'Q'}}}}"));
	struct term_scope s = world_scope(&w, caller);
	const struct term *t = parsed(text);
	const char *why, *why_static = NULL;
	const struct test *test;
	struct error e = { 0 };
	struct text f;

	if (!term_to_test(t, &s, &test, &why, &e)) {
		assert_true(!why == (e.code != ERR_NONE));
		assert_true(term_can_filter(t, &why_static) == !why);
		return arena_cstr(&arena, arena_printf(&arena, "no: %s", why ? why : arena_cstr(&arena, e.message)));
	}
	assert_true(term_can_filter(t, &why_static));
	f = print(test);
	return arena_cstr(&arena, arena_printf(&arena, "%.*s | %.*s | %.*s", SLICE_ARG(buf_slice(&f.text)),
					       SLICE_ARG(buf_slice(&f.names)), SLICE_ARG(buf_slice(&f.values))));
}

static void becomes_an_expression(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *expression;
	} cases[] = {
		{ "a = 'x'", "#n0 = :v0 | \"#n0\":\"a\" | \":v0\":{\"S\":\"x\"}" },
		{ "is_deleted", "#n0 = :v0 | \"#n0\":\"is_deleted\" | \":v0\":{\"BOOL\":true}" },
		{ "not is_deleted",
		  "NOT #n0 = :v0 | \"#n0\":\"is_deleted\" | \":v0\":{\"BOOL\":true}" },
		{ "not not a is present", "attribute_exists(#n0) | \"#n0\":\"a\" | " },
		{ "a is absent", "attribute_not_exists(#n0) | \"#n0\":\"a\" | " },
		{ "a is present and (b is absent or c is present)",
		  "attribute_exists(#n0) AND (attribute_not_exists(#n1) OR attribute_exists(#n2)) | "
		  "\"#n0\":\"a\",\"#n1\":\"b\",\"#n2\":\"c\" | " },
		{ "a is present or b is absent",
		  "attribute_exists(#n0) OR attribute_not_exists(#n1) | "
		  "\"#n0\":\"a\",\"#n1\":\"b\" | " },
		{ "not (a is present and b is present)",
		  "NOT (attribute_exists(#n0) AND attribute_exists(#n1)) | "
		  "\"#n0\":\"a\",\"#n1\":\"b\" | " },
		{ "a in ('x', b)", "#n0 IN (:v0, #n1) | \"#n0\":\"a\",\"#n1\":\"b\" | "
				   "\":v0\":{\"S\":\"x\"}" },
		{ "a between 1 and 2", "#n0 BETWEEN :v0 AND :v1 | \"#n0\":\"a\" | "
				       "\":v0\":{\"N\":\"1\"},\":v1\":{\"N\":\"2\"}" },
		{ "a begins with 'x'",
		  "begins_with(#n0, :v0) | \"#n0\":\"a\" | \":v0\":{\"S\":\"x\"}" },
		{ "a contains lower('X')",
		  "contains(#n0, :v0) | \"#n0\":\"a\" | \":v0\":{\"S\":\"x\"}" },
		{ "size(a) > 2 * 2", "size(#n0) > :v0 | \"#n0\":\"a\" | \":v0\":{\"N\":\"4\"}" },
		{ "size(a) is present", "size(#n0) >= :v0 | \"#n0\":\"a\" | \":v0\":{\"N\":\"0\"}" },
		{ "at < now",
		  "#n0 < :v0 | \"#n0\":\"at\" | \":v0\":{\"S\":\"2026-11-15T12:00:00Z\"}" },
		{ "at >= days_ago(1)",
		  "#n0 >= :v0 | \"#n0\":\"at\" | \":v0\":{\"S\":\"2026-11-14T12:00:00Z\"}" },
		{ "author = caller", "#n0 = :v0 | \"#n0\":\"author\" | \":v0\":{\"S\":\"alice\"}" },
		{ "a = input.q", "#n0 = :v0 | \"#n0\":\"a\" | \":v0\":{\"S\":\"Q\"}" },
		{ "age > User('x').age", "#n0 > :v0 | \"#n0\":\"age\" | \":v0\":{\"N\":\"7\"}" },
		/* what is known leaves nothing behind */
		{ "caller is editor or a is present", "attribute_exists(#n0) | \"#n0\":\"a\" | " },
		{ "a is present and caller is admin", "attribute_exists(#n0) | \"#n0\":\"a\" | " },
		{ "b is absent and (a = 1 or caller is admin)",
		  "attribute_not_exists(#n0) | \"#n0\":\"b\" | " },
		{ "b is absent or (a = 1 and caller is editor)",
		  "attribute_not_exists(#n0) | \"#n0\":\"b\" | " },
		{ "a = 1 or anyone", "attribute_not_exists(#n0) | \"#n0\":\"thorpe:none\" | " },
		{ "a = 1 and nobody", "attribute_not_exists(#n0) AND attribute_exists(#n1) | "
				      "\"#n0\":\"thorpe:none\",\"#n1\":\"thorpe:none\" | " },
		{ "not (a = 1 and nobody)",
		  "attribute_not_exists(#n0) | \"#n0\":\"thorpe:none\" | " },
		{ "a = a", "attribute_exists(#n0) | \"#n0\":\"a\" | " },
		{ "a in (1, input.gone, a)", "attribute_exists(#n0) | \"#n0\":\"a\" | " },
		{ "x is present or a < true", "attribute_exists(#n0) | \"#n0\":\"x\" | " },
		{ "x is present or a between 5 and 1", "attribute_exists(#n0) | \"#n0\":\"x\" | " },
		{ "x is present or a begins with 5", "attribute_exists(#n0) | \"#n0\":\"x\" | " },
		{ "x is present and a <> input.gone", "attribute_exists(#n0) | \"#n0\":\"x\" | " },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(cases[i].text, filtered(cases[i].text, "alice"), cases[i].expression);
}

static void says_why_it_cannot(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *why, *part;
	} cases[] = {
		{ "x = 1 and a + 1 > 2", "no: DynamoDB does not add in a filter", "a + 1" },
		{ "a - b > 2", "no: DynamoDB does not subtract", "a - b" },
		{ "a * 2 > 2", "no: DynamoDB does not multiply", "a * 2" },
		{ "2 / a > 2", "no: DynamoDB does not divide", "2 / a" },
		{ "-a > 2", "no: DynamoDB does not negate", "-a" },
		{ "lower(a) = 'x'", "no: DynamoDB has no lower()", "lower(a)" },
		{ "words(a) contains 'x'", "no: DynamoDB cannot split", "words(a)" },
		{ "first 3 of a = 'x'", "no: DynamoDB cannot take the first part", "first 3 of a" },
		{ "date(a) = today", "no: DynamoDB has no date()", "date(a)" },
		{ "max(a, 3) > 4", "no: DynamoDB has no max()", "max(a, 3)" },
		{ "size(lower(a)) > 4", "no: DynamoDB takes the size of an attribute only",
		  "size(lower(a))" },
		{ "not exists Follow(caller, a)", "no: a filter sees one item and cannot look for",
		  "exists Follow(caller, a)" },
		{ "visible Post(a)", "no: a filter sees one item", "visible Post(a)" },
		{ "a > power(b, 2)", "no: DynamoDB has no power()", "power(b, 2)" },
		{ "a > days_ago(b)", "no: DynamoDB cannot count days", "days_ago(b)" },
		{ "choose(a = 1, 2, 3) = 2", "no: DynamoDB has no choose()", "choose(a = 1, 2, 3)" },
		{ "User(a).x = 1", "no: a filter sees one item and cannot read", "User(a).x" },
		{ "caller may a", "no: whether the caller may do something", "caller may a" },
		{ "(a = 1) = b", "no: DynamoDB cannot compare the outcome", "a = 1" },
		{ "slug(a)", "no: DynamoDB has no slug()", "slug(a)" },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *got = filtered(cases[i].text, "alice"), *why;

		if (strncmp(got, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("%s: %s", cases[i].text, got);
		expect(cases[i].text, term_text(term_unfilterable(parsed(cases[i].text), &why)), cases[i].part);
	}
	expect("error", filtered("a = 1 and (b = 2 or c in (3, 'x' + 1))", "alice"),
	       "no: Only numbers can be added, and one of these is of type S");
}

static void stays_within_dynamodbs_limits(void **state)
{
	struct buf b;

	buf_init(&b, &arena);
	buf_lit(&b, "a in (1");
	for (int i = 0; i < 100; i++)
		buf_lit(&b, ", 2");
	buf_lit(&b, ")");
	expect("in", filtered(arena_cstr(&arena, buf_slice(&b)), ""), "no: DynamoDB takes at most 100 values after in");
	buf_init(&b, &arena);
	buf_lit(&b, "a");
	for (int i = 0; i < 200; i++)
		buf_lit(&b, " or a");
	expect("operators", filtered(arena_cstr(&arena, buf_slice(&b)), ""),
	       "no: DynamoDB takes at most 300 operators in an expression");
}

static void several_are_joined(void **state)
{
	struct world w = world_of(VALUE_ABSENT);
	struct term_scope s = world_scope(&w, "alice");
	const struct test *all = test_attribute(&arena, TEST_EXISTS, SLICE("PK"), VALUE_ABSENT), *test;
	struct error e;
	const char *why;

	assert_true(term_to_test(parsed("a = 1 or b"), &s, &test, &why, &e));
	all = test_join(&arena, TEST_AND, all, test);
	assert_true(term_to_test(parsed("not c"), &s, &test, &why, &e));
	all = test_join(&arena, TEST_AND, all, test);
	expect("text", arena_cstr(&arena, buf_slice(&(struct buf){ .p = print(all).text.p, .n = print(all).text.n })),
	       "attribute_exists(#n0) AND (#n1 = :v0 OR #n2 = :v1) AND NOT #n3 = :v2");
}

/* ---- the same meaning ---- */

static const char *const values[] = {
	"{'S':'a'}",
	"{'S':'ab'}",
	"{'S':''}",
	"{'N':'1'}",
	"{'N':'2'}",
	"{'N':'-1.5'}",
	"{'BOOL':true}",
	"{'BOOL':false}",
	"{'NULL':true}",
	"{'L':[{'S':'a'},{'N':'1'}]}",
	"{'SS':['a','b']}",
	"{'NS':['1','2']}",
	"{'M':{'k':{'S':'a'}}}",
	"{'B':'YQ=='}",
};
static const char *const names[] = { "a", "b", "c" };

static struct value random_item(uint64_t *seed)
{
	struct buf b;
	bool any = false;

	buf_init(&b, &arena);
	buf_lit(&b, "{");
	for (size_t i = 0; i < COUNT(names); i++) {
		if (next_random(seed) % 5 == 0)
			continue;
		buf_printf(&b, "%s'%s':%s", any ? "," : "", names[i], values[next_random(seed) % COUNT(values)]);
		any = true;
	}
	buf_lit(&b, "}");
	return item(arena_cstr(&arena, buf_slice(&b)));
}

static void random_operand(struct buf *b, uint64_t *seed)
{
	static const char *const known[] = { "'a'",    "'ab'",    "1",   "2",     "true",       "null",
					     "caller", "other.x", "now", "1 + 1", "size('ab')", "''" };
	uint32_t r = next_random(seed) % 8;

	if (r == 0)
		buf_printf(b, "size(%s)", names[next_random(seed) % COUNT(names)]);
	else
		buf_str(b, r < 5 ? names[next_random(seed) % COUNT(names)] : known[next_random(seed) % COUNT(known)]);
}

static void random_comparison(struct buf *b, uint64_t *seed)
{
	static const char *const signs[] = { " = ",       " <> ",  " < ",           " <= ",
					     " > ",       " >= ",  " begins with ", " contains ",
					     " between ", " in (", " is present",   " is absent" };
	uint32_t r = next_random(seed) % COUNT(signs);

	random_operand(b, seed);
	buf_str(b, signs[r]);
	if (r < 10)
		random_operand(b, seed);
	if (r == 8)
		buf_lit(b, " and ");
	if (r == 9)
		buf_lit(b, ", ");
	if (r == 8 || r == 9)
		random_operand(b, seed);
	if (r == 9)
		buf_lit(b, ")");
}

static void random_condition(struct buf *b, uint64_t *seed, int depth)
{
	static const char *const known[] = { "caller is admin", "caller is editor", "nobody", "anyone",
					     "size(a)",         "other.x",          "true" };
	uint32_t r = next_random(seed) % 12;

	if (depth == 0 || r < 4) {
		random_comparison(b, seed);
	} else if (r == 4) {
		buf_str(b, names[next_random(seed) % COUNT(names)]);
	} else if (r == 5) {
		buf_str(b, known[next_random(seed) % COUNT(known)]);
	} else {
		buf_str(b, r < 8 ? "not (" : "(");
		random_condition(b, seed, depth - 1);
		if (r >= 8) {
			buf_str(b, r < 10 ? " and " : " or ");
			random_condition(b, seed, depth - 1);
		}
		buf_lit(b, ")");
	}
}

/* DynamoDB takes the text. */
static const struct condition *compiled(const char *text, const struct text *f)
{
	struct slice n = arena_printf(&arena, "{%.*s}", SLICE_ARG(buf_slice(&f->names)));
	struct slice v = arena_printf(&arena, "{%.*s}", SLICE_ARG(buf_slice(&f->values)));
	const struct condition *c = NULL;
	struct expr_bindings *b = NULL;
	struct error e = { 0 };

	if (!expr_bindings_new(&arena, NULL, f->names.n ? json_parse(&arena, n) : NULL,
			       f->values.n ? json_parse(&arena, v) : NULL, &b, &e) ||
	    !condition_compile(b, FILTER_EXPRESSION, buf_slice(&f->text), &c, &e) || !expr_bindings_check_used(b, &e))
		fail_msg("%s\n  becomes %.*s: %.*s", text, SLICE_ARG(buf_slice(&f->text)), SLICE_ARG(e.message));
	return c;
}

static void means_the_same_as_the_term(void **state)
{
	uint64_t seed = 5;
	int yes = 0, no = 0;

	for (int i = 0; i < 6000; i++) {
		struct world w = world_of(VALUE_ABSENT);
		struct term_scope s = world_scope(&w, i % 3 ? "a" : "");
		const struct condition *c, *made;
		const struct test *test;
		struct text f;
		struct error e = { 0 };
		const struct term *t;
		const char *why, *text;
		struct buf b;

		buf_init(&b, &arena);
		random_condition(&b, &seed, 4);
		text = arena_cstr(&arena, buf_slice(&b));
		t = parsed(text);
		if (!term_to_test(t, &s, &test, &why, &e))
			fail_msg("%s: %s", text, why ? why : arena_cstr(&arena, e.message));
		made = condition(test);
		f = print(test);
		c = compiled(text, &f);
		for (int k = 0; k < 8; k++) {
			bool holds;

			world_has(&w, k ? random_item(&seed) : VALUE_ABSENT);
			assert_true(term_holds(t, &s, &holds, &e));
			if (condition_holds(c, w.item.full, &arena) != holds ||
			    condition_holds(made, w.item.full, &arena) != holds)
				fail_msg("%s\n  becomes %.*s\n  and differs on %s", text, SLICE_ARG(buf_slice(&f.text)),
					 printed(w.item.full));
			yes += holds;
			no += !holds;
		}
		arena_clear(&arena);
	}
	assert_true(yes > 5000 && no > 5000);
}

static void survives_any_failing_allocation(void **state)
{
	static const char text[] = "caller is editor or not (a in ('x', b, 1 + 1) and "
				   "(c between c and 5 or d begins with lower('X')))";
	bool done = false;

	for (long n = 0; !done; n++) {
		struct arena a;

		arena_init(&a);
		alloc_fail_after(n);
		ARENA_TRY(&a, {
			struct findings f;
			struct term_scope s = { .arena = &a };
			const struct test *test;
			const struct term *t;
			const char *why;
			struct error e;

			findings_init(&f, &a);
			t = term_parse(&a, slice_str(text), (struct place){ 1, 1, 0 }, &f);
			assert_true(term_to_test(t, &s, &test, &why, &e));
			done = !alloc_has_failed();
		}, {});
		alloc_fail_never();
		arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(becomes_an_expression), TEST(says_why_it_cannot),         TEST(stays_within_dynamodbs_limits),
		TEST(several_are_joined),    TEST(means_the_same_as_the_term), TEST(survives_any_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
