/* Frees the room of dropped tables, indexes and streams, in its own thread. DeleteTable and similar operations leave
 * notes in the store (stage_drop_id() in batch.h), so work interrupted by a crash is done after the next start.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CONTROL_RECLAIM_H
#define THORPE_TABLE_CONTROL_RECLAIM_H

#include "table/internal.h"

struct reclaim;
/* NULL: out of memory or threads. */
struct reclaim *reclaim_start(struct db *db);
/* Call when something was dropped. NULL is fine. */
void reclaim_wake(struct reclaim *r);
/* Interrupts current work; returns when the thread has ended. NULL is fine. */
void reclaim_stop(struct reclaim *r);

/* One round of the thread. *worked: there was something to do. False: some of it failed. */
bool reclaim_step(struct db *db, bool *worked);

#endif
