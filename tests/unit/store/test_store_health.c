/* Damaged files: the errors of reads, what stays on record, and errors of RocksDB's own threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include "fixture.h"

#define N     4000
#define VALUE 1000

static void put_noise(struct fixture *x, const char *prefix)
{
	struct store_batch *b = store_batch_new();
	static char value[VALUE];
	uint32_t noise = 1;
	char key[32];

	for (unsigned i = 0; i < N; i++) {
		for (size_t j = 0; j < sizeof(value); j++) {
			noise = noise * 1664525u + 1013904223u;
			value[j] = (char)(noise >> 24);
		}
		snprintf(key, sizeof(key), "%s%08u", prefix, i);
		store_batch_put(b, x->store, STORE_ITEMS, slice_str(key), slice_make(value, sizeof(value)));
	}
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	store_batch_free(b);
}

/* One bit in the middle of each of RocksDB's larger files, where data is. */
static size_t damage(struct fixture *x)
{
	DIR *d = opendir(x->dir);
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');
		struct stat st;
		char byte;
		int fd;

		if (!dot || strcmp(dot, ".sst") != 0 || fstatat(dirfd(d), entry->d_name, &st, 0) < 0 ||
		    st.st_size < 1 << 20)
			continue;
		fd = openat(dirfd(d), entry->d_name, O_RDWR);
		assert_int_equal(pread(fd, &byte, 1, st.st_size / 2), 1);
		byte ^= 4;
		assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
		close(fd);
		n++;
	}
	closedir(d);
	return n;
}

static void open_damaged(struct fixture *x)
{
	fixture_open(x);
	put_noise(x, "a");
	fixture_close(x);
	assert_int_equal(damage(x), 1);
	fixture_open(x);
	assert_int_equal(store_health(x->store), STORE_WELL);
}

static void damage_is_reported_without_a_path_and_stays_on_record(void **state)
{
	struct fixture *x = *state;
	unsigned right = 0, refused = 0;

	open_damaged(x);
	for (unsigned i = 0; i < N; i++) {
		struct slice value;
		bool found;
		char key[32];

		snprintf(key, sizeof(key), "a%08u", i);
		if (store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, slice_str(key), &x->arena, &value,
			      &found, &x->error)) {
			assert_true(found);
			right++;
			continue;
		}
		refused++;
		assert_int_equal(x->error.code, ERR_INTERNAL);
		assert_string_equal(arena_cstr(&x->arena, x->error.message), "Internal server error");
	}
	assert_true(right > N / 2);
	assert_true(refused > 0 && refused < 20);
	assert_int_equal(store_health(x->store), STORE_CORRUPT);
	assert_int_equal(store_corruptions(x->store), refused);
	assert_false(store_is_refusing(x->store));
	assert_true(fixture_try_put(x, STORE_ITEMS, "b", "writes go on"));
	assert_int_equal(store_health(x->store), STORE_CORRUPT);
}

static void damage_that_a_compaction_meets_is_noticed(void **state)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct fixture *x = *state;

	open_damaged(x);
	put_noise(x, "a"); /* over the same keys, so that both files are read */
	(void)!fixture_reclaim(x, STORE_ITEMS, "a", "b");
	for (int i = 0; i < 500 && store_health(x->store) != STORE_CORRUPT; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(store_health(x->store), STORE_CORRUPT);
	assert_true(store_corruptions(x->store) > 0);
	/* RocksDB takes no writes any more, and no client hears why. */
	assert_false(fixture_try_put(x, STORE_ITEMS, "c", "d"));
	assert_null(strstr(arena_cstr(&x->arena, x->error.message), x->root));
}

static void a_failing_disk_is_in_words_for_clients(void **state)
{
	struct fixture *x = *state;
	struct slice value;
	bool found;

	fixture_open(x);
	store_fail_after(x->store, 0);
	assert_false(fixture_try_put(x, STORE_ITEMS, "a", "b"));
	assert_int_equal(store_health(x->store), STORE_BROKEN);
	assert_null(strstr(arena_cstr(&x->arena, x->error.message), "injected"));
	assert_false(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, SLICE("a"), &x->arena, &value, &found,
			       &x->error));
	assert_string_equal(arena_cstr(&x->arena, x->error.message), "Internal server error");
	store_fail_after(x->store, -1);
	assert_true(fixture_try_put(x, STORE_ITEMS, "a", "b"));
	assert_int_equal(store_health(x->store), STORE_WELL);
}

static void the_directory_is_for_its_owner_alone(void **state)
{
	struct fixture *x = *state;
	struct stat st;

	fixture_open(x);
	assert_int_equal(stat(x->dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(damage_is_reported_without_a_path_and_stays_on_record),
		store_test(damage_that_a_compaction_meets_is_noticed),
		store_test(a_failing_disk_is_in_words_for_clients),
		store_test(the_directory_is_for_its_owner_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
