/* One change through one processor of the design: whether it wakes it, and what it does then.
 *
 * Effects: put, update, delete, count, remove all; each is written together with the position (exactly once), many in one
 * transaction where a processor writes one item for each row of a pattern: at most 99 and the position, which then says how
 * far inside the change it is. `send` is send.h's. A processor is not woken by changes that it has written itself when they
 * leave what its `when` looks at as it was: that is the design's to say, and thorpe check's to find.
 *
 * put: an item that is there already keeps what `with` does not name, and of what `with` names everything that may change
 * gets the new value. ids and times that `with` leaves to the server follow from the change: seen again, it makes the same
 * item.
 * Skipped, and counted by reason (app/run/passed_over.h): a put whose key or required attributes would need something that is
 * absent, or that counts on, requires or lives while an item which is gone; an update or a deletion of what is not there; a
 * deletion of what still `lives while` (effect_lives.c).
 * An item that moved to another key, because what the key is made from has changed, is not deleted: `on … deleted` does not
 * wake for it (but for `send`, whose receivers know items by their keys). At the new key it is `created`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_EFFECT_H
#define THORPE_PROCESS_EFFECT_H

#include "process/checkpoint.h"

enum effect_end {
	EFFECT_NONE,   /* does not concern it, or there is nothing to do; the position has not been moved */
	EFFECT_DONE,   /* written, and the position with it */
	EFFECT_LOST,   /* someone else has moved the position */
	EFFECT_FAILED, /* run->problem says why; nothing of this step has been written, `at` is as far as it went */
};
/* `at` is the position before; afterwards the one after (sequence of the change, no progress). */
enum effect_end effect_apply(struct run *r, const struct processor *p, const struct change *c,
			     struct position *at) MUST_CHECK;
/* The same, and between two rows it asks whether to stop: then FAILED with PROBLEM_BUSY, to be gone on with another time, if
 * `when` still holds: others may have taken back what it would give to the rest. */
enum effect_end effect_apply_until(struct run *r, const struct processor *p, const struct change *c,
				   struct position *at, const _Atomic bool *stop) MUST_CHECK;
/* The sequence of the change that a position's progress is inside of; empty: none. */
struct slice effect_begun(struct slice progress);
/* Whether the change is of the processor's entity and one of its events: without reading anything. */
bool effect_concerns(const struct processor *p, const struct change *c);
/* Whether it would be woken: entity, event, `let`, `when`. For send.h and tests. */
bool effect_wakes(struct run *r, const struct processor *p, const struct change *c, bool *out) MUST_CHECK;

#endif
