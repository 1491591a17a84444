/* Finds where in a design a byte of its text is, line by line.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "design/editor/place.h"

/* A line that is being read from left to right, and the maps that it is in. */
struct scan {
	struct slice text;
	size_t from, end; /* of the line */
	struct slice names[PLACE_DEPTH_MOST];
	size_t columns[PLACE_DEPTH_MOST]; /* of each name; in braces that of the line's first */
	size_t depth;
};

static size_t line_start(struct slice text, size_t at)
{
	while (at && text.p[at - 1] != '\n')
		at--;
	return at;
}

static size_t line_end(struct slice text, size_t at)
{
	const char *end = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;

	return end ? (size_t)(end - text.p) : text.n;
}

static struct slice trimmed(struct slice text, size_t from, size_t to)
{
	while (from < to && isspace((unsigned char)text.p[from]))
		from++;
	while (to > from && isspace((unsigned char)text.p[to - 1]))
		to--;
	if (to - from >= 2 && (text.p[from] == '\'' || text.p[from] == '"') && text.p[to - 1] == text.p[from])
		from++, to--;
	return slice_make(text.p + from, to - from);
}

/* Where the content of a line begins: after its indentation and the marks of lists. */
static size_t content(struct slice text, size_t at, size_t end)
{
	for (;;) {
		while (at < end && text.p[at] == ' ')
			at++;
		if (at + 1 < end && text.p[at] == '-' && text.p[at + 1] == ' ')
			at += 2;
		else
			return at;
	}
}

/* Whether the ':' at the byte ends a name. */
static bool ends_name(struct slice text, size_t at)
{
	return text.p[at] == ':' && (at + 1 >= text.n || isspace((unsigned char)text.p[at + 1]));
}

static void push(struct scan *s, struct slice name, size_t column)
{
	if (s->depth == PLACE_DEPTH_MOST)
		return;
	s->names[s->depth] = name;
	s->columns[s->depth++] = column;
}

/* State within a line. */
struct flow {
	size_t outer[PLACE_DEPTH_MOST]; /* of each open bracket: the depth outside it */
	char bracket[PLACE_DEPTH_MOST];
	size_t count;
	size_t part; /* where the name or value being read begins */
	bool is_value;
	char quote;
	bool is_comment;
};

static void open_bracket(struct scan *s, struct flow *f, size_t at)
{
	if (f->count < PLACE_DEPTH_MOST) {
		f->outer[f->count] = s->depth;
		f->bracket[f->count++] = s->text.p[at];
	}
	f->part = at + 1;
	f->is_value = s->text.p[at] == '[';
}

static void close_bracket(struct scan *s, struct flow *f, size_t at)
{
	if (!f->count)
		return;
	s->depth = f->outer[--f->count];
	f->part = at + 1;
	f->is_value = true;
}

/* A comma ends an entry of a map in braces, or an element of a list in brackets. */
static void comma(struct scan *s, struct flow *f, size_t at)
{
	if (!f->count)
		return;
	if (f->bracket[f->count - 1] == '{') {
		s->depth = f->outer[f->count - 1];
		f->is_value = false;
	}
	f->part = at + 1;
}

static void colon(struct scan *s, struct flow *f, size_t at, size_t column)
{
	if (f->is_value)
		return;
	push(s, trimmed(s->text, f->part, at), column);
	f->part = at + 1;
	f->is_value = true;
}

static void step(struct scan *s, struct flow *f, size_t at, size_t column)
{
	char c = s->text.p[at];
	bool starts = trimmed(s->text, f->part, at).n == 0;

	if (f->quote) {
		if (c == f->quote)
			f->quote = 0;
	} else if ((c == '\'' || c == '"') && starts) {
		f->quote = c;
	} else if (c == '#' && (at == s->from || isspace((unsigned char)s->text.p[at - 1]))) {
		f->is_comment = true;
	} else if ((c == '{' || c == '[') && starts) {
		open_bracket(s, f, at);
	} else if (c == '}' || c == ']') {
		close_bracket(s, f, at);
	} else if (c == ',') {
		comma(s, f, at);
	} else if (ends_name(s->text, at)) {
		colon(s, f, at, column);
	}
}

/* The maps of the lines before that a line in `column` is still in. */
static void leave(struct scan *s, size_t column)
{
	while (s->depth && s->columns[s->depth - 1] >= column)
		s->depth--;
}

static bool is_blank(const struct scan *s, size_t at)
{
	return at >= s->end || s->text.p[at] == '#' || s->text.p[at] == '\r';
}

/* Reads a whole line; `fn` may be NULL. False: it wants no more. */
static bool read_line(struct scan *s, editor_name_fn *fn, void *ctx)
{
	size_t at = content(s->text, s->from, s->end), column = at - s->from, first;
	struct flow f = { .part = at };

	if (is_blank(s, at))
		return true;
	leave(s, column);
	first = s->depth;
	for (; at < s->end && !f.is_comment; at++) {
		size_t before = s->depth;

		step(s, &f, at, column);
		if (s->depth > before && fn && !fn(ctx, s->names, s->depth, trimmed(s->text, f.part, s->end)))
			return false;
	}
	/* Only a name without a value goes on in the next lines. */
	s->depth = first < s->depth ? first + 1 : first;
	return true;
}

void editor_each_name(struct slice text, editor_name_fn *fn, void *ctx)
{
	struct scan s = { .text = text };

	for (; s.from < text.n; s.from = s.end + 1) {
		s.end = line_end(text, s.from);
		if (!read_line(&s, fn, ctx))
			return;
	}
}

struct editor_place editor_place(struct slice text, size_t at)
{
	struct scan s = { .text = text };
	struct editor_place p = { 0 };
	struct flow f = { 0 };
	size_t start, column;

	at = at < text.n ? at : text.n;
	start = line_start(text, at);
	for (; s.from < start; s.from = s.end + 1) {
		s.end = line_end(text, s.from);
		(void)read_line(&s, NULL, NULL);
	}
	s.from = start;
	s.end = at;
	f.part = content(text, start, at);
	column = f.part - start;
	leave(&s, column);
	for (size_t i = f.part; i < at && !f.is_comment; i++)
		step(&s, &f, i, column);
	memcpy(p.path, s.names, sizeof(p.path));
	p.depth = s.depth;
	p.is_value = f.is_value;
	p.is_comment = f.is_comment;
	p.value_from = f.part;
	return p;
}

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

void editor_word_around(struct slice text, size_t at, size_t *from, size_t *to)
{
	*from = *to = at < text.n ? at : text.n;
	while (*from && is_part(text.p[*from - 1]))
		--*from;
	while (*to < text.n && is_part(text.p[*to]))
		++*to;
}
