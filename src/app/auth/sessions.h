/* The sessions of an account that can be renewed, in the table beside the design's:
 *
 *   {PK: SESSIONS#<hex of a keyed digest of the account>, SK: -, turn, expires,
 *    list: [[id, number, stamp, renewed (ms), until (seconds), digest of the Idempotency-Key], …]}
 *
 * A session has an id, and the number of its current renewal token. The tokens are signed, so the item contains nothing
 * that helps to forge one.
 *
 * Invariants
 *   N1  Each change replaces the item on the condition that its `turn`, which never has the same value twice, is as
 *       read. So of two renewals with one token one succeeds, at any number of servers.
 *   N2  A session that is not on the list has ended. Expired ones count as ended and leave the list with the next change.
 *   N3  The list is bounded: a further login ends the session that would expire first.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_SESSIONS_H
#define THORPE_APP_AUTH_SESSIONS_H

#include "app/db/beside.h"

#define SESSIONS_MOST 32

struct session {
	struct slice id;
	int64_t number;     /* of the current renewal token, from 1 */
	struct slice stamp; /* the account's at login */
	int64_t renewed_ms, until_s;
	struct slice again; /* digest of the last renewal's Idempotency-Key; empty: none */
};

struct sessions {
	struct value key;
	struct value turn; /* absent: there is no item */
	struct session list[SESSIONS_MOST + 1];
	size_t count;
};

/* Where the sessions of this caller's account are. */
struct value sessions_key(struct run *r, const struct caller *c);
/* Those that have not ended; strongly consistent. */
bool sessions_read(struct run *r, struct value key, struct sessions *out) MUST_CHECK;
struct session *sessions_find(struct sessions *s, struct slice id); /* NULL: it has ended */
void sessions_drop(struct sessions *s, const struct session *x);

/* Reads, calls change(), which returns whether there is something to write, and writes; again while others do the same. Then
 * ctx has what the last call left there. */
bool sessions_change(struct run *r, struct value key, bool (*change)(void *ctx, struct sessions *s),
		     void *ctx) MUST_CHECK;
/* Ends all sessions of the account. */
bool sessions_clear(struct run *r, struct value key) MUST_CHECK;

/* After a login as run->caller: a new session, unless the login has none. */
bool sessions_open(struct run *r, const struct login *login) MUST_CHECK;

#endif
