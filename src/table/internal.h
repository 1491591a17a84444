/* Shared by the files of table/: the database's state.
 *
 * Locks: queue_lock guards the queue and `background`, catalog_lock the pointer to the current catalog; neither is
 * held during other work. Members marked W belong to the thread that holds the writer's turn (T1): the writer thread,
 * or for one request a submitting thread that may wait. `writing` marks the turn; it is passed on under queue_lock.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_INTERNAL_H
#define THORPE_TABLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "table/control/control.h"
#include "table/db.h"
#include "table/write.h"

struct background; /* background.c */

/* The counters of one table or index. They live as long as the db, even without the table. */
struct stats_node {
	struct stats_node *next;
	uint32_t id;
	struct stats stats;
};

#define STATS_BUCKETS 1024 /* ids are assigned in order, so they spread evenly */

struct db {
	struct store *store;
	struct db_options options; /* with defaults filled in; without dir */
	const struct clock *clock;
	char *region;

	pthread_mutex_t catalog_lock;
	struct catalog *catalog;
	struct stats_node *stats[STATS_BUCKETS]; /* W; by id */

	pthread_mutex_t queue_lock;
	pthread_cond_t queue_filled;
	struct write_request *queue_head, **queue_tail;
	bool stopping;
	bool writing; /* a thread holds the writer's turn */
	pthread_t writer;
	uint32_t next_id;    /* W */
	struct batch *batch; /* W */

	/* Set by background_start(). With no_background it has no thread. */
	struct background *background;

	struct timekeeper *timekeeper;   /* timekeeper.h; used under the background's step_lock */
	_Atomic int64_t time_ms;         /* db_time_ms(); moved by the timekeeper */
	_Atomic uint64_t stream_aging;   /* db_stream_aging(); likewise */
	_Atomic uint64_t stream_horizon; /* stream records with lower numbers have expired; likewise */
	_Atomic uint64_t last_sequence;
	_Atomic uint64_t batches, requests, alone, write_errors, queue_depth;
	_Atomic uint64_t ttl_deleted; /* counted by the writer */
};

/* ---- background.c: one thread that sweeps, trims and backfills through the writer ---- */
/* Sets db->background before its thread runs (the writer reads it). Call it even with no_background: db_step() needs
 * it; it then starts no thread. False: out of memory or threads. With durability relaxed the thread also calls
 * store_sync() once a second. */
bool background_start(struct db *db) MUST_CHECK;
void background_stop(struct background *b); /* NULL is fine; returns when the thread has ended */
/* The writer calls it after a commit that leaves new work (an index or TTL to backfill). */
void background_wake(struct background *b); /* NULL is fine */

/* ---- catalog.c ---- */
/* A table's definition and the memory it stands in; shared by catalogs, by reference count. */
struct table_box;
struct catalog *catalog_new(void); /* empty, one reference; NULL: out of memory */
struct catalog *catalog_ref(struct catalog *c);
void catalog_unref(void *catalog); /* NULL is fine */
/* A new catalog (one reference) with a deep copy of `t`, which replaces the table of the same id or is added; and one
 * without a table. NULL: out of memory. */
struct catalog *catalog_with(const struct catalog *c, const struct table *t);
struct catalog *catalog_without(const struct catalog *c, uint32_t id);
/* Keeps the table alive until the arena is cleared. */
void catalog_hold(const struct catalog *c, const struct table *t, struct arena *a);
/* Reads all tables and their counters into db->catalog, at opening. */
bool catalog_load(struct db *db, struct arena *a, struct error *e) MUST_CHECK;

/* ---- catalog_text.c: a definition as JSON ---- */
struct slice table_to_text(const struct table *t, struct arena *a);
/* Everything except stats and region. False: not a table. */
bool table_from_text(struct slice text, struct arena *a, struct table *out) MUST_CHECK;

/* ---- db.c ---- */
/* The counters with this id, created if missing; NULL: out of memory. */
struct stats *db_stats(struct db *db, uint32_t id);

/* ---- writer.c ---- */
void *writer_main(void *db);

#endif
