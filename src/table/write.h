/* Writes of items: one at a time, in batches, in transactions.
 *
 * The receiving thread fills in a request and passes it to the writer with db_submit(). The writer owns it, with
 * its arena, until it calls done(). done() runs on the writer thread, or within db_submit() (may_wait), and must be
 * quick (hand over to the owner's loop). There is exactly one done() per submit.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_WRITE_H
#define THORPE_TABLE_WRITE_H

#include "request/request.h"
#include "table/capacity.h"
#include "table/db.h"

struct write_action {
	/* in */
	enum write_kind kind;
	/* From the request's catalog. The writer replaces it with the current definition, by id (held by the request's
	 * arena): capacity's positions are those of this table's indexes. */
	const struct table *table;
	struct item_key key;
	struct value key_item;             /* UPDATE, DELETE, CHECK: the key attributes as an M */
	struct value item;                 /* PUT: the whole item, checked against the schema */
	const struct condition *condition; /* or NULL */
	const struct update *update;       /* UPDATE; NULL: only makes sure the item exists */
	bool by_ttl;                       /* deleted by the service: userIdentity on the record */
	/* by_ttl: deletes the item only if its current expiry is <= this (seconds since 1970); otherwise the action
	 * succeeds without any effect, and old_item is absent. */
	int64_t ttl_deadline;
	bool return_old_on_failure; /* old_item is set even if the condition fails */
	/* out; values are in the request's arena */
	struct error error;              /* ERR_NONE, or why this action failed */
	struct value old_item, new_item; /* absent: no such item */
	struct capacity capacity;
	int64_t collection_bytes; /* of the item collection after it; tables with LSIs */
};

enum request_mode {
	REQUEST_EACH,    /* independent actions: a failure does not affect the others */
	REQUEST_ALL,     /* a transaction: all or none */
	REQUEST_CONTROL, /* control.h */
};

struct control;

struct write_request {
	struct write_request *next; /* the writer's */
	struct arena *arena;
	/* The submitting thread may block: if no other thread writes or waits, it acts as the writer for this one
	 * request, which saves two thread switches. */
	bool may_wait;
	enum request_mode mode;
	struct write_action *actions;
	size_t action_count;
	struct control *control;
	/* Transactions: ClientRequestToken, empty for none, and a digest of the request. */
	struct slice token;
	uint8_t token_digest[32];
	/* out */
	struct error error; /* the whole request failed: store, memory, IDEMPOTENT_MISMATCH, or, in
			     * a transaction, TRANSACTION_CANCELED: see each action's error */
	bool replayed;      /* the token was seen before with the same digest: nothing was written */
	void (*done)(struct write_request *r);
	void *ctx;
};

/* True: this thread did the write, and done() has been called. The database must stay open until it returns. */
bool db_submit(struct db *db, struct write_request *r);
/* Submits and waits (may_wait). For tests, background work and the embedded library. */
void db_submit_wait(struct db *db, struct write_request *r);

#endif
