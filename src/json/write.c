/* Writing JSON strings, escaped as DynamoDB does it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

#define ONES 0x0101010101010101u
#define TOPS 0x8080808080808080u

/* Whether one of 8 bytes is a control, a quote or a backslash. */
static bool any_special(uint64_t v)
{
	uint64_t quote = v ^ (ONES * '"'), backslash = v ^ (ONES * '\\');

	return (((v - ONES * 0x20) & ~v) | ((quote - ONES) & ~quote) |
		((backslash - ONES) & ~backslash)) & TOPS;
}

static bool is_special(uint8_t c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

/* How many bytes from `p` on can be copied as they are. */
static size_t plain_run(const char *p, const char *end)
{
	const char *at = p;
	uint64_t v;

	for (; end - at >= (ptrdiff_t)sizeof(v); at += sizeof(v)) {
		memcpy(&v, at, sizeof(v));
		if (any_special(v))
			break;
	}
	while (at < end && !is_special((uint8_t)*at))
		at++;
	return (size_t)(at - p);
}

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

void json_string(struct buf *b, struct slice s)
{
	const char *p = s.p, *end = s.n ? s.p + s.n : s.p;

	buf_room(b, s.n + 2); /* most strings need no escape: grow once */
	buf_byte(b, '"');
	while (p < end) {
		size_t n = plain_run(p, end);

		buf_add(b, p, n);
		p += n;
		if (p < end)
			put_escaped(b, (uint8_t)*p++);
	}
	buf_byte(b, '"');
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
