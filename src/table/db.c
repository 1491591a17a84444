/* Opening and closing the database.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/log.h"
#include "table/batch.h"
#include "table/layout.h"
#include "table/timekeeper.h"

#define MINUTE_MS (60 * 1000)

static void fill_options(struct db *db, const struct db_options *o)
{
	struct db_options *d = &db->options;

	*d = *o;
	d->dir = NULL;
	if (!d->stream_shards)
		d->stream_shards = 4;
	if (d->stream_shards > UINT8_MAX)
		d->stream_shards = UINT8_MAX; /* one byte on disk */
	if (!d->stream_retention_ms)
		d->stream_retention_ms = INT64_C(24) * 60 * MINUTE_MS;
	if (!d->ttl_sweep_ms)
		d->ttl_sweep_ms = 1000;
	if (!d->token_lifetime_ms)
		d->token_lifetime_ms = 10 * MINUTE_MS;
	if (!d->clock)
		d->clock = &clock_system;
	db->clock = d->clock;
	d->region = db->region;
}

struct stats *db_stats(struct db *db, uint32_t id)
{
	struct stats_node **bucket = &db->stats[id % STATS_BUCKETS], *n;

	for (n = *bucket; n; n = n->next)
		if (n->id == id)
			return &n->stats;
	n = mem_zalloc(sizeof(*n));
	if (!n)
		return NULL;
	n->id = id;
	n->next = *bucket;
	*bucket = n;
	return &n->stats;
}

static void free_stats(struct stats_node *n)
{
	while (n) {
		struct stats_node *next = n->next;

		mem_free(n);
		n = next;
	}
}

static bool load_meta(struct db *db, struct arena *a, struct error *e)
{
	struct slice record;
	uint64_t sequence = 0;
	bool found;

	if (!store_get(&(struct store_at){ db->store, NULL, STORE_META }, SLICE("sequence"), a, &record, &found, e))
		return false;
	if (found && !layout_read_u64_record(record, &sequence))
		return error_set(e, a, ERR_INTERNAL, "The last sequence number is damaged");
	atomic_store(&db->last_sequence, sequence);
	if (!store_get(&(struct store_at){ db->store, NULL, STORE_META }, SLICE("next_id"), a, &record, &found, e))
		return false;
	if (found && record.n != 4)
		return error_set(e, a, ERR_INTERNAL, "The next table id is damaged");
	db->next_id = found ? read_be32(record.p) : 1;
	return true;
}

static bool load(struct db *db, char *why, size_t n)
{
	volatile bool ok = false;
	struct error e = { 0 };
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		ok = load_meta(db, &a, &e) && timekeeper_load(db, &a, &e) && catalog_load(db, &a, &e);
		if (!ok)
			snprintf(why, n, "%.*s.", SLICE_ARG(e.message));
	}, {
		snprintf(why, n, "There is not enough memory to open the database.");
	});
	arena_release(&a);
	return ok;
}

/* Initializes everything that needs neither threads nor the store. */
static struct db *db_alloc(const struct db_options *o)
{
	const char *region = o->region ? o->region : "us-east-1";
	struct db *db = mem_zalloc(sizeof(*db));

	if (!db)
		return NULL;
	pthread_mutex_init(&db->catalog_lock, NULL);
	pthread_mutex_init(&db->queue_lock, NULL);
	pthread_cond_init(&db->queue_filled, NULL);
	db->queue_tail = &db->queue_head;
	db->region = mem_strndup(region, strlen(region));
	db->catalog = catalog_new();
	db->batch = batch_new();
	db->timekeeper = timekeeper_new();
	fill_options(db, o);
	return db;
}

static void db_free(struct db *db)
{
	catalog_unref(db->catalog);
	for (size_t i = 0; i < STATS_BUCKETS; i++)
		free_stats(db->stats[i]);
	batch_free(db->batch);
	timekeeper_free(db->timekeeper);
	store_close(db->store);
	pthread_cond_destroy(&db->queue_filled);
	pthread_mutex_destroy(&db->queue_lock);
	pthread_mutex_destroy(&db->catalog_lock);
	mem_free(db->region);
	mem_free(db);
}

static void stop_writer(struct db *db)
{
	pthread_mutex_lock(&db->queue_lock);
	db->stopping = true;
	pthread_cond_signal(&db->queue_filled);
	pthread_mutex_unlock(&db->queue_lock);
	pthread_join(db->writer, NULL);
}

static bool start_threads(struct db *db)
{
	if (pthread_create(&db->writer, NULL, writer_main, db) != 0)
		return false;
	if (background_start(db))
		return true;
	stop_writer(db);
	return false;
}

enum store_open_result db_open(const struct db_options *o, struct db **out, char *why, size_t n)
{
	struct store_options so = { .dir = o->dir, .shadow = o->shadow, .cache_bytes = o->cache_bytes };
	struct db *db = db_alloc(o);
	enum store_open_result result;

	*out = NULL;
	if (!db || !db->region || !db->catalog || !db->batch || !db->timekeeper) {
		snprintf(why, n, "There is not enough memory to open the database.");
		result = STORE_FAILED;
		goto failed;
	}
	result = store_open(&so, &db->store, why, n);
	if (result != STORE_OPENED)
		goto failed;
	result = STORE_DAMAGED;
	if (!load(db, why, n))
		goto failed;
	if (!start_threads(db)) {
		snprintf(why, n, "The database's threads could not be started.");
		result = STORE_FAILED;
		goto failed;
	}
	*out = db;
	return STORE_OPENED;
failed:
	if (db)
		db_free(db);
	return result;
}

static void sync_at_end(struct db *db)
{
	struct error e = { 0 };
	struct arena a;

	if (db->options.durability == DURABILITY_SYNCED)
		return;
	arena_init(&a);
	ARENA_TRY(&a, {
		if (!store_sync(db->store, &a, &e))
			log_error("the last writes were not synced: %.*s", SLICE_ARG(e.message));
	}, {
		log_error("the last writes were not synced: out of memory");
	});
	arena_release(&a);
}

/* Stops before the writer, because it submits requests; the writer no longer wakes it. */
static void stop_background(struct db *db)
{
	struct background *b;

	pthread_mutex_lock(&db->queue_lock);
	b = db->background;
	db->background = NULL;
	pthread_mutex_unlock(&db->queue_lock);
	background_stop(b);
}

void db_close(struct db *db)
{
	if (!db)
		return;
	stop_background(db);
	timekeeper_close(db);
	stop_writer(db);
	sync_at_end(db);
	db_free(db);
}

struct store *db_store(struct db *db)
{
	return db->store;
}

const struct clock *db_clock(struct db *db)
{
	return db->clock;
}

int64_t db_time_ms(struct db *db)
{
	return atomic_load_explicit(&db->time_ms, memory_order_relaxed);
}

const struct db_options *db_opts(struct db *db)
{
	return &db->options;
}

struct db_metrics db_metrics(struct db *db)
{
	return (struct db_metrics){
		.batches = atomic_load(&db->batches),
		.requests = atomic_load(&db->requests),
		.alone = atomic_load(&db->alone),
		.write_errors = atomic_load(&db->write_errors),
		.queue_depth = atomic_load(&db->queue_depth),
		.ttl_deleted = atomic_load(&db->ttl_deleted),
		.last_sequence = atomic_load(&db->last_sequence),
	};
}
