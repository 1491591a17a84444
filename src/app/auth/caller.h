/* Who is asking: tokens, roles, permissions, logins.
 *
 * Tokens are JWTs. Our own: HS256 under a key derived from the app's secret and the design's name, iss "thorpe", aud the design,
 * sub, the roles in `roles`, exp; an operator's has "operator": true. A login's has `acc`, the account, and `ses`, a stamp of what
 * the session hangs on; with each request the account is asked whether it still stands, still has that stamp, and which roles it
 * has now. One of `thorpe token` has "minted": true and hangs on no account. A design with an outside issuer takes that issuer's instead
 * (RS256, RS384, RS512, ES256, ES384; keys: jwks.h) and ours for operators and development. Only the algorithm that belongs to a
 * key is taken.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_CALLER_H
#define THORPE_APP_AUTH_CALLER_H

#include "app/run/run.h"

struct callers_state; /* per app: JWKS, failed logins; has its own lock */
struct callers_state *callers_new(const struct design *d, const uint8_t secret[CALLER_SECRET_BYTES]); /* NULL: memory */
void callers_free(struct callers_state *s);

/* From the Authorization header (empty: nobody). Fills run->caller. A token that is malformed, forged, expired or meant for
 * someone else is UNAUTHENTICATED; when the issuer's keys cannot be had it is BUSY. May block when keys have to be fetched:
 * caller_may_block() says so beforehand. */
bool caller_read(struct run *r, struct slice authorization) MUST_CHECK;
bool caller_may_block(struct app *app, struct slice authorization);

/* Of the token of a login: whether the account still stands as it did when caller_read() took it; roles are those it has now. False:
 * UNAUTHENTICATED, or the account could not be read. Of every other caller true. Costs next to nothing while the account's
 * partition has not been written to; where the backend cannot tell (backend.h: version), a consistent read. */
bool caller_stands(struct run *r) MUST_CHECK;
/* A copy of a caller without what was found out about it (permissions), in `room` of so many bytes. */
size_t caller_copy_bytes(const struct caller *c);
struct caller caller_copy(const struct caller *c, void *room);

/* Mints one of our own. */
struct token_request {
	struct slice subject;
	const struct slice *roles;
	size_t role_count;
	bool operator_;
	int64_t now_ms, seconds;     /* lifetime */
	struct slice account, stamp; /* of a login; empty: it hangs on no account */
};
struct slice caller_token(struct arena *a, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
			  const struct token_request *q);

/* The first entity with a login; NULL: none has. */
const struct entity *caller_first_login(const struct design *d);
/* POST /login: the body is {<one of login.by>: …, password: …} or {name: …, password: …}. Writes the reply: {"token",
 * "token_type": "Bearer", "expires_in", "subject", "roles", "<entity in lower case>": item}. Wrong name and wrong password, and
 * an account of which login.when does not hold, are told in the same words and take the same time (a hash is compared in any
 * case); after several failures the next attempts have to wait (TOO_MANY with retry_after; throttle.h). NOT_FOUND where
 * the design has no accounts or an outside issuer. run->caller is then the account. Comparing takes long: where
 * run->no_hashing is set this ends before it, with BUSY (run_may_hash()). */
bool caller_login(struct run *r, const struct json *body, struct slice client_address, struct buf *reply) MUST_CHECK;
/* bcrypt, $2b$10$. INVALID if it does not fit. Takes as long as comparing. */
bool caller_hash_password(struct run *r, struct slice password, struct value *hash) MUST_CHECK;
bool caller_check_password(struct slice password, struct slice hash);
/* Where the entity keeps the hash of an item: an attribute of itself (*key absent), or of the item with *key; there it is the
 * hidden attribute of the entity whose keys those are, else `password_hash`. */
bool caller_secret_place(struct run *r, const struct entity *e, const struct row *full, struct value *key,
			 struct slice *attribute) MUST_CHECK;

#endif
