/* Replaces invalid UTF-8.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/doc.h"

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
	json_string(b, is_utf8(text) ? text : repaired(b->arena, text));
}

void doc_member(struct buf *b, const char *name, struct slice text)
{
	json_name(b, name);
	doc_text(b, text);
}

void doc_member_str(struct buf *b, const char *name, const char *text)
{
	doc_member(b, name, slice_str(text));
}

void doc_member_or_null(struct buf *b, const char *name, struct slice text)
{
	json_name(b, name);
	if (text.n)
		doc_text(b, text);
	else
		json_null(b);
}

void doc_member_term(struct buf *b, const char *name, const struct term *t)
{
	struct buf words;

	if (!t)
		return;
	buf_init(&words, b->arena);
	term_print(&words, t);
	doc_member(b, name, buf_slice(&words));
}

void doc_member_texts(struct buf *b, const char *name, const struct slice *list, size_t n)
{
	json_member_open(b, name, '[');
	for (size_t i = 0; i < n; i++)
		doc_text(b, list[i]);
	json_close(b, ']');
}
