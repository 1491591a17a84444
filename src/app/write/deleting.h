/* Deletions that take time: an item with `then remove` is gone at once, what hangs on it follows. A marker in the table beside
 * the design's (app/db/beside.h) says that it has not followed yet.
 *
 *   PK                   SK                                    holds
 *   DELETING#<Entity>    <name>=<value>, joined by '&'         layout (1), id, at, values (a map), item (its key)
 *
 * `values` are the parameters of the `then remove` patterns, as the item had them: what the same children hang on, whatever the
 * item's own key is. Patterns with different parameters have a marker each. In the SK, names and values are in the order of the
 * names, strings with %XX for what is not plain, numbers in DynamoDB's digits after a ':'; when that is long, or a value is of
 * another type, it is '#' and the SHA-256 of the map's bytes. `id` is new for each deletion. `item` is missing after a soft
 * deletion, whose item stays. A server that does not know markers leaves them alone, and creates without asking; a later layout
 * that this one does not know stays, and keeps its items from being created.
 *
 * Invariants
 *   M1  A deletion, hard or soft, puts its markers in its own transaction.
 *   M2  While a marker is there no item with those values is created, nor changed so that it has them, nor brought back from a
 *       soft deletion: that is a condition of the transaction. Children that require the item, or count on it, cannot come
 *       either, because it is not there.
 *   M3  A cascade removes nothing without the condition that its marker (by id) is still there. So someone who has read a row
 *       and then stood still for an hour cannot remove the row of a later item.
 *   M4  A marker goes when all its patterns return nothing, read after it was put (indexes that may be late: late_ms() after it was
 *       put, late.h), and when cascades whose rows count on an item of this entity, or hang below it, have no rows left either:
 *       their counts must not reach a later item.
 *   M5  Whoever meets a marker may carry it out: the deletion itself, the keeper, a creation that is kept waiting, the server
 *       once a second (app_tick()). Rows that are gone stay gone, so a crash loses nothing of what has been done.
 *   M6  A row that refers (`requires`, `counts`) to another item of the same entity, which is there, is that one's and stays. So a deletion that the
 *       keeper looks at late takes nothing from an item that has the same values under another key.
 * From M1 to M4: what is seen under an item was created under it, and what was created under it is not removed with an earlier one.
 *
 * What no marker covers: a child that neither requires its parent nor counts on it may be created while the cascade runs, and
 * then goes or stays. An item that another program deletes, or whose time to live is up, has a marker only from when the keeper
 * sees it, under the condition that nobody has been created there since.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_DELETING_H
#define THORPE_APP_WRITE_DELETING_H

#include "app/write/write_plan.h"

struct marker {
	struct value key; /* {PK, SK}, beside the design's table */
	const struct entity *entity;
	struct value values; /* M */
	struct value gone;   /* the item's key; absent: it stays (soft) */
	struct slice id;
	int64_t at_ms;
};

/* ---- parts of a plan; nothing for entities without `then remove` ---- */
/* After plan_make(). A deletion gets its markers, and its children when they are few; whatever makes, moves or restores an item
 * gets the condition that there is no marker (unless the server has just made the id: then there can be none). */
bool plan_deleting(struct plan *p) MUST_CHECK;
/* The action was refused: a marker is there which must not be (carries it out, as far as that may take here: PLAN_AGAIN, or
 * BUSY), or is not which must be (w->over). */
enum plan_end deleting_refused(struct plan *p, const struct plan_action *a, const struct dyn_refusal *f) MUST_CHECK;
/* After the commit: takes the markers away when nothing is left, or carries them out when there is no keeper to do that. What
 * goes wrong is logged: it is done later. */
void deleting_follow(struct plan *p);

/* ---- carrying out ---- */
#define DELETING_ALL INT64_MAX
/* The item is gone (or softly deleted, then `still` is what that has set) and may have no marker: puts one under that condition
 * if anything is left, and carries it out. Someone else is there by now: nothing. */
bool deleting_finish(struct run *r, const struct entity *e, struct value gone, const struct fields *still) MUST_CHECK;
/* Whether there is a marker for any of what hangs on it. */
bool deleting_is_marked(struct run *r, const struct entity *e, struct value gone, bool *out) MUST_CHECK;
/* Carries out markers that have waited; for app_tick(). *next_ms: after how long the next one will have; INT64_MAX: none. */
bool deleting_sweep(struct run *r, int64_t *next_ms) MUST_CHECK;

#endif
