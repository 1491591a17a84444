/* Writes: one action or a transaction, and its outcome.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"

#include "app/db/lag.h"

/* ---- what an action changes ---- */

/* A DYN_UPDATE without changes becomes a check: a transaction accepts no empty update. */
static bool changes(const struct dyn_write *w)
{
	return w->set_count || w->remove_count || w->add_count;
}

static bool make_update(struct run *r, const struct dyn_write *w, struct request_action *out, struct error *e)
{
	struct update_part *parts =
		arena_array(r->arena, struct update_part, w->set_count + w->remove_count + w->add_count);
	size_t n = 0;

	for (size_t i = 0; i < w->set_count; i++)
		parts[n++] = (struct update_part){ value_present(w->set[i].value) ? ACTION_SET : ACTION_REMOVE,
						   w->set[i].name, w->set[i].value };
	for (size_t i = 0; i < w->remove_count; i++)
		parts[n++] = (struct update_part){ ACTION_REMOVE, w->remove[i], VALUE_ABSENT };
	for (size_t i = 0; i < w->add_count; i++)
		parts[n++] = (struct update_part){ ACTION_ADD, w->add[i].name, w->add[i].value };
	return update_of(r->arena, parts, n, &out->update, e);
}

/* ---- the condition ---- */

static struct slice hash_name(const struct run *r, const struct dyn_write *w)
{
	return w->table.n ? SLICE("PK") : r->design->key.hash[0].name;
}

const struct test *dyn_expired(struct run *r, struct slice ttl)
{
	return test_attribute(r->arena, TEST_LE, ttl, value_make_i64(r->arena, r->now_ms / 1000));
}

const struct test *dyn_not_expired(struct run *r, struct slice ttl)
{
	return test_not(r->arena, dyn_expired(r, ttl));
}

static const struct test *test_not_there(struct run *r, const struct dyn_write *w)
{
	const struct test *none = test_attribute(r->arena, TEST_NOT_EXISTS, hash_name(r, w), VALUE_ABSENT);

	return w->or_expired.n ? test_join(r->arena, TEST_OR, none, dyn_expired(r, w->or_expired)) : none;
}

/* A check needs a condition: without one, uses one that always holds. */
static const struct test *test_anything(struct run *r, const struct dyn_write *w)
{
	return test_join(r->arena, TEST_OR, test_attribute(r->arena, TEST_EXISTS, hash_name(r, w), VALUE_ABSENT),
			 test_attribute(r->arena, TEST_NOT_EXISTS, hash_name(r, w), VALUE_ABSENT));
}

static const struct test *make_test(struct run *r, const struct dyn_write *w)
{
	struct arena *a = r->arena;
	const struct test *t = NULL;

	if (w->must_exist)
		t = test_attribute(a, TEST_EXISTS, hash_name(r, w), VALUE_ABSENT);
	if (w->must_not_exist)
		t = test_join(a, TEST_AND, t, test_not_there(r, w));
	for (size_t i = 0; i < w->equal_count; i++) {
		const struct value_member *m = &w->equal[i];

		t = test_join(a, TEST_AND, t,
			      test_attribute(a, value_present(m->value) ? TEST_EQ : TEST_NOT_EXISTS, m->name, m->value));
	}
	return test_join(a, TEST_AND, t, w->also);
}

static bool make_action(struct run *r, const struct dyn_write *w, struct request_action *out, struct error *e)
{
	const struct test *test = make_test(r, w);

	*out = (struct request_action){ .kind = (enum write_kind)w->kind, .table = dyn_table(r, w->table) };
	if (w->kind == DYN_PUT)
		out->item = w->item;
	else
		out->key = w->key;
	if (w->kind == DYN_UPDATE && !changes(w))
		out->kind = WRITE_CHECK;
	if (out->kind == WRITE_CHECK && !test)
		test = test_anything(r, w);
	out->return_old_on_failure = test != NULL;
	return (!test || condition_of(r->arena, CONDITION_EXPRESSION, test, &out->condition, e)) &&
	       (out->kind != WRITE_UPDATE || make_update(r, w, out, e));
}

static bool make_request(struct run *r, const struct dyn_write *w, size_t n, struct request *q, struct error *e)
{
	struct request_action *actions = arena_array(r->arena, struct request_action, n);

	for (size_t i = 0; i < n; i++)
		if (!make_action(r, &w[i], &actions[i], e))
			return false;
	*q = (struct request){ .kind = REQUEST_WRITE, .write = { .actions = actions, .count = n } };
	return true;
}

/* ---- the outcome ---- */

static bool is_conflict(struct slice error)
{
	return slice_is(error, "TransactionConflictException") || slice_is(error, "TransactionInProgressException") ||
	       slice_is(error, "ThrottlingException") || slice_is(error, "RequestLimitExceeded") ||
	       slice_is(error, "ProvisionedThroughputExceededException");
}

static enum dyn_outcome fail_write(struct run *r, const struct reply *reply)
{
	(void)run_reply_error(r, reply);
	return DYN_FAILED;
}

static enum dyn_outcome fail_for(struct run *r, const struct error *e)
{
	struct reply reply;

	reply_fail(&reply, e);
	return fail_write(r, &reply);
}

/* Priority: a failed condition, then permanent errors, then errors worth a retry. */
static enum dyn_outcome cancelled(struct run *r, const struct reply_reason *reasons, size_t n,
				  struct dyn_refusal *refusals)
{
	const struct reply_reason *bad = NULL;
	bool refused = false;

	for (size_t i = 0; i < n; i++) {
		switch (reasons[i].error.code) {
		case ERR_NONE:
		case ERR_TRANSACTION_CONFLICT:
		case ERR_THROTTLING:
		case ERR_THROUGHPUT_EXCEEDED: break;
		case ERR_CONDITION_FAILED:
			refusals[i] = (struct dyn_refusal){ true, reasons[i].item };
			refused = true;
			break;
		default: bad = bad ? bad : &reasons[i];
		}
	}
	if (refused)
		return DYN_REFUSED;
	/* The error that the action alone would have had. */
	return bad ? fail_for(r, &bad->error) : DYN_CONFLICT;
}

static enum dyn_outcome outcome(struct run *r, const struct reply *reply, size_t n, struct dyn_refusal *refusals)
{
	r->is_unsure = reply_may_be_done(reply);
	if (reply->reasons)
		return cancelled(r, reply->reasons, n, refusals);
	if (slice_is(reply->error, "IdempotentParameterMismatchException"))
		return DYN_MISMATCH;
	return is_conflict(reply->error) ? DYN_CONFLICT : fail_write(r, reply);
}

/* ---- writing ---- */

static enum dyn_outcome write_alone(struct run *r, const struct dyn_write *w, size_t n, bool together,
				    struct slice token, struct dyn_refusal *refusals)
{
	struct error e = { 0 };
	struct request q;
	struct reply reply;

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
	if (!make_request(r, w, n, &q, &e))
		return fail_for(r, &e);
	q.write.together = together;
	q.write.token = token;
	if (!dyn_execute(r, &q, &reply))
		return outcome(r, &reply, n, refusals);
	lag_note(r, w, n);
	return DYN_DONE;
}

/* A rider's condition failed: another process has done, or taken over, this work. */
static enum dyn_outcome rider_lost(struct run *r)
{
	r->rider_lost = true;
	(void)run_fail(r, PROBLEM_CONFLICT, "another server has moved this position");
	return DYN_FAILED;
}

/* The actions followed by the riders. */
static struct dyn_write *with_riders(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_write *actions = arena_array(r->arena, struct dyn_write, n + r->rider_count);

	if (n)
		memcpy(actions, w, n * sizeof(*w));
	if (r->rider_count)
		memcpy(actions + n, r->riders, r->rider_count * sizeof(*w));
	return actions;
}

static void drop_riders(struct run *r)
{
	r->riders = NULL;
	r->rider_count = 0;
}

static enum dyn_outcome write_with_riders(struct run *r, const struct dyn_write *w, size_t n, struct slice token,
					  struct dyn_refusal *refusals)
{
	size_t all = n + r->rider_count;
	struct dyn_refusal *told = arena_array(r->arena, struct dyn_refusal, all);
	enum dyn_outcome end = write_alone(r, with_riders(r, w, n), all, true, token, told);

	if (n)
		memcpy(refusals, told, n * sizeof(*told));
	if (end == DYN_REFUSED)
		for (size_t i = n; i < all; i++)
			if (told[i].failed)
				return rider_lost(r);
	if (end == DYN_DONE)
		drop_riders(r);
	return end;
}

enum dyn_outcome dyn_write(struct run *r, const struct dyn_write *w, size_t n, struct slice token,
			   struct dyn_refusal *refusals)
{
	if (r->rider_count)
		return write_with_riders(r, w, n, token, refusals);
	return write_alone(r, w, n, false, token, refusals);
}

/* ---- without waiting ---- */

struct dyn_started {
	struct run *run;
	struct started *write;
};

struct dyn_started *dyn_write_start(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_started *s = arena_new(r->arena, struct dyn_started);
	size_t all = n + r->rider_count;
	struct error e = { 0 };
	struct request *q = arena_new(r->arena, struct request);

	if (r->trace || !r->backend->start || all > DYN_MOST_ACTIONS ||
	    !make_request(r, with_riders(r, w, n), all, q, &e))
		return NULL;
	q->write.together = true;
	s->run = r;
	s->write = backend_start(r->backend, r->arena, q);
	return s->write ? s : NULL;
}

bool dyn_write_end(struct dyn_started *s)
{
	if (!started_wait(s->write))
		return false;
	drop_riders(s->run);
	return true;
}
