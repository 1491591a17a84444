/* Calls with retries, threads, and the job's messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "app/db/beside.h"
#include "base/clock.h"
#include "copy/copy_internal.h"

#define PAUSE_MS         50
#define LONGEST_PAUSE_MS 3000
#define PATIENCE_MS      60000
#define TELL_US          1000000
#define PARALLEL         8

/* ---- the job ---- */

bool copy_job_fail(struct job *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&j->lock);
	if (!j->failed)
		vsnprintf(j->why, sizeof(j->why), fmt, ap);
	j->failed = true;
	pthread_mutex_unlock(&j->lock);
	va_end(ap);
	atomic_store(&j->halt, true);
	return false;
}

void copy_job_say(struct job *j, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (j->o->say)
		j->o->say(j->o->ctx, slice_str(line));
}

bool copy_job_halted(struct job *j)
{
	return atomic_load(&j->halt) || (j->o->stop && atomic_load(j->o->stop));
}

bool copy_job_pause(struct job *j, int64_t ms)
{
	int64_t until = clock_monotonic_us() + ms * 1000, left;

	while (!copy_job_halted(j) && (left = until - clock_monotonic_us()) > 0)
		clock_pause_us(left < 50000 ? left : 50000);
	return !copy_job_halted(j);
}

unsigned copy_job_parallel(const struct job *j)
{
	return j->o->parallel ? j->o->parallel : PARALLEL;
}

static void copy_job_tell(struct job *j)
{
	struct copy_progress p = { .table = j->table, .about = j->about };
	int64_t change = atomic_load(&j->change_us);

	if (!j->o->progress)
		return;
	pthread_mutex_lock(&j->lock);
	p.phase = j->phase;
	pthread_mutex_unlock(&j->lock);
	p.items = atomic_load(&j->items);
	p.bytes = atomic_load(&j->bytes);
	p.changes = atomic_load(&j->changes);
	p.removed = atomic_load(&j->removed);
	p.lag_ms = atomic_load(&j->lag_ms);
	p.quiet_ms = change ? (clock_monotonic_us() - change) / 1000 : 0;
	p.is_throttled = atomic_load(&j->throttled) > 0;
	j->o->progress(j->o->ctx, &p);
}

/* ---- calls ---- */

bool copier_init(struct copier *c, struct job *j)
{
	*c = (struct copier){ .job = j };
	arena_init(&c->arena);
	c->backends[COPY_FROM] = database_open(j->o->from.database);
	c->backends[COPY_TO] = database_open(j->o->to.database);
	if (c->backends[COPY_FROM] && c->backends[COPY_TO])
		return true;
	copier_release(c);
	return copy_job_fail(j, "not enough memory");
}

void copier_release(struct copier *c)
{
	backend_free(c->backends[COPY_FROM]);
	backend_free(c->backends[COPY_TO]);
	arena_release(&c->arena);
}

static bool is_throttling(const struct backend_reply *r)
{
	static const char *const errors[] = { "ProvisionedThroughputExceededException",
					      "ThrottlingException",
					      "RequestLimitExceeded",
					      "LimitExceededException",
					      "TransactionConflictException",
					      NULL };

	return slice_is_one_of(r->error, errors);
}

/* Whether it is the database's trouble, and not the request's. */
static bool is_trouble(const struct backend_reply *r)
{
	return r->status >= 500;
}

static const struct copy_side *side_of(const struct copier *c, enum copy_at at)
{
	return at == COPY_FROM ? &c->job->o->from : &c->job->o->to;
}

static struct slice words_of(struct copier *c, enum copy_at at, const struct backend_reply *r)
{
	const struct copy_side *side = side_of(c, at);

	return side->explain ? side->explain(side->ctx, &c->arena, r) : r->message;
}

bool copier_refused(struct copier *c, enum copy_at at, const char *operation, const struct backend_reply *r)
{
	if (!r->error.n)
		return false; /* halted: reported already, or no error */
	return copy_job_fail(c->job, "%.*s at %s: %s: %.*s", SLICE_ARG(c->job->table), side_of(c, at)->name, operation,
			     SLICE_ARG(words_of(c, at, r)));
}

bool copier_call(struct copier *c, enum copy_at at, const char *operation, struct slice body, struct backend_reply *r)
{
	struct job *j = c->job;
	int64_t patience = (j->o->patience_ms ? j->o->patience_ms : PATIENCE_MS) * 1000;
	int64_t since = 0, pause = PAUSE_MS;
	bool throttled = false, goes_on = true, ok = false;

	while (goes_on) {
		if (copy_job_halted(j) && !c->has_last_word) {
			*r = (struct backend_reply){ 0 };
			break;
		}
		backend_call(c->backends[at], &c->arena, operation, body, r);
		ok = r->status == 200;
		goes_on = !ok && (is_throttling(r) || is_trouble(r));
		if (!goes_on)
			break;
		if (is_throttling(r) != throttled) {
			throttled = !throttled;
			atomic_fetch_add(&j->throttled, throttled ? 1 : -1);
		}
		if (throttled)
			since = 0;
		else if (!since)
			since = clock_monotonic_us();
		else if (clock_monotonic_us() - since > patience || (c->has_last_word && copy_job_halted(j))) {
			copy_job_fail(
				j,
				"%s does not answer (%s: %.*s). What was copied stays: run the same command again to continue",
				side_of(c, at)->name, operation, SLICE_ARG(words_of(c, at, r)));
			*r = (struct backend_reply){ 0 };
			break;
		}
		(void)copy_job_pause(j, pause);
		pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
	}
	if (throttled)
		atomic_fetch_sub(&j->throttled, 1);
	return ok;
}

bool copier_must(struct copier *c, enum copy_at at, const char *operation, struct slice body, struct backend_reply *r)
{
	return copier_call(c, at, operation, body, r) || copier_refused(c, at, operation, r);
}

/* ---- threads ---- */

struct work {
	struct job *job;
	void (*fn)(struct copier *c);
	pthread_t thread;
	bool started;
	atomic_bool done;
};

static void *work(void *arg)
{
	struct work *w = arg;
	struct copier c;

	if (copier_init(&c, w->job)) {
		ARENA_TRY(&c.arena, { w->fn(&c); }, { copy_job_fail(w->job, "not enough memory"); });
		copier_release(&c);
	}
	atomic_store(&w->done, true);
	return NULL;
}

static bool all_done(struct work *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].started && !atomic_load(&list[i].done))
			return false;
	return true;
}

static void supervise(struct job *j, struct work *list, unsigned n, bool (*watch)(struct copier *c))
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t told = clock_monotonic_us();
	struct copier own;
	bool goes_on = copier_init(&own, j);

	while (!all_done(list, n)) {
		if (goes_on && watch && !copy_job_halted(j)) {
			ARENA_TRY(&own.arena, { goes_on = watch(&own); }, { copy_job_fail(j, "not enough memory"); });
			arena_clear(&own.arena);
		}
		if (!goes_on)
			atomic_store(&j->follow_ends, true);
		if (clock_monotonic_us() - told >= TELL_US) {
			told = clock_monotonic_us();
			copy_job_tell(j);
		}
		nanosleep(&pause, NULL);
	}
	if (own.job && own.backends[COPY_FROM])
		copier_release(&own);
}

void copy_job_work(struct job *j, unsigned n, void (*fn)(struct copier *c), bool (*watch)(struct copier *c))
{
	struct work list[COPY_PARALLEL_MOST] = { 0 };
	unsigned started = 0;

	n = n < COPY_PARALLEL_MOST ? n : COPY_PARALLEL_MOST;
	for (unsigned i = 0; i < n; i++) {
		list[i].job = j;
		list[i].fn = fn;
		list[i].started = pthread_create(&list[i].thread, NULL, work, &list[i]) == 0;
		started += list[i].started;
	}
	if (!started)
		copy_job_fail(j, "no thread can be started");
	supervise(j, list, n, watch);
	for (unsigned i = 0; i < n; i++)
		if (list[i].started)
			pthread_join(list[i].thread, NULL);
	copy_job_tell(j);
}

/* ---- documents ---- */

struct buf copy_body(struct copier *c, struct slice table)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"TableName\":");
	json_string(&b, table);
	return b;
}

struct slice copy_beside(struct copier *c)
{
	return beside_name(&c->arena, c->job->table);
}
