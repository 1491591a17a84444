/* Looks after a `send` processor: pauses, replays, starts a lane for each shard.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"
#include "process/send/send_lane.h"

#define LOOK_MS       1000     /* at switches */
#define LOOK_LEAST_MS 50       /* however much is new */
#define SHARDS_US     10000000 /* at the list of shards */

int64_t send_backoff(int tries, int64_t retry_after)
{
	int64_t wait = tries < 10 ? INT64_C(1) << (tries - 1) : SEND_WAIT_MOST;

	return retry_after > wait ? retry_after : wait;
}

/* ---- waiting ---- */

bool runner_leaves(struct send_runner *s)
{
	return atomic_load(&s->stopping) || atomic_load(&s->leaving);
}

bool runner_interrupts(struct send_runner *s)
{
	return runner_leaves(s) || atomic_load(&s->paused);
}

uint64_t runner_news(struct send_runner *s)
{
	uint64_t news;

	pthread_mutex_lock(&s->lock);
	news = s->news;
	pthread_mutex_unlock(&s->lock);
	return news;
}

void runner_wait(struct send_runner *s, int64_t ms, const uint64_t *news)
{
	int64_t until = clock_monotonic_us() + ms * 1000;
	bool paused = atomic_load(&s->paused);

	pthread_mutex_lock(&s->lock);
	while (!runner_leaves(s) && atomic_load(&s->paused) == paused && !(news && s->news != *news))
		if (!cond_wait_until(&s->changed, &s->lock, until))
			break;
	pthread_mutex_unlock(&s->lock);
}

static void set(struct send_runner *s, atomic_bool *flag, bool value)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(flag, value);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void send_runner_pause(struct send_runner *s, bool paused)
{
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->paused, paused);
	s->told++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static uint64_t times_told(struct send_runner *s)
{
	uint64_t told;

	pthread_mutex_lock(&s->lock);
	told = s->told;
	pthread_mutex_unlock(&s->lock);
	return told;
}

/* Sets the switch as in the table, unless an operator has changed it since it was read. */
static void follow_switch(struct send_runner *s, bool paused, uint64_t told)
{
	pthread_mutex_lock(&s->lock);
	if (s->told == told && atomic_load(&s->paused) != paused) {
		atomic_store(&s->paused, paused);
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
}

void send_runner_wake(struct send_runner *s)
{
	pthread_mutex_lock(&s->lock);
	s->news++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* ---- lanes ---- */

struct run lane_run(struct send_runner *s, struct backend *b, struct arena *a)
{
	struct run r = { .app = s->app };

	/* Without a caller: only attributes that everyone may see are sent. */
	r.design = app_design(s->app);
	r.backend = b;
	r.arena = a;
	r.now_ms = app_now_ms(s->app);
	backend_label(b, s->p->name);
	return r;
}

bool lane_is_ours(struct send_runner *s, struct slice shard)
{
	return !s->leases || lease_is_mine(s->leases, shard, clock_monotonic_us());
}

static bool is_ours(void *ctx, struct slice shard)
{
	return lane_is_ours(ctx, shard);
}

static bool has_ended_elsewhere(void *ctx, struct run *r, struct slice shard)
{
	struct send_runner *s = ctx;
	bool ended = false;

	return s->leases && checkpoint_has_ended(r, s->p->name, shard, &ended) && ended;
}

static struct seat *begin_lane(void *ctx, struct run *r, const struct shard_list *list, const struct shard *shard)
{
	struct send_runner *s = ctx;
	struct lane *l = lane_new(s, list->stream_arn, shard->id);

	(void)r;
	if (l && lane_start(l))
		return &l->seat;
	log_warn("processor %.*s: not enough memory or threads", SLICE_ARG(s->p->name));
	lane_free(l);
	return NULL;
}

static void end_lane(struct seat *s)
{
	lane_free((struct lane *)s);
}

static bool look_at_shards(struct send_runner *s, struct run *r)
{
	struct shard_list list;

	if (!dyn_list_shards(r, &list))
		return false;
	seats_follow(&s->lanes, r, &list);
	return true;
}

/* ---- switches ---- */

static bool go_back(struct send_runner *s, struct run *r, struct slice shard, struct slice since)
{
	struct position was, now = { .processor = s->p->name, .shard = shard, .progress = since };

	return checkpoint_load(r, s->p->name, shard, &was) && checkpoint_save(r, &was, &now);
}

static void clear_lanes(struct send_runner *s)
{
	set(s, &s->leaving, true);
	seats_clear(&s->lanes);
	set(s, &s->leaving, false);
}

/* Moves the positions first: if this is interrupted, it is repeated. Parents before their children:
 * process_replay(). */
static bool replay(struct send_runner *s, struct run *r, struct processor_switch *w)
{
	struct shard_list list;
	struct slice since;

	if (!dyn_list_shards(r, &list))
		return false;
	clear_lanes(s);
	since = checkpoint_since(r->arena, w->replay_from_ms);
	shards_order(&list, r->arena);
	for (size_t i = 0; i < list.count; i++)
		if (!go_back(s, r, list.list[i].id, since))
			return false;
	w->replay_from_ms = 0;
	w->replayed = checkpoint_replayed(r);
	return checkpoint_set_switch(r, s->p->name, w);
}

/* A replay has moved positions back, on this server or another: lanes start again, also in shards that had ended. */
static bool follow_replay(struct send_runner *s, struct slice replayed)
{
	uint64_t number = checkpoint_replay_number(replayed);

	if (number == s->replayed)
		return false;
	s->replayed = number;
	clear_lanes(s);
	return true;
}

/* Follows the switches and, with `shards`, the list of shards. False: try again soon. */
static bool look_at_table(struct send_runner *s, struct run *r, bool shards)
{
	struct processor_switch w;
	uint64_t told = times_told(s);

	if (!checkpoint_switch(r, s->p->name, &w))
		return false;
	follow_switch(s, w.paused, told);
	if (w.replay_from_ms && !replay(s, r, &w))
		return false;
	if (follow_replay(s, w.replayed))
		shards = true;
	return !shards || look_at_shards(s, r);
}

static void look_once(struct send_runner *s, struct backend *b, struct arena *a, int64_t *shards_us)
{
	int64_t now = clock_monotonic_us();
	volatile bool ok = false;
	struct run r;

	ARENA_TRY(a, {
		r = lane_run(s, b, a);
		ok = look_at_table(s, &r, now >= *shards_us);
		if (!ok)
			log_warn("processor %.*s: %.*s", SLICE_ARG(s->p->name), SLICE_ARG(r.problem.detail));
	}, {
		log_warn("processor %.*s: out of memory", SLICE_ARG(s->p->name));
	});
	if (!ok)
		*shards_us = 0;
	else if (now >= *shards_us)
		*shards_us = now + SHARDS_US;
	arena_clear(a);
}

static void *run_runner(void *ctx)
{
	struct send_runner *s = ctx;
	struct backend *b = database_open(s->database);
	int64_t shards_us = 0;
	struct arena a;

	if (!b)
		log_error("processor %.*s does not run: out of memory", SLICE_ARG(s->p->name));
	arena_init(&a);
	while (b && !atomic_load(&s->stopping)) {
		uint64_t news = runner_news(s);

		look_once(s, b, &a, &shards_us);
		runner_wait(s, LOOK_LEAST_MS, NULL);
		runner_wait(s, LOOK_MS, &news);
	}
	seats_clear(&s->lanes);
	arena_release(&a);
	backend_free(b);
	return NULL;
}

/* ---- from outside ---- */

int64_t send_second_ms(void)
{
	const char *text = getenv(SEND_RETRY_ENV);
	long ms = text ? strtol(text, NULL, 10) : 0;

	return ms > 0 && ms < 1000 ? ms : 1000;
}

struct send_runner *send_runner_new(struct app *app, const struct processor *p, struct leases *leases,
				    struct ledger *ledger)
{
	struct send_runner *s = mem_zalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->app = app;
	s->database = app_database(app);
	s->p = p;
	s->leases = leases;
	s->ledger = ledger;
	s->second_ms = send_second_ms();
	s->lanes = (struct seats){ .lock = &s->lock,
				   .ctx = s,
				   .begin = begin_lane,
				   .free = end_lane,
				   .is_ours = is_ours,
				   .has_ended_elsewhere = has_ended_elsewhere };
	pthread_mutex_init(&s->lock, NULL);
	cond_init(&s->changed);
	return s;
}

bool send_runner_start(struct send_runner *s)
{
	atomic_store(&s->stopping, false);
	s->started = pthread_create(&s->thread, NULL, run_runner, s) == 0;
	return s->started;
}

void send_runner_stop(struct send_runner *s)
{
	if (!s || !s->started)
		return;
	set(s, &s->stopping, true);
	pthread_join(s->thread, NULL);
	s->started = false;
}

void send_runner_free(struct send_runner *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	mem_free(s);
}

int64_t send_runner_lag_ms(struct send_runner *s)
{
	int64_t now = clock_now_ms(&clock_system), lag = 0;

	pthread_mutex_lock(&s->lock);
	for (struct seat *x = s->lanes.first; x; x = x->next) {
		int64_t oldest = atomic_load(&((struct lane *)x)->oldest_ms);

		if (oldest && now - oldest > lag)
			lag = now - oldest;
	}
	pthread_mutex_unlock(&s->lock);
	return lag;
}

bool send_runner_is_paused(struct send_runner *s)
{
	return atomic_load(&s->paused);
}
