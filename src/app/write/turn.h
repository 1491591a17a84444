/* Turns: of those who take numbers from one sequence, in this process one at a time.
 *
 * A number is right only if nobody else has taken it since it was read, which the transaction asks; without turns forty at once
 * would try again and again until some give up. Turns keep order within one process and are no more than a courtesy: two items may
 * share one, another process knows nothing of it, and who has waited for TURN_WAIT_MS goes on without.
 * One lock for each of a fixed number of turns, held for a few instructions; a turn itself is given back by any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_TURN_H
#define THORPE_APP_WRITE_TURN_H

#include "base/arena.h"

#define TURN_WAIT_MS 2000

struct turn;

/* Waits for the turn of what the bytes name. Given back by turn_give(), or at the latest with the arena. */
struct turn *turn_take(struct arena *a, struct slice name);
/* NULL, or given back already: nothing. */
void turn_give(struct turn *t);

#endif
