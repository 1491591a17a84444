/* The ballast: a file that holds room on the disk until it is needed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/room.h"

/* RocksDB retries a flush that failed for lack of room when 32 MB are free. */
#define MOST      (48 * ROOM_MB)
#define LEAST     (4 * ROOM_MB)
#define DATA_PART 4                    /* a small database has a small ballast */
#define DISK_PART 16                   /* so does a small disk */
#define LEFT      ((uint64_t)64 << 10) /* left free if everything else is kept for opening */
#define ZEROS     ((size_t)64 << 10)

/* The bytes that opening writes grow with the list of files: a few hundred for each 64 MB. */
static uint64_t for_opening(uint64_t data)
{
	return BALLAST_TO_OPEN + (data >> 17);
}

static int open_ballast(const struct store *s, int flags)
{
	return openat(s->dir_fd, BALLAST_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Frees up to `bytes`, but keeps `keep`. */
static void shrink(struct store *s, uint64_t bytes, uint64_t keep)
{
	int fd = open_ballast(s, 0);
	uint64_t size = fd < 0 ? 0 : size_of(fd);

	if (size > keep) {
		size = size - keep > bytes ? size - bytes : keep;
		if (ftruncate(fd, (off_t)size) < 0)
			log_warn("store: the file " BALLAST_NAME " in %s cannot be made smaller: %m", s->dir);
	}
	if (fd >= 0)
		close(fd);
}

void ballast_for_opening(struct store *s)
{
	struct room r;

	if (s->read_only || !s->reserve || !room_look(s, &r) || r.free >= BALLAST_TO_OPEN)
		return;
	pthread_mutex_lock(&s->ballast_lock);
	shrink(s, BALLAST_TO_OPEN - r.free, 0);
	pthread_mutex_unlock(&s->ballast_lock);
}

void ballast_give(struct store *s, uint64_t bytes)
{
	uint64_t keep = for_opening(room_data(s));

	if (s->dir_fd < 0)
		return;
	pthread_mutex_lock(&s->ballast_lock);
	shrink(s, bytes, keep);
	pthread_mutex_unlock(&s->ballast_lock);
}

/* Writes zeros if the file system cannot reserve room. */
static bool fill(int fd, uint64_t from, uint64_t to)
{
	char *zeros = mem_zalloc(ZEROS);
	bool ok = zeros != NULL;

	for (; ok && from < to; from += ZEROS)
		ok = pwrite(fd, zeros, to - from < ZEROS ? to - from : ZEROS, (off_t)from) > 0;
	mem_free(zeros);
	return ok;
}

static void extend(int fd, uint64_t from, uint64_t to)
{
	if (fallocate(fd, 0, (off_t)from, (off_t)(to - from)) == 0)
		return;
	if ((errno == EOPNOTSUPP || errno == ENOSYS) && fill(fd, from, to))
		return;
	/* Undoes a partial write. */
	if (ftruncate(fd, (off_t)from) < 0)
		log_debug("store: " BALLAST_NAME ": %m");
}

static uint64_t ideal(uint64_t data, const struct room *r)
{
	uint64_t want = data / DATA_PART;

	want = want < LEAST ? LEAST : want > MOST ? MOST : want;
	if (want > r->total / DISK_PART)
		want = r->total / DISK_PART;
	return want > for_opening(data) ? want : for_opening(data);
}

/* The size it may have now: its target, limited by the room beyond the reserve; the part for opening may use all free
 * room. */
static uint64_t wanted(struct store *s, uint64_t size, const struct room *r)
{
	uint64_t data = room_data(s), open = for_opening(data), want = ideal(data, r), above;

	if (size > 2 * want)
		return want; /* the database has shrunk */
	above = r->reserve + room_unflushed(s) + room_compacting(s);
	above = r->free > above ? r->free - above : 0;
	if (want > size + above)
		want = size + above;
	if (want < open && r->free > LEFT)
		want = size + (r->free - LEFT) < open ? size + (r->free - LEFT) : open;
	return want;
}

void ballast_grow(struct store *s)
{
	uint64_t size, want;
	struct room r;
	int fd;

	if (s->read_only || !s->reserve || !room_look(s, &r))
		return;
	pthread_mutex_lock(&s->ballast_lock);
	fd = open_ballast(s, O_CREAT);
	if (fd >= 0) {
		size = size_of(fd);
		want = wanted(s, size, &r);
		if (want > size)
			extend(fd, size, want);
		close(fd);
		if (2 * want < size)
			shrink(s, size, want);
	}
	pthread_mutex_unlock(&s->ballast_lock);
}
