/* Opening: directories, locks within the process, formats, damage; each refusal with its sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "fixture.h"

static void a_directory_is_made_with_its_parents(void **state)
{
	struct fixture *x = *state;
	char deep[256];

	snprintf(deep, sizeof(deep), "%s/a/b//c/", x->root);
	assert_int_equal(fixture_try_open(x, deep, false), STORE_OPENED);
	fixture_put(x, STORE_ITEMS, "k", "v");
	fixture_close(x);
	snprintf(deep, sizeof(deep), "%s/a/b/c", x->root);
	assert_int_equal(fixture_try_open(x, deep, false), STORE_OPENED);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "k"), "v");
}

static void a_relative_directory_is_made_too(void **state)
{
	struct fixture *x = *state;
	int here = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(chdir(x->root), 0);
	assert_int_equal(fixture_try_open(x, "near/by", false), STORE_OPENED);
	fixture_close(x);
	assert_int_equal(access("near/by/CURRENT", F_OK), 0);
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void what_was_written_is_there_after_a_reopen(void **state)
{
	struct fixture *x = *state;

	for (int f = 0; f < STORE_FAMILIES; f++) {
		fixture_open(x);
		fixture_put(x, (enum store_family)f, "k", store_family_names[f]);
		fixture_close(x);
	}
	fixture_open(x);
	for (int f = 0; f < STORE_FAMILIES; f++)
		assert_string_equal(fixture_get(x, NULL, (enum store_family)f, "k"), store_family_names[f]);
	assert_true(store_disk_bytes(x->store) > 0);
}

static void a_database_in_memory_is_gone_at_close(void **state)
{
	struct fixture *x = *state;
	struct store_options memory = { 0 };
	struct store *other;
	char why[200];

	fixture_open_memory(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	/* A second one is another one. */
	assert_int_equal(store_open(&memory, &other, why, sizeof(why)), STORE_OPENED);
	fixture_close(x);
	x->store = other;
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "k"));
	fixture_close(x);
	fixture_open_memory(x);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "k"));
}

static void a_file_in_the_way_is_named(void **state)
{
	struct fixture *x = *state;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/file", x->root);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fixture_try_open(x, path, false), STORE_FAILED);
	assert_non_null(strstr(x->why, path));
	assert_non_null(strstr(x->why, strerror(ENOTDIR)));
	snprintf(path, sizeof(path), "%s/file/below", x->root);
	assert_int_equal(fixture_try_open(x, path, false), STORE_FAILED);
	assert_non_null(strstr(x->why, strerror(ENOTDIR)));
	assert_null(x->store);
}

static void a_directory_open_in_this_process_is_held(void **state)
{
	struct fixture *x = *state;
	struct store *first;

	fixture_open(x);
	first = x->store;
	x->store = NULL;
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_HELD);
	assert_non_null(strstr(x->why, x->dir));
	x->store = first;
	fixture_put(x, STORE_ITEMS, "k", "the first is none the worse");
}

static void put_format(struct fixture *x, unsigned char format)
{
	struct store_batch *b = store_batch_new();
	char be[4] = { 0, 0, 0, (char)format };

	store_batch_put(b, x->store, STORE_META, SLICE("format"), slice_make(be, 4));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	store_batch_free(b);
}

static void a_newer_format_is_refused_and_left_alone(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	put_format(x, 9);
	fixture_close(x);
	for (int read_only = 0; read_only < 2; read_only++) {
		assert_int_equal(fixture_try_open(x, x->dir, read_only), STORE_NEWER);
		assert_non_null(strstr(x->why, "newer version"));
		assert_non_null(strstr(x->why, "format 9"));
		assert_null(x->store);
	}
}

static void an_older_format_is_taken_over(void **state)
{
	struct fixture *x = *state;
	struct slice format;
	bool found;

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	put_format(x, 1);
	fixture_close(x);
	fixture_open(x);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "k"), "v");
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_META }, SLICE("format"), &x->arena, &format,
			      &found, &x->error));
	assert_true(found);
	/* Hence an older Thorpe, which does not know the journal, leaves it alone. */
	assert_int_equal(read_be32(format.p), 3);
}

/* As a later Thorpe, or another program, would: with RocksDB itself. */
static void add_family(struct fixture *x, const char *name)
{
	const char *names[STORE_FAMILIES];
	const rocksdb_options_t *options[STORE_FAMILIES];
	rocksdb_column_family_handle_t *families[STORE_FAMILIES], *added;
	rocksdb_options_t *o = rocksdb_options_create();
	char *err = NULL;
	size_t n = 0, opened;
	char **listed = rocksdb_list_column_families(o, x->dir, &n, &err);
	rocksdb_t *db;

	rocksdb_free(err);
	err = NULL;
	assert_true(n <= STORE_FAMILIES);
	names[0] = "default"; /* when there is no database yet */
	options[0] = o;
	for (size_t i = 0; i < n; i++) {
		names[i] = listed[i];
		options[i] = o;
	}
	opened = n ? n : 1;
	rocksdb_options_set_create_if_missing(o, 1);
	db = rocksdb_open_column_families(o, x->dir, (int)opened, names, options, families, &err);
	assert_null(err);
	added = rocksdb_create_column_family(db, o, name, &err);
	assert_null(err);
	rocksdb_column_family_handle_destroy(added);
	for (size_t i = 0; i < opened; i++)
		rocksdb_column_family_handle_destroy(families[i]);
	rocksdb_close(db);
	rocksdb_list_column_families_destroy(listed, n);
	rocksdb_options_destroy(o);
}

static void families_of_a_newer_version_are_recognised_by_the_format(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	put_format(x, 4);
	fixture_close(x);
	add_family(x, "vectors");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_NEWER);
	assert_non_null(strstr(x->why, "newer version"));
}

static void a_database_of_another_program_is_refused(void **state)
{
	struct fixture *x = *state;

	add_family(x, "blocks");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_FAILED);
	assert_non_null(strstr(x->why, "not Thorpe's"));
}

static void missing_families_are_added(void **state)
{
	struct fixture *x = *state;

	add_family(x, "items"); /* a database with two of the families, and no format yet */
	fixture_open(x);
	fixture_put(x, STORE_STATS, "k", "v");
}

static void data_without_a_format_number_is_damaged(void **state)
{
	struct fixture *x = *state;
	struct store_batch *b = store_batch_new();

	fixture_open(x);
	store_batch_delete(b, x->store, STORE_META, SLICE("format"));
	store_batch_put(b, x->store, STORE_CATALOG, SLICE("t"), SLICE("table"));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	store_batch_free(b);
	fixture_close(x);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "format number"));
}

static void overwrite(const char *dir, const char *name)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "garbage", 7), 7);
	close(fd);
}

static void damage_is_distinguished_from_other_failures(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	fixture_close(x);
	overwrite(x->dir, "CURRENT");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "damaged"));
}

static void read_only_reads_and_does_not_write(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_FAILED);
	assert_non_null(strstr(x->why, x->dir));
	assert_int_equal(access(x->dir, F_OK), -1); /* nothing was made */
	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	fixture_close(x);
	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_OPENED);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "k"), "v");
	assert_false(fixture_try_put(x, STORE_ITEMS, "k", "w"));
	assert_true(store_sync(x->store, &x->arena, &x->error));
	assert_true(fixture_reclaim(x, STORE_ITEMS, "", "z"));
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "k"), "v");
}

static void a_sentence_longer_than_its_room_is_cut(void **state)
{
	struct fixture *x = *state;
	struct store_options o = { .dir = "/dev/null/below" };
	char why[16];

	memset(why, 'x', sizeof(why));
	assert_int_equal(store_open(&o, &x->store, why, sizeof(why)), STORE_FAILED);
	assert_int_equal(strlen(why), sizeof(why) - 1);
}

static void running_out_of_memory_while_opening_is_a_clean_failure(void **state)
{
	struct fixture *x = *state;
	enum store_open_result result = STORE_FAILED;

	for (long n = 0; result != STORE_OPENED; n++) {
		alloc_fail_after(n);
		result = fixture_try_open(x, x->dir, false);
		alloc_fail_never();
		if (result != STORE_OPENED) {
			assert_int_equal(result, STORE_FAILED);
			assert_null(x->store);
			assert_true(strlen(x->why) > 0);
		}
	}
	fixture_put(x, STORE_ITEMS, "k", "v");
}

/* The nice value of each thread that RocksDB has started, n at most; returns how many there are. */
static int nices_of_rocksdb(int *nices, int n)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int found = 0;

	assert_non_null(tasks);
	while ((task = readdir(tasks)) && found < n) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) && strncmp(name, "rocksdb:", 8) == 0)
			nices[found++] = getpriority(PRIO_PROCESS, (id_t)strtoul(task->d_name, NULL, 10));
		fclose(file);
	}
	closedir(tasks);
	return found;
}

static void flushes_and_compactions_stand_back(void **state)
{
	struct fixture *x = *state;
	int mine = getpriority(PRIO_PROCESS, 0), nices[16], n;

	if (mine > 9)
		skip();
	fixture_open(x);
	n = nices_of_rocksdb(nices, 16);
	for (int i = 0; i < n; i++)
		assert_int_equal(nices[i], mine + 10);
	/* RocksDB has not started others beside them. */
	assert_int_equal(n, STORE_FLUSHES + STORE_COMPACTIONS);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(a_directory_is_made_with_its_parents),
		store_test(a_relative_directory_is_made_too),
		store_test(what_was_written_is_there_after_a_reopen),
		store_test(a_database_in_memory_is_gone_at_close),
		store_test(a_file_in_the_way_is_named),
		store_test(a_directory_open_in_this_process_is_held),
		store_test(a_newer_format_is_refused_and_left_alone),
		store_test(an_older_format_is_taken_over),
		store_test(families_of_a_newer_version_are_recognised_by_the_format),
		store_test(a_database_of_another_program_is_refused),
		store_test(missing_families_are_added),
		store_test(data_without_a_format_number_is_damaged),
		store_test(damage_is_distinguished_from_other_failures),
		store_test(read_only_reads_and_does_not_write),
		store_test(a_sentence_longer_than_its_room_is_cut),
		store_test(running_out_of_memory_while_opening_is_a_clean_failure),
		store_test(flushes_and_compactions_stand_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
