/* Requests to the database, in terms of a design: builds them (request/request.h), executes them, records the trace.
 * Keys are Ms of the key attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_DYN_H
#define THORPE_APP_DB_DYN_H

#include "app/run/run.h"
#include "expr/build.h"

/* An item's table key attributes (names in run->design->key). */
struct value dyn_key_of(struct run *r, struct value item);
/* Those and the index's, for ExclusiveStartKey; index empty: only the table's. */
struct value dyn_start_key_of(struct run *r, struct slice index, struct value item);

/* For the functions below: an empty name is the design's table. Other tables have the key PK and SK. */
struct slice dyn_table(const struct run *r, struct slice table);

/* GetItem. *item absent: no such item. */
bool dyn_get(struct run *r, struct value key, bool consistent, struct value *item) MUST_CHECK;
bool dyn_get_from(struct run *r, struct slice table, struct value key, bool consistent, struct value *item) MUST_CHECK;

/* on one attribute of the key */
struct dyn_condition {
	struct slice attribute;
	enum where_op op;
	struct value value, upper; /* upper: WHERE_BETWEEN */
};
struct dyn_query {
	struct slice table; /* empty: the design's */
	struct slice index; /* empty: the table */
	const struct dyn_condition *where;
	size_t where_count;
	const struct test *filter;   /* NULL: none */
	const struct slice *without; /* projected away */
	size_t without_count;
	const struct slice *all; /* with `without`: all attribute names an item may have */
	size_t all_count;
	bool descending, consistent, count_only;
	int64_t limit;      /* 0: as much as fits in a page of 1 MB */
	struct value start; /* absent: from the beginning */
};
struct dyn_page {
	struct value *items;
	size_t count;      /* of items; with count_only how many matched */
	struct value last; /* LastEvaluatedKey; absent: the end */
};
/* BETWEEN bounds in the wrong order match nothing; begins_with an empty value matches everything. DynamoDB would
 * refuse both. */
bool dyn_query(struct run *r, const struct dyn_query *q, struct dyn_page *page) MUST_CHECK;

/* BatchGetItem of any number of keys; retries unprocessed ones. items[i] is the item of keys[i], or absent. Requests
 * equal keys once, absent ones not at all. */
bool dyn_batch_get(struct run *r, const struct value *keys, size_t n, bool consistent, struct value *items) MUST_CHECK;
bool dyn_batch_get_from(struct run *r, struct slice table, const struct value *keys, size_t n, bool consistent,
			struct value *items) MUST_CHECK;

/* ---- writes ---- */
enum dyn_write_kind {
	DYN_PUT = WRITE_PUT,
	DYN_UPDATE = WRITE_UPDATE,
	DYN_DELETE = WRITE_DELETE,
	DYN_CHECK = WRITE_CHECK
};

/* one action; at most one for an item */
struct dyn_write {
	enum dyn_write_kind kind;
	struct slice table;             /* empty: the design's. Another one's key is PK and SK */
	struct value key;               /* of every kind except PUT, whose item contains it */
	struct value item;              /* PUT */
	const struct value_member *set; /* UPDATE: SET name = value; an absent value: REMOVE name */
	size_t set_count;
	const struct slice *remove; /* UPDATE: REMOVE */
	size_t remove_count;
	const struct value_member *add; /* UPDATE: ADD name number */
	size_t add_count;
	/* The condition is all of these joined by AND: */
	bool must_exist, must_not_exist;
	struct slice or_expired;          /* with must_not_exist: the ttl attribute; an expired item counts as none */
	const struct value_member *equal; /* name = value; an absent value: attribute_not_exists(name) */
	size_t equal_count;
	const struct test *also; /* NULL, or a further condition */
};

/* Conditions: `ttl <= now`, and its opposite, which also holds where the attribute is absent or no number. */
const struct test *dyn_expired(struct run *r, struct slice ttl);
const struct test *dyn_not_expired(struct run *r, struct slice ttl);

enum dyn_outcome {
	DYN_DONE,
	DYN_REFUSED,  /* conditions failed: refusals[] say which */
	DYN_CONFLICT, /* another transaction was in progress: try again */
	DYN_MISMATCH, /* the token was used for something else */
	DYN_FAILED,   /* run->problem is set */
};
/* of one action */
struct dyn_refusal {
	bool failed;       /* its condition did not hold */
	struct value item; /* the existing item; absent: none */
};
/* A single action without a token becomes PutItem, UpdateItem or DeleteItem; all else one TransactWriteItems with
 * ReturnValuesOnConditionCheckFailure. `token`: ClientRequestToken (1..36 characters), or empty. `refusals` has room
 * for n. */
enum dyn_outcome dyn_write(struct run *r, const struct dyn_write *w, size_t n, struct slice token,
			   struct dyn_refusal *refusals) MUST_CHECK;
/* The same with the run's riders (below), without waiting: several may be under way, and are executed in the order
 * they were started. NULL: not possible this way; nothing was written. dyn_write_end() must follow; until then the
 * run's arena belongs to the database. */
struct dyn_started;
struct dyn_started *dyn_write_start(struct run *r, const struct dyn_write *w, size_t n) MUST_CHECK;
/* True: done. False: nothing was written, and dyn_write() will say why. */
bool dyn_write_end(struct dyn_started *s) MUST_CHECK;
/* The most actions of one transaction. */
#define DYN_MOST_ACTIONS 100
/* Riders: while run->riders is set, the next dyn_write() is a transaction that includes them, and DYN_DONE clears
 * them: a processor's writes and its new position are one commit. If a rider's own condition fails, the outcome is
 * DYN_FAILED with PROBLEM_CONFLICT and run->rider_lost. */

/* ---- anything else ---- */
/* Executes a request unchanged. True: the reply is a 200. Sets no problem (run_reply_error()). */
bool dyn_execute(struct run *r, const struct request *q, struct reply *reply) MUST_CHECK;
/* Calls an operation that struct request does not cover, with its document: on tables and streams, and scans. Result
 * as above (run_backend_error()). */
bool dyn_call(struct run *r, const char *operation, struct slice body, struct backend_reply *reply) MUST_CHECK;

#endif
