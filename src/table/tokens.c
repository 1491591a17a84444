/* Idempotency tokens: a repeated transaction is not executed again for some minutes.
 *
 * A token is recorded in the batch of its transaction (T3), so it exists if and only if the transaction happened. Its
 * time is the database's own (db_time_ms()): a jump of the wall clock must not let a repeated transaction execute
 * again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/apply.h"
#include "table/layout.h"

#define SWEEP_MOST 500

/* Finds the token, unless it has expired. */
static bool find_token(struct stage *s, struct slice token, uint8_t digest[32], bool *found, struct error *e)
{
	struct slice record;
	int64_t expiry_ms;

	if (!stage_get(s, STORE_TOKENS, layout_token_key(s->arena, token), &record, found, e))
		return false;
	if (!*found)
		return true;
	if (!layout_read_token_record(record, &expiry_ms, digest))
		return error_set(e, s->arena, ERR_INTERNAL, "A token record is damaged");
	*found = expiry_ms > db_time_ms(s->batch->db);
	return true;
}

bool token_check(struct stage *s, const struct write_request *r, bool *seen, struct error *e)
{
	uint8_t digest[32];

	*seen = false;
	if (!r->token.n)
		return true;
	if (!find_token(s, r->token, digest, seen, e))
		return false;
	if (*seen && memcmp(digest, r->token_digest, sizeof(digest)) != 0)
		return error_set(e, s->arena, ERR_IDEMPOTENT_MISMATCH,
				 "DynamoDB rejected the request because you retried a request with a "
				 "different payload but with an idempotent token that was already used.");
	return true;
}

void token_record(struct stage *s, const struct write_request *r)
{
	int64_t expiry_ms = db_time_ms(s->batch->db) + s->batch->db->options.token_lifetime_ms;

	if (!r->token.n)
		return;
	stage_put(s, STORE_TOKENS, layout_token_key(s->arena, r->token),
		  layout_token_record(s->arena, expiry_ms, r->token_digest));
	stage_put(s, STORE_TOKENS, layout_token_expiry_key(s->arena, expiry_ms, r->token), SLICE(""));
}

/* Deletes one expiry entry, and the token itself unless it was used again since. */
static bool sweep_one(struct stage *s, struct slice expiry_key, struct error *e)
{
	uint8_t digest[32];
	struct slice token;
	int64_t expiry_ms;
	bool found;

	stage_delete(s, STORE_TOKENS, expiry_key);
	if (!layout_read_token_expiry_key(expiry_key, &expiry_ms, &token))
		return true;
	if (!find_token(s, token, digest, &found, e))
		return false;
	if (!found)
		stage_delete(s, STORE_TOKENS, layout_token_key(s->arena, token));
	return true;
}

bool token_sweep(struct stage *s, size_t *swept, struct error *e)
{
	struct slice from = layout_token_expiry_from(s->arena, 0);
	struct slice to = layout_token_expiry_from(s->arena, db_time_ms(s->batch->db) + 1);
	struct store_iter *it = store_iter(&(struct store_at){ s->batch->db->store, NULL, STORE_TOKENS },
					   &(struct store_walk){ from, to }, s->arena);

	*swept = 0;
	while (*swept < SWEEP_MOST && store_iter_next(it)) {
		if (!sweep_one(s, arena_copy(s->arena, store_iter_key(it)), e))
			return false;
		++*swept;
	}
	if (!store_iter_ok(it, s->arena, e))
		return false;
	store_iter_close(it);
	return true;
}
