/* Serves the console: its files, and its documents to operators.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "console/files.h"
#include "http/door/address.h"
#include "http/connection/audit_http.h"
#include "http/connection/connection.h"
#include "http/serve/console.h"
#include "http/loop.h"
#include "http/serve/metrics.h"
#include "http/serve/web_file.h"
#include "http/server.h"

#define API  CONSOLE_BASE "/api"
#define HTML SLICE("text/html; charset=utf-8")

/* The pages load nothing from other hosts, except files from where they are kept, and no frame may show them. */
#define GUARDS_OF(images, requests)                                                                                  \
	"Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:" images \
	"; "                                                                                                         \
	"connect-src 'self'" requests                                                                                \
	"; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"                       \
	"X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
#define GUARDS   GUARDS_OF("", "")
#define NO_STORE "Cache-Control: no-store\r\n"

static void reply_json(struct exchange *ex, int status, struct slice body, struct slice headers)
{
	exchange_reply_with(ex, status, SLICE("application/json"), body,
			    arena_printf(&ex->arena, GUARDS "%.*s", SLICE_ARG(headers)));
}

static void not_found(struct exchange *ex)
{
	reply_json(ex, 404, SLICE("{\"message\":\"There is nothing here.\"}"), SLICE(NO_STORE));
}

static void redirect(struct exchange *ex, void *ctx)
{
	(void)ctx;
	exchange_reply_with(ex, 302, HTML, SLICE("<a href=\"" CONSOLE_BASE "/\">" CONSOLE_BASE "/</a>\n"),
			    SLICE(GUARDS NO_STORE "Vary: Accept\r\nLocation: " CONSOLE_BASE "/\r\n"));
}

/* ---- files ---- */

static void handle_file(struct exchange *ex, void *ctx)
{
	const struct console_http *c = ctx;
	const char *to = c->uploads ? c->uploads : "";
	size_t base = sizeof(CONSOLE_BASE "/") - 1;
	const struct web_file *f = console_file(slice_make(ex->req.path.p + base, ex->req.path.n - base));

	if (!f) {
		not_found(ex);
		return;
	}
	web_file_reply(ex, f, arena_printf(&ex->arena, GUARDS_OF(" %s", " %s"), to, to));
}

/* ---- operators ---- */

static void forbid(struct exchange *ex, const char *why)
{
	struct error e = { .code = ERR_ACCESS_DENIED, .message = slice_str(why) };

	audit_refused_request(ex, 403, e.message);
	reply_json(ex, 403, api_error_reply(&ex->arena, &e), SLICE(NO_STORE));
}

/* The dispatcher has checked signature, Host and Origin (ROUTE_SIGNED, origin.h). */
static bool allowed_or_reply(struct exchange *ex)
{
	if (ex->loop->keys)
		return true;
	if (!request_header(&ex->req, SLICE("x-thorpe-console")).n) {
		forbid(ex, "This is for Thorpe's console, which sends the header x-thorpe-console.");
		return false;
	}
	if (!request_header(&ex->req, SLICE("host")).n) {
		forbid(ex, "This is for Thorpe's console, whose browser sends the header Host.");
		return false;
	}
	return true;
}

/* ---- documents ---- */

static bool is_plain(struct slice host)
{
	for (size_t i = 0; i < host.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]", host.p[i]) ||
		    !host.p[i])
			return false;
	return host.n > 0;
}

/* As in the browser's address bar; a proxy that terminates TLS says so in a header. */
static struct slice endpoint(struct exchange *ex)
{
	struct slice host = request_header(&ex->req, SLICE("host"));
	bool secure = ex->loop->tls ||
		      slice_equal_any_case(request_header(&ex->req, SLICE("x-forwarded-proto")), SLICE("https"));
	char own[ADDRESS_TEXT];

	if (!is_plain(host)) {
		address_format(server_address(ex->loop->server), own, sizeof(own));
		host = arena_copy(&ex->arena, slice_str(own));
	}
	return arena_printf(&ex->arena, "http%s://%.*s", secure ? "s" : "", SLICE_ARG(host));
}

static void handle_session(struct exchange *ex, void *ctx)
{
	struct console_http *c = ctx;

	if (!allowed_or_reply(ex))
		return;
	audit_console_session(ex);
	reply_json(ex, 200, console_session(c->console, &ex->arena, endpoint(ex), ex->loop->keys != NULL),
		   SLICE(NO_STORE));
}

static void handle_stats(struct exchange *ex, void *ctx)
{
	struct console_http *c = ctx;
	struct metrics_server m;

	if (!allowed_or_reply(ex))
		return;
	m = metrics_server(ex->loop->server);
	reply_json(ex, 200,
		   console_stats(c->console, &ex->arena,
				 &(struct console_server){ .uptime_ms = m.uptime_ms,
							   .memory_bytes = m.memory_bytes,
							   .connections = m.connections }),
		   SLICE(NO_STORE));
}

static void handle_design(struct exchange *ex, void *ctx)
{
	struct console_http *c = ctx;
	size_t base = sizeof(API "/designs/") - 1;
	const struct console_document *d;
	struct slice headers;
	bool missing;

	if (!allowed_or_reply(ex))
		return;
	d = console_design(c->console, slice_make(ex->req.path.p + base, ex->req.path.n - base), &missing);
	if (!d && missing) {
		not_found(ex);
		return;
	}
	if (!d) {
		reply_json(ex, 503, SLICE("{\"message\":\"The server is out of memory.\"}"), SLICE(NO_STORE));
		return;
	}
	headers = arena_printf(&ex->arena, "Cache-Control: private, no-cache\r\nETag: %.*s\r\n", SLICE_ARG(d->etag));
	if (web_file_is_known(ex, d->etag))
		reply_json(ex, 304, (struct slice){ 0 }, headers);
	else
		reply_json(ex, 200, d->body, headers);
}

static void reply_verification(struct exchange *ex, struct console_http *c, bool start)
{
	size_t base = sizeof(API "/verify/") - 1;
	struct slice body;

	if (!allowed_or_reply(ex))
		return;
	body = console_verification(c->console, &ex->arena, slice_make(ex->req.path.p + base, ex->req.path.n - base),
				    start);
	if (body.n)
		reply_json(ex, start ? 202 : 200, body, SLICE(NO_STORE));
	else
		not_found(ex);
}

static void handle_verification(struct exchange *ex, void *ctx)
{
	reply_verification(ex, ctx, false);
}

static void handle_verify(struct exchange *ex, void *ctx)
{
	reply_verification(ex, ctx, true);
}

void console_routes(struct console_http *c, struct http_route *rows)
{
	/* The first match wins. */
	const struct http_route list[CONSOLE_ROUTES] = {
		{ HTTP_GET, "/", ROUTE_PAGE | ROUTE_VISITABLE, redirect, c },
		{ HTTP_GET, CONSOLE_BASE, ROUTE_PRIVATE | ROUTE_VISITABLE | ROUTE_RESERVED, redirect, c },
		{ HTTP_GET, API "/session", ROUTE_PRIVATE | ROUTE_SIGNED, handle_session, c },
		{ HTTP_GET, API "/stats", ROUTE_PRIVATE | ROUTE_SIGNED, handle_stats, c },
		{ HTTP_GET, API "/designs/", ROUTE_PRIVATE | ROUTE_SIGNED | ROUTE_PREFIX, handle_design, c },
		{ HTTP_GET, API "/verify/", ROUTE_PRIVATE | ROUTE_SIGNED | ROUTE_PREFIX, handle_verification, c },
		{ HTTP_POST, API "/verify/", ROUTE_PRIVATE | ROUTE_SIGNED | ROUTE_PREFIX, handle_verify, c },
		{ HTTP_GET, CONSOLE_BASE "/", ROUTE_PRIVATE | ROUTE_PREFIX | ROUTE_VISITABLE | ROUTE_RESERVED,
		  handle_file, c },
	};

	memcpy(rows, list, sizeof(list));
}
