/* Writing JSON strings, escaped as DynamoDB does it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/plain.h"

static void put_escaped(struct buf *b, uint8_t c)
{
	/* Indexed by the control's code; 0: it has no short form. */
	static const char short_form[0x20] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};
	static const char hex[] = "0123456789ABCDEF";

	buf_byte(b, '\\');
	if (c >= 0x20) {
		buf_byte(b, c);
	} else if (short_form[c]) {
		buf_byte(b, (uint8_t)short_form[c]);
	} else {
		buf_lit(b, "u00");
		buf_byte(b, (uint8_t)hex[c >> 4]);
		buf_byte(b, (uint8_t)hex[c & 15]);
	}
}

static void put_with_escapes(struct buf *b, struct slice s)
{
	size_t from = 0;

	buf_byte(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		if (!json_is_special((uint8_t)s.p[i]))
			continue;
		buf_add(b, s.p + from, i - from);
		put_escaped(b, (uint8_t)s.p[i]);
		from = i + 1;
	}
	buf_add(b, s.p + from, s.n - from);
	buf_byte(b, '"');
}

void json_string(struct buf *b, struct slice s)
{
	char *to = b->cap - b->n >= s.n + 2 ? b->p + b->n : buf_room(b, s.n + 2);

	if (!json_copy_plain(to + 1, s)) { /* most strings need no escape */
		put_with_escapes(b, s);
		return;
	}
	to[0] = '"';
	to[s.n + 1] = '"';
	b->n += s.n + 2;
}

static void write_number(struct buf *b, double d)
{
	/* 17 digits read back as the same double. */
	buf_printf(b, "%.17g", d);
}

void json_write(struct buf *b, const struct json *j)
{
	switch (j->type) {
	case JSON_NULL:
		buf_lit(b, "null");
		break;
	case JSON_BOOL:
		buf_str(b, j->boolean ? "true" : "false");
		break;
	case JSON_INT:
		buf_i64(b, j->integer);
		break;
	case JSON_DOUBLE:
		write_number(b, j->number);
		break;
	case JSON_STRING:
		json_string(b, j->string);
		break;
	case JSON_ARRAY:
		buf_lit(b, "[");
		for (size_t i = 0; i < j->count; i++) {
			if (i)
				buf_lit(b, ",");
			json_write(b, &j->items[i]);
		}
		buf_lit(b, "]");
		break;
	case JSON_OBJECT:
		buf_lit(b, "{");
		for (size_t i = 0; i < j->count; i++) {
			if (i)
				buf_lit(b, ",");
			json_string(b, j->members[i].name);
			buf_lit(b, ":");
			json_write(b, &j->members[i].value);
		}
		buf_lit(b, "}");
		break;
	}
}
