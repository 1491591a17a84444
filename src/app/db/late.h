/* Indexes that are a moment late, where the database is elsewhere (DynamoDB's global indexes always are).
 *
 * What the runtime decides by the rows of an index, and cannot tie to a condition, it decides again when the index must have caught
 * up: late_ms() after what it is about was written. How long that is, is measured (lag.h). A cascade keeps its marker so long (deleting.h M4), `refuse while` holds its
 * item so long (hold.h), processors and the keeper leave a change so long before they ask an index about it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_LATE_H
#define THORPE_APP_DB_LATE_H

#include "app/run/state.h"
#include "app/run/run.h"

/* Whether there are indexes that can be late. */
static inline bool late_is_possible(const struct run *r)
{
	return run_is_remote(r);
}

/* How long after a write all indexes show it. Grows and shrinks: asked when it is wanted, not kept. */
int64_t late_ms(const struct app *app);

/* Marks the indexes by which the runtime decides: the design's, in their order. */
void late_indexes(const struct design *d, bool *marked);
/* Whether the pattern, or one that it is made of, reads an index. Unknown names read none. */
bool late_reads_index(const struct design *d, struct slice pattern);

#endif
