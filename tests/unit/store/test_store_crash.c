/* Two processes: one holds the directory, or is killed while it writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include "child.h"
#include "store/journal/internal.h"

/* Holds the directory until its standard input ends. */
static int hold(struct fixture *x)
{
	char c;

	fixture_open(x);
	child_tell(1);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	fixture_close(x);
	return 0;
}

#define PARTS 3
static const enum store_family part_family[PARTS] = { STORE_ITEMS, STORE_INDEX, STORE_STREAM };

/* Writes batch after batch, each a change in three families; tells each once it is synced. */
static int write_batches(struct fixture *x)
{
	fixture_open(x);
	for (uint32_t i = 0;; i++) {
		struct store_batch *b = store_batch_new();
		char key[16];

		snprintf(key, sizeof(key), "%08u", i);
		for (int p = 0; p < PARTS; p++)
			store_batch_put(b, x->store, part_family[p], slice_str(key), slice_make(x->why, sizeof(x->why)));
		if (!store_write(x->store, b, true, &x->arena, &x->error))
			return 4;
		store_batch_free(b);
		child_tell(i);
	}
}

/* Writes unsynced batches, syncs, tells, and writes some more that may be lost. */
static int write_unsynced(struct fixture *x)
{
	struct store_batch *b = store_batch_new();

	fixture_open(x);
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("a"), SLICE("1"));
	if (!store_write(x->store, b, false, &x->arena, &x->error) || !store_sync(x->store, &x->arena, &x->error))
		return 4;
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("b"), SLICE("2"));
	if (!store_write(x->store, b, false, &x->arena, &x->error))
		return 4;
	child_tell(1);
	return pause();
}

static void a_directory_another_process_holds_is_refused(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("hold", x->dir);
	uint32_t ready;

	assert_true(child_read(&c, &ready));
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_HELD);
	assert_non_null(strstr(x->why, "another process"));
	assert_non_null(strstr(x->why, x->dir));
	assert_null(x->store);
	assert_int_equal(child_end(&c), 0);
	fixture_open(x); /* free again */
}

static void a_killed_process_frees_its_directory(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("hold", x->dir);
	uint32_t ready;

	assert_true(child_read(&c, &ready));
	kill(c.pid, SIGKILL);
	assert_int_equal(child_end(&c), -SIGKILL);
	fixture_open(x);
}

/* How many of a batch's parts are there. */
static int parts_there(struct fixture *x, uint32_t i)
{
	char key[16];
	int n = 0;

	snprintf(key, sizeof(key), "%08u", i);
	for (int p = 0; p < PARTS; p++)
		n += fixture_get(x, NULL, part_family[p], key) != NULL;
	return n;
}

static void every_acknowledged_batch_survives_a_kill_whole(void **state)
{
	struct fixture *x = *state;

	for (int round = 0; round < 5; round++) {
		struct child c = child_start("write", x->dir);
		uint32_t acked = 0, i;

		while (acked < 40u + (uint32_t)round * 7 && child_read(&c, &acked))
			;
		kill(c.pid, SIGKILL);
		while (child_read(&c, &i)) /* acknowledged before the kill arrived */
			acked = i;
		assert_int_equal(child_end(&c), -SIGKILL);
		assert_true(acked >= 40);

		fixture_open(x);
		for (i = 0; i <= acked; i++)
			assert_int_equal(parts_there(x, i), PARTS);
		/* The one under way is there whole or not at all. */
		assert_true(parts_there(x, acked + 1) % PARTS == 0);
		fixture_close(x);
	}
}

static void a_sync_makes_earlier_writes_survive_a_kill(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("unsynced", x->dir);
	uint32_t ready;

	assert_true(child_read(&c, &ready));
	kill(c.pid, SIGKILL);
	assert_int_equal(child_end(&c), -SIGKILL);
	fixture_open(x);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "a"), "1");
}

/* A journal whose last record is torn, as power loss leaves it: cut short, or with a page missing. */
static void a_torn_journal(struct fixture *x, bool cut)
{
	struct child c = child_start("write", x->dir);
	uint32_t acked = 0;
	char path[256];
	uint64_t at;
	int fd;

	while (acked < 30 && child_read(&c, &acked))
		;
	kill(c.pid, SIGKILL);
	child_end(&c);
	/* A database that was not reopened. */
	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "last", "whole");
	at = x->store->journal->start + x->store->journal->kept;
	snprintf(path, sizeof(path), "%s/journal.%u", x->dir, x->store->journal->current->file);
	fixture_put(x, STORE_ITEMS, "torn", x->dir);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	if (cut)
		assert_int_equal(ftruncate(fd, (off_t)at + 40), 0);
	else
		assert_int_equal(pwrite(fd, "\0\0\0\0\0\0\0\0", 8, (off_t)at + 40), 8);
	close(fd);
}

static int tear(struct fixture *x, const char *how)
{
	a_torn_journal(x, strcmp(how, "cut") == 0);
	child_tell(1);
	return pause();
}

static void check_torn(struct fixture *x, const char *how)
{
	struct child c = child_start(how, x->dir);
	uint32_t ready;
	char path[256];

	assert_true(child_read(&c, &ready));
	kill(c.pid, SIGKILL);
	assert_int_equal(child_end(&c), -SIGKILL);
	/* Power loss takes what was not synced: this file may be older than the journal. Where it is not, this is
	 * damage (test_store_damage). */
	snprintf(path, sizeof(path), "%s/acknowledged", x->dir);
	assert_int_equal(unlink(path), 0);
	fixture_open(x);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "last"), "whole");
	assert_int_equal(parts_there(x, 30), PARTS);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "torn"));
}

static void a_journal_cut_short_opens_with_all_before(void **state)
{
	check_torn(*state, "cut");
}

static void a_journal_with_a_hole_at_its_end_opens_with_all_before(void **state)
{
	check_torn(*state, "hole");
}

static int as_child(const char *role, const char *dir)
{
	struct fixture x = { 0 };

	arena_init(&x.arena);
	snprintf(x.dir, sizeof(x.dir), "%s", dir);
	if (strcmp(role, "hold") == 0)
		return hold(&x);
	if (strcmp(role, "write") == 0)
		return write_batches(&x);
	if (strcmp(role, "unsynced") == 0)
		return write_unsynced(&x);
	return tear(&x, role);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		store_test(a_directory_another_process_holds_is_refused),
		store_test(a_killed_process_frees_its_directory),
		store_test(every_acknowledged_batch_survives_a_kill_whole),
		store_test(a_sync_makes_earlier_writes_survive_a_kill),
		store_test(a_journal_cut_short_opens_with_all_before),
		store_test(a_journal_with_a_hole_at_its_end_opens_with_all_before),
	};

	if (argc == 3)
		return as_child(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
