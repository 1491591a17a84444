/* One item: {PK: SECRET, SK: token, secret: <bytes>}.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/shared_secret.h"
#include "app/db/beside.h"
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include "expr/build.h"

/* The item; without a secret, its key. */
static struct value secret_item(struct arena *a, struct value secret)
{
	struct value_member members[] = {
		{ SLICE("PK"), value_make_s(a, SLICE("SECRET")) },
		{ SLICE("SK"), value_make_s(a, SLICE("token")) },
		{ SLICE("secret"), secret },
	};

	return value_make_map(a, members, value_present(secret) ? 3 : 2);
}

/* Whether there was one. A damaged one does not count but stays: the put below does not replace it. */
static bool read_secret(const struct reply *r, uint8_t out[CALLER_SECRET_BYTES])
{
	struct value secret = value_get(r->item, SLICE("secret"));

	if (value_type(secret) != VALUE_B || value_bytes(secret).n != CALLER_SECRET_BYTES)
		return false;
	memcpy(out, value_bytes(secret).p, CALLER_SECRET_BYTES);
	return true;
}

static bool get_item(struct backend *b, const struct design *d, struct arena *a, struct reply *r)
{
	struct request q = {
		.kind = REQUEST_GET,
		.get = { .table = beside_name(a, d->table), .key = secret_item(a, VALUE_ABSENT), .consistent = true }
	};

	backend_execute(b, a, &q, r);
	return r->status == 200;
}

static bool put_secret(struct backend *b, const struct design *d, struct arena *a, struct reply *r)
{
	struct request_action action = { .kind = WRITE_PUT, .table = beside_name(a, d->table) };
	struct request q = { .kind = REQUEST_WRITE, .write = { .actions = &action, .count = 1 } };
	uint8_t secret[CALLER_SECRET_BYTES];
	struct error e = { 0 };

	if (RAND_bytes(secret, sizeof(secret)) != 1) {
		*r = (struct reply){ .status = 500, .message = SLICE("cannot get random bytes") };
		return false;
	}
	action.item = secret_item(a, value_make_b(a, slice_make(secret, sizeof(secret))));
	OPENSSL_cleanse(secret, sizeof(secret));
	if (!condition_of(a, CONDITION_EXPRESSION, test_attribute(a, TEST_NOT_EXISTS, SLICE("PK"), VALUE_ABSENT),
			  &action.condition, &e))
		reply_fail(r, &e);
	else
		backend_execute(b, a, &q, r);
	return r->status == 200 || slice_is(r->error, "ConditionalCheckFailedException");
}

bool shared_secret_load(struct backend *b, const struct design *d, struct arena *a, uint8_t out[CALLER_SECRET_BYTES],
			struct error *e)
{
	struct reply r;

	if (get_item(b, d, a, &r)) {
		if (read_secret(&r, out) || (put_secret(b, d, a, &r) && get_item(b, d, a, &r) && read_secret(&r, out)))
			return true;
		if (r.status == 200)
			r.message = SLICE("its secret is damaged; delete the item SECRET, which ends all sessions");
	}
	return error_set(e, a, ERR_INTERNAL, "table %.*s.thorpe: %.*s", SLICE_ARG(d->table), SLICE_ARG(r.message));
}
