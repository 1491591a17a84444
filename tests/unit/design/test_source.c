/* Findings as a compiler and as a machine show them, and what was probably meant.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"
#include "json/json.h"

static void findings_show_the_line(void **state)
{
	struct finding *f;
	struct buf b;

	(void)state;
	source = (struct source){ SLICE("d.yaml"), SLICE("a: b\n\té query: GSI9\r\nlast") };
	findings_init(&findings, &arena);
	findings_add(&findings, SEVERITY_NOTE, "z", (struct place){ 3, 9, 0 }, "%s", "beyond");
	f = findings_add(&findings, SEVERITY_ERROR, "unknown-index", (struct place){ 2, 11, 4 }, "no index %s", "GSI9");
	f->why = SLICE("Because.");
	f->repair = SLICE("Do.");
	findings_add(&findings, SEVERITY_WARNING, "b", (struct place){ 0 }, "of all");
	findings_sort(&findings);
	assert_int_equal(findings_errors(&findings), 1);
	buf_init(&b, &arena);
	findings_print(&b, &findings, &source);
	buf_byte(&b, '\0');
	assert_string_equal(b.p, "d.yaml: warning: of all [b]\n"
				 "d.yaml:2:11: error: no index GSI9 [unknown-index]\n"
				 "    2 | \té query: GSI9\n"
				 "      | \t         ^~~~\n"
				 "  why: Because.\n"
				 "  repair: Do.\n"
				 "d.yaml:3:9: note: beyond [z]\n"
				 "    3 | last\n"
				 "      |     ^\n");
}

static void long_lines_are_cut(void **state)
{
	struct buf b, line;

	(void)state;
	buf_init(&line, &arena);
	for (int i = 0; i < 1000; i++)
		buf_lit(&line, "é");
	source = (struct source){ SLICE("d"), buf_slice(&line) };
	findings_init(&findings, &arena);
	findings_add(&findings, SEVERITY_ERROR, "x", (struct place){ 1, 150, 500 }, "x");
	buf_init(&b, &arena);
	findings_print(&b, &findings, &source);
	assert_true(b.n < 2000);
}

static void json_is_json_whatever_the_text(void **state)
{
	const struct json *j;
	struct buf b;

	(void)state;
	source = (struct source){ SLICE("\xff.yaml"), SLICE("") };
	findings_init(&findings, &arena);
	buf_init(&b, &arena);
	findings_json(&b, &findings, &source);
	assert_true(slice_is(buf_slice(&b), "[]\n"));
	findings_add(&findings, SEVERITY_ERROR, "r", (struct place){ 1, 2, 3 }, "a \"b\" \xc3\xa9 \xc3 c");
	findings_add(&findings, SEVERITY_NOTE, "s", (struct place){ 4, 5, 6 }, "t");
	buf_init(&b, &arena);
	findings_json(&b, &findings, &source);
	j = json_parse(&arena, buf_slice(&b));
	assert_true(json_is(j, JSON_ARRAY));
	assert_int_equal(j->count, 2);
	SLICE_IS(json_get(&j->items[0], "file")->string, "?.yaml");
	SLICE_IS(json_get(&j->items[0], "message")->string, "a \"b\" é ? c");
	SLICE_IS(json_get(&j->items[1], "severity")->string, "note");
	assert_int_equal(json_get(&j->items[1], "column")->integer, 5);
	assert_non_null(json_get(&j->items[0], "why"));
	assert_non_null(json_get(&j->items[0], "repair"));
	assert_non_null(json_get(&j->items[0], "subject"));
}

static void near_words_are_suggested(void **state)
{
	static const char *const words[] = { "required", "default", "id", "the caller", "now", NULL };
	const struct slice slices[] = { SLICE("GSI1"), SLICE("byTag") };

	(void)state;
	assert_string_equal(suggest_word(SLICE("requierd"), words), "required");
	assert_string_equal(suggest_word(SLICE("DEFAULT"), words), "default");
	assert_string_equal(suggest_word(SLICE("the calle"), words), "the caller");
	assert_null(suggest_word(SLICE("elephant"), words));
	assert_null(suggest_word(SLICE(""), words));
	assert_null(suggest_word(SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
				 words));
	SLICE_IS(suggest_slice(SLICE("GSI9"), slices, 2), "GSI1");
	assert_int_equal(suggest_slice(SLICE("zzz"), slices, 2).n, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(findings_show_the_line),
		TEST(long_lines_are_cut),
		TEST(json_is_json_whatever_the_text),
		TEST(near_words_are_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
