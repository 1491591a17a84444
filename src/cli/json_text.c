/* Walks JSON without taking it apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_text.h"

#define LINE_MOST 100 /* characters that still go on one line */

static size_t skip_space(struct slice s, size_t at)
{
	while (at < s.n && (s.p[at] == ' ' || s.p[at] == '\n' || s.p[at] == '\r' || s.p[at] == '\t'))
		at++;
	return at;
}

/* Behind the string that begins at `at`. */
static size_t skip_string(struct slice s, size_t at)
{
	for (at++; at < s.n && s.p[at] != '"'; at++)
		if (s.p[at] == '\\')
			at++;
	return at < s.n ? at + 1 : s.n;
}

/* Behind the value that begins at `at`. */
static size_t skip_value(struct slice s, size_t at)
{
	size_t depth = 0;

	for (; at < s.n; at++) {
		char c = s.p[at];

		if (c == '"') {
			at = skip_string(s, at) - 1;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']' || c == ',') {
			if (!depth)
				return at;
			depth -= c != ',';
		}
		if (!depth && (c == '"' || c == '}' || c == ']'))
			return at + 1;
	}
	return at;
}

/* The next value between commas, from `at`, which moves past its comma. */
static bool next_part(struct slice s, size_t *at, struct slice *value)
{
	size_t from = skip_space(s, *at), end;

	if (from >= s.n || s.p[from] == ']' || s.p[from] == '}')
		return false;
	end = skip_value(s, from);
	*value = slice_trim(slice_make(s.p + from, end - from), SLICE_BLANKS);
	end = skip_space(s, end);
	*at = end < s.n && s.p[end] == ',' ? end + 1 : end;
	return true;
}

bool json_text_next(struct slice array, size_t *at, struct slice *element)
{
	if (!*at)
		*at = skip_space(array, 0) + 1;
	return next_part(array, at, element);
}

/* A member's name, with its quotes, and its value. */
static bool next_member(struct slice object, size_t *at, struct slice *name, struct slice *value)
{
	size_t from, colon;

	if (!*at)
		*at = skip_space(object, 0) + 1;
	from = skip_space(object, *at);
	if (from >= object.n || object.p[from] != '"')
		return false;
	*name = slice_make(object.p + from, skip_string(object, from) - from);
	colon = skip_space(object, from + name->n);
	*at = colon + 1;
	return next_part(object, at, value);
}

struct slice json_text_member(struct slice object, const char *name)
{
	struct slice key, value;
	size_t at = 0;

	while (next_member(object, &at, &key, &value))
		if (key.n >= 2 && slice_is(slice_make(key.p + 1, key.n - 2), name))
			return value;
	return (struct slice){ 0 };
}

static void new_line(struct buf *b, size_t spaces)
{
	buf_byte(b, '\n');
	while (spaces--)
		buf_byte(b, ' ');
}

/* On one line: only white space between tokens changes. */
static void flat(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"') {
			size_t end = skip_string(s, i);

			buf_put(b, slice_make(s.p + i, end - i));
			i = end - 1;
		} else if (s.p[i] == ':' || s.p[i] == ',') {
			buf_byte(b, (uint8_t)s.p[i]);
			buf_byte(b, ' ');
		} else if (!strchr(" \n\r\t", s.p[i])) {
			buf_byte(b, (uint8_t)s.p[i]);
		}
	}
}

static bool is_list(struct slice s)
{
	return s.n && (s.p[0] == '{' || s.p[0] == '[');
}

static bool holds_lists(struct slice s)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '"')
			i = skip_string(s, i) - 1;
		else if (s.p[i] == '{' || s.p[i] == '[')
			return true;
	}
	return false;
}

void json_text_indent(struct buf *b, struct slice text, size_t margin)
{
	struct slice s = slice_trim(text, SLICE_BLANKS), name, value;
	bool object = s.n && s.p[0] == '{', first = true;
	size_t at = 0;

	if (!is_list(s) || (s.n + margin <= LINE_MOST && !holds_lists(s))) {
		flat(b, s);
		return;
	}
	buf_byte(b, (uint8_t)s.p[0]);
	while (object ? next_member(s, &at, &name, &value) : json_text_next(s, &at, &value)) {
		if (!first)
			buf_byte(b, ',');
		first = false;
		new_line(b, margin + 2);
		if (object) {
			buf_put(b, name);
			buf_lit(b, ": ");
		}
		json_text_indent(b, value, margin + 2);
	}
	if (!first)
		new_line(b, margin);
	buf_byte(b, object ? '}' : ']');
}
