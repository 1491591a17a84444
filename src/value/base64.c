/* Decodes base64.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/base64.h"

/* Value + 1; 0: not in the alphabet. */
/* clang-format off */
static const uint8_t alphabet[256] = {
	['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
	['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};
/* clang-format on */

/* Four characters, three bytes; false if one is not in the alphabet. */
static inline bool decode_group(const uint8_t *p, uint8_t *out)
{
	unsigned a = alphabet[p[0]], b = alphabet[p[1]], c = alphabet[p[2]], d = alphabet[p[3]];
	uint32_t v;

	if (!a || !b || !c || !d)
		return false;
	v = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
	out[0] = (uint8_t)(v >> 16);
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)v;
	return true;
}

bool base64_decode(struct slice s, uint8_t *out, size_t *n)
{
	const uint8_t *p = (const uint8_t *)s.p, *end = p + s.n;
	uint8_t last[4], bytes[3];
	size_t pad;

	*n = 0;
	if (s.n == 0)
		return true;
	for (; end - p > 4; p += 4, *n += 3)
		if (!decode_group(p, out + *n))
			return false;
	memcpy(last, p, 4);
	pad = last[3] != '=' ? 0 : last[2] != '=' ? 1 : 2;
	memset(last + 4 - pad, 'A', pad);
	if (!decode_group(last, bytes))
		return false;
	if ((pad == 1 && bytes[2]) || (pad == 2 && (bytes[1] || bytes[2])))
		return false;
	memcpy(out + *n, bytes, 3 - pad);
	*n += 3 - pad;
	return true;
}

/* ---- base64url ---- */

bool base64url_decode(struct arena *a, struct slice text, struct slice *out)
{
	size_t padded = (text.n + 3) / 4 * 4, n = 0;
	char *standard = arena_alloc(a, padded);
	uint8_t *bytes = arena_alloc(a, padded / 4 * 3);

	if (text.n % 4 == 1)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '+' || c == '/' || c == '=')
			return false;
		standard[i] = c == '-' ? '+' : c == '_' ? '/' : c;
	}
	memset(standard + text.n, '=', padded - text.n);
	if (!base64_decode(slice_make(standard, padded), bytes, &n))
		return false;
	*out = slice_make(bytes, n);
	return true;
}

void base64url_put(struct buf *b, struct slice s)
{
	size_t from = b->n, to = b->n;

	buf_base64(b, s);
	for (size_t i = from; i < b->n && b->p[i] != '='; i++, to++)
		b->p[i] = b->p[i] == '+' ? '-' : b->p[i] == '/' ? '_' : b->p[i];
	b->n = to;
}
