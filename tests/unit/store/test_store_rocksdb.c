/* What the store leans on inside RocksDB, held still. Much of it is not promised by RocksDB's documentation, and
 * distributions ship many versions: when a test here fails, RocksDB has changed, and the file that each test names has
 * to be thought about again. SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include "raw.h"
#include "store/rocks_events.h"

#define SMALL_MEMTABLE ((size_t)256 << 10)
#define NOT_ALLOWED    77
#define PATIENCE_MS    60000

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static void raw_open(struct raw *r, const char *dir, size_t memtable)
{
	if (!raw_try_open(r, dir, memtable))
		fail_msg("%s", r->reason.text);
}

/* ---- flushes ---- */

static bool has_files(struct raw *r, enum store_family f)
{
	char *n = rocksdb_property_value_cf(r->db, r->families[f], "rocksdb.num-files-at-level0");
	bool some = n && strcmp(n, "0") != 0;

	rocksdb_free(n);
	return some;
}

/* options.c (atomic_flush): replay begins after the number in META's files. If ITEMS were in files but META not, a
 * start would replay existing batches; the other way around it would skip missing ones. */
static void a_full_memtable_brings_every_family_to_files(void **state)
{
	struct fixture *x = *state;
	char value[1024];
	struct raw r;

	memset(value, 'v', sizeof(value));
	value[sizeof(value) - 1] = 0;
	raw_open(&r, x->dir, SMALL_MEMTABLE);
	assert_true(raw_put_everywhere(&r, r.unlogged, "first", "1"));
	assert_int_equal(raw_count(&r, r.on_disk, "first", "1"), 0);
	for (long i = 0; i < PATIENCE_MS && !has_files(&r, STORE_ITEMS); i++) {
		char key[32];

		snprintf(key, sizeof(key), "%ld", i);
		assert_true(raw_put(&r, r.unlogged, STORE_ITEMS, key, value));
		if (i > 1000)
			pause_ms(1);
	}
	assert_true(has_files(&r, STORE_ITEMS));
	assert_int_equal(raw_count(&r, r.on_disk, "first", "1"), STORE_FAMILIES);
	raw_close(&r);
}

/* maintain.c (store_flush_together): RocksDB's interface in C has no flush of several families, but compacting a key
 * that is in a memtable of one begins with a flush of all. */
static void compacting_a_key_of_meta_brings_every_family_to_files(void **state)
{
	struct fixture *x = *state;
	struct raw r;

	raw_open(&r, x->dir, 0);
	for (int round = 0; round < 3; round++) {
		char value[2] = { (char)('a' + round), 0 };

		assert_true(raw_put_everywhere(&r, r.unlogged, "journal", value));
		assert_int_equal(raw_count(&r, r.on_disk, "journal", value), 0);
		raw_flush_together(&r);
		assert_int_equal(raw_count(&r, r.on_disk, "journal", value), STORE_FAMILIES);
	}
	raw_close(&r);
}

/* open.c, write.c (store_journal_on_disk): a read tier that C has no name for reads what is in files, older values
 * too, and nothing else. It is how a running store knows which segments of the journal may go. */
static void the_persisted_tier_reads_files_and_nothing_else(void **state)
{
	struct fixture *x = *state;
	rocksdb_pinnableslice_t *pin;
	struct reason reason;
	char *err = NULL;
	struct raw r;
	size_t n;

	raw_open(&r, x->dir, 0);
	assert_true(raw_put(&r, r.unlogged, STORE_META, "journal", "1"));
	assert_true(raw_has(&r, r.latest, STORE_META, "journal", "1"));
	assert_false(raw_has(&r, r.on_disk, STORE_META, "journal", "1"));
	assert_false(r.reason.failed);
	raw_flush_together(&r);
	assert_true(raw_has(&r, r.on_disk, STORE_META, "journal", "1"));
	assert_true(raw_put(&r, r.unlogged, STORE_META, "journal", "2"));
	assert_true(raw_has(&r, r.latest, STORE_META, "journal", "2"));
	assert_true(raw_has(&r, r.on_disk, STORE_META, "journal", "1"));
	/* The call that the store uses. */
	pin = rocksdb_get_pinned_cf(r.db, r.on_disk, r.families[STORE_META], "journal", 7, &err);
	assert_false(store_take_reason(&err, &reason));
	assert_memory_equal(rocksdb_pinnableslice_value(pin, &n), "1", 1);
	rocksdb_pinnableslice_destroy(pin);
	raw_close(&r);
}

/* ---- kills ---- */

/* As a process that ends without a word. */
static int write_and_die(const char *dir)
{
	struct raw r;

	if (!raw_try_open(&r, dir, 0) || !raw_put_everywhere(&r, r.logged, "logged", "v") ||
	    !raw_put_everywhere(&r, r.unlogged, "flushed", "v") || !raw_put(&r, r.unlogged, STORE_META, "journal", "1"))
		return 1;
	raw_flush_together(&r);
	if (!raw_put_everywhere(&r, r.unlogged, "unlogged", "v"))
		return 1;
	_exit(0);
}

/* open.c (write_format): a logged write is there after a kill without a flush. journal.h: an unlogged one is not, in
 * no family, so what replays the journal never meets half of a batch. */
static void after_a_kill_there_is_what_was_logged_or_flushed(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("write_and_die", x->dir);
	struct raw r;

	assert_int_equal(child_end(&c), 0);
	raw_open(&r, x->dir, 0);
	assert_int_equal(raw_count(&r, r.latest, "logged", "v"), STORE_FAMILIES);
	assert_int_equal(raw_count(&r, r.latest, "flushed", "v"), STORE_FAMILIES);
	assert_int_equal(raw_count(&r, r.latest, "unlogged", "v"), 0);
	raw_close(&r);
}

/* ---- batches ---- */

/* What each change of a batch looks like: in META, which has number 0, and in ITEMS, which has number 2. */
static const uint8_t batch_bytes[] = {
	0,    0, 0,   0, 0,   0,    0, 0, /* a sequence number, not used */
	5,    0, 0,   0,                  /* changes */
	0x01, 1, 'a', 1, 'A', 0x05, 2, 1, 'b', 2, 'B', 'B', 0x00, 1, 'c', 0x04, 2, 1, 'd', 0x0e, 2, 1, 'e', 1, 'g',
};

static rocksdb_writebatch_t *every_change(struct raw *r)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();

	rocksdb_writebatch_put_cf(batch, r->families[STORE_META], "a", 1, "A", 1);
	rocksdb_writebatch_put_cf(batch, r->families[STORE_ITEMS], "b", 1, "BB", 2);
	rocksdb_writebatch_delete_cf(batch, r->families[STORE_META], "c", 1);
	rocksdb_writebatch_delete_cf(batch, r->families[STORE_ITEMS], "d", 1);
	rocksdb_writebatch_delete_range_cf(batch, r->families[STORE_ITEMS], "e", 1, "g", 1);
	return batch;
}

/* journal.h: a record is a batch's bytes. After an upgrade of RocksDB between a kill and the next start, the older
 * one's journal is replayed. */
static void a_batch_is_the_same_bytes_in_every_version(void **state)
{
	struct fixture *x = *state;
	rocksdb_writebatch_t *batch;
	const char *p;
	struct raw r;
	size_t n;

	raw_open(&r, x->dir, 0);
	batch = every_change(&r);
	p = rocksdb_writebatch_data(batch, &n);
	assert_int_equal(n, sizeof(batch_bytes));
	assert_memory_equal(p, batch_bytes, n);
	rocksdb_writebatch_destroy(batch);
	for (int f = 0; f < STORE_FAMILIES; f++)
		assert_int_equal(rocksdb_column_family_handle_get_id(r.families[f]), f);
	raw_close(&r);
}

/* open.c (replay_batch): the bytes are written to a database with the same families as if they were a batch. */
static void a_batch_can_be_replayed_from_its_bytes(void **state)
{
	struct fixture *x = *state;
	rocksdb_writebatch_t *batch;
	struct raw r;

	raw_open(&r, x->dir, 0);
	for (const char *key = "abcdefgh"; *key; key++)
		assert_true(raw_put_everywhere(&r, r.unlogged, (char[]){ *key, 0 }, "old"));
	batch = rocksdb_writebatch_create_from((const char *)batch_bytes, sizeof(batch_bytes));
	for (int times = 0; times < 2; times++) {
		assert_true(raw_write(&r, r.unlogged, batch));
		assert_true(raw_has(&r, r.latest, STORE_META, "a", "A"));
		assert_true(raw_has(&r, r.latest, STORE_ITEMS, "b", "BB"));
		assert_false(raw_has(&r, r.latest, STORE_META, "c", "old"));
		assert_false(raw_has(&r, r.latest, STORE_ITEMS, "d", "old"));
		assert_false(raw_has(&r, r.latest, STORE_ITEMS, "e", "old"));
		assert_false(raw_has(&r, r.latest, STORE_ITEMS, "f", "old"));
		assert_true(raw_has(&r, r.latest, STORE_ITEMS, "g", "old"));
	}
	assert_int_equal(raw_count(&r, r.latest, "h", "old"), STORE_FAMILIES);
	rocksdb_writebatch_destroy(batch);
	raw_close(&r);
}

/* open.c (replay_batch): bytes that are no batch are refused as corruption, none of them takes effect, and writing
 * goes on. */
static void bytes_that_are_no_batch_are_refused(void **state)
{
	struct fixture *x = *state;
	char bytes[sizeof(batch_bytes)];
	struct raw r;

	raw_open(&r, x->dir, 0);
	for (size_t cut = 0; cut < sizeof(bytes); cut++) {
		rocksdb_writebatch_t *batch;

		memcpy(bytes, batch_bytes, sizeof(bytes));
		batch = rocksdb_writebatch_create_from(bytes, cut);
		if (raw_write(&r, r.unlogged, batch))
			assert_int_equal(cut, 12); /* a count without changes: RocksDB takes it for an empty one */
		else
			assert_memory_equal(r.reason.text, "Corruption", 10);
		rocksdb_writebatch_destroy(batch);
	}
	raw_close(&r);
}

/* ---- what errors say ---- */

static int hold(const char *dir)
{
	struct raw r;
	char end;

	if (!raw_try_open(&r, dir, 0))
		return 1;
	child_tell(1);
	(void)!read(STDIN_FILENO, &end, 1); /* until it is closed */
	raw_close(&r);
	return 0;
}

/* open.c (refuse_with_reason) knows by these words why a database cannot be opened. */
static void a_held_database_is_refused_in_known_words(void **state)
{
	struct fixture *x = *state;
	struct raw r, other;
	struct child c;
	uint32_t ready;

	raw_open(&r, x->dir, 0);
	assert_false(raw_try_open(&other, x->dir, 0));
	assert_non_null(strstr(other.reason.text, "lock hold by current process"));
	raw_close(&r);
	c = child_start("hold", x->dir);
	assert_true(child_read(&c, &ready));
	assert_false(raw_try_open(&other, x->dir, 0));
	assert_int_equal(child_end(&c), 0);
	assert_non_null(strstr(other.reason.text, "While lock file"));
	assert_non_null(strstr(other.reason.text, "Resource temporarily unavailable"));
}

/* The first file whose name begins, and ends, like that. */
static void find_file(const char *dir, const char *begins, const char *ends, char *path, size_t n)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	assert_non_null(d);
	*path = 0;
	while ((entry = readdir(d))) {
		size_t len = strlen(entry->d_name);

		if (strncmp(entry->d_name, begins, strlen(begins)) == 0 && len >= strlen(ends) &&
		    strcmp(entry->d_name + len - strlen(ends), ends) == 0)
			snprintf(path, n, "%s/%s", dir, entry->d_name);
	}
	closedir(d);
	assert_true(*path);
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 0x20;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

/* open.c and readers distinguish damage from other failures by the first word. */
static void damage_is_called_corruption(void **state)
{
	rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
	struct fixture *x = *state;
	char path[400], *err = NULL;
	struct raw r;

	raw_open(&r, x->dir, 0);
	assert_true(raw_put(&r, r.unlogged, STORE_ITEMS, "key", "value"));
	rocksdb_flush_cf(r.db, flush, r.families[STORE_ITEMS], &err);
	rocksdb_flushoptions_destroy(flush);
	assert_null(err);
	raw_close(&r);
	find_file(x->dir, "", ".sst", path, sizeof(path));
	flip(path, 3); /* in its one block of data */
	raw_open(&r, x->dir, 0);
	assert_false(raw_has(&r, r.latest, STORE_ITEMS, "key", "value"));
	assert_memory_equal(r.reason.text, "Corruption", 10);
	raw_close(&r);
	find_file(x->dir, "MANIFEST-", "", path, sizeof(path));
	flip(path, 20);
	assert_false(raw_try_open(&r, x->dir, 0));
	assert_memory_equal(r.reason.text, "Corruption", 10);
}

/* ---- a look before opening ---- */

/* Name, size and time of change of every file, in one text. */
static const char *listing(struct fixture *x)
{
	struct dirent **entries;
	int n = scandir(x->dir, &entries, NULL, alphasort);
	struct buf b;

	assert_true(n > 0);
	buf_init(&b, &x->arena);
	for (int i = 0; i < n; i++) {
		struct stat st;
		char path[500];

		snprintf(path, sizeof(path), "%s/%s", x->dir, entries[i]->d_name);
		assert_int_equal(stat(path, &st), 0);
		buf_printf(&b, "%s %ld %ld.%ld\n", entries[i]->d_name, (long)st.st_size, (long)st.st_mtim.tv_sec,
			   st.st_mtim.tv_nsec);
		free(entries[i]);
	}
	free(entries);
	return arena_cstr(&x->arena, buf_slice(&b));
}

/* inspect.c (store_read_meta), options.c (set_to_look): looking at a database changes no file of it and makes none,
 * with something in RocksDB's log as without; and it finds a file that is missing or short, which opening for writing
 * need not. */
static void a_look_changes_nothing_and_finds_what_is_missing(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("write_and_die", x->dir);
	char path[400], aside[500];
	struct reason reason;
	const char *before;
	struct raw r;

	assert_int_equal(child_end(&c), 0);
	before = listing(x);
	assert_true(raw_look(x->dir, &reason));
	assert_string_equal(listing(x), before);
	raw_open(&r, x->dir, 0);
	raw_close(&r);
	before = listing(x);
	assert_true(raw_look(x->dir, &reason));
	assert_string_equal(listing(x), before);
	find_file(x->dir, "", ".sst", path, sizeof(path));
	snprintf(aside, sizeof(aside), "%s/aside", x->root);
	assert_int_equal(rename(path, aside), 0);
	before = listing(x);
	assert_false(raw_look(x->dir, &reason));
	assert_non_null(strstr(reason.text, "No such file or directory"));
	assert_string_equal(listing(x), before);
	assert_int_equal(rename(aside, path), 0);
	assert_true(raw_look(x->dir, &reason));
	assert_int_equal(truncate(path, 100), 0);
	assert_false(raw_look(x->dir, &reason));
	assert_memory_equal(reason.text, "Corruption", 10);
	find_file(x->dir, "CURRENT", "", path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	before = listing(x);
	assert_false(raw_look(x->dir, &reason));
	assert_string_equal(listing(x), before);
}

/* ---- a full disk ---- */

#define CHECK(ok) ((ok) ? (void)0 : check_failed(__LINE__, #ok))

/* cmocka's assertions need its runner, which is in the other process. */
static void check_failed(int line, const char *what)
{
	fprintf(stderr, "test_store_rocksdb.c:%d: %s\n", line, what);
	_exit(1);
}

static void mount_small_disk(const char *root)
{
	int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	if (unshare(flags) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", root, "tmpfs", 0, "size=96m") < 0)
		_exit(NOT_ALLOWED);
}

static void fill(const char *path)
{
	static const char zeros[65536];
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	CHECK(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	CHECK(errno == ENOSPC);
	close(fd);
}

static int flush_on_a_full_disk(const char *root)
{
	char dir[200], ballast[200], value[1000] = { 0 };
	struct raw r;
	long waited;

	mount_small_disk(root);
	snprintf(dir, sizeof(dir), "%s/data", root);
	snprintf(ballast, sizeof(ballast), "%s/ballast", root);
	CHECK(raw_try_open(&r, dir, 0));
	memset(value, 'v', sizeof(value) - 1);
	CHECK(raw_put_everywhere(&r, r.unlogged, "journal", "1"));
	for (int i = 0; i < 1000; i++) {
		char key[32];

		for (size_t j = 0; j < sizeof(value) - 1; j++)
			value[j] = (char)('!' + rand() % 90); /* or it would be packed into nothing */
		snprintf(key, sizeof(key), "%d", i);
		CHECK(raw_put(&r, r.unlogged, STORE_ITEMS, key, value));
	}
	fill(ballast);
	raw_flush_together(&r);
	CHECK(raw_count(&r, r.on_disk, "journal", "1") == 0);
	CHECK(raw_count(&r, r.latest, "journal", "1") == STORE_FAMILIES);
	unlink(ballast);
	for (waited = 0; waited < PATIENCE_MS && raw_count(&r, r.on_disk, "journal", "1") < STORE_FAMILIES; waited += 50)
		pause_ms(50);
	CHECK(waited < PATIENCE_MS);
	/* It forgets the failure a moment after the flush that made it good; until then there is no other, and perhaps
	 * no write. */
	do {
		if (raw_put_everywhere(&r, r.unlogged, "journal", "2"))
			raw_flush_together(&r);
		pause_ms(50);
		waited += 50;
	} while (waited < PATIENCE_MS && raw_count(&r, r.on_disk, "journal", "2") < STORE_FAMILIES);
	CHECK(waited < PATIENCE_MS);
	raw_close(&r);
	return 0;
}

static void set_small_memtables(struct raw *r)
{
	static const char *const names[] = { "write_buffer_size", "max_write_buffer_number", "arena_block_size",
					     "memtable_prefix_bloom_size_ratio" };
	static const char *const values[] = { "65536", "2", "8192", "0" };
	struct reason reason = { 0 };
	char *err = NULL;

	rocksdb_set_options_cf(r->db, r->families[STORE_ITEMS], 4, names, values, &err);
	CHECK(!store_take_reason(&err, &reason));
}

static int write_on_a_full_disk(const char *root)
{
	char dir[200], ballast[200], value[8000] = { 0 };
	bool stalled = false;
	struct raw r;
	long waited = 0;

	mount_small_disk(root);
	snprintf(dir, sizeof(dir), "%s/data", root);
	snprintf(ballast, sizeof(ballast), "%s/ballast", root);
	CHECK(raw_try_open(&r, dir, 0));
	set_small_memtables(&r);
	memset(value, 'v', sizeof(value) - 1);
	CHECK(raw_put_everywhere(&r, r.unlogged, "journal", "1"));
	fill(ballast);
	for (int i = 0; waited < PATIENCE_MS; i++) {
		char key[32];

		for (size_t j = 0; j < sizeof(value) - 1; j++)
			value[j] = (char)('!' + rand() % 90);
		snprintf(key, sizeof(key), "%d", i);
		if (raw_put(&r, r.hasty, STORE_ITEMS, key, value))
			continue;
		if (!strstr(r.reason.text, "Result incomplete: Write stall"))
			break;
		stalled = true;
		pause_ms(2);
		waited += 2;
	}
	CHECK(waited < PATIENCE_MS);
	CHECK(strstr(r.reason.text, "No space left on device"));
	if (!stalled)
		fprintf(stderr, "the flush failed before a write had to wait\n");
	_exit(0);
}

/* apply.c: a write that must not wait gets a known error, and after the flush has met a full disk, that error
 * instead. If it waited, RocksDB 9 would wait until there is room. */
static void a_write_that_must_not_wait_reports_a_full_disk(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("write_on_a_full_disk", x->root);
	int status = child_end(&c);

	if (status == NOT_ALLOWED)
		skip();
	assert_int_equal(status, 0);
}

/* room.c: a flush that met a full disk loses nothing, nothing of it counts as being in files, and RocksDB makes it by
 * itself when there is room: for the largest memtable of all families, which is what STORE_RESERVE is. */
static void a_flush_that_met_a_full_disk_is_made_when_there_is_room(void **state)
{
	struct fixture *x = *state;
	struct child c = child_start("flush_on_a_full_disk", x->root);
	int status = child_end(&c);

	if (status == NOT_ALLOWED)
		skip();
	assert_int_equal(status, 0);
}

/* ---- deleted ranges ---- */

static const char *walk(struct raw *r, const char *from, const char *to, bool backwards, char *keys)
{
	rocksdb_readoptions_t *o = rocksdb_readoptions_create();
	rocksdb_iterator_t *it;
	size_t n = 0;

	rocksdb_readoptions_set_iterate_lower_bound(o, from, strlen(from));
	rocksdb_readoptions_set_iterate_upper_bound(o, to, strlen(to));
	rocksdb_readoptions_set_total_order_seek(o, 0);
	rocksdb_readoptions_set_ignore_range_deletions(o, 1);
	it = rocksdb_create_iterator_cf(r->db, o, r->families[STORE_ITEMS]);
	for (backwards ? rocksdb_iter_seek_to_last(it) : rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it);
	     backwards ? rocksdb_iter_prev(it) : rocksdb_iter_next(it)) {
		size_t len;
		const char *key = rocksdb_iter_key(it, &len);

		keys[n++] = key[len - 1];
	}
	keys[n] = 0;
	rocksdb_iter_destroy(it);
	rocksdb_readoptions_destroy(o);
	return keys;
}

static void put_live(struct raw *r, char last, const char *value)
{
	char key[STORE_PREFIX + 2];

	memset(key, '2', STORE_PREFIX);
	key[STORE_PREFIX] = last;
	key[STORE_PREFIX + 1] = 0;
	assert_true(raw_put(r, r->unlogged, STORE_ITEMS, key, value));
}

/* iter.c (options_of): a walk within a partition that does not look for deleted ranges sees what is live, as it is,
 * with other tables' ranges deleted on both sides of it: in memory, in files, and in both. Keys that were deleted one
 * by one stay away. */
static void a_walk_that_ignores_deleted_ranges_sees_what_is_live(void **state)
{
	struct fixture *x = *state;
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	char keys[16];
	struct raw r;

	raw_open(&r, x->dir, 0);
	assert_true(raw_put(&r, r.unlogged, STORE_ITEMS, "111111111111a", "gone"));
	assert_true(raw_put(&r, r.unlogged, STORE_ITEMS, "333333333333a", "gone"));
	for (const char *c = "abcd"; *c; c++)
		put_live(&r, *c, "old");
	assert_true(raw_put(&r, r.unlogged, STORE_META, "journal", "1"));
	raw_flush_together(&r);
	rocksdb_writebatch_delete_range_cf(batch, r.families[STORE_ITEMS], "1", 1, "2", 1);
	rocksdb_writebatch_delete_range_cf(batch, r.families[STORE_ITEMS], "3", 1, "4", 1);
	rocksdb_writebatch_delete_cf(batch, r.families[STORE_ITEMS], "222222222222b", 13);
	assert_true(raw_write(&r, r.unlogged, batch));
	rocksdb_writebatch_destroy(batch);
	for (int round = 0; round < 3; round++) {
		assert_string_equal(walk(&r, "222222222222", "222222222222z", false, keys), round ? "acde" : "acd");
		assert_string_equal(walk(&r, "222222222222", "222222222222z", true, keys), round ? "edca" : "dca");
		assert_string_equal(walk(&r, "222222222222b", "222222222222d", false, keys), "c");
		/* A single read, and a walk that does look, do not see the deleted ranges. */
		assert_false(raw_has(&r, r.latest, STORE_ITEMS, "111111111111a", "gone"));
		assert_false(raw_has(&r, r.latest, STORE_ITEMS, "333333333333a", "gone"));
		put_live(&r, 'e', "new");
		if (round != 1)
			continue;
		assert_true(raw_put(&r, r.unlogged, STORE_META, "journal", "2"));
		raw_flush_together(&r);
	}
	raw_close(&r);
}

/* ---- options ---- */

/* Whether a line of that section begins like that. */
static bool line_of_section(FILE *f, const char *section, const char *line)
{
	char text[4096];
	bool inside = false;

	rewind(f);
	while (fgets(text, sizeof(text), f)) {
		text[strcspn(text, "\n")] = 0;
		if (strchr(text, '['))
			inside = strstr(text, section) != NULL;
		else if (inside && strncmp(text + strspn(text, " "), line, strlen(line)) == 0)
			return true;
	}
	return false;
}

/* options.c says some things in words, and a RocksDB that does not know a word goes on without. This one knows them,
 * and nothing else was forgotten over it. */
static void options_reach_rocksdb(void **state)
{
	static const struct {
		const char *section, *line;
	} expected[] = {
		{ "[DBOptions]", "atomic_flush=true" },
		{ "[DBOptions]", "strict_bytes_per_sync=true" },
		{ "[DBOptions]", "bytes_per_sync=262144" },
		{ "[DBOptions]", "paranoid_checks=true" },
		{ "[DBOptions]", "wal_recovery_mode=kTolerateCorruptedTailRecords" },
		{ "[DBOptions]", "max_open_files=512" },
		{ "[DBOptions]", "avoid_flush_during_shutdown=true" },
		{ "[CFOptions \"items\"]", "prefix_extractor=rocksdb.FixedPrefix.12" },
		{ "[CFOptions \"items\"]", "compression=kLZ4Compression" },
		{ "[CFOptions \"items\"]", "level_compaction_dynamic_level_bytes=true" },
		{ "[CFOptions \"items\"]", "max_sequential_skip_in_iterations=2" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "num_file_reads_for_auto_readahead=16" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "enable_index_compression=false" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "index_type=kTwoLevelIndexSearch" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "filter_policy=bloomfilter" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "cache_index_and_filter_blocks=true" },
		{ "[TableOptions/BlockBasedTable \"items\"]", "format_version=5" },
		{ "[TableOptions/BlockBasedTable \"index\"]", "whole_key_filtering=false" },
		{ "[TableOptions/BlockBasedTable \"index\"]", "block_size=8192" },
	};
	struct fixture *x = *state;
	char path[400];
	struct raw r;
	FILE *f;

	raw_open(&r, x->dir, 0);
	find_file(x->dir, "OPTIONS-", "", path, sizeof(path));
	f = fopen(path, "r");
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!line_of_section(f, expected[i].section, expected[i].line))
			fail_msg("%s does not have %s", expected[i].section, expected[i].line);
	fclose(f);
	raw_close(&r);
}

/* rocks_events.cpp: options of the interface in C are where C++ looks for them, also after they were made from
 * words. */
static void a_listener_can_be_added_to_options(void **state)
{
	struct store like = { .cache = rocksdb_cache_create_lru(1 << 20) };
	struct store_tuning tuning;

	(void)state;
	store_tuning_init(&tuning, &like, false);
	for (int f = 0; f < STORE_FAMILIES; f++)
		assert_true(rocks_events_attach(tuning.families[f], &like));
	store_tuning_release(&tuning);
	rocksdb_cache_destroy(like.cache);
}

/* options.c (set_table_format): blocks that are read are in the cache that was given, whose size is the store's bound
 * for memory. */
static void what_is_read_is_in_our_cache(void **state)
{
	struct fixture *x = *state;
	char value[64];
	struct raw r;
	size_t before;

	raw_open(&r, x->dir, 0);
	assert_true(raw_put_everywhere(&r, r.unlogged, "journal", "v"));
	raw_flush_together(&r);
	before = rocksdb_cache_get_usage(r.cache);
	for (int f = 0; f < STORE_FAMILIES; f++)
		assert_true(raw_get(&r, r.latest, (enum store_family)f, "journal", value, sizeof(value)));
	assert_true(rocksdb_cache_get_usage(r.cache) > before);
	raw_close(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		store_test(a_full_memtable_brings_every_family_to_files),
		store_test(compacting_a_key_of_meta_brings_every_family_to_files),
		store_test(the_persisted_tier_reads_files_and_nothing_else),
		store_test(after_a_kill_there_is_what_was_logged_or_flushed),
		store_test(a_batch_is_the_same_bytes_in_every_version),
		store_test(a_batch_can_be_replayed_from_its_bytes),
		store_test(bytes_that_are_no_batch_are_refused),
		store_test(a_held_database_is_refused_in_known_words),
		store_test(damage_is_called_corruption),
		store_test(a_look_changes_nothing_and_finds_what_is_missing),
		store_test(a_write_that_must_not_wait_reports_a_full_disk),
		store_test(a_flush_that_met_a_full_disk_is_made_when_there_is_room),
		store_test(a_walk_that_ignores_deleted_ranges_sees_what_is_live),
		store_test(options_reach_rocksdb),
		store_test(a_listener_can_be_added_to_options),
		store_test(what_is_read_is_in_our_cache),
	};
	static const struct {
		const char *role;
		int (*run)(const char *dir);
	} roles[] = {
		{ "write_and_die", write_and_die },
		{ "hold", hold },
		{ "flush_on_a_full_disk", flush_on_a_full_disk },
		{ "write_on_a_full_disk", write_on_a_full_disk },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(argv[1], roles[i].role) == 0)
			return roles[i].run(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
