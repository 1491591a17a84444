/* Arenas: placement, growth, deferred calls, running out of memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/poison.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
	unsigned char *p[2000];
	struct arena a;
	size_t i, j;

	arena_init(&a);
	for (i = 0; i < 2000; i++) {
		p[i] = arena_alloc(&a, i % 97);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)(i & 0xff), i % 97);
	}
	for (i = 0; i < 2000; i++)
		for (j = 0; j < i % 97; j++)
			assert_int_equal(p[i][j], i & 0xff);
	arena_release(&a);
	assert_int_equal(a.total, 0);
}

static void zalloc_zeroes_memory_used_before(void **state)
{
	struct arena a;
	size_t i;
	char *p;

	arena_init(&a);
	memset(arena_alloc(&a, 4000), 0xff, 4000);
	arena_clear(&a);
	p = arena_array(&a, char, 4000);
	for (i = 0; i < 4000; i++)
		assert_int_equal(p[i], 0);
	arena_release(&a);
}

static void clear_keeps_one_ordinary_block_and_no_large_one(void **state)
{
	struct arena a;
	size_t one_block;
	int i;

	arena_init(&a);
	arena_clear(&a); /* of an empty arena */
	assert_int_equal(a.total, 0);
	arena_alloc(&a, 1);
	one_block = a.total;
	for (i = 0; i < 100; i++)
		arena_alloc(&a, 1000);
	arena_alloc(&a, 1000000);
	assert_true(a.total > 1000000 + one_block);
	arena_clear(&a);
	assert_int_equal(a.total, one_block);
	arena_alloc(&a, 1000);
	assert_int_equal(a.total, one_block);
	arena_release(&a);
	assert_int_equal(a.total, 0);
}

static void a_large_allocation_leaves_the_current_block_in_use(void **state)
{
	struct arena a;
	char *first, *second;

	arena_init(&a);
	first = arena_alloc(&a, 16);
	arena_alloc(&a, 100000);
	second = arena_alloc(&a, 16);
	assert_ptr_equal(second, first + 16 + MEM_REDZONE);
	arena_release(&a);
}

static void the_last_allocation_grows_in_place(void **state)
{
	struct arena a;
	char *p, *other;

	arena_init(&a);
	p = arena_alloc(&a, 10);
	memcpy(p, "0123456789", 10);
	assert_ptr_equal(arena_grow(&a, p, 10, 2000), p);
	assert_memory_equal(p, "0123456789", 10);
	memset(p, 'x', 2000);
	assert_ptr_equal(arena_grow(&a, p, 2000, 100), p); /* never shrinks */
	other = arena_alloc(&a, 1);
	assert_true(other >= p + 2000);
	assert_ptr_not_equal(arena_grow(&a, p, 2000, 2100), p);
	arena_release(&a);
}

static void growing_from_nothing_allocates(void **state)
{
	struct arena a;
	char *p;

	arena_init(&a);
	p = arena_grow(&a, NULL, 0, 3);
	memset(p, 1, 3);
	arena_release(&a);
}

/* Three large ones, so that the first, a middle and the last of the list are moved. */
static void large_allocations_keep_their_bytes_as_they_grow(void **state)
{
	size_t size[3] = { 5000, 6000, 7000 };
	struct arena a;
	size_t i, j;
	char *p[3];
	int round;

	arena_init(&a);
	for (i = 0; i < 3; i++)
		p[i] = memset(arena_alloc(&a, size[i]), (int)('a' + i), size[i]);
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 3; i++) {
			p[i] = arena_grow(&a, p[i], size[i], size[i] * 2);
			assert_int_equal((uintptr_t)p[i] % 16, 0);
			memset(p[i] + size[i], (int)('a' + i), size[i]);
			size[i] *= 2;
		}
	}
	for (i = 0; i < 3; i++)
		for (j = 0; j < size[i]; j++)
			assert_int_equal(p[i][j], 'a' + i);
	arena_release(&a);
	assert_int_equal(a.total, 0);
}

static void a_small_allocation_can_grow_large(void **state)
{
	struct arena a;
	size_t n;
	char *p;

	arena_init(&a);
	p = memset(arena_alloc(&a, 100), 'z', 100);
	for (n = 100; n < 300000; n += 777) {
		p = arena_grow(&a, p, n, n + 777);
		memset(p + n, 'z', 777);
	}
	while (n--)
		assert_int_equal(p[n], 'z');
	arena_release(&a);
}

static void copies_and_formats(void **state)
{
	char text[1000], *cstr;
	struct slice s;
	struct arena a;

	arena_init(&a);
	s = arena_copy(&a, slice_make("a\0b", 3));
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.p, "a\0b", 3);
	assert_int_equal(arena_copy(&a, slice_make(NULL, 0)).n, 0);
	cstr = arena_cstr(&a, slice_make("hello!", 5));
	assert_string_equal(cstr, "hello");
	s = arena_printf(&a, "%d-%s", 42, "x");
	assert_true(slice_is(s, "42-x"));
	memset(text, 'q', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	s = arena_printf(&a, "<%s>", text);
	assert_int_equal(s.n, sizeof(text) + 1);
	assert_int_equal(s.p[0], '<');
	assert_int_equal(s.p[s.n - 1], '>');
	s = arena_printf(&a, "%255d", 1); /* just fits and just does not */
	assert_int_equal(s.n, 255);
	s = arena_printf(&a, "%256d", 1);
	assert_int_equal(s.n, 256);
	assert_int_equal(s.p[255], '1');
	arena_release(&a);
}

static char order[8];
static size_t order_n;
static char one[] = "1", two[] = "2", three[] = "3";

static void note(void *ptr)
{
	order[order_n++] = *(const char *)ptr;
}

static void deferred_calls_run_last_first_and_once(void **state)
{
	struct arena a;

	order_n = 0;
	arena_init(&a);
	arena_defer(&a, note, one);
	arena_defer(&a, note, two);
	arena_clear(&a);
	assert_memory_equal(order, "21", 2);
	arena_defer(&a, note, three);
	arena_release(&a);
	assert_int_equal(order_n, 3);
	assert_int_equal(order[2], '3');
}

static void a_failing_defer_calls_at_once(void **state)
{
	volatile bool left = false;
	struct arena a;

	order_n = 0;
	arena_init(&a);
	alloc_fail_after(0);
	ARENA_TRY(&a, { arena_defer(&a, note, one); }, { left = true; });
	alloc_fail_never();
	assert_true(left);
	assert_int_equal(order_n, 1);
	arena_release(&a);
	assert_int_equal(order_n, 1);
}

static void work(struct arena *a)
{
	char *p = arena_alloc(a, 10), *q;
	int i;

	arena_defer(a, note, one);
	for (i = 0; i < 40; i++)
		memset(arena_zalloc(a, 1000), 1, 1000);
	p = arena_grow(a, p, 10, 5000);
	q = arena_alloc(a, 9000);
	p = arena_grow(a, p, 5000, 500000);
	memset(p, 1, 500000);
	q = arena_grow(a, q, 9000, 10000);
	memset(q, 1, 10000);
	arena_printf(a, "%5000d", 1);
}

static void running_out_anywhere_leaves_cleanly(void **state)
{
	volatile bool left = true;
	volatile long n;
	struct arena a;

	arena_init(&a);
	for (n = 0; left; n++) {
		order_n = 0;
		left = false;
		alloc_fail_after(n);
		ARENA_TRY(&a, { work(&a); }, { left = true; });
		assert_int_equal(left, alloc_has_failed());
		alloc_fail_never();
		assert_null(a.oom);
		arena_release(&a);
		assert_int_equal(a.total, 0);
		assert_int_equal(order_n, n > 0); /* the first failure is before the defer */
	}
	assert_true(n > 6);
}

static void sizes_that_overflow_run_out_of_memory(void **state)
{
	volatile int left = 0;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, { (void)arena_array(&a, uint64_t, SIZE_MAX / 4); }, { left++; });
	ARENA_TRY(&a, { arena_alloc(&a, SIZE_MAX); }, { left++; });
	ARENA_TRY(&a, { arena_grow(&a, arena_alloc(&a, 9), 9, SIZE_MAX); }, { left++; });
	ARENA_TRY(&a, { arena_grow(&a, arena_alloc(&a, 9000), 9000, SIZE_MAX); }, { left++; });
	assert_int_equal(left, 4);
	arena_release(&a);
}

static void tries_nest(void **state)
{
	volatile bool inner = false, outer = false;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		ARENA_TRY(&a, { arena_out_of_memory(&a); }, { inner = true; });
		assert_true(inner);
		arena_out_of_memory(&a);
	}, { outer = true; });
	assert_true(outer);
	assert_null(a.oom);
	arena_release(&a);
}

/* Whether so much can be allocated; strictly, as A4 has it. */
static bool strict_alloc(struct arena *a, size_t n)
{
	volatile bool had = false;

	a->strict = true;
	ARENA_TRY(a, { had = arena_alloc(a, n) != NULL; }, {});
	a->strict = false;
	return had;
}

static void arenas_share_a_budget_and_give_it_back(void **state)
{
	struct budget b = { .total = 1 << 20, .reserve = 128 << 10 };
	struct arena first, second;

	(void)state;
	arena_init(&first);
	arena_init(&second);
	arena_alloc(&first, 10);
	assert_true(arena_join(&first, &b) && arena_join(&second, &b));
	assert_int_equal(b.used, first.total);
	assert_true(strict_alloc(&first, 800 << 10));
	assert_int_equal(b.used, first.total);
	assert_false(strict_alloc(&second, 100 << 10));
	assert_int_equal(second.refusal, BUDGET_BUSY);
	assert_true(strict_alloc(&second, 30 << 10)); /* small: from the reserve */
	assert_false(strict_alloc(&second, 2 << 20));
	assert_int_equal(second.refusal, BUDGET_NEVER);
	assert_int_equal(b.refused, 2);
	arena_alloc(&second, 5 << 20); /* not strict: nobody is asked */
	assert_int_equal(b.used, first.drawn + second.drawn);
	arena_clear(&first);
	assert_int_equal(b.used, second.drawn);
	assert_null(first.budget);
	arena_release(&second);
	assert_int_equal(b.used, 0);
	arena_release(&first);
}

static void growing_and_borrowing_are_drawn_too(void **state)
{
	struct budget b = { .total = 1 << 20 };
	volatile bool refused = false;
	struct arena a;
	char *p;

	(void)state;
	arena_init(&a);
	p = arena_alloc(&a, 10 << 10);
	assert_true(arena_join(&a, &b));
	a.strict = true;
	p = arena_grow(&a, p, 10 << 10, 600 << 10);
	assert_int_equal(b.used, a.total);
	arena_borrow(&a, 100 << 10);
	assert_int_equal(b.used, a.total + (100 << 10));
	arena_return(&a, 100 << 10);
	alloc_fail_after(0);
	ARENA_TRY(&a, { (void)arena_grow(&a, p, 600 << 10, 700 << 10); }, { refused = true; });
	alloc_fail_never();
	assert_true(refused);
	assert_int_equal(a.refusal, BUDGET_GIVEN);
	assert_int_equal(b.used, a.total);
	refused = false;
	ARENA_TRY(&a, { arena_borrow(&a, 500 << 10); }, { refused = true; });
	assert_true(refused);
	assert_int_equal(a.refusal, BUDGET_NEVER);
	arena_release(&a);
	assert_int_equal(b.used, 0);
	assert_int_equal(a.refusal, BUDGET_GIVEN);
}

static void what_moves_to_pages_of_its_own_keeps_its_bytes(void **state)
{
	struct budget b = { .total = 64 << 20 };
	volatile bool refused = false;
	struct arena a;
	size_t n = 10 << 10;
	char *p;

	(void)state;
	arena_init(&a);
	assert_true(arena_join(&a, &b));
	a.strict = a.maps = true;
	p = arena_alloc(&a, n);
	memset(p, 'x', n);
	for (; n < 8 << 20; n *= 3) {
		p = arena_grow(&a, p, n, 3 * n);
		assert_int_equal(p[0] + p[n - 1], 2 * 'x');
		memset(p + n, 'x', 2 * n);
		arena_alloc(&a, 70 << 10); /* another between them */
		assert_int_equal(b.used, a.total);
	}
	alloc_fail_after(0);
	ARENA_TRY(&a, { (void)arena_grow(&a, p, n, n + (1 << 20)); }, { refused = true; });
	alloc_fail_never();
	assert_true(refused && p[n - 1] == 'x');
	a.strict = false;
	p = arena_grow(&a, p, n, 2 * n); /* not drawn, but in place */
	assert_int_equal(p[n - 1], 'x');
	arena_release(&a);
	assert_int_equal(a.total, 0);
	assert_int_equal(b.used, 0);
}

#ifdef THORPE_ASAN
static void unused_room_is_out_of_bounds(void **state)
{
	struct arena a;
	char *p;

	arena_init(&a);
	p = arena_alloc(&a, 16);
	assert_false(__asan_address_is_poisoned(p + 15));
	assert_true(__asan_address_is_poisoned(p + 16));
	arena_alloc(&a, 16);
	assert_true(__asan_address_is_poisoned(p + 16));
	p = arena_alloc(&a, 5);
	assert_true(__asan_address_is_poisoned(p + 5));
	arena_clear(&a);
	assert_true(__asan_address_is_poisoned(p));
	arena_release(&a);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
		cmocka_unit_test(zalloc_zeroes_memory_used_before),
		cmocka_unit_test(clear_keeps_one_ordinary_block_and_no_large_one),
		cmocka_unit_test(a_large_allocation_leaves_the_current_block_in_use),
		cmocka_unit_test(the_last_allocation_grows_in_place),
		cmocka_unit_test(growing_from_nothing_allocates),
		cmocka_unit_test(large_allocations_keep_their_bytes_as_they_grow),
		cmocka_unit_test(a_small_allocation_can_grow_large),
		cmocka_unit_test(copies_and_formats),
		cmocka_unit_test(deferred_calls_run_last_first_and_once),
		cmocka_unit_test(a_failing_defer_calls_at_once),
		cmocka_unit_test(running_out_anywhere_leaves_cleanly),
		cmocka_unit_test(sizes_that_overflow_run_out_of_memory),
		cmocka_unit_test(tries_nest),
		cmocka_unit_test(arenas_share_a_budget_and_give_it_back),
		cmocka_unit_test(growing_and_borrowing_are_drawn_too),
		cmocka_unit_test(what_moves_to_pages_of_its_own_keeps_its_bytes),
#ifdef THORPE_ASAN
		cmocka_unit_test(unused_room_is_out_of_bounds),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
