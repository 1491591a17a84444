/* The keeper: what follows from changes without being said in `processors`: derived attributes and keys after counters,
 * copies after their source, cascades (app/keep.h). It looks at many changes together, so that a post liked a thousand times
 * is brought up to date once. All of it is idempotent: the position follows the work.
 *
 * Writers see to most of it themselves, right after they wrote; the keeper is for what a crash, another program or a time
 * to live has left. A removal that is half of a move is no deletion (keeper_internal.h). What can never succeed (an item
 * that breaks the design's rules) is logged and passed over.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_KEEPER_H
#define THORPE_PROCESS_KEEPER_H

#include "process/change.h"

#define KEEPER_NAME "keeper"

/* Whether the design leaves anything to do. */
bool keeper_is_needed(const struct design *d);
/* All changes of a page of one shard, in order. False: run->problem; to be done again from the first. */
bool keeper_follow(struct run *r, const struct change *list, size_t n) MUST_CHECK;

#endif
