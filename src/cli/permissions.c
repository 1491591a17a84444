/* Modes of files: the process's own, and warnings about those of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/permissions.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include "base/log.h"

#define NOT_OWNER (S_IRWXG | S_IRWXO)

void permissions_close(void)
{
	umask(NOT_OWNER);
}

static size_t count_open_files(DIR *d)
{
	struct dirent *entry;
	struct stat st;
	size_t n = 0;

	while ((entry = readdir(d)))
		n += fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		     (st.st_mode & NOT_OWNER);
	return n;
}

void permissions_check_dir(const char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	struct stat st;
	size_t files;

	if (!d)
		return;
	files = count_open_files(d);
	if (fstat(dirfd(d), &st) == 0 && ((st.st_mode & NOT_OWNER) || files))
		log_warn("others may read the data directory %s (it has mode %04o, and %zu of its files are not for their owner alone): chmod -R go-rwx %s",
			 dir, (unsigned)st.st_mode & 07777, files, dir);
	closedir(d);
}

void permissions_check_file(const char *what, const char *path)
{
	struct stat st;

	if (path && stat(path, &st) == 0 && (st.st_mode & NOT_OWNER))
		log_warn("others may read the %s in %s: chmod 600 %s", what, path, path);
}
