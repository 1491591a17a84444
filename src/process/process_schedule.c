/* Processors that run on a schedule: one thread gives each its run when it is due.
 *
 * A run is a change without an item, whose sequence is its time: so it has a position as other changes have, its writes
 * and the position are one transaction, and a run that was interrupted continues (effect.h). Of the runs that a stop or
 * a pause has missed only the last one is made up for.
 *
 * Invariants
 *   D1  The stored position is at or after a time exactly when the run of that time is done, or was given up.
 *   D2  A run begins only if no earlier one is under way: its progress is in the position.
 * With a remote table the server that owns the shard SCHEDULE_SHARD runs them; that only saves work, for two servers
 * cannot both move a position.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/waker.h"
#include "process/effect/effect.h"
#include "process/process_internal.h"

#define TICK_MOST_MS  5000 /* the wall clock may jump */
#define TICK_HELD_MS  500  /* while a run is due that another server should make, or that waits for its next try */
#define TICK_LEAST_MS 5
#define AHEAD_MOST_MS (24 * 3600 * INT64_C(1000)) /* by which clocks of servers may differ */

struct job {
	struct station *station;
	bool known;           /* done_ms is as in the table */
	int64_t done_ms;      /* the last run */
	char *progress;       /* when a try failed; NULL: none */
	int tries;            /* since it last made progress */
	int judged;           /* of these: the database was there, and it failed all the same */
	int all_tries;        /* of this run */
	int64_t next_us;      /* not before */
	bool asked;           /* the run at hand: an operator asked for it */
	atomic_bool unserved; /* in this try the database was not there, or had no time: run_note_unserved() */
};

struct timetable {
	struct process *process;
	struct backend *backend;
	struct arena arena;
	struct job *jobs;
	size_t count;
	struct waker waker;
	atomic_bool give_way;
	pthread_t thread;
	bool started;
};

int64_t schedule_due_ms(const struct processor *p, int64_t now_ms)
{
	int64_t since = now_ms / 1000 - p->every_offset, n = since / p->every_seconds;

	if (since < 0 && since % p->every_seconds)
		n--;
	return (n * p->every_seconds + p->every_offset) * 1000;
}

static struct slice sequence_of(struct arena *a, int64_t ms)
{
	return arena_printf(a, "%021" PRId64, ms);
}

int64_t schedule_ms(struct slice sequence)
{
	int64_t ms = 0;

	for (size_t i = 0; i < sequence.n && sequence.p[i] >= '0' && sequence.p[i] <= '9'; i++)
		ms = ms * 10 + (sequence.p[i] - '0');
	return ms;
}

/* ---- one run ---- */

static void keep_progress(struct job *j, struct slice progress)
{
	mem_free(j->progress);
	j->progress = progress.n ? mem_strndup(progress.p, progress.n) : NULL;
}

static void set_done(struct job *j, int64_t ms)
{
	j->known = true;
	j->done_ms = ms;
	j->tries = j->judged = j->all_tries = 0;
	j->next_us = 0;
	j->asked = false;
	keep_progress(j, SLICE(""));
	atomic_store(&j->station->due_ms, 0);
	atomic_store(&j->station->ran_ms, ms);
}

/* Moves the position without an effect. False: another server has moved it, or the table cannot be written. */
static bool move_on(struct run *r, struct job *j, const struct position *at, struct slice sequence)
{
	struct position now = {
		.processor = at->processor, .shard = at->shard, .sequence = sequence, .stored = true, .time_ms = r->now_ms
	};

	if (!checkpoint_save(r, at, &now)) {
		j->known = false;
		j->next_us = clock_monotonic_us() + TICK_HELD_MS * 1000;
		return false;
	}
	set_done(j, schedule_ms(sequence));
	return true;
}

/* The run is given up after some tries, of which those without the database do not count; the next one is made when it
 * is due. */
static void failed(struct timetable *t, struct run *r, struct job *j, struct slice sequence)
{
	struct station *s = j->station;
	struct run *b = branch_new(r);
	bool judged = !atomic_load(&j->unserved);
	struct position at;

	j->known = false;
	if (!checkpoint_load(b, s->name, SLICE(SCHEDULE_SHARD), &at)) {
		j->next_us = clock_monotonic_us() + TICK_MOST_MS * 1000;
		return;
	}
	if (!slice_is(at.progress, j->progress ? j->progress : ""))
		j->tries = j->judged = 0;
	keep_progress(j, at.progress);
	j->tries++;
	j->judged += judged;
	j->all_tries++;
	if (j->judged < track_most_tries(r->problem.type) && j->all_tries < RETRIES_ALL) {
		atomic_fetch_add(&s->ledger.retries, 1);
		ledger_problem(&s->ledger, r->problem.detail, r->now_ms);
		j->next_us = clock_monotonic_us() + track_wait_ms(j->tries) * 1000;
		return;
	}
	if (sequence_compare(at.sequence, sequence) < 0 && !move_on(b, j, &at, sequence))
		return;
	station_problem(t->process, s, "a run is given up", r->problem.detail);
}

/* A run that has not begun is known here alone. */
static void ask_again(struct job *j, const struct position *at)
{
	if (j->asked && !j->known && !at->progress.n)
		atomic_store(&j->station->run_now, true);
}

static void run_once(struct timetable *t, struct run *r, struct job *j, struct position *at, struct slice sequence)
{
	struct station *s = j->station;
	struct change c = { .sequence = sequence, .created_ms = schedule_ms(sequence) };
	struct passed_over passed = { 0 };
	struct position was = *at;
	enum effect_end end;

	r->passed_over = &passed;
	atomic_store(&s->due_ms, c.created_ms);
	end = effect_apply_until(r, s->processor, &c, at, &t->give_way);
	ledger_pass_over(&s->ledger, &passed, r->now_ms);
	switch (end) {
	case EFFECT_NONE:
		if (!move_on(r, j, &was, sequence))
			return;
		break;
	case EFFECT_DONE: set_done(j, c.created_ms); break;
	case EFFECT_LOST:
		j->known = false;
		ask_again(j, at);
		return;
	case EFFECT_FAILED:
		if (r->problem.type == PROBLEM_BUSY && atomic_load(&t->give_way))
			return;
		failed(t, r, j, sequence);
		ask_again(j, at);
		return;
	}
	atomic_fetch_add(&s->ledger.done, 1);
}

/* What is to be run now: a run that has begun; the one that is due; one that an operator asked for. Empty: none. */
static struct slice next_run(struct run *r, struct job *j, const struct position *at, int64_t due_ms)
{
	struct slice begun = effect_begun(at->progress);
	int64_t now = r->now_ms > schedule_ms(at->sequence) ? r->now_ms : schedule_ms(at->sequence) + 1;

	if (begun.n)
		return begun;
	j->asked = false;
	if (due_ms > schedule_ms(at->sequence))
		return sequence_of(r->arena, due_ms);
	j->asked = atomic_exchange(&j->station->run_now, false);
	return j->asked ? sequence_of(r->arena, now) : SLICE("");
}

/* A server with a wrong clock may have run it in what is the future by this one; no run would be due until then. */
static bool is_ahead(const struct run *r, const struct position *at)
{
	return at->stored && !effect_begun(at->progress).n && schedule_ms(at->sequence) > r->now_ms + AHEAD_MOST_MS;
}

static void run_job(struct timetable *t, struct run *r, struct job *j, int64_t due_ms)
{
	struct station *s = j->station;
	struct position at;
	struct slice sequence;

	if (!checkpoint_load(r, s->name, SLICE(SCHEDULE_SHARD), &at)) {
		j->known = false;
		j->next_us = clock_monotonic_us() + TICK_MOST_MS * 1000;
		ledger_problem(&s->ledger, r->problem.detail, r->now_ms);
		return;
	}
	if (!at.stored) { /* a new schedule begins with the next time */
		(void)!move_on(r, j, &at, sequence_of(r->arena, due_ms));
		return;
	}
	if (is_ahead(r, &at)) {
		station_problem(t->process, s, "its schedule begins anew", SLICE("its last run is in the future"));
		(void)!move_on(r, j, &at, sequence_of(r->arena, due_ms));
		return;
	}
	sequence = next_run(r, j, &at, due_ms);
	if (sequence.n)
		run_once(t, r, j, &at, sequence);
	else
		set_done(j, schedule_ms(at.sequence));
}

/* ---- the thread ---- */

static bool is_ours(const struct process *p)
{
	return !p->leases || lease_is_mine(p->leases, SLICE(SCHEDULE_SHARD), clock_monotonic_us());
}

/* Returns when to look again, in milliseconds. */
static int64_t look(struct timetable *t, struct job *j)
{
	struct process *p = t->process;
	struct station *s = j->station;
	int64_t now = app_now_ms(p->app), due = schedule_due_ms(s->processor, now);
	int64_t next = due + s->processor->every_seconds * 1000 - now;
	bool asked = atomic_load(&s->run_now);
	bool done = j->known && j->done_ms >= due && j->done_ms <= now + AHEAD_MOST_MS && !asked;

	if (done || atomic_load(&s->paused)) {
		atomic_store(&s->due_ms, 0); /* a run that is under way waits */
		return next;
	}
	if (!asked && !is_ours(p)) {
		j->known = false; /* the owner moves it */
		atomic_store(&s->due_ms, 0);
		return next < TICK_HELD_MS ? next : TICK_HELD_MS;
	}
	if (clock_monotonic_us() < j->next_us)
		return TICK_HELD_MS < track_wait_ms(j->tries) ? TICK_HELD_MS : track_wait_ms(j->tries);
	ARENA_TRY(&t->arena, {
		struct run r = process_run(p, t->backend, &t->arena);

		atomic_store(&j->unserved, false);
		r.unserved = &j->unserved;
		run_job(t, &r, j, due);
	}, {
		j->known = false;
		j->next_us = clock_monotonic_us() + TICK_MOST_MS * 1000;
	});
	arena_clear(&t->arena);
	return j->known && !atomic_load(&s->run_now) ? next : TICK_LEAST_MS;
}

static void *run_timetable(void *arg)
{
	struct timetable *t = arg;
	int64_t wait = 0;

	while (waker_wait(&t->waker, wait)) {
		wait = TICK_MOST_MS;
		for (size_t i = 0; i < t->count && !atomic_load(&t->give_way); i++) {
			int64_t next = look(t, &t->jobs[i]);

			wait = next < wait ? next : wait;
		}
		wait = wait > TICK_LEAST_MS ? wait : TICK_LEAST_MS;
	}
	return NULL;
}

/* ---- life ---- */

static struct timetable *timetable_new(struct process *p)
{
	struct timetable *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->process = p;
	arena_init(&t->arena);
	waker_init(&t->waker);
	t->jobs = mem_zalloc((p->station_count + 1) * sizeof(*t->jobs));
	t->backend = database_open(p->database);
	for (size_t i = 0; t->jobs && i < p->station_count; i++)
		if (station_is_scheduled(&p->stations[i]))
			t->jobs[t->count++].station = &p->stations[i];
	return t;
}

/* Requests wake it, under the lock. */
static void set_timetable(struct process *p, struct timetable *t)
{
	pthread_mutex_lock(&p->lock);
	p->timetable = t;
	pthread_mutex_unlock(&p->lock);
}

bool schedule_start(struct process *p)
{
	struct timetable *t = timetable_new(p);

	if (!t)
		return false;
	set_timetable(p, t);
	t->started = t->jobs && t->backend && pthread_create(&t->thread, NULL, run_timetable, t) == 0;
	if (!t->started)
		schedule_stop(p);
	return p->timetable != NULL;
}

void schedule_wake(struct process *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->timetable)
		waker_wake(&p->timetable->waker);
	pthread_mutex_unlock(&p->lock);
}

void schedule_stop(struct process *p)
{
	struct timetable *t = p->timetable;

	if (!t)
		return;
	set_timetable(p, NULL);
	atomic_store(&t->give_way, true);
	waker_stop(&t->waker);
	if (t->started)
		pthread_join(t->thread, NULL);
	for (size_t i = 0; t->jobs && i < t->count; i++)
		mem_free(t->jobs[i].progress);
	mem_free(t->jobs);
	backend_free(t->backend);
	arena_release(&t->arena);
	waker_release(&t->waker);
	mem_free(t);
}
