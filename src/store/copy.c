/* Copies of a data directory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"

#define PORTION   ((size_t)256 << 10)
#define PATH_ROOM 4352

static bool is_table(const char *name)
{
	return name_ends(name, ".sst") || name_ends(name, ".blob");
}

static bool is_of_journal(const char *name)
{
	return name_starts(name, "journal.") || name_starts(name, "acknowledged");
}

static bool is_left_out(const char *name)
{
	return strcmp(name, "LOCK") == 0 || strcmp(name, "reserve") == 0 || strcmp(name, "LOG") == 0 ||
	       name_starts(name, "LOG.old");
}

static bool copy_bytes(int from, int to, struct reason *r)
{
	char *p = mem_alloc(PORTION);
	ssize_t got = 1;
	bool ok = p || reason_set(r, "out of memory");

	while (ok && (got = read(from, p, PORTION)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		for (ssize_t done = 0, did; got > 0 && done < got; done += did) {
			did = write(to, p + done, (size_t)(got - done));
			if (did < 0 && errno != EINTR)
				got = -1;
			if (did < 0)
				did = 0;
		}
		if (got < 0)
			ok = reason_set(r, "%m");
	}
	mem_free(p);
	return ok;
}

static bool copy_file(const char *from, const char *to, struct reason *r)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW),
	    out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = out >= 0 || reason_set(r, "%m");

	ok = ok && copy_bytes(in, out, r) && (fsync(out) == 0 || errno == EINVAL || reason_set(r, "%m"));
	if (out >= 0)
		close(out);
	if (in >= 0)
		close(in);
	return ok;
}

static bool copy_table(const char *from, const char *to, enum copy_tables tables, struct reason *r)
{
	if (tables == COPY_AS_SYMLINKS)
		return symlink(from, to) == 0 || reason_set(r, "%m");
	return link(from, to) == 0 || copy_file(from, to, r);
}

static bool copy_one(const char *from, const char *to, const char *name, enum copy_tables tables, struct reason *r)
{
	char in[PATH_ROOM], out[PATH_ROOM];
	struct stat st;
	bool ok;

	snprintf(in, sizeof(in), "%s/%s", from, name);
	snprintf(out, sizeof(out), "%s/%s", to, name);
	if (lstat(in, &st) < 0)
		return reason_set(r, "%s: %m", in);
	if (!S_ISREG(st.st_mode))
		return true;
	ok = is_table(name) ? copy_table(in, out, tables, r) : copy_file(in, out, r);
	if (!ok) {
		struct reason why = *r;

		reason_set(r, "%.200s could not be copied to %.200s: %.100s", in, to, why.text);
	}
	return ok;
}

bool copy_dir(const char *from, const char *to, enum copy_tables tables, bool with_journal, struct reason *r)
{
	char *whole = realpath(from, NULL); /* symbolic links must be absolute */
	DIR *d = whole ? opendir(whole) : NULL;
	struct dirent *entry;
	bool ok = true;

	if (!d)
		ok = reason_set(r, "cannot read the directory %s: %m", from);
	while (ok && (errno = 0, entry = readdir(d))) {
		if (is_left_out(entry->d_name) || (!with_journal && is_of_journal(entry->d_name)))
			continue;
		ok = copy_one(whole, to, entry->d_name, tables, r);
	}
	if (ok && errno)
		ok = reason_set(r, "cannot read the directory %s: %m", from);
	if (d)
		closedir(d);
	free(whole);
	return ok;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void copy_remove(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
