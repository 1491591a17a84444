/* The caller: tokens, roles, logins.
 *
 * Tokens are JWTs. Our own are HS256 under a key derived from the app's secret and the design's name: iss "thorpe",
 * aud the design, sub, `roles`, exp; an operator's has "operator": true. A login's token has `acc`, the account, and
 * `ses`, a stamp of the session. Each request asks whether the account still stands and still has that stamp, and
 * takes its current role. A token of `thorpe token` has "minted": true and belongs to no account. A design with an
 * outside issuer takes that issuer's tokens instead (RS256, RS384, RS512, ES256, ES384; keys: jwks.h), and ours for
 * operators and development. A key verifies only the algorithm it belongs to.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_CALLER_H
#define THORPE_APP_AUTH_CALLER_H

#include "app/run/run.h"

struct callers_state; /* per app: JWKS, failed logins, verified tokens; has its own locks */
struct callers_state *callers_new(const struct design *d,
				  const uint8_t secret[CALLER_SECRET_BYTES]); /* NULL: out of memory */
void callers_free(struct callers_state *s);

/* Fills run->caller from the Authorization header (empty: anonymous). A token that is malformed, forged, expired or
 * meant for another audience is UNAUTHENTICATED; if the issuer's keys cannot be fetched it is BUSY. May block to fetch
 * keys: caller_may_block() says so beforehand. */
bool caller_read(struct run *r, struct slice authorization) MUST_CHECK;
bool caller_may_block(struct app *app, struct slice authorization);

/* For a login's token: whether the account still stands as when caller_read() took the token; updates the role. False:
 * UNAUTHENTICATED, or the account could not be read. True for every other caller. Almost free while the account's
 * partition is not written to; a consistent read where the backend cannot tell (backend.h: version). */
bool caller_stands(struct run *r) MUST_CHECK;
/* Fills run->caller.claims with those that the design declares; `outside`: by the names they have in the issuer's tokens. */
void caller_read_claims(struct run *r, const struct json *claims, bool outside);
/* Whether two callers have the same roles and claims. */
bool caller_equals(const struct caller *a, const struct caller *b);
/* Copies a caller, without its permissions, into `room` of that many bytes. */
size_t caller_copy_bytes(const struct caller *c);
struct caller caller_copy(const struct caller *c, void *room);

/* Mints a token of our own. */
struct token_claim {
	struct slice name, text; /* the text: JSON, or else a string */
};
struct token_request {
	struct slice subject;
	const struct slice *roles;
	size_t role_count;
	bool operator_;
	int64_t now_ms, seconds; /* lifetime */
	const struct token_claim *claims;
	size_t claim_count;
	struct slice account, stamp; /* of a login; empty: no account */
	struct slice session;        /* of a login that can be renewed */
};
struct slice caller_token(struct arena *a, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
			  const struct token_request *q);

/* The first entity with a login; NULL: none has. */
const struct entity *caller_first_login(const struct design *d);
/* The account that logs in by this name, whatever attribute that is; its entity NULL: none. */
bool caller_named(struct run *r, struct slice name, struct row *account) MUST_CHECK;
/* Whether some login has sessions that are renewed. */
bool caller_has_sessions(const struct design *d);
/* POST /login: the body is {<one of login.by>: …, password: …} or {name: …, password: …}. Writes the reply: {"token",
 * "token_type": "Bearer", "expires_in", "subject", "roles", "<entity in lower case>": item}. run->caller is then the
 * account. An unknown name, a wrong password and an account that login.when excludes get the same answer after the
 * same time (a hash is compared in any case). After several failures further attempts have to wait (TOO_MANY with
 * retry_after; throttle.h). NOT_FOUND if the design has no accounts, or an outside issuer. Comparing takes long: with
 * run->no_hashing this ends before it, with BUSY (run_may_hash()). */
bool caller_login(struct run *r, const struct json *body, struct slice client_address, struct buf *reply) MUST_CHECK;
/* POST /renew: the body is {renewal: …}. Writes the reply: new tokens, as caller_login() without the item. A renewal token is
 * good for one renewal; a second one ends the session, unless it repeats the request of the first (the same
 * Idempotency-Key, within ten minutes). UNAUTHENTICATED if the session has ended. */
bool caller_renew(struct run *r, const struct json *body, struct slice idempotency_key, struct buf *reply) MUST_CHECK;
/* POST /logout: ends run->caller's session, or that of the body's `renewal`; with `everywhere` all sessions of its account.
 * CONFLICT if the caller's token has no session that can end. Ending it again is fine. */
bool caller_logout(struct run *r, const struct json *body) MUST_CHECK;
/* bcrypt, $2b$10$. INVALID if it cannot be a password (input.h). Takes as long as comparing. */
bool caller_hash_password(struct run *r, struct slice password, struct value *hash) MUST_CHECK;
bool caller_check_password(struct slice password, struct slice hash);
/* Where an item of the entity keeps its hash: in an attribute of its own (*key absent), or in the item at *key; there
 * in the hidden attribute of the entity whose key that is, else in `password_hash`. */
bool caller_secret_place(struct run *r, const struct entity *e, const struct row *full, struct value *key,
			 struct slice *attribute) MUST_CHECK;

#endif
