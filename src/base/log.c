/* Lines to stderr, each in a single write() so that lines of different threads do not mix.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json_line.h"
#include "base/log.h"

#define LINE_MAX_BYTES 2048 /* longer messages are cut: a log is no place for request bodies */

static enum log_level least_level = LOG_INFO;
static enum log_format line_format = LOG_TEXT;

__thread const char *log_request_id;

void log_set_level(enum log_level least)
{
	least_level = least;
}

void log_set_format(enum log_format format)
{
	line_format = format;
}

struct slice log_request(void)
{
	return slice_make(log_request_id, log_request_id ? LOG_REQUEST_ID : 0);
}

static void write_line(const char *line, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t wrote = write(STDERR_FILENO, line + done, n - done);

		if (wrote <= 0)
			return;
		done += (size_t)wrote;
	}
}

static void write_json(enum log_level level, struct slice message)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	char line[LINE_MAX_BYTES], time[LINE_TIME_TEXT];
	struct json_line l;

	json_line_begin(&l, line, sizeof(line));
	json_line_text(&l, "time", line_time(time), LINE_TIME_TEXT);
	json_line_text(&l, "level", slice_str(names[level]), 5);
	if (log_request_id)
		json_line_text(&l, "request", log_request(), LOG_REQUEST_ID);
	json_line_text(&l, "message", message, LINE_MAX_BYTES);
	write_line(line, json_line_end(&l));
}

/* Text from a client must not be able to fake a line. */
static void write_text(const char *head, struct slice message)
{
	char line[LINE_MAX_BYTES];
	int n = snprintf(line, sizeof(line) - 1, "%s%.*s", head, SLICE_ARG(message));

	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	for (int i = 0; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = ' ';
	line[n++] = '\n';
	write_line(line, (size_t)n);
}

/* The message as it fits the buffer it was printed to. */
static struct slice printed(const char *text, size_t room, int n)
{
	return slice_make(text, n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1);
}

void log_write(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = { "debug", "info ", "warn ", "error" };
	char message[LINE_MAX_BYTES], time[LINE_TIME_TEXT], head[LINE_TIME_TEXT + 16];
	struct slice text;
	va_list ap;

	if (level < least_level)
		return;
	va_start(ap, fmt);
	text = printed(message, sizeof(message), vsnprintf(message, sizeof(message), fmt, ap));
	va_end(ap);
	if (line_format == LOG_JSON) {
		write_json(level, text);
		return;
	}
	snprintf(head, sizeof(head), "%.*s %s ", SLICE_ARG(line_time(time)), names[level]);
	write_text(head, text);
}

void log_say(const char *fmt, ...)
{
	char message[LINE_MAX_BYTES];
	struct slice text;
	va_list ap;

	va_start(ap, fmt);
	text = printed(message, sizeof(message), vsnprintf(message, sizeof(message), fmt, ap));
	va_end(ap);
	if (line_format == LOG_TEXT) {
		write_text("", text);
		return;
	}
	while (text.n && text.p[0] == ' ')
		text.p++, text.n--;
	if (least_level <= LOG_INFO)
		write_json(LOG_INFO, text);
}
