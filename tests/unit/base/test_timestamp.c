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

static void writes_periods_and_reads_them_again(void **state)
{
	static const struct {
		const char *text, *first; /* the first moment of it */
		enum time_unit unit;
	} cases[] = {
		{ "2026-11-15T12:00:00.007Z", "2026-11-15T12:00:00.007Z", TIME_MILLISECOND },
		{ "2026-11-15T12:00:01Z", "2026-11-15T12:00:01.000Z", TIME_SECOND },
		{ "2026-11-15T12:01", "2026-11-15T12:01:00.000Z", TIME_MINUTE },
		{ "2026-11-15T23", "2026-11-15T23:00:00.000Z", TIME_HOUR },
		{ "2026-11-15", "2026-11-15T00:00:00.000Z", TIME_DAY },
		{ "2026-W46", "2026-11-09T00:00:00.000Z", TIME_WEEK },
		{ "2026-W01", "2025-12-29T00:00:00.000Z", TIME_WEEK },
		{ "2026-W53", "2026-12-28T00:00:00.000Z", TIME_WEEK },
		{ "2025-W01", "2024-12-30T00:00:00.000Z", TIME_WEEK },
		{ "2026-11", "2026-11-01T00:00:00.000Z", TIME_MONTH },
		{ "2026", "2026-01-01T00:00:00.000Z", TIME_YEAR },
	};
	static const char *const wrong[] = { "2025-W53",      "2026-W00",         "2026-w46",  "2026-W4",
					     "2026-13",       "2026-00",          "202",       "20x6",
					     "2026-11-15T24", "2026-11-15T12:60", "2026-11-1", "" };
	char text[TIME_TEXT_MAX];
	enum time_unit unit;
	int64_t ms;

	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(time_parse_unit(slice_str(cases[i].text), &unit, &ms));
		assert_int_equal(unit, cases[i].unit);
		assert_int_equal(time_format_unit(ms, TIME_MILLISECOND, text).n, 24);
		assert_string_equal(text, cases[i].first);
		assert_int_equal(time_format_unit(ms, unit, text).n, time_unit_width(unit));
		assert_string_equal(text, cases[i].text);
		/* the last millisecond is in it, the next one is not */
		time_format_unit(time_add(ms, unit, 1) - 1, unit, text);
		assert_string_equal(text, cases[i].text);
		time_format_unit(time_add(ms, unit, 1), unit, text);
		assert_string_not_equal(text, cases[i].text);
	}
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (time_parse_unit(slice_str(wrong[i]), &unit, &ms))
			fail_msg("%s is accepted", wrong[i]);
	assert_true(time_parse_unit(slice_str("2026-11-15T13:00:00.5+01:00"), &unit, &ms));
	assert_int_equal(unit, TIME_MILLISECOND);
	time_format_unit(-1, TIME_MILLISECOND, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	assert_true(time_parse_unit(slice_str("0000"), &unit, &ms) && ms == TIME_MIN_MS);
	time_format_unit(TIME_MIN_MS, TIME_WEEK, text); /* a Saturday */
	assert_int_equal(strlen(text), 8);
}

/* Each week of 400 years has seven days, and weeks sort as texts. */
static void weeks_are_of_seven_days(void **state)
{
	char last[TIME_TEXT_MAX] = "", text[TIME_TEXT_MAX], wanted[16];
	int64_t day = INT64_C(86400000), from = -25567 * day; /* 1900-01-01, a Monday */

	for (int64_t i = 0; i < 400 * 366; i++) {
		time_t t = (time_t)((from + i * day) / 1000);
		struct tm tm;

		time_format_unit(from + i * day, TIME_WEEK, text);
		gmtime_r(&t, &tm);
		strftime(wanted, sizeof(wanted), "%G-W%V", &tm);
		assert_string_equal(text, wanted);
		assert_true(i % 7 ? strcmp(text, last) == 0 : strcmp(text, last) > 0);
		memcpy(last, text, sizeof(text));
	}
}

static void adds_months_and_years_by_the_calendar(void **state)
{
	static const struct {
		const char *from, *to;
		enum time_unit unit;
		int64_t n;
	} cases[] = {
		{ "2026-01-31T01:02:03Z", "2026-02-28T01:02:03Z", TIME_MONTH, 1 },
		{ "2026-03-31T01:02:03Z", "2026-02-28T01:02:03Z", TIME_MONTH, -1 },
		{ "2026-01-31T01:02:03Z", "2026-03-31T01:02:03Z", TIME_MONTH, 2 },
		{ "2026-01-15T00:00:00Z", "2025-12-15T00:00:00Z", TIME_MONTH, -1 },
		{ "2024-02-29T00:00:00Z", "2025-02-28T00:00:00Z", TIME_YEAR, 1 },
		{ "2024-02-29T00:00:00Z", "2020-02-29T00:00:00Z", TIME_YEAR, -4 },
		{ "1969-12-31T23:00:00Z", "1970-01-31T23:00:00Z", TIME_MONTH, 1 },
		{ "2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z", TIME_HOUR, 1 },
		{ "2026-12-31T23:00:00Z", "2027-01-07T23:00:00Z", TIME_WEEK, 1 },
		{ "2026-12-31T23:00:00Z", "9999-12-31T23:59:59Z", TIME_YEAR, INT64_MAX },
		{ "2026-12-31T23:00:00Z", "0000-01-01T00:00:00Z", TIME_MONTH, INT64_MIN },
		{ "2026-12-31T23:00:00Z", "9999-12-31T23:59:59Z", TIME_HOUR, INT64_MAX },
		{ "2026-12-31T23:00:00Z", "0000-01-01T00:00:00Z", TIME_SECOND, INT64_MIN },
	};
	char text[TIME_TEXT_MAX];
	int64_t ms;

	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(time_parse(slice_str(cases[i].from), &ms));
		time_format(time_add(ms, cases[i].unit, cases[i].n), text);
		assert_string_equal(text, cases[i].to);
	}
	assert_int_equal(time_unit_named(slice_str("days")), TIME_DAY);
	assert_int_equal(time_unit_named(slice_str("year")), TIME_YEAR);
	assert_int_equal(time_unit_named(slice_str("s")), TIME_UNITS);
	assert_int_equal(time_unit_named(slice_str("")), TIME_UNITS);
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
		cmocka_unit_test(writes_periods_and_reads_them_again),
		cmocka_unit_test(weeks_are_of_seven_days),
		cmocka_unit_test(adds_months_and_years_by_the_calendar),
		cmocka_unit_test(stays_within_four_digits_of_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
