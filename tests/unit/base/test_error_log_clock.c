/* The error table, log lines and clocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log_seldom.h"

static void each_error_has_its_wire_name_and_status(void **state)
{
	assert_string_equal(err_wire_name(ERR_VALIDATION), "ValidationException");
	assert_string_equal(err_namespace(ERR_VALIDATION), ERR_NS_VAL);
	assert_int_equal(err_status(ERR_VALIDATION), 400);
	assert_string_equal(err_wire_name(ERR_NOT_FOUND), "ResourceNotFoundException");
	assert_int_equal(err_status(ERR_TOO_LARGE), 413);
	assert_int_equal(err_status(ERR_INTERNAL), 500);
	assert_string_equal(err_wire_name(ERR_UNAVAILABLE), "ServiceUnavailable");
}

static void setting_an_error_formats_and_returns_false(void **state)
{
	struct error e = { .members = SLICE("old") };
	struct arena a;

	arena_init(&a);
	assert_false(error_set(&e, &a, ERR_IN_USE, "Table %s, %d", "t", 7));
	assert_int_equal(e.code, ERR_IN_USE);
	assert_true(slice_is(e.message, "Table t, 7"));
	assert_int_equal(e.members.n, 0);
	arena_release(&a);
}

/* What `say` logs goes through a pipe instead of stderr. */
static size_t captured(void (*say)(void), char *to, size_t room)
{
	int kept = dup(STDERR_FILENO), ends[2];
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	say();
	dup2(kept, STDERR_FILENO);
	close(kept);
	n = read(ends[0], to, room - 1);
	close(ends[0]);
	assert_true(n >= 0);
	to[n] = '\0';
	return (size_t)n;
}

static void say_one(void)
{
	log_warn("disk %s", "full");
}

static void a_line_has_time_level_and_message(void **state)
{
	char line[200];

	captured(say_one, line, sizeof(line));
	assert_string_equal(line + 24, " warn  disk full\n");
	assert_int_equal(line[10], 'T');
	assert_int_equal(line[23], 'Z');
}

static void say_with_newline(void)
{
	log_error("name=%s", "x\n2026 info faked");
}

static void a_message_cannot_start_a_second_line(void **state)
{
	char line[200];

	captured(say_with_newline, line, sizeof(line));
	assert_string_equal(line + 24, " error name=x 2026 info faked\n");
}

static void say_too_much(void)
{
	log_info("%5000d", 1);
}

static void a_long_message_is_cut_to_one_line(void **state)
{
	char line[8000];
	size_t n = captured(say_too_much, line, sizeof(line));

	assert_true(n <= 2048);
	assert_int_equal(line[n - 1], '\n');
}

static void say_at_all_levels(void)
{
	log_set_level(LOG_ERROR);
	log_debug("%s", "d");
	log_info("%s", "i");
	log_warn("%s", "w");
	log_set_level(LOG_INFO);
	log_debug("%s", "d");
}

static void levels_below_the_least_are_dropped(void **state)
{
	char line[200];

	assert_int_equal(captured(say_at_all_levels, line, sizeof(line)), 0);
}

static struct log_seldom seldom;

static void say_three_within_ten_seconds_and_one_later(void)
{
	for (int i = 1; i <= 3; i++)
		log_seldom(&seldom, 1000 + i, LOG_WARN, "away %d", i);
	log_seldom(&seldom, 1000 + 10000001, LOG_WARN, "away %d", 4);
	log_seldom(&seldom, 1000 + 20000002, LOG_WARN, "away %d", 5);
}

static void what_every_request_meets_is_seldom_said_and_counted(void **state)
{
	char text[800], *at = text;

	captured(say_three_within_ten_seconds_and_one_later, text, sizeof(text));
	assert_non_null(at = strstr(at, " warn  away 1\n20"));
	assert_non_null(at = strstr(at, " warn  away 4 (2 such lines were left out)\n20"));
	assert_non_null(at = strstr(at, " warn  away 5\n"));
	assert_null(strstr(text, "away 2"));
}

static void say_json(void)
{
	static const char id[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV0123456789ABCDEFGHIJ";

	log_set_format(LOG_JSON);
	log_say("   %s", "hello");
	log_set_request(id);
	log_warn("a \"name\"\n%s", "{\"level\":\"error\"}\xff");
	log_set_request(NULL);
	log_info("%5000d", 1);
	log_set_format(LOG_TEXT);
	log_say("   %s", "hello");
}

static void lines_can_be_json_with_the_request_id(void **state)
{
	char text[8000], *at = text;

	captured(say_json, text, sizeof(text));
	assert_memory_equal(at, "{\"time\":\"20", 11);
	assert_non_null(at = strstr(at, "\",\"level\":\"info\",\"message\":\"hello\"}\n{"));
	assert_non_null(
		at = strstr(
			at,
			"\",\"level\":\"warn\",\"request\":\"0123456789ABCDEFGHIJKLMNOPQRSTUV0123456789ABCDEFGHIJ\","
			"\"message\":\"a \\u0022name\\u0022\\u000a{\\u0022level\\u0022:\\u0022error\\u0022}\\ufffd\"}\n{"));
	assert_non_null(at = strstr(at, "\"level\":\"info\",\"message\":\"      "));
	assert_non_null(at = strstr(at, " \"}\n"));
	assert_string_equal(at, " \"}\n   hello\n");
}

static int64_t fixed(void *ctx)
{
	return *(int64_t *)ctx;
}

static void clocks_can_be_replaced(void **state)
{
	int64_t at = 12345, before = clock_monotonic_us();
	struct clock c = { fixed, &at };

	assert_int_equal(clock_now_ms(&c), 12345);
	assert_true(clock_now_ms(&clock_system) > INT64_C(1600000000000));
	assert_true(clock_monotonic_us() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_error_has_its_wire_name_and_status),
		cmocka_unit_test(setting_an_error_formats_and_returns_false),
		cmocka_unit_test(a_line_has_time_level_and_message),
		cmocka_unit_test(a_message_cannot_start_a_second_line),
		cmocka_unit_test(lines_can_be_json_with_the_request_id),
		cmocka_unit_test(a_long_message_is_cut_to_one_line),
		cmocka_unit_test(levels_below_the_least_are_dropped),
		cmocka_unit_test(what_every_request_meets_is_seldom_said_and_counted),
		cmocka_unit_test(clocks_can_be_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
