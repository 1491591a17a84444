/* One change through one processor: whether it wakes the processor, and the effect.
 *
 * Effects are put, update, delete, count and remove all. Each is written together with the position (exactly once). A
 * processor that writes one item for each row of a pattern writes many in one transaction: at most 99 and the
 * position, which then says how far inside the change it is. `send` is send.h's. Nothing keeps a processor from waking
 * itself: the design's `when` must, and `thorpe check` finds loops.
 *
 * put: an existing item keeps what `with` does not name; attributes that `with` names get the new value if they may
 * change. Ids and times that `with` leaves to the server follow from the change, so a replay makes the same item.
 *
 * Skipped, and counted by reason (app/run/passed_over.h): a put that lacks part of its key or a required attribute, or
 * that counts on, requires or lives while an item that is gone; an update or deletion of an item that does not exist;
 * a deletion of an item that still `lives while` (effect_lives.c).
 *
 * An item whose key changed has moved, and is not deleted: `on … deleted` does not wake for it, except for `send`,
 * whose receivers know items by their keys. At the new key it is `created`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_EFFECT_H
#define THORPE_PROCESS_EFFECT_H

#include "process/checkpoint.h"

enum effect_end {
	EFFECT_NONE,   /* nothing to do; the position has not moved */
	EFFECT_DONE,   /* written, and the position with it */
	EFFECT_LOST,   /* another server has moved the position */
	EFFECT_FAILED, /* run->problem says why; this step wrote nothing, `at` is as far as it came */
};
/* `at` is the position before; afterwards it is the change's sequence, without progress. */
enum effect_end effect_apply(struct run *r, const struct processor *p, const struct change *c,
			     struct position *at) MUST_CHECK;
/* The same, but stops between two rows once *stop is true: FAILED with PROBLEM_BUSY. A later call continues, if `when`
 * still holds. */
enum effect_end effect_apply_until(struct run *r, const struct processor *p, const struct change *c,
				   struct position *at, const _Atomic bool *stop) MUST_CHECK;
/* The sequence of the change that the progress is inside; empty: none. */
struct slice effect_begun(struct slice progress);
/* Whether the change is of the processor's entity and one of its events: without reading anything. */
bool effect_concerns(const struct processor *p, const struct change *c);
/* Whether it would be woken: entity, event, `let`, `when`. For send.h and tests. */
bool effect_wakes(struct run *r, const struct processor *p, const struct change *c, bool *out) MUST_CHECK;

#endif
