/* Takes a request from complete to answered: dispatch, work, reply.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/log.h"
#include "http/connection/admit.h"
#include "http/connection/audit_http.h"
#include "http/parse/coding.h"
#include "http/connection/connection.h"
#include "http/connection/exchange.h"
#include "http/loop.h"
#include "http/connection/reply.h"
#include "http/connection/route.h"
#include "http/connection/sse.h"
#include "http/workers.h"

#define OUT_OF_MEMORY                                                           \
	"{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\"," \
	"\"message\":\"The server is out of memory.\"}"
#define COUNTED_BYTES 4096 /* a request with a longer body draws on the budget, even if it arrived in one piece */
_Static_assert(sizeof(OUT_OF_MEMORY) - 1 == 106, "as its Content-Length says");

_Static_assert(LOG_REQUEST_ID == REQUEST_ID_LENGTH, "logs have the ids of requests");

const char *exchange_id(struct exchange *ex)
{
	if (!ex->id[0])
		request_id_next(&ex->loop->ids, ex->id);
	return ex->id;
}

static void ready(struct exchange *ex)
{
	ex->state = EXCHANGE_READY;
	if (ex->conn)
		conn_add_weight(ex->conn, ex, ex->body.n);
	loop_count_reply(ex->loop, ex->body.n + ex->head.n);
}

void exchange_drop_stream(struct exchange *ex)
{
	struct sse *s = ex->stream;

	ex->stream = NULL;
	if (s)
		s->ops->drop(s);
}

/* A constant reply, for when there is no memory even for a head, or other requests use the whole budget. */
static void ready_without_memory(struct exchange *ex)
{
	const char *why;
	int status = admit_refusal(ex, &why);

	exchange_drop_stream(ex);
	ex->arena.strict = false;
	if (status) {
		ex->arena.refusal = 0; /* in case malloc fails later */
		exchange_refuse(ex, status, why);
		return;
	}
	ex->head = SLICE("HTTP/1.1 500 Internal Server Error\r\n"
			 "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 106\r\n"
			 "Connection: close\r\n\r\n");
	ex->body = SLICE(OUT_OF_MEMORY);
	ex->last = true;
	loop_count_status(ex->loop, 500);
	log_error("out of memory while answering a request");
	ready(ex);
}

void exchange_reply_with(struct exchange *ex, int status, struct slice type, struct slice body, struct slice headers)
{
	reply_make(ex, status, type, body, headers);
	ready(ex);
}

void exchange_reply(struct exchange *ex, int status, struct slice type, struct slice body)
{
	exchange_reply_with(ex, status, type, body, (struct slice){ 0 });
}

void exchange_deny(struct exchange *ex, int status, const char *why, struct slice headers)
{
	reply_denial(ex, status, why, headers);
	ready(ex);
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
		.outside = true,
		.done = api_done,
		.ctx = ex,
	};
	ex->by = BY_API;
}

bool exchange_work(struct exchange *ex, void (*run)(struct exchange_work *w, struct arena *a, void *local), void *ctx)
{
	if (!workers_reserve(ex->loop->workers))
		return false;
	ex->work = (struct exchange_work){ .run = run, .ctx = ctx };
	ex->by = BY_WORKER;
	return true;
}

bool exchange_stream(struct exchange *ex, struct sse *s,
		     void (*run)(struct exchange_work *w, struct arena *a, void *local), void *ctx)
{
	if (!exchange_work(ex, run, ctx))
		return false;
	ex->stream = s;
	return true;
}

/* W3: on success the other pool owns it. */
static bool hand_over(struct exchange *ex)
{
	struct exchange_work *w = &ex->work;

	if (!w->hashes || w->may_hash || !w->status)
		return false;
	w->may_hash = true;
	return workers_hand_over(ex->loop->hashers, ex);
}

void exchange_run_work(struct exchange *ex, void *local)
{
	log_set_request(ex->id);
	ARENA_TRY(&ex->arena, { ex->work.run(&ex->work, &ex->arena, local); }, { ex->work.status = 0; });
	log_set_request(NULL);
	if (!hand_over(ex))
		loop_complete(ex->loop, ex);
}

void exchange_delay(struct exchange *ex, int64_t ms)
{
	ex->delay_ms = ms > 0 ? (uint64_t)ms : 0;
}

/* A write of the only client may be written by the loop's own thread. */
static void call_api(struct exchange *ex)
{
	struct loop *l = ex->loop;
	uint64_t before;

	ex->call.may_wait = loop_may_wait_for(l, ex->conn);
	if (!ex->call.may_wait) {
		api_start(l->api, l->api_thread, &ex->call); /* may hand the exchange to another thread */
		return;
	}
	before = uv_hrtime();
	api_start(l->api, l->api_thread, &ex->call);
	if (ex->answered_inline && ex->call.has_waited)
		loop_has_waited(l, (uv_hrtime() - before) / 1000);
}

/* Outside of ARENA_TRY: from here on the arena may be another thread's. */
void exchange_begin(struct exchange *ex)
{
	assert(ex->state == EXCHANGE_RUNNING);
	if (ex->held) {
		exchange_finish(ex);
		return;
	}
	if (ex->by == BY_WORKER) {
		workers_submit(ex->loop->workers, ex);
		return;
	}
	log_set_request(ex->id);
	call_api(ex);
	log_set_request(NULL);
	if (ex->answered_inline)
		exchange_finish(ex);
}

void exchange_start(struct exchange *ex)
{
	assert(ex->state == EXCHANGE_READING);
	ex->by = BY_HANDLER;
	ex->answered_inline = ex->packed = ex->shared = ex->held = ex->hangs_up = false;
	ex->client = 0;
	ex->delay_ms = 0;
	ex->arena.maps = false; /* the body is complete: later allocations are short-lived */
	log_set_request(exchange_id(ex));
	if (ex->req.body.n > COUNTED_BYTES && !admit_memory(ex)) {
		ready_without_memory(ex);
		log_set_request(NULL);
		return;
	}
	ARENA_TRY(&ex->arena, { route_dispatch(ex); }, {
		if (ex->by == BY_WORKER)
			workers_unreserve(ex->loop->workers);
		ready_without_memory(ex);
		log_set_request(NULL);
		return;
	});
	log_set_request(NULL);
	assert((ex->by == BY_HANDLER) == (ex->state == EXCHANGE_READY));
	if (ex->state == EXCHANGE_READY)
		return;
	ex->state = EXCHANGE_RUNNING;
	ex->loop->running++;
	if (ex->delay_ms)
		loop_delay(ex->loop, ex);
	else
		exchange_begin(ex);
}

static void reply_of_api(struct exchange *ex)
{
	api_finish(&ex->call);
	audit_api_call(ex);
	if (ex->call.fault && api_fault_hangs_up(&ex->call)) {
		ex->hangs_up = ex->last = true;
		ex->head = ex->body = (struct slice){ 0 };
		ready(ex);
		return;
	}
	exchange_reply(ex, ex->call.status, ex->content_type, ex->call.reply);
}

static void begin_stream(struct exchange *ex)
{
	const struct exchange_work *w = &ex->work;

	if (!ex->stream->ops->begin(ex->stream))
		sse_end(ex->stream);
	reply_make_stream(ex, w->type, w->body, w->headers);
	ready(ex);
}

static void reply_of_worker(struct exchange *ex)
{
	const struct exchange_work *w = &ex->work;

	if (!w->streams || !w->status)
		exchange_drop_stream(ex);
	if (ex->stream)
		begin_stream(ex);
	else if (w->status)
		exchange_reply_with(ex, w->status, w->type, w->body, w->headers);
	else
		ready_without_memory(ex);
}

/* An injected fault delays the reply. */
static bool is_held_back(struct exchange *ex)
{
	if (ex->by == BY_WORKER || !ex->call.fault || ex->held || !api_fault_hold_ms(&ex->call))
		return false;
	ex->held = true;
	ex->delay_ms = (uint64_t)api_fault_hold_ms(&ex->call);
	loop_delay(ex->loop, ex);
	return true;
}

void exchange_finish(struct exchange *ex)
{
	assert(ex->state == EXCHANGE_RUNNING);
	if (is_held_back(ex))
		return;
	ex->loop->running--;
	log_set_request(ex->id);
	ARENA_TRY(&ex->arena, {
		if (ex->by == BY_WORKER)
			reply_of_worker(ex);
		else
			reply_of_api(ex);
	}, { ready_without_memory(ex); });
	log_set_request(NULL);
}

static enum gunzip_result unpack(struct exchange *ex, enum coding coding, struct slice *body)
{
	enum gunzip_result r;
	size_t most;

	*body = ex->req.body;
	if (coding == CODING_NONE)
		return GUNZIP_OK;
	if (!admit_memory(ex))
		arena_out_of_memory(&ex->arena);
	most = route_body_limit(ex);
	ex->arena.strict = true;
	r = (coding == CODING_GZIP ? gunzip : inflate_zlib)(&ex->loop->gzip, &ex->arena, ex->req.body, most, body);
	ex->arena.strict = false;
	return r;
}

enum body_result exchange_body(struct exchange *ex, struct slice *body)
{
	enum coding coding;

	if (!coding_parse(request_header(&ex->req, SLICE("content-encoding")), &coding))
		return BODY_UNKNOWN_CODING;
	switch (unpack(ex, coding, body)) {
	case GUNZIP_OK: return BODY_OK;
	case GUNZIP_TOO_LARGE: return BODY_TOO_LARGE;
	case GUNZIP_BAD: break;
	}
	return BODY_BAD;
}

struct slice exchange_client(struct exchange *ex)
{
	struct sockaddr_storage sa;
	int n = sizeof(sa);
	struct ip ip;
	char *text;

	ex->client = 0;
	if (!ex->conn || uv_tcp_getpeername(&ex->conn->tcp, (struct sockaddr *)&sa, &n) < 0 || !ip_of_peer(&sa, &ip))
		return (struct slice){ 0 };
	ip = proxies_client(ex->loop->proxies, &ip, &ex->req);
	ex->client = ip_client(&ip);
	text = arena_alloc(&ex->arena, IP_TEXT);
	return slice_make(text, ip_format(&ip, text));
}

void exchange_refuse(struct exchange *ex, int status, const char *why)
{
	ex->last = true;
	ex->continue_due = ex->has_no_origin = ex->arena.strict = false;
	ARENA_TRY(&ex->arena, { reply_refusal(ex, status, why); }, {
		ready_without_memory(ex);
		return;
	});
	ready(ex);
}
