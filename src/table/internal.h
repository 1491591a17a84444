/* Shared by the files of table/: the parts of the database.
 *
 * Locks: queue_lock guards the queue and `background`, catalog_lock the pointer to the current catalog; neither is
 * held while anything else is done. Members marked W belong to the thread that holds the writer's turn (T1): the
 * writer thread, or for one request a submitting thread that may wait. `writing` marks the turn; it is passed on
 * under queue_lock.
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

#define STATS_BUCKETS 1024 /* ids are given out in order, so they spread evenly */

struct db {
	struct store *store;
	struct db_options options; /* with the defaults filled in; dir is not kept */
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

	/* Without a thread when no_background; set by background_start(). */
	struct background *background;

	struct timekeeper *timekeeper;   /* timekeeper.h; used under the background's step_lock */
	_Atomic int64_t time_ms;         /* db_time_ms(); moved by the timekeeper */
	_Atomic uint64_t stream_aging;   /* db_stream_aging(); likewise */
	_Atomic uint64_t stream_horizon; /* stream records with lesser numbers are forgotten; likewise */
	_Atomic uint64_t last_sequence;
	_Atomic uint64_t batches, requests, alone, write_errors, queue_depth;
	_Atomic uint64_t ttl_deleted; /* counted by the writer */
};

/* ---- background.c: one thread that sweeps, trims and backfills through the writer ---- */
/* Sets db->background, before its thread runs (the writer reads it). To be called with
 * no_background too: db_step() needs it, no thread is started then. False when memory or threads
 * are out. With durability relaxed the thread also calls store_sync() once a second. */
bool background_start(struct db *db) MUST_CHECK;
void background_stop(struct background *b); /* NULL is fine; returns when the thread has ended */
/* Something new to do (an index or TTL to backfill): called by the writer after it committed. */
void background_wake(struct background *b); /* NULL is fine */

/* ---- catalog.c ---- */
/* A table's definition and the memory it stands in; shared by catalogs, by reference count. */
struct table_box;
struct catalog *catalog_new(void); /* empty, one reference; NULL when memory is out */
struct catalog *catalog_ref(struct catalog *c);
void catalog_unref(void *catalog); /* NULL is fine */
/* A new catalog (one reference) with `t`, deep-copied, in place of the table of the same id or
 * added; and one without a table. NULL when memory is out. */
struct catalog *catalog_with(const struct catalog *c, const struct table *t);
struct catalog *catalog_without(const struct catalog *c, uint32_t id);
/* Keeps the table alive until the arena goes. */
void catalog_hold(const struct catalog *c, const struct table *t, struct arena *a);
/* Reads all tables and their counters into db->catalog, at opening. */
bool catalog_load(struct db *db, struct arena *a, struct error *e) MUST_CHECK;

/* ---- catalog_text.c: a definition as JSON ---- */
struct slice table_to_text(const struct table *t, struct arena *a);
/* All but stats and region. False when it is no table. */
bool table_from_text(struct slice text, struct arena *a, struct table *out) MUST_CHECK;

/* ---- db.c ---- */
/* The counters with this id, made when there are none; NULL when memory is out. */
struct stats *db_stats(struct db *db, uint32_t id);

/* ---- writer.c ---- */
void *writer_main(void *db);

#endif
