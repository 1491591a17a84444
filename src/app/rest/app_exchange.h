/* One request on its way through an app: the request, the caller, the route, and the answer so far.
 *
 * Handlers return false when run.problem is set; otherwise they have filled `answer`. Everything lives in run.arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_APP_EXCHANGE_H
#define THORPE_APP_REST_APP_EXCHANGE_H

#include "app/rest/routes.h"
#include "app/run/state.h"
#include "app/write/receipt.h"

enum answer_type { ANSWER_EMPTY, ANSWER_JSON, ANSWER_PROBLEM };

struct answer {
	int status;
	enum answer_type type;
	struct slice body;
	struct slice location, etag; /* header values; empty: none */
	struct slice cache;          /* Cache-Control */
	bool vary;                   /* the answer depends on Authorization */
	bool challenge;              /* WWW-Authenticate */
	bool replayed;
	unsigned allow; /* 405: bits 1 << enum app_method */
	int retry_after;
	struct app_reply *ready; /* a complete reply, made elsewhere; NULL: the members above */
};

struct app_exchange {
	struct app *app;
	const struct app_request *q;
	struct run run;
	bool caller_known; /* run.caller is set (batch) */
	bool in_batch;
	const struct json *body; /* an object: given in a batch, else parsed from q->body if the route takes a body */
	struct route_match match;
	struct slice token;            /* ClientRequestToken, derived from the Idempotency-Key; empty: none */
	const struct receipt *receipt; /* of the Idempotency-Key where servers share it; NULL: none */
	struct answer answer;
};

/* From the path to the answer, problems included (app_dispatch.c). */
void app_exchange_handle(struct app_exchange *x);

/* ---- handlers, one for each route_kind ---- */
bool handle_item(struct app_exchange *x) MUST_CHECK;
bool handle_create(struct app_exchange *x) MUST_CHECK;
bool handle_put(struct app_exchange *x) MUST_CHECK;
bool handle_patch(struct app_exchange *x) MUST_CHECK;
bool handle_put_entry(struct app_exchange *x) MUST_CHECK;
bool handle_delete_entry(struct app_exchange *x) MUST_CHECK;
bool handle_delete(struct app_exchange *x) MUST_CHECK;
bool handle_action(struct app_exchange *x) MUST_CHECK;
bool handle_access(struct app_exchange *x) MUST_CHECK;
bool handle_each(struct app_exchange *x) MUST_CHECK;
bool handle_login(struct app_exchange *x) MUST_CHECK;
bool handle_me(struct app_exchange *x) MUST_CHECK;
bool handle_batch(struct app_exchange *x) MUST_CHECK;
bool handle_call(struct app_exchange *x) MUST_CHECK;
bool handle_openapi(struct app_exchange *x) MUST_CHECK; /* openapi/openapi.c */
bool handle_index(struct app_exchange *x) MUST_CHECK;

/* Runs a handler once for an Idempotency-Key; repetitions get its answer (app_once.c). `has_receipt`: the handler makes
 * a single write, which can leave a receipt. */
bool handle_once(struct app_exchange *x, bool has_receipt, bool (*handle)(struct app_exchange *x)) MUST_CHECK;
/* The answer to a write whose receipt says that it succeeded, from the item as it is now at `key` (app_item.c). */
bool answer_receipt(struct app_exchange *x, struct value key) MUST_CHECK;

/* ---- made once for an app ---- */
struct slice app_index_make(const struct design *d, struct arena *a); /* app_index.c: the reply of GET /api/<design> */
size_t app_body_needs(const struct design *d);                        /* app_body.c: for app_body_bytes() */

/* ---- answers (app_answer.c) ---- */
void answer_json(struct app_exchange *x, int status, struct slice body); /* the body ends in a line feed, for terminals */
void answer_buf(struct app_exchange *x, int status, struct buf *b);      /* the same; adds the line feed */
/* The body without its line feed, as a part of a larger one. */
struct slice answer_bare(const struct answer *w);
/* From run.problem. */
void answer_problem(struct app_exchange *x);
/* Turns a 200 into a 304 if the client has that ETag already. */
void answer_if_changed(struct app_exchange *x);
/* For documents that change only with the design: an ETag, and a minute in caches. */
void answer_cacheable(struct app_exchange *x);
/* An ETag for a body: a hash of the body; after `validator` (output_etag()), if there is one, for the parts that the
 * validator does not cover: counters, attributes that only some callers see. */
struct slice answer_etag(struct arena *a, struct slice validator, struct slice body);
/* If-Match with the validators of such ETags, as output_etag() has them. */
struct slice answer_if_match(struct arena *a, struct slice header);
void answer_reply(struct app_exchange *x, struct app_reply *reply);

/* ---- answers kept for an Idempotency-Key (idempotency.c) ---- */
#define IDEMPOTENCY_HASH 32

struct idempotency_ask {
	uint8_t key[IDEMPOTENCY_HASH];    /* of the caller and the key */
	uint8_t digest[IDEMPOTENCY_HASH]; /* of the request */
	int64_t now_ms;                   /* clock_steady_ms(): setting the wall clock loses no answers */
	bool has_receipt;                 /* a single write (receipt.h) */
};
struct idempotency_ticket;
enum idempotency_state {
	IDEMPOTENCY_NEW,     /* go ahead, then call idempotency_end() */
	IDEMPOTENCY_DONE,    /* *answer is that of the first request */
	IDEMPOTENCY_OTHER,   /* the key was used for another request */
	IDEMPOTENCY_RUNNING, /* the first request is not answered yet */
	IDEMPOTENCY_FULL,    /* no room to keep another answer */
	IDEMPOTENCY_FAILED,  /* run->problem: the shared table cannot be reached; nothing was written */
	IDEMPOTENCY_WRITTEN, /* the first request succeeded, and its answer was lost: *item */
};
struct idempotency *idempotency_new(void);
void idempotency_free(struct idempotency *i);
/* Thread safe. A ticket that is not ended is given up with the arena. */
enum idempotency_state idempotency_begin(struct idempotency *t, struct arena *a, const struct idempotency_ask *q,
					 struct answer *answer, struct idempotency_ticket **ticket);
/* Keeps the answer if it stays true: not 5xx, 401 or 429. */
void idempotency_end(struct idempotency_ticket *ticket, const struct answer *answer);
/* Whether it is such an answer. */
bool idempotency_keeps(const struct answer *answer);

/* The same for all servers of a remote table (idempotency_shared.c). NEW with a ticket of NULL: a rehearsal, which has
 * nothing to end. A ticket that is not ended is taken over after some seconds. */
struct idempotency_shared {
	struct receipt receipt;
	struct value digest;
	int64_t since_ms;
	bool has_receipt;  /* the request is a single write, which notes its success */
	struct value item; /* WRITTEN: the key of the item written; absent: not known */
};
enum idempotency_state idempotency_shared_begin(struct run *r, const struct idempotency_ask *q, struct answer *answer,
						struct idempotency_shared **ticket);
/* After backend_settle(). An answer that is too large is not kept either. */
void idempotency_shared_end(struct run *r, const struct idempotency_shared *ticket, const struct answer *answer);
/* The database did not say whether the write succeeded. Reads the receipt, and takes it away unless it says so: after
 * that the write can no longer succeed. After backend_settle(). NEW: it did not. WRITTEN: it did, ticket->item. RUNNING:
 * another request has taken over. FAILED: not known now; a repetition will tell. */
enum idempotency_state idempotency_shared_ask(struct run *r, struct idempotency_shared *ticket);

#endif
