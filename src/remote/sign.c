/* Which headers go out, and which of them are signed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/sign.h"
#include <time.h>
#include "base/buf.h"

#define HEADERS_MOST 8

static const char *line(struct arena *a, struct http_header h)
{
	return arena_cstr(a, arena_printf(a, "%.*s: %.*s", SLICE_ARG(h.name), SLICE_ARG(h.value)));
}

/* In the order of their names, as the signature wants them. */
static size_t list_signed(const struct sign_ask *s, struct slice date, struct http_header out[HEADERS_MOST])
{
	size_t n = 0;

	out[n++] = (struct http_header){ SLICE("content-type"), slice_str(s->content_type) };
	out[n++] = (struct http_header){ SLICE("host"), slice_str(s->endpoint->host) };
	out[n++] = (struct http_header){ SLICE("x-amz-date"), date };
	if (s->token)
		out[n++] = (struct http_header){ SLICE("x-amz-security-token"), slice_str(s->token) };
	if (s->target)
		out[n++] = (struct http_header){ SLICE("x-amz-target"), slice_str(s->target) };
	return n;
}

static struct slice names_of(struct arena *a, const struct http_header *h, size_t n)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_byte(&b, ';');
		buf_put(&b, h[i].name);
	}
	return buf_slice(&b);
}

const char *const *sign_headers(struct arena *a, const struct sign_ask *s)
{
	const char **lines = arena_array(a, const char *, HEADERS_MOST + 2);
	struct slice date = sigv4_time(a, s->now_ms / 1000), day = slice_make(date.p, 8);
	struct sigv4_key key = { .secret = slice_str(s->secret) };
	struct sigv4_scope scope = { day, slice_str(s->region), slice_str(s->service), SLICE(SIGV4_TERMINATOR) };
	struct http_header h[HEADERS_MOST];
	struct sigv4_message m = {
		.method = SLICE("POST"), .path = slice_str(s->endpoint->path), .headers = h, .body = s->body
	};
	size_t n;

	m.header_count = n = list_signed(s, date, h);
	m.signed_headers = names_of(a, h, n);
	key.credential =
		arena_printf(a, "%s/%.*s/%s/%s/" SIGV4_TERMINATOR, s->id, SLICE_ARG(day), s->region, s->service);
	for (size_t i = 0; i < n; i++)
		lines[i] = line(a, h[i]);
	lines[n++] = arena_cstr(a, arena_printf(a,
						"authorization: " SIGV4_ALGORITHM
						" Credential=%.*s, SignedHeaders=%.*s, Signature=%.*s",
						SLICE_ARG(key.credential), SLICE_ARG(m.signed_headers),
						SLICE_ARG(sigv4_sign(a, &m, &key, &scope, date, s->cache))));
	if (s->gzip)
		lines[n++] = "accept-encoding: gzip";
	lines[n] = NULL;
	return lines;
}
