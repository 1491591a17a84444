/* The ledger: requests and replies, and the stream, which has every change in commit order. At the end each must
 * explain the other:
 *
 *   - An acknowledged creation or deletion has its record in the stream, between request and reply.
 *   - A removed item was removed for a reason: a request, its expiry, a processor, or a cascade of an item deleted
 *     after it was created.
 *   - What an item's entity always puts with it (`also`) is put in the same transaction.
 *   - Dependents of a deleted item that existed at the deletion are removed, even if the item was created again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_LEDGER_H
#define THORPE_TESTS_SIM_LEDGER_H

#include "sim.h"

/* Call before a request, and when its reply is known; entry: from ledger_ask(). A request without a reply may have
 * been executed. */
size_t ledger_ask(struct sim *s, enum app_method m, struct slice path, const struct entity *e);
void ledger_answer(struct sim *s, size_t entry, int status);
/* Call after the process has died and the database is open again: requests without a reply have no further effect. */
void ledger_died(struct sim *s);
/* Call when everything has settled. */
void ledger_check(struct sim *s);

#endif
