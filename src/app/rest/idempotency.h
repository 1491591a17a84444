/* Answers kept for an Idempotency-Key: in this process (idempotency.c), or in the table beside the design's where servers
 * share one (idempotency_shared.c). app_once.c chooses.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_IDEMPOTENCY_H
#define THORPE_APP_REST_IDEMPOTENCY_H

#include "app/rest/app_exchange.h"

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
 * that the write can no longer succeed. After backend_settle(). NEW: it did not. WRITTEN: it did, ticket->item.
 * RUNNING: another request has taken over. FAILED: not known now; a repetition will tell. */
enum idempotency_state idempotency_shared_ask(struct run *r, struct idempotency_shared *ticket);

#endif
