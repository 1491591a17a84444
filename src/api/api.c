/* The dispatcher: finds the operation's row and enforces what it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"
#include <assert.h>
#include <stdio.h>
#include "api/internal.h"
#include "base/alloc.h"
#include "base/budget.h"
#include "base/clock.h"
#include "table/streams.h"

#define CACHED_EXPRESSIONS 1024 /* per thread */

struct api_thread {
	struct expr_cache *cache;
};

struct api *api_new(const struct api_options *o)
{
	struct api *api = mem_zalloc(sizeof(*api));

	if (!api)
		return NULL;
	api->db = o->db;
	api->faults = o->faults;
	snprintf(api->region, sizeof(api->region), "%s", o->region ? o->region : "us-east-1");
	snprintf(api->endpoint, sizeof(api->endpoint), "%s", o->endpoint ? o->endpoint : "localhost:8000");
	api->metrics = mem_zalloc(op_count() * sizeof(*api->metrics));
	if (!api->metrics) {
		mem_free(api);
		return NULL;
	}
	return api;
}

void api_free(struct api *api)
{
	if (!api)
		return;
	mem_free(api->metrics);
	mem_free(api);
}

void api_list_also(struct api *api, const struct slice *names, size_t n)
{
	api->elsewhere = names;
	api->elsewhere_count = n;
}

uint64_t api_stream_latest(struct api *api)
{
	return db_stream_latest(api->db);
}

uint64_t api_stream_aging(struct api *api)
{
	return db_stream_aging(api->db);
}

struct api_thread *api_thread_new(struct api *api)
{
	struct api_thread *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->cache = expr_cache_new(CACHED_EXPRESSIONS);
	if (!t->cache) {
		mem_free(t);
		return NULL;
	}
	return t;
}

void api_thread_free(struct api_thread *t)
{
	if (!t)
		return;
	expr_cache_free(t->cache);
	mem_free(t);
}

struct slice api_error_reply(struct arena *a, const struct error *e)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_name(&b, "__type");
	buf_printf(&b, "\"%s%s\"", err_namespace(e->code), err_wire_name(e->code));
	if (e->message.n) {
		/* Both spellings occur in DynamoDB's replies; SDKs read either. */
		bool capital = e->code == ERR_TRANSACTION_CANCELED || e->code == ERR_SERIALIZATION;

		json_member_string(&b, capital ? "Message" : "message", e->message);
	}
	if (e->members.n) {
		json_comma(&b);
		buf_put(&b, e->members);
	}
	json_close(&b, '}');
	return buf_slice(&b);
}

static void set_reply(struct api_call *c, struct slice reply)
{
	c->status = 200;
	c->reply = reply;
}

static void set_error(struct api_call *c, const struct error *e)
{
	assert(e->code != ERR_NONE);
	c->reply = api_error_reply(c->arena, e);
	c->error_type = slice_str(err_wire_name(e->code));
	c->status = err_status(e->code);
}

/* Must not allocate. */
static void set_out_of_memory(struct api_call *c)
{
	c->arena->strict = false;
	if (c->arena->refusal == BUDGET_BUSY) {
		c->reply =
			SLICE("{\"__type\":\"" ERR_NS_AWS "ServiceUnavailable\","
			      "\"message\":\"Requests in flight use all the memory available for them; try again.\"}");
		c->error_type = SLICE("ServiceUnavailable");
		c->status = 503;
		return;
	}
	if (c->arena->refusal == BUDGET_NEVER) {
		c->reply = SLICE(
			"{\"__type\":\"" ERR_NS_AWS "RequestEntityTooLargeException\","
			"\"message\":\"The request needs more memory than the limit for requests (request_memory).\"}");
		c->error_type = SLICE("RequestEntityTooLargeException");
		c->status = 413;
		return;
	}
	c->reply = SLICE("{\"__type\":\"" ERR_NS_DDB "InternalServerError\","
			 "\"message\":\"The server ran out of memory while serving this request\"}");
	c->error_type = SLICE("InternalServerError");
	c->status = 500;
}

#define INJECTED "Internal server error"

/* Must not allocate. */
static void set_injected_error(struct api_call *c)
{
	c->reply = SLICE("{\"__type\":\"" ERR_NS_DDB "InternalServerError\",\"message\":\"" INJECTED "\"}");
	c->error_type = SLICE("InternalServerError");
	c->status = 500;
}

static bool prepare(struct api *api, struct api_thread *t, struct api_call *c, struct error *e)
{
	struct op_state *s = arena_new(c->arena, struct op_state);

	c->op = op_find(c->target);
	if (!c->op)
		return error_set(e, c->arena, ERR_UNKNOWN_OPERATION, "%s", "");
	if (c->fault && c->fault->fails_before)
		return error_set(e, c->arena, ERR_INTERNAL, INJECTED);
	s->arena = c->arena;
	s->api = api;
	s->db = api->db;
	s->cache = t->cache;
	s->call = c;
	s->outside = c->outside;
	s->fault = c->fault;
	s->body = c->body;
	s->in = json_parse(c->arena, c->body);
	if (!json_is(s->in, JSON_OBJECT))
		return error_set(e, c->arena, ERR_SERIALIZATION, "%s", "");
	if (!shape_check(c->op->shape, s->in, c->arena, e))
		return false;
	s->catalog = db_catalog(api->db, c->arena);
	buf_init(&s->out, c->arena);
	s->write.arena = c->arena;
	c->state = s;
	return c->op->handle(s, e) && (!s->fault || fault_spares(s, e));
}

static void on_written(struct write_request *r)
{
	struct api_call *c = r->ctx;

	c->done(c);
}

void api_start(struct api *api, struct api_thread *t, struct api_call *c)
{
	c->api = api;
	c->op = NULL;
	c->state = NULL;
	c->status = 0;
	c->has_waited = false;
	c->reply = c->error_type = (struct slice){ "", 0 };
	c->started_us = clock_monotonic_us();

	/* The writer takes over the arena at db_submit(), so that must come after ARENA_TRY. */
	ARENA_TRY(c->arena, {
		struct error e = { 0 };

		if (!prepare(api, t, c, &e))
			set_error(c, &e);
		else if (!c->state->submit)
			set_reply(c, buf_slice(&c->state->out));
	}, {
		set_out_of_memory(c);
	});
	if (c->status) {
		c->done(c);
		return;
	}
	assert(c->op->facts.flags & OP_WRITE);
	c->state->cache = NULL;
	c->state->write.done = on_written;
	c->state->write.ctx = c;
	c->state->write.may_wait = c->may_wait;
	if (db_submit(api->db, &c->state->write))
		c->has_waited = true; /* it is ours again; otherwise it may be gone */
}

static bool finish_write(struct op_state *s, struct error *e)
{
	if (s->write.error.code != ERR_NONE && s->write.error.code != ERR_TRANSACTION_CANCELED) {
		*e = s->write.error;
		return false;
	}
	return s->written(s, e);
}

void api_finish(struct api_call *c)
{
	if (!c->status)
		ARENA_TRY(c->arena, {
			struct error e = { 0 };

			if (finish_write(c->state, &e))
				set_reply(c, buf_slice(&c->state->out));
			else
				set_error(c, &e);
		}, {
			set_out_of_memory(c);
		});
	if (c->fault && c->fault->fails_after && c->status == 200)
		set_injected_error(c);
	if (c->op) {
		size_t row = 0;

		while (op_at(row) != c->op)
			row++;
		metrics_count(c->api, row, c->status, clock_monotonic_us() - c->started_us);
	} else {
		atomic_fetch_add_explicit(&c->api->unknown_calls, 1, memory_order_relaxed);
	}
}
