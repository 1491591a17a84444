/* A growing byte buffer in an arena: replies, encoded items, keys.
 *
 * Growth follows the arena's rule (arena.h A1), so nothing here returns an error.
 * The bytes may move whenever something is appended; take a slice when done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_BUF_H
#define THORPE_BASE_BUF_H

#include "base/arena.h"

struct buf {
	struct arena *arena;
	char *p;
	size_t n, cap;
};

void buf_init(struct buf *b, struct arena *a);
/* Makes room for `more` further bytes and returns where they go; does not change n. */
char *buf_room(struct buf *b, size_t more);

static inline struct slice buf_slice(const struct buf *b)
{
	return slice_make(b->p, b->n);
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n) {
		memcpy(b->cap - b->n >= n ? b->p + b->n : buf_room(b, n), p, n);
		b->n += n;
	}
}

static inline void buf_byte(struct buf *b, uint8_t c)
{
	buf_add(b, &c, 1);
}

static inline void buf_put(struct buf *b, struct slice s)
{
	buf_add(b, s.p, s.n);
}

#define buf_lit(b, lit) buf_add((b), "" lit, sizeof(lit) - 1)
void buf_str(struct buf *b, const char *cstr);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_u64(struct buf *b, uint64_t v); /* decimal */
void buf_i64(struct buf *b, int64_t v);  /* decimal */

/* Big-endian, so that memcmp() orders them as numbers. */
void buf_be16(struct buf *b, uint16_t v);
void buf_be32(struct buf *b, uint32_t v);
void buf_be64(struct buf *b, uint64_t v);
uint16_t read_be16(const void *p);
uint32_t read_be32(const void *p);
uint64_t read_be64(const void *p);

/* LEB128. read_varint() returns the bytes used, 0 when [p, end) holds no whole varint. */
void buf_varint(struct buf *b, uint64_t v);
size_t read_varint(const void *p, const void *end, uint64_t *v);
void buf_part(struct buf *b, struct slice s); /* its length as a varint, then itself */

void buf_base64(struct buf *b, struct slice s);
void buf_hex(struct buf *b, struct slice s); /* lower case */
/* The value of a label in Prometheus' text format, without its quotes. */
void buf_label(struct buf *b, struct slice s);

#endif
