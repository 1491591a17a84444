/* Arrays that grow: what they hold stays, and memory that runs out leaves them as they were.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/grow.h"

struct list {
	uint32_t *p;
	size_t n, room;
};

static void check(const struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		assert_int_equal(l->p[i], i);
}

static void an_array_of_an_arena_keeps_what_it_holds(void **state)
{
	struct list l = { 0 };
	struct arena a;

	(void)state;
	arena_init(&a);
	for (uint32_t i = 0; i < 10000; i++) {
		GROW_IN(&a, l.p, l.n, l.room, 3);
		assert_true(l.n < l.room);
		l.p[l.n++] = i;
		if (i % 1000 == 0)
			(void)!arena_alloc(&a, 100); /* it can no longer grow where it is */
	}
	assert_int_equal(l.room, 3 << 12);
	check(&l);
	arena_release(&a);
}

static void an_array_of_malloc_keeps_what_it_holds(void **state)
{
	struct list l = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(GROW(l.p, l.n + 1, l.room, 3));
		l.p[l.n++] = i;
	}
	assert_int_equal(l.room, 3 << 9);
	assert_true(GROW(l.p, 100000, l.room, 3));
	assert_true(l.room >= 100000);
	check(&l);
	mem_free(l.p);
}

static void without_memory_an_array_is_as_before(void **state)
{
	struct list l = { 0 };

	(void)state;
	alloc_fail_after(0);
	assert_false(GROW(l.p, 1, l.room, 3));
	alloc_fail_never();
	assert_true(!l.p && !l.room);
	assert_true(GROW(l.p, 3, l.room, 3));
	l.n = 3;
	l.p[0] = 0, l.p[1] = 1, l.p[2] = 2;
	alloc_fail_after(0);
	assert_false(GROW(l.p, 4, l.room, 3));
	alloc_fail_never();
	assert_int_equal(l.room, 3);
	check(&l);
	mem_free(l.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_of_an_arena_keeps_what_it_holds),
		cmocka_unit_test(an_array_of_malloc_keeps_what_it_holds),
		cmocka_unit_test(without_memory_an_array_is_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
