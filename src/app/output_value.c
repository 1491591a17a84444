/* Values as plain JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/output.h"
#include "app/output_writer.h"

#define PUT(to, literal) ((char *)memcpy((to), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

char *writer_more(struct writer *w, char *to, size_t n)
{
	w->b->n = (size_t)(to - w->b->p);
	to = buf_room(w->b, n);
	w->end = w->b->p + w->b->cap;
	return to;
}

char *writer_open(struct writer *w, struct buf *b, struct value within)
{
	char *to = buf_room(b, within.n + WRITER_AROUND);

	*w = (struct writer){ b, b->p + b->cap, within };
	return to;
}

void writer_close(struct writer *w, char *to)
{
	w->b->n = (size_t)(to - w->b->p);
}

char *writer_escaped(struct writer *w, char *to, struct slice s)
{
	w->b->n = (size_t)(to - w->b->p);
	json_string(w->b, s);
	return writer_more(w, w->b->p + w->b->n, WRITER_AROUND);
}

static char *put_number(struct writer *w, char *to, struct slice s)
{
	to = writer_room(w, to, NUMBER_TEXT_MAX + WRITER_AROUND);
	return to + number_format_encoded((const uint8_t *)s.p, s.n, to);
}

static char *put_binary(struct writer *w, char *to, struct slice s)
{
	*to++ = '"';
	w->b->n = (size_t)(to - w->b->p);
	buf_base64(w->b, s);
	to = writer_more(w, w->b->p + w->b->n, 1 + WRITER_AROUND);
	*to++ = '"';
	return to;
}

static char *put_set(struct writer *w, char *to, struct value v)
{
	struct value_iter it = value_iter(v);
	char before = '[';

	if (!value_count(v))
		*to++ = before;
	for (; value_next(&it); before = ',') {
		*to++ = before;
		if (it.type == VALUE_SS)
			to = writer_string(w, to, it.element);
		else
			to = it.type == VALUE_NS ? put_number(w, to, it.element) : put_binary(w, to, it.element);
	}
	*to++ = ']';
	return writer_room(w, to, WRITER_AROUND);
}

static char *put_members(struct writer *w, char *to, struct value v)
{
	bool map = value_type(v) == VALUE_M, first = true;
	struct value_iter it = value_iter(v);

	*to++ = map ? '{' : '[';
	for (; value_next(&it); first = false) {
		if (!first)
			*to++ = ',';
		if (map) {
			to = writer_string(w, to, it.name);
			*to++ = ':';
		}
		to = writer_room(w, writer_value(w, to, it.value), WRITER_AROUND);
	}
	*to++ = map ? '}' : ']';
	return writer_room(w, to, WRITER_AROUND);
}

char *writer_other(struct writer *w, char *to, struct value v)
{
	const uint8_t *p = value_present(v) ? v.p + 1 : NULL;

	to = writer_room(w, to, WRITER_AROUND);
	switch (value_type(v)) {
	case VALUE_S: return writer_string(w, to, layout_bytes(&p));
	case VALUE_N: return put_number(w, to, layout_bytes(&p));
	case VALUE_B: return put_binary(w, to, layout_bytes(&p));
	case VALUE_BOOL: return value_bool(v) ? PUT(to, "true") : PUT(to, "false");
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return put_set(w, to, v);
	case VALUE_M:
	case VALUE_L: return put_members(w, to, v);
	case VALUE_NONE:
	case VALUE_NULL: break;
	}
	return PUT(to, "null");
}

void output_value(struct buf *b, struct value v)
{
	struct writer w;
	char *to = writer_open(&w, b, v);

	writer_close(&w, writer_value(&w, to, v));
}
