/* Retries a failed change, then parks it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "base/clock.h"
#include "process/process_internal.h"

/* Waiting does not help: the item, the design or its rules would have to change. */
static bool is_lasting(enum problem_type t)
{
	return t != PROBLEM_BUSY && t != PROBLEM_INTERNAL && t != PROBLEM_TOO_MANY;
}

int track_most_tries(enum problem_type t)
{
	return is_lasting(t) ? RETRIES_LASTING : RETRIES;
}

int64_t track_wait_ms(int tries)
{
	int64_t wait = RETRY_FIRST_MS;

	while (--tries > 0 && wait < RETRY_MOST_MS)
		wait *= 2;
	return wait < RETRY_MOST_MS ? wait : RETRY_MOST_MS;
}

/* Saves the position first. Otherwise earlier changes would be looked at again with every try, and after a restart. */
static void wait_for(struct track *t, struct run *r, int tries)
{
	track_save_passed(t, r);
	track_forget(t); /* the failed try may have moved it */
	t->next_us = clock_monotonic_us() + track_wait_ms(tries) * 1000;
}

/* Parks the change and moves the position: one transaction. */
static bool park(struct track *t, struct run *r, const struct change *c, struct slice reason)
{
	struct parked p = {
		.processor = t->station->name,
		.shard = slice_str(t->reader->tail.shard),
		.sequence = c->sequence,
		.reason = reason,
		.tries = t->tries,
		.parked_at_ms = r->now_ms,
		.change = *c,
	};
	struct position was, now;
	struct dyn_write writes[2];
	struct dyn_refusal refusals[2];

	if (!checkpoint_load(r, p.processor, p.shard, &was))
		return false;
	if (sequence_compare(was.sequence, c->sequence) >= 0)
		return run_fail(r, PROBLEM_CONFLICT, "another server has moved this position");
	now = was;
	now.sequence = c->sequence;
	now.progress = SLICE("");
	now.time_ms = c->created_ms;
	if (!checkpoint_since_ms(was.progress))
		p.progress = was.progress;
	writes[0] = *checkpoint_park(r, &p);
	writes[1] = *checkpoint_move(r, &was, &now);
	return dyn_write(r, writes, 2, SLICE(""), refusals) == DYN_DONE;
}

/* Tries belong to one change. Repeating earlier changes on the way to it does not reset them. */
static void count_try(struct track *t, const struct change *c)
{
	if (!spot_is(&t->failing, c->sequence)) {
		t->tries = t->judged = t->all_tries = 0;
		spot_set(&t->failing, c->sequence);
		atomic_store(&t->is_retrying, true);
	}
	t->tries++;
	t->judged += !atomic_load(&t->unserved);
	t->all_tries++;
}

void track_went_past(struct track *t, struct slice sequence)
{
	if (spot_compare(&t->failing, sequence) > 0)
		return;
	spot_set(&t->failing, SLICE(""));
	t->tries = t->judged = t->all_tries = 0;
	atomic_store_explicit(&t->is_retrying, false, memory_order_relaxed);
}

void track_failed(struct track *t, struct run *r, const struct change *c)
{
	struct process *p = t->reader->process;
	struct station *s = t->station;
	int most = is_lasting(r->problem.type) ? RETRIES_LASTING : RETRIES;
	struct slice reason = r->problem.detail;

	r->problem = (struct problem){ 0 };
	r->riders = NULL;
	r->rider_count = 0;
	count_try(t, c);
	if (t->judged <= most && t->all_tries <= RETRIES_ALL) {
		atomic_fetch_add(&s->ledger.retries, 1);
		station_problem(p, s, "a change is tried again", reason);
		wait_for(t, r, t->tries);
		return;
	}
	station_problem(p, s, "a change is parked", reason);
	if (!park(t, r, c, reason)) {
		wait_for(t, r, t->tries);
		return;
	}
	atomic_fetch_add(&s->ledger.parked, 1);
	track_moved(t, c);
	atomic_store(&t->is_retrying, true); /* until the next change is done */
}
