/* Plain requests: complete in one read, with nothing unusual. Parsed here, sixteen bytes of a value at a time;
 * http-parser works byte by byte, which was the largest cost of answering a request.
 *
 * Invariant P1: http-parser accepts every request accepted here, with the same meaning. All others are left to it, so
 * refusals come from one place. A test (test_request.c) gives both the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "http/parse/request_plain.h"

#define LENGTH_DIGITS 9 /* the longest Content-Length that cannot overflow */

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* The bytes not yet parsed. */
struct rest {
	char *at, *end;
};

/* Skips printable ASCII, blanks included. */
static void skip_printable(struct rest *r)
{
	bytes16 v, other;
	uint64_t halves[2];

	for (; r->end - r->at >= 16; r->at += 16) {
		memcpy(&v, r->at, sizeof(v));
		other = (bytes16)((v < 0x20) | (v > 0x7e));
		memcpy(halves, &other, sizeof(halves));
		if (halves[0] | halves[1])
			break;
	}
	while (r->at < r->end && *r->at >= 0x20 && *r->at <= 0x7e)
		r->at++;
}

/* Takes `text` if it comes next. */
static bool take_text(struct rest *r, struct slice text)
{
	if ((size_t)(r->end - r->at) < text.n || memcmp(r->at, text.p, text.n) != 0)
		return false;
	r->at += text.n;
	return true;
}

static bool is_target_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '/' && c <= ';') || (c >= '?' && c <= 'Z') || c == '-' || c == '.' ||
	       c == '_' || c == '~' || c == '%' || c == '&' || c == '=' || c == '+';
}

static bool take_target(struct rest *r, struct http_request *req)
{
	char *from = r->at, *mark;

	if (r->at == r->end || *from != '/')
		return false;
	while (r->at < r->end && is_target_char(*r->at))
		r->at++;
	mark = memchr(from, '?', (size_t)(r->at - from));
	req->path = slice_make(from, (size_t)((mark ? mark : r->at) - from));
	if (mark)
		req->query = slice_make(mark + 1, (size_t)(r->at - mark - 1));
	return take_text(r, SLICE(" HTTP/1.1\r\n"));
}

/* The name, put into lower case, and its colon. */
static bool take_name(struct rest *r, struct slice *name)
{
	char *from = r->at;

	for (; r->at < r->end; r->at++) {
		if (*r->at >= 'A' && *r->at <= 'Z')
			*r->at |= 0x20;
		else if (!((*r->at >= 'a' && *r->at <= 'z') || *r->at == '-' || (*r->at >= '0' && *r->at <= '9')))
			break;
	}
	*name = slice_make(from, (size_t)(r->at - from));
	return name->n && take_text(r, SLICE(":"));
}

static bool take_value(struct rest *r, struct slice *value)
{
	char *from = r->at;

	skip_printable(r);
	*value = http_trim(slice_make(from, (size_t)(r->at - from)));
	return take_text(r, SLICE("\r\n"));
}

static bool read_length(struct slice digits, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return false;
		*n = *n * 10 + (size_t)(digits.p[i] - '0');
	}
	return digits.n && digits.n <= LENGTH_DIGITS;
}

/* What the headers so far say about the message itself. */
struct framing {
	unsigned hosts, lengths;
	size_t body;
};

/* False: it needs the full parser. */
static bool take_meaning(const struct http_header *h, struct framing *f)
{
	switch (h->name.n) {
	case 4: f->hosts += slice_is(h->name, "host"); return true;
	case 6: return !slice_is(h->name, "expect");
	case 7: return !slice_is(h->name, "upgrade") && !slice_is(h->name, "trailer");
	case 10:
		return !slice_is(h->name, "connection") ||
		       (h->value.n == 10 && strncasecmp(h->value.p, "keep-alive", 10) == 0);
	case 14:
		if (!slice_is(h->name, "content-length"))
			return true;
		f->lengths++;
		return read_length(h->value, &f->body);
	case 16: return !slice_is(h->name, "proxy-connection");
	case 17: return !slice_is(h->name, "transfer-encoding");
	}
	return true;
}

static bool take_headers(struct rest *r, const struct http_limits *l, struct http_request *req, struct framing *f)
{
	struct http_header *h = arena_alloc(req->arena, REQUEST_PLAIN_HEADERS * sizeof(*h));
	size_t most = l->header_count < REQUEST_PLAIN_HEADERS ? (size_t)l->header_count : REQUEST_PLAIN_HEADERS, n = 0;

	for (; !take_text(r, SLICE("\r\n")); n++)
		if (n == most || !take_name(r, &h[n].name) || !take_value(r, &h[n].value) || !take_meaning(&h[n], f))
			return false;
	req->headers = h;
	req->header_count = n;
	return f->hosts == 1 && f->lengths <= 1;
}

/* Only the copy may be changed or pointed to: the bytes are the caller's. */
static bool take_all(struct rest *r, const struct http_limits *l, struct http_request *req)
{
	struct framing f = { 0 };
	char *from = r->at;

	if (take_text(r, SLICE("POST ")))
		req->method = HTTP_POST;
	else if (take_text(r, SLICE("GET ")))
		req->method = HTTP_GET;
	else
		return false;
	if (!take_target(r, req) || !take_headers(r, l, req, &f) || (size_t)(r->at - from) > l->header_bytes ||
	    f.body > l->body_bytes || f.body > (size_t)(r->end - r->at))
		return false;
	req->body = slice_make(r->at, f.body);
	req->length = f.body;
	r->at += f.body;
	req->keep_alive = req->has_head = true;
	return true;
}

bool request_take_plain(struct http_request *req, const struct http_limits *l, const char *bytes, size_t n, size_t *used)
{
	struct arena *a = req->arena;
	struct slice copy = arena_copy(a, slice_make(bytes, n));
	struct rest r = { (char *)copy.p, (char *)copy.p + n };

	if (!take_all(&r, l, req)) {
		*req = (struct http_request){ .arena = a };
		return false;
	}
	*used = (size_t)(r.at - copy.p);
	return true;
}
