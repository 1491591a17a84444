/* Whether a comma is due is read off the last byte: a text ends with its quote, so '{', '[' and ':' can only be structure.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/doc.h"
#include "json/json.h"

static void comma(struct buf *b)
{
	if (b->n && b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[' && b->p[b->n - 1] != ':')
		buf_byte(b, ',');
}

void doc_open(struct buf *b, char bracket)
{
	comma(b);
	buf_byte(b, (uint8_t)bracket);
}

void doc_close(struct buf *b, char bracket)
{
	buf_byte(b, (uint8_t)bracket);
}

static bool is_utf8(struct slice s)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		n = source_character(slice_make(s.p + i, s.n - i));
		if (!n)
			return false;
	}
	return true;
}

static struct slice repaired(struct arena *a, struct slice s)
{
	struct buf safe;

	buf_init(&safe, a);
	for (size_t i = 0, n; i < s.n; i += n ? n : 1) {
		n = source_character(slice_make(s.p + i, s.n - i));
		if (n)
			buf_add(&safe, s.p + i, n);
		else
			buf_byte(&safe, '?');
	}
	return buf_slice(&safe);
}

void doc_text(struct buf *b, struct slice text)
{
	comma(b);
	json_string(b, is_utf8(text) ? text : repaired(b->arena, text));
}

void doc_term(struct buf *b, const struct term *t)
{
	struct buf words;

	buf_init(&words, b->arena);
	term_print(&words, t);
	doc_text(b, buf_slice(&words));
}

void doc_name(struct buf *b, const char *name)
{
	comma(b);
	json_string(b, slice_str(name));
	buf_byte(b, ':');
}

void doc_member(struct buf *b, const char *name, struct slice text)
{
	doc_name(b, name);
	doc_text(b, text);
}

void doc_member_str(struct buf *b, const char *name, const char *text)
{
	doc_member(b, name, slice_str(text));
}

void doc_member_or_null(struct buf *b, const char *name, struct slice text)
{
	doc_name(b, name);
	if (text.n)
		doc_text(b, text);
	else
		buf_lit(b, "null");
}

void doc_member_int(struct buf *b, const char *name, int64_t v)
{
	doc_name(b, name);
	buf_i64(b, v);
}

void doc_member_bool(struct buf *b, const char *name, bool v)
{
	doc_name(b, name);
	buf_str(b, v ? "true" : "false");
}

void doc_member_term(struct buf *b, const char *name, const struct term *t)
{
	if (!t)
		return;
	doc_name(b, name);
	doc_term(b, t);
}

void doc_member_texts(struct buf *b, const char *name, const struct slice *list, size_t n)
{
	doc_name(b, name);
	doc_open(b, '[');
	for (size_t i = 0; i < n; i++)
		doc_text(b, list[i]);
	doc_close(b, ']');
}
