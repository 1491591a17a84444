/* A borrowed run of bytes. Not NUL-terminated, may contain NULs, never owned by the slice: the function that
 * returns one says how long its bytes live.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_SLICE_H
#define THORPE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const char *p;
	size_t n;
};

/* A slice of a string literal, length taken by the compiler. */
#define SLICE(lit) ((struct slice){ "" lit, sizeof(lit) - 1 })
/* For printf: printf("%.*s", SLICE_ARG(s)). */
#define SLICE_ARG(s) (int)(s).n, (s).p

static inline struct slice slice_make(const void *p, size_t n)
{
	return (struct slice){ (const char *)p, n };
}

static inline struct slice slice_str(const char *cstr)
{
	return (struct slice){ cstr, strlen(cstr) };
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *cstr)
{
	return slice_equal(a, slice_str(cstr));
}

static inline bool slice_starts(struct slice s, struct slice prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool slice_among(const struct slice *list, size_t n, struct slice s)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(list[i], s))
			return true;
	return false;
}

/* Whether it is one of the words, of which NULL is the last. */
static inline bool slice_is_one_of(struct slice s, const char *const *words)
{
	for (; *words; words++)
		if (slice_is(s, *words))
			return true;
	return false;
}

/* Without the double quotes around it, if it has both. */
static inline struct slice slice_unquoted(struct slice s)
{
	return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? slice_make(s.p + 1, s.n - 2) : s;
}

/* Whether `part` occurs in it; an empty one does. */
bool slice_contains(struct slice s, struct slice part);
/* Equal, except for the case of ASCII letters. */
bool slice_equal_any_case(struct slice a, struct slice b);

/* Takes the part before the next separator off *rest: "a,,b" gives "a", "" and "b". An empty text has one part, which
 * is empty. False: there is none left; rest->p is NULL after the last part. */
static inline bool slice_next(struct slice *rest, char separator, struct slice *part)
{
	const char *end = rest->n ? (const char *)memchr(rest->p, separator, rest->n) : NULL;

	if (!rest->p)
		return false;
	*part = end ? slice_make(rest->p, (size_t)(end - rest->p)) : *rest;
	*rest = end ? slice_make(end + 1, rest->n - part->n - 1) : slice_make(NULL, 0);
	return true;
}

/* Without any of these characters at its ends. */
struct slice slice_trim(struct slice s, const char *characters);
#define SLICE_BLANKS " \t\n\v\f\r"

/* Copies `s` to *at, which has room for it, and moves *at past the copy. For texts in the block of their owner. */
static inline struct slice slice_pack(char **at, struct slice s)
{
	struct slice copy = slice_make(*at, s.n);

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}

/* Its beginning: whole characters of UTF-8, `most` bytes or fewer. */
static inline struct slice slice_cut(struct slice s, size_t most)
{
	size_t n = s.n < most ? s.n : most;

	while (n && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return slice_make(s.p, n);
}

/* Digits from 0 to 9, at least one. */
static inline bool slice_is_digits(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* Unsigned byte order; a prefix sorts before longer slices. <0, 0, >0. */
static inline int slice_cmp(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}
/* The same for qsort(). */
static inline int slice_order(const void *x, const void *y)
{
	return slice_cmp(*(const struct slice *)x, *(const struct slice *)y);
}

#endif
