/* ULIDs: their form, and their order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/ulid.h"

#define THREADS 4
#define EACH    2000

static void text_is_the_time_then_the_rest(void **state)
{
	static const uint8_t none[ULID_REST] = { 0 },
			     all[ULID_REST] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	char text[ULID_LENGTH];

	(void)state;
	ulid_text(1469918176385, none, text);
	assert_memory_equal(text, "01ARYZ6S410000000000000000", ULID_LENGTH);
	ulid_text(0xffffffffffff, all, text);
	assert_memory_equal(text, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", ULID_LENGTH);
}

static void the_time_is_read_back(void **state)
{
	char text[ULID_LENGTH];
	int64_t ms;

	(void)state;
	assert_true(ulid_new(1700000000123, text));
	assert_true(ulid_ms(text, sizeof(text), &ms));
	assert_int_equal(ms, 1700000000123);
	assert_false(ulid_ms(text, sizeof(text) - 1, &ms));
	text[3] = 'U'; /* no digit */
	assert_false(ulid_ms(text, sizeof(text), &ms));
	memset(text, 'Z', sizeof(text)); /* more than 48 bits */
	assert_false(ulid_ms(text, sizeof(text), &ms));
}

static void those_of_one_millisecond_are_in_the_order_they_were_made_in(void **state)
{
	char before[ULID_LENGTH], now[ULID_LENGTH];

	(void)state;
	assert_true(ulid_new(1700000000000, before));
	for (int i = 0; i < 100000; i++) {
		assert_true(ulid_new(1700000000000, now));
		assert_true(memcmp(before, now, ULID_LENGTH) < 0);
		memcpy(before, now, ULID_LENGTH);
	}
}

static void another_millisecond_starts_a_new_sequence(void **state)
{
	char a[ULID_LENGTH], b[ULID_LENGTH], c[ULID_LENGTH];

	(void)state;
	assert_true(ulid_new(1700000000001, a) && ulid_new(1700000000002, b) && ulid_new(1700000000001, c));
	assert_true(memcmp(a, b, ULID_LENGTH) < 0);
	assert_true(memcmp(c, b, ULID_LENGTH) < 0); /* the clock may be set back */
	assert_memory_not_equal(a, c, ULID_LENGTH);
}

static char made[THREADS * EACH][ULID_LENGTH];

static void *make_many(void *arg)
{
	char(*own)[ULID_LENGTH] = arg;

	for (int i = 0; i < EACH; i++)
		if (!ulid_new(1700000000003, own[i]))
			abort();
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, ULID_LENGTH);
}

static void no_two_threads_make_the_same(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many, made[i * EACH]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(made, THREADS * EACH, ULID_LENGTH, compare);
	for (int i = 1; i < THREADS * EACH; i++)
		assert_memory_not_equal(made[i - 1], made[i], ULID_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_the_time_then_the_rest),
		cmocka_unit_test(the_time_is_read_back),
		cmocka_unit_test(those_of_one_millisecond_are_in_the_order_they_were_made_in),
		cmocka_unit_test(another_millisecond_starts_a_new_sequence),
		cmocka_unit_test(no_two_threads_make_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
