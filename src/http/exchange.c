/* Takes a request from complete to answered.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/log.h"
#include "http/connection.h"
#include "http/exchange.h"
#include "http/loop.h"
#include "http/reply.h"
#include "http/route.h"

#define OUT_OF_MEMORY                                                          \
	"{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\"," \
	"\"message\":\"The server is out of memory.\"}"
_Static_assert(sizeof(OUT_OF_MEMORY) - 1 == 106, "as its Content-Length says");

static void ready(struct exchange *ex)
{
	ex->state = EXCHANGE_READY;
	if (ex->conn)
		conn_add_weight(ex->conn, ex, ex->body.n);
	loop_count_reply(ex->loop, ex->body.n + ex->head.n);
}

/* When there is no memory even for a head: words that need none. */
static void ready_without_memory(struct exchange *ex)
{
	ex->head = SLICE("HTTP/1.1 500 Internal Server Error\r\n"
			 "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 106\r\n"
			 "Connection: close\r\n\r\n");
	ex->body = SLICE(OUT_OF_MEMORY);
	ex->last = true;
	loop_count_status(ex->loop, 500);
	log_error("out of memory while answering a request");
	ready(ex);
}

void exchange_reply_with(struct exchange *ex, int status, struct slice type, struct slice body,
			 struct slice headers)
{
	reply_make(ex, status, type, body, headers);
	ready(ex);
}

void exchange_reply(struct exchange *ex, int status, struct slice type, struct slice body)
{
	exchange_reply_with(ex, status, type, body, (struct slice){ 0 });
}

void exchange_reply_error(struct exchange *ex, const struct error *e)
{
	exchange_reply(ex, err_status(e->code), ex->content_type, api_error_reply(&ex->arena, e));
}

/* On the writer's thread, or within api_start() on ours. */
static void api_done(struct api_call *c)
{
	struct exchange *ex = c->ctx;

	if (loop_is_current(ex->loop))
		ex->answered_inline = true;
	else
		loop_complete(ex->loop, ex);
}

void exchange_call_api(struct exchange *ex, struct slice target, struct slice body)
{
	ex->call = (struct api_call){
		.arena = &ex->arena,
		.target = target,
		.body = body,
		.done = api_done,
		.ctx = ex,
	};
	ex->calls_api = true;
}

void exchange_start(struct exchange *ex)
{
	assert(ex->state == EXCHANGE_READING);
	ex->calls_api = ex->answered_inline = false;
	ARENA_TRY(&ex->arena, { route_dispatch(ex); }, {
		ready_without_memory(ex);
		return;
	});
	assert(ex->calls_api || ex->state == EXCHANGE_READY);
	if (!ex->calls_api)
		return;
	/* Outside of ARENA_TRY: from here on the arena may be another thread's. */
	ex->state = EXCHANGE_RUNNING;
	ex->loop->running++;
	api_start(ex->loop->api, ex->loop->api_thread, &ex->call);
	if (ex->answered_inline)
		exchange_finish(ex);
}

void exchange_finish(struct exchange *ex)
{
	assert(ex->state == EXCHANGE_RUNNING);
	ex->loop->running--;
	ARENA_TRY(&ex->arena, {
		api_finish(&ex->call);
		exchange_reply(ex, ex->call.status, ex->content_type, ex->call.reply);
	}, { ready_without_memory(ex); });
}

void exchange_refuse(struct exchange *ex, int status, const char *why)
{
	ex->last = true;
	ex->continue_due = false;
	ARENA_TRY(&ex->arena, { reply_refusal(ex, status, why); }, {
		ready_without_memory(ex);
		return;
	});
	ready(ex);
}
