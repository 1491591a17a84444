/* Percent-encoding, both ways.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/percent.h"

static bool is_unreserved(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       c == '.' || c == '~';
}

void percent_encode(struct buf *b, struct slice s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (is_unreserved(c)) {
			buf_byte(b, c);
		} else {
			char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };

			buf_add(b, escaped, 3);
		}
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice percent_decode(struct arena *a, struct slice s)
{
	char *out;
	size_t n = 0;

	if (!s.n || !memchr(s.p, '%', s.n))
		return s;
	out = arena_alloc(a, s.n);
	for (size_t i = 0; i < s.n; i++) {
		int hi = -1, lo = -1;

		if (s.p[i] == '%' && i + 2 < s.n) {
			hi = hex_digit(s.p[i + 1]);
			lo = hex_digit(s.p[i + 2]);
		}
		if (hi >= 0 && lo >= 0) {
			out[n++] = (char)(hi << 4 | lo);
			i += 2;
		} else {
			out[n++] = s.p[i];
		}
	}
	return slice_make(out, n);
}
