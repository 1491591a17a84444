/* The parser's callbacks (parser.h) collect one request into its arena.
 *
 * Names and values may arrive in pieces, and the collected head may move while it grows: until it is complete, only
 * offsets are kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "base/grow.h"
#include "http/parse/request_plain.h"

#define BODY_FIRST    (64 * 1024)  /* room made for a Content-Length before any bytes arrive */
#define HELD_LONG     (512 * 1024) /* bodies longer than any item may arrive slowly, and many at once */
#define LENGTH_DIGITS 18           /* the longest Content-Length that cannot overflow */

static int refuse_request(struct request_parser *p, int status, const char *why)
{
	p->req->refused = status;
	p->req->why = why;
	return -1;
}

static int add_head(struct request_parser *p, const char *at, size_t n)
{
	if (p->head.n + n > p->limits->header_bytes)
		return refuse_request(p, 431, "The head of the request is too large.");
	buf_add(&p->head, at, n);
	return 0;
}

static int on_url(http_parser *hp, const char *at, size_t n)
{
	struct request_parser *p = hp->data;

	p->target_len += n;
	return add_head(p, at, n);
}

static int new_header(struct request_parser *p)
{
	if (p->span_count == p->limits->header_count)
		return refuse_request(p, 431, "The request has too many headers.");
	GROW_IN(p->req->arena, p->spans, p->span_count, p->span_cap, 24);
	p->spans[p->span_count].name = (uint32_t)p->head.n;
	p->spans[p->span_count].value = p->spans[p->span_count].end = (uint32_t)p->head.n;
	p->span_count++;
	return 0;
}

static int on_header_field(http_parser *hp, const char *at, size_t n)
{
	struct request_parser *p = hp->data;

	if (p->req->has_head) /* a trailer: not used */
		return 0;
	if (p->in == IN_VALUE || !p->span_count) {
		if (new_header(p))
			return -1;
		p->in = IN_NAME;
	}
	return add_head(p, at, n);
}

static int on_header_value(http_parser *hp, const char *at, size_t n)
{
	struct request_parser *p = hp->data;

	if (p->req->has_head)
		return 0;
	if (p->in == IN_NAME) {
		p->spans[p->span_count - 1].value = (uint32_t)p->head.n;
		p->in = IN_VALUE;
	}
	if (add_head(p, at, n))
		return -1;
	p->spans[p->span_count - 1].end = (uint32_t)p->head.n;
	return 0;
}

static void lower(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] |= 0x20;
}

struct slice http_trim(struct slice s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s.p++, s.n--;
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/* Turns offsets into slices: the head no longer moves. */
static void settle_head(struct request_parser *p)
{
	struct http_request *r = p->req;
	struct slice target = slice_make(p->head.p, p->target_len);
	const char *mark = target.n ? memchr(target.p, '?', target.n) : NULL;

	r->path = mark ? slice_make(target.p, (size_t)(mark - target.p)) : target;
	if (mark)
		r->query = slice_make(mark + 1, target.n - r->path.n - 1);
	r->headers = arena_alloc(r->arena, p->span_count * sizeof(*r->headers));
	r->header_count = p->span_count;
	for (size_t i = 0; i < p->span_count; i++) {
		char *name = p->head.p + p->spans[i].name;
		size_t n = p->spans[i].value - p->spans[i].name;

		lower(name, n);
		r->headers[i].name = slice_make(name, n);
		r->headers[i].value =
			http_trim(slice_make(p->head.p + p->spans[i].value, p->spans[i].end - p->spans[i].value));
	}
}

static bool is_chunked(struct slice coding)
{
	return coding.n == 7 && strncasecmp(coding.p, "chunked", 7) == 0;
}

static bool is_token(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c))))
			return false;
	}
	return s.n > 0;
}

static bool read_length(struct slice digits, uint64_t *n)
{
	*n = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9' || i == LENGTH_DIGITS)
			return false;
		*n = *n * 10 + (uint64_t)(digits.p[i] - '0');
	}
	return digits.n > 0;
}

/* Refuses framing that a proxy in front of us might read differently, so that the two disagree where a request ends.
 * Does not rely on http-parser, whose versions differ in what they accept. */
static int check_framing(struct request_parser *p)
{
	struct http_request *r = p->req;
	size_t hosts = 0, codings = 0, lengths = 0;

	for (size_t i = 0; i < r->header_count; i++) {
		const struct http_header *h = &r->headers[i];

		if (!is_token(h->name))
			return refuse_request(p, 400, "A header name contains an invalid character.");
		hosts += slice_is(h->name, "host");
		if (slice_is(h->name, "content-length")) {
			lengths++;
			if (!read_length(h->value, &r->length))
				return refuse_request(p, 400, "Content-Length is not a number.");
		}
		if (!slice_is(h->name, "transfer-encoding"))
			continue;
		codings++;
		if (!is_chunked(h->value))
			return refuse_request(p, 501, "The only supported transfer coding is chunked.");
	}
	if (hosts > 1 || codings > 1 || lengths > 1)
		return refuse_request(p, 400, "Host, Content-Length and Transfer-Encoding may occur only once.");
	if (codings && lengths)
		return refuse_request(p, 400, "Content-Length and Transfer-Encoding exclude each other.");
	if (codings && r->http10)
		return refuse_request(p, 400, "HTTP/1.0 has no Transfer-Encoding.");
	r->chunked = codings;
	return 0;
}

/* Refuses by the head alone, before reading the body. */
static int check_head(struct request_parser *p, const http_parser *hp)
{
	struct http_request *r = p->req;
	struct slice expect = request_header(r, SLICE("expect"));

	if (hp->http_major != 1)
		return refuse_request(p, 505, "Only HTTP/1.0 and HTTP/1.1 are supported.");
	if (!r->http10 && !request_header(r, SLICE("host")).p)
		return refuse_request(p, 400, "The request has no Host header.");
	if (r->method == HTTP_CONNECT)
		return refuse_request(p, 405, "This is not a proxy.");
	if (expect.p) {
		if (!http_list_has(expect, SLICE("100-continue")))
			return refuse_request(p, 417, "The expectation is not supported.");
		r->expects_continue = !r->http10;
	}
	return 0;
}

static int ask_gate(struct request_parser *p)
{
	struct http_request *r = p->req;

	p->body_most = p->limits->body_bytes;
	if (!r->chunked && !r->length)
		return 0;
	if (p->gate.most)
		p->body_most = p->gate.most(p->gate.ctx, r);
	if (r->length > p->body_most)
		return refuse_request(p, 413, "Request body is too large.");
	r->arena->maps = r->chunked || r->length > HELD_LONG;
	return p->gate.opens && !p->gate.opens(p->gate.ctx, r) ? -1 : 0;
}

static int on_headers_complete(http_parser *hp)
{
	struct request_parser *p = hp->data;
	struct http_request *r = p->req;

	hp->upgrade = 0; /* an offer to upgrade is ignored, as HTTP allows */
	r->method = (enum http_method)hp->method;
	r->http10 = hp->http_major == 1 && hp->http_minor == 0;
	r->keep_alive = http_should_keep_alive(hp);
	settle_head(p);
	if (check_framing(p) || check_head(p, hp) || ask_gate(p))
		return -1;
	r->has_head = true;
	return 0;
}

/* Doubles the room, but not beyond Content-Length: it draws on the budget (arena.h A4). */
static void make_room(struct request_parser *p, size_t n)
{
	struct buf *b = &p->body;
	uint64_t all = p->req->chunked ? p->body_most : p->req->length;
	size_t cap = b->cap ? 2 * b->cap : BODY_FIRST;

	if (b->cap - b->n >= n && b->p)
		return;
	if (cap > all)
		cap = (size_t)all;
	if (cap < b->n + n)
		cap = b->n + n;
	b->p = arena_grow(b->arena, b->p, b->cap, cap);
	b->cap = cap;
}

static int on_body(http_parser *hp, const char *at, size_t n)
{
	struct request_parser *p = hp->data;

	if (n > p->body_most - p->body_got)
		return refuse_request(p, 413, "Request body is too large.");
	p->body_got += n;
	if (p->req->sink)
		return p->req->sink->take(p->req->sink, p->req, at, n) ? 0 : -1;
	make_room(p, n);
	buf_add(&p->body, at, n);
	return 0;
}

static int on_message_complete(http_parser *hp)
{
	struct request_parser *p = hp->data;

	p->done = true;
	return http_parser_pause_here(hp); /* H1 */
}

static const http_parser_settings settings = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

void request_parser_init(struct request_parser *p, const struct http_limits *limits)
{
	*p = (struct request_parser){ .limits = limits };
	http_parser_init(&p->hp, HTTP_REQUEST);
	p->hp.data = p;
}

void request_begin(struct request_parser *p, struct http_request *req, struct arena *a)
{
	*req = (struct http_request){ .arena = a };
	p->req = req;
	buf_init(&p->head, a);
	buf_init(&p->body, a);
	buf_room(&p->head, 1024);
	p->head_bytes = p->target_len = 0;
	p->body_got = 0;
	p->spans = NULL;
	p->span_count = p->span_cap = 0;
	p->in = IN_VALUE;
	p->lines = (struct strict_lines){ 0 };
	p->chunks = (struct strict_chunks){ 0 };
	p->done = false;
	p->fresh = true;
}

static enum request_status failed(struct request_parser *p)
{
	if (!p->req->refused) {
		if (http_parser_overflowed(&p->hp))
			refuse_request(p, 431, "The head of the request is too large.");
		else if (HTTP_PARSER_ERRNO(&p->hp) == HPE_INVALID_VERSION && p->hp.http_major > 1)
			refuse_request(p, 505, "Only HTTP/1.0 and HTTP/1.1 are supported.");
		else
			refuse_request(p, 400, http_parser_why(&p->hp));
	}
	p->req->keep_alive = false;
	return REQUEST_REFUSED;
}

/* Checks the bytes of one part: the rest of the head, or the body. False: refused. */
static bool check_piece(struct request_parser *p, const char *bytes, size_t *n)
{
	enum strict_result r;
	const char *why;

	if (!p->req->has_head)
		r = strict_head(&p->lines, bytes, *n, n, &why);
	else if (p->req->chunked)
		r = strict_body(&p->chunks, bytes, *n, p->limits->header_bytes, n, &why);
	else
		return true;
	if (r == STRICT_BAD)
		refuse_request(p, 400, why);
	return r != STRICT_BAD;
}

static enum request_status feed_piece(struct request_parser *p, const char *bytes, size_t *n)
{
	bool had_head = p->req->has_head;

	if (!check_piece(p, bytes, n))
		return failed(p);
	*n = http_parser_execute(&p->hp, &settings, bytes, *n);
	if (p->done && HTTP_PARSER_ERRNO(&p->hp) == HPE_PAUSED) {
		http_parser_resume(&p->hp);
		p->req->body = buf_slice(&p->body);
		return REQUEST_DONE;
	}
	if (HTTP_PARSER_ERRNO(&p->hp) != HPE_OK)
		return failed(p);
	/* Counts bytes that add_head() does not get: white space, line ends, leading empty lines. */
	if (!had_head) {
		p->head_bytes += *n;
		if (p->head_bytes > p->limits->header_bytes) {
			refuse_request(p, 431, "The head of the request is too large.");
			return failed(p);
		}
	}
	return REQUEST_MORE;
}

enum request_status request_feed(struct request_parser *p, const char *bytes, size_t n, size_t *used)
{
	enum request_status status = REQUEST_MORE;
	bool fresh = p->fresh;

	p->fresh = false;
	if (fresh && n <= REQUEST_PLAIN_BYTES && request_take_plain(p->req, p->limits, bytes, n, used))
		return REQUEST_DONE;
	*used = 0;
	while (*used < n && status == REQUEST_MORE) {
		size_t k = n - *used;

		status = feed_piece(p, bytes + *used, &k);
		*used += k;
	}
	return status;
}

struct slice request_header(const struct http_request *r, struct slice name)
{
	for (size_t i = 0; i < r->header_count; i++)
		if (slice_equal(r->headers[i].name, name))
			return r->headers[i].value;
	return (struct slice){ 0 };
}

struct slice request_query(const struct http_request *r, struct slice name)
{
	struct slice rest = r->query, value, key;

	while (slice_next(&rest, '&', &value)) {
		slice_next(&value, '=', &key);
		if (slice_equal(percent_decode(r->arena, key), name))
			return value.p ? percent_decode(r->arena, value) : SLICE("");
	}
	return (struct slice){ 0 };
}

/* q=0, q=0.0, …: "not this one". */
static bool weighs_nothing(struct slice params)
{
	const char *q = params.n ? memmem(params.p, params.n, "q=", 2) : NULL;

	if (!q)
		return false;
	for (q += 2; q < params.p + params.n && *q != ';'; q++)
		if (*q >= '1' && *q <= '9')
			return false;
	return true;
}

bool http_list_has(struct slice list, struct slice token)
{
	struct slice params, name;

	while (slice_next(&list, ',', &params)) {
		slice_next(&params, ';', &name);
		if (slice_equal_any_case(http_trim(name), token))
			return !weighs_nothing(params);
	}
	return false;
}

struct slice http_media_type(struct slice s)
{
	struct slice type = s;

	slice_next(&s, ';', &type);
	return http_trim(type);
}
