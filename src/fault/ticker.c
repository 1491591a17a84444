/* The thread that takes views of the database for reads that lag, and splits shards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"
#include "fault/internal.h"
#include "table/control/control.h"

#define VIEW_MS  50 /* interval of views: an index may show a write this much later than index-lag says */
#define SPLIT_MS 50 /* interval of looking for shards to split */

struct work {
	int64_t lag_ms;
	bool splits;
};

/* Lock held. */
static struct work work_to_do(const struct faults *f)
{
	return (struct work){ .lag_ms = fault_longest_lag_ms(f), .splits = fault_longest_ms(f, FAULT_SPLIT_SHARDS) > 0 };
}

static void wait_some(struct faults *f, int64_t ms)
{
	(void)cond_wait_until(&f->changed, &f->lock, clock_monotonic_us() + ms * 1000);
}

static void split(struct faults *f, const struct table *t, struct arena *a)
{
	struct control control = { .kind = CONTROL_SPLIT_STREAM, .table_id = t->id, .stream_id = t->stream->id };
	struct write_request r = { .arena = a, .mode = REQUEST_CONTROL, .control = &control };

	db_submit_wait(f->db, &r);
	if (r.error.code == ERR_NONE && control.worked)
		faults_count(f, FAULT_SPLIT_SHARDS);
}

static bool is_due(struct faults *f, const struct table *t)
{
	const struct stream *s = t->stream;
	int64_t every = s ? faults_time_ms(f, FAULT_SPLIT_SHARDS, t->name) : 0;
	int64_t since = s && s->split_count ? s->splits[s->split_count - 1].ms : s ? s->created_ms : 0;

	return every && clock_now_ms(db_clock(f->db)) - since >= every;
}

static void split_those_due(struct faults *f)
{
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		const struct catalog *c = db_catalog(f->db, &a);

		for (size_t i = 0; i < catalog_count(c); i++)
			if (is_due(f, catalog_at(c, i)))
				split(f, catalog_at(c, i), &a);
	}, {
		log_warn("shards are not split: out of memory");
	});
	arena_release(&a);
}

static void *run_ticker(void *faults)
{
	struct faults *f = faults;

	pthread_mutex_lock(&f->lock);
	while (!f->stopping) {
		struct work w = work_to_do(f);

		pthread_mutex_unlock(&f->lock);
		past_take(f->past, db_store(f->db), w.lag_ms);
		if (w.splits)
			split_those_due(f);
		pthread_mutex_lock(&f->lock);
		if (f->stopping)
			break;
		if (w.lag_ms || w.splits)
			wait_some(f, w.lag_ms ? VIEW_MS : SPLIT_MS);
		else if (!work_to_do(f).lag_ms && !work_to_do(f).splits)
			pthread_cond_wait(&f->changed, &f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

bool faults_attach(struct faults *f, struct db *db)
{
	f->db = db;
	f->stopping = false;
	f->past = past_new();
	f->has_thread = f->past && pthread_create(&f->thread, NULL, run_ticker, f) == 0;
	if (!f->has_thread)
		faults_detach(f);
	return f->has_thread;
}

void faults_detach(struct faults *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stopping = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	if (f->has_thread)
		pthread_join(f->thread, NULL);
	f->has_thread = false;
	past_free(f->past);
	f->past = NULL;
}

const struct store_view *faults_past(struct faults *f, enum fault_kind lag, struct slice table, struct arena *a)
{
	int64_t ms = faults_time_ms(f, lag, table);
	const struct store_view *v = ms && f->past ? past_view(f->past, ms, a) : NULL;

	if (v)
		faults_count(f, lag);
	return v;
}
