/* Segments of paths, pairs of query strings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/target.h"
#include "design/term/term_text.h"
#include "wire/percent.h"

/* A + of a query string is a space. */
static struct slice unescape(struct arena *a, struct slice s, bool plus)
{
	char *spaced;

	if (!plus || !memchr(s.p, '+', s.n))
		return percent_decode(a, s);
	spaced = arena_alloc(a, s.n);
	for (size_t i = 0; i < s.n; i++)
		spaced[i] = s.p[i] == '+' ? ' ' : s.p[i];
	return percent_decode(a, slice_make(spaced, s.n));
}

/* Most segments need no decoding. */
static bool is_plain(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '%' || s.p[i] == '+' || (unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] > 0x7e)
			return false;
	return true;
}

bool target_decode(struct run *r, struct slice text, bool plus, struct slice *out)
{
	*out = text;
	if (is_plain(text))
		return true;
	if (!percent_is_valid(text))
		return run_fail(r, PROBLEM_MALFORMED, "the address has a '%%' without two hexadecimal digits after it");
	*out = unescape(r->arena, text, plus);
	if (!text_is_utf8(*out) || memchr(out->p, 0, out->n))
		return run_fail(r, PROBLEM_MALFORMED, "the address is not UTF-8");
	return true;
}

bool target_split(struct slice path, struct slice *segments, size_t *n)
{
	struct slice segment;

	*n = 0;
	if (path.n && path.p[0] == '/')
		path = slice_make(path.p + 1, path.n - 1);
	if (path.n && path.p[path.n - 1] == '/')
		path.n--;
	while (path.n && slice_next(&path, '/', &segment)) {
		if (*n == TARGET_MOST_SEGMENTS)
			return false;
		segments[(*n)++] = segment;
	}
	return true;
}

bool target_segments(struct run *r, struct slice path, struct slice *segments, size_t *n)
{
	if (!target_split(path, segments, n))
		return run_fail(r, PROBLEM_NOT_FOUND, "there is no such address");
	for (size_t i = 0; i < *n; i++)
		if (!target_decode(r, segments[i], false, &segments[i]))
			return false;
	return true;
}

static bool read_pair(struct run *r, struct slice text, struct target_pair *pair)
{
	struct slice name;

	slice_next(&text, '=', &name);
	pair->raw = text.p ? text : SLICE("");
	return target_decode(r, name, true, &pair->name) && target_decode(r, pair->raw, true, &pair->value);
}

bool target_query(struct run *r, struct slice query, struct target_pair **pairs, size_t *n)
{
	struct slice pair;
	size_t most = 1;

	*pairs = NULL;
	*n = 0;
	if (!query.n)
		return true;
	for (size_t i = 0; i < query.n; i++)
		most += query.p[i] == '&';
	*pairs = arena_array(r->arena, struct target_pair, most);
	while (slice_next(&query, '&', &pair)) {
		if (!pair.n)
			continue;
		if (!read_pair(r, pair, &(*pairs)[*n]))
			return false;
		(*n)++;
	}
	return true;
}
