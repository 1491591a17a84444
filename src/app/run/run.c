/* Problems: their names, and setting them. SPDX-License-Identifier: Apache-2.0 */
#include "app/run/run.h"

#include "app/run/state.h"
#include "base/grow.h"
#include "base/clock.h"
#include "base/log_seldom.h"

/* How long a client should wait before it retries after BUSY. */
#define BUSY_SECONDS 1

/* clang-format off */
static const struct {
	int status;
	const char *name, *title;
} problems[] = {
	[PROBLEM_NONE] = { 200, "none", "" },
#define X(enum_name, status, type, title) [PROBLEM_##enum_name] = { status, type, title },
	PROBLEM_MAP(X)
#undef X
};
/* clang-format on */

int problem_status(enum problem_type t)
{
	return problems[t].status;
}

const char *problem_name(enum problem_type t)
{
	return problems[t].name;
}

const char *problem_title(enum problem_type t)
{
	return problems[t].title;
}

bool run_fail(struct run *r, enum problem_type t, const char *fmt, ...)
{
	va_list ap;

	r->problem = (struct problem){ .type = t };
	va_start(ap, fmt);
	r->problem.detail = arena_vprintf(r->arena, fmt, ap);
	va_end(ap);
	return false;
}

static void add_part(struct run *r, struct slice attribute, struct slice detail)
{
	struct problem *p = &r->problem;

	GROW_IN(r->arena, p->parts, p->part_count, p->part_capacity, 8);
	p->parts[p->part_count++] = (struct problem_part){ attribute, detail };
}

bool run_invalid(struct run *r, struct slice attribute, const char *fmt, ...)
{
	struct slice detail;
	va_list ap;

	va_start(ap, fmt);
	detail = arena_vprintf(r->arena, fmt, ap);
	va_end(ap);
	if (r->problem.type != PROBLEM_INVALID)
		(void)run_fail(r, PROBLEM_INVALID, "%.*s%s%.*s", SLICE_ARG(attribute), attribute.n ? ": " : "",
			       SLICE_ARG(detail));
	add_part(r, attribute, detail);
	return false;
}

bool run_error(struct run *r, const struct error *e)
{
	if (e->code == ERR_VALIDATION)
		return run_fail(r, PROBLEM_INVALID, "%.*s", SLICE_ARG(e->message));
	/* If a term fetched another item, the problem of that fetch says more. */
	if (r->problem.type != PROBLEM_NONE)
		return false;
	log_error("%.*s: %s: %.*s", SLICE_ARG(r->design->name), err_wire_name(e->code), SLICE_ARG(e->message));
	return run_fail(r, PROBLEM_INTERNAL, "%s", "the server could not finish this request");
}

bool run_busy(struct run *r)
{
	(void)run_fail(r, PROBLEM_BUSY, "%s", "the database has too much to do at the moment");
	r->problem.retry_after = BUSY_SECONDS;
	return false;
}

bool run_may_hash(struct run *r)
{
	if (!r->no_hashing)
		return true;
	r->wants_hashing = true;
	(void)run_fail(r, PROBLEM_BUSY, "%s", "too many passwords are being hashed at the moment");
	r->problem.retry_after = BUSY_SECONDS;
	return false;
}

static bool has_one_of(struct slice message, const char *const *texts)
{
	for (; *texts; texts++)
		if (memmem(message.p, message.n, *texts, strlen(*texts)))
			return true;
	return false;
}

/* DynamoDB reports a too large item or transaction as a plain ValidationException. */
static bool says_too_large(struct slice message)
{
	static const char *const texts[] = { "Item size has exceeded", "Item size to update has exceeded",
					     "Transaction payload size cannot exceed", "item collection size", NULL };

	return has_one_of(message, texts);
}

/* The table was there, with all indexes, when the server started. */
static bool says_table_changed(const struct backend_reply *reply)
{
	static const char *const texts[] = { "does not have the specified index",
					     "from backfilling global secondary index", NULL };

	return slice_is(reply->error, "ResourceNotFoundException") ||
	       (slice_is(reply->error, "ValidationException") && has_one_of(reply->message, texts));
}

static bool tell_table_changed(struct run *r, const struct backend_reply *reply)
{
	log_error("%.*s: table %.*s, or the one beside it, is no longer as the design says; `thorpe deploy` compares: %.*s",
		  SLICE_ARG(r->design->name), SLICE_ARG(r->design->table), SLICE_ARG(reply->message));
	return run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}

static bool is_throttling(struct slice error)
{
	static const char *const errors[] = { "ThrottlingException", "ProvisionedThroughputExceededException",
					      "RequestLimitExceeded", NULL };

	return slice_is_one_of(error, errors);
}

/* Refuses this server, whatever it asks: its keys are unknown, have ended or are wrong. Nothing was done. */
static bool refuses_credentials(struct slice error)
{
	static const char *const errors[] = { "UnrecognizedClientException", "ExpiredTokenException",
					      "InvalidSignatureException", NULL };

	return slice_is_one_of(error, errors);
}

/* Whether the reply is lost or late, or the credentials are refused. A database in this process always knows its
 * outcome. */
static bool is_out_of_reach(const struct run *r, int status, struct slice error)
{
	return run_is_remote(r) && (status >= 500 || refuses_credentials(error));
}

static bool has_throttled_action(const struct request *q, const struct reply *reply)
{
	for (size_t i = 0; reply->reasons && i < q->write.count; i++)
		if (reply->reasons[i].error.code == ERR_THROTTLING ||
		    reply->reasons[i].error.code == ERR_THROUGHPUT_EXCEEDED)
			return true;
	return false;
}

void run_note_unserved(struct run *r, const struct request *q, const struct reply *reply)
{
	if (r->unserved && (is_throttling(reply->error) || has_throttled_action(q, reply) ||
			    is_out_of_reach(r, reply->status, reply->error)))
		atomic_store(r->unserved, true);
}

/* Every request may meet this at once: seldom logged. */
static bool tell_out_of_reach(struct run *r, const struct backend_reply *reply)
{
	static struct log_seldom cannot_ask, refused, away;
	int64_t now_us = clock_monotonic_us();

	if (slice_is(reply->error, "CredentialsUnavailable")) /* of this server (remote/remote.h) */
		log_seldom(&cannot_ask, now_us, LOG_WARN, "%.*s: the database cannot be asked: %.*s",
			   SLICE_ARG(r->design->name), SLICE_ARG(reply->message));
	else if (reply->status < 500)
		log_seldom(&refused, now_us, LOG_ERROR,
			   "%.*s: the database refuses this server's credentials: %.*s: %.*s",
			   SLICE_ARG(r->design->name), SLICE_ARG(reply->error), SLICE_ARG(reply->message));
	else
		log_seldom(&away, now_us, LOG_WARN, "%.*s: trouble with the database: %.*s: %.*s",
			   SLICE_ARG(r->design->name), SLICE_ARG(reply->error), SLICE_ARG(reply->message));
	(void)run_fail(r, PROBLEM_BUSY, "%s", "the database does not answer");
	r->problem.retry_after = BUSY_SECONDS;
	return false;
}

static bool tell_unknown(struct run *r, const struct backend_reply *reply)
{
	(void)tell_out_of_reach(r, reply);
	(void)run_fail(r, PROBLEM_BUSY, "%s",
		       "the database did not say whether this was done: look before you repeat it");
	r->problem.retry_after = BUSY_SECONDS;
	r->problem.outcome = OUTCOME_UNKNOWN;
	return false;
}

bool run_backend_error(struct run *r, const struct backend_reply *reply)
{
	static const char *const busy[] = { "ThrottlingException",
					    "ProvisionedThroughputExceededException",
					    "RequestLimitExceeded",
					    "TransactionConflictException",
					    "TransactionInProgressException",
					    "TransactionCanceledException",
					    "ServiceUnavailable",
					    NULL };
	static const char *const large[] = { "ItemCollectionSizeLimitExceededException",
					     "RequestEntityTooLargeException", NULL };
	bool invalid = slice_is(reply->error, "ValidationException");

	if (slice_is(reply->error, "OutcomeUnknown"))
		return tell_unknown(r, reply);
	if (is_out_of_reach(r, reply->status, reply->error)) /* before `busy`: an unreachable database is a 503 too */
		return tell_out_of_reach(r, reply);
	if (slice_is_one_of(reply->error, busy))
		return run_busy(r);
	if (says_table_changed(reply))
		return tell_table_changed(r, reply);
	if (slice_is_one_of(reply->error, large) || (invalid && says_too_large(reply->message)))
		return run_fail(r, PROBLEM_TOO_LARGE, "%s", "an item can hold at most 400 KB");
	if (invalid) {
		/* The message may name hidden attributes, so it is only logged. */
		log_warn("%.*s: the database refuses this: %.*s", SLICE_ARG(r->design->name), SLICE_ARG(reply->message));
		return run_fail(r, PROBLEM_INVALID, "%s",
				"the database refuses these values: too long for a key, or out of range");
	}
	log_error("%.*s: the database says %d %.*s: %.*s", SLICE_ARG(r->design->name), reply->status,
		  SLICE_ARG(reply->error), SLICE_ARG(reply->message));
	return run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}

bool run_reply_error(struct run *r, const struct reply *reply)
{
	return run_backend_error(r, &(struct backend_reply){
					    .status = reply->status, .error = reply->error, .message = reply->message });
}

struct slice run_text(struct run *r, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: return value_bytes(v);
	case VALUE_BOOL: return value_bool(v) ? SLICE("true") : SLICE("false");
	case VALUE_N: n = value_number(v); return arena_copy(r->arena, slice_make(text, number_format(&n, text)));
	default: return SLICE("");
	}
}

/* ---- runs inside a run ---- */

struct branch {
	struct run run;
	struct arena arena;
};

static void release(void *arena)
{
	arena_release(arena);
}

struct run *branch_new(struct run *r)
{
	struct branch *b = arena_new(r->arena, struct branch);

	b->run = *r;
	b->run.memo = NULL;
	b->run.renames = NULL;
	b->run.witnesses = NULL;
	b->run.problem = (struct problem){ 0 };
	b->run.depth++;
	/* Traced requests must live as long as the request. */
	if (r->trace)
		return &b->run;
	arena_init(&b->arena);
	b->arena.oom = r->arena->oom;
	b->run.arena = &b->arena;
	arena_defer(r->arena, release, &b->arena);
	return &b->run;
}

void branch_clear(struct run *branch, const struct run *r)
{
	branch->memo = NULL;
	branch->renames = NULL;
	branch->witnesses = NULL;
	branch->problem = (struct problem){ 0 };
	branch->caller = r->caller;
	if (branch->arena != r->arena)
		arena_clear(branch->arena);
}

/* ---- roles ---- */

bool run_has_role(const struct run *r, struct slice role)
{
	const struct caller *c = &r->caller;

	if (c->operator_)
		return true;
	if (!c->subject.n)
		return false;
	if (slice_is(role, "user"))
		return true;
	for (size_t i = 0; i < c->role_count; i++)
		if (slice_equal(c->roles[i], role))
			return true;
	return false;
}
