/* What became of an item that is no longer at its key. For the keeper and for effects.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_KEEPER_KEEPER_MOVE_H
#define THORPE_PROCESS_KEEPER_KEEPER_MOVE_H

#include "process/keeper/keeper.h"

/* An item whose key depends on changeable attributes can move: the stream then has a removal here and a new item
 * there. DynamoDB's records do not connect the two, and they may be in different shards. So the keeper searches for
 * the item:
 *
 *   it cannot move (its key depends on fixed attributes only), or it has expired    gone
 *   it is at its old key again                                                      back: children may be the new item's
 *   it has an id (fixed, and says id or unique), and a pattern whose parameters
 *   are fixed, or its address with `found by`, finds it elsewhere                   moved
 *   such a pattern does not find it                                                 gone
 *   it has no id, or there is no such pattern                                       unknown: nothing else is removed */
enum keeper_fate { KEEPER_GONE, KEEPER_BACK, KEEPER_MOVED, KEEPER_UNKNOWN };
bool keeper_fate(struct run *r, const struct change *c, enum keeper_fate *out) MUST_CHECK;
/* Whether items of the entity can move. */
bool keeper_can_move(struct run *r, const struct entity *e);

#endif
