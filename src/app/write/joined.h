/* `refuse while`: an item is not deleted while other items refer to it, even if one is created at the same moment.
 *
 * A write that creates such a reference sets an attribute of the item to a new value. The deletion's condition is
 * that the attribute is unchanged. So nothing is locked, and items that refer to it never wait.
 *
 *   J1  A write whose item begins to require another, or to count on it, sets the other's JOINED_ATTRIBUTE in its own
 *       transaction, to a value that no other write uses.
 *   J2  The deletion's condition is that the attribute is as read, and it was read before the patterns. So a reference
 *       that the patterns did not show, because it came later, has changed the attribute.
 *   J3  An index shows an item late. If a pattern reads an index, the attribute must have had its value for late_ms()
 *       before the patterns are read (late.h).
 *   J4  An item without the attribute has never been joined, so J2 and J3 always hold for it.
 *
 * A local table: the item is read before the patterns, which is J2. A remote table: all are read at once, so J2 needs
 * an earlier reading that had the same value (guess_joined()), however old. Without one the patterns are read again
 * when J3 holds: one more round trip.
 *
 * Processors do not see the attribute: process/tail/change.c removes it from records. A program that bypasses the API
 * and replaces the item without the attribute breaks J4 until the indexes show the latest reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_JOINED_H
#define THORPE_APP_WRITE_JOINED_H

#include "app/db/guess.h"
#include "app/write/write_plan.h"

#define JOINED_ATTRIBUTE GUESS_JOINED

/* J1, for an action on an item that the write begins to refer to. */
bool plan_joins(struct plan *p, struct plan_action *target) MUST_CHECK;
/* J2's condition; after plan_make() of a deletion. */
void plan_joined_by(struct plan *p);
/* Whether J2 and J3 hold for the patterns that this request has read. If not, they hold for patterns read in
 * *wait_ms. */
bool joined_before(struct write *w, struct value old, int64_t *wait_ms);
/* An item without the attribute. */
struct value joined_hidden(struct arena *a, struct value item);

#endif
