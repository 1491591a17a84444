/* What the files of caller.h share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_CALLER_INTERNAL_H
#define THORPE_APP_CALLER_INTERNAL_H

#include "app/app_internal.h"
#include "app/jwks.h"
#include "app/known.h"
#include "app/throttle.h"

#define CALLER_ISSUER "thorpe"

struct callers_state {
	const struct design *design;
	uint8_t secret[CALLER_SECRET_BYTES];
	uint8_t token_key[JWT_KEY_BYTES]; /* of our own tokens for this design */
	struct jwks *jwks;                /* NULL: there is no outside issuer */
	struct throttle *throttle;
	struct known *known;              /* tokens */
};

/* False only when memory is out. */
bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES]) MUST_CHECK;

/* The account that an attribute's value names, read now. *full is absent when there is none, or more than one. */
bool caller_account(struct run *r, const struct entity *e, struct slice attribute, struct value value,
		    struct value *full) MUST_CHECK;

#endif
