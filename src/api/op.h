/* Inside api/: the table of operations and what a handler works with.
 *
 * One operation, one row (ops.c). The dispatcher (api.c) finds the row, parses the body, checks it
 * against the row's shape (shape.h: types, required members, lengths, patterns), calls the handler,
 * submits the write if there is one, and makes the reply. A handler holds only the meaning.
 *
 * A read handler writes the reply's members into s->out and returns true.
 * A write handler checks what can be checked, fills s->write and s->written, and returns true; after
 * the commit, back on the caller's thread, s->written(s, e) makes the reply (or turns the outcome into
 * an error by returning false).
 * Returning false with *e filled refuses the call.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_H
#define THORPE_API_OP_H

#include "api/api.h"
#include "api/shape/shape.h"
#include "expr/expr.h"
#include "fault/fault.h"
#include "table/control/control.h"
#include "table/read.h"
#include "table/write.h"

struct op_state {
	struct arena *arena;
	struct api *api;
	struct db *db;
	struct expr_cache *cache; /* only during the handler, not in written() */
	const struct catalog *catalog;
	const struct json *in; /* the request, checked against the shape */
	struct buf out;        /* the whole reply document, braces included */
	struct slice body;     /* the raw text, for digests */
	bool submit;           /* set by the handler: hand `write` to the writer */
	struct write_request write;
	bool (*written)(struct op_state *s, struct error *e);
	struct reply_reason *reasons; /* action_prepare() */
	void *data;                   /* the handler's, for written() */
	struct api_call *call;
	bool outside;                   /* from another process: struct api_call */
	const struct fault_plan *fault; /* faults drawn for it; NULL: none */
};

typedef bool (*op_handler)(struct op_state *s, struct error *e);

struct op {
	struct api_operation facts; /* name and flags, public (api.h) */
	const struct shape *shape;
	op_handler handle;
};

/* NULL: unknown. */
const struct op *op_find(struct slice target);
size_t op_count(void);
const struct op *op_at(size_t i);

/* The table a request names (name or ARN), or ResourceNotFoundException with DynamoDB's text for
 * item operations ("Requested resource not found"). */
const struct table *op_table(struct op_state *s, struct slice name, struct error *e);

/* Members of `s->in`; absent gives the default. The shape has checked types. */
bool op_has(const struct json *obj, const char *name);
bool op_bool(const struct json *obj, const char *name, bool otherwise);
int64_t op_int(const struct json *obj, const char *name, int64_t otherwise);

/* ---- handlers, one per operation ---- */
#define X(name) bool op_##name(struct op_state *s, struct error *e) MUST_CHECK;
API_OPERATIONS(X)
#undef X

#endif
