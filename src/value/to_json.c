/* Attribute values from the binary form to the wire's JSON, in one walk over the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/fast.h"
#include "value/codec.h"
#include "value/layout.h"

static char *put_number(struct json_fast *w, char *to, struct slice s)
{
	size_t n;

	to = json_fast_room(w, to, NUMBER_TEXT_MAX + 2 + JSON_AROUND);
	n = number_format_encoded((const uint8_t *)s.p, s.n, to + 1);
	to[0] = '"';
	to[n + 1] = '"';
	return to + n + 2;
}

static char *put_element(struct json_fast *w, char *to, enum value_type set, struct slice s)
{
	if (set == VALUE_SS)
		return json_fast_own_string(w, to, s);
	return set == VALUE_NS ? put_number(w, to, s) : json_fast_base64(w, to, s);
}

/* Writes the value at *p and advances *p past it. The choice of inlined functions was measured: a reply spends most
 * of its time here. */
#define HOT static inline __attribute__((always_inline))

static __attribute__((noinline)) char *put_other(struct json_fast *w, char *to, const uint8_t **p);

/* Most values are strings. */
HOT char *put_value(struct json_fast *w, char *to, const uint8_t **p)
{
	if (**p != VALUE_S)
		return put_other(w, to, p);
	++*p;
	to = JSON_PUT(to, "{\"S\":");
	to = json_fast_own_string(w, to, layout_bytes(p));
	*to++ = '}';
	return to;
}

static char *put_set(struct json_fast *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	enum value_type t = (enum value_type) * *p;
	char before = '[';

	for (*p += LAYOUT_HEAD; *p < end; before = ',') {
		*to++ = before;
		to = put_element(w, to, t, layout_bytes(p));
	}
	return JSON_PUT(to, "]");
}

static char *put_list(struct json_fast *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	bool first = true;

	*to++ = '[';
	for (*p += LAYOUT_HEAD; *p < end; first = false) {
		if (!first)
			*to++ = ',';
		to = put_value(w, to, p);
	}
	to = json_fast_room(w, to, 1 + JSON_AROUND);
	return JSON_PUT(to, "]");
}

static char *put_map(struct json_fast *w, char *to, const uint8_t **p)
{
	const uint8_t *end = *p + layout_size(*p);
	bool first = true;

	*to++ = '{';
	for (*p += LAYOUT_HEAD; *p < end; first = false) {
		if (!first)
			*to++ = ',';
		to = json_fast_own_string(w, to, layout_bytes(p));
		*to++ = ':';
		to = put_value(w, to, p);
	}
	to = json_fast_room(w, to, 1 + JSON_AROUND);
	return JSON_PUT(to, "}");
}

static char *put_other(struct json_fast *w, char *to, const uint8_t **p)
{
	to = json_fast_room(w, to, JSON_AROUND);
	switch ((enum value_type) * *p) {
	case VALUE_S: break; /* put_value() */
	case VALUE_N:
		++*p;
		to = put_number(w, JSON_PUT(to, "{\"N\":"), layout_bytes(p));
		break;
	case VALUE_B:
		++*p;
		to = json_fast_base64(w, JSON_PUT(to, "{\"B\":"), layout_bytes(p));
		break;
	case VALUE_SS: to = put_set(w, JSON_PUT(to, "{\"SS\":"), p); break;
	case VALUE_NS: to = put_set(w, JSON_PUT(to, "{\"NS\":"), p); break;
	case VALUE_BS: to = put_set(w, JSON_PUT(to, "{\"BS\":"), p); break;
	case VALUE_L: to = put_list(w, JSON_PUT(to, "{\"L\":"), p); break;
	case VALUE_M: to = put_map(w, JSON_PUT(to, "{\"M\":"), p); break;
	case VALUE_BOOL:
		to = (*p)[1] ? JSON_PUT(to, "{\"BOOL\":true") : JSON_PUT(to, "{\"BOOL\":false");
		*p += 2;
		break;
	case VALUE_NULL:
		++*p;
		to = JSON_PUT(to, "{\"NULL\":true");
		break;
	case VALUE_NONE: ++*p; return to;
	}
	*to++ = '}';
	return to;
}

typedef char *put_fn(struct json_fast *w, char *to, const uint8_t **p);

HOT void put_into(struct buf *b, struct value v, size_t likely, put_fn *put)
{
	const uint8_t *p = v.p;
	struct json_fast w;
	char *to;

	to = json_fast_open(&w, b, slice_make((const char *)v.p, v.n), likely + 1); /* grow once, not repeatedly */
	if (b->n && json_ends_value[(uint8_t)to[-1]])
		*to++ = ','; /* as json_comma() */
	json_fast_close(&w, put(&w, to, &p));
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
		json_open(b, '{'), json_close(b, '}');
}
