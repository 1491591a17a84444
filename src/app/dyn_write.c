/* Writes: one action or a transaction, and what became of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_action.h"

/* ---- refusals ---- */

static bool is_conflict(struct slice error)
{
	return slice_is(error, "TransactionConflictException") || slice_is(error, "TransactionInProgressException") ||
	       slice_is(error, "ThrottlingException") || slice_is(error, "RequestLimitExceeded") ||
	       slice_is(error, "ProvisionedThroughputExceededException");
}

static bool is_conflict_code(struct slice code)
{
	return slice_is(code, "TransactionConflict") || slice_is(code, "ThrottlingError") ||
	       slice_is(code, "ProvisionedThroughputExceeded");
}

static struct slice text_of(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

static bool refuse(struct run *r, const struct json *reason, struct dyn_refusal *out)
{
	out->failed = true;
	return dyn_read_item(r, json_get(reason, "Item"), &out->item);
}

/* What a reason that no condition explains would have been, had its action stood alone. */
static enum dyn_outcome fail_for(struct run *r, const struct json *reason)
{
	bool collection = slice_is(text_of(reason, "Code"), "ItemCollectionSizeLimitExceeded");
	struct backend_reply alone = {
		.status = 400,
		.body = reason,
		.error = collection ? SLICE("ItemCollectionSizeLimitExceededException") : SLICE("ValidationException"),
		.message = text_of(reason, "Message"),
	};

	(void)run_backend_error(r, &alone);
	return DYN_FAILED;
}

static enum dyn_outcome unreadable(struct run *r)
{
	(void)dyn_bad_reply(r, "TransactWriteItems");
	return DYN_FAILED;
}

/* A condition that failed says more than anything else; what can never succeed more than what may be tried again. */
static enum dyn_outcome cancelled(struct run *r, const struct json *reasons, size_t n, struct dyn_refusal *refusals)
{
	const struct json *bad = NULL;
	bool refused = false, conflict = false;

	if (!json_is(reasons, JSON_ARRAY) || reasons->count != n)
		return unreadable(r);
	for (size_t i = 0; i < n; i++) {
		const struct json *reason = &reasons->items[i];
		struct slice code = text_of(reason, "Code");

		if (slice_is(code, "ConditionalCheckFailed")) {
			if (!refuse(r, reason, &refusals[i]))
				return DYN_FAILED;
			refused = true;
		} else if (is_conflict_code(code)) {
			conflict = true;
		} else if (!slice_is(code, "None") && !bad) {
			bad = reason;
		}
	}
	if (refused)
		return DYN_REFUSED;
	if (bad)
		return fail_for(r, bad);
	return conflict ? DYN_CONFLICT : unreadable(r);
}

/* What the service refuses was not done, nor what never reached it (remote.h: R3, R5); but the same token may be at work still. */
static bool may_be_done(const struct backend_reply *reply)
{
	if (slice_is(reply->error, "TransactionInProgressException"))
		return true;
	return reply->status >= 500 && !slice_is(reply->error, "ServiceUnavailable") && !slice_is(reply->error, "CredentialsUnavailable");
}

static enum dyn_outcome outcome(struct run *r, const struct backend_reply *reply, size_t n, struct dyn_refusal *refusals)
{
	r->is_unsure = may_be_done(reply);
	if (slice_is(reply->error, "ConditionalCheckFailedException"))
		return refuse(r, reply->body, &refusals[0]) ? DYN_REFUSED : DYN_FAILED;
	if (slice_is(reply->error, "TransactionCanceledException"))
		return cancelled(r, json_get(reply->body, "CancellationReasons"), n, refusals);
	if (slice_is(reply->error, "IdempotentParameterMismatchException"))
		return DYN_MISMATCH;
	if (is_conflict(reply->error))
		return DYN_CONFLICT;
	(void)run_backend_error(r, reply);
	return DYN_FAILED;
}

/* ---- writing ---- */

static const struct {
	const char *alone, *member; /* NULL: not by itself */
} spelt[] = {
	[DYN_PUT] = { "PutItem", "\"Put\"" },
	[DYN_UPDATE] = { "UpdateItem", "\"Update\"" },
	[DYN_DELETE] = { "DeleteItem", "\"Delete\"" },
	[DYN_CHECK] = { NULL, "\"ConditionCheck\"" },
};

static void put_transaction(struct dyn_request *q, const struct dyn_write *w, size_t n, struct slice token)
{
	buf_lit(&q->body, "\"TransactItems\":[");
	for (size_t i = 0; i < n; i++) {
		buf_str(&q->body, i ? ",{" : "{");
		buf_str(&q->body, spelt[dyn_action_kind(&w[i])].member);
		buf_lit(&q->body, ":{");
		dyn_put_action(q, &w[i]);
		buf_lit(&q->body, "}}");
	}
	buf_byte(&q->body, ']');
	if (token.n) {
		buf_lit(&q->body, ",\"ClientRequestToken\":");
		json_string(&q->body, token);
	}
}

static enum dyn_outcome write_alone(struct run *r, const struct dyn_write *w, size_t n, bool together, struct slice token,
				    struct dyn_refusal *refusals)
{
	const char *operation = n == 1 && !token.n && !together ? spelt[dyn_action_kind(w)].alone : NULL;
	struct backend_reply reply;
	struct dyn_request q;
	enum dyn_outcome end;

	r->is_unsure = false;
	for (size_t i = 0; i < n; i++)
		refusals[i] = (struct dyn_refusal){ 0 };
	if (!n)
		return DYN_DONE;
	if (n > DYN_MOST_ACTIONS) {
		(void)run_fail(r, PROBLEM_TOO_LARGE, "this would change %zu items at once, and %d is the most", n,
			       DYN_MOST_ACTIONS);
		return DYN_FAILED;
	}
	/* Tokens are known by the document. */
	if (!token.n && dyn_write_directly(r, w, n, !operation, refusals, &end))
		return end;
	dyn_request_init(&q, r);
	if (operation) {
		dyn_put_action(&q, w);
	} else {
		operation = "TransactWriteItems";
		put_transaction(&q, w, n, token);
	}
	return dyn_send(&q, operation, &reply) ? DYN_DONE : outcome(r, &reply, n, refusals);
}

/* Someone else has moved what a rider moves: whoever runs this is not the one who should. */
static enum dyn_outcome rider_lost(struct run *r)
{
	r->rider_lost = true;
	(void)run_fail(r, PROBLEM_CONFLICT, "someone else has gone on from here");
	return DYN_FAILED;
}

static enum dyn_outcome write_with_riders(struct run *r, const struct dyn_write *w, size_t n, struct slice token,
					  struct dyn_refusal *refusals)
{
	size_t all = n + r->rider_count;
	struct dyn_write *actions = arena_array(r->arena, struct dyn_write, all);
	struct dyn_refusal *told = arena_array(r->arena, struct dyn_refusal, all);
	enum dyn_outcome end;

	if (n)
		memcpy(actions, w, n * sizeof(*w));
	memcpy(actions + n, r->riders, r->rider_count * sizeof(*w));
	end = write_alone(r, actions, all, true, token, told);
	if (n)
		memcpy(refusals, told, n * sizeof(*told));
	if (end == DYN_REFUSED)
		for (size_t i = n; i < all; i++)
			if (told[i].failed)
				return rider_lost(r);
	if (end == DYN_DONE) {
		r->riders = NULL;
		r->rider_count = 0;
	}
	return end;
}

enum dyn_outcome dyn_write(struct run *r, const struct dyn_write *w, size_t n, struct slice token,
			   struct dyn_refusal *refusals)
{
	if (r->rider_count)
		return write_with_riders(r, w, n, token, refusals);
	return write_alone(r, w, n, false, token, refusals);
}
