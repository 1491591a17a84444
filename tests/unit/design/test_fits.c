/* What strings of a form look like, what fits into an address, and what values an attribute takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#include "design/term/fits.h"
#include "design/term/term_text.h"

static void expect_form(enum attr_form form, const char *text, bool good)
{
	struct attribute a = { .type = ATTR_STRING, .form = form };

	if ((attribute_form_misses(&a, slice_str(text)) == NULL) != good)
		fail_msg("%s", text);
}

static void strings_have_their_form(void **state)
{
	static const char *const emails[] = { "ann@example.com", "a.b+c@x-y.example", "o'hara@localhost", NULL };
	static const char *const no_emails[] = { "nope",      "@x.org",    "a@",
						 "a@x..org",  "a@-x.org",  "a b@x.org",
						 "a@b@c.org", "a@x.org\n", "a@ex\xc3\xa4mple.org",
						 "",          NULL };
	static const char *const urls[] = { "https://example.com", "HTTP://example.com:80/a?b=c#d",
					    "https://\xc3\xa4.example/\xc3\xb6", NULL };
	static const char *const no_urls[] = { "javascript:alert(1)",
					       "//example.com",
					       "https://",
					       "https:///x",
					       "ftp://x.org",
					       "/a/b",
					       "https://x.org/a b",
					       "https://x.org/\"><script>",
					       "https://x.org/\xe2\x80\xae",
					       "x",
					       "data:,x",
					       " https://x.org",
					       "https://user@",
					       "",
					       NULL };
	static const char *const slugs[] = { "a", "a-b-2", "\xd0\xb6-1", NULL };
	static const char *const no_slugs[] = { "-a", "a-", "a--b", "a b",       "a/b", "a.b",
						"..", "",   "a_b",  "e\xcc\x81", NULL };
	static const char *const names[] = { "ann", "john_doe", "a.b", "a-b-", "\xc3\xa9mile", "x1", NULL };
	static const char *const no_names[] = { ".",
						"..",
						".a",
						"a.",
						"-a",
						"_a",
						"ann@x.org",
						"a b",
						"a/b",
						"e\xcc\x81mile",
						"a\xe2\x80\x8b"
						"b",
						"a\xe2\x80\xae"
						"b",
						"",
						NULL };
	static const struct {
		enum attr_form form;
		const char *const *good, *const *bad;
	} cases[] = { { FORM_EMAIL, emails, no_emails },
		      { FORM_URL, urls, no_urls },
		      { FORM_SLUG, slugs, no_slugs },
		      { FORM_NAME, names, no_names } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = 0; cases[i].good[k]; k++)
			expect_form(cases[i].form, cases[i].good[k], true);
		for (size_t k = 0; cases[i].bad[k]; k++)
			expect_form(cases[i].form, cases[i].bad[k], false);
	}
}

static void a_form_may_be_empty_where_the_range_says_so(void **state)
{
	struct attribute a = { .type = ATTR_STRING, .form = FORM_URL, .has_min = true };

	(void)state;
	assert_null(attribute_form_misses(&a, SLICE("")));
	a.min = 1;
	assert_non_null(attribute_form_misses(&a, SLICE("")));
}

static void addresses_take_what_can_be_seen_and_typed(void **state)
{
	static const char *const good[] = { "a", "a b", "a.b", "...", "a:b", "\xe2\x98\x83", "a@b", "", NULL };
	static const char *const bad[] = { ".",
					   "..",
					   "a/b",
					   "a\\b",
					   " a",
					   "a ",
					   "a\n",
					   "a\x7f",
					   "a\xe2\x80\x8b",
					   "\xef\xbb\xbf"
					   "a",
					   "a\xe2\x80\xae"
					   "b",
					   "a\xc2\xa0"
					   "b",
					   "\xc2\xad",
					   "a\xff",
					   NULL };

	(void)state;
	for (size_t i = 0; good[i]; i++)
		if (address_misses(slice_str(good[i])))
			fail_msg("%s", good[i]);
	for (size_t i = 0; bad[i]; i++)
		if (!address_misses(slice_str(bad[i])))
			fail_msg("%s", bad[i]);
	assert_non_null(address_misses(slice_make("a\0b", 3)));
}

static void a_slug_of_accents_in_either_spelling_is_one(void **state)
{
	(void)state;
	SLICE_IS(text_slug(&arena, SLICE("Cr\xc3\xa8me")), "creme");
	SLICE_IS(text_slug(&arena, SLICE("Cre\xcc\x80me")), "creme");
	SLICE_IS(text_slug(&arena, SLICE("a\xe2\x80\x8b\xef\xbb\xbf"
					 "b")),
		 "a-b");
}

static void types_of_a_form_have_a_maximum_of_their_own(void **state)
{
	const struct design *d = load_well(
		"design: d\ntable: Tab\nkey: [PK]\nentities:\n  A:\n    path: /a/<id>\n    keys: {PK: A#<id>}\n"
		"    attributes: {id: string, e: email, u: url 0..9, s: slug, n: name 3.., l: list of email 0..3}\n");
	const struct entity *a = design_entity(d, SLICE("A"));

	(void)state;
	assert_true(entity_attribute(a, SLICE("id"))->in_address);
	assert_false(entity_attribute(a, SLICE("e"))->in_address);
	assert_int_equal(entity_attribute(a, SLICE("e"))->max, 254);
	assert_int_equal(entity_attribute(a, SLICE("u"))->max, 9);
	assert_int_equal(entity_attribute(a, SLICE("n"))->max, 64);
	assert_int_equal(entity_attribute(a, SLICE("l"))->max, 3);
	assert_int_equal(entity_attribute(a, SLICE("l"))->form, FORM_EMAIL);
	expect_error("design: d\ntable: Tab\nkey: [PK]\nentities:\n  A:\n    path: /a/<id>\n    keys: {PK: A#<id>}\n"
		     "    attributes: {«id»: string 1..29, id 'usr_'}\n",
		     "out-of-range", "an id that is made has 30 characters, and at most 29");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(strings_have_their_form, begin, end),
		cmocka_unit_test_setup_teardown(a_form_may_be_empty_where_the_range_says_so, begin, end),
		cmocka_unit_test_setup_teardown(addresses_take_what_can_be_seen_and_typed, begin, end),
		cmocka_unit_test_setup_teardown(a_slug_of_accents_in_either_spelling_is_one, begin, end),
		cmocka_unit_test_setup_teardown(types_of_a_form_have_a_maximum_of_their_own, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
