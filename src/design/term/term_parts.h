/* Parts of terms: functions, and DynamoDB's comparisons. For term/ and the type check of load/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_PARTS_H
#define THORPE_DESIGN_TERM_TERM_PARTS_H

#include "base/timestamp.h"
#include "design/term/term.h"

struct term_function_info {
	const char *name;
	size_t least, most; /* arguments */
	const char *usage;
	const char *unfiltered; /* why no filter can express it; NULL: it can */
};

extern const struct term_function_info term_functions[CALLS];
/* CALLS when there is no such function; its name in any case. */
enum term_function term_function_find(struct slice name);
/* Names of all functions, NULL-terminated, for suggestions. */
extern const char *const term_function_names[];

/* The value of a call with these arguments; absent where the function does not apply (size of a number, date of a word,
 * anything of an absent value). Not for days_ago(), choose() and sum() to count(), which need a scope. */
struct value term_call(struct arena *a, enum term_function f, const struct value *args, size_t n);
/* Its parts, by their files: term_math.c, term_string.c, term_time.c. */
struct value term_call_math(struct arena *a, enum term_function f, const struct value *args);
struct value term_call_string(struct arena *a, enum term_function f, const struct value *args, size_t n);
struct value term_call_time(struct arena *a, enum term_function f, const struct value *args);

/* The time of a timestamp, a date or another period (base/timestamp.h), or seconds since 1970; false: it is none of
 * these. */
bool term_moment(struct value v, int64_t *ms);
/* `now` less n units; absent if n is not a number. */
struct value term_ago(struct arena *a, enum term_function f, struct value n, int64_t now_ms, bool fine);
/* The whole number that the value is; false: it is none. */
bool term_whole(struct value v, int64_t *out);
/* A string, number or boolean as text, as templates write it; false: it is none of these. */
bool term_as_text(struct arena *a, struct value v, struct slice *out);
/* A number from 0 to n - 1, the same on all machines and in all releases: the CRC-32 (of zlib and PNG) of the text,
 * modulo n. Shards of templates and hash() are made by it. */
uint32_t term_hash(struct slice text, uint32_t n);
#define TERM_HASH_MOST    1000000
#define TERM_GEOHASH_MOST 12
/* The amount and unit of `x + 30 days`, whose amount may be negative. False: the call is written otherwise. */
bool term_is_duration(const struct term *t, int64_t *n, enum time_unit *unit);

/* EQ to GE as DynamoDB compares: different types and absent values are unequal and unordered. */
bool term_compare(enum term_kind op, struct value x, struct value y);

/* Whether it reads the item that a filter sees: an attribute, or what is inside one. */
bool term_reads_item(const struct term *t);

/* S, N, B: the types with an order. */
static inline bool term_is_ordered(struct value v)
{
	enum value_type t = value_type(v);

	return t == VALUE_S || t == VALUE_N || t == VALUE_B;
}

#endif
