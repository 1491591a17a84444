/* Transactions of an effect in flight: the next rows are gathered meanwhile, and transactions that wait for the
 * writer together share a sync.
 *
 * Each moves the position from where the previous one leaves it. If one fails, so do all after it, and they are
 * repeated one at a time. Rows outlive their transactions: the next page is read when all have landed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/effect/effect_internal.h"

/* Waits for transactions that were in flight when memory ran out. */
static void abandon(void *ptr)
{
	struct flights *f = ptr;

	for (size_t i = 0; i < f->count; i++)
		(void)!dyn_write_end(f->list[i].started);
	f->count = 0;
}

static struct flights *flights_new(struct effect *x)
{
	struct flights *f = arena_new(x->caller->arena, struct flights);

	for (; f->spare_count < EFFECT_FLIGHTS; f->spare_count++) {
		f->spare[f->spare_count] = branch_new(x->caller);
		f->spare[f->spare_count]->depth = x->caller->depth;
	}
	arena_defer(x->caller->arena, abandon,
		    f); /* deferred before the branches, so that it runs while they still exist */
	return f;
}

/* ---- landing ---- */

static enum row_end again(struct effect *x, const struct flight *one)
{
	x->run = one->run;
	x->batch = one->batch;
	return effect_batch_commit(x, &one->now);
}

/* The first has failed. A later one can have been written only if another server does the same. */
static enum row_end land_one_by_one(struct effect *x, const struct flight *first)
{
	struct flights *f = x->flights;
	struct run *run = x->run;
	struct batch batch = x->batch;
	enum row_end end = ROW_DONE;
	size_t n = f->count;

	f->is_off = true;
	for (size_t i = 0; i < n; i++)
		if (dyn_write_end(f->list[i].started))
			end = ROW_LOST;
	f->count = 0;
	if (end == ROW_DONE)
		end = again(x, first);
	for (size_t i = 0; end == ROW_DONE && i < n; i++)
		end = again(x, &f->list[i]);
	if (end == ROW_DONE) {
		x->run = run;
		x->batch = batch;
	}
	return end;
}

static enum row_end land_one(struct effect *x)
{
	struct flights *f = x->flights;
	struct flight first = f->list[0];

	f->count--;
	memmove(f->list, f->list + 1, f->count * sizeof(*f->list));
	if (!dyn_write_end(first.started))
		return land_one_by_one(x, &first);
	effect_position_moved(x, &first.now);
	f->spare[f->spare_count++] = first.run;
	return ROW_DONE;
}

enum row_end effect_land(struct effect *x)
{
	enum row_end end = ROW_DONE;

	while (end == ROW_DONE && x->flights && x->flights->count)
		end = land_one(x);
	return end;
}

/* ---- starting ---- */

static const struct position *position_before(const struct effect *x)
{
	const struct flights *f = x->flights;

	return f->count ? &f->list[f->count - 1].now : x->at;
}

enum row_end effect_launch(struct effect *x, const struct position *now)
{
	struct flights *f = x->flights ? x->flights : (x->flights = flights_new(x));
	struct dyn_started *started = NULL;
	enum row_end end;

	if (f->count == EFFECT_FLIGHTS) {
		end = land_one(x);
		if (end != ROW_DONE)
			return end;
	}
	if (!f->is_off) {
		x->run->riders = checkpoint_move(x->run, position_before(x), now);
		x->run->rider_count = 1;
		started = dyn_write_start(x->run, x->batch.list, x->batch.count);
	}
	if (!started) {
		end = effect_land(x);
		return end == ROW_DONE ? effect_batch_commit(x, now) : end;
	}
	f->list[f->count++] = (struct flight){ x->run, x->batch, *now, started };
	x->run = f->spare[--f->spare_count];
	effect_clear(x);
	return ROW_DONE;
}
