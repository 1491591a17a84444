/* Checks the lines and chunks of a request strictly by RFC 9112 before http-parser sees them.
 *
 * If a parser is lenient, a proxy in front of it may read the same bytes differently, and the two disagree where a
 * request ends: the body of one is the next request of the other. So these checks are strict, whatever the parser
 * accepts:
 *   S1  Every line ends with CR LF; neither occurs alone.
 *   S2  No line of the head is folded, and none has a control character.
 *   S3  A chunk's size is hexadecimal digits, at most 15 of them; its data is exactly that long, and CR LF follows.
 *   S4  Extensions of chunks and trailers together are no longer than a head may be.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_REQUEST_STRICT_H
#define THORPE_HTTP_PARSE_REQUEST_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* zero: at the beginning */
struct strict_lines {
	bool begun;   /* a line has ended that was not empty */
	bool in_line; /* the line has a byte already */
	bool has_cr;  /* and its CR */
};

/* zero: at the beginning */
struct strict_chunks {
	enum {
		CHUNK_SIZE,
		CHUNK_EXTENSION,
		CHUNK_SIZE_LF,
		CHUNK_DATA,
		CHUNK_DATA_CR,
		CHUNK_DATA_LF,
		CHUNK_TRAILERS
	} at;
	unsigned digits;
	uint64_t left;     /* of the chunk's data */
	uint64_t overhead; /* bytes of extensions and trailers so far */
	struct strict_lines trailers;
};

enum strict_result { STRICT_MORE, STRICT_END, STRICT_BAD };

/* Checks up to n bytes. MORE: all are fine. END: the head, or the body, is complete after *used bytes. BAD: *why says
 * what is wrong. */
enum strict_result strict_head(struct strict_lines *s, const char *p, size_t n, size_t *used, const char **why);
enum strict_result strict_body(struct strict_chunks *s, const char *p, size_t n, uint64_t most_overhead, size_t *used,
			       const char **why);

#endif
