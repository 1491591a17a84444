/* The phases in order, and the ownership of the copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "copy/copy_internal.h"

#define SAVE_MS         1000
#define SEGMENTS        16
#define BEGINNINGS_MOST 3     /* restarts after losing changes */
#define ROUNDS_MOST     20    /* of the switch, while changes come */
#define UNDONE_WAIT_MS  20000 /* for processors that are running */
#define UNDONE_LOOK_MS  500
#define CHECKED_MOST    100000 /* items that are compared before a switch: a matter of seconds */
#define BEAT_LOOK_MS    300

static void set_phase(struct job *j, enum copy_phase phase)
{
	pthread_mutex_lock(&j->lock);
	j->phase = phase;
	pthread_mutex_unlock(&j->lock);
}

/* ---- the saver: keeps the state current, and shows that this copy is alive ---- */

struct saver {
	struct job *job;
	pthread_t thread;
	atomic_bool stop;
	bool started;
};

static void *save_on(void *arg)
{
	struct saver *s = arg;
	struct copier c;

	if (!copier_init(&c, s->job))
		return NULL;
	while (!atomic_load(&s->stop) && !copy_job_halted(s->job)) {
		const struct timespec pause = { .tv_nsec = 20000000 };

		arena_clear(&c.arena);
		ARENA_TRY(&c.arena, { (void)!copy_state_save(&c); }, { copy_job_fail(s->job, "not enough memory"); });
		for (int64_t i = 0; i < SAVE_MS / 20 && !atomic_load(&s->stop); i++)
			nanosleep(&pause, NULL);
	}
	copier_release(&c);
	return NULL;
}

static void saver_stop(struct saver *s)
{
	atomic_store(&s->stop, true);
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
}

static bool saver_start(struct saver *s, struct job *j)
{
	s->job = j;
	s->started = pthread_create(&s->thread, NULL, save_on, s) == 0;
	return s->started || copy_job_fail(j, "no thread can be started");
}

/* ---- the target ---- */

/* Another copy that lives moves its state once a second. */
static bool wait_for_owner(struct copier *c, enum state_found *found, struct slice *owner, uint64_t *beat)
{
	int64_t expire_ms = c->job->o->expire_ms ? c->job->o->expire_ms : COPY_EXPIRE_MS;
	int64_t until = clock_monotonic_us() + expire_ms * 1000;
	uint64_t was = *beat;

	if (owner->n)
		copy_job_say(c->job, "%.*s: an earlier copy was interrupted, or still runs: looking for %lld seconds",
			     SLICE_ARG(c->job->table), (long long)(expire_ms + 999) / 1000);
	while (owner->n && clock_monotonic_us() < until) {
		if (!copy_job_pause(c->job, expire_ms < BEAT_LOOK_MS ? expire_ms : BEAT_LOOK_MS) ||
		    !copy_state_load(c, found, owner, beat))
			return false;
		if (owner->n && *beat != was)
			return copy_job_fail(c->job, "another copy of %.*s to %s is running", SLICE_ARG(c->job->table),
					     c->job->o->to.name);
	}
	return true;
}

static bool refuse_items(struct job *j)
{
	return copy_job_fail(
		j,
		"%.*s at %s has items already: nothing was changed. --replace makes it equal to the source, and its own items are lost",
		SLICE_ARG(j->table), j->o->to.name);
}

/* Decides by the state what the target's items are. *anew: starts over. */
static bool judge_state(struct job *j, enum state_found found, bool has_items, bool *anew)
{
	bool replace = j->o->replace;

	*anew = true;
	j->is_over =
		found == STATE_OURS && j->phase == COPY_SWITCHED && j->o->mode == COPY_SWITCH && !replace && has_items;
	if (j->is_over)
		return true;
	switch (found) {
	case STATE_NEWER:
		return copy_job_fail(
			j, "a later version of Thorpe has begun to copy %.*s to %s: this version cannot continue it",
			SLICE_ARG(j->table), j->o->to.name);
	case STATE_NONE: return !has_items || replace || refuse_items(j);
	case STATE_OTHER:
		return !has_items || replace ||
		       copy_job_fail(
			       j,
			       "%.*s at %s is a copy of another table than that at %s: nothing was changed. --replace starts over, and its own items are lost",
			       SLICE_ARG(j->table), j->o->to.name, j->o->from.name);
	case STATE_OURS: break;
	}
	if (j->phase == COPY_SWITCHED)
		return !has_items || replace ||
		       copy_job_fail(
			       j,
			       "%.*s at %s was switched to: it has changed independently since then, and nothing was changed. --replace starts over, and its own items are lost",
			       SLICE_ARG(j->table), j->o->to.name);
	*anew = j->phase == COPY_BEGINNING || (!has_items && atomic_load(&j->items)) ||
		(j->phase == COPY_SCANNING && !j->segment_count);
	return true;
}

static bool look_at_target(struct copier *c, const struct json *from, bool *exists, bool *has_items)
{
	struct job *j = c->job;
	const struct json *to;
	struct slice why;

	*has_items = false;
	if (!copy_table_describe(c, COPY_TO, j->table, &to))
		return false;
	*exists = to != NULL;
	if (!to)
		return true;
	if (!copy_table_differs(c, from, to, &why))
		return false;
	if (why.n)
		return copy_job_fail(j, "%.*s at %s cannot take the items: %.*s", SLICE_ARG(j->table), j->o->to.name,
				     SLICE_ARG(why));
	return copy_table_wait(c, COPY_TO, j->table) && copy_table_has_items(c, COPY_TO, j->table, has_items);
}

/* Takes ownership of an existing target whose stream and TTL are off. */
static bool take_hold(struct copier *c, const struct json *from)
{
	struct job *j = c->job;
	bool exists, has_items, anew;
	enum state_found found;
	struct slice owner;
	uint64_t beat;

	if (!look_at_target(c, from, &exists, &has_items) || !copy_state_load(c, &found, &owner, &beat) ||
	    !wait_for_owner(c, &found, &owner, &beat) || !judge_state(j, found, has_items, &anew))
		return false;
	if (j->is_over)
		return true;
	if (found == STATE_OURS && !anew && j->lost)
		copy_job_say(j, "%.*s: the source has another stream than when this copy began: it starts over",
			     SLICE_ARG(j->table));
	if (anew || j->lost) {
		/* Items of an interrupted start may stay: they are written again, and swept. */
		copy_state_reset(j);
		j->sweeps = has_items;
		j->phase = COPY_BEGINNING;
	} else {
		copy_job_say(j, "%.*s: continues an earlier copy, %llu items and %llu changes so far",
			     SLICE_ARG(j->table), (unsigned long long)atomic_load(&j->items),
			     (unsigned long long)atomic_load(&j->changes));
	}
	if (!copy_table_create_beside(c) || !copy_state_claim(c, found != STATE_NONE, owner, beat))
		return false;
	return (exists || copy_table_create(c, from)) && copy_table_still(c);
}

/* ---- the phases ---- */

static bool begin_copy(struct copier *c)
{
	struct job *j = c->job;
	size_t n = j->o->segments ? j->o->segments : SEGMENTS;

	copy_state_reset(j);
	if (!copy_stream_begin(c))
		return false;
	pthread_mutex_lock(&j->lock);
	j->segments = mem_zalloc(n * sizeof(*j->segments));
	j->segment_count = j->segments ? n : 0;
	j->phase = COPY_SCANNING;
	pthread_mutex_unlock(&j->lock);
	/* The positions are on the other side before the first item is read: C1 also after a kill. */
	return j->segments ? copy_state_save(c) : copy_job_fail(j, "not enough memory");
}

static bool fill(struct copier *c)
{
	struct job *j = c->job;

	if (j->phase == COPY_BEGINNING && !begin_copy(c))
		return false;
	if (j->phase == COPY_SCANNING) {
		if (!copy_scan_all(c))
			return false;
		set_phase(j, j->sweeps ? COPY_SWEEPING : COPY_FOLLOWING);
	}
	if (j->phase == COPY_SWEEPING) {
		if (!copy_sweep_all(c))
			return false;
		j->sweeps = false;
		set_phase(j, COPY_FOLLOWING);
	}
	return true;
}

/* ---- the switch ---- */

/* Processors of servers that run are given a while. */
static bool wait_for_undone(struct copier *c, bool *any, char *names, size_t n)
{
	int64_t until = clock_monotonic_us() + (c->job->o->from.is_directory ? 0 : UNDONE_WAIT_MS * INT64_C(1000));

	for (;;) {
		if (!copy_undone_look(c, any, names, n))
			return false;
		if (!*any || c->job->o->settle || clock_monotonic_us() > until)
			return true;
		if (!copy_job_pause(c->job, UNDONE_LOOK_MS))
			return false;
	}
}

static enum copy_end tell_undone(struct job *j, const char *names)
{
	snprintf(j->why, sizeof(j->why),
		 "%.*s: processors at %s have not processed all changes (%s), and their effects would be lost. "
		 "--settle runs them now; or %s; --drop-undone continues without",
		 SLICE_ARG(j->table), j->o->from.name, names,
		 j->o->from.is_directory
			 ? "start its server once more, without clients, until `thorpe processors` shows no backlog"
			 : "leave a server running there, without clients, until `thorpe processors` shows no backlog");
	return COPY_UNDONE;
}

/* Applies changes until a round brings none. COPY_DONE: the target has everything. */
static enum copy_end drain(struct copier *c)
{
	struct job *j = c->job;
	uint64_t before;
	char names[256];
	bool any = false;

	for (int i = 0; i < ROUNDS_MOST; i++) {
		if (!j->o->drop_undone && !wait_for_undone(c, &any, names, sizeof(names)))
			return COPY_FAILED;
		if (any && !j->o->settle)
			return tell_undone(j, names);
		before = atomic_load(&j->changes);
		if ((any && !copy_undone_settle(c)) || (j->o->design && !copy_beside_bring(c)) ||
		    !copy_stream_follow(c, COPY_SWITCH))
			return COPY_FAILED;
		if (!any && atomic_load(&j->changes) == before)
			return COPY_DONE;
		arena_clear(&c->arena);
	}
	if (any)
		return tell_undone(j, names);
	copy_job_fail(j, "%.*s at %s is still being written to: stop its writers, then run this again",
		      SLICE_ARG(j->table), j->o->from.name);
	return COPY_FAILED;
}

static enum copy_end check(struct copier *c)
{
	struct job *j = c->job;
	uint64_t items = atomic_load(&j->items), different;

	if (j->about > CHECKED_MOST) {
		copy_job_say(j, "%.*s: too large to be compared now: --verify does it", SLICE_ARG(j->table));
		return COPY_DONE;
	}
	if (!copy_compare_all(c, NULL))
		return COPY_FAILED;
	different = atomic_load(&j->differences);
	copy_job_say(j, "%.*s: %llu items compared, %llu different", SLICE_ARG(j->table),
		     (unsigned long long)atomic_load(&j->items), (unsigned long long)different);
	atomic_store(&j->items, items);
	if (!different)
		return COPY_DONE;
	snprintf(j->why, sizeof(j->why),
		 "%.*s: %llu items differ, and nothing was switched: --verify lists them. Is anyone still writing to "
		 "either side? --replace copies everything again",
		 SLICE_ARG(j->table), (unsigned long long)different);
	return COPY_DIFFERS;
}

static enum copy_end switch_over(struct copier *c)
{
	enum copy_end end = drain(c);

	if (end == COPY_DONE)
		end = check(c);
	if (end != COPY_DONE)
		return end;
	set_phase(c->job, COPY_SWITCHING);
	if (!copy_state_save(c) || !copy_table_finish(c) || !copy_source_leave(c))
		return COPY_FAILED;
	set_phase(c->job, COPY_SWITCHED);
	return copy_state_save(c) ? COPY_DONE : COPY_FAILED;
}

/* ---- all of it ---- */

static bool ends_by_itself(const struct job *j)
{
	return j->o->mode == COPY_SWITCH || (j->o->mode == COPY_ONCE && (j->o->from.is_directory || !j->stream[0]));
}

/* Not for a copy of a directory that ends by itself: it may be a plain copy, and the directory stays in use. */
static bool close_source(struct copier *c)
{
	return c->job->o->mode != COPY_SWITCH || c->job->is_closed || copy_source_close(c);
}

static enum copy_end work(struct copier *c)
{
	struct job *j = c->job;
	enum copy_mode mode = ends_by_itself(j) ? COPY_SWITCH : j->o->mode;

	for (int i = 0; i < BEGINNINGS_MOST; i++) {
		if (!fill(c))
			return COPY_FAILED;
		if (j->phase == COPY_SWITCHING)
			set_phase(j, COPY_FOLLOWING);
		if (!copy_state_save(c) || !close_source(c) || !copy_stream_follow(c, mode))
			return COPY_FAILED;
		if (!j->lost)
			return mode == COPY_SWITCH ? switch_over(c) : COPY_CAUGHT_UP;
		copy_job_say(
			j,
			"%.*s: the source's stream has forgotten changes that were not copied yet (it keeps 24 hours): the copy starts over",
			SLICE_ARG(j->table));
		j->sweeps = true;
		set_phase(j, COPY_BEGINNING);
	}
	copy_job_fail(j, "%.*s: the stream of the source is trimmed faster than it can be followed",
		      SLICE_ARG(j->table));
	return COPY_FAILED;
}

/* The switch was done before. If the source's servers were told to accept writes since, those are at one place only. */
static enum copy_end say_over(struct copier *c)
{
	struct job *j = c->job;
	bool is_open;

	if (!copy_source_is_open(c, &is_open))
		return COPY_FAILED;
	if (is_open) {
		copy_job_fail(
			j,
			"%.*s: %s was switched to before, and servers of the design at %s accept writes all the same (--reopen): what they write is not there, and nothing was copied now. --replace starts over, and what was written at the target is lost",
			SLICE_ARG(j->table), j->o->to.name, j->o->from.name);
		return COPY_FAILED;
	}
	copy_job_say(j, "%.*s: %s was switched to before: nothing was copied now", SLICE_ARG(j->table), j->o->to.name);
	return COPY_DONE;
}

static enum copy_end run_phases(struct copier *c)
{
	struct job *j = c->job;
	struct saver saver = { 0 };
	const struct json *from;
	enum copy_end end = COPY_FAILED;

	if (!copy_table_read_source(c, &from))
		return COPY_FAILED;
	if (!j->stream[0] && j->o->enable_stream &&
	    (!copy_table_enable_source_stream(c) || !copy_table_read_source(c, &from)))
		return COPY_FAILED;
	if (!j->stream[0] && j->o->mode == COPY_FOLLOW) {
		copy_job_fail(j,
			      "%.*s at %s has no stream, so its changes cannot be followed: --enable-stream turns it on",
			      SLICE_ARG(j->table), j->o->from.name);
		return COPY_FAILED;
	}
	if (!j->stream[0])
		copy_job_say(j, "%.*s: the source has no stream: what changes there while this runs may be missed",
			     SLICE_ARG(j->table));
	if (take_hold(c, from)) {
		if (j->is_over)
			return say_over(c);
		if (saver_start(&saver, j))
			end = work(c);
	}
	saver_stop(&saver);
	return end;
}

static void job_init(struct job *j, const struct copy_options *o)
{
	*j = (struct job){ .o = o, .table = o->table };
	pthread_mutex_init(&j->lock, NULL);
}

/* Runs fn(); out of memory ends it by the arena's exit. */
static enum copy_end with_copier(struct job *j, enum copy_end (*fn)(struct copier *c))
{
	volatile enum copy_end end = COPY_FAILED;
	struct copier c;

	if (!copier_init(&c, j))
		return COPY_FAILED;
	ARENA_TRY(&c.arena, { end = fn(&c); }, { copy_job_fail(j, "not enough memory"); });
	if (j->is_saved) {
		bool failed = j->failed;

		c.has_last_word = true;
		arena_clear(&c.arena);
		ARENA_TRY(&c.arena, {
			if (j->is_closed && end != COPY_DONE) /* not switched: the source continues */
				(void)!copy_source_open(&c, false);
			(void)!copy_state_leave(&c);
		}, {});
		j->failed = failed;
	}
	copier_release(&c);
	return end;
}

static enum copy_end finish(struct job *j, enum copy_end end, struct copy_report *out)
{
	if (end == COPY_FAILED && !j->failed)
		end = j->o->stop && atomic_load(j->o->stop) ? COPY_STOPPED : COPY_FAILED;
	*out = (struct copy_report){ .last = { .table = j->o->table,
					       .phase = j->phase,
					       .items = atomic_load(&j->items),
					       .changes = atomic_load(&j->changes),
					       .removed = atomic_load(&j->removed) } };
	memcpy(out->why, j->why, sizeof(out->why));
	copy_job_release(j);
	return end;
}

enum copy_end copy_run(const struct copy_options *o, struct copy_report *out)
{
	struct job j;

	job_init(&j, o);
	return finish(&j, with_copier(&j, run_phases), out);
}

static enum copy_end reopen(struct copier *c)
{
	return copy_source_open(c, true) ? COPY_DONE : COPY_FAILED;
}

enum copy_end copy_reopen(const struct copy_options *o, struct copy_report *out)
{
	struct job j;

	job_init(&j, o);
	return finish(&j, with_copier(&j, reopen), out);
}

/* ---- comparing ---- */

static enum copy_end compare(struct copier *c)
{
	struct job *j = c->job;
	const struct json *from, *to;
	uint64_t different;

	if (!copy_table_read_source(c, &from) || !copy_table_describe(c, COPY_TO, j->table, &to))
		return COPY_FAILED;
	if (!to) {
		copy_job_fail(j, "there is no table %.*s at %s", SLICE_ARG(j->table), j->o->to.name);
		return COPY_FAILED;
	}
	if (!copy_compare_all(c, j->tell))
		return COPY_FAILED;
	different = atomic_load(&j->differences);
	if (!different)
		return COPY_DONE;
	snprintf(j->why, sizeof(j->why), "%.*s: %llu items differ", SLICE_ARG(j->table), (unsigned long long)different);
	return COPY_DIFFERS;
}

enum copy_end copy_compare(const struct copy_options *o, void (*tell)(void *ctx, const char *what, struct slice key),
			   struct copy_report *out)
{
	struct job j;

	job_init(&j, o);
	j.tell = tell;
	j.phase = COPY_COMPARING;
	return finish(&j, with_copier(&j, compare), out);
}
