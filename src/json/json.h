/* JSON in and out.
 *
 * In: json_parse() builds a read-only tree in the arena. It validates UTF-8; strings may contain NULs and point
 * into the arena, not into the parsed text. Objects keep their members in order of appearance; if a name is
 * repeated, json_get() finds the last.
 * Out: the functions below append values to a struct buf.
 * Only json.cpp knows simdjson.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_JSON_JSON_H
#define THORPE_JSON_JSON_H

#ifdef __cplusplus
extern "C" {
#endif

#include <string.h>
#include "base/buf.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_DOUBLE, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
	uint32_t type;  /* enum json_type */
	uint32_t count; /* JSON_ARRAY, JSON_OBJECT: the number of children */
	union {
		bool boolean;
		int64_t integer; /* an integer beyond int64 is a JSON_DOUBLE */
		double number;
		struct slice string;
		const struct json *items;          /* JSON_ARRAY */
		const struct json_member *members; /* JSON_OBJECT */
	};
};

struct json_member {
	struct slice name;
	struct json value;
};

/* Returns NULL if `text` is not one JSON value: malformed, not UTF-8, nested deeper than 1024, or with a number
 * that neither uint64 nor double can hold. Running out of memory leaves by arena.h A1. A large document draws its
 * memory, including what parsing uses meanwhile, from the arena's budget if it has one (A4). Thread safe. */
const struct json *json_parse(struct arena *a, struct slice text);

/* A member of an object; NULL if absent, or if `obj` is NULL or not an object. */
const struct json *json_get(const struct json *obj, const char *name);
const struct json *json_get_slice(const struct json *obj, struct slice name);
/* The same, but null counts as absent. */
const struct json *json_get_present(const struct json *obj, const char *name);
/* Members of one type; empty or 0 if absent or of another type. */
struct slice json_get_text(const struct json *obj, const char *name);
int64_t json_get_int(const struct json *obj, const char *name);
double json_get_number(const struct json *obj, const char *name);

static inline bool json_is(const struct json *j, enum json_type t)
{
	return j && j->type == (uint32_t)t;
}

/* ---- out ---- Documents are built in a struct buf, value by value:
 *
 *     json_open(b, '{');
 *     json_member_string(b, "TableName", t->name);
 *     json_member_open(b, "Tags", '[');
 *     for (…)
 *             json_string(b, tag);
 *     json_close(b, ']');
 *     json_close(b, '}');
 *
 * Each value and each name writes a comma before itself when one is due. This needs no state: a comma is due when
 * the last byte of the buffer can end a value. A string ends with its quote, so '{', '[', ':' and ',' can only be
 * structure. Therefore
 *   - a part of a document may be written by another function, or copied in with buf_put() after json_comma();
 *   - a second document in the same buffer needs a newline, a space or another byte before it that cannot end a
 *     value.
 * Nothing here fails: running out of memory leaves by arena.h A1.
 *
 * Two other writers exist: json/fast.h (values of items, for speed) and base/json_line.h (log lines of any bytes in
 * fixed memory). */

/* Whether this byte can end a value: a string, an object, an array, a number, true, false, null. */
extern const bool json_ends_value[256];

static inline void json_comma(struct buf *b)
{
	if (__builtin_expect(b->n != 0, 1) && json_ends_value[(uint8_t)b->p[b->n - 1]])
		buf_byte(b, ',');
}

/* ---- values: in arrays, after json_name(), or alone ---- */

/* '{' or '[', and the bracket that closes it. */
static inline void json_open(struct buf *b, char bracket)
{
	json_comma(b);
	buf_byte(b, (uint8_t)bracket);
}

static inline void json_close(struct buf *b, char bracket)
{
	buf_byte(b, (uint8_t)bracket);
}

/* Quoted and escaped as DynamoDB does. `s` must be valid UTF-8. */
void json_string(struct buf *b, struct slice s);
void json_strings(struct buf *b, const struct slice *list, size_t n); /* an array */
void json_int(struct buf *b, int64_t v);
void json_bool(struct buf *b, bool v);
void json_null(struct buf *b);
/* Writes a whole tree without white space and without a comma before it; digests are computed from it too. Recurses
 * as deep as the tree. */
void json_write(struct buf *b, const struct json *j);

/* ---- members ---- */

/* `"name":`. json_name() does not escape: the name must have no quotes, backslashes or control characters. */
void json_name_plain(struct buf *b, const char *name, size_t n);
static inline void json_name(struct buf *b, const char *name)
{
	json_name_plain(b, name, strlen(name));
}
void json_name_string(struct buf *b, struct slice name); /* escaped */

void json_member_open(struct buf *b, const char *name, char bracket);
void json_member_string(struct buf *b, const char *name, struct slice text);
void json_member_word(struct buf *b, const char *name, const char *word);
void json_member_int(struct buf *b, const char *name, int64_t v);
void json_member_bool(struct buf *b, const char *name, bool v);
void json_member_strings(struct buf *b, const char *name, const struct slice *list, size_t n);

#ifdef __cplusplus
}
#endif
#endif
