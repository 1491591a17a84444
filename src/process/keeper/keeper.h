/* The keeper does the work that follows from changes without a processor: derived attributes and keys that depend on
 * counters, copies, cascades (app/write/keep.h). It looks at many changes together, so a post with a thousand new
 * likes is updated once. The work is idempotent and the position follows it, except counts of expired items.
 *
 * Writers do most of it themselves, right after the write; the keeper handles what a crash, another program or TTL
 * leaves. A removal that is half of a move is not a deletion (keeper_move.h). Work that can never succeed (an item
 * that breaks the design's rules, or does not fit it) is counted and passed over (app/run/passed_over.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_KEEPER_H
#define THORPE_PROCESS_KEEPER_H

#include "process/checkpoint.h"

#define KEEPER_NAME "keeper"

/* Whether the design needs a keeper, and has a stream with both images. */
bool keeper_is_needed(const struct design *d);
/* Whether an index may be asked about the change: then it waits where indexes are late (app/db/late.h). */
bool keeper_asks_index(const struct design *d, const struct change *c);
/* What the keeper has to look for in changes of each entity, worked out once. In the arena. */
struct keeper_roles;
const struct keeper_roles *keeper_roles_new(struct arena *a, const struct design *d);
/* Follows the changes of a page of one shard, in order. False: run->problem; repeat from the first. `seen`: up to and
 * including this sequence it follows them again because of a replay; empty: none. Of a deletion seen before it removes
 * only what a marker names. */
bool keeper_follow(struct run *r, const struct keeper_roles *roles, const struct change *list, size_t n,
		   struct slice seen) MUST_CHECK;
/* Whether the change is a removal by TTL that leaves companions or counts behind. */
bool keeper_has_traces(const struct change *c);
/* Removes those, after keeper_follow(), in one transaction with the position, so that nothing is counted twice.
 * *wrote: the position has moved; otherwise nothing was left to do. */
bool keeper_take_traces(struct run *r, const struct change *c, const struct position *was, bool *wrote) MUST_CHECK;

#endif
