/* Strings are copied and checked in one pass: most need no escape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/plain.h"

/* clang-format off */
const bool json_ends_value[256] = {
	['"'] = true, ['}'] = true, [']'] = true,
	['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true,
	['5'] = true, ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true,
	['e'] = true, ['l'] = true, /* true, false, null */
};
/* clang-format on */

static void put_escaped(struct buf *b, uint8_t c)
{
	/* Indexed by the control character's code; 0: no short form. */
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

static inline void put_string(struct buf *b, struct slice s)
{
	char *to = b->cap - b->n >= s.n + 2 ? b->p + b->n : buf_room(b, s.n + 2);

	if (!json_copy_plain(to + 1, s)) {
		put_with_escapes(b, s);
		return;
	}
	to[0] = '"';
	to[s.n + 1] = '"';
	b->n += s.n + 2;
}

void json_string(struct buf *b, struct slice s)
{
	json_comma(b);
	put_string(b, s);
}

void json_strings(struct buf *b, const struct slice *list, size_t n)
{
	json_open(b, '[');
	for (size_t i = 0; i < n; i++)
		json_string(b, list[i]);
	json_close(b, ']');
}

void json_int(struct buf *b, int64_t v)
{
	json_comma(b);
	buf_i64(b, v);
}

void json_bool(struct buf *b, bool v)
{
	json_comma(b);
	buf_str(b, v ? "true" : "false");
}

void json_null(struct buf *b)
{
	json_comma(b);
	buf_lit(b, "null");
}

/* ---- members ---- */

void json_name_plain(struct buf *b, const char *name, size_t n)
{
	char *to = b->cap - b->n >= n + 4 ? b->p + b->n : buf_room(b, n + 4), *from = to;

	if (b->n && json_ends_value[(uint8_t)to[-1]])
		*to++ = ',';
	*to++ = '"';
	memcpy(to, name, n);
	to[n] = '"';
	to[n + 1] = ':';
	b->n += (size_t)(to - from) + n + 2;
}

void json_name_string(struct buf *b, struct slice name)
{
	json_string(b, name);
	buf_byte(b, ':');
}

void json_member_open(struct buf *b, const char *name, char bracket)
{
	json_name(b, name);
	buf_byte(b, (uint8_t)bracket);
}

void json_member_string(struct buf *b, const char *name, struct slice text)
{
	json_name(b, name);
	json_string(b, text);
}

void json_member_word(struct buf *b, const char *name, const char *word)
{
	json_member_string(b, name, slice_str(word));
}

void json_member_int(struct buf *b, const char *name, int64_t v)
{
	json_name(b, name);
	buf_i64(b, v);
}

void json_member_bool(struct buf *b, const char *name, bool v)
{
	json_name(b, name);
	json_bool(b, v);
}

void json_member_strings(struct buf *b, const char *name, const struct slice *list, size_t n)
{
	json_name(b, name);
	json_strings(b, list, n);
}

/* ---- trees ---- */

void json_write(struct buf *b, const struct json *j)
{
	switch (j->type) {
	case JSON_NULL: buf_lit(b, "null"); break;
	case JSON_BOOL: buf_str(b, j->boolean ? "true" : "false"); break;
	case JSON_INT: buf_i64(b, j->integer); break;
	case JSON_DOUBLE:
		buf_printf(b, "%.17g", j->number); /* 17 digits read back as the same double */
		break;
	case JSON_STRING: put_string(b, j->string); break;
	case JSON_ARRAY:
		buf_byte(b, '[');
		for (size_t i = 0; i < j->count; i++) {
			json_comma(b);
			json_write(b, &j->items[i]);
		}
		buf_byte(b, ']');
		break;
	case JSON_OBJECT:
		buf_byte(b, '{');
		for (size_t i = 0; i < j->count; i++) {
			json_name_string(b, j->members[i].name);
			json_write(b, &j->members[i].value);
		}
		buf_byte(b, '}');
		break;
	}
}
