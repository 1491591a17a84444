/* Timestamps: text to milliseconds and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "base/timestamp.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void reads_rfc_3339(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1969-12-31T23:59:59.5Z", -500 },
		{ "2026-11-15T12:00:00Z", 1794744000000 },
		{ "2026-11-15t12:00:00z", 1794744000000 },
		{ "2026-11-15T13:30:00+01:30", 1794744000000 },
		{ "2026-11-15T10:30:00-01:30", 1794744000000 },
		{ "2026-11-15T12:00:00.123456789Z", 1794744000123 },
		{ "2024-02-29T00:00:00Z", 1709164800000 },
		{ "2000-02-29T00:00:00Z", 951782400000 },
		{ "0000-01-01T00:00:00Z", TIME_MIN_MS },
		{ "9999-12-31T23:59:59.999Z", TIME_MAX_MS },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ms = 1;

		if (!time_parse(slice_str(cases[i].text), &ms))
			fail_msg("%s is refused", cases[i].text);
		assert_true(ms == cases[i].ms);
	}
}

static void refuses_invalid_timestamps(void **state)
{
	static const char *const texts[] = {
		"",
		"2026-11-15",
		"2026-11-15T12:00:00",
		"2026-11-15T12:00Z",
		"2026-11-15 12:00:00Z",
		"2026-11-15T12:00:00.Z",
		"2026-11-15T12:00:00Zx",
		"2026-11-15T12:00:00+1:00",
		"2026-11-15T12:00:00+24:00",
		"2026-11-15T12:00:00+01:60",
		"2026-11-15T12:00:00+01-00",
		"2026-13-15T12:00:00Z",
		"2026-00-15T12:00:00Z",
		"2026-11-31T12:00:00Z",
		"2026-11-00T12:00:00Z",
		"2023-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z",
		"2026-11-15T24:00:00Z",
		"2026-11-15T12:60:00Z",
		"2026-11-15T12:00:60Z",
		"2026/11/15T12:00:00Z",
		"2o26-11-15T12:00:00Z",
		"9999-12-31T23:59:59-01:00",
		"0000-01-01T00:00:00+01:00",
		"+026-11-15T12:00:00Z",
	};
	int64_t ms;

	for (size_t i = 0; i < COUNT(texts); i++)
		if (time_parse(slice_str(texts[i]), &ms))
			fail_msg("%s is accepted", texts[i]);
	assert_false(time_parse_date(slice_str("2026-11-15T"), &ms));
	assert_false(time_parse_date(slice_str("2026-1-15"), &ms));
	assert_true(time_parse_date(slice_str("2026-11-15"), &ms));
	assert_true(ms == 1794700800000);
}

static void writes_what_the_c_library_writes(void **state)
{
	char text[TIME_TEXT_MAX], date[TIME_DATE_MAX], wanted[64];

	for (int64_t s = TIME_MIN_MS / 1000; s <= TIME_MAX_MS / 1000; s += 86400 * 13 + 12347) {
		time_t t = (time_t)s;
		int64_t back;
		struct tm tm;

		gmtime_r(&t, &tm);
		snprintf(wanted, sizeof(wanted), "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		assert_int_equal(time_format(s * 1000 + 999, text).n, 20);
		assert_string_equal(text, wanted);
		wanted[10] = '\0';
		assert_int_equal(time_format_date(s * 1000, date).n, 10);
		assert_string_equal(date, wanted);
		assert_true(time_parse(slice_str(text), &back));
		assert_true(back == s * 1000);
	}
}

static void stays_within_four_digits_of_years(void **state)
{
	char text[TIME_TEXT_MAX];

	time_format(INT64_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59Z");
	time_format(INT64_MIN, text);
	assert_string_equal(text, "0000-01-01T00:00:00Z");
	time_format(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_rfc_3339),
		cmocka_unit_test(refuses_invalid_timestamps),
		cmocka_unit_test(writes_what_the_c_library_writes),
		cmocka_unit_test(stays_within_four_digits_of_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
