/* Attribute values and items in their one binary form.
 *
 * A value is a borrowed run of bytes in canonical form: equal values have equal bytes. Values are compared,
 * searched, measured and written as JSON in place; no tree is ever built. An item is a value of type M.
 *
 * Layout (also on disk)
 *   OFFSET SIZE  MEANING
 *   0      1     type (enum value_type)
 *   S, B   varint length, bytes
 *   N      varint length, number.h's encoding
 *   BOOL   1 byte 0 or 1           NULL   nothing
 *   SS NS BS   be32 byte length of what follows it, be32 count, then each element: varint length,
 *              bytes; elements in ascending byte order, no duplicates
 *   L      be32 byte length of what follows it, be32 count, values
 *   M      be32 byte length of what follows it, be32 count, then each: varint length, name, value;
 *          in ascending byte order of the names, no duplicates
 *
 * Invariants
 *   V1  canonical: value_equal() is memcmp().
 *   V2  the decoder has checked bytes from disk or JSON; nothing else here checks again.
 * Lifetime: as long as the bytes. Only functions that take an arena or a buf allocate.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_VALUE_H
#define THORPE_VALUE_VALUE_H

#include "json/json.h"
#include "value/number.h"

enum value_type {
	VALUE_NONE = 0, /* no value: {NULL, 0} */
	VALUE_S = 1,
	VALUE_N,
	VALUE_B,
	VALUE_SS,
	VALUE_NS,
	VALUE_BS,
	VALUE_M,
	VALUE_L,
	VALUE_BOOL,
	VALUE_NULL,
};

struct value {
	const uint8_t *p; /* NULL: absent */
	size_t n;
};

#define VALUE_ABSENT ((struct value){ NULL, 0 })

static inline bool value_present(struct value v)
{
	return v.p != NULL;
}
static inline enum value_type value_type(struct value v)
{
	return v.p ? (enum value_type)v.p[0] : VALUE_NONE;
}
/* "S", "N", … as on the wire. */
const char *value_type_name(enum value_type t);
/* VALUE_NONE when `s` names no type. */
enum value_type value_type_parse(struct slice s);

/* S and B: the bytes. N: the encoded number's bytes (which sort). Others: empty. */
struct slice value_bytes(struct value v);
/* The value as it is stored. */
static inline struct slice value_slice(struct value v)
{
	return slice_make(v.p, v.n);
}
struct number value_number(struct value v); /* of an N */
bool value_bool(struct value v);            /* of a BOOL */
/* SS, NS, BS, L, M: the number of elements. Others: 0. */
size_t value_count(struct value v);
bool value_equal(struct value x, struct value y);
/* Order of two values of one type S, N or B: <0, 0, >0. */
int value_cmp(struct value x, struct value y);

/* Walks the elements of L, M and the sets, in stored order:
 *     struct value_iter it = value_iter(v);
 *     while (value_next(&it)) use(it.name, it.value, it.element);
 * name is set for M; value for M and L; element (the raw bytes: encoded number for NS) for sets. */
struct value_iter {
	const uint8_t *next, *end;
	enum value_type type;
	struct slice name;
	struct value value;
	struct slice element;
};
struct value_iter value_iter(struct value v);
bool value_next(struct value_iter *it);
/* The element of a list or a set as a value of its own; those of a set are made in the arena. */
struct value value_element(struct arena *a, const struct value_iter *it);

static inline bool value_type_is_set(enum value_type t)
{
	return t == VALUE_SS || t == VALUE_NS || t == VALUE_BS;
}
/* Whether its values have elements without names: a list or a set. */
static inline bool value_type_has_elements(enum value_type t)
{
	return t == VALUE_L || value_type_is_set(t);
}

/* VALUE_ABSENT if not an M or no such name / not an L or beyond its end. */
struct value value_get(struct value map, struct slice name);
struct value value_at(struct value list, size_t index);
/* Whether a set contains the element with these raw bytes. */
bool value_set_has(struct value set, struct slice element);

/* DynamoDB's size in bytes: of one value; of an item (names and values, no per-item overhead). */
size_t value_size(struct value v);
size_t item_size(struct value item);
/* Both measures of an item in one walk. `stored` is what a page of DynamoDB's seems to count (table/page_size.c): a
 * byte per name, lengths and types in addition to the values. The attribute named `apart` counts in `apart`
 * instead. */
struct item_sizes {
	size_t size; /* item_size() */
	size_t stored;
	size_t apart; /* value_size() of that attribute */
};
struct item_sizes item_sizes(struct value item, struct slice apart);

/* begins_with() and contains(); false for types that have neither, and for absent values. */
static inline bool value_begins(struct value x, struct value prefix)
{
	enum value_type t = value_type(x);

	return t == value_type(prefix) && (t == VALUE_S || t == VALUE_B) &&
	       slice_starts(value_bytes(x), value_bytes(prefix));
}
bool value_contains(struct value in, struct value what);
/* size() of a string: DynamoDB counts UTF-16 units. */
size_t value_string_units(struct slice s);
/* The double nearest to an N. */
double value_double(struct value v);

static inline bool values_equal(const struct value *x, const struct value *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!value_equal(x[i], y[i]))
			return false;
	return true;
}

struct value value_copy(struct arena *a, struct value v);

/* Making values. Scalars: */
struct value value_make_s(struct arena *a, struct slice s);
struct value value_make_b(struct arena *a, struct slice s);
struct value value_make_n(struct arena *a, const struct number *n);
struct value value_make_i64(struct arena *a, int64_t v);
struct value value_make_bool(struct arena *a, bool v);
struct value value_make_null(struct arena *a);
/* Containers from parts: sorts, drops duplicate set elements; the last of duplicate names wins. */
struct value_member {
	struct slice name;
	struct value value;
};
struct value value_make_map(struct arena *a, const struct value_member *members, size_t n);
struct value value_make_list(struct arena *a, const struct value *values, size_t n);
/* `type` is SS, NS or BS; elements are raw bytes (encoded numbers for NS). */
struct value value_make_set(struct arena *a, enum value_type type, const struct slice *elements, size_t n);
/* Union and difference of two sets of the same type; VALUE_ABSENT when nothing is left. */
struct value value_set_union(struct arena *a, struct value x, struct value y);
struct value value_set_minus(struct arena *a, struct value x, struct value y);

/* A copy of `map` with `name` set to `v`, or removed when `v` is absent. */
struct value value_map_with(struct arena *a, struct value map, struct slice name, struct value v);

/* Checks untrusted bytes against the layout and V1, and that strings and names are UTF-8. Containers may nest up to
 * `depth` levels: 0 allows scalars and sets only, 32 any item. */
bool value_is_valid(struct value v, int depth);

#endif
