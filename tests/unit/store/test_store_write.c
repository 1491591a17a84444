/* Writing: batches whole or not at all, faults, syncing, copies, and room given back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include "fixture.h"

static void a_batch_changes_several_families_at_once(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open_memory(x);
	for (int f = 0; f < STORE_FAMILIES; f++)
		store_batch_put(b, x->store, (enum store_family)f, SLICE("k"), slice_str(store_family_names[f]));
	assert_int_equal(store_batch_count(b), STORE_FAMILIES);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "k"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	for (int f = 0; f < STORE_FAMILIES; f++)
		assert_string_equal(fixture_get(x, NULL, (enum store_family)f, "k"), store_family_names[f]);
	store_batch_free(b);
}

static void the_later_change_in_a_batch_wins(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open_memory(x);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("a"), SLICE("1"));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("a"), SLICE("2"));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("b"), SLICE("1"));
	store_batch_delete(b, x->store, STORE_ITEMS, SLICE("b"));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("c"), SLICE("1"));
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("c"), SLICE("d"));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("cc"), SLICE("1"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	assert_string_equal(fixture_keys(x, NULL, "", "", false), "a cc ");
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "a"), "2");
	store_batch_free(b);
}

static void a_batch_copies_and_can_be_used_again(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();
	char key[] = "a", value[] = "1";

	fixture_open_memory(x);
	store_batch_put(b, x->store, STORE_ITEMS, slice_str(key), slice_str(value));
	key[0] = value[0] = '?';
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	store_batch_clear(b);
	assert_int_equal(store_batch_count(b), 0);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("b"), SLICE("2"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	assert_string_equal(fixture_keys(x, NULL, "", "", false), "a b ");
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "a"), "1");
	store_batch_clear(b);
	assert_true(store_write(x->store, b, true, &x->arena, &x->error)); /* empty: fine */
	store_batch_free(b);
	store_batch_free(NULL);
}

static void a_range_upside_down_deletes_nothing(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "b", "1");
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("c"), SLICE("a"));
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("b"), SLICE("b"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	assert_string_equal(fixture_keys(x, NULL, "", "", false), "b ");
	store_batch_free(b);
}

static void a_failed_write_leaves_nothing_and_reads_go_on_after_it(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "a", "1");
	store_fail_after(x->store, 0);
	for (int i = 0; i < 3; i++) {
		assert_false(fixture_try_put(x, STORE_ITEMS, "b", "1"));
		assert_int_equal(x->error.code, ERR_INTERNAL);
	}
	store_fail_after(x->store, -1);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "b"));
	fixture_put(x, STORE_ITEMS, "c", "1");
	fixture_close(x);
	fixture_open(x);
	assert_string_equal(fixture_keys(x, NULL, "", "", false), "a c ");
}

static void the_nth_call_fails(void **state)
{
	struct fixture *x = *state;

	fixture_open_memory(x);
	for (long n = 0; n < 5; n++) {
		store_fail_after(x->store, n);
		for (long i = 0; i < n; i++)
			fixture_put(x, STORE_ITEMS, "a", "1");
		assert_false(fixture_try_put(x, STORE_ITEMS, "a", "1"));
		store_fail_after(x->store, -1);
		fixture_put(x, STORE_ITEMS, "a", "1");
	}
}

static void a_batch_needs_memory_and_says_so(void **state)
{
	(void)state;
	alloc_fail_after(0);
	assert_null(store_batch_new());
	alloc_fail_never();
}

static void unsynced_writes_are_there_after_a_sync_and_a_close(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open(x);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("a"), SLICE("1"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	assert_true(store_sync(x->store, &x->arena, &x->error));
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("b"), SLICE("2"));
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	store_batch_free(b);
	fixture_close(x);
	fixture_open(x);
	assert_string_equal(fixture_keys(x, NULL, "", "", false), "a b ");
}

static void put_many(struct fixture *x, int n)
{
	struct store_batch *b = store_batch_new();
	uint64_t noise = 88172645463325252u;
	uint64_t value[64];

	for (int i = 0; i < n; i++) {
		char key[16];

		for (int j = 0; j < 64; j++) {
			noise ^= noise << 13;
			noise ^= noise >> 7;
			noise ^= noise << 17;
			value[j] = noise; /* does not compress */
		}
		snprintf(key, sizeof(key), "%08d", i);
		store_batch_put(b, x->store, STORE_ITEMS, slice_str(key), slice_make(value, sizeof(value)));
	}
	assert_true(store_write(x->store, b, false, &x->arena, &x->error));
	store_batch_free(b);
}

static uint64_t sst_bytes(struct fixture *x)
{
	uint64_t bytes = 0;

	assert_int_equal(rocksdb_property_int_cf(x->store->db, x->store->families[STORE_ITEMS],
						 "rocksdb.live-sst-files-size", &bytes),
			 0);
	return bytes;
}

static void the_room_of_a_deleted_range_is_given_back(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open(x);
	put_many(x, 8000); /* 4 MB */
	assert_true(fixture_reclaim(x, STORE_ITEMS, "", "9"));
	assert_true(sst_bytes(x) > 4000000);
	store_batch_delete_range(b, x->store, STORE_ITEMS, SLICE("00000100"), SLICE("9"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	assert_true(fixture_reclaim(x, STORE_ITEMS, "00000100", "9"));
	assert_true(sst_bytes(x) < 500000);
	assert_non_null(fixture_get(x, NULL, STORE_ITEMS, "00000099"));
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "00000100"));
	store_batch_free(b);
}

static void a_database_in_memory_knows_its_size(void **state)
{
	struct fixture *x = *state;
	uint64_t before;

	fixture_open_memory(x);
	before = store_disk_bytes(x->store);
	put_many(x, 2000);
	assert_true(store_disk_bytes(x->store) >= before + 1000000);
	assert_true(store_sync(x->store, &x->arena, &x->error));
}

/* Four threads, each with batches, a view and walks of its own. */
static void *write_and_read(void *ptr)
{
	struct fixture *shared = ptr;
	struct fixture mine = { .store = shared->store };
	static atomic_int next;
	int id = atomic_fetch_add(&next, 1);

	arena_init(&mine.arena);
	for (int i = 0; i < 50; i++) {
		struct store_batch *b = store_batch_new();
		char key[16];
		struct store_iter *it;
		int n = 0;

		snprintf(key, sizeof(key), "%d-%03d", id, i);
		store_batch_put(b, mine.store, STORE_ITEMS, slice_str(key), SLICE("1"));
		if (!store_write(mine.store, b, i % 10 == 0, &mine.arena, &mine.error))
			abort();
		store_batch_free(b);
		key[1] = 0;
		it = store_iter(&(struct store_at){ mine.store, store_view(mine.store, &mine.arena), STORE_ITEMS },
				&(struct store_walk){ slice_str(key), SLICE("") }, &mine.arena);
		while (store_iter_next(it) && store_iter_key(it).p[0] == key[0])
			n++;
		if (n != i + 1)
			abort();
		arena_clear(&mine.arena);
	}
	arena_release(&mine.arena);
	return NULL;
}

static void threads_use_one_store(void **state)
{
	struct fixture *x = *state;
	pthread_t threads[4];

	fixture_open(x);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, x), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(strlen(fixture_keys(x, NULL, "", "", false)), 4 * 50 * 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(a_batch_changes_several_families_at_once),
		store_test(the_later_change_in_a_batch_wins),
		store_test(a_batch_copies_and_can_be_used_again),
		store_test(a_range_upside_down_deletes_nothing),
		store_test(a_failed_write_leaves_nothing_and_reads_go_on_after_it),
		store_test(the_nth_call_fails),
		store_test(a_batch_needs_memory_and_says_so),
		store_test(unsynced_writes_are_there_after_a_sync_and_a_close),
		store_test(the_room_of_a_deleted_range_is_given_back),
		store_test(a_database_in_memory_knows_its_size),
		store_test(threads_use_one_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
