/* JSON in and out.
 *
 * In: json_parse() makes a read-only tree in the arena. UTF-8 is validated, strings may hold NULs,
 * every string points into the arena (not into the text parsed).
 * Objects keep their members in order of appearance; of duplicate names json_get() finds the last.
 * Out: append to a struct buf.
 * simdjson is known to json.cpp and to nobody else.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_JSON_JSON_H
#define THORPE_JSON_JSON_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/buf.h"

enum json_type {
	JSON_NULL, JSON_BOOL, JSON_INT, JSON_DOUBLE, JSON_STRING, JSON_ARRAY, JSON_OBJECT
};

struct json {
	uint32_t type;  /* enum json_type */
	uint32_t count; /* JSON_ARRAY, JSON_OBJECT: how many children */
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

/* NULL when `text` is not one JSON value: malformed, not UTF-8, nested deeper than 1024, or with a
 * number that neither uint64 nor double can hold. Memory that runs out leaves by arena.h A1; that of a large document, what
 * is used meanwhile included, is drawn from the arena's budget if it has one (A4).
 * Thread safe. */
const struct json *json_parse(struct arena *a, struct slice text);

/* The member of an object; NULL when absent or when `obj` is NULL or no object. */
const struct json *json_get(const struct json *obj, const char *name);
const struct json *json_get_slice(const struct json *obj, struct slice name);

static inline bool json_is(const struct json *j, enum json_type t)
{
	return j && j->type == (uint32_t)t;
}

/* A quoted, escaped string. `s` must be valid UTF-8. */
void json_string(struct buf *b, struct slice s);
/* A whole tree, without white space. Recurses as deep as the tree. */
void json_write(struct buf *b, const struct json *j);

#ifdef __cplusplus
}
#endif
#endif
