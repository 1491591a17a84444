/* What the files of caller.h share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_CALLER_INTERNAL_H
#define THORPE_APP_AUTH_CALLER_INTERNAL_H

#include "app/run/state.h"
#include "app/auth/caller.h"
#include "app/auth/jwks.h"
#include "app/auth/known.h"
#include "app/auth/caller_attempt.h"

#define CALLER_ISSUER "thorpe"

struct callers_state {
	const struct design *design;
	uint8_t secret[CALLER_SECRET_BYTES];
	uint8_t token_key[JWT_KEY_BYTES]; /* of our own tokens for this design */
	struct jwks *jwks;                /* NULL: there is no outside issuer */
	struct throttle *throttle;
	struct known *known; /* tokens */
};

/* False only when memory is out. */
bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
		      uint8_t out[JWT_KEY_BYTES]) MUST_CHECK;

/* The account that an attribute's value names, read now. *full is absent when there is none, or more than one. */
bool caller_account(struct run *r, const struct entity *e, struct slice attribute, struct value value,
		    struct value *full) MUST_CHECK;

/* The session of an account that has just logged in with the password of this hash: fills run->caller. `account`: full. */
bool caller_session_begin(struct run *r, const struct entity *e, struct value account, struct value hash) MUST_CHECK;
/* Whether nothing that it hangs on has been written since it was last asked. */
bool caller_session_is_current(struct run *r);
/* Asks the account, whatever is known; problems as caller_stands(), and nobody is the caller then. */
bool caller_session_renew(struct run *r) MUST_CHECK;
/* The hash of the account's password, while login.when holds of it; absent otherwise. */
bool caller_usable_hash(struct run *r, const struct entity *e, struct value account, struct value *hash) MUST_CHECK;

#endif
