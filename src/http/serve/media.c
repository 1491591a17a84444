/* Files of designs over HTTP.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/media.h"

#include "app/file/file.h"
#include "http/connection/exchange.h"
#include "http/loop.h"
#include "http/serve/web_file.h"
#include "wire/percent.h"

/* Nothing that was uploaded runs as a page of this server, even where a browser guesses what it is. */
#define GUARDS "Content-Security-Policy: default-src 'none'; sandbox\r\nReferrer-Policy: no-referrer\r\n"

/* ---- the address ---- */
struct asked {
	struct app *app;
	struct file_pass pass;
};

/* False: nobody has signed it. */
static bool read_address(struct exchange *ex, const struct rest *r, const char *verb, struct asked *out)
{
	size_t base = sizeof(FILE_URL_BASE) - 1;
	struct slice rest, design;

	if (ex->req.path.n <= base)
		return false;
	rest = slice_make(ex->req.path.p + base, ex->req.path.n - base);
	slice_next(&rest, '/', &design);
	out->app = rest_app(r, percent_decode(&ex->arena, design));
	return out->app && file_pass_read(out->app, &ex->arena, verb, rest, ex->req.query, &out->pass) &&
	       !media_is_bucket(file_store(out->app));
}

static struct media_name name_of(const struct asked *x)
{
	return (struct media_name){ app_design(x->app)->name, x->pass.id };
}

/* ---- uploads ---- */
struct upload {
	struct body_sink sink;
	struct asked asked;
	struct media_upload *file;
};

static void drop_upload(void *p)
{
	struct upload *u = p;

	media_upload_drop(u->file);
	u->file = NULL;
}

static bool refuse(struct http_request *r, int status, const char *why)
{
	r->refused = status;
	r->why = why;
	return false;
}

static bool refuse_end(struct http_request *r, enum media_end end)
{
	switch (end) {
	case MEDIA_DONE: return true;
	case MEDIA_THERE: return refuse(r, 412, "This file has been uploaded already.");
	case MEDIA_FULL: return refuse(r, 507, "There is no room for this file.");
	case MEDIA_NONE: return refuse(r, 404, "There is no such file.");
	case MEDIA_TROUBLE: break;
	}
	return refuse(r, 503, "The file could not be stored; try again.");
}

static bool is_over(const struct upload *u)
{
	return app_now_ms(u->asked.app) / 1000 >= u->asked.pass.until_s;
}

static bool take(struct body_sink *s, struct http_request *r, const char *bytes, size_t n)
{
	struct upload *u = (struct upload *)s;

	if (is_over(u)) /* however slowly the bytes come */
		return refuse(r, 403, "The upload took too long: ask for another address.");
	if ((int64_t)n > u->asked.pass.size - media_upload_length(u->file))
		return refuse(r, 413, "The file is longer than was asked for.");
	return media_upload_write(u->file, slice_make(bytes, n)) || refuse_end(r, MEDIA_TROUBLE);
}

static bool begin_upload(struct exchange *ex, const struct rest *r)
{
	struct upload *u = arena_new(&ex->arena, struct upload);
	struct http_request *q = &ex->req;
	struct slice type = http_media_type(request_header(q, SLICE("content-type")));
	int64_t length = (int64_t)(q->body.n ? q->body.n : q->length); /* it has arrived already, or is announced */

	*u = (struct upload){ .sink = { take } };
	if (!read_address(ex, r, FILE_PUT_TYPE, &u->asked))
		return refuse(q, 403, "This address is not valid, or no longer: ask for another one.");
	if (!slice_equal_any_case(type, u->asked.pass.type) || request_header(q, SLICE("content-encoding")).n)
		return refuse(q, 415,
			      "Send the file with the Content-Type that was asked for, and no Content-Encoding.");
	if (!q->chunked && length != u->asked.pass.size)
		return refuse(q, length > u->asked.pass.size ? 413 : 400, "Send as many bytes as were asked for.");
	arena_defer(&ex->arena, drop_upload, u);
	if (!refuse_end(q,
			media_upload_begin(file_store(u->asked.app), name_of(&u->asked), u->asked.pass.size, &u->file)))
		return false;
	q->sink = &u->sink;
	return true;
}

static bool open_body(struct exchange *ex, void *ctx)
{
	return begin_upload(ex, ctx);
}

/* What is signed in the query: the address is checked before a byte of the body is read. */
static uint64_t body_limit(const struct exchange *ex, void *ctx)
{
	(void)ex, (void)ctx;
	return FILE_MOST_BYTES;
}

static struct slice problem(struct arena *a, int status, const char *type, const char *detail)
{
	return arena_printf(a, "{\"type\":\"urn:thorpe:%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}\n", type,
			    "The upload failed", status, detail);
}

static void fail_upload(struct exchange_work *w, struct arena *a, int status, const char *type, const char *detail)
{
	w->status = status;
	w->type = SLICE("application/problem+json");
	w->body = problem(a, status, type, detail);
	w->headers = SLICE("Cache-Control: no-store\r\n");
}

/* On a worker: waits for the disk. */
static void finish_upload(struct exchange_work *w, struct arena *a, void *local)
{
	struct upload *u = w->ctx;
	const struct file_pass *p = &u->asked.pass;

	(void)local;
	if (media_upload_length(u->file) != p->size) {
		fail_upload(w, a, 400, "malformed", "the file is shorter than was asked for");
		return;
	}
	if (!media_kind_fits(p->type, media_upload_head(u->file))) {
		fail_upload(w, a, 415, "media-type", "the file does not begin as files of its type do");
		return;
	}
	if (is_over(u)) {
		fail_upload(w, a, 403, "forbidden", "the upload took too long");
		return;
	}
	switch (media_upload_finish(u->file)) {
	case MEDIA_DONE:
		w->status = 200;
		w->headers = arena_printf(a, "Cache-Control: no-store\r\nETag: \"%.*s\"\r\n", SLICE_ARG(p->id));
		return;
	case MEDIA_THERE: fail_upload(w, a, 412, "changed", "this file has been uploaded already"); return;
	case MEDIA_FULL: fail_upload(w, a, 507, "too-large", "there is no room for this file"); return;
	case MEDIA_NONE:
	case MEDIA_TROUBLE: break;
	}
	fail_upload(w, a, 503, "busy", "the file could not be stored; try again");
}

static void handle_put(struct exchange *ex, void *ctx)
{
	struct http_request *q = &ex->req;

	if (!q->sink && (!begin_upload(ex, ctx) || !take(q->sink, q, q->body.p, q->body.n))) {
		exchange_deny(ex, q->refused, q->why, SLICE("Cache-Control: no-store\r\n"));
		return;
	}
	if (!exchange_work(ex, finish_upload, q->sink))
		exchange_deny(ex, 503, "Too many requests are waiting.", SLICE("Retry-After: 1\r\n"));
}

/* ---- downloads ---- */
struct range {
	size_t from, n;
};

static bool read_number(struct slice *s, uint64_t *out)
{
	size_t i = 0;

	for (*out = 0; i < s->n && i < 18 && s->p[i] >= '0' && s->p[i] <= '9'; i++)
		*out = *out * 10 + (uint64_t)(s->p[i] - '0');
	*s = slice_make(s->p + i, s->n - i);
	return i;
}

enum ranged { RANGE_ALL, RANGE_PART, RANGE_NONE };

/* bytes=0-499, bytes=500-, bytes=-500; several ranges, and what is none, give all of it (RFC 9110, 14.2). */
static enum ranged read_range(struct slice text, size_t size, struct range *out)
{
	uint64_t from, to = size ? size - 1 : 0;
	bool has_from;

	if (!slice_starts(text, SLICE("bytes=")))
		return RANGE_ALL;
	text = slice_make(text.p + 6, text.n - 6);
	has_from = read_number(&text, &from);
	if (!text.n || text.p[0] != '-')
		return RANGE_ALL;
	text = slice_make(text.p + 1, text.n - 1);
	if (!has_from) {
		uint64_t last;

		if (!read_number(&text, &last) || text.n)
			return RANGE_ALL;
		if (!last)
			return RANGE_NONE;
		from = last < size ? size - last : 0;
	} else {
		bool has_to = text.n && read_number(&text, &to);

		if (text.n || (has_to && to < from))
			return RANGE_ALL;
		if (from >= size)
			return RANGE_NONE;
		if (to >= size)
			to = size - 1;
	}
	*out = (struct range){ (size_t)from, (size_t)(to - from + 1) };
	return RANGE_PART;
}

/* A part of another version must not be joined with this one; files do not change, so it is another file. */
static enum ranged asked_range(const struct exchange *ex, struct slice etag, size_t size, struct range *out)
{
	struct slice only = request_header(&ex->req, SLICE("if-range"));
	struct slice range = request_header(&ex->req, SLICE("range"));

	if (!range.n || ex->req.method == HTTP_HEAD || (only.n && !slice_equal(only, etag)))
		return RANGE_ALL;
	return read_range(range, size, out);
}

static void send_file(struct exchange *ex, const struct asked *x, struct slice bytes)
{
	const struct file_pass *p = &x->pass;
	int64_t left_s = p->until_s - app_now_ms(x->app) / 1000;
	struct slice etag = arena_printf(&ex->arena, "\"%.*s\"", SLICE_ARG(p->id));
	struct slice headers =
		arena_printf(&ex->arena,
			     GUARDS
			     "ETag: %.*s\r\nCache-Control: private, max-age=%lld, immutable\r\nAccept-Ranges: bytes\r\n"
			     "Content-Disposition: %.*s\r\n",
			     SLICE_ARG(etag), (long long)(left_s > 0 ? left_s : 0),
			     SLICE_ARG(file_disposition(&ex->arena, p->type, p->name)));
	struct range part;

	ex->packed = ex->shared = true;
	if (web_file_is_known(ex, etag)) {
		exchange_reply_with(ex, 304, (struct slice){ 0 }, (struct slice){ 0 }, headers);
		return;
	}
	switch (asked_range(ex, etag, bytes.n, &part)) {
	case RANGE_ALL: exchange_reply_with(ex, 200, p->type, bytes, headers); return;
	case RANGE_PART:
		exchange_reply_with(ex, 206, p->type, slice_make(bytes.p + part.from, part.n),
				    arena_printf(&ex->arena, "%.*sContent-Range: bytes %zu-%zu/%zu\r\n",
						 SLICE_ARG(headers), part.from, part.from + part.n - 1, bytes.n));
		return;
	case RANGE_NONE: break;
	}
	exchange_deny(ex, 416, "The file has no such bytes.",
		      arena_printf(&ex->arena, "Content-Range: bytes */%zu\r\nCache-Control: no-store\r\n", bytes.n));
}

static void handle_get(struct exchange *ex, void *ctx)
{
	struct asked x;
	struct slice bytes;

	if (!read_address(ex, ctx, FILE_GET_TYPE, &x)) {
		exchange_deny(ex, 403, "This address is not valid, or no longer: read the item again.",
			      SLICE(GUARDS "Cache-Control: no-store\r\n"));
		return;
	}
	switch (media_read(file_store(x.app), &ex->arena, name_of(&x), &bytes)) {
	case MEDIA_DONE: send_file(ex, &x, bytes); return;
	case MEDIA_TROUBLE:
	case MEDIA_FULL:
		exchange_deny(ex, 503, "The file cannot be read; try again.", SLICE("Retry-After: 1\r\n"));
		return;
	case MEDIA_NONE:
	case MEDIA_THERE: break;
	}
	exchange_deny(ex, 404, "This file is no longer there.", SLICE(GUARDS "Cache-Control: no-store\r\n"));
}

void media_routes(struct rest *r, struct http_route out[MEDIA_ROUTES])
{
	int flags = ROUTE_PREFIX | ROUTE_PROBLEMS;

	out[0] = (struct http_route){ HTTP_GET, FILE_URL_BASE, flags | ROUTE_VISITABLE, handle_get, r };
	out[1] = (struct http_route){ HTTP_PUT, FILE_URL_BASE, flags, handle_put, r, body_limit, open_body };
}
