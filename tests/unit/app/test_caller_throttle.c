/* Failed logins: how long the pair waits, that others do not, and when failures expire.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "app/auth/throttle.h"

#define HOME   "192.0.2.7"
#define OFFICE "198.51.100.9"
#define NOW    INT64_C(1000000000)
#define HOUR   INT64_C(3600000)

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

static struct throttle_attempt of(const char *name, const char *address)
{
	return (struct throttle_attempt){ slice_str(name), slice_str(address) };
}

static int wait(const char *name, const char *address, int64_t now)
{
	struct throttle_attempt a = of(name, address);

	return throttle_wait(t, &a, now);
}

static int begin(const char *name, const char *address, int64_t now)
{
	struct throttle_attempt a = of(name, address);

	return throttle_begin(t, &a, now);
}

static void pass(const char *name, const char *address, int64_t now)
{
	struct throttle_attempt a = of(name, address);

	assert_int_equal(throttle_begin(t, &a, now), 0);
	throttle_passed(t, &a, now);
}

static void fail_times(const char *name, const char *address, int times, int64_t now)
{
	while (times--)
		assert_int_equal(begin(name, address, now), 0);
}

/* So many failures at a name, each from a network of its own. */
static void fail_from_everywhere(const char *name, int times, int64_t now)
{
	char address[32];

	for (int i = 0; i < times; i++) {
		snprintf(address, sizeof(address), "10.%d.%d.1", i / 250, i % 250);
		(void)begin(name, address, now);
	}
}

static void the_sixth_attempt_waits_and_waits_double(void **state)
{
	int64_t now = NOW;
	int expected = 1;

	(void)state;
	fail_times("alice", HOME, 5, now);
	for (int i = 0; i < 14; i++) {
		assert_int_equal(wait("alice", HOME, now), expected);
		assert_int_equal(begin("alice", HOME, now + expected * 1000 - 1), 1);
		now += expected * 1000;
		assert_int_equal(begin("alice", HOME, now), 0);
		expected = 2 * expected > THROTTLE_LONGEST_S ? THROTTLE_LONGEST_S : 2 * expected;
	}
	assert_int_equal(expected, THROTTLE_LONGEST_S);
	assert_int_equal(wait("bob", HOME, now), 0);
}

static void of_a_thousand_at_once_five_are_looked_at(void **state)
{
	int looked_at = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		looked_at += begin("alice", HOME, NOW) == 0;
	assert_int_equal(looked_at, 5);
	looked_at = 0;
	for (int i = 0; i < 1000; i++)
		looked_at += begin("alice", HOME, NOW + 1000) == 0;
	assert_int_equal(looked_at, 1);
}

static void asking_changes_nothing(void **state)
{
	(void)state;
	fail_times("alice", HOME, 4, NOW);
	for (int i = 0; i < 100; i++)
		assert_int_equal(wait("alice", HOME, NOW), 0);
	fail_times("alice", HOME, 1, NOW);
	assert_int_equal(wait("alice", HOME, NOW), 1);
}

static void an_attacker_at_another_address_does_not_slow_the_owner(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		(void)begin("alice", OFFICE, NOW + i * 1000);
	assert_true(wait("alice", OFFICE, NOW + 999999) > 0);
	assert_int_equal(wait("alice", HOME, NOW + 999999), 0);
	fail_times("alice", HOME, 5, NOW + 999999);
}

static void success_clears_the_pair(void **state)
{
	(void)state;
	fail_times("alice", HOME, 4, NOW);
	pass("alice", HOME, NOW);
	fail_times("alice", HOME, 5, NOW);
	assert_int_equal(wait("alice", HOME, NOW), 1);
}

static void attempts_that_could_not_be_checked_do_not_count(void **state)
{
	struct throttle_attempt a = of("alice", HOME);

	(void)state;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(throttle_begin(t, &a, NOW), 0);
		throttle_undo(t, &a, NOW);
	}
	assert_int_equal(throttle_count(t), 0);
	throttle_undo(t, &a, NOW); /* twice is once */
	fail_times("alice", HOME, 5, NOW);
}

static void spray(const char *address, int names, int64_t now)
{
	char name[16];

	for (int i = 0; i < names; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		(void)begin(name, address, now);
	}
}

static void an_address_that_tries_many_names_is_slowed(void **state)
{
	int looked_at = 0;
	char name[16];

	(void)state;
	spray(HOME, 100, NOW);
	assert_int_equal(wait("alice", HOME, NOW), 6); /* 5 s and a bit */
	assert_int_equal(wait("alice", OFFICE, NOW), 0);
	for (int i = 0; i < 600; i++) { /* ten a second, for a minute */
		snprintf(name, sizeof(name), "more%d", i);
		looked_at += begin(name, HOME, NOW + i * 100) == 0;
	}
	assert_in_range(looked_at, 10, 12);
	assert_int_equal(wait("alice", HOME, NOW + HOUR), 0);
}

static void an_account_of_ones_own_is_no_way_around_that(void **state)
{
	(void)state;
	spray(HOME, 99, NOW);
	for (int i = 0; i < 50; i++)
		pass("mallory", HOME, NOW);
	spray(HOME, 2, NOW);
	assert_true(wait("alice", HOME, NOW) > 0);
}

static void a_known_pair_does_not_wait_for_others_at_its_address(void **state)
{
	(void)state;
	pass("alice", HOME, NOW);
	spray(HOME, 1000, NOW + 1000);
	assert_true(wait("bob", HOME, NOW + 1000) > 0);
	assert_int_equal(begin("alice", HOME, NOW + 1000), 0);
}

static void guessing_at_a_known_pair_makes_it_wait_for_seconds_only(void **state)
{
	int64_t now = NOW;
	int looked_at = 0;

	(void)state;
	pass("alice", HOME, now);
	for (int i = 0; i < 36000; i++, now += 100) /* an hour, ten a second, from her own address */
		looked_at += begin("alice", HOME, now) == 0;
	assert_in_range(wait("alice", HOME, now), 1, THROTTLE_KNOWN_LONGEST_S);
	assert_in_range(looked_at, 200, 260);
}

static void a_name_that_many_addresses_guess_at_is_under_attack(void **state)
{
	(void)state;
	pass("alice", HOME, NOW - HOUR);
	fail_from_everywhere("alice", 1000, NOW);
	/* Her own address is not affected, and a new one has its attempt: the owner is not locked out. */
	assert_int_equal(wait("alice", HOME, NOW), 0);
	assert_int_equal(begin("alice", OFFICE, NOW), 0);
	/* But only that one, and its neighbours have none. */
	assert_int_equal(wait("alice", OFFICE, NOW), 60);
	assert_int_equal(wait("alice", "198.51.100.10", NOW), 60);
	assert_int_equal(wait("alice", "198.51.101.10", NOW), 0);
	assert_int_equal(wait("bob", OFFICE, NOW), 0);
	/* It is over some time later. */
	assert_int_equal(wait("alice", OFFICE, NOW + 2 * HOUR), 0);
}

static void an_attacker_with_few_networks_has_few_guesses(void **state)
{
	int looked_at = 0;
	char address[40];

	(void)state;
	fail_from_everywhere("alice", 60, NOW);
	for (int64_t second = 0; second < 3600; second++) /* a /48 of 65536 times /64, each once */
		for (int i = 0; i < 10; i++) {
			snprintf(address, sizeof(address), "2001:db8:7:%x::1", (unsigned)(second * 10 + i));
			looked_at += begin("alice", address, NOW + second * 1000) == 0;
		}
	assert_in_range(looked_at, 5,
			60); /* instead of 36000: doubling waits, until the attack is forgotten and begins again */
}

static void failures_are_forgotten_in_time(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		(void)begin("alice", HOME, NOW + i * 1000);
	assert_true(wait("alice", HOME, NOW + 40000) == 0);
	assert_int_equal(begin("alice", HOME, NOW + 24 * HOUR + 30000), 0);
	fail_times("alice", HOME, 4, NOW + 24 * HOUR + 30000);
	assert_int_equal(wait("alice", HOME, NOW + 24 * HOUR + 30000), 1);
}

static void setting_the_clock_back_does_not_extend_waits(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		(void)begin("alice", HOME, NOW + i * 100000);
	assert_in_range(wait("alice", HOME, NOW - 1000 * HOUR), 0, THROTTLE_LONGEST_S);
}

/* What a flood of failures, each with a name and an address of its own, does to what is remembered. */
static void flood(int n, int64_t now)
{
	char name[16], address[48];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		snprintf(address, sizeof(address), "2001:db8:%x:%x::1", i >> 16, i & 0xffff);
		(void)begin(name, address, now);
	}
}

static void a_flood_takes_no_more_memory_and_pushes_nothing_out_that_matters(void **state)
{
	int64_t now = NOW;

	(void)state;
	pass("alice", HOME, now);
	for (int i = 0; i < 8; i++) {
		now += 10000;
		assert_int_equal(begin("guessed", OFFICE, now), 0);
	}
	fail_from_everywhere("victim", 60, now);
	flood(4 * THROTTLE_PAIRS, now);
	assert_true(throttle_count(t) <= THROTTLE_PAIRS * 5 / 2);
	/* The guesser still waits, the name is still under attack, and the known pair is still known. */
	assert_int_equal(wait("guessed", OFFICE, now), 8);
	assert_int_equal(begin("victim", OFFICE, now), 0);
	assert_int_equal(wait("victim", OFFICE, now), 60);
	spray(HOME, 200, now);
	assert_int_equal(wait("alice", HOME, now), 0);
	assert_true(wait("carol", HOME, now) > 0);
}

static void without_a_name_there_is_no_wait(void **state)
{
	(void)state;
	fail_times("", HOME, 1000, NOW);
	assert_int_equal(throttle_count(t), 0);
}

static void without_an_address_the_name_waits(void **state)
{
	(void)state;
	fail_times("current password#alice", "", 5, NOW);
	assert_int_equal(wait("current password#alice", "", NOW), 1);
	pass("current password#alice", "", NOW + 1000);
	for (int i = 0; i < 100; i++)
		(void)begin("current password#alice", "", NOW + 1000 + i * 100000);
	assert_true(wait("current password#alice", "", NOW + 1000 + 9900000) > THROTTLE_KNOWN_LONGEST_S);
}

static bool same(const char *x, const char *y)
{
	bool is_same;

	throttle_free(t);
	t = throttle_new();
	assert_non_null(t);
	fail_times("alice", x, 5, NOW);
	is_same = wait("alice", y, NOW) > 0;
	return is_same;
}

static void of_ipv6_the_64_counts(void **state)
{
	(void)state;
	assert_true(same(HOME, "192.0.2.7"));
	assert_false(same(HOME, "192.0.2.8"));
	assert_true(same("2001:db8::1", "2001:db8::2"));
	assert_false(same("2001:db8:0:1::1", "2001:db8::1"));
	assert_true(same("::ffff:192.0.2.7", "192.0.2.7"));
	assert_false(same("::ffff:192.0.2.7", "::ffff:192.0.2.8"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_sixth_attempt_waits_and_waits_double),
		TEST(of_a_thousand_at_once_five_are_looked_at),
		TEST(asking_changes_nothing),
		TEST(an_attacker_at_another_address_does_not_slow_the_owner),
		TEST(success_clears_the_pair),
		TEST(attempts_that_could_not_be_checked_do_not_count),
		TEST(an_address_that_tries_many_names_is_slowed),
		TEST(an_account_of_ones_own_is_no_way_around_that),
		TEST(a_known_pair_does_not_wait_for_others_at_its_address),
		TEST(guessing_at_a_known_pair_makes_it_wait_for_seconds_only),
		TEST(a_name_that_many_addresses_guess_at_is_under_attack),
		TEST(an_attacker_with_few_networks_has_few_guesses),
		TEST(failures_are_forgotten_in_time),
		TEST(setting_the_clock_back_does_not_extend_waits),
		TEST(a_flood_takes_no_more_memory_and_pushes_nothing_out_that_matters),
		TEST(without_a_name_there_is_no_wait),
		TEST(without_an_address_the_name_waits),
		TEST(of_ipv6_the_64_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
