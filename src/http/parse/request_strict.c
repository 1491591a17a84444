/* Two small state machines that check each byte of a head and of the framing of chunks. Plain requests in one piece
 * skip them (request_plain.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/parse/request_strict.h"
#include "wire/percent.h"

#define SIZE_DIGITS 15 /* S3: 60 bits */

static enum strict_result bad(const char **why, const char *what)
{
	*why = what;
	return STRICT_BAD;
}

static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

static bool is_printable(char c)
{
	return (unsigned char)(c - ' ') < 0x7f - ' ';
}

enum strict_result strict_head(struct strict_lines *s, const char *p, size_t n, size_t *used, const char **why)
{
	for (size_t i = 0; i < n; i++) {
		if (s->has_cr) {
			if (p[i] != '\n')
				return bad(why, "A carriage return without line feed.");
			if (s->begun && !s->in_line) {
				*used = i + 1;
				return STRICT_END;
			}
			s->begun |= s->in_line; /* empty lines before the request line do not count */
			s->in_line = s->has_cr = false;
			continue;
		}
		if (p[i] == '\r') {
			s->has_cr = true;
			continue;
		}
		if (p[i] == '\n')
			return bad(why, "A line feed without carriage return.");
		if (s->begun && !s->in_line && (p[i] == ' ' || p[i] == '\t'))
			return bad(why, "A header is folded over two lines.");
		if (is_control(p[i]))
			return bad(why, "The head contains a control character.");
		s->in_line = true;
		while (i + 1 < n && is_printable(p[i + 1])) /* most bytes are, and need no further check */
			i++;
	}
	*used = n;
	return STRICT_MORE;
}

static bool take_digit(struct strict_chunks *s, char c)
{
	int digit = percent_digit(c);

	if (digit < 0 || s->digits == SIZE_DIGITS)
		return false;
	s->left = s->left << 4 | (unsigned)digit;
	s->digits++;
	return true;
}

/* Takes one byte that is neither data nor part of a trailer. */
static enum strict_result take_byte(struct strict_chunks *s, char c, uint64_t most_overhead, const char **why)
{
	switch (s->at) {
	case CHUNK_SIZE:
		if (take_digit(s, c))
			return STRICT_MORE;
		if (!s->digits || (c != '\r' && c != ';' && c != ' ' && c != '\t'))
			return bad(why, "A chunk does not begin with its size.");
		s->at = c == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
		return STRICT_MORE;
	case CHUNK_EXTENSION:
		if (c == '\r')
			s->at = CHUNK_SIZE_LF;
		else if (is_control(c))
			return bad(why, "The extension of a chunk contains a control character.");
		else if (++s->overhead > most_overhead)
			return bad(why, "The extensions of chunks are too long.");
		return STRICT_MORE;
	case CHUNK_SIZE_LF:
		if (c != '\n')
			return bad(why, "A carriage return without line feed.");
		s->at = s->left ? CHUNK_DATA : CHUNK_TRAILERS;
		s->trailers = (struct strict_lines){ .begun = true };
		return STRICT_MORE;
	case CHUNK_DATA_CR:
		s->at = CHUNK_DATA_LF;
		return c == '\r' ? STRICT_MORE : bad(why, "A chunk is longer than its size.");
	case CHUNK_DATA_LF:
		s->at = CHUNK_SIZE;
		s->digits = 0;
		return c == '\n' ? STRICT_MORE : bad(why, "A chunk is longer than its size.");
	case CHUNK_DATA:
	case CHUNK_TRAILERS: break;
	}
	return STRICT_BAD;
}

static enum strict_result take_trailers(struct strict_chunks *s, const char *p, size_t n, uint64_t most_overhead,
					size_t *used, const char **why)
{
	enum strict_result r = strict_head(&s->trailers, p, n, used, why);

	if (r == STRICT_BAD)
		return r;
	s->overhead += *used;
	return s->overhead > most_overhead ? bad(why, "The trailers are too long.") : r;
}

enum strict_result strict_body(struct strict_chunks *s, const char *p, size_t n, uint64_t most_overhead, size_t *used,
			       const char **why)
{
	enum strict_result r = STRICT_MORE;

	*used = 0;
	while (*used < n && r == STRICT_MORE) {
		size_t left = n - *used, k = 1;

		if (s->at == CHUNK_TRAILERS) {
			r = take_trailers(s, p + *used, left, most_overhead, &k, why);
		} else if (s->at == CHUNK_DATA) {
			k = s->left < left ? (size_t)s->left : left;
			s->left -= k;
			if (!s->left)
				s->at = CHUNK_DATA_CR;
		} else {
			r = take_byte(s, p[*used], most_overhead, why);
		}
		*used += k;
	}
	return r;
}
