/* Reading and writing the layout of value.h, inlined; for the files of this folder and for code that writes many
 * items (design/slots_lay.c, app/entity/output_writer.h).
 * The reading side trusts the bytes (value.h V2).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_LAYOUT_H
#define THORPE_VALUE_LAYOUT_H

#include "value/value.h"

/* Type, byte length and count before every container and set. */
#define LAYOUT_HEAD 9

static inline uint32_t layout_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline void layout_put_be32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

/* Reads a varint length and that many bytes; advances *p past them. */
static inline struct slice layout_bytes(const uint8_t **p)
{
	const uint8_t *at = *p;
	uint64_t n = *at++;

	if (n & 0x80) {
		n &= 0x7f;
		for (int shift = 7;; shift += 7) {
			n |= (uint64_t)(*at & 0x7f) << shift;
			if (!(*at++ & 0x80))
				break;
		}
	}
	*p = at + n;
	return slice_make(at, n);
}

/* The length of the value at `p`. */
static inline size_t layout_size(const uint8_t *p)
{
	const uint8_t *end = p + 1;

	switch ((enum value_type)p[0]) {
	case VALUE_S:
	case VALUE_N:
	case VALUE_B: (void)layout_bytes(&end); return (size_t)(end - p);
	case VALUE_BOOL: return 2;
	case VALUE_NULL:
	case VALUE_NONE: return 1;
	default: return 5 + (size_t)layout_be32(p + 1);
	}
}

/* The same where most values are short texts and numbers. */
static inline size_t layout_size_mostly_short(const uint8_t *p)
{
	return (uint8_t)(p[0] - VALUE_S) <= VALUE_B - VALUE_S && p[1] < 0x80 ? 2 + (size_t)p[1] : layout_size(p);
}

static inline bool layout_is_set(enum value_type t)
{
	return t == VALUE_SS || t == VALUE_NS || t == VALUE_BS;
}

static inline size_t layout_varint_size(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

static inline uint8_t *layout_put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *layout_put_bytes(uint8_t *p, struct slice s)
{
	p = layout_put_varint(p, s.n);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p + s.n;
}

/* Appends a varint length and the bytes. */
static inline void layout_add_bytes(struct buf *b, struct slice s)
{
	char *to = b->cap - b->n >= s.n + 10 ? b->p + b->n : buf_room(b, s.n + 10);

	b->n += (size_t)((char *)layout_put_bytes((uint8_t *)to, s) - to);
}

/* Opens a container or set. Pass the returned offset to layout_close(), which fills in the head. */
static inline size_t layout_open(struct buf *b, enum value_type t)
{
	size_t start = b->n;
	char *to = b->cap - b->n >= LAYOUT_HEAD ? b->p + b->n : buf_room(b, LAYOUT_HEAD);

	to[0] = (char)t;
	b->n += LAYOUT_HEAD;
	return start;
}

static inline void layout_close(struct buf *b, size_t start, size_t count)
{
	layout_put_be32((uint8_t *)b->p + start + 1, (uint32_t)(b->n - start - 5));
	layout_put_be32((uint8_t *)b->p + start + 5, (uint32_t)count);
}

#endif
