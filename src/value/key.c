/* Key attributes into bytes that sort, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "value/key.h"

uint64_t key_hash(struct slice bytes)
{
	return XXH3_64bits(bytes.p, bytes.n);
}

void key_add_counted(struct buf *b, struct slice bytes)
{
	buf_be16(b, (uint16_t)bytes.n);
	buf_put(b, bytes);
}

void key_add_escaped_prefix(struct buf *b, struct slice bytes)
{
	const char *p = bytes.p, *end = bytes.n ? bytes.p + bytes.n : bytes.p;

	while (p < end) {
		const char *zero = memchr(p, 0, (size_t)(end - p));
		size_t n = (size_t)((zero ? zero + 1 : end) - p);

		buf_add(b, p, n);
		if (zero)
			buf_byte(b, 0xff);
		p += n;
	}
}

void key_add_escaped(struct buf *b, struct slice bytes)
{
	key_add_escaped_prefix(b, bytes);
	buf_add(b, "\0\0", 2);
}

bool key_read_counted(const uint8_t **p, const uint8_t *end, struct slice *out)
{
	size_t n;

	if (end - *p < 2)
		return false;
	n = read_be16(*p);
	if (n > (size_t)(end - *p) - 2)
		return false;
	*out = slice_make(*p + 2, n);
	*p += 2 + n;
	return true;
}

bool key_read_escaped(struct arena *a, const uint8_t **p, const uint8_t *end, struct slice *out)
{
	const uint8_t *from = *p;
	struct buf b;

	buf_init(&b, a);
	for (;;) {
		const uint8_t *zero = from < end ? memchr(from, 0, (size_t)(end - from)) : NULL;

		if (!zero || end - zero < 2)
			return false;
		buf_add(&b, from, (size_t)(zero - from));
		from = zero + 2;
		if (zero[1] == 0)
			break;
		if (zero[1] != 0xff)
			return false;
		buf_byte(&b, 0);
	}
	*p = from;
	*out = b.n ? buf_slice(&b) : slice_make("", 0);
	return true;
}

struct value key_to_value(struct arena *a, enum value_type t, struct slice bytes)
{
	struct number n;

	switch (t) {
	case VALUE_S: return value_make_s(a, bytes);
	case VALUE_B: return value_make_b(a, bytes);
	case VALUE_N: n = number_decode((const uint8_t *)bytes.p, bytes.n); return value_make_n(a, &n);
	default: return VALUE_ABSENT;
	}
}

bool key_successor(struct buf *b)
{
	while (b->n && (uint8_t)b->p[b->n - 1] == 0xff)
		b->n--;
	if (b->n == 0)
		return false;
	b->p[b->n - 1] = (char)((uint8_t)b->p[b->n - 1] + 1);
	return true;
}
