/* What becomes of a change that fails: tried again, then parked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn.h"
#include "base/clock.h"
#include "process/process_internal.h"

/* What no waiting mends: the item, the design or its rules would have to change. */
static bool is_lasting(enum problem_type t)
{
	return t != PROBLEM_BUSY && t != PROBLEM_INTERNAL && t != PROBLEM_TOO_MANY;
}

static int64_t wait_ms(int tries)
{
	int64_t wait = RETRY_FIRST_MS;

	while (--tries > 0 && wait < RETRY_MOST_MS)
		wait *= 2;
	return wait < RETRY_MOST_MS ? wait : RETRY_MOST_MS;
}

static void wait_for(struct track *t, int tries)
{
	track_forget(t); /* it may have come some way */
	t->next_us = clock_monotonic_us() + wait_ms(tries) * 1000;
}

/* Aside with it, and on to the next: one transaction. */
static bool park(struct track *t, struct run *r, const struct change *c, struct slice reason)
{
	struct parked p = {
		.processor = t->station->name, .shard = slice_str(t->reader->shard), .sequence = c->sequence, .reason = reason,
		.tries = t->tries, .parked_at_ms = r->now_ms, .change = *c,
	};
	struct position was, now;
	struct dyn_write writes[2];
	struct dyn_refusal refusals[2];

	if (!checkpoint_load(r, p.processor, p.shard, &was))
		return false;
	if (slice_cmp(was.sequence, c->sequence) >= 0)
		return run_fail(r, PROBLEM_CONFLICT, "someone else has gone on from here");
	now = was;
	now.sequence = c->sequence;
	now.progress = SLICE("");
	if (!replay_since(was.progress))
		p.progress = was.progress;
	writes[0] = *checkpoint_park(r, &p);
	writes[1] = *checkpoint_move(r, &was, &now);
	return dyn_write(r, writes, 2, SLICE(""), refusals) == DYN_DONE;
}

void track_failed(struct track *t, struct run *r, const struct change *c)
{
	struct process *p = t->reader->process;
	struct station *s = t->station;
	int most = is_lasting(r->problem.type) ? RETRIES_LASTING : RETRIES;
	struct slice reason = r->problem.detail;

	if (!slice_is(c->sequence, t->failing)) {
		t->tries = 0;
		memcpy(t->failing, c->sequence.p, c->sequence.n < SEQUENCE_ROOM ? c->sequence.n : SEQUENCE_ROOM - 1);
		t->failing[c->sequence.n < SEQUENCE_ROOM ? c->sequence.n : SEQUENCE_ROOM - 1] = 0;
	}
	t->tries++;
	if (t->tries <= most) {
		atomic_fetch_add(&s->retries, 1);
		station_problem(p, s, "a change is tried again", reason);
		wait_for(t, t->tries);
		return;
	}
	station_problem(p, s, "a change is parked", reason);
	r->problem = (struct problem){ 0 };
	r->riders = NULL;
	r->rider_count = 0;
	if (!park(t, r, c, reason)) {
		wait_for(t, t->tries);
		return;
	}
	atomic_fetch_add(&s->parked, 1);
	track_moved(t, c->sequence);
}
