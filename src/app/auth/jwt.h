/* JSON Web Tokens: parsing, verifying, making. caller.c interprets their claims.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_JWT_H
#define THORPE_APP_AUTH_JWT_H

#include <openssl/evp.h>
#include "json/json.h"

#define JWT_KEY_BYTES 32
#define JWT_MOST      16384 /* bytes of a token */

enum jwt_alg { JWT_OTHER, JWT_HS256, JWT_RS256, JWT_RS384, JWT_RS512, JWT_ES256, JWT_ES384 };

enum jwt_alg jwt_alg_parse(struct slice name); /* JWT_OTHER: not accepted, as `none` is */

struct jwt {
	enum jwt_alg alg;
	struct slice kid;          /* empty: none */
	struct slice signed_part;  /* points into the token */
	struct slice signature;    /* bytes */
	const struct json *claims; /* an object */
};

/* The header alone: alg and kid. */
bool jwt_parse_head(struct arena *a, struct slice token, struct jwt *out);
/* The whole token. False: not a signed token, or its header has an unknown requirement (`crit`). Verifies nothing. */
bool jwt_parse(struct arena *a, struct slice token, struct jwt *out);

/* Whether the token says HS256 and was signed with this key. */
bool jwt_fits_secret(const struct jwt *t, const uint8_t key[JWT_KEY_BYTES]);
/* Whether the token was signed with the private half of this key, which must be one for t->alg. */
bool jwt_fits_key(const struct jwt *t, EVP_PKEY *key);

/* A token with these claims, signed HS256. */
struct slice jwt_make(struct arena *a, struct slice claims, const uint8_t key[JWT_KEY_BYTES]);

#endif
