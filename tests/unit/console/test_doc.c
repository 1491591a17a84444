/* Documents written member by member.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "console/doc.h"

static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void assert_text(const struct buf *b, const char *expected)
{
	assert_string_equal(arena_cstr(&arena, buf_slice(b)), expected);
}

static void commas_stand_between_and_nowhere_else(void **state)
{
	struct slice two[] = { SLICE("x"), SLICE("y") };
	struct buf b;

	(void)state;
	buf_init(&b, &arena);
	json_open(&b, '{');
	json_name(&b, "none");
	json_open(&b, '['), json_close(&b, ']');
	doc_member_texts(&b, "two", two, 2);
	json_name(&b, "in");
	json_open(&b, '{'), json_member_int(&b, "n", -1), json_member_bool(&b, "is", true), json_close(&b, '}');
	doc_member_or_null(&b, "absent", (struct slice){ 0 });
	doc_member_str(&b, "last", "");
	json_close(&b, '}');
	assert_text(&b,
		    "{\"none\":[],\"two\":[\"x\",\"y\"],\"in\":{\"n\":-1,\"is\":true},\"absent\":null,\"last\":\"\"}");
}

/* The comma is read off the last byte: a text that ends like structure must not be taken for it. */
static void texts_that_look_like_structure_are_texts(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, &arena);
	json_open(&b, '[');
	doc_text(&b, SLICE("{"));
	doc_text(&b, SLICE("a:"));
	doc_text(&b, SLICE("[\""));
	json_close(&b, ']');
	assert_text(&b, "[\"{\",\"a:\",\"[\\\"\"]");
}

static void invalid_utf8_becomes_question_marks(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, &arena);
	json_open(&b, '[');
	doc_text(&b, SLICE("gr\xc3\xbc\xc3\x9f"
			   "e"));
	doc_text(&b, SLICE("a\xff"
			   "b\xc3"));
	json_close(&b, ']');
	assert_text(&b, "[\"gr\xc3\xbc\xc3\x9f"
			"e\",\"a?b?\"]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(commas_stand_between_and_nowhere_else, setup, teardown),
		cmocka_unit_test_setup_teardown(texts_that_look_like_structure_are_texts, setup, teardown),
		cmocka_unit_test_setup_teardown(invalid_utf8_becomes_question_marks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
