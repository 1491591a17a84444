/* The journal's input and output with system calls. SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/journal/io.h"

static int dir_of(struct journal_io *io)
{
	return ((struct journal_posix *)io)->dir_fd;
}

static void close_file(struct journal_io *io, struct journal_file *f)
{
	(void)io;
	if (f->direct >= 0)
		close(f->direct);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = f->direct = -1;
}

static int open_file(struct journal_io *io, const char *name, enum journal_open_mode mode, struct journal_file *f)
{
	static const int flags[] = { O_RDONLY, O_RDWR, O_RDWR | O_CREAT | O_TRUNC };
	struct stat st;

	*f = JOURNAL_FILE_CLOSED;
	f->fd = openat(dir_of(io), name, flags[mode] | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->fd < 0 || fstat(f->fd, &st) < 0) {
		int error = errno;

		close_file(io, f);
		return error;
	}
	f->size = (uint64_t)st.st_size;
	/* O_DSYNC: a write returns when the data is on disk, in most cases with a single request to the disk. */
	if (mode != JOURNAL_READ)
		f->direct = openat(dir_of(io), name, O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC | O_NOFOLLOW);
	return 0;
}

static int read_file(struct journal_io *io, struct journal_file *f, void *to, size_t n, uint64_t at, size_t *got)
{
	(void)io;
	*got = 0;
	while (*got < n) {
		ssize_t did = pread(f->fd, (char *)to + *got, n - *got, (off_t)(at + *got));

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			return errno;
		if (did == 0)
			break;
		*got += (size_t)did;
	}
	return 0;
}

static int write_all(int fd, const char *p, size_t n, uint64_t at)
{
	while (n) {
		ssize_t did = pwrite(fd, p, n, (off_t)at);

		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return did < 0 ? errno : EIO;
		p += did;
		n -= (size_t)did;
		at += (uint64_t)did;
	}
	return 0;
}

static int write_file(struct journal_io *io, struct journal_file *f, const void *p, size_t n, uint64_t at, bool *durable)
{
	(void)io;
	if (*durable && f->direct >= 0) {
		int error = write_all(f->direct, p, n, at);

		if (error != EINVAL)
			return error;
		/* Some systems open such a file but then require other sizes or alignment. */
		close(f->direct);
		f->direct = -1;
	}
	*durable = false;
	return write_all(f->fd, p, n, at);
}

static int sync_file(struct journal_io *io, struct journal_file *f)
{
	(void)io;
	while (fdatasync(f->fd) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

static void forget_file(struct journal_io *io, struct journal_file *f)
{
	(void)io;
	(void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static int sync_dir(struct journal_io *io)
{
	while (fsync(dir_of(io)) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

static int rename_file(struct journal_io *io, const char *from, const char *to)
{
	return renameat(dir_of(io), from, dir_of(io), to) < 0 ? errno : 0;
}

static int unlink_file(struct journal_io *io, const char *name)
{
	return unlinkat(dir_of(io), name, 0) < 0 ? errno : 0;
}

static int list_files(struct journal_io *io, const char *prefix, bool (*each)(void *ctx, const char *name), void *ctx)
{
	int fd = openat(dir_of(io), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!d) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return error;
	}
	while ((errno = 0, entry = readdir(d)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 && !each(ctx, entry->d_name))
			break;
	error = entry ? 0 : errno;
	closedir(d);
	return error;
}

static const struct journal_io_calls posix_calls = {
	.open = open_file,
	.close = close_file,
	.read = read_file,
	.write = write_file,
	.sync = sync_file,
	.forget = forget_file,
	.sync_dir = sync_dir,
	.rename = rename_file,
	.unlink = unlink_file,
	.list = list_files,
};

struct journal_posix journal_posix(int dir_fd)
{
	return (struct journal_posix){ .io = { &posix_calls }, .dir_fd = dir_fd };
}
