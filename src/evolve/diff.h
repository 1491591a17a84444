/* What changed between two versions of a design, and what each change means for the items that are there.
 *
 * Everything that is written differently is a change, so none is missed. What the two loaded designs say decides what
 * it means. Names that were changed (`was`) are followed: a key template is the same after its attribute was renamed.
 *
 * Pure: no table is read. docs/evolving.md has the kinds of work as a table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EVOLVE_DIFF_H
#define THORPE_EVOLVE_DIFF_H

#include "design/design.h"

/* What is to be done with the items; the later, the more. */
enum diff_need {
	DIFF_NOTHING, /* holds for what is written from now on */
	DIFF_TABLE,   /* the database builds or drops an index, or changes a setting of the table */
	DIFF_JUDGE,   /* items may not fit; they are reported */
	DIFF_LEAVE,   /* items of an entity that is no more stay in the table, and nothing shows them */
	DIFF_REWRITE, /* derived attributes, keys of indexes and companions are made again */
	DIFF_COUNT,   /* a counter is counted again */
	DIFF_GUARD,   /* unique values get guards; items with the same value are reported */
	DIFF_CONVERT, /* stored values get another name or form */
	DIFF_MOVE,    /* items get other keys in the table */
	DIFF_CANNOT,  /* another table is needed */
};
#define DIFF_NEEDS (DIFF_CANNOT + 1)
extern const char *const diff_need_names[DIFF_NEEDS]; /* "nothing", "table"… */

enum diff_act { DIFF_ADDED, DIFF_REMOVED, DIFF_CHANGED, DIFF_RENAMED };
extern const char *const diff_act_names[];

struct diff_change {
	enum diff_need need;
	enum diff_act act;
	struct slice subject;           /* "User.email", "User keys GSI1PK", "index GSI1", "title" */
	const struct entity *from, *to; /* whose items it is about; NULL: none, or not in that design */
	struct slice was, is;           /* as written, in one line; empty: not there */
	struct slice means;             /* for the items that are there: one sentence, without a full stop */
	struct place place;             /* in the new file; of what is removed in the old one */
};

struct diff {
	const struct diff_change *list; /* in the order of the new file; what is removed follows its neighbours */
	size_t count;
	enum diff_need most; /* of all of them */
};

/* Both have been loaded. Lives in the arena, and refers to both. */
void diff_designs(struct arena *a, const struct design *before, const struct design *after, struct diff *out);
/* The entity of `before` that `e` of the other design is; NULL: it is new. */
const struct entity *diff_entity_before(const struct design *before, const struct entity *e);

/* For people: each change with both texts and what it means, and how many of each kind in the last line. */
void diff_print(struct buf *b, const struct diff *x);
/* [{"subject":…,"change":…,"need":…,"was":…,"is":…,"means":…,"line":…}] */
void diff_json(struct buf *b, const struct diff *x);

#endif
