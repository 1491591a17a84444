/* A processor at a shard: its turn, and where it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app/db/dyn.h"
#include "app/db/late.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "process/effect/effect.h"
#include "process/keeper/keeper.h"
#include "process/process_internal.h"

#define KEEPER_MOST      250   /* changes it looks at together */
#define PARENT_MS        1500  /* between checks whether the processor has finished the shard's parent; */
#define PARENT_SELDOM_MS 30000 /* the same while it is paused, or this server reads the parent */
#define CLOCKS_DIFFER_MS 10000 /* a change from the future: its time says nothing */

static struct run begin_run(struct track *t)
{
	struct reader *r = t->reader;
	struct run run;

	arena_clear(&r->arena);
	run = process_run(r->process, r->backend, &r->arena);
	backend_label(r->backend, t->station->name);
	return run;
}

/* The same, counting changes passed over, and noting when the database does not serve. */
static struct run begin_counting(struct track *t)
{
	struct run r = begin_run(t);

	t->passed_over = (struct passed_over){ 0 };
	r.passed_over = &t->passed_over;
	atomic_store(&t->unserved, false);
	r.unserved = &t->unserved;
	return r;
}

static void end_counting(struct track *t)
{
	ledger_pass_over(&t->station->ledger, &t->passed_over, app_now_ms(t->reader->process->app));
}

/* ---- the position ---- */

void track_forget(struct track *t)
{
	t->loaded = t->waits = t->over = false;
	t->dirty_us = 0;
	atomic_store(&t->ended, false);
	atomic_store(&t->latest, 0);
}

static struct position track_position(const struct track *t)
{
	return (struct position){
		.processor = t->station->name,
		.shard = slice_str(t->reader->tail.shard),
		.sequence = spot_sequence(&t->stored),
		.progress = slice_str(t->progress ? t->progress : ""),
		.stored = t->is_stored,
	};
}

static void drop_progress(struct track *t)
{
	mem_free(t->progress);
	t->progress = NULL;
}

/* Moves the time up to which nothing was missed: all later changes are younger than this one. */
static void is_current(struct track *t, const struct change *c)
{
	if (c->created_ms)
		t->current_ms = c->created_ms;
}

void track_moved(struct track *t, const struct change *c)
{
	spot_set(&t->done, c->sequence);
	spot_set(&t->stored, c->sequence);
	is_current(t, c);
	t->confirmed_ms = t->current_ms;
	t->is_stored = true;
	t->dirty_us = 0;
	t->replay_ms = 0;
	drop_progress(t);
	track_went_past(t, c->sequence);
}

/* Whether the stored progress is inside a later change: it must be kept until that is reached. */
static bool is_begun_after(const struct track *t, struct slice sequence)
{
	struct slice begun = effect_begun(slice_str(t->progress ? t->progress : ""));

	return begun.n && sequence_compare(sequence, begun) < 0;
}

/* No effect, or one that may be repeated: the position can be stored later. */
static void pass_change(struct track *t, const struct change *c)
{
	int64_t now = clock_monotonic_us();

	spot_set(&t->done, c->sequence);
	is_current(t, c);
	track_went_past(t, c->sequence);
	atomic_store_explicit(&t->worked_us, now, memory_order_relaxed);
	if (!t->dirty_us && !is_begun_after(t, c->sequence))
		t->dirty_us = now;
}

static bool take_position(struct track *t, const struct position *at, int64_t now_ms)
{
	char *progress = at->progress.n ? mem_strndup(at->progress.p, at->progress.n) : NULL;

	if (at->progress.n && !progress)
		return false;
	/* A try that made progress does not count, but not for ever: RETRIES_ALL. */
	if (!slice_is(at->progress, t->progress ? t->progress : ""))
		t->tries = t->judged = 0;
	drop_progress(t);
	t->progress = progress;
	t->replay_ms = checkpoint_since_ms(at->progress);
	spot_set(&t->done, at->sequence);
	spot_set(&t->stored, at->sequence);
	t->is_stored = at->stored;
	t->current_ms = t->confirmed_ms = at->stored ? at->time_ms : now_ms;
	/* Stores a position from the start, so that a later loss is noticed: the stream may forget what follows
	 * (R5). */
	t->dirty_us = at->stored || !(t->reader->parent || t->reader->process->leases) ? 0 : clock_monotonic_us();
	if (!atomic_load(&t->since_ms) || t->replay_ms)
		atomic_store(&t->since_ms, now_ms);
	t->loaded = true;
	return true;
}

/* The keeper's position before a replay. */
static bool load_seen(struct track *t, struct run *r)
{
	struct position before;

	if (t->station->processor)
		return true;
	if (!checkpoint_load(r, t->station->name, seen_shard(r, slice_str(t->reader->tail.shard)), &before))
		return false;
	spot_set(&t->seen, before.sequence);
	return true;
}

/* R4. False: not yet, or run->problem. */
static bool may_begin(struct track *t, struct run *r)
{
	struct reader *rd = t->reader;
	bool ended = false;

	return !rd->parent || atomic_load(&rd->parent_gone) ||
	       (checkpoint_has_ended(r, t->station->name, slice_str(rd->parent), &ended) && ended);
}

static void wait_for_parent(struct track *t)
{
	bool paused = atomic_load(&t->station->paused), is_here = reader_is_here(t->reader->process, t->reader->parent);

	t->waits = true;
	t->waits_paused = paused;
	/* If this server reads the parent, the parent's track wakes this one. */
	t->next_us = clock_monotonic_us() + (paused || is_here ? PARENT_SELDOM_MS : PARENT_MS) * INT64_C(1000);
}

/* Whether a track that waits for the parent may look again before its time. */
static bool is_to_look(const struct track *t)
{
	return t->waits && (atomic_load(&t->look) || atomic_load(&t->reader->parent_gone) ||
			    (t->waits_paused && !atomic_load(&t->station->paused)));
}

/* All of the shard is done; the stored position says so. */
static void set_ended(struct track *t)
{
	t->over = true;
	atomic_store(&t->oldest_ms, 0);
	atomic_store(&t->waiting, 0);
	atomic_store(&t->ended, true);
	reader_ended(t->reader, t->station, !t->reader->was_closed);
}

/* Reads the position before the parent's: a replay moves parents back first. False: run->problem. */
static bool load_position(struct track *t, struct run *r, struct position *at, bool *waits)
{
	*waits = false;
	if (t->waits && !may_begin(t, r)) {
		*waits = !r->problem.detail.n;
		return *waits;
	}
	if (!checkpoint_load(r, t->station->name, slice_str(t->reader->tail.shard), at))
		return false;
	if (!at->ended && !may_begin(t, r)) {
		*waits = !r->problem.detail.n;
		return *waits;
	}
	return load_seen(t, r) && take_position(t, at, r->now_ms);
}

static bool load(struct track *t)
{
	struct run r = begin_run(t);
	struct position at;
	unsigned epoch = atomic_load(&t->station->epoch);
	bool waits, ok;

	atomic_store(&t->look, false); /* before checking */
	ok = load_position(t, &r, &at, &waits);
	atomic_store(&t->epoch, epoch);
	if (t->waits)
		t->next_us = 0;
	t->waits = false;
	if (waits) {
		wait_for_parent(t);
	} else if (!ok) {
		tail_failed(&t->reader->tail, "a position cannot be read", r.problem.detail);
		t->next_us = t->reader->tail.next_us;
	} else if (at.ended) {
		set_ended(t);
	}
	return ok && !waits;
}

/* ---- saving ---- */

static bool is_to_be_confirmed(const struct track *t)
{
	return t->is_stored && t->current_ms - t->confirmed_ms > CONFIRM_MS;
}

static bool is_due(const struct track *t, int64_t now_us, bool all)
{
	if (!t->loaded || atomic_load(&t->ended))
		return false;
	if (t->dirty_us)
		return all || now_us - t->dirty_us >= SAVE_US;
	return is_to_be_confirmed(t);
}

int64_t tracks_due_us(const struct reader *r)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < r->track_count; i++)
		if (r->tracks[i].loaded && r->tracks[i].dirty_us && r->tracks[i].dirty_us + SAVE_US < due)
			due = r->tracks[i].dirty_us + SAVE_US;
	return due;
}

static struct position position_now(const struct track *t)
{
	struct position now = track_position(t);

	now.sequence = spot_sequence(&t->done);
	now.ended = t->over;
	now.time_ms = t->current_ms;
	if (!t->replay_ms && t->dirty_us)
		now.progress = SLICE("");
	return now;
}

static void saved(struct track *t)
{
	t->stored = t->done;
	if (!t->replay_ms && t->dirty_us)
		drop_progress(t);
	t->is_stored = true;
	t->dirty_us = 0;
	t->confirmed_ms = t->current_ms;
	if (t->over)
		set_ended(t);
}

/* All in one transaction; positions that another server has moved are read again. */
static void save(struct reader *r, struct run *run, struct track **list, size_t n)
{
	struct dyn_write *writes = arena_array(run->arena, struct dyn_write, n);
	struct dyn_refusal *refusals = arena_array(run->arena, struct dyn_refusal, n);

	for (size_t i = 0; i < n; i++) {
		struct position was = track_position(list[i]), now = position_now(list[i]);

		writes[i] = *checkpoint_move(run, &was, &now);
	}
	switch (dyn_write(run, writes, n, SLICE(""), refusals)) {
	case DYN_DONE:
		for (size_t i = 0; i < n; i++)
			saved(list[i]);
		return;
	case DYN_REFUSED:
		for (size_t i = 0; i < n; i++)
			if (refusals[i].failed)
				track_forget(list[i]);
		return;
	case DYN_CONFLICT:
	case DYN_MISMATCH:
	case DYN_FAILED: break;
	}
	for (size_t i = 0; i < n; i++)
		list[i]->dirty_us = clock_monotonic_us(); /* try again in a second */
	log_debug("%.*s: positions of %s wait to be saved", SLICE_ARG(r->process->design->name), r->tail.shard);
}

void track_save_passed(struct track *t, struct run *r)
{
	struct dyn_refusal refusal;
	struct position was, now;

	if (!t->loaded || !t->dirty_us)
		return;
	was = track_position(t);
	now = position_now(t);
	if (dyn_write(r, checkpoint_move(r, &was, &now), 1, SLICE(""), &refusal) == DYN_DONE)
		saved(t);
}

bool tracks_save(struct reader *r, bool all)
{
	int64_t now = clock_monotonic_us();
	struct track *due[DYN_MOST_ACTIONS];
	size_t n = 0;

	for (size_t i = 0; i < r->track_count && n < DYN_MOST_ACTIONS; i++)
		if (is_due(&r->tracks[i], now, all))
			due[n++] = &r->tracks[i];
	if (!n)
		return false;
	ARENA_TRY(&r->arena, {
		struct run run = begin_run(due[0]);

		save(r, &run, due, n);
	}, {
		for (size_t i = 0; i < n; i++)
			due[i]->dirty_us = now;
	});
	return true;
}

/* ---- a turn of a processor ---- */

static bool is_interrupted(const struct track *t)
{
	return atomic_load(&t->reader->process->stopping) || atomic_load(&t->station->paused) ||
	       atomic_load(&t->station->epoch) != t->epoch;
}

/* A replay skips it. Times have a resolution of a second. */
static bool is_before_replay(struct track *t, const struct change *c)
{
	if (!t->replay_ms)
		return false;
	if (c->created_ms / 1000 < t->replay_ms / 1000)
		return true;
	t->replay_ms = 0;
	return false;
}

static void tell_next(struct track *t, const struct page *page, size_t i)
{
	atomic_store_explicit(&t->oldest_ms, i < page->count ? page->list[i].created_ms : 0, memory_order_relaxed);
	atomic_store_explicit(&t->waiting, page->count - i, memory_order_relaxed);
}

/* Whether all indexes must show everything written before the change (app/db/late.h). If not, the track waits. The
 * stream tells times to the second; a change that has just been read is not younger than its page. */
static bool is_ripe(struct track *t, const struct page *page, const struct change *c)
{
	const struct process *p = t->reader->process;
	int64_t by_ms = c->created_ms + 1000 < page->read_ms ? c->created_ms + 1000 : page->read_ms;
	int64_t wait_ms = by_ms + late_ms(p->app) - process_stream_ms(p);

	if (!t->station->asks_indexes || wait_ms <= 0 || wait_ms > CLOCKS_DIFFER_MS)
		return true;
	t->next_us = clock_monotonic_us() + wait_ms * 1000;
	return false;
}

static enum effect_end apply(struct track *t, struct run *r, const struct change *c)
{
	struct reader *rd = t->reader;
	struct position at = track_position(t);
	enum effect_end end;
	bool moved;

	atomic_store(&rd->give_way, false);
	atomic_store(&rd->effect_us, clock_monotonic_us() + rd->turn_us);
	if (is_interrupted(t))
		atomic_store(&rd->give_way, true);
	end = effect_apply_until(r, t->station->processor, c, &at, &rd->give_way);
	atomic_store(&rd->effect_us, 0);
	/* An effect that is interrupted before it makes progress would be interrupted for ever. */
	moved = end != EFFECT_FAILED || !slice_is(at.progress, t->progress ? t->progress : "");
	if (moved)
		atomic_store_explicit(&t->worked_us, clock_monotonic_us(), memory_order_relaxed);
	rd->turn_us = moved || !atomic_load(&rd->give_way) ? EFFECT_TURN_US : rd->turn_us * 2;
	return end;
}

/* Continues inside the change at the next turn, without going through the changes before it again. */
static void come_back_to(struct track *t, const struct change *c)
{
	struct spot done = t->done, stored = t->stored;

	track_forget(t);
	if (load(t) && spot_is(&t->stored, spot_sequence(&stored)) && is_begun_after(t, spot_sequence(&done)) &&
	    slice_equal(effect_begun(slice_str(t->progress)), c->sequence))
		t->done = done;
}

/* False: the turn is over, and the position must be read again. */
static bool one_change(struct track *t, const struct change *c)
{
	struct run r = begin_counting(t);

	if (change_is_passed_over(&r, c)) {
		end_counting(t);
		pass_change(t, c);
		return true;
	}
	switch (apply(t, &r, c)) {
	case EFFECT_NONE:
		end_counting(t);
		pass_change(t, c);
		return true;
	case EFFECT_DONE:
		end_counting(t);
		track_moved(t, c);
		atomic_fetch_add_explicit(&t->station->ledger.done, 1, memory_order_relaxed);
		return true;
	case EFFECT_LOST: track_forget(t); return false;
	case EFFECT_FAILED: break;
	}
	if (r.problem.type == PROBLEM_BUSY && atomic_load(&t->reader->give_way))
		come_back_to(t, c);
	else
		track_failed(t, &r, c);
	return false;
}

static void effect_turn(struct track *t, const struct page *page, size_t i)
{
	int64_t until = clock_monotonic_us() + TURN_US;

	while (i < page->count) {
		const struct change *c = &page->list[i];

		if (is_before_replay(t, c) || !effect_concerns(t->station->processor, c)) {
			pass_change(t, c);
			i++;
			continue;
		}
		tell_next(t, page, i);
		if (!is_ripe(t, page, c) || !one_change(t, c))
			return;
		i++;
		if (is_interrupted(t) || clock_monotonic_us() > until)
			break;
	}
	tell_next(t, page, i);
}

/* How many changes to process together. A change that must be counted exactly once is processed alone. */
static size_t keeper_reach(const struct track *t, const struct change *list, size_t n)
{
	size_t most = t->one_by_one ? 1 : KEEPER_MOST;

	if (n > most)
		n = most;
	for (size_t i = 0; i < n; i++)
		if (keeper_has_traces(&list[i]))
			return i ? i : 1;
	return n;
}

/* False: the position must be read again. */
static bool take_traces(struct track *t, struct run *r, const struct change *c)
{
	struct position was = track_position(t);
	bool wrote = false;

	if (!keeper_has_traces(c) || spot_compare(&t->seen, c->sequence) >= 0)
		return true;
	if (!keeper_take_traces(r, c, &was, &wrote)) {
		if (r->rider_lost)
			track_forget(t);
		else
			track_failed(t, r, c);
		return false;
	}
	if (wrote)
		track_moved(t, c);
	return true;
}

static void keeper_turn(struct track *t, const struct page *page, size_t i)
{
	struct run r = begin_counting(t);
	size_t n;

	while (i < page->count && is_before_replay(t, &page->list[i]))
		pass_change(t, &page->list[i++]);
	n = keeper_reach(t, &page->list[i], page->count - i);
	for (size_t k = 0; k < n; k++)
		if (keeper_asks_index(t->reader->process->design, &page->list[i + k]) &&
		    !is_ripe(t, page, &page->list[i + k]))
			n = k;
	if (!n)
		return;
	t->next_us = 0;
	if (keeper_follow(&r, t->reader->process->roles, &page->list[i], n, spot_sequence(&t->seen))) {
		if (!take_traces(t, &r, &page->list[i]))
			return;
		end_counting(t);
		pass_change(t, &page->list[i + n - 1]);
		atomic_fetch_add_explicit(&t->station->ledger.done, n, memory_order_relaxed);
		if (i + n == page->count)
			t->one_by_one = false;
		tell_next(t, page, i + n);
	} else if (n > 1) {
		t->one_by_one = true; /* so that a change that fails does not delay the others */
	} else {
		track_failed(t, &r, &page->list[i]);
	}
}

static void turn(struct track *t, const struct page *page, size_t i)
{
	if (t->station->processor)
		effect_turn(t, page, i);
	else
		keeper_turn(t, page, i);
}

static void at_end(struct track *t, bool over)
{
	t->current_ms = process_stream_ms(t->reader->process);
	/* All later changes are younger than the start of the replay. */
	if (t->replay_ms && (over || t->replay_ms / 1000 < t->current_ms / 1000)) {
		t->replay_ms = 0;
		t->dirty_us = clock_monotonic_us();
	}
	if (over && !t->over)
		t->dirty_us = clock_monotonic_us() - SAVE_US; /* at once: others may wait for it */
	t->over = over;
	atomic_store(&t->oldest_ms, 0);
	atomic_store(&t->waiting, 0);
}

/* A paused track does nothing, but its lag grows. */
static bool pause_step(struct track *t, const struct page *page, size_t i, enum tail_found found)
{
	atomic_store(&t->since_ms, process_stream_ms(t->reader->process));
	if (found == TAIL_FOUND)
		tell_next(t, page, i);
	return false;
}

static bool step(struct track *t)
{
	const struct page *page = NULL;
	enum tail_found found;
	size_t i = 0;

	if (t->loaded && atomic_load(&t->station->epoch) != t->epoch)
		track_forget(t);
	if (!t->loaded && !load(t))
		return false;
	if (t->over)
		return false;
	if (atomic_load(&t->station->paused) && atomic_load(&t->oldest_ms))
		return pause_step(t, NULL, 0, TAIL_LATER);
	found = page_find(t, &page, &i);
	if (found == TAIL_END || found == TAIL_ENDED)
		at_end(t, found == TAIL_ENDED);
	if (atomic_load(&t->station->paused))
		return pause_step(t, page, i, found);
	if (found != TAIL_FOUND)
		return false;
	atomic_store(&t->latest, 0);
	tell_next(t, page, i);
	turn(t, page, i);
	return true;
}

bool track_step(struct track *t)
{
	struct reader *r = t->reader;
	volatile bool worked = false;

	if (track_has_ended(t) || (clock_monotonic_us() < t->next_us && !is_to_look(t)))
		return false;
	ARENA_TRY(&r->arena, { worked = step(t); }, {
		track_forget(t);
		tail_failed(&r->tail, "a step cannot be done", SLICE("out of memory"));
		t->next_us = r->tail.next_us;
	});
	return worked;
}
