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

int percent_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte of the escape at `i`; -1: there is none. */
static int escaped_at(struct slice s, size_t i)
{
	int high = s.p[i] == '%' && i + 2 < s.n ? percent_digit(s.p[i + 1]) : -1;
	int low = high >= 0 ? percent_digit(s.p[i + 2]) : -1;

	return low >= 0 ? high << 4 | low : -1;
}

bool percent_is_valid(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '%' && escaped_at(s, i) < 0)
			return false;
	return true;
}

struct slice percent_decode(struct arena *a, struct slice s)
{
	char *out;
	size_t n = 0;

	if (!s.n || !memchr(s.p, '%', s.n))
		return s;
	out = arena_alloc(a, s.n);
	for (size_t i = 0; i < s.n; i++) {
		int c = escaped_at(s, i);

		out[n++] = c < 0 ? s.p[i] : (char)c;
		i += c < 0 ? 0 : 2;
	}
	return slice_make(out, n);
}
