/* The rows of the server itself: DynamoDB's API, health, metrics, faults.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/own.h"

#include "http/connection/exchange.h"
#include "http/loop.h"
#include "http/serve/faults.h"
#include "http/serve/health.h"
#include "http/serve/metrics.h"
#include "http/server.h"

#define TEXT SLICE("text/plain; charset=utf-8")

/* The body, decompressed. False: it has replied. */
static bool unzip_or_reply(struct exchange *ex, struct slice *body)
{
	struct error e;

	switch (exchange_body(ex, body)) {
	case BODY_OK: return true;
	case BODY_UNKNOWN_CODING:
		error_set(&e, &ex->arena, ERR_SERIALIZATION, "Content-Encoding must be gzip, deflate or identity");
		exchange_reply(ex, 415, ex->content_type, api_error_reply(&ex->arena, &e));
		return false;
	case BODY_TOO_LARGE: error_set(&e, &ex->arena, ERR_TOO_LARGE, "Request body is too large."); break;
	case BODY_BAD:
		error_set(&e, &ex->arena, ERR_SERIALIZATION, "The body is not valid %.*s",
			  SLICE_ARG(request_header(&ex->req, SLICE("content-encoding"))));
		break;
	}
	exchange_reply_error(ex, &e);
	return false;
}

/* Tests that inspect an application's items send a header to be spared. The console's requests are spared too:
 * browsers mark them as same-origin, which no page can forge. */
static bool is_spared(const struct exchange *ex)
{
	return slice_is(request_header(&ex->req, SLICE("x-thorpe-fault")), "none") ||
	       slice_is(request_header(&ex->req, SLICE("sec-fetch-site")), "same-origin");
}

static void handle_dynamodb(struct exchange *ex, void *ctx)
{
	struct slice type = http_media_type(request_header(&ex->req, SLICE("content-type")));
	struct slice target = request_header(&ex->req, SLICE("x-amz-target")), body;
	int64_t delay_ms = 0;

	(void)ctx;
	if (ex->req.body.n && !slice_is(type, "application/x-amz-json-1.0") && !slice_is(type, "application/json")) {
		route_reply_not_dynamodb(ex);
		return;
	}
	if (!unzip_or_reply(ex, &body))
		return;
	if (ex->loop->forward->take && ex->loop->forward->take(ex, ex->loop->forward->ctx, target, body))
		return;
	exchange_call_api(ex, target, body);
	if (api_changes_items(api_operation(target)))
		delay_ms = loop_write_delay(ex->loop, NULL);
	if (api_has_faults(ex->loop->api) && !is_spared(ex))
		delay_ms += api_draw_faults(ex->loop->api, &ex->call);
	exchange_delay(ex, delay_ms);
}

static uint64_t dynamodb_body_limit(const struct exchange *ex, void *ctx)
{
	(void)ctx;
	return ex->loop->limits->body_bytes;
}

static void handle_healthy(struct exchange *ex, void *ctx)
{
	(void)ctx;
	/* The blank at the end is DynamoDB's. */
	exchange_reply(ex, 200, TEXT, arena_printf(&ex->arena, "healthy: dynamodb.%s.amazonaws.com ", ex->loop->region));
}

static void handle_metrics(struct exchange *ex, void *ctx)
{
	struct buf b;

	(void)ctx;
	if (!ex->loop->only && !ex->loop->keys && server_monitor_address(ex->loop->server)) {
		exchange_reply(ex, 404, TEXT, SLICE("The metrics of this server are on a separate listener.\n"));
		return;
	}
	buf_init(&b, &ex->arena);
	api_metrics(ex->loop->api, &b);
	metrics_write(ex->loop->server, &b);
	exchange_reply(ex, 200, SLICE("text/plain; version=0.0.4; charset=utf-8"), buf_slice(&b));
}

static const struct http_route own_routes[] = {
	/* method    path        flags                         handler */
	{ HTTP_POST, "/", ROUTE_SIGNED, handle_dynamodb, NULL, dynamodb_body_limit },
	{ HTTP_GET, "/", 0, handle_healthy },
	{ HTTP_GET, "/healthz", ROUTE_MONITOR | ROUTE_RESERVED, health_handle_live },
	{ HTTP_GET, "/readyz", ROUTE_MONITOR | ROUTE_RESERVED, health_handle_ready },
	{ HTTP_GET, "/metrics", ROUTE_MONITOR | ROUTE_SIGNED | ROUTE_RESERVED, handle_metrics },
	{ HTTP_GET, "/faults", ROUTE_PRIVATE | ROUTE_SIGNED, faults_handle_show },
	{ HTTP_POST, "/faults", ROUTE_PRIVATE | ROUTE_SIGNED, faults_handle_set },
	{ HTTP_DELETE, "/faults", ROUTE_PRIVATE | ROUTE_SIGNED, faults_handle_clear },
};

const struct http_route *own_rows(size_t *count)
{
	*count = sizeof(own_routes) / sizeof(own_routes[0]);
	return own_routes;
}
