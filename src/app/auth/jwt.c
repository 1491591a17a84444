/* Tokens: from text to claims and back, and their signatures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/jwt.h"
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include "value/base64.h"

#define ES_MOST     48  /* bytes of a coordinate of P-384 */
#define ES_DER_MOST 128 /* of a signature made of two such numbers */

static const struct {
	const char *name;
	enum jwt_alg alg;
} algs[] = {
	{ "HS256", JWT_HS256 }, { "RS256", JWT_RS256 }, { "RS384", JWT_RS384 },
	{ "RS512", JWT_RS512 }, { "ES256", JWT_ES256 }, { "ES384", JWT_ES384 },
};

enum jwt_alg jwt_alg_parse(struct slice name)
{
	for (size_t i = 0; i < sizeof(algs) / sizeof(algs[0]); i++)
		if (slice_is(name, algs[i].name))
			return algs[i].alg;
	return JWT_OTHER;
}

static const EVP_MD *jwt_digest(enum jwt_alg alg)
{
	switch (alg) {
	case JWT_RS384:
	case JWT_ES384: return EVP_sha384();
	case JWT_RS512: return EVP_sha512();
	default: return EVP_sha256();
	}
}

/* ---- parsing ---- */

/* Cuts off the text before the next '.'; *rest is then the text after it. False: there is none. */
static bool cut(struct slice *rest, struct slice *head)
{
	const char *dot = rest->n ? memchr(rest->p, '.', rest->n) : NULL;

	if (!dot)
		return false;
	*head = slice_make(rest->p, (size_t)(dot - rest->p));
	*rest = slice_make(dot + 1, rest->n - head->n - 1);
	return true;
}

/* A part that is a JSON object. */
static const struct json *object(struct arena *a, struct slice part)
{
	const struct json *j = NULL;
	struct slice text;

	if (base64url_decode(a, part, &text))
		j = json_parse(a, text);
	return json_is(j, JSON_OBJECT) ? j : NULL;
}

static bool read_head(struct arena *a, struct slice part, struct jwt *out)
{
	const struct json *head = object(a, part), *alg = json_get(head, "alg"), *kid = json_get(head, "kid");

	if (!json_is(alg, JSON_STRING) || (kid && !json_is(kid, JSON_STRING)) || json_get(head, "crit"))
		return false;
	out->alg = jwt_alg_parse(alg->string);
	out->kid = kid ? kid->string : SLICE("");
	return true;
}

bool jwt_parse_head(struct arena *a, struct slice token, struct jwt *out)
{
	struct slice head;

	memset(out, 0, sizeof(*out));
	return token.n <= JWT_MOST && cut(&token, &head) && read_head(a, head, out);
}

bool jwt_parse(struct arena *a, struct slice token, struct jwt *out)
{
	struct slice rest = token, head, body;

	memset(out, 0, sizeof(*out));
	if (token.n > JWT_MOST || !cut(&rest, &head) || !cut(&rest, &body) || !rest.n)
		return false;
	out->signed_part = slice_make(token.p, head.n + 1 + body.n);
	if (!read_head(a, head, out) || !base64url_decode(a, rest, &out->signature))
		return false;
	out->claims = object(a, body);
	return out->claims != NULL;
}

/* ---- signatures ---- */

static bool hmac(struct slice text, const uint8_t key[JWT_KEY_BYTES], uint8_t out[EVP_MAX_MD_SIZE], unsigned *n)
{
	return HMAC(EVP_sha256(), key, JWT_KEY_BYTES, (const uint8_t *)text.p, text.n, out, n) != NULL;
}

bool jwt_fits_secret(const struct jwt *t, const uint8_t key[JWT_KEY_BYTES])
{
	uint8_t made[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	return t->alg == JWT_HS256 && hmac(t->signed_part, key, made, &n) && t->signature.n == n &&
	       CRYPTO_memcmp(made, t->signature.p, n) == 0;
}

/* From two numbers of a fixed size, as in tokens, to the form of OpenSSL. 0: not a signature of this size. */
static size_t es_der(struct slice raw, size_t size, uint8_t out[ES_DER_MOST])
{
	ECDSA_SIG *sig = raw.n == 2 * size && size <= ES_MOST ? ECDSA_SIG_new() : NULL;
	const uint8_t *p = (const uint8_t *)raw.p;
	BIGNUM *r = NULL, *s = NULL;
	uint8_t *to = out;
	int n = 0;

	if (sig) {
		r = BN_bin2bn(p, (int)size, NULL);
		s = BN_bin2bn(p + size, (int)size, NULL);
	}
	if (r && s && ECDSA_SIG_set0(sig, r, s)) {
		n = i2d_ECDSA_SIG(sig, &to); /* 2 * 48 and a dozen bytes at most */
	} else {
		BN_free(r);
		BN_free(s);
	}
	ECDSA_SIG_free(sig);
	return n > 0 ? (size_t)n : 0;
}

bool jwt_fits_key(const struct jwt *t, EVP_PKEY *key)
{
	uint8_t der[ES_DER_MOST];
	struct slice sig = t->signature;
	EVP_MD_CTX *ctx;
	bool ok;

	if (t->alg == JWT_OTHER || t->alg == JWT_HS256)
		return false;
	if (t->alg == JWT_ES256 || t->alg == JWT_ES384)
		sig = slice_make(der, es_der(t->signature, t->alg == JWT_ES256 ? 32 : ES_MOST, der));
	if (!sig.n)
		return false;
	ctx = EVP_MD_CTX_new();
	ok = ctx && EVP_DigestVerifyInit(ctx, NULL, jwt_digest(t->alg), NULL, key) == 1 &&
	     EVP_DigestVerify(ctx, (const uint8_t *)sig.p, sig.n, (const uint8_t *)t->signed_part.p,
			      t->signed_part.n) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return ok;
}

struct slice jwt_make(struct arena *a, struct slice claims, const uint8_t key[JWT_KEY_BYTES])
{
	uint8_t signature[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	buf_init(&b, a);
	base64url_put(&b, SLICE("{\"alg\":\"HS256\",\"typ\":\"JWT\"}"));
	buf_byte(&b, '.');
	base64url_put(&b, claims);
	if (!hmac(buf_slice(&b), key, signature, &n))
		arena_out_of_memory(a); /* nothing else makes it fail */
	buf_byte(&b, '.');
	base64url_put(&b, slice_make(signature, n));
	return buf_slice(&b);
}
