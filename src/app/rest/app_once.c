/* A write under an Idempotency-Key: carried out once, whatever becomes of its replies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/idempotency.h"
#include "base/clock.h"
#include <openssl/evp.h>

static void add_part(struct buf *b, struct slice s)
{
	buf_be64(b, s.n);
	buf_put(b, s);
}

static bool hash(const struct buf *b, uint8_t out[IDEMPOTENCY_HASH])
{
	return EVP_Digest(b->p, b->n, out, NULL, EVP_sha256(), NULL) == 1;
}

static bool idempotency_hashes(struct app_exchange *x, struct idempotency_ask *ask)
{
	const struct app_request *q = x->q;
	struct buf b;

	buf_init(&b, x->run.arena);
	add_part(&b, x->app->design->name);
	add_part(&b, x->run.caller.subject);
	add_part(&b, x->run.caller.session.stamp); /* another account of the same name is another caller */
	buf_byte(&b, x->run.caller.operator_);
	for (size_t i = 0; i < x->run.caller.claim_count; i++)
		add_part(&b, slice_make(x->run.caller.claims[i].p, x->run.caller.claims[i].n));
	add_part(&b, q->idempotency_key);
	if (!hash(&b, ask->key))
		return false;
	b.n = 0;
	buf_byte(&b, (uint8_t)q->method);
	add_part(&b, q->path);
	add_part(&b, q->query);
	add_part(&b, q->if_match);
	if (x->body)
		json_write(&b, x->body);
	return hash(&b, ask->digest);
}

static bool wait_a_second(struct run *r)
{
	r->problem.retry_after = 1;
	return false;
}

/* Where the answer is kept: with all servers of the table, or in this one. */
struct once {
	bool is_shared;
	struct idempotency_shared *shared;
	struct idempotency_ticket *own;
};

static enum idempotency_state begin_once(struct app_exchange *x, const struct idempotency_ask *ask, struct once *o)
{
	*o = (struct once){ .is_shared = run_is_remote(&x->run) };
	if (o->is_shared)
		return idempotency_shared_begin(&x->run, ask, &x->answer, &o->shared);
	return idempotency_begin(x->app->idempotency, x->run.arena, ask, &x->answer, &o->own);
}

static void end_once(struct app_exchange *x, const struct once *o)
{
	backend_settle(x->run.backend);
	if (o->is_shared)
		idempotency_shared_end(&x->run, o->shared, &x->answer);
	else
		idempotency_end(o->own, &x->answer);
}

static bool still_running(struct run *r)
{
	(void)run_fail(r, PROBLEM_CONFLICT, "the first request with this Idempotency-Key is still running");
	return wait_a_second(r);
}

/* Whether the write may have been carried out: the database did not say, or another request (or an earlier attempt of
 * this one) has changed the receipt. */
static bool is_open(const struct run *r)
{
	return r->problem.outcome == OUTCOME_UNKNOWN || r->rider_lost;
}

/* An earlier request carried out the write: the answer is made from the item it wrote. */
static bool answer_written(struct app_exchange *x, const struct idempotency_shared *s)
{
	x->receipt = &s->receipt;
	x->answer.replayed = true;
	return answer_receipt(x, s->item);
}

/* Finds out. True: the write happened, and the answer is made (or run.problem says why it has to wait). False: it did
 * not; run.problem is set, and the receipt is as it should be. */
static bool settle_open(struct app_exchange *x, struct idempotency_shared *s)
{
	struct run *r = &x->run;

	backend_settle(r->backend);
	switch (idempotency_shared_ask(r, s)) {
	case IDEMPOTENCY_WRITTEN:
		r->problem = (struct problem){ 0 };
		r->rider_lost = false;
		(void)!answer_receipt(x, s->item);
		return true;
	case IDEMPOTENCY_NEW: return run_busy(r);
	case IDEMPOTENCY_RUNNING: return still_running(r);
	default: break;
	}
	(void)run_fail(
		r, PROBLEM_BUSY, "%s",
		"the database did not say whether the write succeeded: repeat it with the same Idempotency-Key to find out");
	r->problem.outcome = OUTCOME_UNKNOWN;
	return wait_a_second(r);
}

bool handle_once(struct app_exchange *x, bool has_receipt, bool (*handle)(struct app_exchange *x))
{
	struct idempotency_ask ask = { .now_ms = clock_steady_ms(x->run.app->clock), .has_receipt = has_receipt };
	struct once once;
	struct buf token;

	if (x->q->idempotency_key.n > 255)
		return run_fail(&x->run, PROBLEM_MALFORMED, "an Idempotency-Key has at most 255 characters");
	if (!idempotency_hashes(x, &ask))
		return run_fail(&x->run, PROBLEM_INTERNAL, "a hash could not be computed");
	switch (begin_once(x, &ask, &once)) {
	case IDEMPOTENCY_DONE: x->answer.replayed = true; return true;
	case IDEMPOTENCY_OTHER:
		return run_fail(&x->run, PROBLEM_INVALID, "this Idempotency-Key was used for another request");
	case IDEMPOTENCY_RUNNING: return still_running(&x->run);
	case IDEMPOTENCY_FULL:
		run_fail(&x->run, PROBLEM_BUSY, "there is no room to remember another Idempotency-Key");
		return wait_a_second(&x->run);
	case IDEMPOTENCY_WRITTEN: return answer_written(x, once.shared);
	case IDEMPOTENCY_FAILED: return false;
	case IDEMPOTENCY_NEW: break;
	}
	buf_init(&token, x->run.arena);
	buf_hex(&token, slice_make(ask.key, 18)); /* 36 characters, as many as a ClientRequestToken may have */
	x->token = buf_slice(&token);
	x->receipt = once.shared && ask.has_receipt ? &once.shared->receipt : NULL;
	if (!handle(x)) {
		if (x->receipt && is_open(&x->run) && !settle_open(x, once.shared))
			return false;
		if (x->run.problem.type != PROBLEM_NONE)
			answer_problem(x);
	}
	end_once(x, &once);
	return true;
}
