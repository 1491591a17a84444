/* One change through one processor: row after row, transaction after transaction.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include "app/run/passed_over.h"
#include "process/effect/effect_internal.h"

/* Copies the problem of an inner run to the caller's. */
static enum row_end copy_problem(struct effect *x, const struct run *inside)
{
	(void)run_fail(x->caller, inside->problem.type, "%.*s", SLICE_ARG(inside->problem.detail));
	x->caller->problem.retry_after = inside->problem.retry_after;
	return ROW_FAILED;
}

static enum row_end told(struct effect *x, enum row_end end)
{
	return end == ROW_FAILED ? copy_problem(x, x->run) : end;
}

/* Writes everything gathered so far, and that `done` steps of the page are done. */
static enum row_end commit(struct effect *x, const struct rows *page, size_t done)
{
	enum row_end end = effect_land(x);
	struct position now;

	if (end != ROW_DONE)
		return told(x, end);
	if (!effect_settle(x))
		return told(x, effect_row_failed(x));
	if (!x->batch.count && !(x->wrote && effect_position_is_end(page, done))) {
		effect_clear(x);
		return ROW_DONE;
	}
	now = effect_position_after(x, page, done);
	return told(x, effect_batch_commit(x, &now));
}

/* The same without waiting. */
static enum row_end launch(struct effect *x, const struct rows *page, size_t done)
{
	struct position now;

	if (!effect_settle(x))
		return told(x, effect_row_failed(x));
	if (!x->batch.count) {
		effect_clear(x);
		return ROW_DONE;
	}
	now = effect_position_after(x, page, done);
	return told(x, effect_launch(x, &now));
}

/* A schedule comes back to its rows: one that the rules of the design refuse does not keep the others from their turn. */
static bool pass_over(struct effect *x)
{
	enum problem_type t = x->run->problem.type;

	if (!x->processor->every_seconds || !x->processor->rows_access || x->run->rider_lost ||
	    (t != PROBLEM_INVALID && t != PROBLEM_CONFLICT && t != PROBLEM_TAKEN))
		return false;
	run_pass_over(x->caller, PASSED_OVER_REFUSED, "a row of the run: %.*s", SLICE_ARG(x->run->problem.detail));
	return true;
}

/* Writes a step by itself, with the position after it. One without an effect needs no position, except the last. */
static enum row_end single(struct effect *x, const struct rows *page, size_t i)
{
	struct position now = effect_position_after(x, page, i + 1);

	effect_position_ride(x, &now);
	if (!effect_single(x, &page->list[i / x->processor->parts])) {
		if (!pass_over(x))
			return told(x, effect_row_failed(x));
		effect_clear(x);
		return ROW_DONE;
	}
	if (x->run->rider_count && !x->decided && !(effect_position_is_end(page, i + 1) && x->wrote)) {
		effect_clear(x);
		return ROW_DONE;
	}
	return told(x, effect_position_flush(x, &now));
}

static bool is_stopped(const struct effect *x)
{
	return x->stop && atomic_load_explicit(x->stop, memory_order_relaxed);
}

/* Writes what has been gathered, then stops. */
static enum row_end stop_here(struct effect *x, const struct rows *page, size_t i)
{
	enum row_end end = x->batch.count ? commit(x, page, i) : told(x, effect_land(x));

	if (end != ROW_DONE)
		return end;
	(void)run_fail(x->caller, PROBLEM_BUSY, "interrupted; it continues from here");
	return ROW_FAILED;
}

/* The step is at hand: its row, and its effect. */
static const struct row *enter(struct effect *x, const struct rows *page, size_t i)
{
	const struct row *row = &page->list[i / x->processor->parts];

	effect_row_enter(x, row);
	effect_part_enter(x, i % x->processor->parts);
	return row;
}

/* Adds the step to the batch. What cannot be in one transaction with the steps before it is written after them. */
static enum row_end gather(struct effect *x, const struct rows *page, size_t i)
{
	const struct row *row = enter(x, page, i);
	size_t mark = x->batch.count;
	enum row_end end;

	if (!effect_gather(x, row)) {
		if (!pass_over(x))
			return told(x, ROW_FAILED);
		x->run->problem = (struct problem){ 0 };
		x->collides = false;
		effect_batch_back(x, mark);
		return ROW_DONE;
	}
	if (!x->collides)
		return ROW_DONE;
	effect_batch_back(x, mark);
	x->collides = false;
	end = commit(x, page, i);
	if (end != ROW_DONE)
		return end;
	enter(x, page, i);
	if (!effect_gather(x, row))
		return told(x, ROW_FAILED);
	if (!x->collides)
		return ROW_DONE;
	(void)run_fail(x->run, PROBLEM_INTERNAL, "an effect takes more actions than a transaction has");
	return told(x, ROW_FAILED);
}

static enum row_end one_step(struct effect *x, const struct rows *page, size_t i)
{
	const struct row *row = enter(x, page, i);
	bool ends_row = i % x->processor->parts == x->processor->parts - 1, wanted;
	enum row_end end = ROW_DONE;

	if (!effect_is_wanted(x, &wanted))
		return told(x, ROW_FAILED);
	if (wanted && !effect_batches(x, row)) {
		/* Earlier steps are written first. */
		end = x->batch.count ? commit(x, page, i) : told(x, effect_land(x));
		if (end != ROW_DONE)
			return end;
		enter(x, page, i);
		return single(x, page, i);
	}
	if (wanted)
		end = gather(x, page, i);
	if (end != ROW_DONE)
		return end;
	return ends_row && effect_batch_is_full(&x->batch) ? launch(x, page, i + 1) : ROW_DONE;
}

static enum row_end one_page(struct effect *x, const struct rows *page)
{
	enum row_end end;

	for (size_t i = page->first; i < page->steps; i++) {
		end = is_stopped(x) ? stop_here(x, page, i) : one_step(x, page, i);
		if (end != ROW_DONE)
			return end;
	}
	end = told(x, effect_land(x));
	if (end != ROW_DONE)
		return end;
	/* The position at the end is written only if something was written before, or is now. */
	if (!x->batch.count && (!effect_position_is_end(page, page->steps) || !x->wrote))
		return ROW_DONE;
	if (!x->batch.count && slice_equal(x->at->sequence, x->change->sequence))
		return ROW_DONE; /* the last row has done so */
	return commit(x, page, page->steps);
}

static enum row_end all_pages(struct effect *x)
{
	struct rows page;
	enum row_end end;

	if (!effect_rows_resume(x, &page))
		return copy_problem(x, x->page);
	for (;;) {
		end = one_page(x, &page);
		if (end != ROW_DONE || !page.next.n)
			return end;
		if (!effect_rows_next(x, &page))
			return copy_problem(x, x->page);
	}
}

static enum effect_end run_effect(struct effect *x)
{
	enum row_end end;

	x->page = branch_new(x->caller);
	x->run = branch_new(x->caller);
	x->page->depth = x->run->depth = x->caller->depth;
	buf_init(&x->progress, x->caller->arena);
	effect_clear(x);
	end = all_pages(x);
	/* It may have come further than the failure, or have found that another server has. */
	if (effect_land(x) == ROW_LOST)
		end = ROW_LOST;
	switch (end) {
	case ROW_DONE: return x->wrote ? EFFECT_DONE : EFFECT_NONE;
	case ROW_LOST: return EFFECT_LOST;
	case ROW_FAILED: break;
	}
	return EFFECT_FAILED;
}

enum effect_end effect_apply_until(struct run *r, const struct processor *p, const struct change *c,
				   struct position *at, const _Atomic bool *stop)
{
	struct effect x = { .caller = r, .processor = p, .change = c, .at = at, .stop = stop };
	bool wakes;

	if (p->effect == EFFECT_SEND || (!c->entity && !p->every_seconds))
		return EFFECT_NONE;
	/* Also when it continues: `when` may no longer hold for the rest. */
	effect_part_enter(&x, 0);
	x.wrote = effect_is_begun(&x);
	if (!effect_wakes_prepared(&x, &wakes))
		return EFFECT_FAILED;
	return wakes ? run_effect(&x) : EFFECT_NONE;
}

enum effect_end effect_apply(struct run *r, const struct processor *p, const struct change *c, struct position *at)
{
	return effect_apply_until(r, p, c, at, NULL);
}
