/* Late indexes of a remote database (DynamoDB's global indexes are always eventually consistent).
 *
 * What the runtime decides by the rows of an index, and cannot tie to a condition, it decides again when the index must have caught
 * up: late_ms() after what it is about was written. How long that is, is measured (lag.h). A cascade keeps its marker so long
 * (deleting.h M4), `refuse while` knows its item so long (joined.h J3), processors and the keeper leave a change so long before
 * they ask an index about it. Only where the table is elsewhere: run_is_remote().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_LATE_H
#define THORPE_APP_DB_LATE_H

#include "app/run/state.h"
#include "app/run/run.h"

/* How long after a write all indexes show it. Grows and shrinks: asked when it is wanted, not kept. */
int64_t late_ms(const struct app *app);

/* Marks the indexes that the runtime uses for decisions, in the design's order. */
void late_indexes(const struct design *d, bool *marked);
/* Whether the pattern, or one that it is made of, reads an index. NULL reads none. */
bool late_reads_index(const struct access *pattern);

#endif
