/* Sorting outside of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "oracle/facts.h"

static uint64_t state;

static uint32_t next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

/* Adds n records of 0..99 random bytes, takes them back, and sees that they are all there and in order. */
static void sort_random(size_t memory, size_t n, bool spills)
{
	struct facts *f = facts_new(memory);
	uint64_t sum_in = 0, sum_out = 0;
	char bytes[100], before[100];
	size_t count = 0, before_n = 0;
	struct slice s;
	bool got;

	assert_non_null(f);
	state = n;
	for (size_t i = 0; i < n; i++) {
		size_t size = next_random() % sizeof(bytes);

		for (size_t k = 0; k < size; k++) {
			bytes[k] = (char)(next_random() % 4);
			sum_in += (uint64_t)bytes[k] * (k + 1);
		}
		sum_in += size;
		assert_true(facts_add(f, slice_make(bytes, size)));
	}
	assert_true(facts_sort(f));
	assert_int_equal(facts_runs(f) > 0, spills);
	for (;;) {
		assert_true(facts_next(f, &s, &got));
		if (!got)
			break;
		assert_true(!count || slice_cmp(slice_make(before, before_n), s) <= 0);
		memcpy(before, s.p, s.n);
		before_n = s.n;
		sum_out += s.n;
		for (size_t k = 0; k < s.n; k++)
			sum_out += (uint64_t)s.p[k] * (k + 1);
		count++;
	}
	assert_true(facts_next(f, &s, &got)); /* the end stays the end */
	assert_false(got);
	assert_int_equal(count, n);
	assert_true(sum_in == sum_out);
	facts_free(f);
}

static void facts_come_back_in_order(void **s)
{
	(void)s;
	sort_random(1 << 20, 0, false);
	sort_random(1 << 20, 1, false);
	sort_random(1 << 20, 5000, false);
}

static void what_does_not_fit_goes_to_a_file(void **s)
{
	(void)s;
	sort_random(10000, 5000, true);
	sort_random(1, 50, true);           /* each one a run */
	sort_random(1 << 20, 100000, true); /* runs larger than what is read at a time */
}

static void a_record_may_be_longer_than_what_is_read_at_a_time(void **s)
{
	struct facts *f = facts_new(1000);
	char *large = calloc(1, FACT_MOST);
	struct slice r;
	bool got;

	(void)s;
	for (int i = 9; i >= 0; i--) {
		large[0] = (char)i;
		assert_true(facts_add(f, slice_make(large, FACT_MOST - 7)));
	}
	assert_false(facts_add(f, slice_make(large, FACT_MOST + 1)));
	assert_true(facts_sort(f));
	for (int i = 0; i < 10; i++) {
		assert_true(facts_next(f, &r, &got));
		assert_true(got);
		assert_int_equal(r.n, FACT_MOST - 7);
		assert_int_equal(r.p[0], i);
	}
	facts_free(f);
	free(large);
}

static void running_out_of_memory_is_reported(void **s)
{
	(void)s;
	for (long n = 0;; n++) {
		struct facts *f;
		bool ok = true, got;
		struct slice r;

		alloc_fail_after(n);
		f = facts_new(100);
		for (int i = 0; f && ok && i < 20; i++)
			ok = facts_add(f, SLICE("a record of some length"));
		ok = f && ok && facts_sort(f);
		for (got = true; ok && got;)
			ok = facts_next(f, &r, &got);
		alloc_fail_never();
		if (f && !ok)
			assert_string_equal(facts_why(f), "out of memory");
		facts_free(f);
		if (ok)
			return;
		assert_true(n < 1000);
	}
}

static void an_unwritable_directory_is_reported(void **s)
{
	struct facts *f = facts_new(1);

	(void)s;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_true(facts_add(f, SLICE("one")));
	assert_false(facts_add(f, SLICE("two")));
	assert_non_null(strstr(facts_why(f), "TMPDIR"));
	unsetenv("TMPDIR");
	facts_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_come_back_in_order),
		cmocka_unit_test(what_does_not_fit_goes_to_a_file),
		cmocka_unit_test(a_record_may_be_longer_than_what_is_read_at_a_time),
		cmocka_unit_test(running_out_of_memory_is_reported),
		cmocka_unit_test(an_unwritable_directory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
