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
	assert_true(slice_is(written(SLICE("hello, long enough world /'<>")),
			     "\"hello, long enough world /'<>\""));
}

static void non_ascii_stays_as_it_is(void **state)
{
	assert_true(slice_is(written(SLICE("\xc3\xa9\xf0\x9f\x98\x80\x7f\xe2\x80\xa8")),
			     "\"\xc3\xa9\xf0\x9f\x98\x80\x7f\xe2\x80\xa8\""));
}

static void quotes_backslashes_and_controls_are_escaped(void **state)
{
	assert_true(slice_is(written(SLICE("\"\\\b\f\n\r\t")), "\"\\\"\\\\\\b\\f\\n\\r\\t\""));
	assert_true(slice_is(written(SLICE("\0\x01\x0b\x1f")),
			     "\"\\u0000\\u0001\\u000B\\u001F\""));
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
		with_arena(running_out_leaves_by_the_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
