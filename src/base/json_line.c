/* Escapes texts that come from outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_line.h"

#define END     3 /* room kept for a closing quote, '}' and '\n' */
#define ESCAPED 6 /* the longest form of one character */

void json_line_begin(struct json_line *l, char *p, size_t room)
{
	*l = (struct json_line){ .p = p, .room = room };
	l->p[l->n++] = '{';
}

static bool has_room(const struct json_line *l, size_t n)
{
	return l->n + n + END <= l->room;
}

static void put(struct json_line *l, const char *p, size_t n)
{
	memcpy(l->p + l->n, p, n);
	l->n += n;
}

/* Writes `"name":` and the separator from the member before it. False: no room. */
static bool put_name(struct json_line *l, const char *name, size_t and_so_much)
{
	size_t n = strlen(name);

	if (!has_room(l, n + 4 + and_so_much))
		return false;
	if (l->n > 1)
		put(l, ",", 1);
	put(l, "\"", 1);
	put(l, name, n);
	put(l, "\":", 2);
	return true;
}

/* Returns the length of the character at `p` and its code point; 0: not UTF-8. */
static size_t character(const unsigned char *p, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = *p < 0x80                 ? 1
			: *p >= 0xc2 && *p < 0xe0 ? 2
			: *p >= 0xe0 && *p < 0xf0 ? 3
			: *p >= 0xf0 && *p < 0xf5 ? 4
						  : 0;

	if (!length || length > n)
		return 0;
	*c = length == 1 ? *p : *p & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c < least[length] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : length;
}

static bool is_plain(uint32_t c)
{
	return c >= 0x20 && c != '"' && c != '\\' && !(c >= 0x7f && c < 0xa0) && c != 0x2028 && c != 0x2029;
}

void json_line_text(struct json_line *l, const char *name, struct slice value, size_t most)
{
	const unsigned char *p = (const unsigned char *)value.p;
	size_t n = value.n < most ? value.n : most;
	char escape[ESCAPED + 1];

	if (!put_name(l, name, 2))
		return;
	put(l, "\"", 1);
	for (size_t at = 0, length; at < n && has_room(l, ESCAPED); at += length) {
		uint32_t c = 0;

		length = character(p + at, n - at, &c);
		if (length && is_plain(c)) {
			put(l, value.p + at, length);
			continue;
		}
		if (!length && n < value.n && n - at < 4)
			break; /* cut within a character */
		snprintf(escape, sizeof(escape), "\\u%04x", length ? c & 0xffff : 0xfffd);
		put(l, escape, ESCAPED);
		length = length ? length : 1;
	}
	put(l, "\"", 1);
}

void json_line_number(struct json_line *l, const char *name, int64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lld", (long long)value);

	if (put_name(l, name, (size_t)n))
		put(l, text, (size_t)n);
}

size_t json_line_end(struct json_line *l)
{
	put(l, "}\n", 2);
	return l->n;
}

struct slice line_time(char out[LINE_TIME_TEXT])
{
	struct timespec now;
	struct tm t;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &t);
	n = strftime(out, LINE_TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &t);
	n += (size_t)snprintf(out + n, LINE_TIME_TEXT - n, ".%03uZ", (unsigned)(now.tv_nsec / 1000000) % 1000u);
	return slice_make(out, n < LINE_TIME_TEXT ? n : LINE_TIME_TEXT - 1);
}
