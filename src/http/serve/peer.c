/* Requests of other servers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/serve/peer.h"
#include "http/connection/exchange.h"
#include "http/loop.h"

#define TYPE SLICE("application/octet-stream")

struct peer_job {
	struct relay *relay;
	struct slice body;
};

/* Tells a stranger nothing. */
static void refuse_stranger(struct exchange *ex)
{
	exchange_reply(ex, 403, TYPE, SLICE(""));
}

static void run_ask(struct exchange_work *w, struct arena *a, void *local)
{
	const struct peer_job *job = w->ctx;

	(void)local;
	w->status = relay_answer(job->relay, a, job->body, &w->body);
	w->type = TYPE;
	w->headers = SLICE("Cache-Control: no-store\r\n");
}

static struct relay *find_relay(const struct peer_http *p, struct slice path)
{
	size_t before = sizeof(RELAY_PATH); /* with the '/' */
	struct slice name = path.n > before ? slice_make(path.p + before, path.n - before) : SLICE("");

	for (size_t i = 0; i < p->count; i++)
		if (p->relays[i] && slice_equal(relay_design(p->relays[i])->name, name))
			return p->relays[i];
	return NULL;
}

static void handle(struct exchange *ex, void *ctx)
{
	struct relay *relay = find_relay(ctx, ex->req.path);
	struct peer_job *job;

	if (!relay || ex->req.body.n > RELAY_BODY_BYTES) {
		refuse_stranger(ex);
		return;
	}
	job = arena_new(&ex->arena, struct peer_job);
	*job = (struct peer_job){ relay, ex->req.body };
	if (!exchange_work(ex, run_ask, job))
		exchange_reply(ex, 503, TYPE, SLICE(""));
}

static uint64_t body_limit(const struct exchange *ex, void *ctx)
{
	(void)ex, (void)ctx;
	return RELAY_BODY_BYTES;
}

struct http_route peer_route(struct peer_http *p)
{
	return (struct http_route){ .method = HTTP_POST,
				    .path = RELAY_PATH,
				    .flags = ROUTE_PREFIX | ROUTE_PEER,
				    .handle = handle,
				    .ctx = p,
				    .body_limit = body_limit };
}
