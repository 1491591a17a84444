/* Copies of a data directory, made file by file while no process has it open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_COPY_H
#define THORPE_STORE_COPY_H

#include <stddef.h>
#include <string.h>
#include "base/error.h"
#include "store/reason.h"

/* RocksDB's table files never change once written, so they need not be copied byte by byte. */
enum copy_tables {
	COPY_AS_SYMLINKS, /* for a temporary copy that is only read: works on any file system and takes no room */
	COPY_AS_LINKS,    /* for a copy that stays; a real copy if the file system cannot link */
};

/* Copies the regular files of `from` into `to`, an existing empty directory. Without `with_journal` it leaves out
 * the journal's files. Never copies locks or RocksDB's text logs. False: *r says why. */
bool copy_dir(const char *from, const char *to, enum copy_tables tables, bool with_journal, struct reason *r) MUST_CHECK;

/* For names of files. */
static inline bool name_starts(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}
static inline bool name_ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n > m && strcmp(name + n - m, with) == 0;
}

/* Removes a directory and everything in it. */
void copy_remove(const char *dir);

#endif
