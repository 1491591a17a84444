/* Growing a buffer, and writing to it byte by byte.
 * SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>

#include "base/buf.h"

#define FIRST_CAP 64

void buf_init(struct buf *b, struct arena *a)
{
	*b = (struct buf){ .arena = a };
}

char *buf_room(struct buf *b, size_t more)
{
	size_t need, cap;

	if (b->cap - b->n >= more && b->p)
		return b->p + b->n;
	if (__builtin_add_overflow(b->n, more, &need) || need > SIZE_MAX / 4)
		arena_out_of_memory(b->arena);
	cap = b->cap ? b->cap * 2 : FIRST_CAP;
	if (cap < need)
		cap = need;
	b->p = arena_grow(b->arena, b->p, b->cap, cap);
	b->cap = cap;
	return b->p + b->n;
}

void buf_str(struct buf *b, const char *cstr)
{
	buf_add(b, cstr, strlen(cstr));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	struct slice s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vprintf(b->arena, fmt, ap);
	va_end(ap);
	buf_put(b, s);
}

void buf_u64(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_i64(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_byte(b, '-');
	buf_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void buf_be16(struct buf *b, uint16_t v)
{
	v = htobe16(v);
	buf_add(b, &v, sizeof(v));
}

void buf_be32(struct buf *b, uint32_t v)
{
	v = htobe32(v);
	buf_add(b, &v, sizeof(v));
}

void buf_be64(struct buf *b, uint64_t v)
{
	v = htobe64(v);
	buf_add(b, &v, sizeof(v));
}

uint16_t read_be16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

uint32_t read_be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

uint64_t read_be64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

void buf_varint(struct buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t n = 0;

	while (v >= 0x80) {
		bytes[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	bytes[n++] = (uint8_t)v;
	buf_add(b, bytes, n);
}

void buf_part(struct buf *b, struct slice s)
{
	buf_varint(b, s.n);
	buf_put(b, s);
}

size_t read_varint(const void *p, const void *end, uint64_t *v)
{
	const uint8_t *at = p, *stop = end;
	uint64_t sum = 0;
	unsigned shift;

	for (shift = 0; shift < 64 && at < stop; shift += 7) {
		uint8_t c = *at++;

		if (shift == 63 && c > 1) /* beyond 64 bits */
			return 0;
		sum |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*v = sum;
			return (size_t)(at - (const uint8_t *)p);
		}
	}
	return 0;
}

void buf_base64(struct buf *b, struct slice s)
{
	static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)s.p;
	size_t left = s.n;
	char *start = buf_room(b, arena_array_size(s.n / 3 + 1, 4)), *to = start;

	for (; left >= 3; left -= 3, p += 3) {
		*to++ = set[p[0] >> 2];
		*to++ = set[(p[0] & 3) << 4 | p[1] >> 4];
		*to++ = set[(p[1] & 15) << 2 | p[2] >> 6];
		*to++ = set[p[2] & 63];
	}
	if (left) {
		uint8_t second = left == 2 ? p[1] : 0;

		*to++ = set[p[0] >> 2];
		*to++ = set[(p[0] & 3) << 4 | second >> 4];
		*to++ = left == 2 ? set[(second & 15) << 2] : '=';
		*to++ = '=';
	}
	b->n += (size_t)(to - start);
}

void buf_hex(struct buf *b, struct slice s)
{
	static const char set[] = "0123456789abcdef";
	char *to = buf_room(b, arena_array_size(s.n, 2));
	size_t i;

	for (i = 0; i < s.n; i++) {
		*to++ = set[(uint8_t)s.p[i] >> 4];
		*to++ = set[(uint8_t)s.p[i] & 15];
	}
	b->n += 2 * s.n;
}

void buf_label(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_byte(b, '\\');
		buf_byte(b, s.p[i] == '\n' ? ' ' : (uint8_t)s.p[i]);
	}
}
