/* Lines to stderr, each in a single write() so that threads do not mix theirs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define LINE_MAX_BYTES 2048 /* longer messages are cut: a log is not the place for a body */

static enum log_level least_level = LOG_INFO;

void log_set_level(enum log_level least)
{
	least_level = least;
}

static size_t put_head(char *line, size_t room, enum log_level level)
{
	static const char *const names[] = { "debug", "info ", "warn ", "error" };
	struct timespec now;
	struct tm t;
	size_t n;
	int more;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &t);
	n = strftime(line, room, "%Y-%m-%dT%H:%M:%S", &t);
	more = snprintf(line + n, room - n, ".%03dZ %s ", (int)(now.tv_nsec / 1000000),
			names[level]);
	return n + (size_t)more;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	size_t start, n, i, done;
	va_list ap;
	int len;

	if (level < least_level)
		return;
	start = put_head(line, sizeof(line), level);
	va_start(ap, fmt);
	len = vsnprintf(line + start, sizeof(line) - start, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	n = start + (size_t)len;
	if (n > sizeof(line) - 1)
		n = sizeof(line) - 1;
	/* What a client sent must not be able to fake a line of its own. */
	for (i = start; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = ' ';
	line[n++] = '\n';
	for (done = 0; done < n;) {
		ssize_t wrote = write(STDERR_FILENO, line + done, n - done);

		if (wrote <= 0)
			return;
		done += (size_t)wrote;
	}
}
