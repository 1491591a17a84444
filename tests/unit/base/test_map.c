/* The hash table, below and above the size where it starts to hash.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

static struct slice key_of(struct arena *a, size_t i)
{
	return arena_printf(a, "key-%zu", i);
}

static void an_empty_map_finds_nothing(void **state)
{
	struct arena a;
	struct map m;

	arena_init(&a);
	map_init(&m, &a);
	assert_null(map_get(&m, SLICE("x")));
	assert_null(map_find(&m, slice_make(NULL, 0)));
	arena_release(&a);
}

static void what_was_set_is_found_in_order_of_insertion(void **state)
{
	static int values[5000];
	struct arena a;
	struct map m;
	size_t i, j;

	arena_init(&a);
	map_init(&m, &a);
	for (i = 0; i < 5000; i++) {
		assert_null(map_set(&m, key_of(&a, i), &values[i]));
		if (i < 40)
			for (j = 0; j <= i; j++)
				assert_ptr_equal(map_get(&m, key_of(&a, j)), &values[j]);
		assert_null(map_get(&m, key_of(&a, i + 1)));
	}
	assert_int_equal(m.n, 5000);
	for (i = 0; i < 5000; i++) {
		assert_ptr_equal(map_get(&m, key_of(&a, i)), &values[i]);
		assert_ptr_equal(map_find(&m, key_of(&a, i)), &m.entries[i]);
	}
	arena_release(&a);
}

static void setting_again_replaces_and_returns_the_old_value(void **state)
{
	int values[100];
	struct arena a;
	struct map m;
	size_t i;

	arena_init(&a);
	map_init(&m, &a);
	for (i = 0; i < 50; i++)
		map_set(&m, key_of(&a, i), &values[i]);
	for (i = 0; i < 50; i++)
		assert_ptr_equal(map_set(&m, key_of(&a, i), &values[50 + i]), &values[i]);
	assert_int_equal(m.n, 50);
	for (i = 0; i < 50; i++)
		assert_ptr_equal(map_get(&m, key_of(&a, i)), &values[50 + i]);
	arena_release(&a);
}

static void keys_may_be_empty_or_hold_nuls(void **state)
{
	int empty, nul, other;
	struct arena a;
	struct map m;
	size_t i;

	arena_init(&a);
	map_init(&m, &a);
	map_set(&m, slice_make(NULL, 0), &empty);
	map_set(&m, SLICE("a\0b"), &nul);
	map_set(&m, SLICE("a\0c"), &other);
	for (i = 0; i < 20; i++)
		map_set(&m, key_of(&a, i), &m);
	assert_ptr_equal(map_get(&m, SLICE("")), &empty);
	assert_ptr_equal(map_get(&m, SLICE("a\0b")), &nul);
	assert_ptr_equal(map_get(&m, SLICE("a\0c")), &other);
	assert_null(map_get(&m, SLICE("a")));
	arena_release(&a);
}

static void running_out_leaves_the_map_whole(void **state)
{
	static char keys[3000][2];
	volatile bool left = true;
	volatile long n;
	struct arena a;
	struct map m;
	size_t i;

	for (i = 0; i < 3000; i++) {
		keys[i][0] = (char)(i >> 8);
		keys[i][1] = (char)i;
	}
	for (n = 0; left; n++) {
		left = false;
		arena_init(&a);
		map_init(&m, &a);
		alloc_fail_after(n);
		ARENA_TRY(&a, {
			for (size_t k = 0; k < 3000; k++)
				map_set(&m, slice_make(keys[k], 2), keys[k]);
		}, { left = true; });
		alloc_fail_never();
		for (i = 0; i < 3000; i++)
			assert_ptr_equal(map_get(&m, slice_make(keys[i], 2)), i < m.n ? keys[i] : NULL);
		arena_release(&a);
	}
	assert_int_equal(m.n, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_nothing),
		cmocka_unit_test(what_was_set_is_found_in_order_of_insertion),
		cmocka_unit_test(setting_again_replaces_and_returns_the_old_value),
		cmocka_unit_test(keys_may_be_empty_or_hold_nuls),
		cmocka_unit_test(running_out_leaves_the_map_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
