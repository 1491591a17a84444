/* A lane: reads its shard from its position on, delivers the changes, and saves the position.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/send_lane.h"
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define SAVE_US      1000000    /* with something sent; */
#define SAVE_IDLE_US 30000000   /* without: passing over the same changes again costs little */
#define CONFIRM_US   3600000000 /* a position that does not move says that it is still right (tail_has_missed()) */
#define GATHER_MS    25         /* new changes come in groups: one reading for the group */
#define IDLE_MS      400        /* at the end of the shard; tail.h decides whether to read then */
#define TROUBLE_MS   1000
#define RIVAL_MS     10000

/* ---- the position ---- */

static struct position position_of(const struct lane *l, const struct spot *at, const char *progress)
{
	return (struct position){
		.time_ms = l->current_ms,
		.processor = l->runner->p->name,
		.shard = slice_str(l->tail.shard),
		.sequence = spot_sequence(at),
		.progress = slice_str(progress),
		.stored = l->stored,
	};
}

/* Drops the page: it is read again from the position. */
static void forget_page(struct lane *l)
{
	l->page = (struct change_page){ 0 };
	arena_clear(&l->page_arena);
	cursor_set(&l->cursor, spot_sequence(&l->done));
}

static bool load(struct lane *l, struct run *r)
{
	struct position at;

	if (!checkpoint_load(r, l->runner->p->name, slice_str(l->tail.shard), &at))
		return false;
	spot_set(&l->done, at.sequence);
	l->saved = l->done;
	snprintf(l->since, sizeof(l->since), "%.*s", SLICE_ARG(at.progress));
	memcpy(l->saved_since, l->since, sizeof(l->saved_since));
	l->stored = at.stored;
	l->current_ms = at.stored ? at.time_ms : r->now_ms;
	atomic_store(&l->seat.ended, at.ended);
	l->loaded = true;
	l->saved_us = clock_monotonic_us();
	forget_page(l);
	return true;
}

/* False: another server has moved it, or the database failed. */
static bool write_position(struct lane *l, struct run *r)
{
	struct position was = position_of(l, &l->saved, l->saved_since), now = position_of(l, &l->done, l->since);

	now.ended = atomic_load(&l->seat.ended);
	r->problem = (struct problem){ 0 };
	if (!checkpoint_save(r, &was, &now)) {
		l->loaded &= r->problem.type != PROBLEM_CONFLICT;
		return false;
	}
	l->saved = l->done;
	memcpy(l->saved_since, l->since, sizeof(l->saved_since));
	l->stored = true;
	l->sent = false;
	l->saved_us = clock_monotonic_us();
	return true;
}

static bool save(struct lane *l, struct run *r)
{
	return !l->loaded || spot_is(&l->saved, spot_sequence(&l->done)) || write_position(l, r);
}

static bool save_if_due(struct lane *l, struct run *r, bool at_rest)
{
	int64_t age = clock_monotonic_us() - l->saved_us;

	/* One from the beginning on, so that it is seen when the stream forgets what follows. */
	if (at_rest && (l->stored ? age >= CONFIRM_US : l->runner->leases != NULL))
		return write_position(l, r);
	if (l->sent ? at_rest || age >= SAVE_US : age >= SAVE_IDLE_US)
		return save(l, r);
	return true;
}

/* ---- a step ---- */

struct step {
	bool end;
	int64_t wait_ms;      /* before the next one */
	const uint64_t *news; /* that ends the wait early */
};

/* The database did not answer, or answered nonsense. */
static struct step trouble(struct lane *l, struct run *r)
{
	if (r->problem.type == PROBLEM_CONFLICT) {
		log_warn("processor %.*s: another server sends %s too", SLICE_ARG(l->runner->p->name), l->tail.shard);
		return (struct step){ .wait_ms = RIVAL_MS };
	}
	if (r->problem.type == PROBLEM_NOT_FOUND) /* the shard is gone; the runner lists the shards again */
		return (struct step){ .end = true };
	log_warn("processor %.*s: %.*s", SLICE_ARG(l->runner->p->name), SLICE_ARG(r->problem.detail));
	return (struct step){ .wait_ms = TROUBLE_MS };
}

static struct step rest(struct lane *l, struct run *r, const uint64_t *news)
{
	atomic_store(&l->oldest_ms, 0);
	l->current_ms = r->now_ms;
	if (!save_if_due(l, r, true))
		return trouble(l, r);
	return (struct step){ .wait_ms = IDLE_MS, .news = news };
}

static struct step wait_to_read(struct lane *l)
{
	int64_t us = tail_next_us(&l->tail, &l->cursor) - clock_monotonic_us();

	return (struct step){ .wait_ms = us > 0 ? us / 1000 + 1 : 1 };
}

static void note_trimmed(struct lane *l, struct run *r)
{
	bool missed = (l->stored || !spot_is_empty(&l->done)) && tail_has_missed(l->current_ms, r->now_ms);

	l->current_ms = r->now_ms; /* reported once */
	if (!missed)
		return;
	atomic_fetch_add(&l->runner->ledger->lost, 1);
	log_warn("processor %.*s: the stream may have forgotten changes of %s that were not sent yet",
		 SLICE_ARG(l->runner->p->name), l->tail.shard);
}

/* Writes the end of the position first: another server may own the children of this shard. */
static struct step end(struct lane *l, struct run *r)
{
	atomic_store(&l->oldest_ms, 0);
	l->current_ms = r->now_ms;
	l->since[0] = 0;
	atomic_store(&l->seat.ended, true);
	if (write_position(l, r))
		return (struct step){ .end = true };
	atomic_store(&l->seat.ended, false);
	return trouble(l, r);
}

/* The next of the page; NULL: all of it is done. */
static const struct change *next_change(const struct lane *l)
{
	for (size_t i = 0; i < l->page.count; i++)
		if (spot_compare(&l->done, l->page.list[i].sequence) < 0)
			return &l->page.list[i];
	return NULL;
}

static enum tail_found read_page(struct lane *l)
{
	volatile enum tail_found found = TAIL_LATER;

	arena_clear(&l->page_arena);
	l->page = (struct change_page){ 0 };
	ARENA_TRY(&l->page_arena, {
		struct run r = lane_run(l->runner, l->backend, &l->page_arena);

		found = tail_read(&l->tail, &l->cursor, &r, &l->page);
	}, {
		tail_failed(&l->tail, "the stream cannot be read", SLICE("out of memory"));
	});
	return found;
}

static struct step deliver(struct lane *l, struct run *r, const struct change *next)
{
	atomic_store(&l->oldest_ms, next->created_ms);
	if (atomic_load(&l->runner->paused))
		return save_if_due(l, r, true) ? (struct step){ .wait_ms = TROUBLE_MS } : trouble(l, r);
	if (!lane_deliver(l, r))
		return (struct step){ 0 };
	return save_if_due(l, r, false) ? (struct step){ 0 } : trouble(l, r);
}

static struct step step(struct lane *l, struct run *r, uint64_t *news)
{
	const struct change *next;

	if (!l->loaded && !load(l, r))
		return trouble(l, r);
	if (atomic_load(&l->seat.ended)) /* the stored position says so */
		return (struct step){ .end = true };
	next = next_change(l);
	if (next)
		return deliver(l, r, next);
	*news = runner_news(l->runner);
	switch (read_page(l)) {
	case TAIL_FOUND:
	case TAIL_END:
		if (l->page.trimmed)
			note_trimmed(l, r);
		return l->page.count ? (struct step){ 0 } : rest(l, r, news);
	case TAIL_LATER: return wait_to_read(l);
	case TAIL_ENDED: return end(l, r);
	case TAIL_GONE: break;
	}
	return (struct step){ .end = true };
}

/* ---- the thread ---- */

static struct step step_once(struct lane *l, uint64_t *news)
{
	volatile struct step next = { .wait_ms = TROUBLE_MS };
	struct run r;

	ARENA_TRY(&l->arena, {
		r = lane_run(l->runner, l->backend, &l->arena);
		next = step(l, &r, news);
	}, {
		log_warn("processor %.*s: out of memory", SLICE_ARG(l->runner->p->name));
	});
	arena_clear(&l->arena);
	arena_clear(&l->try_arena);
	return next;
}

static void save_last(struct lane *l)
{
	struct run r;

	ARENA_TRY(&l->arena, {
		r = lane_run(l->runner, l->backend, &l->arena);
		if (!save(l, &r))
			log_warn("processor %.*s: the last changes will be sent again: %.*s",
				 SLICE_ARG(l->runner->p->name), SLICE_ARG(r.problem.detail));
	}, {});
	arena_clear(&l->arena);
}

static void *run_lane(void *ctx)
{
	struct lane *l = ctx;
	uint64_t news = 0;

	while (!runner_leaves(l->runner) && lane_is_ours(l->runner, slice_str(l->tail.shard))) {
		struct step next = step_once(l, &news);

		if (next.end)
			break;
		if (next.news)
			runner_wait(l->runner, GATHER_MS, NULL);
		if (next.wait_ms)
			runner_wait(l->runner, next.wait_ms, next.news);
	}
	if (!atomic_load(&l->seat.ended))
		save_last(l);
	atomic_store(&l->seat.finished, true);
	return NULL;
}

struct lane *lane_new(struct send_runner *s, struct slice stream, struct slice shard)
{
	struct lane *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->runner = s;
	arena_init(&l->arena);
	arena_init(&l->try_arena);
	arena_init(&l->page_arena);
	l->backend = database_open(s->database);
	l->sender = sender_new(s->p, s->app, &s->stopping);
	if (tail_init(&l->tail, s->database, stream, shard) && l->backend && l->sender) {
		l->seat.shard = l->tail.shard;
		return l;
	}
	lane_free(l);
	return NULL;
}

bool lane_start(struct lane *l)
{
	l->running = pthread_create(&l->thread, NULL, run_lane, l) == 0;
	return l->running;
}

void lane_free(struct lane *l)
{
	if (!l)
		return;
	if (l->running)
		pthread_join(l->thread, NULL);
	sender_free(l->sender);
	backend_free(l->backend);
	tail_release(&l->tail);
	arena_release(&l->arena);
	arena_release(&l->try_arena);
	arena_release(&l->page_arena);
	mem_free(l);
}
