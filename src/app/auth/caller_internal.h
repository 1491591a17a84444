/* Shared by the files of caller.h.
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
	uint8_t token_key[JWT_KEY_BYTES];   /* of our own tokens for this design */
	uint8_t renewal_key[JWT_KEY_BYTES]; /* of their renewal tokens */
	uint8_t mail_key[JWT_KEY_BYTES];    /* of tokens that are sent: mail.h */
	struct jwks *jwks;                  /* NULL: no outside issuer */
	struct throttle *throttle;
	struct known *known; /* verified tokens */
};

/* False: out of memory. */
bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
		      uint8_t out[JWT_KEY_BYTES]) MUST_CHECK;
bool caller_renewal_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
			uint8_t out[JWT_KEY_BYTES]) MUST_CHECK;
/* The members of a reply that has tokens for run->caller: an access token, and a renewal token of this number (0: none). */
void caller_put_tokens(struct run *r, const struct login *login, int64_t number, struct buf *b);
bool caller_mail_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
		     uint8_t out[JWT_KEY_BYTES]) MUST_CHECK;
/* The name under which attempts are counted. */
struct slice caller_counted_name(struct run *r, struct slice name);
/* The account's name in a body, as given: an attribute of login.by, or `name` (*by and *entity NULL: any). INVALID: none. */
bool caller_given_name(struct run *r, const struct json *body, const struct entity **entity, const struct name **by,
		       struct slice *name) MUST_CHECK;
/* The account of such a name; its entity NULL: none. */
bool caller_find_account(struct run *r, const struct entity *entity, const struct name *by, struct slice name,
			 struct row *account) MUST_CHECK;
/* The entity and the identity of a session's account; NULL: not one of the design as it is now. */
const struct entity *caller_session_account(struct run *r, const struct caller *c, struct value **args);
/* The entity of a session's account; NULL: not one of the design as it is now. */
const struct entity *caller_session_entity(struct run *r, const struct caller *c);

/* The account whose attribute has this value, read now. Its entity NULL: none, or more than one. */
bool caller_account(struct run *r, const struct entity *e, const struct name *attribute, struct value value,
		    struct row *account) MUST_CHECK;

/* Begins the session of an account (in full) that has logged in with the password of this hash: fills run->caller. */
bool caller_session_begin(struct run *r, const struct row *account, struct value hash) MUST_CHECK;
/* Whether nothing that the session depends on has been written since it was last read. */
bool caller_session_is_current(struct run *r);
/* Reads the account again; problems as caller_stands(), and then the caller is anonymous. */
bool caller_session_renew(struct run *r) MUST_CHECK;
/* The hash of the account's password; absent: none, or login.when excludes the account. */
bool caller_usable_hash(struct run *r, const struct row *account, struct value *hash) MUST_CHECK;

#endif
