/* DynamoDB's operations: a document in, a document out. Knows no HTTP connection and no event loop.
 *
 * A call goes: api_start() on the caller's thread → done() → api_finish() on the caller's thread. done() is called
 * exactly once: within api_start() for reads, for refused requests, and for a write of a thread that may wait while
 * no other thread writes; otherwise later on the writer's thread. Between api_start() and done() the call and its
 * arena belong to the api. After api_finish() `status` and `reply` are set and live as long as the arena. Memory
 * running out anywhere gives a 500 reply (InternalServerError), never a crash.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_API_H
#define THORPE_API_API_H

#include "table/db.h"

struct api;

struct faults;

struct api_options {
	struct db *db;
	struct faults *faults; /* faults for requests from outside (fault/fault.h), attached to db; NULL: none, ever */
	const char *region;    /* NULL: us-east-1 */
	const char *endpoint;  /* host:port for DescribeEndpoints; NULL: localhost:8000 */
};

struct api *api_new(const struct api_options *o); /* NULL: out of memory */
void api_free(struct api *api);
/* ListTables also lists these tables of another database. Call before the first request; the names outlive the api.
 * */
void api_list_also(struct api *api, const struct slice *names, size_t n);

/* What belongs to one calling thread: the cache of parsed expressions. */
struct api_thread;
struct api_thread *api_thread_new(struct api *api); /* NULL: out of memory */
void api_thread_free(struct api_thread *t);

struct op;
struct op_state;

struct api_call {
	/* in */
	struct arena *arena;
	struct slice target; /* X-Amz-Target: DynamoDB_20120810.PutItem, DynamoDBStreams_20120810.GetRecords */
	struct slice body;   /* valid until done() */
	bool outside;        /* from another process: sees split shards, and has faults */
	const struct fault_plan *fault; /* api_draw_faults(); NULL: none */
	bool may_wait; /* the thread may do the write itself: faster if no other is writing (table/write.h) */
	void (*done)(struct api_call *c);
	void *ctx;
	/* out, after api_finish() */
	int status;
	struct slice reply; /* JSON */
	bool has_waited;    /* the thread did the write itself (may_wait); only if done() came within api_start() */
	struct slice error_type; /* wire name of the error, for x-amzn-errortype and metrics; else empty */
	/* private */
	struct api *api;
	const struct op *op;
	struct op_state *state;
	int64_t started_us;
};

void api_start(struct api *api, struct api_thread *t, struct api_call *c);
void api_finish(struct api_call *c);
/* api_start(), waiting and api_finish(), for a thread that may wait. Sets done and ctx itself. */
void api_call_wait(struct api *api, struct api_thread *t, struct api_call *c);
/* The target of an operation by its plain name: "PutItem", "GetRecords". */
struct slice api_target(struct arena *a, const char *operation);

/* ---- injected faults ---- */

/* Whether any are set now. One load; any thread. */
bool api_has_faults(const struct api *api);
/* Draws them for a call that has target, body and arena but has not been started. Returns the delay before starting
 * it, in milliseconds. */
int64_t api_draw_faults(struct api *api, struct api_call *c);
/* After api_finish(): how long to hold the reply back; whether to close the connection instead of replying. */
int64_t api_fault_hold_ms(const struct api_call *c);
bool api_fault_hangs_up(const struct api_call *c);
/* For operators: applies a SPEC (empty: changes nothing) and returns the faults then in force, as JSON. False with a
 * sentence. Requires that api_new() was given faults: api_takes_faults(). */
bool api_takes_faults(const struct api *api);
bool api_set_faults(struct api *api, struct arena *a, struct slice spec, struct slice *out) MUST_CHECK;

/* A ready error reply in DynamoDB's form, for a transport that refuses a request by itself. */
struct slice api_error_reply(struct arena *a, const struct error *e);
/* ---- facts about operations ---- */

enum op_flags {
	OP_READ = 1,    /* answers from the caller's thread */
	OP_WRITE = 2,   /* goes through the writer */
	OP_CONTROL = 4, /* about tables, not items */
	OP_STREAMS = 8, /* target prefix DynamoDBStreams_20120810 */
};

/* From the operation's row (ops.c), the only place that states them. */
struct api_operation {
	const char *name; /* "PutItem" */
	int flags;        /* enum op_flags */
};

/* By target (X-Amz-Target) or by plain name; NULL: unknown. */
const struct api_operation *api_operation(struct slice target);
const struct api_operation *api_operation_named(const char *name);

/* Whether it changes items, and thus streams: processors must follow it. NULL: no. */
static inline bool api_changes_items(const struct api_operation *o)
{
	return o && (o->flags & (OP_WRITE | OP_CONTROL)) == OP_WRITE;
}

/* Whether it changes tables: an operator's action. NULL: no. */
static inline bool api_changes_tables(const struct api_operation *o)
{
	return o && (o->flags & (OP_WRITE | OP_CONTROL)) == (OP_WRITE | OP_CONTROL);
}

/* db_stream_latest(): if it has changed, some stream may have new records. Cheap; any thread. */
uint64_t api_stream_latest(struct api *api);
/* db_stream_aging(): the records the streams will trim soon. Any thread. */
uint64_t api_stream_aging(struct api *api);

/* The database's health, in words without paths; NULL: healthy. Cheap; any thread. */
struct api_health {
	const char *not_alive; /* only a restart or an operator helps */
	const char *not_ready; /* some requests are refused now; also set whenever not_alive is */
};
struct api_health api_health(struct api *api);

/* Appends Prometheus text: calls, errors and latency by operation; tables; the writer. */
void api_metrics(struct api *api, struct buf *out);

#endif
