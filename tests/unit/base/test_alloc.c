/* The fault point of the allocator.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

static void allocations_fail_once_the_successes_are_used_up(void **state)
{
	void *first, *second;

	alloc_fail_after(2);
	first = mem_alloc(1);
	second = mem_zalloc(8);
	assert_non_null(first);
	assert_non_null(second);
	assert_false(alloc_has_failed());
	assert_null(mem_alloc(1));
	assert_true(alloc_has_failed());
	assert_null(mem_zalloc(1));
	assert_null(mem_strndup("x", 1));
	assert_null(mem_realloc(first, 100));
	alloc_fail_never();
	assert_true(alloc_has_failed());
	mem_free(second);
	second = mem_alloc(1);
	assert_non_null(second);
	mem_free(first);
	mem_free(second);
}

static void *allocate_elsewhere(void *arg)
{
	void *p = mem_alloc(1);

	*(bool *)arg = p != NULL;
	mem_free(p);
	return NULL;
}

static void a_failing_thread_does_not_disturb_others(void **state)
{
	pthread_t thread;
	bool worked = false;

	alloc_fail_after(0);
	assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, &worked), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	alloc_fail_never();
	assert_true(worked);
}

static void zero_bytes_are_a_valid_request(void **state)
{
	char *p = mem_alloc(0);

	assert_non_null(p);
	p = mem_realloc(p, 0);
	assert_non_null(p);
	mem_free(p);
	p = mem_strndup(NULL, 0);
	assert_string_equal(p, "");
	mem_free(p);
}

static void an_absurd_size_is_refused(void **state)
{
	assert_null(mem_alloc(SIZE_MAX));
	assert_null(mem_zalloc(SIZE_MAX - 1));
}

static void strndup_copies_nuls_and_terminates(void **state)
{
	char *p = mem_strndup("a\0bc", 3);

	assert_memory_equal(p, "a\0b\0", 4);
	mem_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_fail_once_the_successes_are_used_up),
		cmocka_unit_test(a_failing_thread_does_not_disturb_others),
		cmocka_unit_test(zero_bytes_are_a_valid_request),
		cmocka_unit_test(an_absurd_size_is_refused),
		cmocka_unit_test(strndup_copies_nuls_and_terminates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
