/* POST by fetch/fetch.h. A request may go out twice: receivers recognise repetitions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/send_http.h"
#include "base/alloc.h"
#include "fetch/fetch.h"
#include "fetch/limits.h"

struct send_http {
	struct fetch *fetch;
	char url[];
};

struct send_http *send_http_new(const char *url, const atomic_bool *stop)
{
	size_t n = strlen(url) + 1;
	struct send_http *h = mem_zalloc(sizeof(*h) + n);

	if (!h)
		return NULL;
	memcpy(h->url, url, n);
	h->fetch = fetch_new(&(struct fetch_options){ .stop = stop, .repeats = true });
	if (h->fetch)
		return h;
	send_http_free(h);
	return NULL;
}

void send_http_free(struct send_http *h)
{
	if (!h)
		return;
	fetch_free(h->fetch);
	mem_free(h);
}

static void read_reply(struct arena *a, const struct fetch_reply *f, struct send_reply *reply)
{
	if (f->end != FETCH_ANSWERED) {
		reply->why = arena_printf(a, "the receiver did not answer: %s", f->why);
		return;
	}
	reply->status = f->status;
	reply->body = arena_copy(a, slice_make(f->body, f->n));
	reply->retry_after = f->retry_after_s < SEND_RETRY_AFTER_MOST ? f->retry_after_s : SEND_RETRY_AFTER_MOST;
	if (f->status < 200 || f->status > 299)
		reply->why = arena_printf(a, "the receiver answered %d", f->status);
}

void send_http_post(struct send_http *h, struct arena *a, const struct send_request *q, struct send_reply *reply)
{
	const char **headers = arena_array(a, const char *, q->header_count + 1);
	struct fetch_request f = { .method = "POST",
				   .url = h->url,
				   .headers = headers,
				   .body = q->body,
				   .connect_ms = FETCH_HOOK_MS,
				   .total_ms = FETCH_HOOK_MS,
				   .most = q->most,
				   .cut = true,
				   .grace_ms = FETCH_HOOK_GRACE_MS };
	struct fetch_reply *got = arena_new(a, struct fetch_reply);

	*reply = (struct send_reply){ 0 };
	for (size_t i = 0; i < q->header_count; i++)
		headers[i] = arena_cstr(a, q->headers[i]);
	fetch_send(h->fetch, &f, got);
	arena_defer(a, mem_free, got->body);
	if (got->end == FETCH_NO_MEMORY)
		arena_out_of_memory(a);
	read_reply(a, got, reply);
}
