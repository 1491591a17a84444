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

/* When there is work even if nothing happens. */
static int64_t next_us(const struct reader *r, int64_t now)
{
	int64_t next = tracks_due_us(r);

	for (size_t i = 0; i < r->track_count; i++)
		if (!r->tracks[i].ended && r->tracks[i].next_us > now && r->tracks[i].next_us < next)
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
		if (!r->tracks[i].ended)
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

/* Another server may own the children of this shard. */
static bool tell_end(struct reader *r)
{
	volatile bool told = !r->process->leases;

	if (told)
		return true;
	ARENA_TRY(&r->arena, {
		struct run run = process_run(r->process, r->backend, &r->arena);

		told = checkpoint_end(&run, SLICE(""), slice_str(r->tail.shard));
	}, {});
	arena_clear(&r->arena);
	return told;
}

static void *run(void *arg)
{
	struct reader *r = arg;
	struct process *p = r->process;
	bool ended;

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
	ended = !r->tail.gone && !atomic_load(&p->stopping) && !atomic_load(&r->leave) && tell_end(r);
	pthread_mutex_lock(&p->lock);
	p->listed = false; /* the shard may have children */
	p->endings++;
	atomic_store(&r->seat.ended, ended);
	atomic_store(&r->seat.finished, true);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- life ---- */

static size_t count_tracks(const struct process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->station_count; i++)
		n += !p->stations[i].sender;
	return n;
}

struct reader *reader_new(struct process *p, struct slice stream, struct slice shard)
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
	if (!tail_init(&r->tail, p->database, stream, shard) || !r->tracks || !r->backend) {
		reader_free(r);
		return NULL;
	}
	r->tail.looks = &p->looks;
	r->seat.shard = r->tail.shard;
	for (size_t i = 0; i < p->station_count; i++)
		if (!p->stations[i].sender)
			r->tracks[r->track_count++] = (struct track){ .reader = r, .station = &p->stations[i] };
	return r;
}

bool reader_start(struct reader *r)
{
	r->started = pthread_create(&r->thread, NULL, run, r) == 0;
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
	tail_release(&r->tail);
	mem_free(r);
}
