/* Parsing: every kind of value, malformed texts, deep and large documents, running out of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
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

static const struct json *parse(const char *text)
{
	return json_parse(&arena, slice_str(text));
}

static void scalars_have_their_types(void **state)
{
	const struct json *j = parse(" [null, true, false, -5, 1.5, \"x\", 1e2, 0] ");

	assert_true(json_is(j, JSON_ARRAY));
	assert_int_equal(j->count, 8);
	assert_true(json_is(&j->items[0], JSON_NULL));
	assert_true(json_is(&j->items[1], JSON_BOOL) && j->items[1].boolean);
	assert_true(json_is(&j->items[2], JSON_BOOL) && !j->items[2].boolean);
	assert_true(json_is(&j->items[3], JSON_INT) && j->items[3].integer == -5);
	assert_true(json_is(&j->items[4], JSON_DOUBLE) && j->items[4].number == 1.5);
	assert_true(json_is(&j->items[5], JSON_STRING) && slice_is(j->items[5].string, "x"));
	assert_true(json_is(&j->items[6], JSON_DOUBLE) && j->items[6].number == 100);
	assert_true(json_is(&j->items[7], JSON_INT) && j->items[7].integer == 0);
}

static void a_document_may_be_a_scalar(void **state)
{
	assert_int_equal(parse("7")->integer, 7);
	assert_true(slice_is(parse("\"s\"")->string, "s"));
	assert_true(json_is(parse("null"), JSON_NULL));
}

static void integers_beyond_int64_are_doubles(void **state)
{
	assert_true(parse("9223372036854775807")->integer == INT64_MAX);
	assert_true(parse("-9223372036854775808")->integer == INT64_MIN);
	assert_true(json_is(parse("9223372036854775808"), JSON_DOUBLE));
	assert_true(parse("18446744073709551615")->number == 18446744073709551615.0);
}

static void members_keep_their_order_and_the_last_duplicate_wins(void **state)
{
	const struct json *j = parse("{\"b\":1,\"a\":{\"x\":[]},\"b\":2,\"\":3}");

	assert_true(json_is(j, JSON_OBJECT));
	assert_int_equal(j->count, 4);
	assert_true(slice_is(j->members[0].name, "b"));
	assert_true(slice_is(j->members[1].name, "a"));
	assert_int_equal(json_get(j, "b")->integer, 2);
	assert_int_equal(json_get(j, "")->integer, 3);
	assert_int_equal(json_get(json_get(j, "a"), "x")->count, 0);
	assert_true(json_is(json_get(json_get(j, "a"), "x"), JSON_ARRAY));
	assert_null(json_get(j, "c"));
}

static void looking_into_a_non_object_finds_nothing(void **state)
{
	assert_null(json_get(NULL, "a"));
	assert_null(json_get(parse("[1]"), "a"));
	assert_null(json_get_slice(parse("{}"), SLICE("a")));
	assert_false(json_is(NULL, JSON_NULL));
}

static void strings_are_unescaped_and_may_hold_nuls(void **state)
{
	const struct json *j = parse("\"\\u0000a\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude00\xc3\xa9\"");

	assert_true(slice_equal(j->string, SLICE("\0a\n\"\\/\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9")));
}

static void the_tree_does_not_point_into_the_text(void **state)
{
	char text[] = "{\"name\":\"value\"}";
	const struct json *j = parse(text);

	memset(text, 'X', sizeof(text) - 1);
	parse("{\"other\":\"things\"}"); /* reuses what the parser keeps */
	assert_true(slice_is(json_get(j, "name")->string, "value"));
}

static void malformed_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"{",
		"}",
		"[1,]",
		"{\"a\"}",
		"{\"a\":}",
		"{a:1}",
		"1 2",
		"[1] x",
		"nul",
		"tru",
		"'a'",
		"\"a",
		"\"\\x\"",
		"\"\t\"",
		"\"\\ud800\"",
		"01",
		"1.",
		".5",
		"+1",
		"1e999",
		"18446744073709551616000",
		"-9223372036854775809",
		"NaN",
		"{\"a\":1,}",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"[\"\xe2\x82\"]",
		"[1}",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (parse(texts[i]))
			fail_msg("accepted: %s", texts[i]);
	assert_null(json_parse(&arena, slice_make(NULL, 0)));
	assert_null(json_parse(&arena, SLICE("1\0")));
	assert_int_equal(parse("1")->integer, 1); /* and the parser still works */
}

/* Reads no byte before or after the text: the copy has exactly its size, so ASan would tell. */
static void a_text_needs_no_room_after_it(void **state)
{
	static const char text[] = "[\"abc\", 12345]";
	char *exact = mem_strndup(text, sizeof(text) - 1);
	char *shrunk = mem_realloc(exact, sizeof(text) - 1);

	assert_int_equal(json_parse(&arena, slice_make(shrunk, sizeof(text) - 1))->count, 2);
	mem_free(shrunk);
}

static const struct json *nested(size_t depth)
{
	char *text = arena_alloc(&arena, 2 * depth);

	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return json_parse(&arena, slice_make(text, 2 * depth));
}

static void nesting_is_limited(void **state)
{
	const struct json *j = nested(1000);
	size_t depth = 0;

	for (; j->count; j = j->items)
		depth++;
	assert_int_equal(depth, 999);
	assert_null(nested(1025));
	assert_null(nested(1000000));
}

static void a_large_document_is_whole_and_small_ones_follow(void **state)
{
	const struct json *j;
	struct buf b;
	int i;

	buf_init(&b, &arena);
	buf_byte(&b, '[');
	for (i = 0; i < 100000; i++)
		buf_printf(&b, "%s{\"id\":%d,\"s\":\"text %d\"}", i ? "," : "", i, i);
	buf_byte(&b, ']');
	j = json_parse(&arena, buf_slice(&b));
	assert_int_equal(j->count, 100000);
	for (i = 0; i < 100000; i += 99)
		assert_int_equal(json_get(&j->items[i], "id")->integer, i);
	assert_true(slice_is(json_get(&j->items[99999], "s")->string, "text 99999"));
	assert_int_equal(parse("[1,2]")->count, 2);
}

/* Each string comes with the fewest bytes of text around it. */
static void strings_fit_however_dense_they_are(void **state)
{
	const struct json *j;
	struct buf b;
	int i;

	buf_init(&b, &arena);
	buf_byte(&b, '{');
	for (i = 0; i < 5000; i++)
		buf_str(&b, i ? ",\"abcdefgh\":\"12345678\"" : "\"\":\"\"");
	buf_byte(&b, '}');
	j = json_parse(&arena, buf_slice(&b));
	assert_int_equal(j->count, 5000);
	assert_true(slice_is(j->members[4999].name, "abcdefgh"));
	assert_true(slice_is(j->members[4999].value.string, "12345678"));
}

static void running_out_anywhere_leaves_by_the_arena(void **state)
{
	static char text[700000];
	const struct json *volatile j = NULL;
	volatile bool left = true;
	volatile long n;
	size_t i;

	text[0] = '[';
	for (i = 1; i < sizeof(text) - 2; i += 2) {
		text[i] = '1';
		text[i + 1] = ',';
	}
	text[sizeof(text) - 3] = '1';
	text[sizeof(text) - 2] = ']';
	for (n = 0; left; n++) {
		left = false;
		alloc_fail_after(n);
		ARENA_TRY(&arena, { j = json_parse(&arena, slice_str(text)); }, { left = true; });
		alloc_fail_never();
		if (!left) {
			assert_non_null(j);
			assert_int_equal(j->count, (sizeof(text) - 2) / 2);
		}
		arena_clear(&arena);
		assert_int_equal(parse("[1]")->count, 1);
	}
	assert_true(n > 3);
}

static void *parse_many(void *arg)
{
	struct arena a;
	int i;

	arena_init(&a);
	for (i = 0; i < 200; i++) {
		struct slice text = arena_printf(&a, "{\"n\":[%d,\"%d\"]}", i, i);
		const struct json *j = json_get(json_parse(&a, text), "n");

		*(bool *)arg = j && j->count == 2 && j->items[0].integer == i;
		if (!*(bool *)arg)
			break;
		arena_clear(&a);
	}
	arena_release(&a);
	return NULL;
}

static void threads_parse_at_the_same_time(void **state)
{
	pthread_t threads[4];
	bool worked[4] = { false };
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, parse_many, &worked[i]), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_true(worked[i]);
	}
}

#define with_arena(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_arena(scalars_have_their_types),
		with_arena(a_document_may_be_a_scalar),
		with_arena(integers_beyond_int64_are_doubles),
		with_arena(members_keep_their_order_and_the_last_duplicate_wins),
		with_arena(looking_into_a_non_object_finds_nothing),
		with_arena(strings_are_unescaped_and_may_hold_nuls),
		with_arena(the_tree_does_not_point_into_the_text),
		with_arena(malformed_texts_are_refused),
		with_arena(a_text_needs_no_room_after_it),
		with_arena(nesting_is_limited),
		with_arena(a_large_document_is_whole_and_small_ones_follow),
		with_arena(strings_fit_however_dense_they_are),
		with_arena(running_out_anywhere_leaves_by_the_arena),
		with_arena(threads_parse_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
