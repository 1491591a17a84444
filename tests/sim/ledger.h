/* The ledger: what was asked for and answered, and the stream, which has every change in the order of the commits. In the end each
 * must explain the other:
 *
 *   - A creation or deletion that was acknowledged has its record in the stream, between question and answer.
 *   - An item that was removed was removed for a reason: someone asked for it, its time had come, a processor does such things, or it
 *     went with something that was deleted after it had been made.
 *   - What goes with a deleted item has gone, if it was there when the item was deleted; also when the item has been made again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_LEDGER_H
#define THORPE_TESTS_SIM_LEDGER_H

#include "sim.h"

/* Before a request, and when its answer is known; entry: what ledger_ask() gave. A request that is never answered may have been done. */
size_t ledger_ask(struct sim *s, enum app_method m, struct slice path, const struct entity *e);
void ledger_answer(struct sim *s, size_t entry, int status);
/* The process has died, and the database is open again: what was not answered until then does nothing any more. */
void ledger_died(struct sim *s);
/* Everything has settled. */
void ledger_check(struct sim *s);

#endif
