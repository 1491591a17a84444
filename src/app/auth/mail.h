/* Single-use tokens that are sent to an account's address: for a new password, and to prove the address.
 *
 * A request for one is only noted here, and answered at once, the same whatever the account. A thread of its own
 * (process/send/mailer.h) looks for the account, makes the token and sends it. The notes are in memory and bounded.
 *
 * Invariants
 *   L1  Nothing of a token is stored: it is signed with a key of its own purpose, and bound to the account as it is. A new
 *       password has another stamp (caller_session.c), so it ends all tokens that were sent for one. A proof is bound to
 *       the address, and ends when the address is proved.
 *   L2  What a token is bound to is compared in each try of the write that it allows, and is part of the write's condition.
 *       So of two uses at once one succeeds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_MAIL_H
#define THORPE_APP_AUTH_MAIL_H

#include "app/entity/entity.h"

struct throttle_attempt;

enum mail_kind { MAIL_RESET, MAIL_PROOF };

/* ---- asking for one ---- */
/* POST /password/reset: {<one of login.by>: …} or {name: …}. Throttled by name and address as logins are. */
bool mail_ask_reset(struct run *r, const struct json *body, struct slice client_address) MUST_CHECK;
/* POST /proof/send: for the caller's own account. */
bool mail_ask_proof(struct run *r, struct slice client_address) MUST_CHECK;

/* ---- the notes ---- */
struct mail_queue;
struct mail_queue *mail_queue_new(void); /* NULL: memory */
void mail_queue_free(struct mail_queue *q);
/* One message to send. */
struct mail {
	enum mail_kind kind;
	struct slice id;      /* the same when it is sent again */
	struct slice address; /* where it goes */
	struct slice token;
	struct slice subject, role; /* of the account */
	int64_t expires_s;
	const struct login *login;
};
struct mail_note; /* what is known so far; mail_note_free() */
/* The next note; NULL: none. */
struct mail_note *mail_take(struct mail_queue *q);
void mail_note_free(struct mail_note *n);
/* Looks for the account. True: *out is to be sent. False: there is nothing to send; if the run has a problem, it can be tried
 * again. */
bool mail_make(struct run *r, const struct mail_note *n, struct mail *out) MUST_CHECK;

/* ---- using one ---- */
/* What a token says. Everything lives in the run's arena. */
struct mail_proof {
	enum mail_kind kind;
	const struct entity *entity;
	struct value *args; /* the identity */
	struct slice stamp, subject;
	struct slice address; /* digest */
};
/* UNAUTHENTICATED if it is no such token, or has ended. */
bool mail_read(struct run *r, enum mail_kind kind, const struct json *body, struct mail_proof *out) MUST_CHECK;
/* L2: whether the account is still as the token says; UNAUTHENTICATED if not. `full`: the account. */
bool mail_still(struct run *r, const struct mail_proof *p, const struct row *full) MUST_CHECK;

/* Whether the design sends such mail. */
const struct login *mail_login(const struct design *d);

#endif
