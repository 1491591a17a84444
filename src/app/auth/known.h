/* Verified tokens, so that the next request with the same token need not verify it.
 *
 * An entry has the result of the verification: the caller, the time it is valid, and the outside key that signed it.
 * The table is bounded; another token may take the place of an entry. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_KNOWN_H
#define THORPE_APP_AUTH_KNOWN_H

#include "app/auth/jwt.h"
#include "app/run/run.h"

struct known_token {
	struct caller caller;
	int64_t from_ms, until_ms; /* valid in [from, until) */
	EVP_PKEY *key;             /* NULL: our own; otherwise the issuer's, which must still be the key for: */
	struct slice kid;
	enum jwt_alg alg;
};

struct known;
struct known *known_new(void); /* NULL: out of memory */
void known_free(struct known *k);

/* NULL: verify it. The result lives as long as the arena. */
const struct known_token *known_find(struct known *k, struct arena *a, struct slice token, int64_t now_ms);
/* Copies everything. May forget it at once. */
void known_add(struct known *k, struct slice token, const struct known_token *t);

#endif
