/* Attribute values from the binary form to the wire's JSON, in one walk over the bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/plain.h"
#include "value/codec.h"
#include "value/layout.h"

static inline char *room(struct buf *b, size_t n)
{
	return b->cap - b->n >= n ? b->p + b->n : buf_room(b, n);
}

/* "name": */
static void put_name(struct buf *b, struct slice s)
{
	char *to = room(b, s.n + 3);

	if (!json_copy_plain(to + 1, s)) {
		json_string(b, s);
		buf_byte(b, ':');
		return;
	}
	to[0] = '"';
	memcpy(to + 1 + s.n, "\":", 2);
	b->n += s.n + 3;
}

/* {"S":"…" */
static void put_string(struct buf *b, struct slice s)
{
	char *to = room(b, s.n + 7);

	if (!json_copy_plain(to + 6, s)) {
		buf_lit(b, "{\"S\":");
		json_string(b, s);
		return;
	}
	memcpy(to, "{\"S\":\"", 6);
	to[6 + s.n] = '"';
	b->n += s.n + 7;
}

static void put_number(struct buf *b, struct slice s)
{
	char *to = room(b, NUMBER_TEXT_MAX + 2);
	size_t n = number_format_encoded((const uint8_t *)s.p, s.n, to + 1);

	to[0] = '"';
	to[n + 1] = '"';
	b->n += n + 2;
}

static void put_binary(struct buf *b, struct slice s)
{
	buf_byte(b, '"');
	buf_base64(b, s);
	buf_byte(b, '"');
}

static void put_element(struct buf *b, enum value_type set, struct slice s)
{
	if (set == VALUE_SS)
		json_string(b, s);
	else if (set == VALUE_NS)
		put_number(b, s);
	else
		put_binary(b, s);
}

/* The value at `p`; returns what follows it. */
static const uint8_t *put_value(struct buf *b, const uint8_t *p);

static const uint8_t *put_set(struct buf *b, const uint8_t *p)
{
	const uint8_t *end = p + layout_size(p);
	enum value_type t = (enum value_type)p[0];
	uint8_t before = '[';

	for (p += LAYOUT_HEAD; p < end; before = ',') {
		buf_byte(b, before);
		put_element(b, t, layout_bytes(&p));
	}
	buf_lit(b, "]}");
	return p;
}

static const uint8_t *put_list(struct buf *b, const uint8_t *p)
{
	const uint8_t *end = p + layout_size(p);
	bool first = true;

	buf_byte(b, '[');
	for (p += LAYOUT_HEAD; p < end; first = false) {
		if (!first)
			buf_byte(b, ',');
		p = put_value(b, p);
	}
	buf_lit(b, "]}");
	return p;
}

static const uint8_t *put_map(struct buf *b, const uint8_t *p)
{
	const uint8_t *end = p + layout_size(p);
	bool first = true;

	buf_byte(b, '{');
	for (p += LAYOUT_HEAD; p < end; first = false) {
		if (!first)
			buf_byte(b, ',');
		put_name(b, layout_bytes(&p));
		p = put_value(b, p);
	}
	buf_byte(b, '}');
	return p;
}

static const uint8_t *put_value(struct buf *b, const uint8_t *p)
{
	const uint8_t *at = p + 1;

	switch ((enum value_type)p[0]) {
	case VALUE_S:
		put_string(b, layout_bytes(&at));
		break;
	case VALUE_N:
		buf_lit(b, "{\"N\":");
		put_number(b, layout_bytes(&at));
		break;
	case VALUE_B:
		buf_lit(b, "{\"B\":");
		put_binary(b, layout_bytes(&at));
		break;
	case VALUE_SS:
		buf_lit(b, "{\"SS\":");
		return put_set(b, p);
	case VALUE_NS:
		buf_lit(b, "{\"NS\":");
		return put_set(b, p);
	case VALUE_BS:
		buf_lit(b, "{\"BS\":");
		return put_set(b, p);
	case VALUE_L:
		buf_lit(b, "{\"L\":");
		return put_list(b, p);
	case VALUE_M:
		buf_lit(b, "{\"M\":");
		at = put_map(b, p);
		break;
	case VALUE_BOOL:
		if (*at++)
			buf_lit(b, "{\"BOOL\":true");
		else
			buf_lit(b, "{\"BOOL\":false");
		break;
	case VALUE_NULL:
		buf_lit(b, "{\"NULL\":true");
		break;
	case VALUE_NONE:
		return at;
	}
	buf_byte(b, '}');
	return at;
}

void value_to_json(struct buf *b, struct value v)
{
	if (value_present(v))
		put_value(b, v.p);
}

void item_to_json(struct buf *b, struct value item)
{
	buf_room(b, item.n + item.n / 2 + 64); /* what most items take: grow once, not often */
	if (value_present(item))
		put_map(b, item.p);
	else
		buf_lit(b, "{}");
}
