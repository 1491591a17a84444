/* One public key, from a JWKS document.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include "app/auth/jwks.h"
#include "base/alloc.h"
#include "value/base64.h"

#define RSA_LEAST_BITS 2048
#define RSA_MOST_BITS  8192 /* verifying with longer ones takes too long */

static bool bytes_of(struct arena *a, const struct json *j, const char *name, struct slice *out)
{
	const struct json *v = json_get(j, name);

	return json_is(v, JSON_STRING) && base64url_decode(a, v->string, out) && out->n;
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx = params ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
	EVP_PKEY *key = NULL;

	if (ctx && EVP_PKEY_fromdata_init(ctx) == 1 && EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	EVP_PKEY_CTX_free(ctx);
	return key;
}

static EVP_PKEY *make_rsa(struct slice n, struct slice e)
{
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	BIGNUM *bn = BN_bin2bn((const uint8_t *)n.p, (int)n.n, NULL),
	       *be = BN_bin2bn((const uint8_t *)e.p, (int)e.n, NULL);
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key;

	if (build && bn && be && BN_num_bits(bn) >= RSA_LEAST_BITS && BN_num_bits(bn) <= RSA_MOST_BITS &&
	    BN_is_odd(be) && !BN_is_one(be) && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, bn) &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, be))
		params = OSSL_PARAM_BLD_to_param(build);
	key = make_key("RSA", params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	BN_free(bn);
	BN_free(be);
	return key;
}

/* The point in the form of X9.62: 4, x, y. OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *make_ec(const char *group, const uint8_t *point, size_t n)
{
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key;

	if (build && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) &&
	    OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, n))
		params = OSSL_PARAM_BLD_to_param(build);
	key = make_key("EC", params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	return key;
}

static bool read_rsa(struct arena *a, const struct json *j, struct jwk *out)
{
	struct slice n, e;

	out->rsa = true;
	if (bytes_of(a, j, "n", &n) && bytes_of(a, j, "e", &e) && n.n <= RSA_MOST_BITS / 8 + 1 && e.n <= 8)
		out->key = make_rsa(n, e);
	return out->key != NULL;
}

static bool read_ec(struct arena *a, const struct json *j, struct jwk *out)
{
	bool is256 = slice_is(json_get_text(j, "crv"), "P-256");
	size_t size = is256 ? 32 : 48;
	uint8_t point[1 + 2 * 48] = { 4 };
	struct slice x, y;

	if ((!is256 && !slice_is(json_get_text(j, "crv"), "P-384")) || !bytes_of(a, j, "x", &x) ||
	    !bytes_of(a, j, "y", &y) || x.n != size || y.n != size)
		return false;
	memcpy(point + 1, x.p, size);
	memcpy(point + 1 + size, y.p, size);
	out->only = is256 ? JWT_ES256 : JWT_ES384;
	out->key = make_ec(is256 ? "P-256" : "P-384", point, 1 + 2 * size);
	return out->key != NULL;
}

bool jwk_is_for(const struct jwk *k, enum jwt_alg alg)
{
	if (k->only != JWT_OTHER)
		return alg == k->only;
	return k->rsa && (alg == JWT_RS256 || alg == JWT_RS384 || alg == JWT_RS512);
}

bool jwk_read(struct arena *a, const struct json *j, struct jwk *out)
{
	const struct json *kid = json_get(j, "kid"), *use = json_get(j, "use"), *alg = json_get(j, "alg");
	enum jwt_alg said = json_is(alg, JSON_STRING) ? jwt_alg_parse(alg->string) : JWT_OTHER;
	struct slice id = json_is(kid, JSON_STRING) ? kid->string : SLICE("");
	bool ok;

	memset(out, 0, sizeof(*out));
	if ((use && !slice_is(json_get_text(j, "use"), "sig")) || (id.n && memchr(id.p, 0, id.n)))
		return false;
	ok = slice_is(json_get_text(j, "kty"), "RSA") ? read_rsa(a, j, out)
						      : slice_is(json_get_text(j, "kty"), "EC") && read_ec(a, j, out);
	ERR_clear_error();
	if (ok && alg) { /* the key must support the algorithm it names */
		ok = said != JWT_OTHER && jwk_is_for(out, said);
		out->only = said;
	}
	out->kid = ok ? mem_strndup(id.p, id.n) : NULL;
	if (!out->kid)
		jwk_release(out);
	return out->kid != NULL;
}

void jwk_release(struct jwk *k)
{
	EVP_PKEY_free(k->key);
	mem_free(k->kid);
	memset(k, 0, sizeof(*k));
}
