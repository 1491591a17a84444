/* The thread of a shard: gives each track its turn, and sleeps when none has work.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/cond.h"
#include "process/process_internal.h"

#define SLEEP_MOST_US (600 * INT64_C(1000000)) /* positions at the end are confirmed from time to time */
#define NICE          5                        /* on a busy machine, requests that clients wait for come first */

/* ---- waiting ---- */

static uint64_t turn_of(struct process *p)
{
	uint64_t turn;

	pthread_mutex_lock(&p->lock);
	turn = p->turn;
	pthread_mutex_unlock(&p->lock);
	return turn;
}

/* When the next work is due even if nothing new is written. */
static int64_t next_us(const struct reader *r, int64_t now)
{
	int64_t next = tracks_due_us(r);

	for (size_t i = 0; i < r->track_count; i++)
		if (!track_has_ended(&r->tracks[i]) && r->tracks[i].next_us > now && r->tracks[i].next_us < next)
			next = r->tracks[i].next_us;
	return next < now + SLEEP_MOST_US ? next : now + SLEEP_MOST_US;
}

static void sleep_until(struct process *p, uint64_t turn, int64_t us)
{
	pthread_mutex_lock(&p->lock);
	while (p->turn == turn && !atomic_load(&p->stopping))
		if (!cond_wait_until(&p->changed, &p->lock, us))
			break;
	pthread_mutex_unlock(&p->lock);
}

/* ---- the thread ---- */

static bool is_over(const struct reader *r)
{
	for (size_t i = 0; i < r->track_count; i++)
		if (!track_has_ended(&r->tracks[i]))
			return r->tail.gone;
	return true;
}

static bool all_turns(struct reader *r)
{
	bool worked = false;

	for (size_t i = 0; i < r->track_count && !atomic_load(&r->process->stopping); i++)
		worked |= track_step(&r->tracks[i]);
	return tracks_save(r, false) || worked;
}

/* On Linux each thread has its own nice value. */
static void be_nice(void)
{
#ifdef __linux__
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
#endif
}

/* Makes tracks in children of the shard look at their positions again: those of the station, or all (NULL). With the
 * lock. Returns whether there are any. */
static bool tell_children(struct process *p, const char *parent, const struct station *s)
{
	bool any = false;

	for (struct seat *x = p->readers.first; x; x = x->next) {
		struct reader *r = reader_of(x);

		for (size_t i = 0; r->parent && !strcmp(r->parent, parent) && i < r->track_count; i++)
			if (!s || r->tracks[i].station == s) {
				atomic_store(&r->tracks[i].look, true);
				any = true;
			}
	}
	return any;
}

void reader_ended(struct reader *r, const struct station *s, bool wants_list)
{
	struct process *p = r->process;

	pthread_mutex_lock(&p->lock);
	if (tell_children(p, r->tail.shard, s)) {
		p->turn++;
		pthread_cond_broadcast(&p->changed);
	}
	if (wants_list) {
		p->listed = false;
		p->endings++;
	}
	pthread_mutex_unlock(&p->lock);
}

bool reader_is_here(struct process *p, const char *shard)
{
	bool found = false;

	pthread_mutex_lock(&p->lock);
	for (struct seat *s = p->readers.first; s && !found; s = s->next)
		found = !strcmp(s->shard, shard) && !atomic_load(&reader_of(s)->leave);
	pthread_mutex_unlock(&p->lock);
	return found;
}

static void *run_reader(void *arg)
{
	struct reader *r = arg;
	struct process *p = r->process;

	be_nice();
	while (!atomic_load(&p->stopping) && !atomic_load(&r->leave)) {
		uint64_t turn = turn_of(p);

		if (all_turns(r))
			continue;
		if (is_over(r))
			break;
		arena_release(&r->arena);
		pages_release(r);
		sleep_until(p, turn, next_us(r, clock_monotonic_us()));
	}
	tracks_save(r, true);
	atomic_store(&r->seat.ended, !r->tail.gone && is_over(r));
	atomic_store(&r->seat.finished, true);
	reader_ended(r, NULL, !atomic_load(&r->seat.ended));
	return NULL;
}

/* ---- life ---- */

static size_t count_tracks(const struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->station_count; i++)
		n += station_has_tracks(&p->stations[i]);
	return n;
}

struct reader *reader_new(struct process *p, struct slice stream, const struct shard *shard)
{
	struct reader *r = mem_zalloc(sizeof(*r));
	size_t n = count_tracks(p);

	if (!r)
		return NULL;
	r->process = p;
	r->turn_us = EFFECT_TURN_US;
	r->tracks = mem_zalloc(n * sizeof(*r->tracks));
	r->backend = database_open(p->database);
	arena_init(&r->arena);
	for (size_t i = 0; i < PAGES; i++)
		arena_init(&r->pages[i].arena);
	r->was_closed = shard->closed;
	r->parent = shard->parent.n ? mem_strndup(shard->parent.p, shard->parent.n) : NULL;
	if (!tail_init(&r->tail, p->database, stream, shard->id) || !r->tracks || !r->backend ||
	    (shard->parent.n && !r->parent)) {
		reader_free(r);
		return NULL;
	}
	r->tail.looks = &p->looks;
	r->seat.shard = r->tail.shard;
	for (size_t i = 0; i < p->station_count; i++)
		if (station_has_tracks(&p->stations[i]))
			r->tracks[r->track_count++] = (struct track){ .reader = r, .station = &p->stations[i] };
	return r;
}

bool reader_start(struct reader *r)
{
	r->started = pthread_create(&r->thread, NULL, run_reader, r) == 0;
	return r->started;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	if (r->started)
		pthread_join(r->thread, NULL);
	for (size_t i = 0; i < r->track_count; i++)
		mem_free(r->tracks[i].progress);
	for (size_t i = 0; i < PAGES; i++)
		arena_release(&r->pages[i].arena);
	arena_release(&r->arena);
	backend_free(r->backend);
	mem_free(r->tracks);
	mem_free(r->parent);
	tail_release(&r->tail);
	mem_free(r);
}
