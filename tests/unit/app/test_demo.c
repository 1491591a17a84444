/* Times of demo data: fixed ones, and ago.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "app/demo.h"

#define NOW INT64_C(1768473000000) /* 2026-01-15T10:30:00Z */

static void is(const char *text, int64_t expected)
{
	int64_t ms = 0;

	if (!demo_time(slice_str(text), NOW, &ms))
		fail_msg("'%s' is not understood", text);
	if (ms != expected)
		fail_msg("'%s' is %lld, not %lld", text, (long long)ms, (long long)expected);
}

static void times_are_fixed_or_ago(void **state)
{
	(void)state;
	is("2026-01-15T10:30:00Z", NOW);
	is("2026-01-15T12:30:01+02:00", NOW + 1000);
	is("now", NOW);
	is("-3 days", NOW - 3 * INT64_C(86400000));
	is("-1 day", NOW - INT64_C(86400000));
	is("-2 hours 10 minutes", NOW - 130 * INT64_C(60000));
	is("-1 week 1 second", NOW - 7 * INT64_C(86400000) - 1000);
	is("-0 seconds", NOW);
}

static void an_invalid_time_is_refused(void **state)
{
	static const char *const texts[] = { "",
					     "-",
					     "yesterday",
					     "3 days",
					     "-3",
					     "-days",
					     "-3 days 2",
					     "-3 fortnights",
					     "-x days",
					     "-99999999999999999999 days",
					     "-1 s",
					     "-3 days, 2 hours",
					     "2026-13-01T00:00:00Z" };
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (demo_time(slice_str(texts[i]), NOW, &ms))
			fail_msg("'%s' is taken for a time", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_fixed_or_ago),
		cmocka_unit_test(an_invalid_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
