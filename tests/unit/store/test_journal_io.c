/* The journal's calls of the system: each is made, with the flags that make it mean something. The linker leads them
 * through here (--wrap). SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "fixture.h"
#include "store/journal/io.h"

static struct {
	int syncs[1024], data_syncs[1024]; /* by descriptor */
	int fail_sync, sync_interrupts;
	size_t write_most; /* bytes that the system takes at once; 0: all */
	int last_written;
} seen;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	if (seen.sync_interrupts && seen.sync_interrupts--)
		return errno = EINTR, -1;
	if (seen.fail_sync)
		return errno = seen.fail_sync, -1;
	seen.syncs[fd]++;
	return __real_fsync(fd);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	if (seen.sync_interrupts && seen.sync_interrupts--)
		return errno = EINTR, -1;
	if (seen.fail_sync)
		return errno = seen.fail_sync, -1;
	seen.data_syncs[fd]++;
	return __real_fdatasync(fd);
}

ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at)
{
	seen.last_written = fd;
	return __real_pwrite64(fd, p, seen.write_most && n > seen.write_most ? seen.write_most : n, at);
}

struct disk {
	struct fixture *x;
	struct journal_posix posix;
	struct journal_io *io;
};

static int disk_setup(void **state)
{
	static struct disk d;

	memset(&seen, 0, sizeof(seen));
	if (fixture_setup(state) < 0)
		return -1;
	d.x = *state;
	if (mkdir(d.x->dir, 0700) < 0)
		return -1;
	d.posix = journal_posix(open(d.x->dir, O_RDONLY | O_DIRECTORY));
	d.io = &d.posix.io;
	*state = &d;
	return 0;
}

static int disk_teardown(void **state)
{
	struct disk *d = *state;
	void *x = d->x;

	close(d->posix.dir_fd);
	return fixture_teardown(&x);
}

static _Alignas(4096) char block[4096 * 3];

static struct journal_file make(struct disk *d, const char *name)
{
	struct journal_file f;

	assert_int_equal(d->io->calls->open(d->io, name, JOURNAL_CREATE, &f), 0);
	return f;
}

/* The kernel brings what is written to such a descriptor to disk before it returns. */
static void a_durable_write_goes_past_the_cache_and_is_synced(void **state)
{
	struct disk *d = *state;
	struct journal_file f = make(d, "journal.1");
	bool durable = true;

	if (f.direct < 0)
		skip(); /* a file system without */
	memset(block, 'x', sizeof(block));
	assert_int_equal(d->io->calls->write(d->io, &f, block, 4096, 4096, &durable), 0);
	assert_true(durable);
	assert_int_equal(seen.last_written, f.direct);
	assert_true(fcntl(f.direct, F_GETFL) & O_DSYNC);
	assert_true(fcntl(f.direct, F_GETFL) & O_DIRECT);
	assert_int_equal(seen.data_syncs[f.fd], 0);
	d->io->calls->close(d->io, &f);
}

static void where_there_is_no_direct_io_a_write_says_that_it_is_not_durable(void **state)
{
	struct disk *d = *state;
	struct journal_file f = make(d, "journal.1");
	bool durable = true;

	if (f.direct >= 0)
		close(f.direct);
	f.direct = -1;
	assert_int_equal(d->io->calls->write(d->io, &f, block, 4096, 0, &durable), 0);
	assert_false(durable);
	/* Or where the system has other wishes: bytes that are not whole blocks. */
	d->io->calls->close(d->io, &f);
	assert_int_equal(d->io->calls->open(d->io, "journal.1", JOURNAL_WRITE, &f), 0);
	durable = true;
	assert_int_equal(d->io->calls->write(d->io, &f, block + 1, 100, 7, &durable), 0);
	assert_false(durable && f.direct >= 0);
	d->io->calls->close(d->io, &f);
}

static void a_sync_asks_the_system_until_it_answers(void **state)
{
	struct disk *d = *state;
	struct journal_file f = make(d, "journal.1");

	assert_int_equal(d->io->calls->sync(d->io, &f), 0);
	assert_int_equal(seen.data_syncs[f.fd], 1);
	seen.sync_interrupts = 3;
	assert_int_equal(d->io->calls->sync(d->io, &f), 0);
	assert_int_equal(seen.data_syncs[f.fd], 2);
	seen.fail_sync = EIO;
	assert_int_equal(d->io->calls->sync(d->io, &f), EIO);
	d->io->calls->close(d->io, &f);
}

static void a_sync_of_the_directory_asks_the_system_until_it_answers(void **state)
{
	struct disk *d = *state;

	assert_int_equal(d->io->calls->sync_dir(d->io), 0);
	assert_int_equal(seen.syncs[d->posix.dir_fd], 1);
	seen.sync_interrupts = 2;
	assert_int_equal(d->io->calls->sync_dir(d->io), 0);
	assert_int_equal(seen.syncs[d->posix.dir_fd], 2);
	seen.fail_sync = ENOSPC;
	assert_int_equal(d->io->calls->sync_dir(d->io), ENOSPC);
}

static void partial_writes_are_completed(void **state)
{
	struct disk *d = *state;
	struct journal_file f = make(d, "journal.1");
	char back[1000];
	bool durable = false;
	size_t got;

	for (size_t i = 0; i < sizeof(back); i++)
		block[i] = (char)(i * 7);
	seen.write_most = 13;
	assert_int_equal(d->io->calls->write(d->io, &f, block, sizeof(back), 5, &durable), 0);
	assert_int_equal(d->io->calls->read(d->io, &f, back, sizeof(back), 5, &got), 0);
	assert_int_equal(got, sizeof(back));
	assert_memory_equal(back, block, sizeof(back));
	/* At its end a file gives less. */
	assert_int_equal(d->io->calls->read(d->io, &f, back, sizeof(back), 505, &got), 0);
	assert_int_equal(got, 500);
	d->io->calls->close(d->io, &f);
}

static bool count_name(void *ctx, const char *name)
{
	(void)name;
	++*(int *)ctx;
	return true;
}

static void names_are_made_changed_listed_and_removed(void **state)
{
	struct disk *d = *state;
	struct journal_file f = make(d, "journal.1");
	struct stat st;
	int n = 0;

	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	d->io->calls->close(d->io, &f);
	assert_int_equal(f.fd, -1);
	assert_int_equal(d->io->calls->rename(d->io, "journal.1", "journal.1.lost"), 0);
	assert_int_equal(d->io->calls->open(d->io, "journal.1", JOURNAL_READ, &f), ENOENT);
	assert_int_equal(d->io->calls->list(d->io, "journal.", count_name, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(d->io->calls->list(d->io, "other", count_name, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(d->io->calls->unlink(d->io, "journal.1.lost"), 0);
	assert_int_equal(d->io->calls->unlink(d->io, "journal.1.lost"), ENOENT);
}

#define disk_test(name) cmocka_unit_test_setup_teardown(name, disk_setup, disk_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		disk_test(a_durable_write_goes_past_the_cache_and_is_synced),
		disk_test(where_there_is_no_direct_io_a_write_says_that_it_is_not_durable),
		disk_test(a_sync_asks_the_system_until_it_answers),
		disk_test(a_sync_of_the_directory_asks_the_system_until_it_answers),
		disk_test(partial_writes_are_completed),
		disk_test(names_are_made_changed_listed_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
