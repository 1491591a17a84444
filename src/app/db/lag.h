/* How late the indexes of a database elsewhere are: measured, because DynamoDB does not say.
 *
 * The server picks one of its own new items and asks an index for it until the index shows it. From that comes an
 * allowance: how long after a write the runtime takes for granted that all indexes show it (late.h).
 *
 *   L1  Until an item has been seen the allowance is LAG_UNKNOWN_MS.
 *   L2  While an item is missing the allowance is beyond twice its age. So what was written after it waits at least until it
 *       is seen.
 *   L3  An item that is seen makes the allowance LAG_LEAST_MS, or one and a half times the longest delay of the last
 *       LAG_MEMORY_MS if that was longer than LAG_LEAST_MS.
 *   L4  It is never more than LAG_MOST_MS: what waits for it holds items and streams.
 *
 * Only indexes are asked by which the runtime decides something (late_indexes()). One Query in LAG_EVERY_MS while items are
 * created, and a GetItem when one is missing. An item that was changed or deleted meanwhile says nothing, and is forgotten.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_LAG_H
#define THORPE_APP_DB_LAG_H

#include "app/db/dyn.h"

#define LAG_LEAST_MS   1000
#define LAG_UNKNOWN_MS 3000
#define LAG_MOST_MS    8000
#define LAG_EVERY_MS   5000
#define LAG_MEMORY_MS  (5 * 60 * 1000)

struct lag;
/* Of the indexes by which the runtime decides. NULL: there are none, or memory is out. */
struct lag *lag_new(const struct design *d);
void lag_free(struct lag *l); /* NULL is fine */

/* Any thread. */
int64_t lag_ms(const struct lag *l);
/* After these were done: may remember a new item of them, to look for. Any thread. */
void lag_note(struct run *r, const struct dyn_write *w, size_t n);
/* Looks for it. One thread. What goes wrong is tried again the next time. Returns after how many milliseconds it would like to be
 * called again, INT64_MAX: whenever. */
int64_t lag_look(struct run *r);

#endif
