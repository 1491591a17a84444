/* Compiled updates: what compile_update.c, build.c and legacy_update.c make and update.c applies.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_UPDATE_H
#define THORPE_EXPR_UPDATE_H

#include "expr/build.h"

enum source_kind {
	SOURCE_VALUE,
	SOURCE_PATH,
	SOURCE_IF_NOT_EXISTS, /* path, else left */
	SOURCE_LIST_APPEND,   /* left, right; so the next two */
	SOURCE_PLUS,
	SOURCE_MINUS,
};

/* Where a new value comes from. */
struct source {
	enum source_kind kind;
	struct path path;
	struct value value;
	const struct source *left, *right;
};

struct action {
	enum action_kind kind;
	struct source source; /* not of ACTION_REMOVE; a SOURCE_VALUE for ADD and DELETE */
};

struct update {
	/* Both in order of appearance: action i is on path i. */
	const struct action *actions;
	const struct path *paths;
	size_t count;
	const struct path **sorted;
	bool legacy; /* AttributeUpdates: ADD appends to lists, and other texts of errors */
};

/* ADD takes numbers and sets, DELETE sets. */
bool update_check_added(struct arena *a, const struct action *action, struct error *e) MUST_CHECK;

/* One change to make: `value` at `path`, or nothing when it is absent. */
struct edit {
	const struct path *path;
	struct value value;
};

/* Whether there is an element to change at the path: its parent is there and of the right type. */
bool edit_is_possible(const struct path *p, struct value item);
/* Makes all changes at once (edit.c). Indexes are those of `item`; what is set beyond the end of a
 * list is appended in the order of the indexes. Sorts the edits. Every one is possible and their
 * paths are apart. */
struct value edit_apply(struct arena *a, struct value item, struct edit *edits, size_t n);

#endif
