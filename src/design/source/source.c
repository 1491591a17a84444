/* Findings: collected, sorted, and shown as a compiler shows them or as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/grow.h"
#include "design/source/source.h"
#include "json/json.h"

#define LINE_MOST       200 /* characters of an offending line that are shown */
#define WORD_MOST       64  /* longer words are not compared */
#define BEGINNING_LEAST 3   /* letters of a beginning that tell something */

void findings_init(struct findings *f, struct arena *a)
{
	*f = (struct findings){ .arena = a };
}

struct finding *findings_add(struct findings *f, enum severity severity, const char *rule, struct place p,
			     const char *fmt, ...)
{
	struct finding *new;
	va_list ap;

	GROW_IN(f->arena, f->list, f->count, f->room, 16);
	new = &f->list[f->count];
	*new = (struct finding){ .severity = severity, .rule = rule, .place = p };
	va_start(ap, fmt);
	new->message = arena_vprintf(f->arena, fmt, ap);
	va_end(ap);
	f->count++;
	return new;
}

size_t findings_errors(const struct findings *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		n += f->list[i].severity == SEVERITY_ERROR;
	return n;
}

static int compare_findings(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;
	int c;

	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	if (a->place.column != b->place.column)
		return a->place.column < b->place.column ? -1 : 1;
	c = strcmp(a->rule, b->rule);
	return c ? c : slice_cmp(a->message, b->message);
}

void findings_sort(struct findings *f)
{
	size_t n = 0;

	if (f->count)
		qsort(f->list, f->count, sizeof(*f->list), compare_findings);
	for (size_t i = 0; i < f->count; i++)
		if (!n || compare_findings(&f->list[n - 1], &f->list[i]))
			f->list[n++] = f->list[i];
	f->count = n;
}

static const char *severity_name(enum severity s)
{
	return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARNING ? "warning" : "note";
}

/* ---- as a compiler ---- */
static bool source_line(const struct source *s, int line, struct slice *out)
{
	const char *p = s->text.p, *end = p + s->text.n;

	for (int i = 1; p < end; i++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;

		if (i == line) {
			*out = slice_make(p, (size_t)(stop - p));
			return true;
		}
		p = stop + 1;
	}
	return false;
}

static bool starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Prints at most LINE_MOST characters; control characters become question marks. */
static void print_line(struct buf *out, struct slice line)
{
	size_t characters = 0;

	for (size_t i = 0; i < line.n; i++) {
		unsigned char c = (unsigned char)line.p[i];

		characters += starts_character(line.p[i]);
		if (characters > LINE_MOST) {
			buf_lit(out, " …");
			return;
		}
		if (c == '\r' && i + 1 == line.n)
			return;
		buf_byte(out, (c < 32 && c != '\t') || c == 127 ? '?' : c);
	}
}

static void print_marker(struct buf *out, struct slice line, struct place p)
{
	int column = 1, left = p.length > 0 ? p.length : 1;

	for (size_t i = 0; i < line.n && column < p.column; i++)
		if (starts_character(line.p[i])) {
			buf_byte(out, line.p[i] == '\t' ? '\t' : ' ');
			column++;
		}
	if (column + left - 1 > LINE_MOST)
		left = column <= LINE_MOST ? LINE_MOST - column + 1 : 1;
	buf_byte(out, '^');
	while (--left > 0)
		buf_byte(out, '~');
}

static void print_more(struct buf *out, const char *label, struct slice text)
{
	if (!text.n)
		return;
	buf_printf(out, "  %s: ", label);
	buf_put(out, text);
	buf_byte(out, '\n');
}

static void print_one(struct buf *out, const struct finding *f, const struct source *s)
{
	struct slice line;

	buf_put(out, s->file);
	if (f->place.line > 0)
		buf_printf(out, ":%d:%d", f->place.line, f->place.column);
	buf_printf(out, ": %s: ", severity_name(f->severity));
	buf_put(out, f->message);
	buf_printf(out, " [%s]\n", f->rule);
	if (f->place.line > 0 && source_line(s, f->place.line, &line)) {
		buf_printf(out, "%5d | ", f->place.line);
		print_line(out, line);
		buf_lit(out, "\n      | ");
		print_marker(out, line, f->place);
		buf_byte(out, '\n');
	}
	print_more(out, "why", f->why);
	print_more(out, "repair", f->repair);
}

void findings_print(struct buf *out, const struct findings *f, const struct source *s)
{
	for (size_t i = 0; i < f->count; i++)
		print_one(out, &f->list[i], s);
}

/* ---- as JSON ---- */
/* Messages may quote a file that is not UTF-8; JSON may not. */
static void json_text(struct buf *out, struct slice s)
{
	struct buf safe;

	buf_init(&safe, out->arena);
	for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
		n = source_character(slice_make(s.p + i, s.n - i));
		buf_put(&safe, n ? slice_make(s.p + i, n) : SLICE("?"));
	}
	json_string(out, buf_slice(&safe));
}

static void json_member(struct buf *out, const char *name, struct slice text)
{
	buf_printf(out, ",\"%s\":", name);
	json_text(out, text);
}

void findings_json_members(struct buf *out, const struct findings *f, const struct source *s, bool *first)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];

		buf_str(out, *first ? "\n{\"file\":" : ",\n{\"file\":");
		*first = false;
		json_text(out, s->file);
		buf_printf(out, ",\"line\":%d,\"column\":%d,\"length\":%d", one->place.line, one->place.column,
			   one->place.length);
		json_member(out, "severity", slice_str(severity_name(one->severity)));
		json_member(out, "rule", slice_str(one->rule));
		json_member(out, "subject", one->subject);
		json_member(out, "message", one->message);
		json_member(out, "why", one->why);
		json_member(out, "repair", one->repair);
		buf_byte(out, '}');
	}
}

void findings_json(struct buf *out, const struct findings *f, const struct source *s)
{
	bool first = true;

	buf_byte(out, '[');
	findings_json_members(out, f, s, &first);
	buf_str(out, first ? "]\n" : "\n]\n");
}

/* How many bytes the UTF-8 character at the start of `s` has; 0: it is none. */
size_t source_character(struct slice s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n;
	uint32_t c;

	if (!s.n)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 && p[0] < 0xf8 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] >= 0xf8 || s.n < n)
		return 0;
	c = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* ---- what was meant ---- */
static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to change, add, leave out or swap; upper and lower case count as the same letter. */
static size_t distance(struct slice a, struct slice b)
{
	size_t rows[3][WORD_MOST + 1];

	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const size_t *above2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			int x = tolower((unsigned char)a.p[i - 1]);
			int y = tolower((unsigned char)b.p[j - 1]);

			row[j] = least_of(least_of(row[j - 1], above[j]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b.p[j - 2]) &&
			    y == tolower((unsigned char)a.p[i - 2]))
				row[j] = least_of(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

/* prio and priority, expires_at and expires */
static bool begins_alike(struct slice a, struct slice b)
{
	size_t shorter = least_of(a.n, b.n);

	for (size_t i = 0; i < shorter; i++)
		if (tolower((unsigned char)a.p[i]) != tolower((unsigned char)b.p[i]))
			return false;
	return shorter >= BEGINNING_LEAST;
}

/* A third of the letters may be wrong, or the end may be missing, or too much. */
static bool is_nearer(struct slice s, struct slice word, size_t *best)
{
	size_t longer = s.n > word.n ? s.n : word.n, d;

	if (!s.n || !word.n || longer > WORD_MOST)
		return false;
	d = distance(s, word);
	if ((d > (longer + 2) / 3 && !begins_alike(s, word)) || d >= word.n || d >= *best)
		return false;
	*best = d;
	return true;
}

const char *suggest_word(struct slice s, const char *const *words)
{
	const char *nearest = NULL;
	size_t best = SIZE_MAX;

	for (; *words; words++)
		if (is_nearer(s, slice_str(*words), &best))
			nearest = *words;
	return nearest;
}

struct slice suggest_slice(struct slice s, const struct slice *words, size_t n)
{
	struct slice nearest = { NULL, 0 };
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < n; i++)
		if (is_nearer(s, words[i], &best))
			nearest = words[i];
	return nearest;
}
