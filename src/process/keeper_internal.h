/* Inside of keeper.h: what the design leaves to the keeper, and what became of an item that is no longer under its key.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_KEEPER_INTERNAL_H
#define THORPE_PROCESS_KEEPER_INTERNAL_H

#include "process/keeper.h"

/* An item whose key is made from something that can change moves: the stream then has a removal here and a new item there. DynamoDB's records do not
 * say that the two belong together, and they may be in different shards; so one looks whether the item lives on.
 *
 *   an item that cannot move (all its key is made from is fixed), or whose time was up    is gone
 *   one that is at its old key again                                                      is back: what hangs on it may be the new one's
 *   one with an id (an attribute that says id or unique, and is fixed) that a pattern
 *   with nothing but fixed parameters, or the identity with `found by`, finds elsewhere   has moved
 *   one with an id that such a pattern does not find                                      is gone
 *   else                                                                                  nobody can tell; whoever would remove something had better not
 */
enum keeper_fate { KEEPER_GONE, KEEPER_BACK, KEEPER_MOVED, KEEPER_UNKNOWN };
bool keeper_fate(struct run *r, const struct change *c, enum keeper_fate *out) MUST_CHECK;
/* Whether items of the entity can move. */
bool keeper_can_move(struct run *r, const struct entity *e);

/* Whether a counter of the entity has something that depends on it. */
bool keeper_has_counters(const struct entity *e);
/* Whether others keep copies of something of the entity; whether it keeps some. */
bool keeper_is_copied(const struct design *d, const struct entity *e);
bool keeper_has_copies(const struct entity *e);

#endif
