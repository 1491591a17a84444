/* Plain JSON in one walk over the bytes of values. For output*.c only.
 *
 * Invariant W1 (as in value/to_json.c): whoever writes something of any length asks for room first and leaves WRITER_AROUND
 * bytes of it behind what was written, so that the punctuation that follows is written without asking.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_OUTPUT_WRITER_H
#define THORPE_APP_OUTPUT_WRITER_H

#include "json/plain.h"
#include "value/layout.h"

#define WRITER_AROUND 48

struct writer {
	struct buf *b;
	char *end;           /* of the room in b */
	struct value within; /* what is written stands in here, mostly: it may be read past a text's end */
};

/* Where writing begins. Until writer_close() what is written is not counted in `b`. */
char *writer_open(struct writer *w, struct buf *b, struct value within);
void writer_close(struct writer *w, char *to);
/* The same in between, for someone who writes into `b`. */
char *writer_more(struct writer *w, char *to, size_t n);

/* Where to go on is passed along instead of kept in the buffer: it stays in a register. */
static inline char *writer_room(struct writer *w, char *to, size_t n)
{
	return __builtin_expect((size_t)(w->end - to) >= n, 1) ? to : writer_more(w, to, n);
}

/* A text with something in it that is escaped. */
char *writer_escaped(struct writer *w, char *to, struct slice s);

/* How far a text may be read: a value that was read from a key stands elsewhere than the item. */
static inline const char *writer_limit(const struct writer *w, struct slice s)
{
	const char *from = (const char *)w->within.p, *to = from + w->within.n;

	return s.p >= from && s.p < to ? to : s.p + s.n;
}

static inline char *writer_string(struct writer *w, char *to, struct slice s)
{
	to = writer_room(w, to, s.n + 2 + JSON_COPY_BEYOND + WRITER_AROUND);
	if (!json_copy_within(to + 1, s, writer_limit(w, s)))
		return writer_escaped(w, to, s);
	to[0] = '"';
	to[s.n + 1] = '"';
	return to + s.n + 2;
}

/* A value; absent: null. `to` has W1's room, and has it again afterwards. Most values are strings. */
char *writer_other(struct writer *w, char *to, struct value v);

static inline char *writer_value(struct writer *w, char *to, struct value v)
{
	const uint8_t *p;

	if (value_type(v) != VALUE_S)
		return writer_other(w, to, v);
	p = v.p + 1;
	return writer_string(w, to, layout_bytes(&p));
}

#endif
