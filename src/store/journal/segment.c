/* Segments: files of the journal, made, written and removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "store/journal/internal.h"

/* What a new segment is filled with at once: a synced write beside it waits for no more than this. */
#define FILL_BYTES ((size_t)256 << 10)

bool journal_fail(struct reason *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	r->failed = true;
	return false;
}

static void name_of(char *path, size_t n, const char *dir, unsigned file)
{
	snprintf(path, n, "%s/" JOURNAL_NAME "%u", dir, file);
}

/* O_DSYNC: such a write returns when the data is on disk, in most cases by one request that says so. */
static int open_direct(const char *path)
{
	return open(path, O_WRONLY | O_DIRECT | O_DSYNC | O_CLOEXEC);
}

static bool open_files(const char *dir, struct segment *s, int flags, struct reason *r)
{
	char path[4096];
	struct stat st;

	name_of(path, sizeof(path), dir, s->file);
	s->fd = open(path, O_CLOEXEC | flags, 0666);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		journal_fail(r, "cannot open %s: %m", path);
		segment_close(s);
		return false;
	}
	s->size = (uint64_t)st.st_size / JOURNAL_BLOCK * JOURNAL_BLOCK;
	if ((flags & O_ACCMODE) == O_RDWR)
		s->direct = open_direct(path);
	return true;
}

struct segment *segment_new(unsigned file)
{
	struct segment *s = mem_zalloc(sizeof(*s));

	if (s) {
		s->file = file;
		s->fd = s->direct = -1;
	}
	return s;
}

bool segment_open(const char *dir, struct segment *s, struct reason *r)
{
	return open_files(dir, s, O_RDWR, r);
}

bool segment_open_to_read(const char *dir, struct segment *s, struct reason *r)
{
	return open_files(dir, s, O_RDONLY, r);
}

void segment_close(struct segment *s)
{
	if (s->direct >= 0)
		close(s->direct);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = s->direct = -1;
}

int segment_sync(const struct segment *s)
{
	while (fdatasync(s->fd) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

bool segment_remove(const char *dir, unsigned file)
{
	char path[4096];

	name_of(path, sizeof(path), dir, file);
	return unlink(path) == 0 || errno == ENOENT;
}

bool segment_set_aside(const char *dir, unsigned file)
{
	char path[4096], lost[4096 + 8];

	name_of(path, sizeof(path), dir, file);
	snprintf(lost, sizeof(lost), "%s.lost", path);
	return rename(path, lost) == 0;
}

static bool write_all(int fd, const char *p, size_t n, uint64_t at)
{
	while (n) {
		ssize_t did = pwrite(fd, p, n, (off_t)at);

		if (did < 0 && errno == EINTR)
			continue;
		if (did == 0)
			errno = EIO;
		if (did <= 0)
			return false;
		p += did;
		n -= (size_t)did;
		at += (uint64_t)did;
	}
	return true;
}

/* Writes zeros, in portions that are waited for, and forgets them: what is written past the page cache later need not be looked for there. */
static bool fill(struct segment *s, uint64_t size)
{
	size_t n = FILL_BYTES;
	char *zeros;

	if (!size)
		return true;
	zeros = mem_zalloc(n);
	if (!zeros) {
		errno = ENOMEM;
		return false;
	}
	while (s->size < size && write_all(s->fd, zeros, n, s->size) && (errno = segment_sync(s)) == 0)
		s->size += n;
	mem_free(zeros);
	if (s->size < size)
		return false;
	(void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_DONTNEED);
	return true;
}

struct segment *segment_make(struct journal *j, unsigned file, uint64_t size, struct reason *r)
{
	struct segment *s = segment_new(file);

	if (!s) {
		journal_fail(r, "out of memory");
		return NULL;
	}
	s->limit = size ? size : SEGMENT_BYTES;
	if (!open_files(j->store->dir, s, O_RDWR | O_CREAT | O_TRUNC, r)) {
		segment_free(j, s, false);
		return NULL;
	}
	/* A file is on disk once its directory is. */
	if (fill(s, size) && fsync(j->store->dir_fd) == 0)
		return s;
	journal_fail(r, "cannot write " JOURNAL_NAME "%u in %s: %m", file, j->store->dir);
	segment_free(j, s, true);
	return NULL;
}

void segment_free(struct journal *j, struct segment *s, bool remove)
{
	if (!s)
		return;
	if (remove)
		(void)segment_remove(j->store->dir, s->file);
	segment_close(s);
	mem_free(s);
}

bool segment_write(struct segment *s, const char *p, size_t n, uint64_t at, bool sync, bool *synced, int *error)
{
	bool ok = false;

	*synced = false;
	if (sync && s->direct >= 0) {
		ok = *synced = write_all(s->direct, p, n, at);
		*error = errno;
		/* Some systems open a file so and then want other sizes or places. */
		if (!ok && *error == EINVAL) {
			close(s->direct);
			s->direct = -1;
		} else {
			return ok;
		}
	}
	ok = write_all(s->fd, p, n, at);
	*error = errno;
	return ok;
}

bool segment_files(const char *dir, unsigned **files, size_t *n, struct reason *r)
{
	struct dirent *entry;
	size_t room = 0;
	DIR *d = opendir(dir);
	bool ok = true;

	*files = NULL;
	*n = 0;
	if (!d)
		return journal_fail(r, "cannot read the directory %s: %m", dir);
	while (ok && (errno = 0, entry = readdir(d))) {
		const char *digits = entry->d_name + sizeof(JOURNAL_NAME) - 1;
		unsigned long number;
		char *end;

		if (strncmp(entry->d_name, JOURNAL_NAME, sizeof(JOURNAL_NAME) - 1) != 0 || *digits < '1' || *digits > '9')
			continue;
		number = strtoul(digits, &end, 10);
		if (*end || number > UINT32_MAX / 2)
			continue;
		if (*n == room) {
			unsigned *more = mem_realloc(*files, (room = room ? room * 2 : 16) * sizeof(**files));

			ok = more || journal_fail(r, "out of memory");
			if (!ok)
				break;
			*files = more;
		}
		(*files)[(*n)++] = (unsigned)number;
	}
	if (ok && errno)
		ok = journal_fail(r, "cannot read the directory %s: %m", dir);
	closedir(d);
	if (!ok) {
		mem_free(*files);
		*files = NULL;
	}
	return ok;
}
