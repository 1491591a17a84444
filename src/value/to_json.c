/* Attribute values from the binary form to the wire's JSON, in one walk over the bytes.
 *
 * Invariant W1: whoever writes something of any length asks for room first and leaves AROUND bytes of it behind what was
 * written, so that the punctuation that follows is written without asking.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/plain.h"
#include "value/codec.h"
#include "value/layout.h"

#define AROUND 48

struct writer {
	struct buf *b;
	char *end;         /* of the room in b */
	const char *limit; /* of the value's bytes */
};

/* Where to go on is passed along instead of kept in the buffer: it stays in a register. */
static char *more_room(struct writer *w, char *to, size_t n)
{
	w->b->n = (size_t)(to - w->b->p);
	to = buf_room(w->b, n);
	w->end = w->b->p + w->b->cap;
	return to;
}

static inline char *room(struct writer *w, char *to, size_t n)
{
	return __builtin_expect((size_t)(w->end - to) >= n, 1) ? to : more_room(w, to, n);
}

#define PUT(to, literal) ((char *)memcpy((to), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

static __attribute__((noinline)) char *put_escaped(struct writer *w, char *to, struct slice s)
{
	w->b->n = (size_t)(to - w->b->p);
	json_string(w->b, s);
	return more_room(w, w->b->p + w->b->n, AROUND);
}

static inline char *put_string(struct writer *w, char *to, struct slice s)
{
	to = room(w, to, s.n + 2 + JSON_COPY_BEYOND + AROUND);
	if (!json_copy_within(to + 1, s, w->limit))
		return put_escaped(w, to, s);
	to[0] = '"';
	to[s.n + 1] = '"';
	return to + s.n + 2;
}

static char *put_number(struct writer *w, char *to, struct slice s)
{
	size_t n;

	to = room(w, to, NUMBER_TEXT_MAX + 2 + AROUND);
	n = number_format_encoded((const uint8_t *)s.p, s.n, to + 1);
	to[0] = '"';
	to[n + 1] = '"';
	return to + n + 2;
}

static char *put_binary(struct writer *w, char *to, struct slice s)
{
	*to++ = '"';
	w->b->n = (size_t)(to - w->b->p);
	buf_base64(w->b, s);
	to = more_room(w, w->b->p + w->b->n, 1 + AROUND);
	*to++ = '"';
	return to;
}

static char *put_element(struct writer *w, char *to, enum value_type set, struct slice s)
{
	if (set == VALUE_SS)
		return put_string(w, to, s);
	return set == VALUE_NS ? put_number(w, to, s) : put_binary(w, to, s);
}

/* The value at *p, which moves on behind it. */
static char *put_other(struct writer *w, char *to, const uint8_t **p);

/* Most values are strings. */
static inline char *put_value(struct writer *w, char *to, const uint8_t **p)
{
	if (**p != VALUE_S)
		return put_other(w, to, p);
	++*p;
	to = PUT(to, "{\"S\":");
	to = put_string(w, to, layout_bytes(p));
	*to++ = '}';
	return to;
}

static char *put_set(struct writer *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	enum value_type t = (enum value_type)**p;
	char before = '[';

	for (*p += LAYOUT_HEAD; *p < end; before = ',') {
		*to++ = before;
		to = put_element(w, to, t, layout_bytes(p));
	}
	return PUT(to, "]");
}

static char *put_list(struct writer *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	bool first = true;

	*to++ = '[';
	for (*p += LAYOUT_HEAD; *p < end; first = false) {
		if (!first)
			*to++ = ',';
		to = put_value(w, to, p);
	}
	to = room(w, to, 1 + AROUND);
	return PUT(to, "]");
}

static char *put_map(struct writer *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	bool first = true;

	*to++ = '{';
	for (*p += LAYOUT_HEAD; *p < end; first = false) {
		if (!first)
			*to++ = ',';
		to = put_string(w, to, layout_bytes(p));
		*to++ = ':';
		to = put_value(w, to, p);
	}
	to = room(w, to, 1 + AROUND);
	return PUT(to, "}");
}

static char *put_other(struct writer *w, char *to, const uint8_t **p)
{
	to = room(w, to, AROUND);
	switch ((enum value_type)**p) {
	case VALUE_S:
		break; /* put_value() */
	case VALUE_N:
		++*p;
		to = put_number(w, PUT(to, "{\"N\":"), layout_bytes(p));
		break;
	case VALUE_B:
		++*p;
		to = put_binary(w, PUT(to, "{\"B\":"), layout_bytes(p));
		break;
	case VALUE_SS:
		to = put_set(w, PUT(to, "{\"SS\":"), p);
		break;
	case VALUE_NS:
		to = put_set(w, PUT(to, "{\"NS\":"), p);
		break;
	case VALUE_BS:
		to = put_set(w, PUT(to, "{\"BS\":"), p);
		break;
	case VALUE_L:
		to = put_list(w, PUT(to, "{\"L\":"), p);
		break;
	case VALUE_M:
		to = put_map(w, PUT(to, "{\"M\":"), p);
		break;
	case VALUE_BOOL:
		to = (*p)[1] ? PUT(to, "{\"BOOL\":true") : PUT(to, "{\"BOOL\":false");
		*p += 2;
		break;
	case VALUE_NULL:
		++*p;
		to = PUT(to, "{\"NULL\":true");
		break;
	case VALUE_NONE:
		++*p;
		return to;
	}
	*to++ = '}';
	return to;
}

typedef char *put_fn(struct writer *w, char *to, const uint8_t **p);

static void put_into(struct buf *b, struct value v, size_t likely, put_fn *put)
{
	const uint8_t *p = v.p;
	char *to = buf_room(b, likely + AROUND); /* grow once, not often */
	struct writer w = { b, b->p + b->cap, (const char *)v.p + v.n };

	to = put(&w, to, &p);
	b->n = (size_t)(to - b->p);
}

void value_to_json(struct buf *b, struct value v)
{
	if (value_present(v))
		put_into(b, v, v.n, put_value);
}

void item_to_json(struct buf *b, struct value item)
{
	if (value_present(item))
		put_into(b, item, item.n + item.n / 2, put_map);
	else
		buf_lit(b, "{}");
}
