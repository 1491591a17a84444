/* Turns: requests that take numbers from the same sequence run one at a time in this process.
 *
 * A transaction's condition already ensures that a number is taken once; but without turns, forty concurrent requests
 * would retry until some give up. Turns are only an optimization: two sequences may share a turn, other processes do
 * not see it, and a request that has waited for TURN_WAIT_MS goes on without. One lock for each of a fixed number of
 * turns, held for a few instructions; any thread may give a turn back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_TURN_H
#define THORPE_APP_WRITE_TURN_H

#include "base/arena.h"

#define TURN_WAIT_MS 2000

struct turn;

/* Waits for the turn of this name. Given back by turn_give(), at the latest with the arena. */
struct turn *turn_take(struct arena *a, struct slice name);
/* Does nothing for NULL, or if given back already. */
void turn_give(struct turn *t);

#endif
