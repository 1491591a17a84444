/* `refuse while`: an item is asked whether anything hangs on it, and nothing may come between the answer and its end.
 *
 * The item is held: it gets an attribute that belongs to no entity, a name nobody else has for it and the time. What requires the
 * item, or begins to count on it, has the condition that there is no such attribute, so while it is held nothing that hangs on
 * it is created. Then the patterns are asked, and the item goes (or, softly deleted, changes) under the condition that it is still
 * held by the same; or it is let go as it was. Nobody sees it gone in between, and nothing follows from being held: process/tail/change.c
 * takes the attribute out of what the stream tells.
 *
 * Whoever dies in between leaves the item held. After HOLD_MS the next one who is kept waiting lets it go, and whoever held it can
 * no longer delete it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_HOLD_H
#define THORPE_APP_WRITE_HOLD_H

#include "app/write/write_plan.h"

#define HOLD_ATTRIBUTE SLICE("thorpe:held")
#define HOLD_MS        10000

/* The item as it was read, before it is deleted: w->hold. PLAN_AGAIN: it has changed, or another one holds it. */
enum plan_end hold_take(struct write *w, struct value old) MUST_CHECK;
/* Lets it go, if it is still held by this write; what goes wrong is logged, and is over by itself in a while. */
void hold_release(struct write *w);
/* After plan_make() of a deletion: the condition, and that a soft one lets it go. */
void plan_held_by(struct plan *p);
/* A condition of what hangs on items of this entity. */
void plan_not_held(struct plan_action *target);
/* The target was refused, and this is what is there: it is held. Not any more: ends what has lasted too long. */
bool hold_is_met(struct run *r, const struct plan_action *target, struct value stored);
/* An item without it. */
struct value hold_hidden(struct arena *a, struct value item);

#endif
