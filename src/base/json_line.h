/* One JSON object on one line, made in memory of fixed size: for logs.
 *
 * Invariants
 *   J1  What json_line_end() leaves is a valid JSON object in UTF-8 and one '\n' at its end, whatever the values were:
 *       control characters and line separators are escaped, bytes that are no UTF-8 become U+FFFD. No value can begin a
 *       line or a member of its own.
 *   J2  Values are cut where there is no room; a member that does not fit at all is left out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_JSON_LINE_H
#define THORPE_BASE_JSON_LINE_H

#include "base/slice.h"

#define JSON_LINE_LEAST 64 /* of room */
#define LINE_TIME_TEXT  25 /* "2026-11-15T12:00:00.123Z" with its NUL */

struct json_line {
	char *p;
	size_t n, room;
};

void json_line_begin(struct json_line *l, char *p, size_t room);
/* At most `most` bytes of the value. */
void json_line_text(struct json_line *l, const char *name, struct slice value, size_t most);
void json_line_number(struct json_line *l, const char *name, int64_t value);
/* The bytes of the whole line. */
size_t json_line_end(struct json_line *l);

/* The time of now, as all logs have it. */
struct slice line_time(char out[LINE_TIME_TEXT]);

#endif
