/* Frees the room of dropped tables, indexes and streams, in its own thread. DeleteTable and the like leave notes in
 * the store (stage_drop_id() in batch.h), so that work cut short by a crash is done after the next start.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CONTROL_RECLAIM_H
#define THORPE_TABLE_CONTROL_RECLAIM_H

#include "table/internal.h"

struct reclaim;
/* NULL when memory or threads are out. */
struct reclaim *reclaim_start(struct db *db);
/* Something was dropped. NULL is fine. */
void reclaim_wake(struct reclaim *r);
/* Ends current work early, and returns when the thread has ended. NULL is fine. */
void reclaim_stop(struct reclaim *r);

/* One round, as the thread does. *worked: there was something to do. False: some of it could not be done now. */
bool reclaim_step(struct db *db, bool *worked);

#endif
