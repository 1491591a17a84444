/* Late indexes of a remote database (DynamoDB's global indexes are always eventually consistent).
 *
 * Some decisions read rows of an index and cannot be tied to a condition. The runtime makes them only when the index
 * must have caught up: late_ms() after the write in question, a time that lag.h measures. Until then a cascade keeps
 * its marker (deleting.h M4), `refuse while` asks its patterns again (joined.h J3), and processors and the keeper
 * hold back a change (process_track.c). Only for remote tables: run_is_remote().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_LATE_H
#define THORPE_APP_DB_LATE_H

#include "app/run/state.h"
#include "app/run/run.h"

/* The time after a write when all indexes are assumed to show it. It changes: ask each time, do not store it. */
int64_t late_ms(const struct app *app);

/* Marks the indexes that the runtime uses for decisions, in the design's order. */
void late_indexes(const struct design *d, bool *marked);
/* Whether the pattern, or one that it is made of, reads an index. NULL reads none. */
bool late_reads_index(const struct access *pattern);

#endif
