/* HTTP/1 parsing by llhttp or http-parser: whichever meson found (its option http_parser chooses).
 *
 * Distributions are moving from http-parser, which is no longer maintained, to llhttp, its successor. Code uses
 * http-parser's names for both. They refuse different requests in detail, so request.c itself checks what Thorpe
 * relies on, and test_request.c tests either parser. llhttp has no limit for bytes that it does not pass on (white
 * space, trailers, chunk extensions): request.c counts those.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_PARSER_H
#define THORPE_HTTP_PARSE_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef THORPE_LLHTTP

#include <http_parser.h>

/* Return value of a callback to end this http_parser_execute() with HPE_PAUSED. */
static inline int http_parser_pause_here(http_parser *p)
{
	http_parser_pause(p, 1);
	return 0;
}

static inline void http_parser_resume(http_parser *p)
{
	http_parser_pause(p, 0);
}

/* Allows heads of this size. http-parser has one limit for the process. */
static inline void http_parser_allow(size_t header_bytes)
{
	if (header_bytes > HTTP_MAX_HEADER_SIZE)
		http_parser_set_max_header_size((uint32_t)header_bytes);
}

/* Whether that limit was exceeded. */
static inline bool http_parser_overflowed(const http_parser *p)
{
	return HTTP_PARSER_ERRNO(p) == HPE_HEADER_OVERFLOW;
}

/* Why it stopped: a sentence, valid for the life of the program. */
static inline const char *http_parser_why(const http_parser *p)
{
	return http_errno_description(HTTP_PARSER_ERRNO(p));
}

#else

#include <llhttp.h>

typedef llhttp_t http_parser;
typedef llhttp_settings_t http_parser_settings;
#define http_method          llhttp_method
#define F_CONTENTLENGTH      F_CONTENT_LENGTH
#define HTTP_PARSER_ERRNO(p) llhttp_get_errno(p)

static inline void http_parser_init(http_parser *p, enum llhttp_type type)
{
	llhttp_init(p, type, NULL);
}

/* Returns how many bytes were used. */
static inline size_t http_parser_execute(http_parser *p, const http_parser_settings *settings, const char *bytes,
					 size_t n)
{
	const char *end;

	p->settings = (void *)settings;
	if (llhttp_execute(p, bytes, n) == HPE_OK)
		return n;
	end = llhttp_get_error_pos(p);
	return end ? (size_t)(end - bytes) : n;
}

static inline int http_should_keep_alive(const http_parser *p)
{
	return llhttp_should_keep_alive(p);
}

static inline int http_parser_pause_here(http_parser *p)
{
	(void)p;
	return HPE_PAUSED;
}

static inline void http_parser_resume(http_parser *p)
{
	llhttp_resume(p);
}

static inline void http_parser_allow(size_t header_bytes)
{
	(void)header_bytes;
}

static inline bool http_parser_overflowed(const http_parser *p)
{
	(void)p;
	return false;
}

static inline const char *http_method_str(enum http_method m)
{
	return llhttp_method_name(m);
}

static inline const char *http_parser_why(const http_parser *p)
{
	const char *why = llhttp_get_error_reason(p);

	return why && *why ? why : llhttp_errno_name(llhttp_get_errno(p));
}

#endif

#endif
