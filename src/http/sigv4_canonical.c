/* The canonical request: what both sides must agree on, byte by byte, before they hash it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <openssl/evp.h>

#include "http/sigv4.h"

static void add_encoded(struct buf *b, struct slice s, bool keep_slash)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    c == '-' || c == '_' || c == '.' || c == '~' || (c == '/' && keep_slash)) {
			buf_byte(b, c);
		} else {
			char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };

			buf_add(b, escaped, 3);
		}
	}
}

/* Without empty, '.' and '..' segments, and encoded once more than on the wire. */
static void add_path(struct buf *b, struct slice path)
{
	size_t start = b->n, i = 0;
	bool slash_at_end = path.n && path.p[path.n - 1] == '/';

	while (i < path.n) {
		struct slice segment;
		size_t from;

		while (i < path.n && path.p[i] == '/')
			i++;
		from = i;
		while (i < path.n && path.p[i] != '/')
			i++;
		segment = slice_make(path.p + from, i - from);
		if (!segment.n || slice_is(segment, "."))
			continue;
		if (slice_is(segment, "..")) {
			while (b->n > start && b->p[--b->n] != '/')
				;
			continue;
		}
		buf_byte(b, '/');
		add_encoded(b, segment, false);
	}
	if (b->n == start || slash_at_end)
		buf_byte(b, '/');
}

struct param {
	struct slice name, value; /* encoded */
};

static int by_name(const void *x, const void *y)
{
	const struct param *a = x, *b = y;
	int c = slice_cmp(a->name, b->name);

	return c ? c : slice_cmp(a->value, b->value);
}

static struct slice encoded(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	add_encoded(&b, http_unescape(a, s), false);
	return buf_slice(&b);
}

static size_t split_query(struct arena *a, struct slice query, struct param **out)
{
	size_t count = 0, pairs = 1;

	for (size_t i = 0; i < query.n; i++)
		pairs += query.p[i] == '&';
	*out = arena_array(a, struct param, pairs);
	while (query.n) {
		const char *amp = memchr(query.p, '&', query.n);
		struct slice pair = slice_make(query.p, amp ? (size_t)(amp - query.p) : query.n);
		const char *eq = pair.n ? memchr(pair.p, '=', pair.n) : NULL;
		size_t name_n = eq ? (size_t)(eq - pair.p) : pair.n;

		if (pair.n) {
			(*out)[count].name = encoded(a, slice_make(pair.p, name_n));
			(*out)[count++].value =
				eq ? encoded(a, slice_make(eq + 1, pair.n - name_n - 1))
				   : (struct slice){ 0 };
		}
		query = amp ? slice_make(amp + 1, query.n - pair.n - 1) : (struct slice){ 0 };
	}
	return count;
}

static void add_query(struct buf *b, const struct http_request *r, bool presigned)
{
	struct param *params;
	size_t n;
	bool first = true;

	if (!r->query.n)
		return;
	n = split_query(r->arena, r->query, &params);
	if (n)
		qsort(params, n, sizeof(*params), by_name);
	for (size_t i = 0; i < n; i++) {
		if (presigned && slice_is(params[i].name, "X-Amz-Signature"))
			continue;
		if (!first)
			buf_byte(b, '&');
		first = false;
		buf_put(b, params[i].name);
		buf_byte(b, '=');
		buf_put(b, params[i].value);
	}
}

/* Runs of spaces count as one. */
static void add_value(struct buf *b, struct slice v)
{
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] != ' ' || !i || v.p[i - 1] != ' ')
			buf_byte(b, (uint8_t)v.p[i]);
}

static void add_header(struct buf *b, const struct http_request *r, struct slice name)
{
	bool first = true;

	buf_put(b, name);
	buf_byte(b, ':');
	for (size_t i = 0; i < r->header_count; i++) {
		if (!slice_equal(r->headers[i].name, name))
			continue;
		if (!first)
			buf_byte(b, ',');
		first = false;
		add_value(b, r->headers[i].value);
	}
	buf_byte(b, '\n');
}

static void add_signed_headers(struct buf *b, const struct http_request *r, struct slice list)
{
	size_t start = 0;

	for (size_t i = 0; i <= list.n; i++) {
		if (i < list.n && list.p[i] != ';')
			continue;
		if (i > start)
			add_header(b, r, slice_make(list.p + start, i - start));
		start = i + 1;
	}
}

struct slice sigv4_canonical_request(const struct http_request *r, const struct sigv4 *s)
{
	uint8_t hash[SIGV4_HASH];
	struct buf b;

	buf_init(&b, r->arena);
	buf_str(&b, http_method_str(r->method));
	buf_byte(&b, '\n');
	add_path(&b, r->path);
	buf_byte(&b, '\n');
	add_query(&b, r, s->presigned);
	buf_byte(&b, '\n');
	add_signed_headers(&b, r, s->signed_headers);
	buf_byte(&b, '\n');
	buf_put(&b, s->signed_headers);
	buf_byte(&b, '\n');
	if (EVP_Digest(r->body.p ? r->body.p : "", r->body.n, hash, NULL, EVP_sha256(), NULL) != 1)
		arena_out_of_memory(r->arena);
	buf_hex(&b, slice_make(hash, sizeof(hash)));
	return buf_slice(&b);
}
