/* Writing strings: what is escaped, wherever it stands.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "json/json.h"

static struct arena arena;

static int start(void **state)
{
	arena_init(&arena);
	return 0;
}

static int stop(void **state)
{
	arena_release(&arena);
	return 0;
}

static struct slice written(struct slice s)
{
	struct buf b;

	buf_init(&b, &arena);
	json_string(&b, s);
	return buf_slice(&b);
}

static void plain_text_is_only_quoted(void **state)
{
	assert_true(slice_is(written(SLICE("")), "\"\""));
	assert_true(slice_is(written(slice_make(NULL, 0)), "\"\""));
	assert_true(slice_is(written(SLICE("hello, long enough world /'<>")), "\"hello, long enough world /'<>\""));
}

static void non_ascii_stays_as_it_is(void **state)
{
	assert_true(slice_is(written(SLICE("\xc3\xa9\xf0\x9f\x98\x80\x7f\xe2\x80\xa8")),
			     "\"\xc3\xa9\xf0\x9f\x98\x80\x7f\xe2\x80\xa8\""));
}

static void quotes_backslashes_and_controls_are_escaped(void **state)
{
	assert_true(slice_is(written(SLICE("\"\\\b\f\n\r\t")), "\"\\\"\\\\\\b\\f\\n\\r\\t\""));
	assert_true(slice_is(written(SLICE("\0\x01\x0b\x1f")), "\"\\u0000\\u0001\\u000B\\u001F\""));
}

/* Every byte at every place of a long run, so that each way through the fast path is taken. */
static void each_byte_is_escaped_alike_wherever_it_stands(void **state)
{
	char text[25];
	size_t at, len;
	int c;

	for (c = 0; c < 0x80; c++) {
		bool special = c < 0x20 || c == '"' || c == '\\';

		for (len = 1; len <= sizeof(text); len += 3) {
			for (at = 0; at < len; at++) {
				const struct json *back;
				struct slice out;

				memset(text, 'a', len);
				text[at] = (char)c;
				out = written(slice_make(text, len));
				assert_int_equal(out.n > len + 2, special);
				back = json_parse(&arena, out);
				assert_true(json_is(back, JSON_STRING));
				assert_true(slice_equal(back->string, slice_make(text, len)));
				arena_clear(&arena);
			}
		}
	}
}

static void commas_stand_between_values_and_nowhere_else(void **state)
{
	struct buf b;

	buf_init(&b, &arena);
	json_open(&b, '{');
	json_member_string(&b, "text", SLICE("{[:,"));
	json_member_word(&b, "empty", "");
	json_member_int(&b, "least", INT64_MIN);
	json_member_bool(&b, "yes", true);
	json_member_open(&b, "list", '[');
	json_strings(&b, NULL, 0);
	json_open(&b, '{');
	json_close(&b, '}');
	json_null(&b);
	json_bool(&b, false);
	json_int(&b, 0);
	json_string(&b, SLICE("\""));
	json_string(&b, SLICE(""));
	json_close(&b, ']');
	json_member_strings(&b, "none", NULL, 0);
	json_member_strings(&b, "two", (struct slice[]){ SLICE("a"), SLICE("b") }, 2);
	json_name_string(&b, SLICE("\n"));
	json_null(&b);
	json_close(&b, '}');
	assert_true(slice_is(buf_slice(&b),
			     "{\"text\":\"{[:,\",\"empty\":\"\",\"least\":-9223372036854775808,\"yes\":true,"
			     "\"list\":[[],{},null,false,0,\"\\\"\",\"\"],\"none\":[],\"two\":[\"a\",\"b\"],"
			     "\"\\n\":null}"));
}

/* Parts that are put in as text, and documents in lines. */
static void a_comma_is_due_after_any_value_and_after_nothing_else(void **state)
{
	static const struct slice ends[] = { SLICE("\"a\""), SLICE("{}"),    SLICE("[]"),   SLICE("10"),
					     SLICE("29"),    SLICE("38"),    SLICE("47"),   SLICE("56"),
					     SLICE("1"),     SLICE("2"),     SLICE("4"),    SLICE("5"),
					     SLICE("true"),  SLICE("false"), SLICE("null"), SLICE("1.5e3") };
	static const struct slice others[] = { SLICE(""),     SLICE("{"),  SLICE("["),    SLICE("\"a\":"), SLICE("1,"),
					       SLICE("{}\n"), SLICE("1 "), SLICE("x = "), SLICE("(") };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends) + sizeof(others) / sizeof(*others); i++) {
		bool due = i < sizeof(ends) / sizeof(*ends);
		struct slice before = due ? ends[i] : others[i - sizeof(ends) / sizeof(*ends)];
		struct buf b;

		buf_init(&b, &arena);
		buf_put(&b, before);
		json_name(&b, "n");
		assert_int_equal(b.n, before.n + 4 + due);
		b.n = before.n;
		json_string(&b, SLICE("s"));
		assert_int_equal(b.n, before.n + 3 + due);
		b.n = before.n;
		json_write(&b, &(struct json){ .type = JSON_INT, .integer = 1 });
		assert_int_equal(b.n, before.n + 1); /* a tree is put as it is */
	}
}

static void a_tree_is_written_as_it_was_read(void **state)
{
	struct slice text = SLICE("{\"a\":[1,[],{},{\"b\":null,\"c\":[true,false,\"x\"]}],\"d\":1.5}");
	struct buf b;

	buf_init(&b, &arena);
	json_write(&b, json_parse(&arena, text));
	assert_true(slice_equal(buf_slice(&b), text));
}

static void running_out_leaves_by_the_arena(void **state)
{
	static char text[10000];
	volatile bool left = false;

	alloc_fail_after(1);
	ARENA_TRY(&arena, { written(slice_make(text, sizeof(text))); }, { left = true; });
	alloc_fail_never();
	assert_true(left);
}

#define with_arena(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_arena(plain_text_is_only_quoted),
		with_arena(non_ascii_stays_as_it_is),
		with_arena(quotes_backslashes_and_controls_are_escaped),
		with_arena(each_byte_is_escaped_alike_wherever_it_stands),
		with_arena(commas_stand_between_values_and_nowhere_else),
		with_arena(a_comma_is_due_after_any_value_and_after_nothing_else),
		with_arena(a_tree_is_written_as_it_was_read),
		with_arena(running_out_leaves_by_the_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
