/* Connections by address, and the pace of bodies.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "http/door/addresses.h"
#include "http/door/ip.h"
#include "http/connection/pace.h"

static struct addresses addresses;

static int setup(void **state)
{
	(void)state;
	addresses = (struct addresses){ 0 };
	addresses_init(&addresses);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ADDRESSES_BUCKETS; i++)
		assert_null(addresses.buckets[i]); /* nothing is kept of those that have left */
	addresses_release(&addresses);
	return 0;
}

static struct address_entry *enter(const char *text, uint64_t most)
{
	struct ip ip;

	assert_true(ip_parse(slice_str(text), &ip));
	return addresses_enter(&addresses, ip_client(&ip), most);
}

static void an_address_has_so_many_places_and_others_have_theirs(void **state)
{
	struct address_entry *a, *b, *other;

	(void)state;
	a = enter("10.0.0.1", 2);
	b = enter("10.0.0.1", 2);
	assert_true(a && a == b);
	assert_null(enter("10.0.0.1", 2));
	other = enter("10.0.0.2", 2);
	assert_non_null(other);
	addresses_leave(&addresses, a);
	b = enter("10.0.0.1", 2);
	assert_non_null(b);
	assert_null(enter("10.0.0.1", 2));
	addresses_leave(&addresses, b);
	addresses_leave(&addresses, b);
	addresses_leave(&addresses, other);
	addresses_leave(&addresses, NULL);
}

static void ipv6_counts_by_64_bits_and_ipv4_inside_it_as_ipv4(void **state)
{
	struct address_entry *a, *b;

	(void)state;
	a = enter("2001:db8:1:2::1", 1);
	assert_non_null(a);
	assert_null(enter("2001:db8:1:2:ffff::7", 1));
	b = enter("2001:db8:1:3::1", 1);
	assert_non_null(b);
	addresses_leave(&addresses, a);
	addresses_leave(&addresses, b);
	a = enter("::ffff:10.0.0.1", 1);
	assert_non_null(a);
	assert_null(enter("10.0.0.1", 1));
	b = enter("a00:1::", 1); /* the same first bytes */
	assert_non_null(b);
	addresses_leave(&addresses, a);
	addresses_leave(&addresses, b);
}

static void without_memory_no_new_client_enters(void **state)
{
	struct address_entry *a;

	(void)state;
	a = enter("10.0.0.1", 9);
	alloc_fail_after(0);
	assert_null(enter("10.0.0.2", 9));
	assert_ptr_equal(enter("10.0.0.1", 9), a);
	alloc_fail_never();
	addresses_leave(&addresses, a);
	addresses_leave(&addresses, a);
}

#define WINDOW_MS 1000
#define RATE      1000 /* bytes a second */

static void old_bytes_do_not_count(void **state)
{
	struct pace p;
	uint64_t now = 5000;

	(void)state;
	pace_begin(&p, now);
	/* All at once, and then nothing: within the window it is fast, after it slow. */
	for (int i = 1; i <= PACE_SLOTS; i++)
		assert_false(pace_is_slow(&p, now + 250 * (uint64_t)i, 16 << 20, WINDOW_MS, RATE));
	assert_true(pace_is_slow(&p, now + 1250, 16 << 20, WINDOW_MS, RATE));
}

static void a_steady_pace_is_never_slow_and_a_slower_one_soon_is(void **state)
{
	struct pace p;
	size_t bytes = 0;

	(void)state;
	pace_begin(&p, 0);
	for (uint64_t now = 10; now < 20000; now += 10) {
		bytes += 10;
		assert_false(pace_is_slow(&p, now, bytes, WINDOW_MS, RATE));
	}
	pace_begin(&p, 0);
	for (uint64_t now = 10; now <= 1000; now += 10)
		if (pace_is_slow(&p, now, now - now / 10, WINDOW_MS, RATE))
			return;
	fail_msg("nine tenths of the pace are enough");
}

static void an_asker_that_was_busy_does_not_blame_the_client(void **state)
{
	struct pace p;

	(void)state;
	pace_begin(&p, 0);
	assert_false(pace_is_slow(&p, 60000, 0, WINDOW_MS, RATE));
	assert_false(pace_is_slow(&p, 60010, 0, WINDOW_MS, RATE));
	assert_false(pace_is_slow(&p, 60250, 5000, WINDOW_MS, RATE));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_address_has_so_many_places_and_others_have_theirs),
		TEST(ipv6_counts_by_64_bits_and_ipv4_inside_it_as_ipv4),
		TEST(without_memory_no_new_client_enters),
		TEST(old_bytes_do_not_count),
		TEST(a_steady_pace_is_never_slow_and_a_slower_one_soon_is),
		TEST(an_asker_that_was_busy_does_not_blame_the_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
