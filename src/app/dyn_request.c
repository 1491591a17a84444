/* Documents for the database, and the trace of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_request.h"

#include "base/clock.h"
#include "base/log.h"
#include "value/codec.h"

/* Most requests fit: the buffer then never moves. */
#define BODY_ROOM 512

void dyn_request_init(struct dyn_request *q, struct run *r)
{
	*q = (struct dyn_request){ .run = r };
	buf_init(&q->body, r->arena);
	buf_init(&q->names, r->arena);
	buf_init(&q->values, r->arena);
	buf_room(&q->body, BODY_ROOM);
	buf_byte(&q->body, '{');
}

void dyn_put_other_table(struct dyn_request *q, struct slice table)
{
	buf_lit(&q->body, "\"TableName\":");
	json_string(&q->body, table);
}

void dyn_put_table(struct dyn_request *q)
{
	dyn_put_other_table(q, q->run->design->table);
}

static void put_placeholder(struct buf *b, const char *sign, uint32_t number)
{
	buf_add(b, sign, 2);
	buf_u64(b, number);
}

/* "#n0": */
static void put_member(struct buf *b, const char *sign, uint32_t number)
{
	if (b->n)
		buf_byte(b, ',');
	buf_byte(b, '"');
	put_placeholder(b, sign, number);
	buf_lit(b, "\":");
}

/* The placeholder is the end of the document. */
static void bind(struct dyn_request *q, size_t from, struct slice name, struct value v)
{
	struct slice placeholder = slice_make(q->body.p + from, q->body.n - from);

	if (q->binding_count == q->binding_room) {
		size_t room = 2 * q->binding_room;

		q->bindings = arena_grow(q->run->arena, q->bindings, q->binding_room * sizeof(*q->bindings),
					 room * sizeof(*q->bindings));
		q->binding_room = room;
	}
	q->bindings[q->binding_count++] = (struct api_binding){ arena_copy(q->run->arena, placeholder), name, v };
}

void dyn_put_name(struct dyn_request *q, struct slice name)
{
	size_t from = q->body.n;

	put_placeholder(&q->body, "#n", q->name_count);
	if (q->bindings) {
		q->name_count++;
		bind(q, from, name, VALUE_ABSENT);
		return;
	}
	put_member(&q->names, "#n", q->name_count++);
	json_string(&q->names, name);
}

void dyn_put_value(struct dyn_request *q, struct value v)
{
	size_t from = q->body.n;

	put_placeholder(&q->body, ":v", q->value_count);
	if (q->bindings) {
		q->value_count++;
		bind(q, from, SLICE(""), v);
		return;
	}
	put_member(&q->values, ":v", q->value_count++);
	value_to_json(&q->values, v);
}

static void splice(struct buf *b, const struct buf *members)
{
	if (b->n && members->n)
		buf_byte(b, ',');
	buf_put(b, buf_slice(members));
}

void dyn_put_filter(struct dyn_request *q, const struct term_filter *f)
{
	buf_put(&q->body, buf_slice(&f->text)); /* placeholders and words: nothing to escape */
	splice(&q->names, &f->names);
	splice(&q->values, &f->values);
}

void dyn_put_placeholders(struct dyn_request *q)
{
	if (q->names.n) {
		buf_lit(&q->body, ",\"ExpressionAttributeNames\":{");
		buf_put(&q->body, buf_slice(&q->names));
		buf_byte(&q->body, '}');
	}
	if (q->values.n) {
		buf_lit(&q->body, ",\"ExpressionAttributeValues\":{");
		buf_put(&q->body, buf_slice(&q->values));
		buf_byte(&q->body, '}');
	}
	q->names.n = q->values.n = 0;
	q->name_count = q->value_count = 0;
}

/* ---- sending ---- */

static double units_of(const struct json *capacity)
{
	const struct json *units = json_get(capacity, "CapacityUnits");

	if (json_is(units, JSON_INT))
		return (double)units->integer;
	return json_is(units, JSON_DOUBLE) ? units->number : 0;
}

/* One capacity, or one for each table. */
static double consumed(const struct json *body)
{
	const struct json *c = json_get(body, "ConsumedCapacity");
	double sum = 0;

	if (!json_is(c, JSON_ARRAY))
		return units_of(c);
	for (size_t i = 0; i < c->count; i++)
		sum += units_of(&c->items[i]);
	return sum;
}

static size_t items_of(const struct json *body)
{
	const struct json *count = json_get(body, "Count"), *responses = json_get(body, "Responses");
	size_t n = 0;

	if (json_is(count, JSON_INT))
		return (size_t)count->integer;
	if (!json_is(responses, JSON_OBJECT))
		return json_get(body, "Item") ? 1 : 0;
	for (size_t i = 0; i < responses->count; i++)
		if (responses->members[i].value.type == JSON_ARRAY)
			n += responses->members[i].value.count;
	return n;
}

static bool is_read(const char *operation)
{
	return !strcmp(operation, "GetItem") || !strcmp(operation, "Query") || !strcmp(operation, "BatchGetItem");
}

static void keep_trace(struct run *r, const char *operation, struct slice request, const struct backend_reply *reply,
		       int64_t us)
{
	struct trace_call *c = arena_new(r->arena, struct trace_call);
	double units = consumed(reply->body);

	*c = (struct trace_call){
		.operation = operation,
		.request = request,
		.status = reply->status,
		.error = reply->error,
		.read_units = is_read(operation) ? units : 0,
		.write_units = is_read(operation) ? 0 : units,
		.items = reply->status == 200 ? items_of(reply->body) : 0,
		.us = us,
	};
	if (!r->trace->last)
		r->trace->last = &r->trace->first;
	*r->trace->last = c;
	r->trace->last = &c->next;
}

bool dyn_send(struct dyn_request *q, const char *operation, struct backend_reply *reply)
{
	struct run *r = q->run;
	int64_t start;

	if (!r->trace) {
		buf_byte(&q->body, '}');
		backend_call(r->backend, r->arena, operation, buf_slice(&q->body), reply);
		return reply->status == 200;
	}
	buf_lit(&q->body, ",\"ReturnConsumedCapacity\":\"TOTAL\"}");
	start = clock_monotonic_us();
	backend_call(r->backend, r->arena, operation, buf_slice(&q->body), reply);
	keep_trace(r, operation, buf_slice(&q->body), reply, clock_monotonic_us() - start);
	return reply->status == 200;
}

/* ---- reading replies ---- */

bool dyn_bad_reply(struct run *r, const char *operation)
{
	log_error("%.*s: the database's reply to %s cannot be read", SLICE_ARG(r->design->name), operation);
	return run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}

bool dyn_read_item(struct run *r, const struct json *j, struct value *item)
{
	struct error e = { 0 };

	*item = VALUE_ABSENT;
	if (!j || item_from_json(r->arena, j, item, &e))
		return true;
	log_error("%.*s: an item of the database cannot be read: %.*s", SLICE_ARG(r->design->name),
		  SLICE_ARG(e.message));
	return run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}
