/* Projections: which parts of an item they show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#define ITEM                                                                                      \
	"{'l':{'L':[{'S':'a'},{'S':'b'},{'S':'c'}]},'m':{'M':{'x':{'N':'1'},'y':{'M':{'z':{'S':'" \
	"q'}}}}},"                                                                                \
	"'nn':{'L':[{'M':{'a':{'S':'0'}}},{'M':{'a':{'S':'1'},'b':{'S':'2'}}}]},'s':{'S':'v'}}"

static const char *project(const char *text)
{
	struct expr_bindings *b = bindings("{'#a':'a','#s':'s'}", NULL);
	const char *prefix = "Invalid ProjectionExpression: ";
	const struct projection *p;
	struct error e = { 0 };

	if (projection_compile(b, slice_str(text), &p, &e))
		return printed(projection_apply(p, item(ITEM), &arena));
	assert_true(slice_starts(e.message, slice_str(prefix)));
	return message(&e) + strlen(prefix);
}

static void parts_keep_their_shape(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "s", "{'s':{'S':'v'}}" },
		{ "#s, zz", "{'s':{'S':'v'}}" },
		{ "zz", "{}" },
		{ "l[2],l[0]", "{'l':{'L':[{'S':'a'},{'S':'c'}]}}" },
		{ "l[9]", "{}" },
		{ "l[9], l[1], l[0], l[7]", "{'l':{'L':[{'S':'a'},{'S':'b'}]}}" },
		{ "zz, aa, s, m.x, m.a, kk", "{'m':{'M':{'x':{'N':'1'}}},'s':{'S':'v'}}" },
		{ "m.y.z", "{'m':{'M':{'y':{'M':{'z':{'S':'q'}}}}}}" },
		{ "m.zz", "{}" },
		{ "s.q", "{}" },
		{ "l.q", "{}" },
		{ "m[0]", "{}" },
		{ "nn[0], nn[1].b", "{'nn':{'L':[{'M':{'a':{'S':'0'}}},{'M':{'b':{'S':'2'}}}]}}" },
		{ "nn[0].zz, nn[1].b", "{'nn':{'L':[{'M':{'b':{'S':'2'}}}]}}" },
		{ "s, m.x", "{'m':{'M':{'x':{'N':'1'}}},'s':{'S':'v'}}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, project(rows[i].text), rows[i].wanted);
}

#define OVERLAP(one, two)                                                                         \
	"Two document paths overlap with each other; must remove or rewrite one of these paths; " \
	"path one: " one ", path two: " two

static void wrong_projections_are_refused_with_the_reason(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "The expression can not be empty;" },
		{ "a,", "Syntax error; token: \"<EOF>\", near: \",\"" },
		{ "(a)", "Syntax error; token: \"(\", near: \"(a\"" },
		{ "foo(a)", "Syntax error; token: \"(\", near: \"foo(a\"" },
		{ "a-b", "Syntax error; token: \"-\", near: \"a-b\"" },
		{ ":s", "Syntax error; token: \":s\", near: \":s\"" },
		{ "select", "Attribute name is a reserved keyword; reserved keyword: select" },
		{ "#zz, status", "Attribute name is a reserved keyword; reserved keyword: status" },
		{ "a, #zz", "An expression attribute name used in the document path is not "
			    "defined; attribute "
			    "name: #zz" },
		{ "a, a.b", OVERLAP("[a]", "[a, b]") },
		{ "a.b, a", OVERLAP("[a, b]", "[a]") },
		{ "#a, a", OVERLAP("[a]", "[a]") },
		{ "#zz, b, b", OVERLAP("[b]", "[b]") },
		{ "b, b, #zz", "An expression attribute name used in the document path is not "
			       "defined; attribute "
			       "name: #zz" },
		{ "a.b, a[0]", "Two document paths conflict with each other; must remove or "
			       "rewrite one of these "
			       "paths; path one: [a, b], path two: [a, [0]]" },
		{ "a[99999999999]",
		  "List index is not within the allowable range; index: [99999999999]" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, project(rows[i].text), rows[i].wanted);
}

static void names_project_whole_attributes(void **state)
{
	const struct slice names[] = { SLICE("x.y"), SLICE("a"), SLICE("a") };
	const struct projection *p = projection_of_names(&arena, names, 3);
	const struct path *paths;

	(void)state;
	assert_int_equal(projection_paths(p, &paths), 3);
	expect("names", printed(projection_apply(p, item("{'x.y':{'N':'1'},'a':{'N':'2'},'b':{'N':'3'}}"), &arena)),
	       "{'a':{'N':'2'},'x.y':{'N':'1'}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_keep_their_shape),
		TEST(wrong_projections_are_refused_with_the_reason),
		TEST(names_project_whole_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
