/* Our own tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/hmac.h>
#include "app/auth/caller_internal.h"

/* A key for each design, so that a token of one is worth nothing to another. */
bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES])
{
	static const char purpose[] = "thorpe token";
	uint8_t text[sizeof(purpose) + 256], made[EVP_MAX_MD_SIZE];
	size_t n = design.n < 256 ? design.n : 256;

	memcpy(text, purpose, sizeof(purpose)); /* its NUL divides it from the name */
	if (n)
		memcpy(text + sizeof(purpose), design.p, n);
	if (!HMAC(EVP_sha256(), secret, CALLER_SECRET_BYTES, text, sizeof(purpose) + n, made, NULL))
		return false;
	memcpy(out, made, JWT_KEY_BYTES);
	return true;
}

struct slice caller_token(struct arena *a, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
			  const struct token_request *q)
{
	uint8_t key[JWT_KEY_BYTES];
	struct buf b;

	if (!caller_token_key(design, secret, key))
		arena_out_of_memory(a);
	buf_init(&b, a);
	buf_lit(&b, "{\"iss\":\"" CALLER_ISSUER "\",\"aud\":");
	json_string(&b, design);
	if (q->subject.n) {
		buf_lit(&b, ",\"sub\":");
		json_string(&b, q->subject);
	}
	buf_lit(&b, ",\"roles\":[");
	for (size_t i = 0; i < q->role_count; i++) {
		if (i)
			buf_byte(&b, ',');
		json_string(&b, q->roles[i]);
	}
	buf_lit(&b, "]");
	if (q->operator_)
		buf_lit(&b, ",\"operator\":true");
	if (q->account.n) {
		buf_lit(&b, ",\"acc\":");
		json_string(&b, q->account);
		buf_lit(&b, ",\"ses\":");
		json_string(&b, q->stamp);
	} else {
		buf_lit(&b, ",\"minted\":true");
	}
	buf_lit(&b, ",\"iat\":");
	buf_i64(&b, q->now_ms / 1000);
	buf_lit(&b, ",\"exp\":");
	buf_i64(&b, q->now_ms / 1000 + q->seconds);
	buf_byte(&b, '}');
	return jwt_make(a, buf_slice(&b), key);
}
