/* Cascades: deleting an item with `then remove` deletes it at once and its dependents later. A marker in
 * <table>.thorpe (app/db/beside.h) means that dependents may remain.
 *
 *   PK                   SK                                    holds
 *   DELETING#<Entity>    <name>=<value>, joined by '&'         layout (1), id, at, values (a map), item (its key)
 *
 * `values` are the item's values of the parameters of the `then remove` patterns: they determine the dependents,
 * independent of the item's key. Patterns with different parameters have a marker each. In the SK, names and values
 * are sorted by name, strings with %XX escapes, numbers in DynamoDB's digits after a ':'. If that is long, or a value
 * has another type, the SK is '#' and the SHA-256 of the map's bytes. `id` is new for each deletion. `item` is
 * missing after a soft deletion, whose item stays. A server too old to know markers ignores them when creating; a
 * marker of a later layout stays and blocks creation.
 *
 * Invariants
 *   M1  A deletion, hard or soft, puts its markers in its own transaction.
 *   M2  While a marker exists no item with its values is created, changed to have them, or restored from a soft
 *       deletion: that is a condition of those transactions. Children that require the item, or count on it, cannot be
 *       created either, because the item does not exist.
 *   M3  Every removal of a cascade has the condition that the marker, by its id, still exists. So a process that has
 *       read a row and then stood still for an hour cannot remove the row of a later item.
 *   M4  A marker is removed when two things hold. All its patterns return nothing, read after it was put (if they read
 *       indexes that may be late: late_ms() after this server put it or first saw it, late.h). And cascades whose rows
 *       count on an item of this entity, or hang below it, have no rows left: their counts must not reach a later
 *       item.
 *   M5  Every process may carry out any marker: the deletion itself, the keeper, a creation that has to wait for it,
 *       the server's check once a second (app_tick()). Removed rows stay removed, so a crash loses no finished work.
 *   M6  A row stays if it refers (`requires`, `counts`) to another, existing item of the same entity: it belongs to
 *       that one. So a deletion that the keeper sees late takes nothing from an item with the same values under
 *       another key.
 * It follows: rows seen under an item were created under it, and are not removed with an earlier item.
 *
 * Not covered: a child that neither requires its parent nor counts on it may be created during the cascade, and may
 * or may not be removed. An item deleted by another program, or by its time to live, gets a marker only when the
 * keeper sees the deletion, under the condition that no new item exists there.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_DELETING_H
#define THORPE_APP_WRITE_DELETING_H

#include "app/write/write_plan.h"

struct marker {
	struct value key; /* {PK, SK}, in <table>.thorpe */
	const struct entity *entity;
	struct value values; /* M */
	struct value gone;   /* the deleted item's key; absent: the item stays (soft) */
	struct slice id;
	int64_t at_ms;
};

/* ---- parts of a plan; no-ops for entities without `then remove` ---- */
/* After plan_make(). Adds markers to a deletion, and its children if they are few; adds the condition "no marker" to
 * writes that create, move or restore an item (unless the server has just made its id: then there can be none). */
bool plan_deleting(struct plan *p) MUST_CHECK;
/* Handles a refused action: a marker exists that must not (carries it out within the limits here: PLAN_AGAIN, or
 * BUSY), or one is missing that must exist (w->over). */
enum plan_end deleting_refused(struct plan *p, const struct plan_action *a, const struct dyn_refusal *f) MUST_CHECK;
/* After the commit: removes the markers if no rows are left, or carries them out if there is no keeper. Logs
 * failures: the work is done later. */
void deleting_follow(struct plan *p);

/* Says that a marker may have been put: app_deletions_settled() is false until a sweep has found none. */
void deleting_expect(struct run *r);

/* ---- carrying out ---- */
#define DELETING_ALL INT64_MAX
/* For an item that is gone (or softly deleted; `still`: the values that set) and may have no marker: if rows are
 * left, puts one under the condition that it is still gone, and carries it out. Does nothing if a new item exists. */
bool deleting_finish(struct run *r, const struct entity *e, struct value gone, const struct fields *still) MUST_CHECK;
/* Whether there is a marker for any of its dependents. */
bool deleting_is_marked(struct run *r, const struct entity *e, struct value gone, bool *out) MUST_CHECK;
/* Carries out markers that are due; for app_tick(). *next_ms: the time until the next one is due; INT64_MAX: none. */
bool deleting_sweep(struct run *r, int64_t *next_ms) MUST_CHECK;

#endif
