/* Parses HTTP/1.x requests from bytes as they arrive. Knows no socket and no event loop.
 *
 *     request_parser_init(&p, &limits);
 *     request_begin(&p, &req, &arena);
 *     while (have bytes) switch (request_feed(&p, bytes, n, &used)) …
 *
 * Invariants
 *   H1  request_feed() uses no byte beyond the end of the request it completes, so the rest can be
 *       fed to the next one.
 *   H2  Never keeps more of the head than limits.header_bytes, nor more of the body than the gate allows; and reads
 *       not much more than limits.header_bytes of other parts (trailers, chunk extensions).
 *   H3  After REQUEST_REFUSED the rest of the stream is meaningless: reply and close.
 *
 * Lifetime: everything in the request lives in the arena given to request_begin(). Memory running
 * out leaves by arena.h A1; the parser must then be treated as after REQUEST_REFUSED.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_REQUEST_H
#define THORPE_HTTP_PARSE_REQUEST_H

#include "base/buf.h"
#include "base/error.h"
#include "http/parse/http_limits.h"
#include "http/parse/parser.h"
#include "http/parse/request_strict.h"
#include "wire/header.h"
#include "wire/percent.h"

/* Takes a body as it arrives, instead of memory. */
struct http_request;
struct body_sink {
	/* False: r->refused and r->why are set. */
	bool (*take)(struct body_sink *s, struct http_request *r, const char *bytes, size_t n);
};

struct http_request {
	struct arena *arena;
	enum http_method method;
	struct slice path;  /* as sent, up to the '?' */
	struct slice query; /* as sent, after the '?' */
	struct http_header *headers;
	size_t header_count;
	struct slice body;      /* as sent; chunks put together; empty if the sink took it */
	struct body_sink *sink; /* set by the gate; NULL: the body stays in memory */
	bool http10;
	bool keep_alive;
	bool expects_continue; /* waits for "100 Continue" before it sends the body */
	bool has_head;         /* everything but the body has arrived */
	bool chunked;
	uint64_t length; /* of the body, unless it is chunked */
	/* When refused: */
	int refused; /* HTTP status, else 0 */
	const char *why;
};

/* Called when the head of a request has arrived but not its body; not for plain requests in one piece. */
struct request_gate {
	/* How long the body may be. */
	uint64_t (*most)(void *ctx, const struct http_request *r);
	/* Whether to read the body. False: r->refused and r->why are set. May leave by arena.h A1. */
	bool (*opens)(void *ctx, struct http_request *r);
	void *ctx;
};

struct request_parser {
	http_parser hp;
	const struct http_limits *limits;
	struct request_gate gate; /* zero: bodies up to limits.body_bytes are read */
	uint64_t body_most, body_got;
	struct http_request *req;
	struct buf head; /* target, then name and value of each header */
	struct buf body;
	size_t head_bytes; /* of this request, as sent */
	size_t target_len;
	struct {
		uint32_t name, value, end;
	} * spans; /* in `head`, one per header */
	size_t span_count, span_cap;
	enum { IN_NAME, IN_VALUE } in;
	struct strict_lines lines;
	struct strict_chunks chunks;
	bool done;
	bool fresh; /* no bytes since request_begin() */
};

enum request_status { REQUEST_MORE, REQUEST_DONE, REQUEST_REFUSED };

/* `limits` must be complete and outlive the parser. */
void request_parser_init(struct request_parser *p, const struct http_limits *limits);
void request_begin(struct request_parser *p, struct http_request *req, struct arena *a);
enum request_status request_feed(struct request_parser *p, const char *bytes, size_t n, size_t *used);

/* The first header of this (lower-case) name; p is NULL: none. */
struct slice request_header(const struct http_request *r, struct slice name);
/* The value of a query parameter, percent-decoded; p is NULL: none. */
struct slice request_query(const struct http_request *r, struct slice name);

/* Whether a list such as Accept-Encoding or Connection has `token` (lower case), not with q=0. */
bool http_list_has(struct slice list, struct slice token);
struct slice http_trim(struct slice s);
/* A Content-Type without its parameters. */
struct slice http_media_type(struct slice s);

#endif
