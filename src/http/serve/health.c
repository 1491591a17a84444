/* Answers /healthz and /readyz.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/health.h"

#include "http/loop.h"
#include "http/server.h"

#define TEXT SLICE("text/plain; charset=utf-8")

static void reply(struct exchange *ex, const char *trouble)
{
	if (trouble)
		exchange_reply_with(ex, 503, TEXT, arena_printf(&ex->arena, "%s\n", trouble),
				    SLICE("Retry-After: 5\r\n"));
	else
		exchange_reply(ex, 200, TEXT, SLICE("ok\n"));
}

void health_handle_live(struct exchange *ex, void *ctx)
{
	(void)ctx;
	reply(ex, api_health(ex->loop->api).not_alive);
}

void health_handle_ready(struct exchange *ex, void *ctx)
{
	const struct http_ready *ready = ex->loop->ready;
	const char *trouble = api_health(ex->loop->api).not_ready;

	(void)ctx;
	if (!trouble && ready && ready->why)
		trouble = ready->why(ready->ctx);
	reply(ex, ex->loop->draining ? "stopping" : trouble);
}
