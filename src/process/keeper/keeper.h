/* The keeper: what follows from changes without being said in `processors`: derived attributes and keys after counters,
 * copies after their source, cascades (app/write/keep.h). It looks at many changes together, so that a post liked a thousand times
 * is brought up to date once. All of it is idempotent: the position follows the work (but for counts of what has expired).
 *
 * Writers see to most of it themselves, right after they wrote; the keeper is for what a crash, another program or a time
 * to live has left. A removal that is half of a move is no deletion (keeper_internal.h). What can never succeed (an item
 * that breaks the design's rules, or does not fit it) is counted and passed over (app/run/passed_over.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_KEEPER_H
#define THORPE_PROCESS_KEEPER_H

#include "process/checkpoint.h"

#define KEEPER_NAME "keeper"

/* Whether the design leaves anything to do, and has a stream to see it in. */
bool keeper_is_needed(const struct design *d);
/* Whether an index may be asked about the change: then it waits where indexes are late (app/db/late.h). */
bool keeper_asks_index(const struct design *d, const struct change *c);
/* All changes of a page of one shard, in order. False: run->problem; to be done again from the first. `seen`: what it has followed
 * before, and follows again because of a replay, up to and with this sequence; empty: nothing. Of a deletion that it has seen
 * only what a marker says is left goes. */
bool keeper_follow(struct run *r, const struct change *list, size_t n, struct slice seen) MUST_CHECK;
/* Whether the change is a removal by time to live that leaves something behind: companions, counts. */
bool keeper_has_traces(const struct change *c);
/* Takes it away, after keeper_follow(). Counting twice would be wrong, so this is done with the position. *wrote: it has moved;
 * not: there was nothing left to do. */
bool keeper_take_traces(struct run *r, const struct change *c, const struct position *was, bool *wrote) MUST_CHECK;

#endif
