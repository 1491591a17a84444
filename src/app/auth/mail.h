/* Single-use tokens that are sent to an account's address: for a new password, and to prove the address.
 *
 * A request for one only leaves a note, and is answered at once, the same whatever the account. A thread of its own
 * (process/send/mailer.h) looks for the account, makes the token and sends it. The notes are items beside the design's table,
 * so that neither a kill nor another server loses or doubles one (mail_notes.c):
 *
 *   {PK: MAIL, SK: <id>, kind, asked, due (ms), tries, claim, entity, by, name, account, subject, expires}
 *
 * Invariants
 *   L1  Nothing of a token is stored, not even in a note: it is signed with a key of its own purpose when it is sent, and bound
 *       to the account as it is. The same note gives the same token. A new password has another stamp (caller_session.c), so it
 *       ends all tokens that were sent for one. A proof is bound to the address, and ends when the address is proved.
 *   L2  What a token is bound to is compared in each try of the write that it allows, and is part of the write's condition.
 *       So of two uses at once one succeeds.
 *   L3  A note is sent by the server whose claim is in it, and each change of it has the claim and the number of tries as its
 *       condition. A claim ends with the try. That of a server that died is ended by another one, which cannot know whether
 *       the mail went out: it goes out again with the same id.
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
struct mail_note {
	enum mail_kind kind;
	struct slice id;
	int64_t asked_ms, due_ms, tries;
	struct slice claim;            /* empty: none */
	const struct entity *entity;   /* RESET: NULL: whichever; PROOF: of the account */
	const struct name *by;         /* RESET: NULL: any */
	struct slice name;             /* RESET */
	struct slice account, subject; /* PROOF: of the caller's session */
};
#define MAIL_NOTES_MOST 1024 /* that wait; further requests get 503 */
/* Those that wait; at most MAIL_NOTES_MOST. */
bool mail_notes_read(struct run *r, struct mail_note **list, size_t *n) MUST_CHECK;
enum mail_claimed { MAIL_CLAIMED, MAIL_TAKEN /* another server was faster */, MAIL_FAILED /* run->problem */ };
/* L3: before a try, which it counts. */
enum mail_claimed mail_note_claim(struct run *r, struct mail_note *n, struct slice claim) MUST_CHECK;
/* After it: to be tried again then; or done with. */
bool mail_note_again(struct run *r, const struct mail_note *n, int64_t due_ms) MUST_CHECK;
bool mail_note_done(struct run *r, const struct mail_note *n) MUST_CHECK;

/* What asking and sending share in a process. */
struct waker;
struct mail_post;
struct mail_post *mail_post_new(void); /* NULL: memory */
void mail_post_free(struct mail_post *p);
/* From now on requests are noted, and each note wakes this; NULL: nothing. Before the first call nobody sends, and nothing is
 * noted. */
void mail_post_open(struct mail_post *p, struct waker *w);
/* So many notes were there in the last look. */
void mail_post_counted(struct mail_post *p, size_t waiting);

/* One message to send. */
struct mail {
	enum mail_kind kind;
	struct slice id;      /* the same when it is sent again */
	struct slice address; /* where it goes */
	struct slice token;
	struct slice subject;    /* of the account */
	struct slice head, text; /* of a letter, from the design's `letters` or its title (mail_letter.c) */
	int64_t asked_ms, expires_s;
	const struct login *login;
};
/* Looks for the account. True: *out is to be sent. False: there is nothing to send; if the run has a problem, it can be tried
 * again. */
bool mail_make(struct run *r, const struct mail_note *n, struct mail *out) MUST_CHECK;
/* The letter's subject and text for an account, in *m. */
void mail_letter(struct run *r, const struct row *account, struct mail *m);

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
