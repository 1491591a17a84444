/* A lane: reads its shard from its position on, has what is in it delivered, and remembers how far it came.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/send_lane.h"
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define SAVE_US 1000000       /* with something sent; */
#define SAVE_IDLE_US 30000000 /* without: changes that were passed over are passed over again in no time */
#define CONFIRM_US 3600000000 /* a position that does not move says that it is still right */
#define KEPT_MS (23 * 3600 * INT64_C(1000)) /* the stream keeps 24 hours: before that nothing can be lost */
#define IDLE_MS 25            /* doubling to 400 */
#define IDLE_DOUBLINGS 4
#define TROUBLE_MS 1000
#define RIVAL_MS 10000

/* ---- the position ---- */

static struct position position_of(const struct lane *l, const char *sequence, const char *progress)
{
	return (struct position){
		.processor = l->runner->p->name, .shard = slice_str(l->shard),
		.sequence = slice_str(sequence), .progress = slice_str(progress), .stored = l->stored,
	};
}

static bool load(struct lane *l, struct run *r)
{
	struct position at;

	if (!checkpoint_load(r, l->runner->p->name, slice_str(l->shard), &at))
		return false;
	if (at.sequence.n >= sizeof(l->sequence))
		return run_fail(r, PROBLEM_INTERNAL, "the position is too long");
	snprintf(l->sequence, sizeof(l->sequence), "%.*s", SLICE_ARG(at.sequence));
	memcpy(l->saved, l->sequence, sizeof(l->saved));
	snprintf(l->since, sizeof(l->since), "%.*s", SLICE_ARG(at.progress));
	memcpy(l->saved_since, l->since, sizeof(l->saved_since));
	l->stored = at.stored;
	l->confirmed_ms = at.time_ms;
	l->loaded = true;
	l->saved_us = clock_monotonic_us();
	return true;
}

/* False: someone else has moved it, or the database is in trouble. */
static bool write_position(struct lane *l, struct run *r)
{
	struct position was = position_of(l, l->saved, l->saved_since), now = position_of(l, l->sequence, l->since);

	r->problem = (struct problem){ 0 };
	if (!checkpoint_save(r, &was, &now)) {
		l->loaded &= r->problem.type != PROBLEM_CONFLICT;
		return false;
	}
	memcpy(l->saved, l->sequence, sizeof(l->saved));
	memcpy(l->saved_since, l->since, sizeof(l->saved_since));
	l->stored = true;
	l->sent = false;
	l->saved_us = clock_monotonic_us();
	l->confirmed_ms = r->now_ms;
	return true;
}

static bool save(struct lane *l, struct run *r)
{
	return !l->loaded || !strcmp(l->saved, l->sequence) || write_position(l, r);
}

static bool save_if_due(struct lane *l, struct run *r, bool at_rest)
{
	int64_t age = clock_monotonic_us() - l->saved_us;

	if (at_rest && l->stored && age >= CONFIRM_US)
		return write_position(l, r);
	if (l->sent ? at_rest || age >= SAVE_US : age >= SAVE_IDLE_US)
		return save(l, r);
	return true;
}

/* ---- reading ---- */

static void keep_iterator(struct lane *l, struct slice iterator)
{
	struct slice kept;

	/* Copied first: it may be the one that is kept. */
	if (iterator.n && iterator.p == l->iterator.p)
		return;
	arena_clear(&l->iterator_arena);
	l->iterator = SLICE("");
	if (!iterator.n)
		return;
	ARENA_TRY(&l->iterator_arena, {
		kept = arena_copy(&l->iterator_arena, iterator);
		l->iterator = kept;
	}, {}); /* else it is taken from the position again */
}

static void tell_of_loss(struct lane *l, struct run *r)
{
	if (r->now_ms - l->confirmed_ms < KEPT_MS)
		return; /* only the position was old */
	atomic_fetch_add(&l->runner->lost, 1);
	log_warn("processor %.*s: the stream may have forgotten changes of %s that were not sent yet",
		 SLICE_ARG(l->runner->p->name), l->shard);
}

static bool take_iterator(struct lane *l, struct run *r)
{
	struct shard_position at = { .where = AT_OLDEST };
	struct slice iterator;

	if (l->sequence[0] && !l->from_oldest) {
		at.where = AFTER_SEQUENCE;
		at.sequence = slice_str(l->sequence);
	}
	if (!change_iterator(r, slice_str(l->stream), slice_str(l->shard), &at, &iterator))
		return false;
	if (!iterator.n) {
		tell_of_loss(l, r);
		at.where = AT_OLDEST;
		if (!change_iterator(r, slice_str(l->stream), slice_str(l->shard), &at, &iterator))
			return false;
	}
	l->from_oldest = false;
	keep_iterator(l, iterator);
	return true;
}

/* ---- a step ---- */

struct step {
	bool end;
	int64_t wait_ms;      /* before the next one */
	const uint64_t *news; /* that would cut the wait short */
};

/* The database could not be asked, or what it said makes no sense: again, from the position. */
static struct step trouble(struct lane *l, struct run *r)
{
	bool expired = r->problem.type == PROBLEM_BUSY && l->iterator.n;

	keep_iterator(l, SLICE(""));
	if (r->problem.type == PROBLEM_CONFLICT) {
		log_warn("processor %.*s: another server is sending %s, too", SLICE_ARG(l->runner->p->name), l->shard);
		return (struct step){ .wait_ms = RIVAL_MS };
	}
	if (r->problem.type == PROBLEM_NOT_FOUND) /* the shard is gone; the runner sees what is there instead */
		return (struct step){ .end = true };
	if (!expired)
		log_warn("processor %.*s: %.*s", SLICE_ARG(l->runner->p->name), SLICE_ARG(r->problem.detail));
	return (struct step){ .wait_ms = expired ? IDLE_MS : TROUBLE_MS };
}

static struct step rest(struct lane *l, struct run *r, const uint64_t *news)
{
	int doublings = l->idle < IDLE_DOUBLINGS ? l->idle++ : IDLE_DOUBLINGS;

	atomic_store(&l->oldest_ms, 0);
	if (!save_if_due(l, r, true))
		return trouble(l, r);
	return (struct step){ .wait_ms = IDLE_MS << doublings, .news = news };
}

static struct step stand_still(struct lane *l, struct run *r, const struct change_page *page)
{
	atomic_store(&l->oldest_ms, page->list[0].created_ms);
	if (!save_if_due(l, r, true))
		return trouble(l, r);
	keep_iterator(l, SLICE("")); /* in time it would expire */
	return (struct step){ .wait_ms = TROUBLE_MS };
}

static struct step step(struct lane *l, struct run *r, uint64_t *news)
{
	bool paused = atomic_load(&l->runner->paused);
	struct change_page page;

	if (!l->loaded && !load(l, r))
		return trouble(l, r);
	if (!l->iterator.n && !take_iterator(l, r))
		return trouble(l, r);
	*news = runner_news(l->runner);
	if (!change_read(r, l->iterator, paused ? 1 : SEND_BULK_MOST, &page))
		return trouble(l, r);
	if (page.trimmed) {
		tell_of_loss(l, r);
		l->from_oldest = true;
		keep_iterator(l, SLICE(""));
		return (struct step){ .wait_ms = IDLE_MS };
	}
	if (page.count && (paused || atomic_load(&l->runner->paused))) /* also when it was paused while this was read */
		return stand_still(l, r, &page);
	if (page.count) {
		l->idle = 0;
		if (!lane_deliver(l, r, &page)) {
			keep_iterator(l, SLICE(""));
			return (struct step){ 0 };
		}
	}
	keep_iterator(l, page.iterator);
	if (!page.iterator.n) {
		atomic_store(&l->oldest_ms, 0);
		atomic_store(&l->ended, true);
		return (struct step){ .end = true };
	}
	if (!page.count)
		return rest(l, r, news);
	return save_if_due(l, r, false) ? (struct step){ 0 } : trouble(l, r);
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
		keep_iterator(l, SLICE(""));
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
			log_warn("processor %.*s: what has been sent last will be sent again: %.*s",
				 SLICE_ARG(l->runner->p->name), SLICE_ARG(r.problem.detail));
	}, {});
	arena_clear(&l->arena);
}

/* Shards that were made from this one may be another server's. */
static void tell_end(struct lane *l)
{
	volatile bool told = false;
	struct run r;

	ARENA_TRY(&l->arena, {
		r = lane_run(l->runner, l->backend, &l->arena);
		told = checkpoint_end(&r, l->runner->p->name, slice_str(l->shard));
	}, {});
	arena_clear(&l->arena);
	if (!told)
		atomic_store(&l->ended, false); /* it is made anew, and says so again */
}

static void *run_lane(void *ctx)
{
	struct lane *l = ctx;
	uint64_t news = 0;

	while (!runner_leaves(l->runner) && lane_is_ours(l->runner, slice_str(l->shard))) {
		struct step next = step_once(l, &news);

		if (next.end)
			break;
		if (next.news) /* what is new comes in crowds: one reading for all of it */
			runner_wait(l->runner, IDLE_MS, NULL);
		if (next.wait_ms)
			runner_wait(l->runner, next.wait_ms, next.news);
	}
	save_last(l);
	if (atomic_load(&l->ended) && l->runner->leases)
		tell_end(l);
	atomic_store(&l->finished, true);
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
	arena_init(&l->iterator_arena);
	l->stream = mem_strndup(stream.p, stream.n);
	l->shard = mem_strndup(shard.p, shard.n);
	l->backend = database_open(s->database);
	l->sender = sender_new(s->p, s->app, &s->stopping);
	if (l->stream && l->shard && l->backend && l->sender)
		return l;
	lane_free(l);
	return NULL;
}

bool lane_start(struct lane *l)
{
	l->running = pthread_create(&l->thread, NULL, run_lane, l) == 0;
	return l->running;
}

void lane_join(struct lane *l)
{
	if (l->running)
		pthread_join(l->thread, NULL);
	l->running = false;
}

void lane_free(struct lane *l)
{
	if (!l)
		return;
	sender_free(l->sender);
	backend_free(l->backend);
	mem_free(l->stream);
	mem_free(l->shard);
	arena_release(&l->arena);
	arena_release(&l->try_arena);
	arena_release(&l->iterator_arena);
	mem_free(l);
}
