/* Files in a directory:
 *
 *     <directory>/<design>/<last two characters of the id>/<id>
 *     <directory>/.uploads/<id>-<a number>       what is not a file yet
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "base/ulid.h"
#include "media/media_internal.h"

#define UPLOADS     ".uploads"
#define FREE_LEAST  (INT64_C(64) << 20) /* bytes of the disk that stay free: the database needs room as well */
#define LEFT_AFTER  7200                /* seconds: an upload that has been still so long was interrupted */
#define DESIGN_MOST 64
#define ONE_MOST    2 /* uploads of one file at once: a client may send again what the server still waits for */

struct media_upload {
	struct media *media;
	int fd;
	int64_t size, n; /* that it will have; that have come */
	bool counted;    /* in media->used */
	bool listed;     /* in media->open and media->coming */
	struct media_upload *next;
	char id[ULID_LENGTH];
	uint8_t head[MEDIA_HEAD_BYTES];
	size_t head_size;
	char from[PATH_MAX], directory[PATH_MAX], to[PATH_MAX];
};

/* ---- names ---- */
static bool is_plain(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
			return false;
	}
	return s.n && s.n <= DESIGN_MOST;
}

/* G2. `directory` may be NULL. False: it is no name of a file. */
static bool path_of(const struct media *m, struct media_name f, char directory[PATH_MAX], char path[PATH_MAX])
{
	int64_t ms;

	if (!is_plain(f.design) || !ulid_ms(f.id.p, f.id.n, &ms) || !is_plain(f.id))
		return false;
	if (directory && snprintf(directory, PATH_MAX, "%s/%.*s/%.2s", m->where, SLICE_ARG(f.design),
				  f.id.p + ULID_LENGTH - 2) >= PATH_MAX)
		return false;
	return snprintf(path, PATH_MAX, "%s/%.*s/%.2s/%.*s", m->where, SLICE_ARG(f.design), f.id.p + ULID_LENGTH - 2,
			SLICE_ARG(f.id)) < PATH_MAX;
}

static enum media_end failed(const char *what, const char *path)
{
	log_warn("media: cannot %s %s: %s", what, path, strerror(errno));
	return errno == ENOSPC || errno == EDQUOT ? MEDIA_FULL : MEDIA_TROUBLE;
}

static bool sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Its name is on disk then. */
static bool make_directory(const char *path)
{
	char parent[PATH_MAX], *slash;

	if (mkdir(path, 0700) < 0)
		return errno == EEXIST;
	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (!slash)
		return sync_directory(".");
	*slash = '\0';
	return sync_directory(parent[0] ? parent : "/");
}

/* ---- opening ---- */
static _Thread_local int64_t walked; /* nftw() has no context */

/* A file is on the third level. What interrupted uploads have left, on the second, does not count: nothing counts it when
 * it goes (directory_tidy). */
static int add_size(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	if (kind == FTW_F && at->level > 2)
		walked += st->st_size;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	remove(path);
	return 0;
}

static bool make_temporary(struct media *m)
{
	const char *base = getenv("TMPDIR");

	snprintf(m->where, sizeof(m->where), "%s/thorpe-media-XXXXXX", base && *base ? base : "/tmp");
	return mkdtemp(m->where);
}

bool directory_open(struct media *m, char *why, size_t n)
{
	char uploads[PATH_MAX];

	if (m->temporary ? !make_temporary(m) : !make_directory(m->where)) {
		snprintf(why, n, "cannot make the directory %.200s for media: %s", m->where, strerror(errno));
		return false;
	}
	snprintf(uploads, sizeof(uploads), "%.*s/" UPLOADS, PATH_MAX - 16, m->where);
	if (!make_directory(uploads) || access(uploads, W_OK | X_OK) < 0) {
		snprintf(why, n, "cannot write into the directory %.200s for media: %s", m->where, strerror(errno));
		return false;
	}
	directory_tidy(m);
	walked = 0;
	if (m->most)
		nftw(m->where, add_size, 16, FTW_PHYS);
	atomic_store(&m->used, walked);
	return true;
}

void directory_close(struct media *m)
{
	if (m->temporary)
		nftw(m->where, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static _Thread_local time_t old_before;

static int remove_old(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)at;
	if (kind == FTW_F && st->st_mtime < old_before)
		unlink(path);
	return 0;
}

void directory_tidy(struct media *m)
{
	char uploads[PATH_MAX];

	snprintf(uploads, sizeof(uploads), "%.*s/" UPLOADS, PATH_MAX - 16, m->where);
	old_before = (time_t)(clock_now_ms(&clock_system) / 1000 - LEFT_AFTER); /* as the file system's times */
	nftw(uploads, remove_old, 8, FTW_PHYS);
}

/* ---- uploads ---- */
/* False: too many upload this file already. An address is good for any number of uploads until one is complete: they must
 * not fill the disk with what nobody counts. */
static bool enlist(struct media_upload *u, struct slice id)
{
	struct media *m = u->media;
	size_t same = 0;

	memcpy(u->id, id.p, ULID_LENGTH);
	pthread_mutex_lock(&m->lock);
	for (const struct media_upload *k = m->open; k; k = k->next)
		same += !memcmp(k->id, u->id, ULID_LENGTH);
	u->listed = same < ONE_MOST;
	if (u->listed) {
		u->next = m->open;
		m->open = u;
		atomic_fetch_add(&m->coming, u->size);
	}
	pthread_mutex_unlock(&m->lock);
	return u->listed;
}

static void delist(struct media_upload *u)
{
	struct media_upload **at = &u->media->open;

	if (!u->listed)
		return;
	pthread_mutex_lock(&u->media->lock);
	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	pthread_mutex_unlock(&u->media->lock);
	atomic_fetch_sub(&u->media->coming, u->size - u->n);
}

/* The upload is in the list: m->coming has its size. */
static bool has_room(struct media *m, int64_t size)
{
	struct statvfs v;

	if (statvfs(m->where, &v) == 0 && (int64_t)(v.f_bavail * v.f_frsize) - atomic_load(&m->coming) < FREE_LEAST)
		return false;
	if (!m->most)
		return true;
	if (atomic_fetch_add(&m->used, size) + size <= m->most)
		return true;
	atomic_fetch_sub(&m->used, size);
	return false;
}

enum media_end media_upload_begin(struct media *m, struct media_name f, int64_t size, struct media_upload **out)
{
	static _Atomic unsigned number;
	struct media_upload *u = mem_zalloc(sizeof(*u));
	enum media_end end;

	*out = u;
	if (!u)
		return MEDIA_TROUBLE;
	*u = (struct media_upload){ .media = m, .fd = -1, .size = size };
	if (!path_of(m, f, u->directory, u->to))
		return MEDIA_NONE;
	if (access(u->to, F_OK) == 0)
		return MEDIA_THERE;
	if (!enlist(u, f.id))
		return MEDIA_TROUBLE;
	if (!has_room(m, size))
		return MEDIA_FULL;
	u->counted = m->most;
	snprintf(u->from, sizeof(u->from), "%.*s/" UPLOADS "/%.*s-%d-%u", PATH_MAX - 96, m->where, SLICE_ARG(f.id),
		 (int)getpid(), atomic_fetch_add(&number, 1));
	u->fd = open(u->from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (u->fd >= 0)
		return MEDIA_DONE;
	end = failed("make", u->from);
	u->from[0] = '\0';
	return end;
}

bool media_upload_write(struct media_upload *u, struct slice bytes)
{
	if (u->fd < 0 || (int64_t)bytes.n > u->size - u->n)
		return false;
	if (u->head_size < sizeof(u->head)) {
		size_t k = sizeof(u->head) - u->head_size;

		k = bytes.n < k ? bytes.n : k;
		if (k)
			memcpy(u->head + u->head_size, bytes.p, k);
		u->head_size += k;
	}
	while (bytes.n) {
		ssize_t k = write(u->fd, bytes.p, bytes.n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0) {
			(void)failed("write", u->from);
			return false;
		}
		u->n += k;
		atomic_fetch_sub(&u->media->coming, k);
		bytes = slice_make(bytes.p + k, bytes.n - (size_t)k);
	}
	return true;
}

int64_t media_upload_length(const struct media_upload *u)
{
	return u->n;
}

struct slice media_upload_head(const struct media_upload *u)
{
	return slice_make((const char *)u->head, u->head_size);
}

/* G1 */
enum media_end media_upload_finish(struct media_upload *u)
{
	char design[PATH_MAX];

	if (fsync(u->fd) < 0)
		return failed("sync", u->from);
	snprintf(design, sizeof(design), "%s", u->directory);
	*strrchr(design, '/') = '\0';
	if (!make_directory(design) || !make_directory(u->directory))
		return failed("make", u->directory);
	if (link(u->from, u->to) < 0)
		return errno == EEXIST ? MEDIA_THERE : failed("name", u->to);
	u->counted = false; /* the file has the bytes now */
	return sync_directory(u->directory) ? MEDIA_DONE : failed("sync", u->directory);
}

void media_upload_drop(struct media_upload *u)
{
	if (!u)
		return;
	delist(u);
	if (u->fd >= 0)
		close(u->fd);
	if (u->from[0])
		unlink(u->from);
	if (u->counted)
		atomic_fetch_sub(&u->media->used, u->size);
	mem_free(u);
}

/* ---- files ---- */
static int open_file(struct media *m, struct media_name f, struct stat *st, enum media_end *end)
{
	char path[PATH_MAX];
	int fd;

	*end = MEDIA_NONE;
	if (!path_of(m, f, NULL, path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		*end = errno == ENOENT || errno == ELOOP ? MEDIA_NONE : failed("open", path);
		return -1;
	}
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -1;
}

enum media_end directory_look(struct media *m, struct media_name f, struct media_look *out)
{
	enum media_end end;
	struct stat st;
	int fd = open_file(m, f, &st, &end);
	ssize_t k;

	if (fd < 0)
		return end;
	k = pread(fd, out->head, sizeof(out->head), 0);
	close(fd);
	if (k < 0)
		return MEDIA_TROUBLE;
	out->size = st.st_size;
	out->head_size = (size_t)k;
	return MEDIA_DONE;
}

struct mapped {
	void *p;
	size_t n;
};

static void unmap(void *ptr)
{
	struct mapped *x = ptr;

	if (x->n)
		munmap(x->p, x->n);
}

enum media_end media_read(struct media *m, struct arena *a, struct media_name f, struct slice *out)
{
	struct mapped *x = arena_new(a, struct mapped);
	enum media_end end;
	struct stat st;
	int fd;

	*x = (struct mapped){ 0 };
	*out = SLICE("");
	arena_defer(a, unmap, x);
	fd = open_file(m, f, &st, &end);
	if (fd < 0)
		return end;
	x->p = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
	close(fd);
	if (x->p == MAP_FAILED)
		return MEDIA_TROUBLE;
	x->n = (size_t)st.st_size;
	*out = slice_make(x->p, x->n);
	return MEDIA_DONE;
}

enum media_end directory_remove(struct media *m, struct media_name f)
{
	char path[PATH_MAX], directory[PATH_MAX];
	struct stat st;

	if (!path_of(m, f, directory, path))
		return MEDIA_DONE;
	if (lstat(path, &st) < 0 || unlink(path) < 0)
		return errno == ENOENT ? MEDIA_DONE : failed("remove", path);
	if (m->most)
		atomic_fetch_sub(&m->used, st.st_size);
	return sync_directory(directory) ? MEDIA_DONE : failed("sync", directory);
}
