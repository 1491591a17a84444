/* A table that `thorpe copy --switch` moves away: servers of the design refuse writes to it; reads go on.
 *
 * The copy puts {PK: MOVED, SK: table, to, at} into the table <table>.thorpe. Each server looks for it at startup and
 * once a second (moved_look()). While a server knows a marker, each write looks again, so that removing it takes
 * effect at once. Processors, the keeper and gathered additions continue: their work is part of the data that moves.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_MOVED_H
#define THORPE_APP_DB_MOVED_H

#include "app/run/run.h"

#define MOVED_PK          "MOVED"
#define MOVED_SK          "table"
#define MOVED_LOOK_MS     1000 /* how long a server may take to notice */
#define MOVED_RETRY_AFTER 30   /* seconds */

/* Sets app->moved to whether there is a marker. A failed read leaves it unchanged. */
void moved_look(struct run *r);
/* Before a write. False: BUSY, with where the table has gone. */
bool moved_allows(struct run *r) MUST_CHECK;

#endif
