/* `refuse while`: an item is asked whether anything hangs on it, and nothing may come between the answer and its end.
 *
 * What begins to hang on such an item leaves a name in it, an attribute that belongs to no entity. The item goes (or, softly deleted,
 * changes) under the condition that the name is still the one that was read. So nothing is held, and nothing that hangs on it waits.
 *
 *   J1  A write whose item begins to require another, or to count on it, sets the other's JOINED_ATTRIBUTE in its own transaction, to
 *       a value that no other write uses.
 *   J2  The deletion's condition is that the attribute is as it was read; and it had that value before the patterns were asked. So
 *       what they did not show because it came later has changed the attribute.
 *   J3  An index shows an item late. Where a pattern reads one, the attribute had its value late_ms() before (late.h).
 *   J4  Nothing has joined an item without the attribute, so J2 and J3 hold of it whenever it is asked.
 *
 * In the process the item is read before the patterns are asked, which is J2. Elsewhere they are read at once; when the item came
 * first is known from an earlier reading that had the same value (guess_joined()), however long ago. Without one the patterns are
 * asked again, when J3 holds: one round trip more.
 *
 * Processors are not told of joining: process/tail/change.c takes the attribute out of what the stream says. A program that replaces
 * the item past the API and drops the attribute takes J4 from it, until an index shows what joined last.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_JOINED_H
#define THORPE_APP_WRITE_JOINED_H

#include "app/db/guess.h"
#include "app/write/write_plan.h"

#define JOINED_ATTRIBUTE GUESS_JOINED

/* J1, of what hangs on items of this entity. */
bool plan_joins(struct plan *p, struct plan_action *target) MUST_CHECK;
/* J2's condition; after plan_make() of a deletion. */
void plan_joined_by(struct plan *p);
/* Whether J2 and J3 hold of patterns that this request has asked. If not: *wait_ms is how long it takes until they hold of patterns
 * that are asked then. */
bool joined_before(struct write *w, struct value old, int64_t *wait_ms);
/* An item without the attribute. */
struct value joined_hidden(struct arena *a, struct value item);

#endif
