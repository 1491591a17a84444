/* Carries out a plan: looks, takes the first missing step, looks again.
 *
 * Nothing is remembered of what was done but when a step was taken first, so that an endpoint that takes one and does
 * nothing is not asked forever.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/provision_request.h"
#include "base/clock.h"
#include "deploy/deploy_internal.h"

#define PAUSE_MS         50 /* at first */
#define LONGEST_PAUSE_MS 5000
#define TELL_US          15000000 /* that it is still waited for */
#define MOST_MS          (30 * 60 * 1000)
#define SHOWN_MS         (60 * 1000) /* what was taken shows by then; tags may be listed late */

/* What was tried of a step. */
struct tried {
	enum deploy_act act;
	size_t table;
	char index[256];
	bool given_up;
	int64_t taken_us;   /* when it was taken first; 0: not yet */
	int64_t refused_us; /* since when; 0: not, or taken since */
};
#define TRIED_MAX (DEPLOY_TABLES * (DEPLOY_TTL + 1 + INDEXES_MAX))

struct run_state {
	struct backend *backend;
	const struct deploy_want *want;
	const struct deploy_progress *progress;
	struct arena arena; /* of one round */
	struct deploy_plan plan;
	struct deploy_failure failure;
	struct tried tried[TRIED_MAX];
	size_t tried_count;
	char told[512]; /* the last line that was about waiting */
	int64_t told_us, since_us;
	int64_t pause_ms;
};

/* Longer each time while nothing happens. */
static void wait_a_little(struct run_state *s)
{
	clock_pause_us(s->pause_ms * 1000);
	s->pause_ms = s->pause_ms * 3 / 2;
	if (s->pause_ms > LONGEST_PAUSE_MS)
		s->pause_ms = LONGEST_PAUSE_MS;
}

static void say_line(struct run_state *s, struct slice line)
{
	s->progress->say(s->progress->ctx, line);
}

#define SAY(s, ...) say_line((s), arena_printf(&(s)->arena, __VA_ARGS__))

/* Once when it begins, then now and then. */
static void say_waiting(struct run_state *s, struct slice what)
{
	int64_t now = clock_monotonic_us();

	if (!slice_is(what, s->told)) {
		snprintf(s->told, sizeof(s->told), "%.*s", SLICE_ARG(what));
		s->since_us = s->told_us = now;
		s->pause_ms = PAUSE_MS;
		say_line(s, what);
	} else if (now - s->told_us >= TELL_US) {
		s->told_us = now;
		SAY(s, "%.*s (%lld s so far)", SLICE_ARG(what), (long long)((now - s->since_us) / 1000000));
	}
}

static struct slice name_of(const struct run_state *s, const struct deploy_step *step)
{
	return s->want->tables[step->table].as->table;
}

/* ---- steps ---- */

static struct tried *tried_of(struct run_state *s, const struct deploy_step *step)
{
	struct slice index = step->index ? step->index->name : SLICE("");
	struct tried *t;

	for (size_t i = 0; i < s->tried_count; i++)
		if (s->tried[i].act == step->act && s->tried[i].table == step->table &&
		    slice_is(index, s->tried[i].index))
			return &s->tried[i];
	t = &s->tried[s->tried_count < TRIED_MAX ? s->tried_count++ : TRIED_MAX - 1];
	*t = (struct tried){ .act = step->act, .table = step->table };
	snprintf(t->index, sizeof(t->index), "%.*s", SLICE_ARG(index));
	return t;
}

/* What is next of a table; NULL: it is done. */
static const struct deploy_step *next_of(struct run_state *s, size_t table)
{
	for (size_t i = 0; i < s->plan.step_count; i++) {
		const struct deploy_step *step = &s->plan.steps[i];

		if (step->table == table && !tried_of(s, step)->given_up)
			return step;
	}
	return NULL;
}

/* The other table is not kept waiting by one that takes long. NULL: all is done. */
static const struct deploy_step *next_step(struct run_state *s)
{
	const struct deploy_step *waits = NULL;

	for (size_t i = 0; i < DEPLOY_TABLES; i++) {
		const struct deploy_step *step = next_of(s, i);

		if (step && step->act != DEPLOY_WAIT)
			return step;
		waits = waits ? waits : step;
	}
	return waits;
}

/* An index is billed as its table is now. */
static bool index_body(struct run_state *s, const struct deploy_step *step, struct slice *body)
{
	const struct deploy_table *t = &s->want->tables[step->table];
	const struct json *table;

	if (!deploy_look_table(s->backend, t, &s->arena, &table, &s->failure))
		return false;
	*body = deploy_request_index(t, step->index, deploy_units_in(table), &s->arena);
	return true;
}

static bool body_of(struct run_state *s, const struct deploy_step *step, const char **operation, struct slice *body)
{
	const struct deploy_table *t = &s->want->tables[step->table];

	*operation = "UpdateTable";
	switch (step->act) {
	case DEPLOY_CREATE:
		*operation = "CreateTable";
		*body = deploy_request_create(t, &s->arena);
		break;
	case DEPLOY_PROTECT: *body = deploy_request_protect(t, &s->arena); break;
	case DEPLOY_RECOVERY:
		*operation = "UpdateContinuousBackups";
		*body = deploy_request_recovery(t, &s->arena);
		break;
	case DEPLOY_TAG:
		*operation = "TagResource";
		*body = deploy_request_tag(t, s->plan.arns[step->table], &s->arena);
		break;
	case DEPLOY_STREAM: *body = deploy_request_stream(t, &s->arena); break;
	case DEPLOY_INDEX: return index_body(s, step, body);
	case DEPLOY_TTL:
		*operation = "UpdateTimeToLive";
		*body = provision_enable_ttl(t->as, &s->arena);
		break;
	case DEPLOY_WAIT: break;
	}
	return true;
}

/* ---- answers ---- */

static bool mentions(struct slice text, const char *part)
{
	return text.n && memmem(text.p, text.n, part, strlen(part));
}

/* It will be taken later, or another has done it meanwhile: look again. */
static bool is_passing(const struct backend_reply *r)
{
	static const char *const errors[] = {
		"ResourceInUseException", "LimitExceededException",    "ContinuousBackupsUnavailableException",
		"ThrottlingException",    "ResourceNotFoundException", "TableNotFoundException",
		"OutcomeUnknown",         "ServiceUnavailable",        "InternalServerError",
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (slice_is(r->error, errors[i]))
			return true;
	/* "TimeToLive is already enabled", "Table already has an enabled stream", "… already exists" */
	return slice_is(r->error, "ValidationException") && mentions(r->message, "already");
}

static bool report_refusal(struct run_state *s, const struct deploy_step *step, const char *operation,
			   const struct backend_reply *r)
{
	s->failure = (struct deploy_failure){ .operation = operation, .table = name_of(s, step), .reply = *r };
	if (step->act == DEPLOY_TTL && mentions(r->message, "multiple times within a fixed interval"))
		s->failure.words =
			SLICE("TTL can be changed once an hour: everything else is done, run this again then");
	return false;
}

static bool bear(struct run_state *s, const struct deploy_step *step, struct tried *t, const char *operation,
		 const struct backend_reply *r)
{
	int64_t now = clock_monotonic_us(), most = s->progress->most_ms ? s->progress->most_ms : MOST_MS;

	if (!t->refused_us)
		t->refused_us = now;
	if (now - t->refused_us > most * 1000)
		return report_refusal(s, step, operation, r);
	if (t->taken_us || now - t->refused_us > 1000000) /* not for what passes at once, such as a second deploy */
		say_waiting(s, arena_printf(&s->arena, "%.*s: waiting, for %s is not taken now: %.*s",
					    SLICE_ARG(name_of(s, step)), operation, SLICE_ARG(r->message)));
	wait_a_little(s);
	return true;
}

/* The endpoint has taken it before, and it does not show. */
static bool ask_again(struct run_state *s, const struct deploy_step *step, const struct tried *t, const char *operation)
{
	int64_t most = s->progress->most_ms && s->progress->most_ms < SHOWN_MS ? s->progress->most_ms : SHOWN_MS;

	wait_a_little(s);
	if (clock_monotonic_us() - t->taken_us <= most * 1000)
		return true;
	s->failure = (struct deploy_failure){ .table = name_of(s, step) };
	s->failure.words = arena_printf(&s->arena, "the endpoint accepts %s, but does nothing (%.*s)", operation,
					SLICE_ARG(step->words));
	return false;
}

/* False: the failure. */
static bool take_step(struct run_state *s, const struct deploy_step *step)
{
	struct tried *t = tried_of(s, step);
	struct backend_reply r;
	const char *operation;
	struct slice body;

	if (!body_of(s, step, &operation, &body))
		return false;
	if (t->taken_us && !ask_again(s, step, t, operation))
		return false;
	backend_call(s->backend, &s->arena, operation, body, &r);
	if (deploy_is_unknown(&r)) {
		SAY(s, "%.*s: left out, for this endpoint has no %s: %.*s", SLICE_ARG(name_of(s, step)), operation,
		    SLICE_ARG(step->words));
		t->given_up = true;
		return true;
	}
	if (r.status != 200)
		return is_passing(&r) ? bear(s, step, t, operation, &r) : report_refusal(s, step, operation, &r);
	if (!t->taken_us) {
		SAY(s, "%.*s: %.*s", SLICE_ARG(name_of(s, step)), SLICE_ARG(step->words));
		t->taken_us = clock_monotonic_us();
		s->pause_ms = PAUSE_MS;
	}
	t->refused_us = 0;
	return true;
}

/* ---- rounds ---- */

static enum deploy_end blocked(struct run_state *s)
{
	for (size_t i = 0; i < s->plan.remark_count; i++)
		if (s->plan.remarks[i].weight == DEPLOY_OBSTACLE) {
			s->failure =
				(struct deploy_failure){ .table = s->want->tables[s->plan.remarks[i].table].as->table,
							 .words = s->plan.remarks[i].words };
			break;
		}
	return DEPLOY_BLOCKED;
}

/* False: *end. */
static bool round_of(struct run_state *s, enum deploy_end *end)
{
	const struct deploy_step *step;

	*end = DEPLOY_FAILED;
	if (!deploy_look(s->backend, s->want, &s->arena, &s->plan, &s->failure))
		return false;
	if (s->plan.obstacle_count) {
		*end = blocked(s);
		return false;
	}
	step = next_step(s);
	if (!step) {
		*end = DEPLOY_DONE;
		return false;
	}
	if (step->act != DEPLOY_WAIT)
		return take_step(s, step);
	say_waiting(s, arena_printf(&s->arena, "%.*s: %.*s", SLICE_ARG(name_of(s, step)), SLICE_ARG(step->words)));
	wait_a_little(s);
	return true;
}

static struct slice copy_text(struct arena *a, struct slice s)
{
	return s.n ? arena_printf(a, "%.*s", SLICE_ARG(s)) : SLICE("");
}

enum deploy_end deploy_run(struct backend *b, const struct deploy_want *w, const struct deploy_progress *p,
			   struct arena *a, struct deploy_failure *f)
{
	struct run_state *s = arena_new(a, struct run_state);
	volatile enum deploy_end end = DEPLOY_FAILED;
	volatile bool goes_on = true;
	enum deploy_end how;

	*s = (struct run_state){ .backend = b, .want = w, .progress = p, .pause_ms = PAUSE_MS };
	arena_init(&s->arena);
	while (goes_on) {
		arena_clear(&s->arena);
		ARENA_TRY(&s->arena, {
			goes_on = round_of(s, &how);
			end = how;
		}, {
			s->failure = (struct deploy_failure){ .words = SLICE("not enough memory") };
			goes_on = false;
		});
	}
	*f = s->failure;
	f->table = copy_text(a, f->table);
	f->words = copy_text(a, f->words);
	f->reply.error = copy_text(a, f->reply.error);
	f->reply.message = copy_text(a, f->reply.message);
	f->reply.body = NULL;
	arena_release(&s->arena);
	return end;
}
