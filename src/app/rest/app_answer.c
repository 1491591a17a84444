/* Answers: ETags, problems, headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"
#include "app/entity/output.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

#define BODY_HASH 16 /* hexadecimal digits */

void answer_json(struct app_exchange *x, int status, struct slice body)
{
	x->answer.status = status;
	x->answer.type = ANSWER_JSON;
	x->answer.body = body;
}

void answer_buf(struct app_exchange *x, int status, struct buf *b)
{
	buf_byte(b, '\n');
	answer_json(x, status, buf_slice(b));
}

void answer_problem(struct app_exchange *x)
{
	const struct problem *p = &x->run.problem;
	unsigned allow = x->answer.allow;
	struct buf b;

	buf_init(&b, x->run.arena);
	output_problem(p, &b);
	buf_byte(&b, '\n');
	x->answer = (struct answer){
		.status = problem_status(p->type),
		.type = ANSWER_PROBLEM,
		.body = buf_slice(&b),
		.cache = SLICE("no-store"),
		.challenge = p->type == PROBLEM_UNAUTHENTICATED,
		.retry_after = p->retry_after,
		.allow = allow,
	};
}

struct slice answer_bare(const struct answer *w)
{
	struct slice body = w->body;

	if (body.n && body.p[body.n - 1] == '\n')
		body.n--;
	return body;
}

/* ---- ETags ---- */

struct slice answer_etag(struct arena *a, struct slice validator, struct slice body)
{
	struct slice v = slice_unquoted(validator);
	char *p = arena_alloc(a, v.n + BODY_HASH + 3);
	uint64_t hash = XXH3_64bits(body.p, body.n);
	size_t n = 0;

	p[n++] = '"';
	if (v.n) {
		memcpy(p + n, v.p, v.n);
		n += v.n;
		p[n++] = '.';
	}
	for (int shift = 60; shift >= 0; shift -= 4)
		p[n++] = "0123456789abcdef"[hash >> shift & 15];
	p[n++] = '"';
	return slice_make(p, n);
}

/* The length of the hash that answer_etag() appends to a validator, at the end of [p, p + n); 0: there is none. */
static size_t body_part(const char *p, size_t n)
{
	if (n < BODY_HASH + 1 || p[n - BODY_HASH - 1] != '.')
		return 0;
	for (size_t i = n - BODY_HASH; i < n; i++)
		if (!(p[i] >= '0' && p[i] <= '9') && !(p[i] >= 'a' && p[i] <= 'f'))
			return 0;
	return BODY_HASH + 1;
}

struct slice answer_if_match(struct arena *a, struct slice header)
{
	struct buf b;

	if (!header.n || !memchr(header.p, '.', header.n))
		return header;
	buf_init(&b, a);
	for (size_t i = 0; i < header.n; i++) {
		if (header.p[i] == '"')
			b.n -= body_part(b.p, b.n);
		buf_byte(&b, (uint8_t)header.p[i]);
	}
	return buf_slice(&b);
}

/* Compares weakly, as If-None-Match requires. */
static bool is_listed(struct slice list, struct slice etag)
{
	size_t at = 0;

	while (at < list.n) {
		size_t end;

		while (at < list.n && (list.p[at] == ' ' || list.p[at] == ',' || list.p[at] == '\t'))
			at++;
		if (at < list.n && list.p[at] == '*')
			return true;
		if (at + 2 <= list.n && !memcmp(list.p + at, "W/", 2))
			at += 2;
		for (end = at; end < list.n && list.p[end] != ','; end++)
			;
		while (end > at && (list.p[end - 1] == ' ' || list.p[end - 1] == '\t'))
			end--;
		if (end > at && slice_equal(slice_make(list.p + at, end - at), etag))
			return true;
		at = end + (end == at);
	}
	return false;
}

void answer_if_changed(struct app_exchange *x)
{
	struct answer *w = &x->answer;

	if (w->status != 200 || !w->etag.n || !x->q->if_none_match.n || !is_listed(x->q->if_none_match, w->etag))
		return;
	w->status = 304;
	w->type = ANSWER_EMPTY;
	w->body = SLICE("");
}

void answer_cacheable(struct app_exchange *x)
{
	x->answer.etag = answer_etag(x->run.arena, SLICE(""), x->answer.body);
	x->answer.cache = SLICE("public, max-age=60");
	answer_if_changed(x);
}

/* ---- headers ---- */

static void put_allow(struct buf *b, unsigned allow)
{
	const char *between = "Allow: ";

	for (enum app_method m = APP_GET; m < APP_OTHER; m++) {
		bool allowed = m == APP_HEAD ? allow & 1u << APP_GET : allow & 1u << m;

		if (!allowed)
			continue;
		buf_str(b, between);
		buf_str(b, app_method_name(m));
		between = ", ";
	}
	buf_lit(b, "\r\n");
}

static void put_header(struct buf *b, const char *name, struct slice value)
{
	if (!value.n)
		return;
	buf_str(b, name);
	buf_lit(b, ": ");
	buf_put(b, value);
	buf_lit(b, "\r\n");
}

void answer_reply(struct app_exchange *x, struct app_reply *reply)
{
	const struct answer *w = &x->answer;
	struct buf b;

	if (w->ready) {
		*reply = *w->ready;
		return;
	}
	buf_init(&b, x->run.arena);
	put_header(&b, "Location", w->location);
	put_header(&b, "ETag", w->etag);
	put_header(&b, "Cache-Control", w->cache);
	if (w->vary)
		buf_lit(&b, "Vary: Authorization\r\n");
	if (w->challenge)
		buf_lit(&b, "WWW-Authenticate: Bearer\r\n");
	if (w->retry_after)
		buf_printf(&b, "Retry-After: %d\r\n", w->retry_after);
	if (w->status == 405)
		put_allow(&b, w->allow);
	if (w->replayed)
		buf_lit(&b, "Idempotency-Replayed: true\r\n");
	*reply = (struct app_reply){ .status = w->status, .body = w->body, .headers = buf_slice(&b) };
	if (w->type == ANSWER_JSON)
		reply->type = SLICE("application/json");
	else if (w->type == ANSWER_PROBLEM)
		reply->type = SLICE("application/problem+json");
}
