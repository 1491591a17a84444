/* Renames that children follow: `rename: {then move: [patterns]}`. The item gets its new identity at once, in one
 * transaction; what the patterns find follows, each item in a transaction of its own with its companions. Markers in
 * <table>.thorpe (their layout: entity/renamed.h) say that a rename is unfinished: one under the old name, one under
 * the new, with the same contents. `values` are the old item's values of its identity and of the patterns'
 * parameters; `above` lists the renames that this one is part of (a child that has children of its own).
 *
 * Invariants
 *   N1  A write that gives an item with `then move` another identity puts both markers in its own transaction, each
 *       under the condition that there is none.
 *   N2  While a marker is there, no item of the entity is created under its name, deleted, moved away from it or moved
 *       to it: that is a condition of those transactions. So the old name is nobody's until nothing is left under it,
 *       and what is found there belongs to the item that left; and that item stays where its children go.
 *   N3  A child follows in one transaction: it leaves its old place and is at the new one, with its companions, under
 *       the condition that it is as it was read and that the marker, by its id, is there. The attributes that change are
 *       those by which it refers (requires, counts) to the item, and what is made of them.
 *   N4  Counters of the item, and of other items that follow, came along with these: a child that follows moves none of
 *       them. Counters of other items move by the difference, as in any write. Requirements are not asked again.
 *   N5  Markers are removed when the patterns find nothing under the old name, read after they were put (if indexes may
 *       be late: late_ms() later), and renames below this one have ended.
 *   N6  Every process may carry out any marker: the request itself (a page), a write that has to wait for it, the
 *       server's tick. What has followed stays, so a crash loses nothing.
 *   N7  A child that cannot follow (its place is taken, it does not fit the design) stays where it is, and so do the
 *       markers; it is tried again. Nothing is overwritten or removed.
 *   N8  A write to a child that has not followed counts on the parent under its new name (renamed.h).
 *   N9  A child that begins under the new name, meanwhile, does not take the place of one that still follows, nor a
 *       value that is unique among them: the marker of the name is not there, or both were looked for. (Nothing begins
 *       under the old name, so what was not there stays so.)
 *
 * The stream has a removal and a new item for each child. So that processors take them for what they are, the child
 * is first marked where it is (RENAMING_LEAVES), and has RENAMING_CAME where it arrives: process/tail/change.c. Every
 * other deletion or move has the condition that there is no mark, and takes off one that it finds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_RENAMING_H
#define THORPE_APP_WRITE_RENAMING_H

#include "app/write/write_plan.h"

#define RENAMING_LEAVES SLICE("thorpe:leaves")
#define RENAMING_CAME   SLICE("thorpe:came")

struct renaming {
	const struct entity *entity;
	struct value from_key, to_key; /* of the markers, {PK, SK} in <table>.thorpe */
	struct value from, to;         /* M: identities */
	struct value values;           /* M */
	struct value above;            /* L of {entity, from, to}, the nearest first; absent: none */
	struct slice id;
	int64_t at_ms;
};

/* ---- parts of a plan; no-ops for entities without `then move` ---- */
bool plan_renaming(struct plan *p) MUST_CHECK;
/* A refused action on such a marker: carries it out within limits (PLAN_AGAIN, or BUSY), or says that it is over. */
enum plan_end renaming_refused(struct plan *p, const struct plan_action *a, const struct dyn_refusal *f) MUST_CHECK;
/* After the commit: lets a page of children follow, or all if nothing else carries it out. Logs failures. */
void renaming_follow(struct plan *p);
/* An item that is about to leave its key, and was marked for a rename that it does not take part in any more: takes the
 * mark off. PLAN_AGAIN: it was there. */
enum plan_end renaming_unmark(struct write *w, struct value old) MUST_CHECK;

/* ---- one child (renaming_child.c) ---- */
/* Whether items of the entity follow the item, or one that it follows itself. */
bool renaming_takes(struct run *r, const struct renaming *m, const struct entity *e);
/* Gives the item the new identity. *followed: something was written; *over: the marker is gone. */
bool write_follow(struct run *r, const struct entity *e, struct value key, const struct renaming *m, bool *followed,
		  bool *over) MUST_CHECK;
/* Whether the row names the old identity; then `f` gets the new one, in what it is given for. */
bool renaming_apply(struct run *r, const struct renaming *m, const struct entity *e, struct row *f,
		    bool *out) MUST_CHECK;

/* Whether the stored item has one of these marks; absent: no. */
bool renaming_leaves(struct value item);
bool renaming_came(struct value item);
/* An item without them. */
struct value renaming_hidden(struct arena *a, struct value item);

/* ---- markers ---- */
/* *known false: unknown layout or entity; the marker stays. */
bool renaming_read(struct run *r, struct value item, struct renaming *m, bool *known) MUST_CHECK;

/* ---- carrying out ---- */
enum renaming_end {
	RENAMING_DONE,    /* the markers are gone */
	RENAMING_IN_PART, /* there is more */
	RENAMING_STUCK,   /* some children cannot follow */
	RENAMING_WAITS,   /* for an index */
	RENAMING_FAILED,  /* run->problem */
};
enum renaming_end renaming_carry(struct run *r, const struct renaming *m, int64_t most);
/* For an item that another program has deleted: carries out the rename to its name, if one is unfinished, so that what
 * goes with it is there. BUSY: not yet. What cannot follow is left over. */
bool renaming_settle(struct run *r, const struct entity *e, const struct value *args) MUST_CHECK;
/* For app_tick(): carries out all markers, a number of rows at most. *next_ms: the time until there is more to do;
 * INT64_MAX: nothing is left. */
bool renaming_sweep(struct run *r, int64_t *next_ms) MUST_CHECK;

#endif
