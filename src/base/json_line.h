/* One JSON object on one line, built in a buffer of fixed size: for logs.
 *
 * Invariants
 *   J1  json_line_end() leaves a valid JSON object in UTF-8 followed by one '\n', whatever the values were: control
 *       characters and line separators are escaped, invalid UTF-8 becomes U+FFFD. No value can start a line or a
 *       member.
 *   J2  Values that do not fit are cut; a member with no room at all is left out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_JSON_LINE_H
#define THORPE_BASE_JSON_LINE_H

#include "base/slice.h"

#define JSON_LINE_LEAST 64 /* the least `room` */
#define LINE_TIME_TEXT  25 /* "2026-11-15T12:00:00.123Z" with its NUL */

struct json_line {
	char *p;
	size_t n, room;
};

void json_line_begin(struct json_line *l, char *p, size_t room);
/* At most `most` bytes of the value. */
void json_line_text(struct json_line *l, const char *name, struct slice value, size_t most);
void json_line_number(struct json_line *l, const char *name, int64_t value);
/* Returns the length of the whole line. */
size_t json_line_end(struct json_line *l);

/* The current time, as all logs write it. */
struct slice line_time(char out[LINE_TIME_TEXT]);

#endif
