/* Reading: points, ranges in both directions, views, and what happens when memory or disk fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void a_key_is_found_with_its_value_or_not_at_all(void **state)
{
	struct fixture *x = *state;

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "a", "1");
	fixture_put(x, STORE_ITEMS, "empty", "");
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "a"), "1");
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "empty"), "");
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "b"));
	assert_null(fixture_get(x, NULL, STORE_INDEX, "a"));
}

static void keys_and_values_may_hold_any_bytes(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();
	struct slice key = slice_make("\0\xff\0", 3), value;
	char large[400 * 1024];
	bool found;

	fixture_open_memory(x);
	memset(large, 0xa5, sizeof(large));
	store_batch_put(b, x->store, STORE_ITEMS, key, slice_make(large, sizeof(large)));
	store_batch_put(b, x->store, STORE_ITEMS, slice_make(NULL, 0), slice_make(NULL, 0));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, key, &x->arena, &value, &found,
			      &x->error));
	assert_true(found);
	assert_true(slice_equal(value, slice_make(large, sizeof(large))));
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, slice_make(NULL, 0), &x->arena, &value,
			      &found, &x->error));
	assert_true(found);
	assert_int_equal(value.n, 0);
	store_batch_free(b);
}

static void a_value_outlives_the_change_of_its_key(void **state)
{
	struct fixture *x = *state;
	struct slice value;
	bool found;

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "a", "before");
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, SLICE("a"), &x->arena, &value, &found,
			      &x->error));
	fixture_put(x, STORE_ITEMS, "a", "after!");
	assert_true(slice_is(value, "before"));
}

static void put_letters(struct fixture *x)
{
	static const char *const keys[] = { "b", "d", "da", "f", "h" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		fixture_put(x, STORE_ITEMS, keys[i], keys[i]);
	fixture_put(x, STORE_INDEX, "e", "of another family");
}

static void a_walk_stays_within_its_bounds(void **state)
{
	struct fixture *x = *state;
	static const struct {
		const char *from, *to, *up, *down;
	} cases[] = {
		{ "", "", "b d da f h ", "h f da d b " },
		{ "d", "h", "d da f ", "f da d " },
		{ "c", "g", "d da f ", "f da d " },
		{ "d", "da", "d ", "d " },
		{ "", "d", "b ", "b " },
		{ "f", "", "f h ", "h f " },
		{ "i", "", "", "" },
		{ "", "a", "", "" },
		{ "dc", "e", "", "" },
		{ "d", "d", "", "" },
		{ "h", "b", "", "" },
	};

	fixture_open_memory(x);
	put_letters(x);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(fixture_keys(x, NULL, cases[i].from, cases[i].to, false), cases[i].up);
		assert_string_equal(fixture_keys(x, NULL, cases[i].from, cases[i].to, true), cases[i].down);
	}
}

/* Files and memtables are asked by the first twelve bytes whether they are worth a walk: those that say no must not
 * hide a key, neither from a walk within a partition nor from one across several. */
static void a_walk_finds_a_partition_in_files_and_memory(void **state)
{
	static const struct {
		const char *from, *to, *up, *down;
	} cases[] = {
		{ "partition--1", "partition--1~", "partition--1a partition--1b partition--1c ",
		  "partition--1c partition--1b partition--1a " },
		{ "partition--2", "partition--2~", "partition--2a ", "partition--2a " },
		{ "partition--3", "partition--3~", "partition--3a ", "partition--3a " },
		{ "partition--1b", "partition--1c", "partition--1b ", "partition--1b " },
		{ "partition--0", "partition--0~", "", "" },
		{ "partition--4", "partition--4~", "", "" },
		{ "partition--0", "partition--2", "partition--1a partition--1b partition--1c ",
		  "partition--1c partition--1b partition--1a " },
		{ "partition--2", "partition--9", "partition--2a partition--3a ", "partition--3a partition--2a " },
		{ "partition", "", "partition--1a partition--1b partition--1c partition--2a partition--3a ",
		  "partition--3a partition--2a partition--1c partition--1b partition--1a " },
	};
	struct fixture *x = *state;

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "partition--1a", "");
	fixture_put(x, STORE_ITEMS, "partition--2a", "");
	fixture_close(x); /* flushes */
	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "partition--1b", "");
	fixture_close(x);
	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "partition--1c", "");
	fixture_put(x, STORE_ITEMS, "partition--3a", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(fixture_keys(x, NULL, cases[i].from, cases[i].to, false), cases[i].up);
		assert_string_equal(fixture_keys(x, NULL, cases[i].from, cases[i].to, true), cases[i].down);
	}
}

/* Walks "partition--1" backwards and compares with what was put: `n` entries without every seventh, one with a new
 * value. */
static void walk_back(struct fixture *x, int n, size_t most)
{
	struct store_iter *it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS },
					   &(struct store_walk){ SLICE("partition--1"), SLICE("partition--1~"),
								 .backwards = true, .most = most },
					   &x->arena);
	size_t taken = 0;

	for (int i = n - 1; i >= 0 && taken < most; i--) {
		char key[32];

		if (i % 7 == 6)
			continue;
		snprintf(key, sizeof(key), "partition--1%04d", i);
		assert_true(store_iter_next(it));
		assert_true(slice_is(store_iter_key(it), key));
		assert_true(slice_is(store_iter_value(it), i == 3 ? "new" : key));
		taken++;
	}
	if (taken < most)
		assert_false(store_iter_next(it));
	assert_true(store_iter_ok(it, &x->arena, &x->error));
	store_iter_close(it);
}

static void delete_key(struct fixture *x, const char *key)
{
	struct store_batch *b = store_batch_new();

	store_batch_delete(b, x->store, STORE_ITEMS, slice_str(key));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	store_batch_free(b);
}

/* A walk backwards may begin at the front, depending on how many are wanted, how many there are, and how others
 * went. */
static void a_walk_backwards_gives_the_same_however_many_are_wanted(void **state)
{
	static const size_t wanted[] = { 1, 7, 8, 20, 31, 32, 33, 1000, SIZE_MAX };
	struct fixture *x = *state;

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "partition--0zz", "before");
	fixture_put(x, STORE_ITEMS, "partition--2", "after");
	for (int n = 0; n < 90; n++) {
		char key[32];

		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			for (int again = 0; again < 3; again++)
				walk_back(x, n, wanted[i]);
		snprintf(key, sizeof(key), "partition--1%04d", n);
		fixture_put(x, STORE_ITEMS, key, key);
		if (n == 3)
			fixture_put(x, STORE_ITEMS, key, "new");
		if (n % 7 == 6)
			delete_key(x, key);
		arena_clear(&x->arena);
	}
}

static void a_walk_backwards_meets_large_values(void **state)
{
	struct fixture *x = *state;
	char large[60000];

	fixture_open_memory(x);
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = 0;
	for (int n = 0; n < 4; n++) {
		char key[32];
		struct store_iter *it;

		snprintf(key, sizeof(key), "partition--1%d", n);
		fixture_put(x, STORE_ITEMS, key, large);
		it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS },
				&(struct store_walk){ SLICE("partition--1"), SLICE("partition--1~"), .backwards = true,
						      .most = 20 },
				&x->arena);
		for (int left = n; left >= 0; left--) {
			assert_true(store_iter_next(it));
			assert_int_equal(store_iter_key(it).p[12], '0' + left);
			assert_true(slice_is(store_iter_value(it), large));
		}
		assert_false(store_iter_next(it));
		store_iter_close(it);
	}
}

/* More than are asked for together, some of them twice, some not there, in no order; of a moment when a view is
 * given. */
static void several_keys_are_found_as_one_by_one(void **state)
{
	struct fixture *x = *state;
	struct slice keys[100], values[100];
	struct store_view *v;

	fixture_open(x);
	for (int i = 0; i < 60; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%02d", i);
		if (i % 5)
			fixture_put(x, STORE_ITEMS, key, i == 1 ? "" : key);
		if (i == 30) {
			fixture_close(x); /* half of them in a file */
			fixture_open(x);
		}
	}
	v = store_view(x->store, &x->arena);
	delete_key(x, "k59");
	for (int i = 0; i < 100; i++)
		keys[i] = arena_printf(&x->arena, "k%02d", i * 37 % 70);
	for (size_t n = 0; n <= 100; n += 20) {
		for (int later = 0; later < 2; later++) {
			assert_true(store_get_many(&(struct store_at){ x->store, later ? NULL : v, STORE_ITEMS }, keys,
						   n, &x->arena, values, &x->error));
			for (size_t i = 0; i < n; i++) {
				const char *one =
					fixture_get(x, later ? NULL : v, STORE_ITEMS, arena_cstr(&x->arena, keys[i]));

				assert_true((values[i].p != NULL) == (one != NULL));
				assert_true(slice_is(values[i], one ? one : ""));
			}
		}
	}
	store_fail_after(x->store, 1); /* the second group */
	assert_false(store_get_many(&(struct store_at){ x->store, NULL, STORE_ITEMS }, keys, 100, &x->arena, values,
				    &x->error));
	assert_int_equal(x->error.code, ERR_INTERNAL);
	store_fail_after(x->store, -1);
}

static void a_walk_keeps_its_own_copy_of_the_bounds(void **state)
{
	struct fixture *x = *state;
	char from[] = "d", to[] = "g";
	struct store_iter *it;

	fixture_open_memory(x);
	put_letters(x);
	it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS },
			&(struct store_walk){ slice_str(from), slice_str(to) }, &x->arena);
	from[0] = to[0] = 'a';
	assert_true(store_iter_next(it));
	assert_true(slice_is(store_iter_key(it), "d"));
	assert_true(slice_is(store_iter_value(it), "d"));
	assert_true(store_iter_next(it));
	assert_true(store_iter_next(it));
	assert_true(slice_is(store_iter_key(it), "f"));
	assert_false(store_iter_next(it));
}

static void a_walk_sees_one_moment(void **state)
{
	struct fixture *x = *state;
	struct store_iter *it;

	fixture_open_memory(x);
	put_letters(x);
	it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS },
			&(struct store_walk){ SLICE("f"), SLICE("") }, &x->arena);
	fixture_put(x, STORE_ITEMS, "g", "new");
	assert_true(store_iter_next(it));
	assert_true(store_iter_next(it));
	assert_true(slice_is(store_iter_key(it), "h"));
	assert_string_equal(fixture_keys(x, NULL, "f", "", false), "f g h ");
}

static void a_closed_walk_is_over(void **state)
{
	struct fixture *x = *state;
	struct store_iter *it;

	fixture_open_memory(x);
	put_letters(x);
	it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS }, &(struct store_walk){ SLICE(""), SLICE("") },
			&x->arena);
	assert_true(store_iter_next(it));
	store_iter_close(it);
	store_iter_close(it);
	assert_false(store_iter_next(it));
	assert_true(store_iter_ok(it, &x->arena, &x->error));
	store_iter_close(NULL);
}

static void a_view_shows_one_moment_of_every_family(void **state)
{
	struct fixture *x = *state;
	struct store_view *v, *in_arena;
	struct store_batch *b = store_batch_new();

	fixture_open_memory(x);
	put_letters(x);
	v = store_view(x->store, NULL);
	in_arena = store_view(x->store, &x->arena);
	fixture_put(x, STORE_ITEMS, "b", "changed");
	fixture_put(x, STORE_ITEMS, "z", "new");
	store_batch_delete(b, x->store, STORE_INDEX, SLICE("e"));
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("d"), SLICE("g"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	store_batch_free(b);

	assert_string_equal(fixture_keys(x, NULL, "", "", false), "b h z ");
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "b"), "changed");
	assert_string_equal(fixture_keys(x, v, "", "", false), "b d da f h ");
	assert_string_equal(fixture_keys(x, in_arena, "", "", true), "h f da d b ");
	assert_string_equal(fixture_get(x, v, STORE_ITEMS, "b"), "b");
	assert_string_equal(fixture_get(x, v, STORE_INDEX, "e"), "of another family");
	assert_null(fixture_get(x, in_arena, STORE_ITEMS, "z"));
	assert_null(fixture_get(x, NULL, STORE_INDEX, "e"));
	store_view_free(v);
	store_view_free(in_arena); /* earlier than its arena: also fine */
	store_view_free(NULL);
}

static void reading_fails_when_told_to_and_then_recovers(void **state)
{
	struct fixture *x = *state;
	struct store_iter *it;
	struct slice value;
	bool found;

	fixture_open_memory(x);
	put_letters(x);
	store_fail_after(x->store, 1);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "b"), "b");
	assert_false(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, SLICE("b"), &x->arena, &value, &found,
			       &x->error));
	assert_int_equal(x->error.code, ERR_INTERNAL);
	assert_false(found);
	it = store_iter(&(struct store_at){ x->store, NULL, STORE_ITEMS }, &(struct store_walk){ SLICE(""), SLICE("") },
			&x->arena);
	while (store_iter_next(it))
		;
	assert_false(store_iter_ok(it, &x->arena, &x->error));
	assert_int_equal(x->error.code, ERR_INTERNAL);
	store_fail_after(x->store, -1);
	assert_true(store_iter_ok(it, &x->arena, &x->error));
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "b"), "b");
}

/* Everything a request reads, in one arena. */
static void read_a_lot(struct fixture *x)
{
	struct store_view *v = store_view(x->store, &x->arena);

	struct store_iter *it = store_iter(&(struct store_at){ x->store, v, STORE_ITEMS },
					   &(struct store_walk){ SLICE("partition--1"), SLICE("partition--1~"),
								 .backwards = true, .most = 20 },
					   &x->arena);

	struct slice keys[] = { SLICE("large"), SLICE("b"), SLICE("none") }, values[3];

	fixture_get(x, v, STORE_ITEMS, "large");
	if (!store_get_many(&(struct store_at){ x->store, v, STORE_ITEMS }, keys, 3, &x->arena, values, &x->error))
		fail_msg("%.*s", SLICE_ARG(x->error.message));
	fixture_keys(x, v, "a", "z", true);
	while (store_iter_next(it))
		assert_true(slice_is(store_iter_value(it), "1"));
	fixture_get(x, NULL, STORE_ITEMS, "b");
}

static void running_out_of_memory_while_reading_leaks_nothing(void **state)
{
	struct fixture *x = *state;
	volatile bool done = false;
	char large[100000];

	fixture_open_memory(x);
	put_letters(x);
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = 0;
	fixture_put(x, STORE_ITEMS, "large", large);
	fixture_put(x, STORE_ITEMS, "partition--1a", "1");
	/* The sanitizer tells what is lost; closing with a live iterator would stop RocksDB. */
	for (volatile long n = 0; !done; n++) {
		arena_release(&x->arena);
		alloc_fail_after(n);
		ARENA_TRY(&x->arena, {
			read_a_lot(x);
			done = true;
		}, {
			assert_true(alloc_has_failed());
		});
		alloc_fail_never();
	}
	alloc_fail_after(0);
	assert_null(store_view(x->store, NULL));
	alloc_fail_never();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(a_key_is_found_with_its_value_or_not_at_all),
		store_test(keys_and_values_may_hold_any_bytes),
		store_test(a_value_outlives_the_change_of_its_key),
		store_test(a_walk_stays_within_its_bounds),
		store_test(a_walk_finds_a_partition_in_files_and_memory),
		store_test(a_walk_backwards_gives_the_same_however_many_are_wanted),
		store_test(a_walk_backwards_meets_large_values),
		store_test(several_keys_are_found_as_one_by_one),
		store_test(a_walk_keeps_its_own_copy_of_the_bounds),
		store_test(a_walk_sees_one_moment),
		store_test(a_closed_walk_is_over),
		store_test(a_view_shows_one_moment_of_every_family),
		store_test(reading_fails_when_told_to_and_then_recovers),
		store_test(running_out_of_memory_while_reading_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
