/* Compiled updates: made by compile_update.c, build.c and legacy_update.c, applied by update.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_UPDATE_H
#define THORPE_EXPR_UPDATE_H

#include "expr/build.h"

enum source_kind {
	SOURCE_VALUE,
	SOURCE_PATH,
	SOURCE_IF_NOT_EXISTS, /* path, else left */
	SOURCE_LIST_APPEND,   /* left, right; also the next two */
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
	struct source source; /* unused for ACTION_REMOVE; a SOURCE_VALUE for ADD and DELETE */
};

struct update {
	/* Both in order of appearance: action i is on path i. */
	const struct action *actions;
	const struct path *paths;
	size_t count;
	const struct path **sorted;
	bool legacy; /* AttributeUpdates: ADD appends to lists, and the error texts differ */
};

/* ADD accepts numbers and sets, DELETE sets. */
bool update_check_added(struct arena *a, const struct action *action, struct error *e) MUST_CHECK;

/* One change: sets `path` to `value`, or removes it if the value is absent. */
struct edit {
	const struct path *path;
	struct value value;
};

/* Whether the path can be changed: its parent exists and has the right type. */
bool edit_is_possible(const struct path *p, struct value item);
/* Makes all changes at once (edit.c). Indexes refer to `item`; elements set beyond the end of a list are appended
 * in the order of their indexes. Sorts the edits. Requires that every edit is possible and that their paths do not
 * overlap. */
struct value edit_apply(struct arena *a, struct value item, struct edit *edits, size_t n);

#endif
