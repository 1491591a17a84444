/* Failed logins: how long one waits, who else does, and what is forgotten.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "app/throttle.h"

#define ALICE SLICE("alice")

static struct throttle *t;

static int setup(void **state)
{
	(void)state;
	t = throttle_new();
	return t ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	throttle_free(t);
	return 0;
}

static void fail_times(enum throttle_kind kind, struct slice who, int times, int64_t now)
{
	while (times--)
		throttle_failed(t, kind, who, now);
}

static void the_sixth_attempt_waits_and_waits_double(void **state)
{
	int64_t now = 1000000;
	int expected = 1;

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, now), 0);
		throttle_failed(t, THROTTLE_NAME, ALICE, now);
	}
	for (int i = 0; i < 14; i++) {
		assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, now), expected);
		assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, now + expected * 1000 - 1), 1);
		now += expected * 1000;
		assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, now), 0);
		throttle_failed(t, THROTTLE_NAME, ALICE, now);
		expected = 2 * expected > THROTTLE_LONGEST_S ? THROTTLE_LONGEST_S : 2 * expected;
	}
	assert_int_equal(expected, THROTTLE_LONGEST_S);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, SLICE("bob"), now), 0);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, ALICE, now), 0);
}

static void of_several_at_once_one_is_looked_at(void **state)
{
	(void)state;
	fail_times(THROTTLE_NAME, ALICE, 5, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 2000), 0);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 2000), 2);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 2001), 2);
}

static void success_clears_a_name(void **state)
{
	(void)state;
	fail_times(THROTTLE_NAME, ALICE, 4, 1000);
	throttle_passed(t, THROTTLE_NAME, ALICE, 1000);
	assert_int_equal(throttle_count(t), 0);
	fail_times(THROTTLE_NAME, ALICE, 4, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 1000), 0);
	throttle_failed(t, THROTTLE_NAME, ALICE, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 1000), 1);
}

static void success_does_not_clear_an_address(void **state)
{
	struct slice where = SLICE("192.0.2.7");

	(void)state;
	fail_times(THROTTLE_ADDRESS, where, 19, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, where, 1000), 0);
	throttle_passed(t, THROTTLE_ADDRESS, where, 1000);
	throttle_failed(t, THROTTLE_ADDRESS, where, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, where, 1000), 1);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, where, 2000), 0);
	throttle_passed(t, THROTTLE_ADDRESS, where, 2000); /* so that others there need not wait for nothing */
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, where, 2000), 0);
	throttle_failed(t, THROTTLE_ADDRESS, where, 2000);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, where, 2000), 2);
}

static void failures_are_forgotten_in_time(void **state)
{
	(void)state;
	fail_times(THROTTLE_NAME, ALICE, 30, 0);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 24 * 3600 * 1000), 0);
	assert_int_equal(throttle_count(t), 0);
}

static void of_too_many_the_oldest_is_forgotten(void **state)
{
	char name[16];

	(void)state;
	fail_times(THROTTLE_NAME, ALICE, 6, 1000);
	for (int i = 0; i < THROTTLE_MOST - 1; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		throttle_failed(t, THROTTLE_NAME, slice_str(name), 1000);
	}
	assert_int_equal(throttle_count(t), THROTTLE_MOST);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 1000), 2);
	throttle_failed(t, THROTTLE_NAME, ALICE, 1000); /* the newest now */
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		throttle_failed(t, THROTTLE_NAME, slice_str(name), 1000);
	}
	assert_int_equal(throttle_count(t), THROTTLE_MOST);
	assert_int_equal(throttle_wait(t, THROTTLE_NAME, ALICE, 1000), 4);
	for (int i = 0; i < THROTTLE_MOST; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		throttle_failed(t, THROTTLE_NAME, slice_str(name), 1000);
		if (i % 3 == 0)
			throttle_passed(t, THROTTLE_NAME, slice_str(name), 1000);
	}
	assert_true(throttle_count(t) <= THROTTLE_MOST);
}

static void nobody_never_waits(void **state)
{
	(void)state;
	fail_times(THROTTLE_ADDRESS, SLICE(""), 100, 1000);
	assert_int_equal(throttle_wait(t, THROTTLE_ADDRESS, SLICE(""), 1000), 0);
	assert_int_equal(throttle_count(t), 0);
}

static bool same(const char *x, const char *y)
{
	char a[64], b[64];

	return slice_equal(throttle_address(slice_str(x), a), throttle_address(slice_str(y), b));
}

static void an_address_counts_without_its_port(void **state)
{
	(void)state;
	assert_true(same("192.0.2.7", "192.0.2.7:4711"));
	assert_false(same("192.0.2.7", "192.0.2.8"));
	assert_true(same("[2001:db8::1]:80", "2001:db8::2")); /* one /64 */
	assert_false(same("2001:db8:0:1::1", "2001:db8::1"));
	assert_false(same("::ffff:192.0.2.7", "::ffff:192.0.2.8"));
	assert_true(same("", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_sixth_attempt_waits_and_waits_double, setup, teardown),
		cmocka_unit_test_setup_teardown(of_several_at_once_one_is_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(success_clears_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(success_does_not_clear_an_address, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_forgotten_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(of_too_many_the_oldest_is_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_never_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_counts_without_its_port, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
