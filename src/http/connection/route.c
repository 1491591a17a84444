/* Finds the row of a request and enforces its flags.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/route.h"

#include "http/connection/audit_http.h"
#include "http/connection/exchange.h"
#include "http/connection/reply.h"
#include "http/door/basic.h"
#include "http/door/sigv4.h"
#include "http/loop.h"

#define TEXT          SLICE("text/plain; charset=utf-8")
#define NO_BODY_BYTES (64 * 1024) /* limit of bodies that no handler reads */

/* ---- the row ---- */

static bool path_matches(const struct http_route *row, struct slice path)
{
	struct slice own = slice_str(row->path);

	if (slice_equal(path, own))
		return true;
	return (row->flags & ROUTE_PREFIX) && slice_starts(path, own) &&
	       (own.p[own.n - 1] == '/' || path.p[own.n] == '/');
}

static bool matches(const struct http_route *row, const struct http_request *r)
{
	return row->method == (r->method == HTTP_HEAD ? HTTP_GET : r->method) && path_matches(row, r->path) &&
	       (!(row->flags & ROUTE_PAGE) || http_list_has(request_header(r, SLICE("accept")), SLICE("text/html")));
}

/* Whether this listener has the row. */
static bool is_served(const struct http_route *row, const struct loop *l)
{
	return l->only ? row->flags & l->only : !(row->flags & ROUTE_PEER);
}

static const struct http_route *find_served(const struct http_route *rows, size_t n, const struct exchange *ex)
{
	for (size_t i = 0; i < n; i++)
		if (matches(&rows[i], &ex->req) && is_served(&rows[i], ex->loop))
			return &rows[i];
	return NULL;
}

static const struct http_route *find_row(const struct exchange *ex)
{
	const struct loop *l = ex->loop;
	const struct http_route *row = find_served(l->routes, l->route_count, ex);

	return row ? row : find_served(l->own_routes, l->own_route_count, ex);
}

uint64_t route_body_limit(const struct exchange *ex)
{
	const struct http_route *row = find_row(ex);
	uint64_t most = row && row->body_limit ? row->body_limit(ex, row->ctx) : NO_BODY_BYTES;

	return most < ex->loop->limits->body_bytes || (row && row->open_body) ? most : ex->loop->limits->body_bytes;
}

bool route_open_body(struct exchange *ex)
{
	const struct http_route *row = find_row(ex);

	return !row || !row->open_body || row->open_body(ex, row->ctx);
}

/* Whether the path, with any method, belongs to a row with this flag. */
static bool has_flag(const struct http_route *rows, size_t n, struct slice path, enum route_flags flag)
{
	for (size_t i = 0; i < n; i++)
		if ((rows[i].flags & flag) && path_matches(&rows[i], path))
			return true;
	return false;
}

bool route_tells_problems(const struct exchange *ex)
{
	return has_flag(ex->loop->routes, ex->loop->route_count, ex->req.path, ROUTE_PROBLEMS);
}

bool route_is_private(const struct exchange *ex)
{
	return has_flag(ex->loop->routes, ex->loop->route_count, ex->req.path, ROUTE_PRIVATE);
}

bool route_is_reserved(const struct loop *l, struct slice path)
{
	return has_flag(l->routes, l->route_count, path, ROUTE_RESERVED) ||
	       has_flag(l->own_routes, l->own_route_count, path, ROUTE_RESERVED);
}

/* ---- dispatch ---- */

static bool is_preflight(const struct exchange *ex)
{
	return ex->req.method == HTTP_OPTIONS && request_header(&ex->req, SLICE("origin")).p;
}

/* A page of an allowed origin may send any request; it still needs a signature or a token. */
static void reply_preflight(struct exchange *ex)
{
	struct slice headers = request_header(&ex->req, SLICE("access-control-request-headers"));
	struct buf b;

	if (route_is_private(ex)) {
		exchange_reply(ex, 403, SLICE("application/json"),
			       SLICE("{\"message\":\"This is not for pages of other origins.\"}"));
		return;
	}
	if (!origin_allowed(ex->loop->origin, &ex->req).n) {
		exchange_deny(ex, 403, origin_advice(ORIGIN_FOREIGN_PAGE), (struct slice){ 0 });
		return;
	}
	buf_init(&b, &ex->arena);
	buf_lit(&b, "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n");
	if (headers.n)
		buf_printf(&b, "Access-Control-Allow-Headers: %.*s\r\n", SLICE_ARG(headers));
	/* Browsers send it before a page from the internet may call an address of this machine or its network. */
	if (request_header(&ex->req, SLICE("access-control-request-private-network")).n)
		buf_lit(&b, "Access-Control-Allow-Private-Network: true\r\n");
	buf_lit(&b, "Access-Control-Max-Age: 7200\r\nVary: Access-Control-Request-Headers\r\n");
	exchange_reply_with(ex, 200, (struct slice){ 0 }, SLICE(""), buf_slice(&b));
}

/* Refuses other web pages before any other check (origin.h). */
static bool from_here_or_reply(struct exchange *ex, const struct http_route *row)
{
	struct origin_memo *memo = &ex->loop->origin_memo;
	enum origin_verdict v = origin_judge(ex->loop->origin, &ex->req, row && (row->flags & ROUTE_VISITABLE), memo);

	ex->has_no_origin = memo->has_no_origin;
	if (v == ORIGIN_FINE)
		return true;
	loop_count(&ex->loop->counters.foreign, 1);
	audit_refused_request(ex, 403, slice_str(origin_advice(v)));
	exchange_deny(ex, 403, origin_advice(v), (struct slice){ 0 });
	return false;
}

/* Messages quote the request, which need not be UTF-8; JSON must be. */
static void make_ascii(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			((char *)s.p)[i] = '?';
}

/* Monitoring may sign, or send a key as user and password: most monitoring systems cannot sign. */
static bool monitor_authorized_or_reply(struct exchange *ex)
{
	struct slice header = request_header(&ex->req, SLICE("authorization"));
	const char *why = "Sign this request with an access key, or send one as user and password (HTTP Basic); "
			  "or start the server with --metrics-listen.";
	struct error e;

	if (basic_is_present(header)) {
		if (!basic_is_confidential(ex->loop->tls, exchange_client(ex)))
			why = "An access key is accepted as user and password only over HTTPS, or from this machine. "
			      "This one was sent unencrypted: replace it.";
		else if (basic_verify(header, ex->loop->keys))
			return true;
		else
			why = "Unknown access key, or wrong secret.";
	} else if (sigv4_is_present(&ex->req)) {
		if (sigv4_verify(&ex->req, ex->loop->keys, slice_str(ex->loop->region), &ex->loop->sigv4,
				 clock_now_ms(ex->loop->clock), &e))
			return true;
		make_ascii(e.message);
		audit_refused_request(ex, err_status(e.code), e.message);
		exchange_reply_error(ex, &e);
		return false;
	}
	audit_refused_request(ex, 401, slice_str(why));
	exchange_reply_with(
		ex, 401, TEXT, arena_printf(&ex->arena, "%s\n", why),
		SLICE("WWW-Authenticate: Basic realm=\"thorpe\", charset=\"UTF-8\"\r\nCache-Control: no-store\r\n"));
	return false;
}

/* Without keys any signature passes, as does none; half a signature is a client's mistake. */
static bool authorized_or_reply(struct exchange *ex, const struct http_route *row)
{
	struct loop *l = ex->loop;
	struct sigv4 unused;
	struct error e;

	if (row->flags & ROUTE_MONITOR)
		return !l->keys || monitor_authorized_or_reply(ex);
	if (l->keys) {
		if (sigv4_verify(&ex->req, l->keys, slice_str(l->region), &l->sigv4, clock_now_ms(l->clock), &e))
			return true;
	} else if (!sigv4_is_present(&ex->req) || sigv4_parse(&ex->req, &unused, &e)) {
		return true;
	}
	make_ascii(e.message);
	audit_refused_request(ex, row->flags & ROUTE_PRIVATE ? 403 : err_status(e.code), e.message);
	if (row->flags & ROUTE_PRIVATE) /* tells the console what to sign for */
		exchange_reply_with(ex, 403, ex->content_type, api_error_reply(&ex->arena, &e),
				    arena_printf(&ex->arena, "x-thorpe-region: %s\r\nCache-Control: no-store\r\n",
						 l->region));
	else
		exchange_reply_error(ex, &e);
	return false;
}

void route_reply_not_dynamodb(struct exchange *ex)
{
	exchange_reply(ex, 404, (struct slice){ 0 }, SLICE("<UnknownOperationException/>\n"));
}

static void choose_content_type(struct exchange *ex)
{
	struct slice type = http_media_type(request_header(&ex->req, SLICE("content-type")));

	ex->content_type = slice_is(type, "application/x-amz-json-1.0") ? REPLY_JSON : SLICE("application/json");
}

int route_judge_head(struct exchange *ex, struct error *e)
{
	const struct http_route *row = find_row(ex);
	const struct loop *l = ex->loop;
	struct sigv4 unused;
	int status;

	choose_content_type(ex);
	/* Monitoring requests have no body and their own ways to send a key. */
	if (!row || !(row->flags & ROUTE_SIGNED) || (row->flags & ROUTE_MONITOR) || is_preflight(ex))
		return 0;
	if (l->keys ? sigv4_check_head(&ex->req, l->keys, slice_str(l->region), clock_now_ms(l->clock), e)
		    : !sigv4_is_present(&ex->req) || sigv4_parse(&ex->req, &unused, e))
		return 0;
	make_ascii(e->message);
	status = row->flags & ROUTE_PRIVATE ? 403 : err_status(e->code);
	audit_refused_request(ex, status, e->message);
	return status;
}

void route_dispatch(struct exchange *ex)
{
	const struct http_route *row = find_row(ex);

	choose_content_type(ex);
	if (!from_here_or_reply(ex, row))
		return;
	if (is_preflight(ex))
		reply_preflight(ex);
	else if (row && (row->flags & ROUTE_SIGNED) && !authorized_or_reply(ex, row))
		return;
	else if (row)
		row->handle(ex, row->ctx);
	else if (slice_is(ex->req.path, "/") && !ex->loop->only)
		route_reply_not_dynamodb(ex);
	else
		exchange_reply(ex, 404, SLICE("application/json"), SLICE("{\"message\":\"There is nothing here.\"}"));
}
