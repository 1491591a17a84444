/* Damage: bits flipped, files cut, missing, or of another database. Never a silent loss: what was acknowledged is
 * there, or opening or reading fails; and a database that is refused is left as it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>
#include "base/log.h"
#include "child.h"
#include "store/journal/internal.h"

#define WRITES 60
static char filler[900];

/* ---- a database to be damaged ---- */

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	_exit(4);
}

static void key_of(char key[16], uint32_t i)
{
	snprintf(key, 16, "key-%06u", i);
}

static bool put(struct fixture *x, uint32_t i, bool sync)
{
	struct store_batch *b = store_batch_new();
	char key[16];
	bool ok;

	key_of(key, i);
	memset(filler, 'a' + (int)(i % 26), sizeof(filler));
	store_batch_put(b, x->store, STORE_ITEMS, slice_str(key), slice_make(filler, sizeof(filler)));
	store_batch_put(b, x->store, STORE_INDEX, slice_str(key), slice_str(key));
	ok = store_write(x->store, b, sync, &x->arena, &x->error);
	store_batch_free(b);
	return ok;
}

static int write_and_pause(struct fixture *x, bool sync)
{
	fixture_open(x);
	for (uint32_t i = 1; i <= WRITES; i++) {
		if (!put(x, i, sync))
			die("a write was refused");
	}
	child_tell(WRITES);
	return pause();
}

/* An item that contains what looks like a later record, for any seed that is no secret. */
static int forge(struct fixture *x)
{
	char record[JOURNAL_RECORD_HEAD + 100];

	fixture_open(x);
	for (uint64_t run = 0; run <= 1; run++) {
		struct store_batch *b = store_batch_new();

		memset(record, 0, sizeof(record));
		(void)journal_record_put(record, 100, 50, 0, 0, run);
		store_batch_put(b, x->store, STORE_ITEMS, SLICE("forged"), slice_make(record, sizeof(record)));
		if (!store_write(x->store, b, true, &x->arena, &x->error))
			die("a write was refused");
		store_batch_free(b);
	}
	if (!put(x, 3, true))
		die("a write was refused");
	child_tell(3);
	return pause();
}

static int as_child(const char *role, const char *dir)
{
	struct fixture x = { 0 };

	arena_init(&x.arena);
	snprintf(x.dir, sizeof(x.dir), "%s", dir);
	if (strcmp(role, "forge") == 0)
		return forge(&x);
	return write_and_pause(&x, strcmp(role, "synced") == 0);
}

static void run_and_kill(const char *role, const char *dir)
{
	struct child c = child_start(role, dir);
	uint32_t told;

	assert_true(child_read(&c, &told));
	kill(c.pid, SIGKILL);
	assert_int_equal(child_end(&c), -SIGKILL);
}

static void write_and_close(struct fixture *x)
{
	fixture_open(x);
	for (uint32_t i = 1; i <= WRITES; i++)
		assert_true(put(x, i, true));
	fixture_close(x);
}

/* ---- files ---- */

#define FILES 64
struct listing {
	size_t n;
	struct {
		char name[256];
		uint64_t size, sum;
	} files[FILES];
};

static char contents[32 << 20];

static size_t read_all(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	assert_true(fd >= 0);
	while ((got = read(fd, contents + n, sizeof(contents) - n)) > 0)
		n += (size_t)got;
	close(fd);
	return n;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static struct listing *list(const char *dir)
{
	static struct listing l[4];
	static int at;
	struct listing *to = &l[at++ % 4];
	DIR *d = opendir(dir);
	struct dirent *e;

	memset(to, 0, sizeof(*to));
	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[600];

		if (e->d_name[0] == '.')
			continue;
		assert_true(to->n < FILES);
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		snprintf(to->files[to->n].name, sizeof(to->files->name), "%s", e->d_name);
		to->files[to->n].size = read_all(path);
		to->files[to->n].sum = XXH3_64bits(contents, to->files[to->n].size);
		to->n++;
	}
	closedir(d);
	qsort(to->files, to->n, sizeof(to->files[0]), by_name);
	return to;
}

static void assert_unchanged(const char *dir, const struct listing *was)
{
	const struct listing *is = list(dir);

	for (size_t i = 0; i < was->n || i < is->n; i++) {
		if (i >= was->n || i >= is->n || strcmp(was->files[i].name, is->files[i].name) ||
		    was->files[i].sum != is->files[i].sum)
			fail_msg("%s was changed", i < was->n ? was->files[i].name : is->files[i].name);
	}
}

static void copy_dir(const char *from, const char *to)
{
	DIR *d = opendir(from);
	struct dirent *e;

	nftw(to, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	assert_int_equal(mkdir(to, 0700), 0);
	while ((e = readdir(d))) {
		char path[600];
		size_t n;
		int fd;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", from, e->d_name);
		n = read_all(path);
		snprintf(path, sizeof(path), "%s/%s", to, e->d_name);
		fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
		assert_int_equal(write(fd, contents, n), n);
		close(fd);
	}
	closedir(d);
}

static void flip(const char *dir, const char *name, uint64_t at)
{
	char path[600], byte;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
	byte = (char)(byte ^ 4);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

/* ---- what must hold ---- */

struct outcome {
	int opened, refused, failed_reads;
};

/* Opens what was damaged: refused and unchanged, or everything is there or its reading fails. */
static void open_damaged(struct fixture *x, const char *dir, struct outcome *o, const char *what, const char *name,
			 uint64_t at)
{
	const struct listing *was = list(dir);
	enum store_open_result result = fixture_try_open(x, dir, false);

	if (result != STORE_OPENED) {
		assert_true(strlen(x->why) > 20);
		assert_unchanged(dir, was);
		o->refused++;
		return;
	}
	o->opened++;
	for (uint32_t i = 1; i <= WRITES; i++) {
		struct slice value;
		char key[16];
		bool found;

		key_of(key, i);
		if (!store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, slice_str(key), &x->arena, &value,
			       &found, &x->error)) {
			o->failed_reads++;
			continue;
		}
		if (!found || value.n != sizeof(filler) || value.p[0] != 'a' + (char)(i % 26) ||
		    value.p[value.n - 1] != value.p[0])
			fail_msg("%s at %lu %s: write %u is lost in silence", name, (unsigned long)at, what, i);
	}
	fixture_close(x);
}

static bool is_kind(const char *name, const char *kind)
{
	size_t n = strlen(name), m = strlen(kind);

	return *kind == '.' ? n > m && strcmp(name + n - m, kind) == 0 : strncmp(name, kind, m) == 0;
}

/* Where the last record of a journal ends; for other files all is of interest. */
static uint64_t used_of(const char *dir, const char *name, uint64_t size)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct journal_posix posix = journal_posix(fd);
	struct journal_reader rd;
	struct reason r = { 0 };
	struct slice record;
	uint64_t end = size;

	if (is_kind(name, "journal.")) {
		if (journal_reader_start(&rd, &posix.io, name, &r) == JOURNAL_RECORD)
			while (journal_reader_next(&rd, &record, &r) == JOURNAL_RECORD)
				;
		end = rd.at < size ? rd.at : size; /* it may have been killed before it was filled */
		journal_reader_end(&rd);
	}
	close(fd);
	return end;
}

/* Every 512th byte of all files of a kind, and one within each: every seventh of a small file. */
static struct outcome flip_all(struct fixture *x, const char *kind)
{
	const struct listing *all = list(x->dir);
	struct outcome o = { 0 };
	char copy[256];

	snprintf(copy, sizeof(copy), "%s/copy", x->root);
	for (size_t i = 0; i < all->n; i++) {
		const char *name = all->files[i].name;
		uint64_t size = is_kind(name, kind) ? used_of(x->dir, name, all->files[i].size) : 0;
		struct listing keep = *all;

		for (uint64_t at = 0; at < size; at += size < 200 ? 7 : at % 512 ? 512 - at % 512 : 37) {
			copy_dir(x->dir, copy);
			flip(copy, keep.files[i].name, at);
			open_damaged(x, copy, &o, "flipped", keep.files[i].name, at);
		}
		*(struct listing *)all = keep;
	}
	return o;
}

static void cut_all(struct fixture *x, struct outcome *o)
{
	struct listing all = *list(x->dir);
	char copy[256], path[600];

	snprintf(copy, sizeof(copy), "%s/copy", x->root);
	for (size_t i = 0; i < all.n; i++) {
		uint64_t size = used_of(x->dir, all.files[i].name, all.files[i].size);
		uint64_t cuts[] = { 0, 1, size / 2, size > 512 ? size - 512 : 0, size ? size - 1 : 0 };

		for (size_t c = 0; c < sizeof(cuts) / sizeof(*cuts); c++) {
			copy_dir(x->dir, copy);
			snprintf(path, sizeof(path), "%s/%s", copy, all.files[i].name);
			assert_int_equal(truncate(path, (off_t)cuts[c]), 0);
			open_damaged(x, copy, o, "cut", all.files[i].name, cuts[c]);
		}
		copy_dir(x->dir, copy);
		assert_int_equal(unlink(path), 0);
		open_damaged(x, copy, o, "missing", all.files[i].name, 0);
	}
}

/* ---- tests ---- */

static void a_flipped_bit_anywhere_in_the_journal_is_seen(void **state)
{
	struct fixture *x = *state;
	struct outcome o;

	run_and_kill("synced", x->dir);
	o = flip_all(x, "journal.");
	/* Each record of it was acknowledged: but for a head, which stands twice, and a segment that is not used yet,
	 * every bit counts. */
	assert_true(o.refused > 200);
	assert_true(o.opened <= 2 * 16);
	assert_int_equal(o.failed_reads, 0);
}

static void a_flipped_bit_in_any_other_file_loses_nothing_in_silence(void **state)
{
	static const char *const kinds[] = { "acknowledged", "CURRENT", "MANIFEST", "OPTIONS",
					     "IDENTITY",     ".log",    ".sst" };
	struct fixture *x = *state;
	struct outcome o;

	for (int closed = 0; closed < 2; closed++) {
		if (closed)
			write_and_close(x);
		else
			run_and_kill("synced", x->dir);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			o = flip_all(x, kinds[k]);
			if (strcmp(kinds[k], "MANIFEST") == 0)
				assert_true(o.refused > 0);
			/* The journal itself is sound. */
			if (strcmp(kinds[k], "acknowledged") == 0)
				assert_int_equal(o.refused, 0);
		}
	}
}

static void a_file_that_is_cut_or_missing_loses_nothing_in_silence(void **state)
{
	struct fixture *x = *state;
	struct outcome o = { 0 };

	run_and_kill("synced", x->dir);
	cut_all(x, &o);
	assert_true(o.refused > 5);
	nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	o = (struct outcome){ 0 };
	write_and_close(x);
	cut_all(x, &o);
	assert_true(o.refused > 5);
}

static void a_hole_is_reported_with_file_offset_and_remaining_batches(void **state)
{
	struct fixture *x = *state;

	run_and_kill("synced", x->dir);
	flip(x->dir, "journal.1", 4096 + 5 * 1050);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "journal.1 at byte "));
	assert_non_null(strstr(x->why, "thorpe salvage "));
	assert_non_null(strstr(x->why, "Nothing was changed"));
	/* One record is bad, and the others are whole. */
	assert_true(strstr(x->why, "54 whole batches") || strstr(x->why, "55 whole batches"));
	/* `acknowledged` is not needed for that. */
	snprintf(x->why, sizeof(x->why), "%s/acknowledged", x->dir);
	assert_int_equal(unlink(x->why), 0);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
}

static void a_head_that_cannot_be_read_is_named(void **state)
{
	struct fixture *x = *state;
	char path[256];
	int fd;

	run_and_kill("synced", x->dir);
	snprintf(path, sizeof(path), "%s/journal.1", x->dir);
	/* One copy is enough. */
	flip(x->dir, "journal.1", 20);
	assert_int_equal(fixture_try_open(x, x->dir, true), STORE_FAILED);
	assert_non_null(strstr(x->why, "was not closed"));
	memset(contents, 0, 4096);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, contents, 4096, 0), 4096);
	close(fd);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "journal.1 at byte 0"));
}

static void without_current_nothing_is_made_however_often(void **state)
{
	struct fixture *x = *state;
	const struct listing *was;
	char path[256];

	for (int closed = 0; closed < 2; closed++) {
		if (closed)
			write_and_close(x);
		else
			run_and_kill("synced", x->dir);
		snprintf(path, sizeof(path), "%s/CURRENT", x->dir);
		assert_int_equal(unlink(path), 0);
		was = list(x->dir);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(fixture_try_open(x, x->dir, i == 2), STORE_DAMAGED);
			assert_non_null(strstr(x->why, "CURRENT is missing"));
			assert_unchanged(x->dir, was);
		}
		nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

static void touch(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void nothing_is_made_beside_a_secret(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(mkdir(x->dir, 0700), 0);
	touch(x->dir, "token-secret");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "token-secret"));
}

static void a_database_whose_creation_was_interrupted_is_created_again(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(mkdir(x->dir, 0700), 0);
	touch(x->dir, "MANIFEST-000001");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	touch(x->dir, "creating");
	fixture_open(x);
	assert_true(put(x, 1, true));
	fixture_close(x);
	/* And never over data. */
	touch(x->dir, "creating");
	snprintf(x->why, sizeof(x->why), "%s/CURRENT", x->dir);
	assert_int_equal(unlink(x->why), 0);
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
}

static void replace(const char *from, const char *to, const char *name)
{
	char path[600];
	size_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", from, name);
	n = read_all(path);
	snprintf(path, sizeof(path), "%s/%s", to, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	assert_int_equal(write(fd, contents, n), n);
	close(fd);
}

static void files_of_another_database_are_refused(void **state)
{
	static const char *const names[] = { "journal.1", "acknowledged" };
	struct fixture *x = *state;
	char other[256], copy[256];

	snprintf(other, sizeof(other), "%s/other", x->root);
	snprintf(copy, sizeof(copy), "%s/copy", x->root);
	run_and_kill("synced", x->dir);
	run_and_kill("synced", other);
	for (size_t i = 0; i < 2; i++) {
		const struct listing *was;

		copy_dir(x->dir, copy);
		replace(other, copy, names[i]);
		was = list(copy);
		assert_int_equal(fixture_try_open(x, copy, false), STORE_DAMAGED);
		assert_non_null(strstr(x->why, names[i]));
		assert_non_null(strstr(x->why, "another database"));
		assert_unchanged(copy, was);
	}
}

/* The journal of one copy of a database does not fit another copy that has gone its own way. */
static void the_journal_of_another_copy_is_refused(void **state)
{
	struct fixture *x = *state;
	char other[256];
	char path[600];

	snprintf(other, sizeof(other), "%s/other", x->root);
	write_and_close(x);
	copy_dir(x->dir, other);
	run_and_kill("synced", other); /* writes of its own, in the journal only */
	fixture_open(x);
	assert_true(put(x, 1, true));
	fixture_close(x);
	replace(other, x->dir, "journal.1");
	replace(other, x->dir, "acknowledged");
	assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
	assert_non_null(strstr(x->why, "journal.1"));
	assert_non_null(strstr(x->why, "another copy"));
	snprintf(path, sizeof(path), "%s/journal.1", x->dir);
	assert_int_equal(access(path, F_OK), 0);
}

/* Only with a seed that clients do not know is what they write never taken for a record. */
static void an_item_that_looks_like_a_record_is_none(void **state)
{
	struct fixture *x = *state;
	char path[256];
	uint64_t end;

	run_and_kill("forge", x->dir);
	/* The last record is torn, as after a power loss; nothing says that it was acknowledged. */
	snprintf(path, sizeof(path), "%s/acknowledged", x->dir);
	assert_int_equal(unlink(path), 0);
	end = used_of(x->dir, "journal.1", UINT64_MAX);
	flip(x->dir, "journal.1", end - 10);
	fixture_open(x);
	fixture_close(x);
	/* Nor when the record that holds it is the torn one. */
	nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	run_and_kill("forge", x->dir);
	assert_int_equal(unlink(path), 0);
	flip(x->dir, "journal.1", 4096 + 9); /* the number of the first */
	snprintf(path, sizeof(path), "%s/journal.1", x->dir);
	assert_int_equal(truncate(path, 4096 + 200), 0); /* no other is whole */
	fixture_open(x);
}

/* What was not synced may be lost, and is never thrown away. */
static void a_hole_in_what_was_not_synced_is_warned_of_and_kept(void **state)
{
	struct fixture *x = *state;
	char path[256];
	struct slice value;
	bool found;

	run_and_kill("relaxed", x->dir);
	flip(x->dir, "journal.1", 4096 + 5 * 1050);
	fixture_open(x);
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, SLICE("key-000003"), &x->arena, &value,
			      &found, &x->error));
	assert_true(found);
	assert_true(store_get(&(struct store_at){ x->store, NULL, STORE_ITEMS }, SLICE("key-000050"), &x->arena, &value,
			      &found, &x->error));
	assert_false(found);
	/* It goes on with the numbers of those that are lost, and a kill does not bring them back. */
	for (uint32_t i = 1; i <= WRITES; i++)
		assert_true(put(x, i, true));
	fixture_close(x);
	snprintf(path, sizeof(path), "%s/journal.1.lost", x->dir);
	assert_int_equal(access(path, F_OK), 0);
}

/* ---- looking and salvaging ---- */

static uint32_t count_writes(struct fixture *x)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= WRITES; i++) {
		char key[16];

		key_of(key, i);
		n += fixture_get(x, NULL, STORE_ITEMS, key) != NULL;
	}
	return n;
}

static void looking_at_a_shadow_changes_nothing(void **state)
{
	struct fixture *x = *state;

	for (int closed = 0; closed < 2; closed++) {
		struct store_options o = { .dir = x->dir, .shadow = true };
		const struct listing *was;
		char shadow[256];

		if (closed)
			write_and_close(x);
		else
			run_and_kill("synced", x->dir);
		was = list(x->dir);
		if (store_open(&o, &x->store, x->why, sizeof(x->why)) != STORE_OPENED)
			fail_msg("%s", x->why);
		snprintf(shadow, sizeof(shadow), "%s", x->store->dir);
		assert_int_equal(count_writes(x), WRITES);
		/* Not even by writing. */
		assert_true(put(x, WRITES + 1, true));
		fixture_close(x);
		assert_unchanged(x->dir, was);
		assert_int_equal(access(shadow, F_OK), -1);
		/* Of what is damaged there is none. */
		flip(x->dir, closed ? "CURRENT" : "journal.1", 5);
		if (!closed)
			flip(x->dir, "journal.1", 4096 + 3000);
		was = list(x->dir);
		assert_int_equal(store_open(&o, &x->store, x->why, sizeof(x->why)), STORE_DAMAGED);
		assert_non_null(strstr(x->why, x->dir));
		assert_unchanged(x->dir, was);
		nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

static int sentences;

static void count_sentence(void *ctx, const char *sentence)
{
	(void)ctx;
	assert_true(strlen(sentence) > 10);
	sentences++;
}

static struct store_salvaged salvage(struct fixture *x, bool stop_at_damage)
{
	const struct listing *was = list(x->dir);
	struct store_salvaged result;
	char to[256];

	snprintf(to, sizeof(to), "%s/salvaged", x->root);
	nftw(to, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	sentences = 0;
	if (!store_salvage(&(struct store_salvage){ x->dir, to, stop_at_damage, count_sentence, NULL }, &result, x->why,
			   sizeof(x->why)))
		fail_msg("%s", x->why);
	assert_unchanged(x->dir, was);
	if (fixture_try_open(x, to, false) != STORE_OPENED)
		fail_msg("%s", x->why);
	return result;
}

static void salvaging_a_hole_loses_that_batch_alone(void **state)
{
	struct fixture *x = *state;
	struct store_salvaged s;

	run_and_kill("synced", x->dir);
	flip(x->dir, "journal.1", 4096 + 5 * 1050);
	s = salvage(x, false);
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.applied, WRITES - 1);
	assert_int_equal(sentences, 1);
	assert_int_equal(count_writes(x), WRITES - 1);
	/* It goes on, with numbers that were never given. */
	assert_true(put(x, 1, true));
	assert_int_equal(journal_last(x->store->journal), WRITES + 1);
	fixture_close(x);
	s = salvage(x, true);
	assert_true(s.applied < 7);
	assert_int_equal(s.applied + s.lost, WRITES);
	assert_int_equal(count_writes(x), s.applied);
}

static void salvaging_what_is_sound_loses_nothing(void **state)
{
	struct fixture *x = *state;
	struct store_salvaged s;

	run_and_kill("synced", x->dir);
	s = salvage(x, false);
	assert_int_equal(s.lost, 0);
	assert_int_equal(count_writes(x), WRITES);
	fixture_close(x);
	nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	write_and_close(x);
	s = salvage(x, false);
	assert_int_equal(s.lost, 0);
	assert_int_equal(s.in_files, WRITES);
	assert_int_equal(count_writes(x), WRITES);
}

/* Each file that RocksDB cannot do without, but the tables themselves. */
static void salvaging_without_manifest_or_current_finds_all_tables(void **state)
{
	static const char *const kinds[] = { "CURRENT", "MANIFEST" };
	struct fixture *x = *state;

	for (size_t k = 0; k < 4; k++) {
		struct store_salvaged s;
		const struct listing *all;
		char path[600];

		write_and_close(x);
		all = list(x->dir);
		for (size_t i = 0; i < all->n; i++) {
			if (!is_kind(all->files[i].name, kinds[k % 2]))
				continue;
			snprintf(path, sizeof(path), "%s/%s", x->dir, all->files[i].name);
			/* Gone, or cut: then it tells of the time before the tables. */
			assert_int_equal(k < 2 ? unlink(path) : truncate(path, (off_t)all->files[i].size / 3), 0);
		}
		assert_int_equal(fixture_try_open(x, x->dir, false), STORE_DAMAGED);
		s = salvage(x, false);
		assert_int_equal(s.lost, 0);
		assert_int_equal(count_writes(x), WRITES);
		fixture_close(x);
		nftw(x->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

static void salvage_does_not_write_over_anything(void **state)
{
	struct store_salvaged result;
	struct fixture *x = *state;
	const struct listing *was;

	write_and_close(x);
	was = list(x->dir);
	assert_false(store_salvage(&(struct store_salvage){ x->dir, x->dir, false, count_sentence, NULL }, &result,
				   x->why, sizeof(x->why)));
	assert_non_null(strstr(x->why, x->dir));
	assert_unchanged(x->dir, was);
	fixture_open(x);
	assert_false(store_salvage(&(struct store_salvage){ x->dir, "/nonexistent/x", false, count_sentence, NULL },
				   &result, x->why, sizeof(x->why)));
	assert_non_null(strstr(x->why, "in use"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		store_test(a_flipped_bit_anywhere_in_the_journal_is_seen),
		store_test(a_flipped_bit_in_any_other_file_loses_nothing_in_silence),
		store_test(a_file_that_is_cut_or_missing_loses_nothing_in_silence),
		store_test(a_hole_is_reported_with_file_offset_and_remaining_batches),
		store_test(a_head_that_cannot_be_read_is_named),
		store_test(without_current_nothing_is_made_however_often),
		store_test(nothing_is_made_beside_a_secret),
		store_test(a_database_whose_creation_was_interrupted_is_created_again),
		store_test(files_of_another_database_are_refused),
		store_test(the_journal_of_another_copy_is_refused),
		store_test(an_item_that_looks_like_a_record_is_none),
		store_test(a_hole_in_what_was_not_synced_is_warned_of_and_kept),
		store_test(looking_at_a_shadow_changes_nothing),
		store_test(salvaging_a_hole_loses_that_batch_alone),
		store_test(salvaging_what_is_sound_loses_nothing),
		store_test(salvaging_without_manifest_or_current_finds_all_tables),
		store_test(salvage_does_not_write_over_anything),
	};

	if (argc == 3)
		return as_child(argv[1], argv[2]);
	log_set_level(LOG_ERROR);
	if (access("/dev/shm", W_OK) == 0) /* hundreds of databases are opened, and no sync matters here */
		setenv("TMPDIR", "/dev/shm", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
