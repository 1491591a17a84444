/* The public keys of an outside issuer, fetched from its JWKS and kept.
 *
 * Fetched again for an unknown key id, at most once a minute, and when the keys are an hour old, so that a revoked key
 * does not serve for ever. If fetching fails the old keys stay. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_JWKS_H
#define THORPE_APP_AUTH_JWKS_H

#include "app/auth/jwt.h"

/* ---- one key ---- */
struct jwk {
	char *kid;         /* empty: none */
	bool rsa;          /* otherwise EC, on the curve of: */
	enum jwt_alg only; /* the one algorithm it is for; JWT_OTHER: all of RS* */
	EVP_PKEY *key;
};
/* A key of a JWKS document that can verify signatures: RSA of 2048 to 8192 bits, P-256, P-384. False: something
 * else. */
bool jwk_read(struct arena *a, const struct json *j, struct jwk *out);
void jwk_release(struct jwk *k);
/* Whether the key verifies this algorithm. */
bool jwk_is_for(const struct jwk *k, enum jwt_alg alg);

/* ---- all of them ---- */
struct jwks;
/* `url` must be https, or http on this machine; others are never fetched. NULL: out of memory. */
struct jwks *jwks_new(struct slice url);
void jwks_free(struct jwks *j);

enum jwks_answer { JWKS_FOUND, JWKS_UNKNOWN, JWKS_UNREACHABLE /* no keys yet */ };
/* The key with this id, or, without an id, the only one for the algorithm. The caller frees *out by EVP_PKEY_free(). */
enum jwks_answer jwks_find(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms, EVP_PKEY **out);
/* Whether jwks_find() would wait for the network. */
bool jwks_may_block(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms);

/* GET. The caller frees the body by mem_free(); NULL: it failed, and was logged. */
char *jwks_fetch(const char *url, size_t *n);

#endif
