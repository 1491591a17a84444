/* Attribute values from the binary form to the wire's JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/codec.h"

static void put_element(struct buf *b, enum value_type t, struct slice s)
{
	char *to;

	switch (t) {
	case VALUE_S:
	case VALUE_SS:
		json_string(b, s);
		break;
	case VALUE_N:
	case VALUE_NS:
		to = buf_room(b, NUMBER_TEXT_MAX + 2);
		b->n += number_format_encoded((const uint8_t *)s.p, s.n, to + 1) + 2;
		to[0] = '"';
		b->p[b->n - 1] = '"';
		break;
	default:
		buf_byte(b, '"');
		buf_base64(b, s);
		buf_byte(b, '"');
		break;
	}
}

static void put_set(struct buf *b, struct value v)
{
	struct value_iter it = value_iter(v);
	char before = '[';

	while (value_next(&it)) {
		buf_byte(b, (uint8_t)before);
		put_element(b, it.type, it.element);
		before = ',';
	}
	buf_lit(b, "]}");
}

static void put_list(struct buf *b, struct value v)
{
	struct value_iter it = value_iter(v);
	bool first = true;

	buf_byte(b, '[');
	for (; value_next(&it); first = false) {
		if (!first)
			buf_byte(b, ',');
		value_to_json(b, it.value);
	}
	buf_lit(b, "]}");
}

void item_to_json(struct buf *b, struct value item)
{
	struct value_iter it = value_iter(item);
	bool first = true;

	buf_room(b, item.n + item.n / 2 + 64); /* what most items take: grow once, not often */
	buf_byte(b, '{');
	for (; value_next(&it); first = false) {
		if (!first)
			buf_byte(b, ',');
		json_string(b, it.name);
		buf_byte(b, ':');
		value_to_json(b, it.value);
	}
	buf_byte(b, '}');
}

void value_to_json(struct buf *b, struct value v)
{
	static const char *const tags[] = {
		[VALUE_S] = "{\"S\":",   [VALUE_N] = "{\"N\":",   [VALUE_B] = "{\"B\":",
		[VALUE_SS] = "{\"SS\":", [VALUE_NS] = "{\"NS\":", [VALUE_BS] = "{\"BS\":",
	};
	enum value_type t = value_type(v);

	switch (t) {
	case VALUE_S:
	case VALUE_N:
	case VALUE_B:
		buf_add(b, tags[t], 5);
		put_element(b, t, value_bytes(v));
		buf_byte(b, '}');
		break;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
		buf_add(b, tags[t], 6);
		put_set(b, v);
		break;
	case VALUE_M:
		buf_lit(b, "{\"M\":");
		item_to_json(b, v);
		buf_byte(b, '}');
		break;
	case VALUE_L:
		buf_lit(b, "{\"L\":");
		put_list(b, v);
		break;
	case VALUE_BOOL:
		if (value_bool(v))
			buf_lit(b, "{\"BOOL\":true}");
		else
			buf_lit(b, "{\"BOOL\":false}");
		break;
	case VALUE_NULL:
		buf_lit(b, "{\"NULL\":true}");
		break;
	case VALUE_NONE:
		break;
	}
}
