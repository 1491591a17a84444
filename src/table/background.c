/* One thread for maintenance: sweeps every second, and runs backfills. SPDX-License-Identifier: Apache-2.0 */
#include "table/background.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/waker.h"
#include "table/internal.h"
#include "table/control/reclaim.h"
#include "table/timekeeper.h"

#define STREAM_SWEEP_MS 60000 /* readers skip expired records, so removing them is not urgent */
#define SYNC_MS         1000  /* durability relaxed */

struct background {
	struct db *db;
	struct reclaim *reclaim;
	pthread_t thread;
	bool has_thread;

	struct waker waker;

	pthread_mutex_t step_lock; /* held for one step at a time; guards what follows */
	struct backfill backfill;
	int64_t next_sweep_us, next_stream_sweep_us, next_sync_us; /* clock_monotonic_us() */
};

bool background_control(struct db *db, struct control *c, struct arena *a)
{
	struct write_request r = { .arena = a, .mode = REQUEST_CONTROL, .control = c };

	db_submit_wait(db, &r);
	return r.error.code == ERR_NONE;
}

/* ---- a step ---- */

static bool is_due(int64_t *next_us, int64_t every_ms, bool now)
{
	int64_t t = clock_monotonic_us();

	/* If it is further away, the clock went back, as fake ones do. */
	if (!now && t < *next_us && *next_us - t <= every_ms * 1000)
		return false;
	*next_us = t + every_ms * 1000;
	return true;
}

static void sync_relaxed(struct background *b, struct arena *a)
{
	struct error e;

	if (db_opts(b->db)->durability != DURABILITY_RELAXED || !is_due(&b->next_sync_us, SYNC_MS, false))
		return;
	if (!store_sync(b->db->store, a, &e))
		log_error("cannot sync writes to disk: %.*s", SLICE_ARG(e.message));
}

/* `now`: also runs sweeps that are not due. */
static bool do_step(struct background *b, bool now, struct arena *a)
{
	bool worked = false;

	timekeeper_tick(b->db, a);
	if (is_due(&b->next_sweep_us, db_opts(b->db)->ttl_sweep_ms, now)) {
		if (sweep_ttl(b->db, a)) {
			b->next_sweep_us = 0; /* there may be more */
			worked = true;
		}
		worked |= sweep_tokens(b->db, a);
	}
	if (is_due(&b->next_stream_sweep_us, STREAM_SWEEP_MS, now))
		worked |= sweep_streams(b->db, a);
	worked |= backfill_step(b->db, &b->backfill, a);
	sync_relaxed(b, a);
	return worked;
}

static bool step(struct background *b, bool now)
{
	volatile bool worked = false;
	struct arena a;

	arena_init(&a);
	pthread_mutex_lock(&b->step_lock);
	ARENA_TRY(&a, { worked = do_step(b, now, &a);
	}, { log_warn("background work postponed: out of memory");
	});
	pthread_mutex_unlock(&b->step_lock);
	arena_release(&a);
	return worked;
}

/* ---- the thread ---- */

static void *background_main(void *arg)
{
	struct background *b = arg;
	bool busy = true;

	while (waker_wait(&b->waker, busy ? 0 : db_opts(b->db)->ttl_sweep_ms))
		busy = step(b, false);
	return NULL;
}

bool background_start(struct db *db)
{
	struct background *b = mem_zalloc(sizeof(*b));

	if (!b)
		return false;
	b->db = db;
	waker_init(&b->waker);
	pthread_mutex_init(&b->step_lock, NULL);
	db->background = b;
	if (db_opts(db)->no_background)
		return true;
	b->has_thread = pthread_create(&b->thread, NULL, background_main, b) == 0;
	b->reclaim = reclaim_start(db);
	if (!b->has_thread || !b->reclaim) {
		db->background = NULL;
		background_stop(b);
	}
	return db->background != NULL;
}

void background_wake(struct background *b)
{
	if (!b)
		return;
	waker_wake(&b->waker);
	reclaim_wake(b->reclaim);
}

void background_stop(struct background *b)
{
	if (!b)
		return;
	waker_stop(&b->waker);
	if (b->has_thread)
		pthread_join(b->thread, NULL);
	reclaim_stop(b->reclaim);
	backfill_release(&b->backfill);
	waker_release(&b->waker);
	pthread_mutex_destroy(&b->step_lock);
	mem_free(b);
}

bool db_step(struct db *db)
{
	bool reclaimed = false;

	if (!db->background)
		return false;
	if (!db->background->reclaim)
		(void)!reclaim_step(db, &reclaimed);
	return step(db->background, true);
}
