/* Copies text into a JSON string and checks in the same pass whether it needs escapes, which is rare. Inlined, for
 * code that writes many short strings.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_JSON_PLAIN_H
#define THORPE_JSON_PLAIN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "json/json.h"

typedef uint8_t json_bytes __attribute__((vector_size(16)));

static inline bool json_is_special(uint8_t c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

static inline json_bytes json_special16(json_bytes v)
{
	return (json_bytes)((v < 0x20) | (v == '"') | (v == '\\'));
}

static inline bool json_any(json_bytes v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}

static inline json_bytes json_copy16(char *to, const char *from)
{
	json_bytes v;

	memcpy(&v, from, sizeof(v));
	memcpy(to, &v, sizeof(v));
	return json_special16(v);
}

static inline bool json_copy_long(char *to, const char *from, size_t n)
{
	json_bytes special = json_copy16(to + n - 16, from + n - 16);

	for (size_t i = 0; i + 16 < n; i += 16)
		special |= json_copy16(to + i, from + i);
	return !json_any(special);
}

/* False if something needs an escape; `to` then holds garbage. The last step overlaps the one before it, so no
 * string is examined byte by byte. */
static inline bool json_copy_plain(char *to, struct slice s)
{
	uint64_t both[2];
	uint32_t head, tail;
	json_bytes v;

	if (s.n >= 16)
		return json_copy_long(to, s.p, s.n);
	if (s.n >= 8) {
		memcpy(&both[0], s.p, 8);
		memcpy(&both[1], s.p + s.n - 8, 8);
		memcpy(to, &both[0], 8);
		memcpy(to + s.n - 8, &both[1], 8);
	} else if (s.n >= 4) {
		memcpy(&head, s.p, 4);
		memcpy(&tail, s.p + s.n - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + s.n - 4, &tail, 4);
		both[0] = both[1] = (uint64_t)head << 32 | tail;
	} else {
		if (!s.n)
			return true;
		to[0] = s.p[0];
		to[s.n / 2] = s.p[s.n / 2];
		to[s.n - 1] = s.p[s.n - 1];
		return !json_is_special((uint8_t)to[0]) && !json_is_special((uint8_t)to[s.n / 2]) &&
		       !json_is_special((uint8_t)to[s.n - 1]);
	}
	memcpy(&v, both, sizeof(v));
	return !json_any(json_special16(v));
}

/* The most that json_copy_within() writes after the text. */
#define JSON_COPY_BEYOND 16

/* The same for text in the middle of something longer, readable up to `limit`: copies sixteen bytes at a time to
 * the end and past it, without branching on the length. */
static inline bool json_copy_within(char *to, struct slice s, const char *limit)
{
#ifdef __SSE2__
	json_bytes special = { 0 };
	size_t i = 0;

	if ((size_t)(limit - s.p) < s.n + 16)
		return json_copy_plain(to, s);
	for (; i + 16 <= s.n; i += 16)
		special |= json_copy16(to + i, s.p + i);
	unsigned before = (unsigned)_mm_movemask_epi8((__m128i)special);
	unsigned last = (unsigned)_mm_movemask_epi8((__m128i)json_copy16(to + i, s.p + i));

	return !(before | (last & ((1u << (s.n - i)) - 1)));
#else
	(void)limit;
	return json_copy_plain(to, s);
#endif
}

#endif
