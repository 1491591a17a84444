/* The public keys of an outside issuer, fetched from its JWKS and kept.
 *
 * Asked again when a key id is unknown, at most once a minute, and when what is kept is an hour old, so that a key that
 * the issuer has taken back does not serve for ever. When asking fails the old keys go on. Any thread.
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
/* A key of a JWKS document that can verify signatures: RSA of 2048 to 8192 bits, P-256, P-384. False: something else. */
bool jwk_read(struct arena *a, const struct json *j, struct jwk *out);
void jwk_release(struct jwk *k);
/* Only the algorithm that belongs to a key is taken. */
bool jwk_is_for(const struct jwk *k, enum jwt_alg alg);

/* ---- all of them ---- */
struct jwks;
/* `url` is https, or http of this machine: others are never asked. NULL: memory. */
struct jwks *jwks_new(struct slice url);
void jwks_free(struct jwks *j);

enum jwks_answer { JWKS_FOUND, JWKS_UNKNOWN, JWKS_UNREACHABLE /* there are no keys at all, for now */ };
/* The key with this id, or, without an id, the only one for the algorithm. *out is the caller's to EVP_PKEY_free(). */
enum jwks_answer jwks_find(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms, EVP_PKEY **out);
/* Whether jwks_find() would wait for the network. */
bool jwks_may_block(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms);

/* GET. The body is the caller's to mem_free(); NULL: it failed, which has been logged. */
char *jwks_fetch(const char *url, size_t *n);

#endif
