/* Writes and removes the ready file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve/serve_ready.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool fail(const char *doing, const char *path, char *why, size_t n)
{
	snprintf(why, n, "--ready-file: cannot %s %s: %s", doing, path, strerror(errno));
	return false;
}

bool serve_ready_clear(const char *path, char *why, size_t n)
{
	if (!path || unlink(path) == 0 || errno == ENOENT)
		return true;
	return fail("remove", path, why, n);
}

/* Written beside it and renamed: no reader sees half of it. */
bool serve_ready_write(const char *path, const char *scheme, const char *address, char *why, size_t n)
{
	char beside[PATH_MAX];
	FILE *f;
	bool ok;

	if (!path)
		return true;
	if (snprintf(beside, sizeof(beside), "%s.%ld", path, (long)getpid()) >= (int)sizeof(beside)) {
		errno = ENAMETOOLONG;
		return fail("write", path, why, n);
	}
	f = fopen(beside, "wex");
	if (!f)
		return fail("write", beside, why, n);
	ok = fprintf(f, "%s://%s\n", scheme, address) > 0;
	ok = fclose(f) == 0 && ok && rename(beside, path) == 0;
	if (ok)
		return true;
	(void)fail("write", path, why, n);
	unlink(beside);
	return false;
}

void serve_ready_remove(const char *path)
{
	if (path)
		unlink(path);
}
