/* Functions that make texts of texts, and lists of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/grow.h"
#include "design/term/term_parts.h"
#include "value/limits.h"

bool term_as_text(struct arena *a, struct value v, struct slice *out)
{
	char number[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: *out = value_bytes(v); return true;
	case VALUE_BOOL: *out = value_bool(v) ? SLICE("true") : SLICE("false"); return true;
	case VALUE_N:
		n = value_number(v);
		*out = arena_copy(a, slice_make(number, number_format(&n, number)));
		return true;
	default: return false;
	}
}

static struct value call_trim(struct arena *a, struct value v)
{
	return value_type(v) == VALUE_S ? value_make_s(a, slice_trim(value_bytes(v), SLICE_BLANKS)) : VALUE_ABSENT;
}

static struct value call_text(struct arena *a, struct value v)
{
	struct slice text;

	return term_as_text(a, v, &text) ? value_make_s(a, text) : VALUE_ABSENT;
}

/* The part of *rest before the next `sign`; *rest moves after that. False: there is no such sign, and it is all. */
static bool cut(struct slice *rest, struct slice sign, struct slice *part)
{
	const char *at = sign.n && rest->n ? memmem(rest->p, rest->n, sign.p, sign.n) : NULL;

	*part = at ? slice_make(rest->p, (size_t)(at - rest->p)) : *rest;
	if (at)
		*rest = slice_make(at + sign.n, rest->n - part->n - sign.n);
	return at != NULL;
}

/* A text that no item could have is none: a small request must not fill the memory. */
static bool has_room(const struct buf *b, size_t more)
{
	return b->n + more <= ITEM_BYTES_MAX;
}

static struct value call_replace(struct arena *a, const struct value *args)
{
	struct slice rest, part, sign, by;
	struct buf b;
	bool more;

	if (value_type(args[0]) != VALUE_S || value_type(args[1]) != VALUE_S || value_type(args[2]) != VALUE_S)
		return VALUE_ABSENT;
	rest = value_bytes(args[0]);
	sign = value_bytes(args[1]);
	by = value_bytes(args[2]);
	buf_init(&b, a);
	do {
		more = cut(&rest, sign, &part);
		if (!has_room(&b, part.n + by.n))
			return VALUE_ABSENT;
		buf_put(&b, part);
		if (more)
			buf_put(&b, by);
	} while (more);
	return value_make_s(a, buf_slice(&b));
}

/* Elements that are no texts, numbers or booleans are left out. */
static struct value call_join(struct arena *a, struct value list, struct value sign)
{
	enum value_type type = value_type(list);
	struct value_iter it;
	struct slice part;
	bool first = true;
	struct buf b;

	if ((type != VALUE_L && type != VALUE_SS && type != VALUE_NS) || value_type(sign) != VALUE_S)
		return VALUE_ABSENT;
	buf_init(&b, a);
	it = value_iter(list);
	while (value_next(&it)) {
		if (!term_as_text(a, value_element(a, &it), &part))
			continue;
		if (!has_room(&b, part.n + value_bytes(sign).n))
			return VALUE_ABSENT;
		if (!first)
			buf_put(&b, value_bytes(sign));
		buf_put(&b, part);
		first = false;
	}
	return value_make_s(a, buf_slice(&b));
}

static struct value call_split(struct arena *a, struct value v, struct value sign)
{
	struct value *list = NULL;
	size_t n = 0, room = 0;
	struct slice rest, part;
	bool more;

	if (value_type(v) != VALUE_S || value_type(sign) != VALUE_S || !value_bytes(sign).n)
		return VALUE_ABSENT;
	rest = value_bytes(v);
	do {
		more = cut(&rest, value_bytes(sign), &part);
		GROW_IN(a, list, n, room, 8);
		list[n++] = value_make_s(a, part);
	} while (more);
	return value_make_list(a, list, n);
}

struct value term_call_string(struct arena *a, enum term_function f, const struct value *args, size_t n)
{
	switch (f) {
	case CALL_TRIM: return call_trim(a, args[0]);
	case CALL_TEXT: return call_text(a, args[0]);
	case CALL_REPLACE: return call_replace(a, args);
	case CALL_JOIN: return call_join(a, args[0], args[1]);
	case CALL_SPLIT: return call_split(a, args[0], args[1]);
	default: return VALUE_ABSENT;
	}
}
