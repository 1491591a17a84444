/* The secret of a server: read, or made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/secret.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private_file.h"

#define DIGITS (2 * SECRET_BYTES)

enum outcome { LOADED, MISSING, FAILED };

static bool fail(char *why, size_t n, const char *what, const char *path)
{
	int code = errno;

	snprintf(why, n, "cannot %s %s: %s", what, path, strerror(code));
	return false;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool decode(const char *text, size_t length, uint8_t out[SECRET_BYTES])
{
	while (length > DIGITS && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	if (length != DIGITS)
		return false;
	for (size_t i = 0; i < SECRET_BYTES; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static enum outcome read_file(const char *path, uint8_t out[SECRET_BYTES], char *why, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[DIGITS + 8];
	struct stat st;
	ssize_t got;

	if (fd < 0) {
		if (errno == ENOENT)
			return MISSING;
		fail(why, n, "read", path);
		return FAILED;
	}
	if (fstat(fd, &st) == 0)
		private_file_warn(st.st_mode, "secret", path);
	got = read(fd, text, sizeof(text));
	if (got < 0)
		fail(why, n, "read", path);
	close(fd);
	if (got >= 0 && decode(text, (size_t)got, out))
		return LOADED;
	if (got >= 0)
		snprintf(why, n, "%s does not hold %d hexadecimal digits", path, DIGITS);
	return FAILED;
}

static bool make_random(uint8_t out[SECRET_BYTES], char *why, size_t n)
{
	if (getrandom(out, SECRET_BYTES, 0) == SECRET_BYTES)
		return true;
	snprintf(why, n, "cannot get random bytes: %s", strerror(errno));
	return false;
}

static bool write_all(int fd, const uint8_t secret[SECRET_BYTES])
{
	char text[DIGITS + 2];

	for (size_t i = 0; i < SECRET_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", secret[i]);
	text[DIGITS] = '\n';
	return write(fd, text, DIGITS + 1) == DIGITS + 1 && fsync(fd) == 0;
}

/* Written to another file and then linked: no reader sees half of it, and of two processes that make it at once one
 * wins. */
static bool make_file(const char *path, const uint8_t secret[SECRET_BYTES], char *why, size_t n)
{
	char beside[PATH_MAX];
	bool ok;
	int fd;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside)) {
		errno = ENAMETOOLONG;
		return fail(why, n, "make", path);
	}
	fd = mkostemp(beside, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return fail(why, n, "make", path);
	ok = write_all(fd, secret) && (link(beside, path) == 0 || errno == EEXIST);
	if (!ok)
		fail(why, n, "make", path);
	close(fd);
	unlink(beside);
	return ok;
}

bool secret_load(const char *data_dir, const char *file, bool create, uint8_t out[SECRET_BYTES], char *why, size_t n)
{
	uint8_t made[SECRET_BYTES];
	char path[PATH_MAX];
	enum outcome outcome;

	if (!file && !data_dir)
		return make_random(out, why, n);
	if (snprintf(path, sizeof(path), "%s%s%s", file ? file : data_dir, file ? "" : "/", file ? "" : SECRET_FILE) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return fail(why, n, "read", file ? file : data_dir);
	}
	outcome = read_file(path, out, why, n);
	if (outcome == MISSING && create) {
		if (!make_random(made, why, n) || !make_file(path, made, why, n))
			return false;
		outcome = read_file(path, out, why, n);
	}
	if (outcome == MISSING)
		snprintf(why, n, "there is no %s: say where the server has it, by --data or --secret-file", path);
	return outcome == LOADED;
}

bool secret_keep(const char *data_dir, const uint8_t secret[SECRET_BYTES], bool *other, char *why, size_t n)
{
	uint8_t there[SECRET_BYTES];
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", data_dir, SECRET_FILE) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return fail(why, n, "make", data_dir);
	}
	if (!make_file(path, secret, why, n) || read_file(path, there, why, n) != LOADED)
		return false;
	*other = memcmp(there, secret, SECRET_BYTES) != 0;
	return true;
}
