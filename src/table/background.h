/* The jobs of the background thread. Each does one bounded piece of work through the writer (T1) and returns whether
 * there was any. Failed work (a failing disk) is retried later.
 *
 * The thread itself is in internal.h: background_start(), background_stop(), background_wake().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_BACKGROUND_H
#define THORPE_TABLE_BACKGROUND_H

#include "table/control/control.h"
#include "table/db.h"

/* Hands `c` to the writer and waits. False: it failed. */
bool background_control(struct db *db, struct control *c, struct arena *a);

/* ---- sweep.c ---- */
/* Deletes expired items, some of every table. The writer checks again, so an item whose expiry has changed meanwhile
 * stays. */
bool sweep_ttl(struct db *db, struct arena *a);
/* Deletes idempotency tokens after their lifetime. */
bool sweep_tokens(struct db *db, struct arena *a);
/* Deletes stream records after the retention time, and closed streams that are empty. */
bool sweep_streams(struct db *db, struct arena *a);

/* ---- backfill.c ---- */
/* The position of the walk over a table's items: one index (or TTL) at a time. Only in memory: after a restart the
 * walk starts over and has nothing to add for the finished part. */
struct backfill {
	uint32_t table_id, index_id; /* index_id 0: TTL entries; table_id 0: none under way */
	uint64_t ttl_epoch;          /* TTL entries: from struct table */
	char *cursor;                /* key in ITEMS to continue from; NULL: the first */
	size_t cursor_n;
};
void backfill_release(struct backfill *b);
/* Walks over one more piece of a table that has an index (or TTL) not yet filled. */
bool backfill_step(struct db *db, struct backfill *b, struct arena *a);

#endif
