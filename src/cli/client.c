/* One request by fetch/fetch.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "cli/client.h"
#include "fetch/fetch.h"

#define CONNECT_MS 5000
#define TOTAL_MS   60000

static void free_fetch(void *f)
{
	fetch_free(f);
}

bool client_send(struct arena *a, const struct client_request *q, struct client_reply *r, char *why, size_t n)
{
	const char *headers[3] = { "Content-Type: application/json" };
	struct fetch_request f = { .method = q->method,
				   .url = q->url,
				   .headers = headers,
				   .body = q->body,
				   .connect_ms = CONNECT_MS,
				   .total_ms = TOTAL_MS,
				   .most = SIZE_MAX };
	struct fetch *fetch = fetch_new(&(struct fetch_options){ 0 });
	struct fetch_reply reply;

	if (!fetch)
		arena_out_of_memory(a);
	arena_defer(a, free_fetch, fetch);
	if (q->token.n)
		headers[1] = arena_printf(a, "Authorization: Bearer %.*s%c", SLICE_ARG(q->token), 0).p;
	fetch_send(fetch, &f, &reply);
	arena_defer(a, mem_free, reply.body);
	if (reply.end == FETCH_NO_MEMORY)
		arena_out_of_memory(a);
	if (reply.no_listener)
		snprintf(why, n, "nothing answers at %s: is 'thorpe serve' running?", q->url);
	else if (reply.end != FETCH_ANSWERED)
		snprintf(why, n, "%s: %s", q->url, reply.why);
	r->status = reply.status;
	r->body = slice_make(reply.body, reply.n);
	return reply.end == FETCH_ANSWERED;
}
