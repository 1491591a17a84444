/* Tokens that this server issues.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/hmac.h>
#include "app/auth/caller_internal.h"

/* Each design has its own key, so that a token of one is not valid for another. */
bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES])
{
	static const char purpose[] = "thorpe token";
	uint8_t text[sizeof(purpose) + 256], made[EVP_MAX_MD_SIZE];
	size_t n = design.n < 256 ? design.n : 256;

	memcpy(text, purpose, sizeof(purpose)); /* its NUL separates it from the name */
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
	json_open(&b, '{');
	json_member_word(&b, "iss", CALLER_ISSUER);
	json_member_string(&b, "aud", design);
	if (q->subject.n)
		json_member_string(&b, "sub", q->subject);
	json_member_strings(&b, "roles", q->roles, q->role_count);
	if (q->operator_)
		json_member_bool(&b, "operator", true);
	if (q->account.n) {
		json_member_string(&b, "acc", q->account);
		json_member_string(&b, "ses", q->stamp);
	} else {
		json_member_bool(&b, "minted", true);
	}
	json_member_int(&b, "iat", q->now_ms / 1000);
	json_member_int(&b, "exp", q->now_ms / 1000 + q->seconds);
	json_close(&b, '}');
	return jwt_make(a, buf_slice(&b), key);
}
