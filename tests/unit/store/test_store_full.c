/* A full disk: writes are refused, reads go on, nothing acknowledged is lost, and writing goes on
 * when there is room again. Each runs on a small disk in a mount namespace of its own, and is
 * skipped where that is not allowed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <time.h>
#include "child.h"

#define DISK         "size=96m"
#define VALUE        20000
#define WAITS_LONG_S 40
#define NOT_ALLOWED  77
#define CHECK(ok)    ((ok) ? (void)0 : check_failed(__LINE__, #ok))

/* cmocka's assertions need its runner, which is in the other process. */
static void check_failed(int line, const char *what)
{
	fprintf(stderr, "test_store_full.c:%d: %s\n", line, what);
	_exit(1);
}

struct disk {
	struct fixture x;
	char ballast[256];
	uint32_t acked, next;
	bool was_acked[20000];
};

static struct disk disk;

static void mount_small_disk(const char *root)
{
	int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	if (unshare(flags) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", root, "tmpfs", 0, DISK) < 0)
		_exit(NOT_ALLOWED);
}

static void take_all_room(struct disk *d)
{
	static const char zeros[65536];
	int fd = open(d->ballast, O_CREAT | O_WRONLY | O_APPEND, 0600);

	CHECK(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	CHECK(errno == ENOSPC);
	while (write(fd, zeros, 4096) > 0)
		;
	close(fd);
}

static bool put_next(struct disk *d)
{
	static char value[VALUE];
	struct store_batch *b = store_batch_new();
	uint32_t i = d->next++;
	uint32_t noise = i * 2654435761u + 1;
	char key[16];
	bool ok;

	CHECK(i < sizeof(d->was_acked));
	for (size_t j = 0; j < sizeof(value); j++) {
		noise = noise * 1664525u + 1013904223u;
		value[j] = (char)(noise >> 24);
	}
	snprintf(key, sizeof(key), "%08u", i);
	store_batch_put(b, d->x.store, STORE_ITEMS, slice_str(key), slice_make(value, VALUE));
	store_batch_put(b, d->x.store, STORE_INDEX, slice_str(key), SLICE("i"));
	ok = store_write(d->x.store, b, true, &d->x.arena, &d->x.error);
	CHECK(ok || d->x.error.code == ERR_INTERNAL);
	store_batch_free(b);
	d->was_acked[i] = ok;
	d->acked += ok;
	arena_clear(&d->x.arena);
	return ok;
}

static bool is_there(struct disk *d, enum store_family f, uint32_t i)
{
	struct slice value;
	char key[16];
	bool found;

	snprintf(key, sizeof(key), "%08u", i);
	CHECK(store_get(&(struct store_at){ d->x.store, NULL, f }, slice_str(key), &d->x.arena, &value, &found,
			&d->x.error));
	arena_clear(&d->x.arena);
	return found;
}

/* S1, S2 and S3 by comparison with what was acknowledged. */
static void check_all(struct disk *d)
{
	for (uint32_t i = 0; i < d->next; i++) {
		CHECK(is_there(d, STORE_ITEMS, i) == d->was_acked[i]);
		CHECK(is_there(d, STORE_INDEX, i) == d->was_acked[i]);
	}
}

static void open_store(struct disk *d, bool with_reserve)
{
	struct store_options o = { .dir = d->x.dir };

	if (store_open(&o, &d->x.store, d->x.why, sizeof(d->x.why)) != STORE_OPENED) {
		fprintf(stderr, "%s\n", d->x.why);
		_exit(1);
	}
	if (!with_reserve)
		d->x.store->reserve = 0;
}

static void reopen_and_check(struct disk *d)
{
	arena_release(&d->x.arena);
	store_close(d->x.store);
	open_store(d, true);
	check_all(d);
	store_close(d->x.store);
}

/* Until one succeeds, at most for 30 seconds: RocksDB looks for room every five. */
static bool put_until_it_works(struct disk *d)
{
	struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };

	for (int i = 0; i < 600; i++) {
		if (put_next(d))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The journal gives up what it had prepared: that is taken, too. */
static void refuse_ten(struct disk *d)
{
	for (int refused = 0, tries = 0; refused < 10; tries++) {
		take_all_room(d);
		refused = put_next(d) ? 0 : refused + 1;
		CHECK(tries < 1000);
	}
}

/* Refused before anyone notices, hence at once all right again. */
static void with_reserve(struct disk *d)
{
	open_store(d, true);
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	refuse_ten(d);
	CHECK(store_sync(d->x.store, &d->x.arena, &d->x.error));
	check_all(d);
	unlink(d->ballast);
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	check_all(d);
	reopen_and_check(d);
}

/* The journal runs into the wall, and RocksDB with something in memory. */
static void without_reserve(struct disk *d)
{
	open_store(d, false);
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	take_all_room(d);
	while (put_next(d))
		; /* into the room the journal had set aside */
	for (int i = 0; i < 10; i++)
		CHECK(!put_next(d));
	CHECK(store_sync(d->x.store, &d->x.arena, &d->x.error)); /* nothing waits for it */
	check_all(d);
	unlink(d->ballast);
	CHECK(put_until_it_works(d));
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	check_all(d);
	reopen_and_check(d);
}

/* RocksDB has nothing in memory when the disk is full. */
static void with_nothing_in_memory(struct disk *d)
{
	open_store(d, true);
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	store_close(d->x.store);
	open_store(d, false);
	take_all_room(d);
	while (put_next(d))
		;
	for (int i = 0; i < 10; i++)
		CHECK(!put_next(d));
	check_all(d);
	unlink(d->ballast);
	CHECK(put_until_it_works(d));
	check_all(d);
	reopen_and_check(d);
}

/* Closing and reopening when it is full loses nothing either. */
static void close_when_full(struct disk *d)
{
	open_store(d, false);
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	take_all_room(d);
	while (put_next(d))
		;
	arena_release(&d->x.arena);
	store_close(d->x.store);
	unlink(d->ballast);
	open_store(d, true);
	for (uint32_t i = 0; i < d->next; i++)
		CHECK(!d->was_acked[i] || is_there(d, STORE_ITEMS, i));
	CHECK(put_next(d));
	store_close(d->x.store);
}

static bool remove_first(struct disk *d, uint32_t i)
{
	struct store_batch *b = store_batch_new();
	char key[16];
	bool ok;

	snprintf(key, sizeof(key), "%08u", i);
	store_batch_delete(b, d->x.store, STORE_ITEMS, slice_str(key));
	store_batch_delete(b, d->x.store, STORE_INDEX, slice_str(key));
	store_batch_set_frees(b);
	ok = store_write(d->x.store, b, true, &d->x.arena, &d->x.error);
	store_batch_free(b);
	if (ok)
		d->was_acked[i] = false;
	return ok;
}

/* A write waits for a flush when the flush meets the end of the disk: it is refused then, not left waiting until there
 * is room. */
static void waiting_for_a_flush(struct disk *d)
{
	static const char *const names[] = { "write_buffer_size", "max_write_buffer_number", "arena_block_size",
					     "memtable_prefix_bloom_size_ratio" };
	static const char *const values[] = { "131072", "2", "16384", "0" };
	struct reason r = { 0 };
	char *err = NULL;

	open_store(d, false);
	rocksdb_set_options_cf(d->x.store->db, d->x.store->families[STORE_ITEMS], 4, names, values, &err);
	CHECK(!store_take_reason(&err, &r));
	CHECK(put_next(d));
	take_all_room(d);
	alarm(WAITS_LONG_S);
	/* Into the room the journal had set aside. A flush that ends makes room for a few more, then they are refused
	 * again. */
	for (int refused = 0; refused < 10; refused += !put_next(d))
		;
	(void)remove_first(d, 0); /* is made or refused, and does not wait either */
	alarm(0);
	check_all(d);
	unlink(d->ballast);
	CHECK(put_until_it_works(d));
	check_all(d);
	reopen_and_check(d);
}

static bool is_well_soon(struct disk *d, int looks)
{
	struct timespec pause = { .tv_nsec = 50 * 1000 * 1000 };

	for (int i = 0; i < looks && store_health(d->x.store) != STORE_WELL; i++)
		nanosleep(&pause, NULL);
	return store_health(d->x.store) == STORE_WELL;
}

/* Opened where not a byte is free, with much in the journal: reads, deletions, and no growth until there is room.
 * Twice. */
static void open_when_full(struct disk *d)
{
	open_store(d, true);
	for (int i = 0; i < 400; i++)
		CHECK(put_next(d));
	take_all_room(d);
	for (int round = 0; round < 2; round++) {
		store_close(d->x.store); /* has no room to flush */
		take_all_room(d);
		open_store(d, true);
		check_all(d);
		refuse_ten(d);
		CHECK(strstr(arena_cstr(&d->x.arena, d->x.error.message), "no space left"));
		CHECK(!strstr(arena_cstr(&d->x.arena, d->x.error.message), d->x.dir));
		CHECK(store_health(d->x.store) == STORE_FULL);
		CHECK(!store_takes_growth(d->x.store));
		CHECK(remove_first(d, (uint32_t)round));
		CHECK(store_health(d->x.store) == STORE_FULL);
		check_all(d);
	}
	unlink(d->ballast);
	CHECK(is_well_soon(d, 200));
	for (int i = 0; i < 100; i++)
		CHECK(put_next(d));
	check_all(d);
	reopen_and_check(d);
}

/* Every write that is taken can be flushed: RocksDB never meets the end of a disk that its own data fills. */
static void fill_by_itself(struct disk *d)
{
	uint64_t errors = 0;

	open_store(d, true);
	d->x.store->reserve = 1 << 20; /* less than what is in memory: that has to be kept free beside it */
	do {
		while (put_next(d))
			;
	} while (is_well_soon(d, 60)); /* RocksDB may have made room */
	for (uint32_t i = 0; i < 20; i++)
		CHECK(remove_first(d, i));
	CHECK(rocksdb_property_int_cf(d->x.store->db, d->x.store->families[STORE_META], "rocksdb.background-errors",
				      &errors) == 0);
	CHECK(errors == 0);
	CHECK(d->acked * (uint64_t)VALUE > 96 / 2 * 1000000);
	check_all(d);
	reopen_and_check(d);
}

static const struct {
	const char *role;
	void (*run)(struct disk *d);
} roles[] = {
	{ "with_reserve", with_reserve },
	{ "without_reserve", without_reserve },
	{ "waiting_for_a_flush", waiting_for_a_flush },
	{ "with_nothing_in_memory", with_nothing_in_memory },
	{ "close_when_full", close_when_full },
	{ "open_when_full", open_when_full },
	{ "fill_by_itself", fill_by_itself },
};

static int as_child(const char *role, const char *root)
{
	mount_small_disk(root);
	snprintf(disk.x.dir, sizeof(disk.x.dir), "%s/data", root);
	snprintf(disk.ballast, sizeof(disk.ballast), "%s/ballast", root);
	arena_init(&disk.x.arena);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(role, roles[i].role) == 0)
			roles[i].run(&disk);
	}
	arena_release(&disk.x.arena);
	return 0;
}

static void run(struct fixture *x, const char *role)
{
	struct child c = child_start(role, x->root);
	int status = child_end(&c);

	if (status == NOT_ALLOWED)
		skip();
	assert_int_equal(status, 0);
}

static void a_full_disk_refuses_writes_and_only_those(void **state)
{
	run(*state, "with_reserve");
}

static void a_log_that_met_the_end_of_the_disk_recovers(void **state)
{
	run(*state, "without_reserve");
}

static void a_write_does_not_wait_for_a_disk_that_is_full(void **state)
{
	run(*state, "waiting_for_a_flush");
}

static void a_log_that_cannot_recover_refuses_writes_until_a_restart(void **state)
{
	run(*state, "with_nothing_in_memory");
}

static void closing_on_a_full_disk_loses_nothing(void **state)
{
	run(*state, "close_when_full");
}

static void opened_on_a_full_disk_it_serves_reads_and_deletions_and_goes_on_by_itself(void **state)
{
	run(*state, "open_when_full");
}

static void what_is_taken_can_always_be_flushed(void **state)
{
	run(*state, "fill_by_itself");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		store_test(a_full_disk_refuses_writes_and_only_those),
		store_test(a_log_that_met_the_end_of_the_disk_recovers),
		store_test(a_write_does_not_wait_for_a_disk_that_is_full),
		store_test(a_log_that_cannot_recover_refuses_writes_until_a_restart),
		store_test(closing_on_a_full_disk_loses_nothing),
		store_test(opened_on_a_full_disk_it_serves_reads_and_deletions_and_goes_on_by_itself),
		store_test(what_is_taken_can_always_be_flushed),
	};

	if (argc == 3)
		return as_child(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
