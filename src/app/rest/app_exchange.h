/* One request on its way through an app: what was asked, who asks, what it leads to, and the answer as far as it is made.
 *
 * Handlers return false when run.problem is set; otherwise they have filled `answer`. Everything lives in run.arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_APP_EXCHANGE_H
#define THORPE_APP_REST_APP_EXCHANGE_H

#include "app/app_internal.h"
#include "app/write/receipt.h"
#include "app/rest/routes.h"
#include "app/rest/target.h"

enum answer_type { ANSWER_EMPTY, ANSWER_JSON, ANSWER_PROBLEM };

struct answer {
	int status;
	enum answer_type type;
	struct slice body;
	struct slice location, etag; /* as the headers have them; empty: none */
	struct slice cache;          /* Cache-Control */
	bool vary;                   /* depends on Authorization */
	bool challenge;              /* WWW-Authenticate */
	bool replayed;
	unsigned allow; /* 405: bits of methods */
	int retry_after;
	struct app_reply *ready; /* someone else has made it, whole; NULL: the above */
};

struct app_exchange {
	struct app *app;
	const struct app_request *q;
	struct run run;
	bool caller_known; /* run.caller is set (batch) */
	bool in_batch;
	const struct json *body; /* an object; batch: given, else parsed from q->body when the route takes one */
	struct route_match match;
	struct slice token;            /* ClientRequestToken from the Idempotency-Key; empty: none */
	const struct receipt *receipt; /* of the Idempotency-Key where servers share it; NULL: none */
	struct answer answer;
};

/* From the path to the answer, problems included. */
void app_exchange_handle(struct app_exchange *x);

/* ---- handlers, one for each route_kind ---- */
bool handle_item(struct app_exchange *x) MUST_CHECK;
bool handle_create(struct app_exchange *x) MUST_CHECK;
bool handle_put(struct app_exchange *x) MUST_CHECK;
bool handle_patch(struct app_exchange *x) MUST_CHECK;
bool handle_delete(struct app_exchange *x) MUST_CHECK;
bool handle_action(struct app_exchange *x) MUST_CHECK;
bool handle_access(struct app_exchange *x) MUST_CHECK;
bool handle_each(struct app_exchange *x) MUST_CHECK;
bool handle_login(struct app_exchange *x) MUST_CHECK;
bool handle_me(struct app_exchange *x) MUST_CHECK;
bool handle_batch(struct app_exchange *x) MUST_CHECK;
bool handle_call(struct app_exchange *x) MUST_CHECK;
bool handle_openapi(struct app_exchange *x) MUST_CHECK;
bool handle_index(struct app_exchange *x) MUST_CHECK;
/* The answer to a write that a receipt says was done to the item at `key`, from what the item is now (app_item.c). */
bool answer_receipt(struct app_exchange *x, struct value key) MUST_CHECK;

/* ---- answers (app_answer.c) ---- */
void answer_json(struct app_exchange *x, int status, struct slice body); /* which ends with a line feed, for terminals */
void answer_buf(struct app_exchange *x, int status, struct buf *b);      /* the same; adds the line feed */
/* The body without its line feed, to be part of something larger. */
struct slice answer_bare(const struct answer *w);
/* Of run.problem. */
void answer_problem(struct app_exchange *x);
/* Turns a 200 into a 304 when the request has that ETag already. */
void answer_if_changed(struct app_exchange *x);
/* An ETag for a body: of the body alone; or `validator` (output_etag) and what of the body it does not cover: counters, what is
 * shown to some callers only. */
struct slice answer_etag(struct arena *a, struct slice validator, struct slice body);
/* If-Match with such ETags as output_etag() has them. */
struct slice answer_if_match(struct arena *a, struct slice header);
void answer_reply(struct app_exchange *x, struct app_reply *reply);

/* ---- Idempotency-Key (idempotency.c) ---- */
#define IDEMPOTENCY_HASH 32

struct idempotency_ask {
	uint8_t key[IDEMPOTENCY_HASH];    /* of the caller and the key */
	uint8_t digest[IDEMPOTENCY_HASH]; /* of the request */
	int64_t now_ms;                   /* clock_steady_ms(): setting the wall clock forgets no answers */
	bool has_receipt;                 /* one write (receipt.h) */
};
struct idempotency_ticket;
enum idempotency_state {
	IDEMPOTENCY_NEW,     /* go on, then idempotency_end() */
	IDEMPOTENCY_DONE,    /* *answer is the first one's */
	IDEMPOTENCY_OTHER,   /* the key was used for another request */
	IDEMPOTENCY_RUNNING, /* the first one has not been answered yet */
	IDEMPOTENCY_FULL,    /* no room to remember it in */
	IDEMPOTENCY_FAILED,  /* run->problem: what is shared cannot be reached; nothing was done */
	IDEMPOTENCY_WRITTEN, /* the first one was done, and its answer got lost: *item */
};
/* Thread safe. A ticket that is not ended is given up with the arena. */
enum idempotency_state idempotency_begin(struct idempotency *t, struct arena *a, const struct idempotency_ask *q,
					 struct answer *answer, struct idempotency_ticket **ticket);
/* Remembers the answer, if it is one that stays true: no 5xx, no 401, no 429. */
void idempotency_end(struct idempotency_ticket *ticket, const struct answer *answer);
/* Whether it is such an answer. */
bool idempotency_keeps(const struct answer *answer);

/* The same for all servers of a table at an address (idempotency_shared.c). NEW with a ticket of NULL: a rehearsal, which has nothing
 * to end. A ticket that is not ended is taken over after some seconds. */
struct idempotency_shared {
	struct receipt receipt;
	struct value digest;
	int64_t since_ms;
	bool has_receipt;  /* the request is one write, which notes that it was done */
	struct value item; /* WRITTEN: the key of what was written; absent: not known */
};
enum idempotency_state idempotency_shared_begin(struct run *r, const struct idempotency_ask *q, struct answer *answer,
						struct idempotency_shared **ticket);
/* After backend_settle(). Too large an answer is not remembered either. */
void idempotency_shared_end(struct run *r, const struct idempotency_shared *ticket, const struct answer *answer);
/* The database did not say whether the write was done, so the note is asked, and taken away unless it was: after that it will not be.
 * After backend_settle(). NEW: it was not done. WRITTEN: it was, ticket->item. RUNNING: another request has taken it over.
 * FAILED: not even this can be known now; a repetition will tell. */
enum idempotency_state idempotency_shared_ask(struct run *r, struct idempotency_shared *ticket);

#endif
