/* Measures how late the indexes of a remote database are, because DynamoDB does not say.
 *
 * The server picks one of its own new items and queries an index until the index shows it. This gives an allowance:
 * the time after a write when the runtime assumes that all indexes show it (late.h).
 *
 *   L1  Until an item has been seen the allowance is LAG_UNKNOWN_MS.
 *   L2 While an item is missing, the allowance is more than twice its age. So decisions about later writes wait at
 *   least until it is seen.
 *   L3  An item that is seen makes the allowance LAG_LEAST_MS, or one and a half times the longest delay of the last
 *       LAG_MEMORY_MS if that was longer than LAG_LEAST_MS.
 *   L4  It is never more than LAG_MOST_MS: waiting holds up items and streams.
 *
 * Only queries indexes that the runtime uses for decisions (late_indexes()): one Query in LAG_EVERY_MS while items
 * are created, and a GetItem if one is missing. An item changed or deleted meanwhile is dropped.
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
/* For the indexes that the runtime uses for decisions. NULL: there are none, or out of memory. */
struct lag *lag_new(const struct design *d);
void lag_free(struct lag *l); /* NULL is fine */

/* Any thread. */
int64_t lag_ms(const struct lag *l);
/* Call after these writes: may pick one of their new items to look for. Any thread. */
void lag_note(struct run *r, const struct dyn_write *w, size_t n);
/* Looks for the item. One thread. The next call retries failures. Returns the milliseconds until the next call is
 * due; INT64_MAX: any time. */
int64_t lag_look(struct run *r);

#endif
