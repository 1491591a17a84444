/* Sends requests to the database, and records their trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"

#include "base/clock.h"
#include "request/document.h"

static void keep_trace(struct run *r, struct trace_call call)
{
	struct trace_call *c = arena_new(r->arena, struct trace_call);

	*c = call;
	if (!r->trace->last)
		r->trace->last = &r->trace->first;
	*r->trace->last = c;
	r->trace->last = &c->next;
}

static size_t items_in(const struct request *q, const struct reply *reply)
{
	switch (q->kind) {
	case REQUEST_GET: return value_present(reply->item);
	case REQUEST_BATCH_GET:
	case REQUEST_QUERY: return reply->count;
	case REQUEST_WRITE:
	case REQUEST_RECORDS: break;
	}
	return 0;
}

static void execute_traced(struct run *r, const struct request *q, struct reply *reply)
{
	struct request measured = *q;
	int64_t start = clock_monotonic_us();

	measured.measured = true;
	backend_execute(r->backend, r->arena, &measured, reply);
	keep_trace(r, (struct trace_call){
			      .operation = request_operation(q),
			      .request = request_document(r->arena, &measured),
			      .status = reply->status,
			      .error = reply->error,
			      .read_units = request_is_read(q) ? reply->units : 0,
			      .write_units = request_is_read(q) ? 0 : reply->units,
			      .items = reply->status == 200 ? items_in(q, reply) : 0,
			      .us = clock_monotonic_us() - start,
		      });
}

bool dyn_execute(struct run *r, const struct request *q, struct reply *reply)
{
	if (r->trace)
		execute_traced(r, q, reply);
	else
		backend_execute(r->backend, r->arena, q, reply);
	if (reply->status == 200)
		return true;
	run_note_unserved(r, q, reply);
	return false;
}

bool dyn_call(struct run *r, const char *operation, struct slice body, struct backend_reply *reply)
{
	int64_t start = clock_monotonic_us();

	backend_call(r->backend, r->arena, operation, body, reply);
	if (r->trace)
		keep_trace(r, (struct trace_call){ .operation = operation,
						   .request = body,
						   .status = reply->status,
						   .error = reply->error,
						   .us = clock_monotonic_us() - start });
	return reply->status == 200;
}
