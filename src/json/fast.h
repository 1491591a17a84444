/* Writes the values of items, of which a reply has hundreds. Like json.h, but the write position is passed along
 * and stays in a register, and the caller writes the punctuation.
 *
 * Invariants
 *   W1  A function that writes text of any length first makes room, and leaves JSON_AROUND bytes free after its
 *       output, so the punctuation that follows needs no check.
 *   W2  Between json_fast_open() and json_fast_close() the output is not yet counted in the buffer, and no other
 *       code writes to it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_JSON_FAST_H
#define THORPE_JSON_FAST_H

#include "json/plain.h"

#define JSON_AROUND 48

struct json_fast {
	struct buf *b;
	char *end;               /* of the room in b */
	const char *from, *past; /* most texts lie in here and may be read past their end, up to `past` */
};

/* Returns where writing begins; makes room for `likely` bytes. */
static inline char *json_fast_open(struct json_fast *w, struct buf *b, struct slice from, size_t likely)
{
	char *to = b->cap - b->n >= likely + JSON_AROUND ? b->p + b->n : buf_room(b, likely + JSON_AROUND);

	*w = (struct json_fast){ b, b->p + b->cap, from.p, from.p + from.n };
	return to;
}

static inline void json_fast_close(struct json_fast *w, char *to)
{
	w->b->n = (size_t)(to - w->b->p);
}

/* Makes more room at `to`; the bytes may move. If other code has written to `b`, pass b->p + b->n. */
char *json_fast_more(struct json_fast *w, char *to, size_t n);

static inline char *json_fast_room(struct json_fast *w, char *to, size_t n)
{
	return __builtin_expect((size_t)(w->end - to) >= n, 1) ? to : json_fast_more(w, to, n);
}

/* Writes a literal. It needs no room check (W1). */
#define JSON_PUT(to, literal) ((char *)memcpy((to), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

/* Writes a text that needs escapes. */
char *json_fast_escaped(struct json_fast *w, char *to, struct slice s);
/* Writes bytes in base64. */
char *json_fast_base64(struct json_fast *w, char *to, struct slice s);

/* Writes a text whose bytes may be read up to `limit`. */
static inline char *json_fast_string_to(struct json_fast *w, char *to, struct slice s, const char *limit)
{
	to = json_fast_room(w, to, s.n + 2 + JSON_COPY_BEYOND + JSON_AROUND);
	if (!json_copy_within(to + 1, s, limit))
		return json_fast_escaped(w, to, s);
	to[0] = '"';
	to[s.n + 1] = '"';
	return to + s.n + 2;
}

/* Writes a text that lies in the item. */
static inline char *json_fast_own_string(struct json_fast *w, char *to, struct slice s)
{
	return json_fast_string_to(w, to, s, w->past);
}

/* Writes a text that may lie elsewhere, such as a value read from a key. */
static inline char *json_fast_string(struct json_fast *w, char *to, struct slice s)
{
	return json_fast_string_to(w, to, s, s.p >= w->from && s.p < w->past ? w->past : s.p + s.n);
}

#endif
