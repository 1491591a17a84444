/* Serves the files of apps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/apps.h"

#include "http/connection/connection.h"
#include "http/serve/web_file.h"
#include "wire/percent.h"

#define GUARDS                                                                                \
	"Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; "     \
	"img-src 'self' data: https: %s; media-src 'self' https: %s; connect-src 'self' %s; " \
	"object-src 'none'; base-uri 'none'; "                                                \
	"form-action 'self'; frame-ancestors 'none'\r\n"                                      \
	"X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
#define NO_STORE "Cache-Control: no-store\r\n"

static struct slice guards(struct exchange *ex, const struct apps_http *a)
{
	const char *to = a->uploads ? a->uploads : "";

	return arena_printf(&ex->arena, GUARDS, to, to, to);
}

static void not_found(struct exchange *ex, const struct apps_http *a)
{
	exchange_reply_with(ex, 404, SLICE("application/json"), SLICE("{\"message\":\"There is nothing here.\"}"),
			    arena_printf(&ex->arena, "%.*s" NO_STORE, SLICE_ARG(guards(ex, a))));
}

/* So that relative addresses in the page lead below the app. */
static void redirect_to(struct exchange *ex, const struct apps_http *a, const struct app_site *site)
{
	exchange_reply_with(ex, 302, SLICE("text/plain; charset=utf-8"), SLICE("This way.\n"),
			    arena_printf(&ex->arena, "%.*s" NO_STORE "Location: %.*s/\r\n", SLICE_ARG(guards(ex, a)),
					 SLICE_ARG(site->name)));
}

static const struct app_site *find_site(const struct apps_http *a, struct slice name)
{
	for (size_t i = 0; i < a->count; i++)
		if (slice_equal(a->sites[i].name, name))
			return &a->sites[i];
	return NULL;
}

static void handle(struct exchange *ex, void *ctx)
{
	size_t base = sizeof(APPS_BASE "/") - 1;
	struct slice rest = slice_make(ex->req.path.p + base, ex->req.path.n - base);
	const char *slash = memchr(rest.p, '/', rest.n);
	size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
	const struct app_site *site = find_site(ctx, slice_make(rest.p, n));
	const struct web_file *f = NULL;

	if (site && !slash) {
		redirect_to(ex, ctx, site);
		return;
	}
	if (site)
		f = app_file(&site->files, &ex->arena,
			     percent_decode(&ex->arena, slice_make(slash + 1, rest.n - n - 1)));
	if (f)
		web_file_reply(ex, f, guards(ex, ctx));
	else
		not_found(ex, ctx);
}

struct http_route apps_route(struct apps_http *a)
{
	return (struct http_route){ HTTP_GET, APPS_BASE "/", ROUTE_PRIVATE | ROUTE_PREFIX | ROUTE_VISITABLE, handle, a };
}
