/* The stations of a design, and the watcher: the thread that starts, wakes and ends their readers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app/db/late.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"
#include "process/keeper/keeper.h"
#include "process/process_internal.h"

#define WATCH_LEAST_US  2000  /* while new changes keep coming */
#define WATCH_MOST_US   20000 /* while there are none */
#define DELAY_EVERY_US  100000
#define BEGIN_EVERY_US  30000000
#define SHARDS_EVERY_US 1000000 /* lists the shards when one has ended, at most so often */
#define SHARDS_LEAST_US 200000  /* the same for a remote table, where many shards end at about the same time */
#define SWEEP_EVERY_US  (3600 * INT64_C(1000000))
#define DELAY_MOST_MS   1000
#define DELAY_SLOPE     50      /* milliseconds of lag for one of delay */
#define STUCK_US        5000000 /* a track without progress for so long does not slow writers: waiting would not help it */

int64_t process_stream_ms(const struct process *p)
{
	return app_now_ms(p->app) + database_clock_off_ms(p->database);
}

struct run process_run(struct process *p, struct backend *b, struct arena *a)
{
	struct run r = { .app = p->app };

	r.design = p->design;
	r.backend = b;
	r.arena = a;
	r.now_ms = app_now_ms(p->app);
	r.caller.operator_ = true;
	backend_label(b, SLICE("processors"));
	return r;
}

/* Rises when a stream may have something new. */
static uint64_t process_latest(struct process *p)
{
	return database_latest(p->database) + atomic_load(&p->looks);
}

void process_wake(struct process *p)
{
	pthread_mutex_lock(&p->lock);
	p->turn++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

/* ---- stations ---- */

struct station *process_station(struct process *p, struct slice name)
{
	for (size_t i = 0; i < p->station_count; i++)
		if (slice_equal(p->stations[i].name, name))
			return &p->stations[i];
	return NULL;
}

void station_problem(struct process *p, struct station *s, const char *what, struct slice detail)
{
	log_warn("%.*s, %.*s: %s: %.*s", SLICE_ARG(p->design->name), SLICE_ARG(s->name), what, SLICE_ARG(detail));
	ledger_problem(&s->ledger, detail, app_now_ms(p->app));
}

void station_replayed(struct process *p, struct station *s, struct slice replayed)
{
	uint64_t number = checkpoint_replay_number(replayed);

	if (atomic_exchange(&s->replayed, number) == number)
		return;
	atomic_fetch_add(&s->epoch, 1);
	pthread_mutex_lock(&p->lock);
	p->endings++; /* shards that had ended are read again */
	pthread_mutex_unlock(&p->lock);
	process_wake(p);
}

static void add_backlog(const struct track *t, int64_t now, int64_t *lag_ms, uint64_t *waiting)
{
	int64_t oldest = atomic_load(&t->oldest_ms);

	if (oldest && now - oldest > *lag_ms)
		*lag_ms = now - oldest;
	if (oldest)
		*waiting += atomic_load(&t->waiting);
}

void station_backlog(struct process *p, struct station *s, int64_t *lag_ms, uint64_t *waiting)
{
	int64_t now = process_stream_ms(p);

	*lag_ms = s->sender ? send_runner_lag_ms(s->sender) : 0;
	*waiting = 0;
	if (station_is_scheduled(s)) {
		int64_t due = atomic_load(&s->due_ms);

		*lag_ms = due && now > due ? now - due : 0;
		*waiting = due != 0;
	}
	if (!station_has_tracks(s))
		return;
	pthread_mutex_lock(&p->lock);
	for (struct seat *x = p->readers.first; x; x = x->next)
		for (size_t i = 0; i < reader_of(x)->track_count; i++)
			if (reader_of(x)->tracks[i].station == s)
				add_backlog(&reader_of(x)->tracks[i], now, lag_ms, waiting);
	pthread_mutex_unlock(&p->lock);
}

/* Whether the station's work reads indexes. The keeper's does: it searches copies and dependent items. */
static bool asks_indexes(const struct processor *x)
{
	for (size_t i = 0; x && i < x->parts; i++)
		if (late_reads_index(x[i].rows_access) || late_reads_index(x[i].target_access))
			return true;
	return !x;
}

static struct station *add_station(struct process *p, const struct processor *processor, struct slice name)
{
	struct station *s = &p->stations[p->station_count++];

	s->processor = processor;
	s->name = name;
	s->asks_indexes = p->database->is_remote && asks_indexes(processor);
	ledger_init(&s->ledger, p->design->name, name);
	return s;
}

static bool add_keeper(struct process *p)
{
	ARENA_TRY(&p->memory, { p->roles = keeper_roles_new(&p->memory, p->design); }, { return false; });
	add_station(p, NULL, SLICE(KEEPER_NAME));
	p->has_tracks = true;
	return true;
}

static bool add_stations(struct process *p)
{
	const struct design *d = p->design;

	p->stations = mem_zalloc((d->processor_count + 1) * sizeof(*p->stations));
	if (!p->stations)
		return false;
	for (size_t i = 0; i < d->processor_count; i++) {
		const struct processor *x = &d->processors[i];
		struct station *s;

		if (!x->parts || (x->effect == EFFECT_SEND && !send_is_needed(x)))
			continue;
		s = add_station(p, x, x->name);
		if (x->every_seconds) {
			p->has_schedules = true;
			continue;
		}
		if (x->effect != EFFECT_SEND) {
			p->has_tracks = true;
			continue;
		}
		s->sender = send_runner_new(p->app, x, p->leases, &s->ledger);
		if (!s->sender)
			return false;
	}
	return !keeper_is_needed(d) || add_keeper(p);
}

/* ---- slowing writers ---- */

/* Only work that can be done slows writers: not a track that is paused, waits for its next try, or makes no
 * progress. */
static bool slows_writers(const struct track *t)
{
	int64_t oldest = atomic_load(&t->oldest_ms);

	return oldest && oldest >= atomic_load(&t->since_ms) && !atomic_load(&t->station->paused) &&
	       !atomic_load(&t->is_retrying) && clock_monotonic_us() - atomic_load(&t->worked_us) < STUCK_US;
}

int64_t process_find_delay_ms(struct process *p)
{
	int64_t now = process_stream_ms(p), lag = 0, delay;

	for (struct seat *x = p->readers.first; x; x = x->next)
		for (size_t i = 0; i < reader_of(x)->track_count; i++) {
			const struct track *t = &reader_of(x)->tracks[i];

			if (slows_writers(t) && now - atomic_load(&t->oldest_ms) > lag)
				lag = now - atomic_load(&t->oldest_ms);
		}
	if (lag <= PROCESS_SLOW_MS)
		return 0;
	delay = (lag - PROCESS_SLOW_MS) / DELAY_SLOPE + 1;
	return delay < DELAY_MOST_MS ? delay : DELAY_MOST_MS;
}

static void set_delay(struct process *p)
{
	int64_t delay = process_find_delay_ms(p), was = atomic_exchange(&p->delay_ms, delay);

	if (delay && !was)
		log_warn("%.*s: processors are behind: writers are slowed", SLICE_ARG(p->design->name));
	else if (was && !delay)
		log_info("%.*s: writers are no longer slowed", SLICE_ARG(p->design->name));
}

int64_t process_delay_ms(struct process *p)
{
	int64_t delay = atomic_load_explicit(&p->delay_ms, memory_order_relaxed);

	if (delay)
		atomic_fetch_add_explicit(&p->slowed, 1, memory_order_relaxed);
	return delay;
}

bool process_is_idle(struct process *p)
{
	uint64_t latest = process_latest(p);
	bool idle = true;

	for (size_t i = 0; i < p->station_count; i++) {
		struct station *s = &p->stations[i];

		if (atomic_load(&s->due_ms) || (atomic_load(&s->run_now) && !atomic_load(&s->paused)))
			return false;
	}
	pthread_mutex_lock(&p->lock);
	idle = !p->has_tracks || p->listed;
	for (struct seat *x = p->readers.first; x && idle; x = x->next)
		for (size_t i = 0; i < reader_of(x)->track_count; i++) {
			const struct track *t = &reader_of(x)->tracks[i];

			if (!track_has_ended(t) && !atomic_load(&t->station->paused) &&
			    (atomic_load(&t->latest) < latest ||
			     atomic_load(&t->epoch) != atomic_load(&t->station->epoch)))
				idle = false;
		}
	pthread_mutex_unlock(&p->lock);
	return idle;
}

/* ---- readers ---- */

static bool is_ours(void *ctx, struct slice shard)
{
	struct process *p = ctx;

	return !p->leases || lease_is_mine(p->leases, shard, clock_monotonic_us());
}

static struct seat *begin_reader(void *ctx, struct run *run, const struct shard_list *list, const struct shard *s)
{
	struct process *p = ctx;
	struct shard known = *s;
	struct reader *r;

	(void)run;
	if (!shard_list_find(list, s->parent))
		known.parent = SLICE("");
	r = reader_new(p, list->stream_arn, &known);
	if (r && reader_start(r))
		return &r->seat;
	log_error("%.*s: not enough memory or threads for its processors", SLICE_ARG(p->design->name));
	reader_free(r);
	return NULL;
}

/* Off the list. Children of the shard that wait for it look again: no reader of this server will wake them, as the
 * shard may be another server's now. */
static void end_reader(struct seat *s)
{
	reader_ended(reader_of(s), NULL, false);
	reader_free(reader_of(s));
}

/* Returns whether it existed. */
static bool leave(struct reader *r)
{
	atomic_store(&r->give_way, true);
	return !atomic_exchange(&r->leave, true);
}

/* Leaves shards that other servers own now. */
static void leave_shards(struct process *p)
{
	bool left = false;

	for (struct seat *s = p->readers.first; s; s = s->next)
		if (!is_ours(p, slice_str(s->shard)))
			left = leave(reader_of(s)) || left;
	if (left)
		process_wake(p);
}

/* A replay goes back into shards that had ended. */
static bool is_replayed(const struct reader *r)
{
	for (size_t i = 0; i < r->track_count; i++)
		if (!track_has_ended(&r->tracks[i]))
			return true;
	return false;
}

/* Readers learn what has become of their shards and of the parents. */
static void follow_list(struct process *p, const struct shard_list *list)
{
	bool any = false;

	for (struct seat *s = p->readers.first; s; s = s->next) {
		struct reader *r = reader_of(s);

		if (atomic_load(&s->finished)) {
			if (is_replayed(r))
				atomic_store(&s->ended, false); /* H2: it is begun again */
			continue;
		}
		if (!shard_list_find(list, slice_str(s->shard)) && leave(r)) {
			any = true;
			p->sweep_us = 0; /* R5 */
		}
		if (r->parent && !shard_list_find(list, slice_str(r->parent)))
			any = !atomic_exchange(&r->parent_gone, true) || any;
	}
	if (any)
		process_wake(p);
}

static void sweep_station(struct process *p, struct run *r, const struct shard_list *list, struct station *s)
{
	struct checkpoint_swept swept;

	if (!checkpoint_sweep(r, list, s->name, &swept))
		log_debug("%.*s, %.*s: positions in old shards stay for now: %.*s", SLICE_ARG(p->design->name),
			  SLICE_ARG(s->name), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
	if (swept.removed)
		log_info("%.*s, %.*s: removed %zu positions in shards that are gone", SLICE_ARG(p->design->name),
			 SLICE_ARG(s->name), swept.removed);
	if (!swept.lost)
		return;
	atomic_fetch_add(&s->ledger.lost, swept.lost);
	station_problem(p, s, "a shard is gone",
			SLICE("the stream has forgotten changes after its position: some may have been missed"));
}

/* Once an hour; a failure waits for the next time. */
static void sweep(struct process *p, struct run *r, const struct shard_list *list)
{
	int64_t now = clock_monotonic_us();

	if (now < p->sweep_us)
		return;
	p->sweep_us = now + SWEEP_EVERY_US;
	for (size_t i = 0; i < p->station_count; i++)
		if (!station_is_scheduled(&p->stations[i]))
			sweep_station(p, r, list, &p->stations[i]);
}

/* A reader runs before it is on the list. If a parent has ended in between, its children have not been notified. */
static void look_again(struct process *p)
{
	bool any = false;

	for (struct seat *s = p->readers.first; s; s = s->next) {
		struct reader *r = reader_of(s);

		for (size_t i = 0; !r->is_known && i < r->track_count; i++)
			atomic_store(&r->tracks[i].look, true);
		any = any || !r->is_known;
		r->is_known = true;
	}
	if (any)
		process_wake(p);
}

/* One server of the table runs the schedules: they are as a shard more. */
static struct shard_list with_schedules(const struct process *p, struct run *r, const struct shard_list *list)
{
	struct shard_list all = *list;

	if (!p->has_schedules)
		return all;
	all.list = arena_array(r->arena, struct shard, list->count + 1);
	for (size_t i = 0; i < list->count; i++)
		all.list[i] = list->list[i];
	all.list[all.count++].id = SLICE(SCHEDULE_SHARD);
	return all;
}

/* Without a stream there are schedules at most. */
static bool list_shards(struct process *p, struct run *r, struct shard_list *out)
{
	if (p->design->stream != STREAM_NONE || p->has_tracks)
		return dyn_list_shards(r, out);
	*out = (struct shard_list){ 0 };
	return true;
}

static bool look_at_shards(struct process *p, struct run *r)
{
	struct shard_list list, all;
	uint64_t endings;
	bool listed;

	if (p->leases)
		fleet_tell(p, r);
	pthread_mutex_lock(&p->lock);
	endings = p->endings;
	pthread_mutex_unlock(&p->lock);
	if (!list_shards(p, r, &list))
		return false;
	all = with_schedules(p, r, &list);
	if (p->leases && !lease_round(p->leases, r, &all, clock_monotonic_us()))
		return false;
	if (p->leases) {
		sweep(p, r, &list);
		relay_sweep(p->relay);
	}
	if (!p->has_tracks)
		return true;
	follow_list(p, &list);
	listed = seats_follow(&p->readers, r, &list);
	look_again(p);
	pthread_mutex_lock(&p->lock);
	p->listed = listed && p->endings == endings; /* children of one that has ended since are not on this list */
	pthread_mutex_unlock(&p->lock);
	return true;
}

/* ---- the watcher ---- */

/* Reads what must be known before anything runs (switches, parked changes), then starts. */
static bool begin_stations(struct process *p, char *why, size_t n);

struct watch {
	struct process *process;
	int64_t begin_us; /* when to try the start again */
	uint64_t latest;
	int64_t pause_us, delay_us, shards_us;
	int64_t listed_us;           /* when the shards were last listed */
	int64_t wake_us, senders_us; /* when readers, and senders, were last woken */
	uint64_t endings;            /* of readers, when the shards were last listed */
	bool complained;
};

/* Processors are paused and resumed for all servers. */
struct switches {
	struct process *process;
	unsigned *told; /* of the stations, before the table was read */
};

static void follow_switch(void *ctx, struct slice name, const struct processor_switch *w)
{
	struct switches *all = ctx;
	struct process *p = all->process;
	struct station *s = process_station(p, name);
	bool changes;

	if (!s || s->sender) /* a sender reads its switch itself */
		return;
	station_replayed(p, s, w->replayed);
	pthread_mutex_lock(&p->lock);
	/* If an operator has set the switch on this server since the table was read, that stands. */
	changes = atomic_load(&s->told) == all->told[s - p->stations] && atomic_load(&s->paused) != w->paused;
	if (changes)
		atomic_store(&s->paused, w->paused);
	pthread_mutex_unlock(&p->lock);
	if (changes) {
		process_wake(p);
		schedule_wake(p);
	}
}

bool process_follow_switches(struct process *p, struct run *r)
{
	struct switches all = { .process = p, .told = arena_array(r->arena, unsigned, p->station_count) };

	for (size_t i = 0; i < p->station_count; i++)
		all.told[i] = atomic_load(&p->stations[i].told);
	return checkpoint_switches(r, follow_switch, &all);
}

static bool is_time_for_shards(const struct watch *w, int64_t now, uint64_t endings)
{
	struct process *p = w->process;

	/* Children of a shard that has ended do not wait for a round of leases. */
	if (endings == w->endings && (now < w->shards_us || (!p->leases && !seats_want_list(&p->readers))))
		return false;
	return !p->leases || now >= w->listed_us + SHARDS_LEAST_US;
}

/* How long until the shards are looked at again though none has ended. */
static int64_t shards_pause_us(const struct watch *w)
{
	const struct process *p = w->process;

	if (p->leases)
		return LEASE_ROUND_MS * 1000;
	return w->complained || !p->readers.first ? SHARDS_EVERY_US : 10 * SHARDS_EVERY_US;
}

static void watch_shards(struct watch *w, int64_t now)
{
	struct process *p = w->process;
	uint64_t endings;

	if (p->leases)
		leave_shards(p);
	pthread_mutex_lock(&p->lock);
	endings = p->endings;
	pthread_mutex_unlock(&p->lock);
	if (!is_time_for_shards(w, now, endings))
		return;
	w->listed_us = now;
	w->endings = endings;
	w->shards_us = now + shards_pause_us(w);
	ARENA_TRY(&p->arena, {
		struct run r = process_run(p, p->backend, &p->arena);
		bool ok = look_at_shards(p, &r) && (!p->leases || process_follow_switches(p, &r));

		if (!ok && !w->complained)
			log_warn("%.*s: processors wait: %.*s", SLICE_ARG(p->design->name), SLICE_ARG(r.problem.detail));
		w->complained = !ok;
	}, {
		log_warn("%.*s: processors wait: out of memory", SLICE_ARG(p->design->name));
	});
	arena_clear(&p->arena);
}

static void watch_effects(struct process *p, int64_t now)
{
	for (struct seat *s = p->readers.first; s; s = s->next) {
		int64_t until = atomic_load(&reader_of(s)->effect_us);

		if (until && now > until)
			atomic_store(&reader_of(s)->give_way, true);
	}
}

static void wake_senders(struct process *p)
{
	for (size_t i = 0; i < p->station_count; i++)
		if (p->stations[i].sender)
			send_runner_wake(p->stations[i].sender);
}

/* Readers poll by themselves although no write is known (database_poll_us()); senders are woken. */
static void watch_stream(struct watch *w, int64_t now)
{
	const struct database *d = w->process->database;
	uint64_t latest = process_latest(w->process);

	if (latest == w->latest && (!d->poll_ms || now - w->wake_us < d->poll_ms * INT64_C(1000))) {
		w->pause_us = w->pause_us * 5 / 4 < WATCH_MOST_US ? w->pause_us * 5 / 4 : WATCH_MOST_US;
		return;
	}
	if (latest != w->latest)
		w->pause_us = WATCH_LEAST_US;
	if (latest != w->latest || now - w->senders_us >= d->poll_most_ms * INT64_C(1000)) {
		w->senders_us = now;
		wake_senders(w->process);
	}
	w->latest = latest;
	w->wake_us = now;
	process_wake(w->process);
}

static void watch_pause(struct watch *w, int64_t now)
{
	struct process *p = w->process;

	pthread_mutex_lock(&p->lock);
	if (!atomic_load(&p->stopping))
		(void)cond_wait_until(&p->stopped, &p->lock, now + w->pause_us);
	pthread_mutex_unlock(&p->lock);
}

/* So that another server takes over at once. */
static void leave_leases(struct process *p)
{
	ARENA_TRY(&p->arena, {
		struct run r = process_run(p, p->backend, &p->arena);

		lease_leave(p->leases, &r);
	}, {});
	arena_clear(&p->arena);
}

/* Tries the start again. Until it succeeds nothing runs, and requests do the keeper's work. A damaged block stays
 * damaged, but other problems pass. */
static void watch_beginning(struct watch *w, int64_t now)
{
	struct process *p = w->process;
	char why[256];

	if (atomic_load(&p->begun) || now < w->begin_us)
		return;
	if (begin_stations(p, why, sizeof(why)))
		log_info("%.*s: its processors run now", SLICE_ARG(p->design->name));
	w->begin_us = clock_monotonic_us() + p->begin_every_us;
}

static void *watch(void *arg)
{
	struct watch w = { .process = arg, .pause_us = WATCH_LEAST_US };
	struct process *p = arg;

	w.begin_us = clock_monotonic_us() + p->begin_every_us;

	while (!atomic_load(&p->stopping)) {
		int64_t now = clock_monotonic_us();

		watch_beginning(&w, now);
		if (p->has_schedules && !p->timetable && atomic_load(&p->begun) && !schedule_start(p))
			w.begin_us = now; /* memory or threads: with the next look */
		if ((p->has_tracks || p->leases) && atomic_load(&p->begun))
			watch_shards(&w, now);
		watch_stream(&w, now);
		watch_effects(p, now);
		if (now >= w.delay_us) {
			w.delay_us = now + DELAY_EVERY_US;
			set_delay(p);
		}
		watch_pause(&w, now);
	}
	schedule_stop(p);
	seats_clear(&p->readers);
	p->listed = false;
	if (p->leases)
		leave_leases(p);
	return NULL;
}

/* ---- life ---- */

static void add_relay(struct process *p, const char *address)
{
	p->has_peers = address != NULL;
	p->leases = lease_new(app_now_ms(p->app));
	if (p->leases && (!address || lease_set_address(p->leases, address)))
		p->relay = relay_new(p->app, p->leases, p->has_peers);
}

struct relay *process_relay(struct process *p)
{
	return p->relay;
}

struct process *process_new(const struct process_options *o)
{
	struct process *p = mem_zalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->app = o->app;
	p->database = app_database(o->app);
	p->design = app_design(o->app);
	p->begin_every_us = BEGIN_EVERY_US;
	p->readers = (struct seats){ .lock = &p->lock,
				     .unordered = true, /* R4 */
				     .ctx = p,
				     .begin = begin_reader,
				     .free = end_reader,
				     .is_ours = is_ours };
	arena_init(&p->arena);
	arena_init(&p->memory);
	pthread_mutex_init(&p->lock, NULL);
	cond_init(&p->changed);
	cond_init(&p->stopped);
	p->backend = database_open(p->database);
	if (p->database->is_remote)
		add_relay(p, o->peer_address);
	if (p->backend && (p->relay || !p->database->is_remote) && add_stations(p))
		return p;
	process_free(p);
	return NULL;
}

/* Continues a replay that the last stop interrupted. Without a stream there is nothing to replay. */
static bool go_on_replaying(struct process *p, struct run *r, struct station *s, int64_t from_ms)
{
	struct processor_switch w;

	if (process_replay(p, r, s, from_ms))
		return true;
	if (r->problem.type != PROBLEM_NOT_FOUND)
		return false;
	station_problem(p, s, "a replay is given up", r->problem.detail);
	r->problem = (struct problem){ 0 };
	if (!checkpoint_switch(r, s->name, &w))
		return false;
	w.replay_from_ms = 0;
	return checkpoint_set_switch(r, s->name, &w);
}

/* Switches survive a restart. */
static bool restore(struct process *p, struct run *r)
{
	for (size_t i = 0; i < p->station_count; i++) {
		struct station *s = &p->stations[i];
		struct processor_switch w;
		int64_t parked;

		if (!checkpoint_switch(r, s->name, &w) || !checkpoint_parked_count(r, s->name, &parked))
			return false;
		atomic_store(&s->paused, w.paused);
		atomic_store(&s->ledger.parked, parked);
		atomic_store(&s->replayed, checkpoint_replay_number(w.replayed));
		if (w.replay_from_ms && !s->sender && !go_on_replaying(p, r, s, w.replay_from_ms))
			return false;
	}
	return true;
}

static bool has_taken_name(const struct process *p)
{
	for (size_t i = 0; i < p->design->processor_count; i++)
		if (slice_is(p->design->processors[i].name, KEEPER_NAME))
			return true;
	return false;
}

static bool prepare(struct process *p, char *why, size_t n)
{
	volatile bool ok = false;

	ARENA_TRY(&p->arena, {
		struct run r = process_run(p, p->backend, &p->arena);

		ok = checkpoint_provision(&r) && restore(p, &r);
		if (!ok)
			snprintf(why, n, "the processors of %.*s: %.*s", SLICE_ARG(p->design->name), SLICE_ARG(r.problem.detail));
	}, {
		snprintf(why, n, "not enough memory");
	});
	arena_clear(&p->arena);
	return ok;
}

static void handle(void *ctx, struct backend *b, struct arena *a, const struct app_request *q, struct app_reply *reply)
{
	process_handle(ctx, b, a, q, reply);
}

static bool start_senders(struct process *p)
{
	for (size_t i = 0; i < p->station_count; i++)
		if (p->stations[i].sender && !send_runner_start(p->stations[i].sender)) {
			for (size_t k = 0; k < i; k++)
				send_runner_stop(p->stations[k].sender);
			return false;
		}
	return true;
}

/* No station runs; `why` says why. */
static void stand_still(struct process *p, const char *why)
{
	char problem[LEDGER_TEXT];

	log_error("%s: its processors do not run; everything else is served", why);
	snprintf(problem, sizeof(problem), "stands still: %s", why);
	pthread_mutex_lock(&p->lock);
	snprintf(p->standstill, sizeof(p->standstill), "%s", why);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->station_count; i++)
		ledger_problem(&p->stations[i].ledger, slice_str(problem), app_now_ms(p->app));
}

static bool begin_stations(struct process *p, char *why, size_t n)
{
	if (!prepare(p, why, n))
		return false;
	if (!start_senders(p)) {
		snprintf(why, n, "not enough memory or threads");
		return false;
	}
	app_set_keeper_runs(p->app, process_station(p, SLICE(KEEPER_NAME)) != NULL);
	pthread_mutex_lock(&p->lock);
	p->standstill[0] = 0;
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->begun, true);
	return true;
}

bool process_start(struct process *p, char *why, size_t n)
{
	app_set_operators_handler(p->app, handle, p);
	if (!p->station_count && !p->has_peers) /* other servers need to know the owners of shards */
		return true;
	if (has_taken_name(p)) {
		snprintf(why, n, "a processor of %.*s is called " KEEPER_NAME ", which is taken",
			 SLICE_ARG(p->design->name));
		return false;
	}
	atomic_store(&p->stopping, false);
	atomic_store(&p->begun, false);
	if (!begin_stations(p, why, n))
		stand_still(p, why);
	p->started = pthread_create(&p->watcher, NULL, watch, p) == 0;
	if (!p->started) {
		for (size_t i = 0; i < p->station_count; i++)
			send_runner_stop(p->stations[i].sender);
		app_set_keeper_runs(p->app, false);
		snprintf(why, n, "not enough memory or threads");
	}
	return p->started;
}

void process_stop(struct process *p)
{
	if (!p)
		return;
	app_set_operators_handler(p->app, NULL, NULL);
	app_set_keeper_runs(p->app, false);
	if (!p->started)
		return;
	atomic_store(&p->stopping, true);
	pthread_mutex_lock(&p->lock);
	for (struct seat *s = p->readers.first; s; s = s->next)
		atomic_store(&reader_of(s)->give_way, true);
	pthread_cond_broadcast(&p->changed);
	pthread_cond_broadcast(&p->stopped);
	pthread_mutex_unlock(&p->lock);
	if (!atomic_load(&p->begun)) { /* the watcher may be starting the stations */
		pthread_join(p->watcher, NULL);
		p->started = false;
		app_set_keeper_runs(p->app, false);
	}
	for (size_t i = 0; i < p->station_count; i++)
		send_runner_stop(p->stations[i].sender);
	if (p->started)
		pthread_join(p->watcher, NULL);
	p->started = false;
}

void process_free(struct process *p)
{
	if (!p)
		return;
	process_stop(p);
	for (size_t i = 0; i < p->station_count; i++) {
		send_runner_free(p->stations[i].sender);
		ledger_release(&p->stations[i].ledger);
	}
	mem_free(p->stations);
	backend_free(p->backend);
	relay_free(p->relay);
	lease_free(p->leases);
	arena_release(&p->arena);
	arena_release(&p->memory);
	pthread_cond_destroy(&p->stopped);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}
