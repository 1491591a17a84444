/* Directories: made so that they survive a power loss, and measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "store/internal.h"

static bool fail_dir(struct reason *r, const char *what, const char *path)
{
	int code = errno;

	r->failed = true;
	snprintf(r->text, sizeof(r->text), "%s %s: %s", what, path, strerror(code));
	return false;
}

/* A directory is on disk once its parent is synced. */
static bool sync_dir(const char *path, struct reason *r)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		/* A parent that we may enter but not read cannot be synced; that is not an error. */
		return errno == EACCES ? true : fail_dir(r, "cannot open", path);
	ok = fsync(fd) == 0 || errno == EINVAL || fail_dir(r, "cannot sync", path);
	close(fd);
	return ok;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Makes `path` after its parents. The '/' before its last component is cut for a moment. */
static bool make_dir(char *path, bool is_last, struct reason *r)
{
	char *slash = strrchr(path, '/');
	bool ok;

	if (is_dir(path))
		return true;
	if (slash && slash != path) {
		*slash = 0;
		ok = make_dir(path, false, r);
		*slash = '/';
		if (!ok)
			return false;
	}
	/* Only the owner may read the directory: it holds password hashes. */
	if (mkdir(path, is_last ? 0700 : 0777) < 0) {
		int code = errno;

		/* Another process may have made it meanwhile. */
		if (!is_dir(path)) {
			errno = code == EEXIST ? ENOTDIR : code;
			return fail_dir(r, "cannot make the directory", path);
		}
	}
	if (!slash || slash == path)
		return sync_dir(slash ? "/" : ".", r);
	*slash = 0;
	ok = sync_dir(path, r);
	*slash = '/';
	return ok;
}

bool store_make_dir(const char *dir, struct reason *r)
{
	char *path;
	bool ok;

	path = mem_strndup(dir, strlen(dir));
	if (!path) {
		errno = ENOMEM;
		return fail_dir(r, "cannot make the directory", dir);
	}
	ok = make_dir(path, true, r);
	mem_free(path);
	return ok;
}

/* A database in memory has no files: sums tables and memtables. */
static uint64_t memory_bytes(struct store *s)
{
	static const char *const properties[] = { "rocksdb.total-sst-files-size", "rocksdb.cur-size-all-mem-tables" };
	uint64_t total = 0;

	for (int f = 0; f < STORE_FAMILIES; f++) {
		for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
			uint64_t bytes = 0;

			if (rocksdb_property_int_cf(s->db, s->families[f], properties[i], &bytes) == 0)
				total += bytes;
		}
	}
	return total;
}

uint64_t store_disk_bytes(struct store *s)
{
	struct dirent *entry;
	uint64_t total = 0;
	DIR *d;

	if (!s->dir)
		return memory_bytes(s);
	d = opendir(s->dir);
	if (!d)
		return 0;
	while ((entry = readdir(d))) {
		struct stat st;

		/* Compaction may delete a file between the two calls. */
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			total += (uint64_t)st.st_size;
	}
	closedir(d);
	return total;
}
