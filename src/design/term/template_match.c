/* Reads the values of a template's placeholders out of a key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"
#include "design/term/template.h"

/* How many bytes a placeholder always takes; 0: it depends. */
static size_t fixed_width(const struct template_part *part)
{
	if (format_is_time(part->format))
		return time_unit_width(format_unit(part->format));
	switch (part->format) {
	case FORMAT_PAD:
	case FORMAT_OFFSET: return (size_t)part->width;
	default: return 0;
	}
}

static bool is_of_format(const struct template_part *part, struct slice text)
{
	enum time_unit unit;
	int64_t ms, n = 0;

	if (format_is_time(part->format))
		return time_parse_unit(text, &unit, &ms) && unit == format_unit(part->format);
	if (part->format != FORMAT_PAD && part->format != FORMAT_OFFSET && part->format != FORMAT_SHARD)
		return true;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		n = n < SHARDS_MOST ? n * 10 + (text.p[i] - '0') : n;
	}
	return part->format != FORMAT_SHARD || n < part->width;
}

/* What separates the segments of this template: no value holds it. */
static char separator(const struct template *t)
{
	if (slice_starts(t->text, SLICE("/")))
		return '/';
	for (size_t i = 0; i < t->part_count; i++)
		if (!t->parts[i].names && memchr(t->parts[i].literal.p, '#', t->parts[i].literal.n))
			return '#';
	return '\0';
}

/* A run of placeholders that takes the whole of `text`. Of several without a fixed width the first takes all. */
static bool match_run(const struct template *t, size_t from, size_t to, struct slice text, struct slice *values)
{
	size_t fixed = 0, spare;
	bool taken = false;

	for (size_t i = from; i < to; i++)
		fixed += fixed_width(&t->parts[i]);
	if (text.n < fixed)
		return false;
	spare = text.n - fixed;
	for (size_t i = from; i < to; i++) {
		size_t width = fixed_width(&t->parts[i]);

		if (width == 0) {
			width = taken ? 0 : spare;
			if (!taken && width == 0)
				return false;
			taken = true;
		}
		values[i] = slice_make(text.p, width);
		if (!is_of_format(&t->parts[i], values[i]))
			return false;
		text = slice_make(text.p + width, text.n - width);
	}
	return text.n == 0;
}

/* Where the text of a run of placeholders ends: at the literal that follows it, or the end. */
static bool find_end(const struct template *t, size_t next, struct slice rest, size_t *end)
{
	const struct template_part *part = &t->parts[next];
	const char *at;

	if (next == t->part_count) {
		*end = rest.n;
		return true;
	}
	/* The last literal stands at the end, wherever else its text may occur. */
	if (next + 1 == t->part_count) {
		if (rest.n < part->literal.n)
			return false;
		*end = rest.n - part->literal.n;
		return memcmp(rest.p + *end, part->literal.p, part->literal.n) == 0;
	}
	at = rest.n ? memmem(rest.p, rest.n, part->literal.p, part->literal.n) : NULL;
	*end = at ? (size_t)(at - rest.p) : 0;
	return at != NULL;
}

bool template_is_simple(const struct template *t, struct slice *text, bool *rest, char *sign)
{
	*rest = t->part_count == 2;
	*text = t->part_count && !t->parts[0].names ? t->parts[0].literal : SLICE("");
	*sign = *rest ? separator(t) : '\0';
	return (t->part_count == 1 || *rest) && !t->parts[0].names &&
	       (!*rest || (t->parts[1].names && !fixed_width(&t->parts[1]) && t->parts[1].format != FORMAT_SHARD));
}

bool template_match(const struct template *t, struct slice key, struct slice *values)
{
	char sign = '\0';
	bool any = false;
	size_t end;

	for (size_t i = 0, next; i < t->part_count; i = next) {
		next = i + 1;
		if (!t->parts[i].names) {
			if (!slice_starts(key, t->parts[i].literal))
				return false;
			values[i] = SLICE("");
			key = slice_make(key.p + t->parts[i].literal.n, key.n - t->parts[i].literal.n);
			continue;
		}
		if (!any)
			sign = separator(t);
		any = true;
		while (next < t->part_count && t->parts[next].names)
			next++;
		/* one placeholder at the end, as most keys have, takes the rest */
		if (next == t->part_count && next == i + 1 && !fixed_width(&t->parts[i]) &&
		    t->parts[i].format != FORMAT_SHARD) {
			values[i] = key;
			return key.n && !(sign && memchr(key.p, sign, key.n));
		}
		if (!find_end(t, next, key, &end) || !match_run(t, i, next, slice_make(key.p, end), values))
			return false;
		if (sign && end && memchr(key.p, sign, end))
			return false;
		key = slice_make(key.p + end, key.n - end);
	}
	return key.n == 0;
}
