/* The journal: what is replayed after a kill or a power loss, and what is not; failing disks; segments used again.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include "child.h"
#include "store/journal/internal.h"

#define PARTS 3
static const enum store_family part_family[PARTS] = { STORE_ITEMS, STORE_INDEX, STORE_STREAM };
#define FILLER (100 << 10)
static char filler[24 << 20];

/* ---- what the children do, before they are killed ---- */

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	_exit(4);
}

/* One batch: `i` under one key in three families, and so many bytes more. */
static bool put_round(struct fixture *x, uint32_t i, size_t more, bool sync)
{
	struct store_batch *b = store_batch_new();
	char value[16], key[16];
	bool ok;

	snprintf(value, sizeof(value), "%08u", i);
	snprintf(key, sizeof(key), "more-%u", i % 50);
	for (int p = 0; p < PARTS; p++)
		store_batch_put(b, x->store, part_family[p], SLICE("round"), slice_str(value));
	memcpy(filler, value, 8);
	if (more)
		store_batch_put(b, x->store, part_family[i % PARTS], slice_str(key), slice_make(filler, more));
	ok = store_write(x->store, b, sync, &x->arena, &x->error);
	store_batch_free(b);
	return ok;
}

/* The round that all families agree on; 0: none yet. */
static uint32_t round_of(struct fixture *x)
{
	const char *first = fixture_get(x, NULL, part_family[0], "round");

	for (int p = 1; p < PARTS; p++) {
		const char *other = fixture_get(x, NULL, part_family[p], "round");

		assert_int_equal(!first, !other);
		if (first)
			assert_string_equal(first, other);
	}
	return first ? (uint32_t)strtoul(first, NULL, 10) : 0;
}

/* Rounds without end; tells each. */
static int write_rounds(struct fixture *x, bool sync)
{
	fixture_open(x);
	for (uint32_t i = round_of(x) + 1;; i++) {
		if (!put_round(x, i, i % 7 == 0 ? 0 : FILLER, sync))
			return 4;
		child_tell(i);
		arena_clear(&x->arena);
	}
}

static int pause_after(uint32_t told)
{
	child_tell(told);
	return pause();
}

static int write_a_few(struct fixture *x)
{
	fixture_open(x);
	for (uint32_t i = 1; i <= 5; i++) {
		if (!put_round(x, i, 1000, true))
			die("a round was not written");
	}
	return pause_after(5);
}

#define NOTHING_FOLLOWS SIZE_MAX
/* A record that is written and not kept, as when RocksDB refuses a batch; then one more, which fits into the segment
 * or does not. */
static int drop_one(struct fixture *x, size_t more)
{
	rocksdb_writebatch_t *batch;
	struct journal *j;
	struct reason r = { 0 };
	const char *p;
	size_t n;

	fixture_open(x);
	j = x->store->journal;
	if (!put_round(x, 1, 0, true))
		die("a round was not written");
	batch = rocksdb_writebatch_create();
	rocksdb_writebatch_put_cf(batch, x->store->families[STORE_ITEMS], "dropped", 7, "!", 1);
	p = rocksdb_writebatch_data(batch, &n);
	journal_begin(j);
	if (!journal_append(j, slice_make(p, n), true, &r))
		die(r.text);
	journal_end(j, false);
	rocksdb_writebatch_destroy(batch);
	if (more == NOTHING_FOLLOWS)
		return pause_after(1);
	if (!put_round(x, 2, more, true) || !put_round(x, 3, 0, true))
		die("a round was not written");
	return pause_after(3);
}

static int write_large(struct fixture *x)
{
	fixture_open(x);
	if (!put_round(x, 1, sizeof(filler), true) || !put_round(x, 2, 0, true) ||
	    !put_round(x, 3, sizeof(filler), true) || !put_round(x, 4, 0, true))
		die("a round was not written");
	return pause_after(4);
}

/* Unsynced, over several segments. */
static int write_unsynced(struct fixture *x)
{
	fixture_open(x);
	for (uint32_t i = 1; i <= 60; i++) {
		if (!put_round(x, i, FILLER, false))
			die("a round was not written");
	}
	return pause_after(60);
}

static int full_once(struct fixture *x)
{
	fixture_open(x);
	if (!put_round(x, 1, 0, true))
		die("a round was not written");
	journal_fail_next(x->store->journal, ENOSPC);
	if (put_round(x, 7, 0, true) || !strstr(arena_cstr(&x->arena, x->error.message), "no space left"))
		die("a full disk was not noticed");
	if (!put_round(x, 2, 0, true))
		die("it did not go on");
	return pause_after(2);
}

static int as_child(const char *role, const char *dir)
{
	struct fixture x = { 0 };

	arena_init(&x.arena);
	snprintf(x.dir, sizeof(x.dir), "%s", dir);
	if (strcmp(role, "synced") == 0 || strcmp(role, "relaxed") == 0)
		return write_rounds(&x, *role == 's');
	if (strcmp(role, "few") == 0)
		return write_a_few(&x);
	if (strcmp(role, "drop") == 0)
		return drop_one(&x, 0);
	if (strcmp(role, "drop the last") == 0)
		return drop_one(&x, NOTHING_FOLLOWS);
	if (strcmp(role, "drop and leave") == 0)
		return drop_one(&x, 300 << 10);
	if (strcmp(role, "large") == 0)
		return write_large(&x);
	if (strcmp(role, "unsynced") == 0)
		return write_unsynced(&x);
	return full_once(&x);
}

/* ---- looking at what they left ---- */

/* Runs a child until it has told `least`, and kills it. Returns the last it told. */
static uint32_t run_and_kill(struct fixture *x, const char *role, uint32_t least)
{
	struct child c = child_start(role, x->dir);
	uint32_t told = 0, more;

	while (told < least)
		assert_true(child_read(&c, &told));
	kill(c.pid, SIGKILL);
	while (child_read(&c, &more))
		told = more;
	assert_int_equal(child_end(&c), -SIGKILL);
	return told;
}

/* The segments of a directory, and for each where its last record begins (0: it has none) and ends. */
struct seen {
	char path[256];
	uint64_t first, last_at, end;
};

static size_t look(struct fixture *x, struct seen *all, size_t room)
{
	int dir = open(x->dir, O_RDONLY | O_DIRECTORY);
	struct journal_posix posix = journal_posix(dir);
	struct reason r = { 0 };
	unsigned *files;
	size_t n, found = 0;

	assert_true(segment_files(&posix.io, &files, &n, &r));
	for (size_t i = 0; i < n && found < room; i++) {
		struct seen *s = &all[found];
		struct journal_reader rd;
		struct slice record;
		char name[JOURNAL_NAME_ROOM];

		segment_name(name, files[i]);
		snprintf(s->path, sizeof(s->path), "%s/%s", x->dir, name);
		s->first = s->last_at = s->end = 0;
		if (journal_reader_start(&rd, &posix.io, name, &r) == JOURNAL_RECORD) {
			uint64_t at = rd.at;

			s->first = rd.head.first;
			while (journal_reader_next(&rd, &record, &r) == JOURNAL_RECORD) {
				s->last_at = at;
				s->end = at = rd.at;
			}
		}
		found += rd.file.fd >= 0; /* its thread may have removed it meanwhile */
		journal_reader_end(&rd);
	}
	mem_free(files);
	close(dir);
	return found;
}

/* How many records a segment has. */
static int count_records(struct fixture *x, const char *path)
{
	int dir = open(x->dir, O_RDONLY | O_DIRECTORY), n = 0;
	struct journal_posix posix = journal_posix(dir);
	struct journal_reader rd;
	struct reason r = { 0 };
	struct slice record;

	assert_int_equal(journal_reader_start(&rd, &posix.io, strrchr(path, '/') + 1, &r), JOURNAL_RECORD);
	while (journal_reader_next(&rd, &record, &r) == JOURNAL_RECORD)
		n++;
	journal_reader_end(&rd);
	assert_false(r.failed);
	close(dir);
	return n;
}

/* After a power loss `acknowledged` may be older than the journal; here it knows nothing. */
static void forget_acknowledged(struct fixture *x)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/acknowledged", x->dir);
	assert_int_equal(unlink(path), 0);
}

static struct seen the_one(struct fixture *x, uint64_t first)
{
	struct seen all[32];
	size_t n = look(x, all, 32);

	for (size_t i = 0; i < n; i++) {
		if (all[i].first == first && all[i].end)
			return all[i];
	}
	fail_msg("no segment begins with %lu", (unsigned long)first);
	return all[0];
}

static void overwrite(const char *path, uint64_t at, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, p, n, (off_t)at), n);
	close(fd);
}

/* The round that RocksDB's files have of a family; 0: none. */
static uint32_t on_disk(struct fixture *x, enum store_family f)
{
	char *err = NULL, *value, text[16] = "";
	size_t n = 0;

	value = rocksdb_get_cf(x->store->db, x->store->on_disk, x->store->families[f], "round", 5, &n, &err);
	assert_null(err);
	if (value && n < sizeof(text))
		memcpy(text, value, n);
	rocksdb_free(value);
	return (uint32_t)strtoul(text, NULL, 10);
}

/* ---- tests ---- */

/* Hundreds of megabytes, so that memtables become files and segments are used again meanwhile. */
static void rounds_survive_kills(struct fixture *x, const char *role)
{
	struct seen all[64];

	for (uint32_t i = 0, done = 0; i < 5; i++) {
		uint32_t told = run_and_kill(x, role, done + 700 + i * 131);

		fixture_open(x);
		done = round_of(x);
		/* A kill loses nothing that was written, synced or not. */
		assert_true(done == told || done == told + 1);
		fixture_put(x, STORE_ITEMS, "between", "kept");
		assert_true(look(x, all, 64) < 24);
		fixture_close(x);
		fixture_open(x);
		assert_int_equal(round_of(x), done);
		assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "between"), "kept");
		fixture_close(x);
	}
}

static void synced_rounds_survive_kills_whole(void **state)
{
	rounds_survive_kills(*state, "synced");
}

static void relaxed_rounds_survive_kills_whole(void **state)
{
	rounds_survive_kills(*state, "relaxed");
}

static void a_closed_database_has_no_journal(void **state)
{
	struct fixture *x = *state;
	struct seen all[8];

	fixture_open(x);
	fixture_put(x, STORE_ITEMS, "k", "v");
	assert_true(look(x, all, 8) >= 1);
	fixture_close(x);
	assert_int_equal(look(x, all, 8), 0);
	fixture_open(x);
	assert_string_equal(fixture_get(x, NULL, STORE_ITEMS, "k"), "v");
}

/* Each byte of the last record, its head included, makes it another; and so does its end. */
static void a_record_that_is_torn_anywhere_ends_the_journal(void **state)
{
	struct fixture *x = *state;
	struct seen s;
	int fd;

	run_and_kill(x, "few", 5);
	s = the_one(x, 1);
	fd = open(s.path, O_RDWR);
	for (uint64_t at = s.last_at; at < s.end; at++) {
		char was, is;

		assert_int_equal(pread(fd, &was, 1, (off_t)at), 1);
		is = (char)(was ^ 64);
		assert_int_equal(pwrite(fd, &is, 1, (off_t)at), 1);
		assert_int_equal(count_records(x, s.path), 4);
		assert_int_equal(pwrite(fd, &was, 1, (off_t)at), 1);
	}
	/* Shorter and shorter. */
	for (uint64_t end = s.end - 1; end >= s.last_at; end--) {
		assert_int_equal(ftruncate(fd, (off_t)end), 0);
		assert_int_equal(count_records(x, s.path), 4);
	}
	close(fd);
	forget_acknowledged(x);
	fixture_open(x);
	assert_int_equal(round_of(x), 4);
}

static void a_record_that_was_not_kept_does_not_come_back(void **state)
{
	struct fixture *x = *state;

	run_and_kill(x, "drop the last", 1);
	fixture_open(x);
	assert_int_equal(round_of(x), 1);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "dropped"));
}

static void a_record_that_was_not_kept_is_written_over(void **state)
{
	struct fixture *x = *state;

	run_and_kill(x, "drop", 3);
	fixture_open(x);
	assert_int_equal(round_of(x), 3);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "dropped"));
}

static void an_undone_record_is_not_in_the_next_segment(void **state)
{
	struct fixture *x = *state;

	run_and_kill(x, "drop and leave", 3);
	assert_int_equal(the_one(x, 1).end > 0, 1);
	assert_int_equal(the_one(x, 2).end > 0, 1);
	fixture_open(x);
	assert_int_equal(round_of(x), 3);
	assert_null(fixture_get(x, NULL, STORE_ITEMS, "dropped"));
}

static void a_batch_larger_than_a_segment_survives_a_kill(void **state)
{
	struct fixture *x = *state;
	struct stat st;

	run_and_kill(x, "large", 4);
	assert_int_equal(stat(the_one(x, 1).path, &st), 0);
	assert_true((size_t)st.st_size > sizeof(filler));
	fixture_open(x);
	assert_int_equal(round_of(x), 4);
	assert_non_null(fixture_get(x, NULL, part_family[3 % PARTS], "more-3"));
}

/* The machine stopped before an earlier segment was on disk, but a later one was. */
static void after_a_gap_nothing_is_replayed_now_or_later(void **state)
{
	struct fixture *x = *state;
	struct seen all[32], first;
	unsigned last_file = 0;
	uint32_t found;
	char lost[256];
	size_t n;

	run_and_kill(x, "unsynced", 60);
	n = look(x, all, 32);
	for (size_t i = 0; i < n; i++) {
		if (all[i].first > 1)
			last_file = (unsigned)strtoul(strrchr(all[i].path, '.') + 1, NULL, 10);
	}
	assert_true(last_file > 0);
	first = the_one(x, 1);
	overwrite(first.path, first.last_at + 8, "\1", 1);
	overwrite(first.path, first.last_at + 30, "lost", 4);
	fixture_open(x);
	found = round_of(x);
	assert_in_range(found, 1, 3);
	/* On with the numbers of those that are lost, past the one that the lost segment began with. */
	for (uint32_t i = 61; i <= 70; i++)
		assert_true(put_round(x, i, FILLER, true));
	n = look(x, all, 32);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			assert_true(!all[i].first || all[i].first != all[k].first);
	}
	fixture_close(x);
	fixture_open(x);
	assert_int_equal(round_of(x), 70);
	/* But they can still be inspected. */
	snprintf(lost, sizeof(lost), "%s/journal.%u.lost", x->dir, last_file);
	assert_int_equal(access(lost, F_OK), 0);
}

static void a_full_disk_refuses_one_and_goes_on(void **state)
{
	struct fixture *x = *state;

	run_and_kill(x, "full", 2);
	fixture_open(x);
	assert_int_equal(round_of(x), 2);
}

static void a_broken_disk_refuses_all_until_it_is_reopened(void **state)
{
	struct fixture *x = *state;

	for (uint32_t sync = 0; sync < 2; sync++) {
		struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
		uint32_t was;

		fixture_open(x);
		was = round_of(x);
		assert_true(put_round(x, was + 1, 0, sync));
		if (!sync) /* the write works, the sync does not */
			assert_true(put_round(x, was + 2, 0, false));
		journal_fail_next(x->store->journal, EIO);
		if (sync)
			assert_false(put_round(x, was + 2, 0, true));
		else
			assert_false(store_sync(x->store, &x->arena, &x->error));
		assert_non_null(strstr(arena_cstr(&x->arena, x->error.message), "must be restarted"));
		assert_true(store_is_refusing(x->store));
		assert_false(put_round(x, was + 3, 0, true));
		assert_false(put_round(x, was + 3, 0, false));
		assert_false(store_sync(x->store, &x->arena, &x->error));
		was += sync ? 1 : 2;
		assert_int_equal(round_of(x), was);
		/* What was acknowledged before is brought to disk by other means. */
		for (int i = 0; i < 1000 && on_disk(x, STORE_STREAM) != was; i++)
			nanosleep(&pause, NULL);
		assert_int_equal(on_disk(x, STORE_STREAM), was);
		fixture_close(x);
		fixture_open(x);
		assert_int_equal(round_of(x), was);
		assert_true(put_round(x, was + 1, 0, true));
		assert_int_equal(round_of(x), was + 1);
		fixture_close(x);
	}
}

static void where_there_is_no_direct_io_it_is_synced(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	pthread_mutex_lock(&x->store->journal->lock);
	if (x->store->journal->current->f.direct >= 0)
		close(x->store->journal->current->f.direct);
	x->store->journal->current->f.direct = -1;
	pthread_mutex_unlock(&x->store->journal->lock);
	assert_true(put_round(x, 1, 0, true));
	assert_int_equal(x->store->journal->current->unsynced, 0);
	assert_true(put_round(x, 2, 0, false));
	assert_int_equal(x->store->journal->current->unsynced, 2);
	assert_true(put_round(x, 3, 0, true));
	assert_int_equal(x->store->journal->current->unsynced, 0);
	assert_int_equal(the_one(x, 1).end > 0, 1);
}

static void a_synced_write_syncs_those_before_it(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	for (uint32_t i = 1; i < 8; i++) /* more than the first segment holds */
		assert_true(put_round(x, i, FILLER, false));
	assert_non_null(x->store->journal->full);
	assert_true(put_round(x, 8, 0, true));
	for (const struct segment *s = x->store->journal->full; s; s = s->next)
		assert_int_equal(s->unsynced, 0);
	assert_int_equal(x->store->journal->current->unsynced, 0);
}

static void what_is_only_read_must_have_been_closed(void **state)
{
	struct fixture *x = *state;

	run_and_kill(x, "few", 5);
	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_FAILED);
	assert_non_null(strstr(x->why, "was not closed"));
	fixture_open(x);
	fixture_close(x);
	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_OPENED);
	assert_int_equal(round_of(x), 5);
}

/* It may be the disk that cannot be read: nothing is thrown away because of that. */
static void a_segment_that_cannot_be_read_is_not_passed_over(void **state)
{
	struct fixture *x = *state;
	char path[256];

	run_and_kill(x, "few", 5);
	snprintf(path, sizeof(path), "%s/journal.9", x->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_FAILED);
	assert_non_null(strstr(x->why, "cannot be read"));
	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_FAILED);
	rmdir(path);
	fixture_open(x);
	assert_int_equal(round_of(x), 5);
}

/* RocksDB picks the families of a flush it is asked for and then waits for a write that is under way; one that had
 * nothing before is not among them. */
struct flushing {
	struct fixture *x;
	int n;
};

static void *flush_beside(void *arg)
{
	const struct flushing *f = arg;
	struct timespec pause = { .tv_nsec = f->n % 10 * 3000000 };

	nanosleep(&pause, NULL);
	(void)!fixture_reclaim(f->x, STORE_ITEMS, "before", "c"); /* and not what is written beside it */
	return NULL;
}

static void flush(struct fixture *x)
{
	journal_pause(x->store->journal);
	store_flush_together(x->store);
	journal_go_on(x->store->journal);
}

/* One batch that takes a while: many entries in ITEMS, and last one in INDEX. */
static void put_long(struct fixture *x, uint32_t i)
{
	struct store_batch *b = store_batch_new();
	char value[16], key[16];

	snprintf(value, sizeof(value), "%08u", i);
	for (unsigned k = 0; k < 40000; k++) {
		snprintf(key, sizeof(key), "k%u", k * 7919 % 40000);
		store_batch_put(b, x->store, STORE_ITEMS, slice_str(key), slice_str(value));
	}
	store_batch_put(b, x->store, STORE_ITEMS, SLICE("round"), slice_make(value, 9));
	store_batch_put(b, x->store, STORE_INDEX, SLICE("round"), slice_make(value, 9));
	assert_true(store_write(x->store, b, true, &x->arena, &x->error));
	store_batch_free(b);
}

static void reclaiming_beside_a_write_leaves_families_together(void **state)
{
	struct fixture *x = *state;

	fixture_open(x);
	for (int i = 1; i <= 10; i++) {
		struct flushing f = { .x = x, .n = i };
		pthread_t thread;

		fixture_put(x, STORE_ITEMS, "before", "1"); /* INDEX has nothing in memory, ITEMS has */
		assert_int_equal(pthread_create(&thread, NULL, flush_beside, &f), 0);
		put_long(x, (uint32_t)i);
		pthread_join(thread, NULL);
		assert_int_equal(on_disk(x, STORE_ITEMS), on_disk(x, STORE_INDEX));
		flush(x);
		assert_int_equal(on_disk(x, STORE_INDEX), i);
		arena_clear(&x->arena);
	}
}

/* The flushing thread brings the same batches of all families to disk, whatever requested the flush. */
static void reclaiming_room_leaves_families_together(void **state)
{
	struct fixture *x = *state;
	struct journal_point on, after;

	fixture_open(x);
	assert_true(put_round(x, 1, 1000, true));
	assert_true(store_journal_on_disk(x->store, &on));
	assert_int_equal(on.number, 0);
	assert_true(fixture_reclaim(x, STORE_INDEX, "a", "z"));
	assert_true(store_journal_on_disk(x->store, &on));
	assert_true(on.number >= 1);
	assert_int_equal(on_disk(x, STORE_ITEMS), on_disk(x, STORE_INDEX));
	assert_true(put_round(x, 2, 1000, true));
	assert_true(store_journal_on_disk(x->store, &after));
	assert_int_equal(on.number, after.number);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		store_test(synced_rounds_survive_kills_whole),
		store_test(relaxed_rounds_survive_kills_whole),
		store_test(a_closed_database_has_no_journal),
		store_test(a_record_that_is_torn_anywhere_ends_the_journal),
		store_test(a_record_that_was_not_kept_does_not_come_back),
		store_test(a_record_that_was_not_kept_is_written_over),
		store_test(an_undone_record_is_not_in_the_next_segment),
		store_test(a_batch_larger_than_a_segment_survives_a_kill),
		store_test(after_a_gap_nothing_is_replayed_now_or_later),
		store_test(a_full_disk_refuses_one_and_goes_on),
		store_test(a_broken_disk_refuses_all_until_it_is_reopened),
		store_test(where_there_is_no_direct_io_it_is_synced),
		store_test(a_synced_write_syncs_those_before_it),
		store_test(what_is_only_read_must_have_been_closed),
		store_test(a_segment_that_cannot_be_read_is_not_passed_over),
		store_test(reclaiming_room_leaves_families_together),
		store_test(reclaiming_beside_a_write_leaves_families_together),
	};

	if (argc == 3)
		return as_child(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
