/* One item: {PK: SECRET, SK: token, secret: <bytes>}.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/shared_secret.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#define KEY "\"PK\":{\"S\":\"SECRET\"},\"SK\":{\"S\":\"token\"}"
#define TEXT_MOST ((CALLER_SECRET_BYTES + 2) / 3 * 4)

/* Whether there was one. A damaged one is none, and stays: the put below does not replace it. */
static bool take(const struct backend_reply *r, uint8_t out[CALLER_SECRET_BYTES])
{
	const struct json *text = json_get(json_get(json_get(r->body, "Item"), "secret"), "B");
	uint8_t bytes[TEXT_MOST / 4 * 3 + 1];
	int n;

	if (!json_is(text, JSON_STRING) || text->string.n != TEXT_MOST)
		return false;
	n = EVP_DecodeBlock(bytes, (const uint8_t *)text->string.p, (int)text->string.n);
	if (n < CALLER_SECRET_BYTES)
		return false;
	memcpy(out, bytes, CALLER_SECRET_BYTES);
	OPENSSL_cleanse(bytes, sizeof(bytes));
	return true;
}

static bool get(struct backend *b, const struct design *d, struct arena *a, struct backend_reply *r)
{
	backend_call(b, a, "GetItem", arena_printf(a, "{\"TableName\":\"%.*s.thorpe\",\"Key\":{" KEY "},\"ConsistentRead\":true}", SLICE_ARG(d->table)), r);
	return r->status == 200;
}

static bool put(struct backend *b, const struct design *d, struct arena *a, struct backend_reply *r)
{
	uint8_t secret[CALLER_SECRET_BYTES];
	char text[TEXT_MOST + 1];

	if (RAND_bytes(secret, sizeof(secret)) != 1) {
		*r = (struct backend_reply){ .status = 500, .message = SLICE("there are no random numbers") };
		return false;
	}
	EVP_EncodeBlock((uint8_t *)text, secret, sizeof(secret));
	OPENSSL_cleanse(secret, sizeof(secret));
	backend_call(b, a, "PutItem", arena_printf(a, "{\"TableName\":\"%.*s.thorpe\",\"Item\":{" KEY ",\"secret\":{\"B\":\"%s\"}},"
			"\"ConditionExpression\":\"attribute_not_exists(PK)\"}", SLICE_ARG(d->table), text), r);
	OPENSSL_cleanse(text, sizeof(text));
	return r->status == 200 || slice_is(r->error, "ConditionalCheckFailedException");
}

bool shared_secret_load(struct backend *b, const struct design *d, struct arena *a, uint8_t out[CALLER_SECRET_BYTES],
			struct error *e)
{
	struct backend_reply r;

	if (get(b, d, a, &r)) {
		if (take(&r, out) || (put(b, d, a, &r) && get(b, d, a, &r) && take(&r, out)))
			return true;
		if (r.status == 200)
			r.message = SLICE("its secret is damaged; delete the item SECRET, which ends all sessions");
	}
	return error_set(e, a, ERR_INTERNAL, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
}
