/* Values as plain JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/output.h"
#include "app/entity/output_writer.h"

static char *put_number(struct json_fast *w, char *to, struct slice s)
{
	to = json_fast_room(w, to, NUMBER_TEXT_MAX + JSON_AROUND);
	return to + number_format_encoded((const uint8_t *)s.p, s.n, to);
}

static char *put_set(struct json_fast *w, char *to, struct value v)
{
	struct value_iter it = value_iter(v);
	char before = '[';

	if (!value_count(v))
		*to++ = before;
	for (; value_next(&it); before = ',') {
		*to++ = before;
		if (it.type == VALUE_SS)
			to = json_fast_string(w, to, it.element);
		else
			to = it.type == VALUE_NS ? put_number(w, to, it.element) : json_fast_base64(w, to, it.element);
	}
	*to++ = ']';
	return json_fast_room(w, to, JSON_AROUND);
}

static char *put_members(struct json_fast *w, char *to, struct value v)
{
	bool map = value_type(v) == VALUE_M, first = true;
	struct value_iter it = value_iter(v);

	*to++ = map ? '{' : '[';
	for (; value_next(&it); first = false) {
		if (!first)
			*to++ = ',';
		if (map) {
			to = json_fast_string(w, to, it.name);
			*to++ = ':';
		}
		to = json_fast_room(w, writer_value(w, to, it.value), JSON_AROUND);
	}
	*to++ = map ? '}' : ']';
	return json_fast_room(w, to, JSON_AROUND);
}

char *writer_other(struct json_fast *w, char *to, struct value v)
{
	const uint8_t *p = value_present(v) ? v.p + 1 : NULL;

	to = json_fast_room(w, to, JSON_AROUND);
	switch (value_type(v)) {
	case VALUE_S: return json_fast_string(w, to, layout_bytes(&p));
	case VALUE_N: return put_number(w, to, layout_bytes(&p));
	case VALUE_B: return json_fast_base64(w, to, layout_bytes(&p));
	case VALUE_BOOL: return value_bool(v) ? JSON_PUT(to, "true") : JSON_PUT(to, "false");
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return put_set(w, to, v);
	case VALUE_M:
	case VALUE_L: return put_members(w, to, v);
	case VALUE_NONE:
	case VALUE_NULL: break;
	}
	return JSON_PUT(to, "null");
}

void output_value(struct buf *b, struct value v)
{
	struct json_fast w;
	char *to = json_fast_open(&w, b, value_slice(v), v.n);

	json_fast_close(&w, writer_value(&w, to, v));
}
