/* A call: attempts until there is an answer, or retries are used up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/log.h"
#include "remote/remote_internal.h"
#include "remote/wait.h"
#include "request/document.h"

#define SKEW_LEAST_MS (4 * 60 * 1000) /* a smaller difference is not the reason for a refused signature */

#define LEAST_US 10000 /* too little time for another attempt */

struct call {
	struct remote_backend *b;
	struct arena *arena;
	const char *operation; /* the caller's */
	struct repeat_plan plan;
	int64_t started_us, deadline_us;
	bool maybe_done;      /* by any attempt so far */
	bool skewed, expired; /* the clock was corrected, other credentials were fetched: once each */
	int cost;             /* tokens of the last repetition */
	struct attempt last;
	struct meter_call meter;
};

/* ---- whether there is a next attempt ---- */

/* Adopts the service's clock. False: no news. */
static bool set_clock(struct call *c)
{
	struct remote *r = c->b->remote;
	int64_t was = atomic_load(&r->skew_ms), skew;

	if (c->skewed || c->last.date_ms < 0)
		return false;
	c->skewed = true;
	skew = c->last.date_ms - clock_now_ms(r->options.clock);
	if (skew - was < SKEW_LEAST_MS && was - skew < SKEW_LEAST_MS)
		return false;
	atomic_store(&r->skew_ms, skew);
	log_warn("the clock of %s is %lld s %s this machine's; requests are signed with its time", r->database.host,
		 (long long)(skew < 0 ? -skew : skew) / 1000, skew < 0 ? "behind" : "ahead of");
	return true;
}

static bool pause_and_go_on(struct call *c, unsigned made)
{
	struct remote *r = c->b->remote;
	struct retry_pauses pauses = { r->options.base_ms, r->options.throttled_ms };
	int64_t pause;

	if (c->last.maybe_done && c->plan.how == REPEAT_UNSAFE)
		return false;
	pause = retry_pause_ms(&pauses, c->last.kind, made, retry_chance(), c->last.retry_after_ms);
	if (clock_monotonic_us() + pause * 1000 + LEAST_US > c->deadline_us)
		return false;
	c->cost = retry_quota_take(&r->quota, c->last.kind);
	return c->cost && wait_ms(pause, &r->stop);
}

static bool goes_on(struct call *c, unsigned made)
{
	if (made >= c->b->remote->options.attempts)
		return false;
	switch (c->last.kind) {
	case RETRY_NOT: return false;
	case RETRY_SKEWED: return set_clock(c);
	case RETRY_EXPIRED:
		if (c->expired || !keyring_spoil(c->b->remote->keyring, c->b->credentials))
			return false;
		return c->expired = true;
	case RETRY_TRANSIENT:
	case RETRY_THROTTLED: break;
	}
	return pause_and_go_on(c, made);
}

/* ---- attempts ---- */

static const struct json nothing = { .type = JSON_OBJECT };

static bool find_credentials(struct call *c)
{
	char why[1300];

	if (keyring_get(c->b->remote->keyring, &c->b->credentials, c->deadline_us, why, sizeof(why)))
		return true;
	c->meter.troubles[REMOTE_CREDENTIALS]++;
	c->last.kind = RETRY_NOT;
	c->last.reply = (struct backend_reply){ .status = 500,
						.body = &nothing,
						.error = SLICE(REMOTE_NO_CREDENTIALS),
						.message = arena_copy(c->arena, slice_str(why)) };
	return false;
}

/* Whether only a conflict cancelled this attempt. An earlier attempt may have succeeded all the same, and a new
 * transaction by the caller, with another token, would then conflict with that one's effect. */
static bool is_mere_conflict(const struct backend_reply *r)
{
	const struct json *reasons = json_get(r->body, "CancellationReasons");

	if (slice_is(r->error, "TransactionConflictException") || slice_is(r->error, "TransactionInProgressException"))
		return true;
	for (size_t i = 0;
	     slice_is(r->error, "TransactionCanceledException") && json_is(reasons, JSON_ARRAY) && i < reasons->count;
	     i++) {
		const struct json *code = json_get(&reasons->items[i], "Code");

		if (json_is(code, JSON_STRING) && slice_is(code->string, "TransactionConflict"))
			return true;
	}
	return false;
}

static void note(struct call *c)
{
	c->meter.attempts++;
	if (c->last.reply.status < 500)
		atomic_store(&c->b->remote->asked_us, 0);
	if (c->maybe_done && c->plan.how == REPEAT_BY_TOKEN && is_mere_conflict(&c->last.reply))
		c->last.kind = RETRY_TRANSIENT;
	c->maybe_done = c->maybe_done || c->last.maybe_done;
	if (c->last.reply.status == 200)
		return;
	c->meter.troubles[c->last.trouble]++;
	c->meter.throttles += c->last.kind == RETRY_THROTTLED;
}

static void run_attempts(struct call *c)
{
	for (unsigned made = 1;; made++) {
		if (!find_credentials(c))
			return;
		attempt_make(c->b, c->arena, &c->plan, c->deadline_us, &c->last);
		note(c);
		if (c->last.reply.status == 200) {
			retry_quota_give(&c->b->remote->quota, c->cost);
			return;
		}
		if (!goes_on(c, made))
			return;
	}
}

/* ---- the end ---- */

/* Whether the answer is final, whatever happened to earlier attempts. */
static bool is_settled(const struct call *c)
{
	return c->last.reply.status == 200 || (c->last.kind == RETRY_NOT && c->last.reply.status < 500);
}

static void settle(struct call *c, struct backend_reply *reply)
{
	*reply = c->last.reply;
	if (c->plan.alone)
		repeat_restore(c->arena, reply);
	if (is_settled(c) || !c->maybe_done || c->plan.reads || c->plan.streams ||
	    !strncmp(c->operation, "Describe", 8) || !strncmp(c->operation, "List", 4))
		return;
	reply->message = arena_printf(c->arena, "%s may or may not have been done: %.*s", c->operation,
				      SLICE_ARG(c->last.reply.message));
	reply->error = SLICE(REMOTE_OUTCOME_UNKNOWN);
	reply->status = 500;
}

static void count(struct call *c, const struct backend_reply *reply)
{
	double units = reply_units(reply->body);

	c->meter.operation = c->operation;
	c->meter.label = c->b->label;
	c->meter.us = clock_monotonic_us() - c->started_us;
	c->meter.trips = !c->b->is_beside;
	c->meter.failed = reply->status >= 500 || c->last.kind == RETRY_THROTTLED;
	c->meter.read_units = c->plan.reads ? units : 0;
	c->meter.write_units = c->plan.writes ? units : 0;
	meter_add(c->b->remote->meter, &c->meter);
}

/* Later ones that are not answered either do not make the silence shorter. */
static void note_question(struct remote *r, int64_t now_us)
{
	int64_t none = 0;

	atomic_compare_exchange_strong(&r->asked_us, &none, now_us);
}

int64_t remote_silent_ms(const struct remote *r)
{
	int64_t asked_us = atomic_load(&r->asked_us), us = clock_monotonic_us() - asked_us;

	return asked_us && us > 0 ? us / 1000 : 0;
}

void remote_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply)
{
	struct call c = {
		.b = (struct remote_backend *)b, .arena = a, .operation = operation, .started_us = clock_monotonic_us()
	};
	const struct remote_options *o = &c.b->remote->options;

	c.deadline_us = c.started_us + o->total_ms * 1000;
	note_question(c.b->remote, c.started_us);
	repeat_plan(a, operation, body, !o->plain_writes, !o->no_capacity, &c.plan);
	run_attempts(&c);
	settle(&c, reply);
	count(&c, reply);
}
