/* Patterns: what matches, what is none, and what takes too long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#include <time.h>

#include "design/term/fits.h"
#include "design/term/regex.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static const struct regex *compiled(const char *text)
{
	const char *why;
	size_t at;
	const struct regex *x = regex_compile(&arena, slice_str(text), &why, &at);

	if (!x)
		fail_msg("%s: %s at %zu", text, why, at);
	return x;
}

static void patterns_cover_the_whole_text(void **state)
{
	static const struct {
		const char *pattern, *text;
		enum regex_result result;
	} cases[] = {
		{ "[A-Z]{3}-[0-9]+", "ABC-12", REGEX_YES },
		{ "[A-Z]{3}-[0-9]+", "xABC-12", REGEX_NO },
		{ "[A-Z]{3}-[0-9]+", "ABC-12x", REGEX_NO },
		{ "[A-Z]{3}-[0-9]+", "ABC-12\n", REGEX_NO },
		{ "a+$", "aa\n", REGEX_NO },
		{ "a|ab", "ab", REGEX_YES },
		{ "a|ab", "abc", REGEX_NO },
		{ "(?m)^a$", "b\na", REGEX_NO },
		{ ".", "ä", REGEX_YES },
		{ ".", "😀", REGEX_YES },
		{ ".", "\n", REGEX_NO },
		{ ".", "\r", REGEX_YES },
		{ ".*", "", REGEX_YES },
		{ "", "", REGEX_YES },
		{ "", "a", REGEX_NO },
		{ "\\d+", "12", REGEX_YES },
		{ "\\d", "٣", REGEX_NO },
		{ "\\w", "é", REGEX_NO },
		{ "\\p{L}+", "Größe", REGEX_YES },
		{ "(?i)straße", "STRASSE", REGEX_NO },
		{ "(?i)grün", "GRÜN", REGEX_YES },
		{ "(a)\\1", "aa", REGEX_YES },
		{ ".", "\xff", REGEX_NO },
		/* catastrophic elsewhere */
		{ "(a+)+b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", REGEX_UNDECIDED },
		{ "(a|a)*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", REGEX_UNDECIDED },
		{ "(.*)*x(.*)*y(.*)*z", "xxxxxxxxxxxxxyyyyyyyyyyyyyyxxxxxxxxxxxxxxxxxx", REGEX_UNDECIDED },
		{ "(?=(a+)+$)a*c", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", REGEX_UNDECIDED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		clock_t begun = clock();
		enum regex_result r = regex_match(compiled(cases[i].pattern), slice_str(cases[i].text));

		/* A no in a few steps is as good. */
		if (r != cases[i].result && !(cases[i].result == REGEX_UNDECIDED && r == REGEX_NO))
			fail_msg("%s: %d", cases[i].pattern, r);
		if (clock() - begun > CLOCKS_PER_SEC)
			fail_msg("%s takes long", cases[i].pattern);
	}
}

/* Not only those that would take years: this one takes a second without a bound. */
static void matching_ends_after_some_steps(void **state)
{
	(void)state;
	assert_int_equal(regex_match(compiled("(a|a)*"), slice_str("aaaaaaaaaaac")), REGEX_NO);
	assert_int_equal(regex_match(compiled("(a|a)*"), slice_str("aaaaaaaaaaaaaaaaaaaaac")), REGEX_UNDECIDED);
}

/* Four hundred kilobytes are the longest text of an item. */
static void long_texts_are_bounded(void **state)
{
	static const char *const patterns[] = { "a*",      "(a|b)*", "(?:a|aa)*c", "(a*)*b",
						".*.*.*x", "(?R)?a", "(a(?1)?b)*" };
	size_t n = 400 << 10;
	char *text = arena_alloc(&arena, n);

	memset(text, 'a', n);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		clock_t begun = clock();

		(void)regex_match(compiled(patterns[i]), slice_make(text, n));
		if (clock() - begun > 2 * CLOCKS_PER_SEC)
			fail_msg("%s takes %ld", patterns[i], (long)(clock() - begun));
	}
	assert_int_equal(regex_match(compiled("a*"), slice_make(text, n)), REGEX_YES);
}

static void what_is_no_pattern_is_told(void **state)
{
	/* Positions and some sentences are those of the library's version. */
	static const struct {
		const char *pattern, *why;
	} cases[] = {
		{ "a(b", "missing closing parenthesis" },
		{ "[a", "missing terminating ] for character class" },
		{ "*a", "quantifier does not follow a repeatable item" },
		{ "\\C", "using \\C is disabled by the application" },
		{ "a{2,1}", "numbers out of order in {} quantifier" },
	};
	const char *why;
	size_t at;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_null(regex_compile(&arena, slice_str(cases[i].pattern), &why, &at));
		assert_string_equal(why, cases[i].why);
		assert_true(at <= strlen(cases[i].pattern));
	}
	char *text = arena_alloc(&arena, REGEX_MOST + 1);
	memset(text, 'a', REGEX_MOST + 1);
	assert_null(regex_compile(&arena, slice_make(text, REGEX_MOST + 1), &why, &at));
	assert_non_null(regex_compile(&arena, slice_make(text, REGEX_MOST), &why, &at));
	memset(text, '(', 200);
	memset(text + 200, ')', 200);
	assert_null(regex_compile(&arena, slice_make(text, 400), &why, &at));
}

static void some_are_javascript_too(void **state)
{
	static const char *const portable[] = {
		"[A-Z]{3}-[0-9]+",   "a|b(?:c|d)*", "\\d+\\.\\w*?", "[^a-z\\]\\-]", "(?<year>\\d)",
		"(?=a)(?!b)(?<!c)d", "ä+",          "a+?",          "x{2,}?",       NULL
	};
	static const char *const others[] = { "a++",    "a*+",   "a{2}+",   "(?>a)",    "(?i)a",   "[[:alpha:]]",
					      "\\p{L}", "\\A",   "(*UCP)a", "(?P<n>a)", "\\Qa\\E", "[]a]",
					      "[^]a]",  "(?R)",  "\\x{41}", "(?#a)",    "]",       "a{,3}",
					      "\\h",    "[\\b]", NULL };

	for (size_t i = 0; portable[i]; i++)
		if (!regex_is_portable(compiled(portable[i])))
			fail_msg("%s", portable[i]);
	for (size_t i = 0; others[i]; i++)
		if (regex_is_portable(compiled(others[i])))
			fail_msg("%s", others[i]);
}

#define HEAD                                                                                                    \
	"design: shop\ntable: Shop\nkey: [PK, SK]\nentities:\n  Thing:\n    path: /things/<id>\n"               \
	"    keys: {PK: T#<id>, SK: T}\n    allow: {create, read: anyone}\n    attributes:\n      id: string\n" \
	"      n: number\n      t: string\n"

static void attributes_have_patterns(void **state)
{
	const struct design *d = load_well(HEAD "      a: string 1..20 matches '[A-Z]{2,3}|it''s, (x)', required\n"
						"      b: list of string 0..5 matches 'a|b'\n"
						"      c: text, matches 'x\\d+', default 'x1'\n"
						"      d: = t matches 'a, b|c' and n > 1\n"
						"      e: string, when t matches 'x, y'\n"
						"    check: {not (t matches '.*#.*'): no number sign}\n");
	const struct entity *e = design_entity(d, SLICE("Thing"));
	const struct attribute *a = entity_attribute(e, SLICE("a")), *b = entity_attribute(e, SLICE("b"));

	assert_true(slice_is(regex_text(a->matches), "[A-Z]{2,3}|it's, (x)"));
	assert_true(a->required && a->has_max && a->max == 20);
	assert_null(attribute_form_misses(a, SLICE("AB")));
	assert_null(attribute_form_misses(a, SLICE("it's, x")));
	assert_string_equal(attribute_form_misses(a, SLICE("ab")), "a text that matches [A-Z]{2,3}|it's, (x)");
	assert_int_equal(b->type, ATTR_LIST);
	assert_non_null(attribute_form_misses(b, SLICE("ab")));
	assert_int_equal(entity_attribute(e, SLICE("d"))->type, ATTR_BOOLEAN);
}

static void wrong_patterns_are_errors_with_their_place(void **state)
{
	expect_error(HEAD "      a: string matches «'[A-Z'»\n", "bad-pattern",
		     "missing terminating ] for character class, at character");
	expect_error(HEAD "      a: string, matches «'a('»\n", "bad-pattern", "missing closing parenthesis");
	expect_error(HEAD "      a: string, «matches abc»\n", "wrong-value", "expected a pattern in quotes");
	expect_error(HEAD "      «a»: number, matches '1'\n", "wrong-clause", "'matches' is for strings");
	expect_error(HEAD "      a: string matches 'a', «matches 'b'»\n", "duplicate-key", "here twice");
	expect_error(HEAD "      a: string matches 'a+', default «'b'»\n", "wrong-type",
		     "a text that matches a+ is expected");
	expect_error(HEAD "      a: string, «pattern» 'a'\n", "unknown-clause", "write matches");
	expect_error(HEAD "      a: = t matches «'a)'»\n", "bad-pattern", "unmatched closing parenthesis");
	expect_error(HEAD "      a: = t matches «n»\n", "bad-term", "a pattern in quotes");
	expect_error(HEAD "      a: = «n» matches 'a'\n", "wrong-type", "only texts match a pattern");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(patterns_cover_the_whole_text),
		TEST(matching_ends_after_some_steps),
		TEST(long_texts_are_bounded),
		TEST(what_is_no_pattern_is_told),
		TEST(some_are_javascript_too),
		TEST(attributes_have_patterns),
		TEST(wrong_patterns_are_errors_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
