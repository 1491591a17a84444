/* Tokens that this server issues.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/hmac.h>
#include "app/auth/caller_internal.h"

#define PURPOSE_MOST 32

/* Each design has its own keys, so that a token of one is not valid for another. */
static bool make_key(const char *purpose, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES],
		     uint8_t out[JWT_KEY_BYTES])
{
	uint8_t text[PURPOSE_MOST + 256], made[EVP_MAX_MD_SIZE];
	size_t start = strlen(purpose) + 1, n = design.n < 256 ? design.n : 256;

	memcpy(text, purpose, start); /* its NUL separates it from the name */
	if (n)
		memcpy(text + start, design.p, n);
	if (!HMAC(EVP_sha256(), secret, CALLER_SECRET_BYTES, text, start + n, made, NULL))
		return false;
	memcpy(out, made, JWT_KEY_BYTES);
	return true;
}

bool caller_token_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES])
{
	return make_key("thorpe token", design, secret, out);
}

bool caller_renewal_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES])
{
	return make_key("thorpe renewal", design, secret, out);
}

bool caller_mail_key(struct slice design, const uint8_t secret[CALLER_SECRET_BYTES], uint8_t out[JWT_KEY_BYTES])
{
	return make_key("thorpe mail", design, secret, out);
}

/* 7, true and ["a"] are what they look like; acme is a text. */
static void put_claims(const struct token_request *q, struct arena *a, struct buf *b)
{
	json_member_open(b, "claims", '{');
	for (size_t i = 0; i < q->claim_count; i++) {
		const struct json *j = json_parse(a, q->claims[i].text);

		json_name_string(b, q->claims[i].name);
		if (j)
			json_write(b, j);
		else
			json_string(b, q->claims[i].text);
	}
	json_close(b, '}');
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
	if (q->claim_count)
		put_claims(q, a, &b);
	if (q->account.n) {
		json_member_string(&b, "acc", q->account);
		json_member_string(&b, "ses", q->stamp);
		if (q->session.n)
			json_member_string(&b, "sid", q->session);
	} else {
		json_member_bool(&b, "minted", true);
	}
	json_member_int(&b, "iat", q->now_ms / 1000);
	json_member_int(&b, "exp", q->now_ms / 1000 + q->seconds);
	json_close(&b, '}');
	return jwt_make(a, buf_slice(&b), key);
}

/* ---- of a login ---- */

static struct slice renewal_token(struct run *r, const struct login *login, int64_t number)
{
	const struct caller *c = &r->caller;
	struct buf b;

	buf_init(&b, r->arena);
	json_open(&b, '{');
	json_member_word(&b, "iss", CALLER_ISSUER);
	json_member_string(&b, "aud", r->design->name);
	json_member_string(&b, "sub", c->subject);
	json_member_string(&b, "acc", c->session.account);
	json_member_string(&b, "ses", c->session.stamp);
	json_member_string(&b, "sid", c->session.id);
	json_member_int(&b, "n", number);
	json_member_int(&b, "exp", r->now_ms / 1000 + login->session_seconds);
	json_close(&b, '}');
	return jwt_make(r->arena, buf_slice(&b), r->app->callers->renewal_key);
}

void caller_put_tokens(struct run *r, const struct login *login, int64_t number, struct buf *b)
{
	const struct caller *c = &r->caller;
	struct token_request q = { .subject = c->subject,
				   .roles = c->roles,
				   .role_count = c->role_count,
				   .now_ms = r->now_ms,
				   .seconds = login->token_seconds,
				   .account = c->session.account,
				   .stamp = c->session.stamp,
				   .session = c->session.id };

	json_member_string(b, "token", caller_token(r->arena, r->design->name, r->app->callers->secret, &q));
	json_member_word(b, "token_type", "Bearer");
	json_member_int(b, "expires_in", login->token_seconds);
	if (number) {
		json_member_string(b, "renewal", renewal_token(r, login, number));
		json_member_int(b, "renewal_expires_in", login->session_seconds);
	}
	json_member_string(b, "subject", c->subject);
	json_member_strings(b, "roles", c->roles, c->role_count);
}
