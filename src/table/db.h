/* The database: opened once, used by every thread.
 *
 * Invariants (asserted by number in the code, and each tested by killing the process there)
 *   T1  One writer: only the thread that holds the writer's turn, one at a time, changes the store and the catalog.
 *   T2  An acknowledged write is on disk (durability synced).
 *   T3  A request is applied whole or not at all: item, index entries, stream record, TTL entry,
 *       counters and token are in one batch.
 *   T4  Every ACTIVE index holds exactly what its table implies; counters equal a recount.
 *   T5 Sequence numbers rise in commit order, across restarts and changes of the clock; a stream's order is the
 *   commit order.
 *   T6  A request sees all requests before it in the queue, none after it: serializable.
 *   T7  Nothing is answered before its batch is written; after a failed write nothing of the
 *       batch is visible, in the store, in counters or in the catalog.
 *   T8  A stream record is kept until the database has been open for the retention time after it was written, and
 *       forgotten soon after; the wall clock plays no part in it (timekeeper.h).
 *
 * Threads: db_catalog(), reads (read.h, streams.h) and db_submit() may be called by any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_DB_H
#define THORPE_TABLE_DB_H

#include "base/clock.h"
#include "store/store.h"
#include "table/schema.h"

struct db;

enum durability { DURABILITY_SYNCED, DURABILITY_RELAXED };

/* zero is the default everywhere */
struct db_options {
	const char *dir; /* NULL: in memory */
	enum durability durability;
	size_t cache_bytes;
	uint32_t stream_shards;      /* 0: 4 */
	int64_t stream_retention_ms; /* 0: 24 hours */
	int64_t ttl_sweep_ms;        /* 0: 1000 */
	int64_t (*ttl_delay_ms)(
		void *ctx, struct slice table); /* extra delay before expired items of a table are deleted; NULL: none */
	void *ttl_delay_ctx;
	int64_t token_lifetime_ms; /* 0: 10 minutes */
	const struct clock *clock; /* NULL: the system's */
	const char *region;        /* NULL: us-east-1; for ARNs */
	bool shadow;               /* opens a copy and does not change the directory: store_options */
	bool no_background;        /* tests: no sweeper or backfill thread; use db_step() */
};

/* As store_open(). Starts the writer and the background thread; unfinished backfills and deletions continue. */
enum store_open_result db_open(const struct db_options *o, struct db **out, char *why, size_t n) MUST_CHECK;
/* Completes all queued requests, stops the threads, closes the store. NULL is fine. */
void db_close(struct db *db);

struct catalog; /* all tables at one moment, sorted by name */
/* The current catalog, valid until the arena is cleared. Cheap. */
const struct catalog *db_catalog(struct db *db, struct arena *a);
/* By name or ARN. NULL: no such table. */
const struct table *catalog_table(const struct catalog *c, struct slice name_or_arn);
const struct table *catalog_table_by_id(const struct catalog *c, uint32_t id);
size_t catalog_count(const struct catalog *c);
const struct table *catalog_at(const struct catalog *c, size_t i); /* in order of names */

struct store *db_store(struct db *db);
const struct clock *db_clock(struct db *db);
/* The database's own time, in milliseconds: the wall clock at its first opening plus the time it has been open
 * since. It does not jump with the wall clock, and stands still while the database is closed. Use it for lifetimes
 * (tokens, iterators), not for dates. Accurate to about a second; after a kill it goes back some minutes. */
int64_t db_time_ms(struct db *db);
const struct db_options *db_opts(struct db *db);

/* For tests: one round of background work (TTL sweep, stream trim, token sweep, one backfill
 * chunk), as the background thread does. True if it did something. Also frees room (reclaim.h). */
bool db_step(struct db *db);

/* Recounts and compares (T4): every index against its table, counters, TTL entries. Appends one
 * line per difference to `report`; true if all agree. Reads one view; slow. */
bool db_verify(struct db *db, struct buf *report);

/* Numbers for /metrics. */
struct db_metrics {
	uint64_t batches, requests, write_errors; /* batches committed, requests in them */
	uint64_t alone;                           /* of these requests: written by the submitting threads */
	uint64_t queue_depth;
	uint64_t ttl_deleted;
	uint64_t last_sequence;
};
struct db_metrics db_metrics(struct db *db);

#endif
