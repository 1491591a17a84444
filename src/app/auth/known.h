/* Tokens that have been verified, so that the next request with the same one need not be.
 *
 * What is remembered is what was found, never more: of a token the caller, between which times it is one, and the outside key
 * it was signed with. It is bounded; a token's place may be another's next. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_KNOWN_H
#define THORPE_APP_AUTH_KNOWN_H

#include "app/auth/jwt.h"
#include "app/run/run.h"

struct known_token {
	struct caller caller;
	int64_t from_ms, until_ms; /* when it is taken: [from, until) */
	EVP_PKEY *key;             /* NULL: our own; otherwise the issuer's, which must still be the one for: */
	struct slice kid;
	enum jwt_alg alg;
};

struct known;
struct known *known_new(void); /* NULL: memory */
void known_free(struct known *k);

/* NULL: it has to be verified. Otherwise it lives as long as the arena. */
const struct known_token *known_find(struct known *k, struct arena *a, struct slice token, int64_t now_ms);
/* Copies all of it. May forget it at once. */
void known_add(struct known *k, struct slice token, const struct known_token *t);

#endif
