/* Watched lists: the partitions that hold a pattern's rows, and what a change of the table means to a list.
 *
 * The keys in an item's image tell which lists it can be in, without reading anything. Filter, rules and `then` are
 * evaluated on the images themselves, as the list would evaluate them on its rows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_LIVE_H
#define THORPE_APP_READ_READ_LIVE_H

#include "app/read/read.h"

/* a list with its parameters; to keep it, copy what it points to */
struct read_live {
	const struct access *access;
	struct value params; /* an M: the parameters given, without defaults */
	struct value key;    /* get: the key of the item; else absent */
};

/* Whether such a list can be watched; false: `why` is a sentence. */
bool read_live_can(const struct design *d, const struct access *access, const char **why);

/* Opens a list for the caller. Problems: as read_access(), and INVALID for a list that cannot be watched.
 * `partitions`: those that rows of the list can be in, named as by read_live_places(), and those of the caller's
 * account. */
bool read_live_open(struct run *r, const struct access *access, const struct row *given, struct read_live *out,
		    struct slice **partitions, size_t *n) MUST_CHECK;
/* The partitions again, for a list that read_live_moves(). */
bool read_live_partitions(struct run *r, const struct read_live *w, struct slice **partitions, size_t *n) MUST_CHECK;

/* The partitions an item is in: of the table, and of each index that contains it. */
void read_live_places(struct run *r, struct value image, struct slice **places, size_t *n);

/* Whether the partitions follow the clock: a window that ends today. */
bool read_live_moves(const struct read_live *w);

struct read_live_change {
	struct value old, new_; /* images; absent: none */
	/* Another item as it was before it changed, at about the same time; absent: no change is known. NULL: nothing
	 * is known. */
	struct value (*before)(void *ctx, struct value key);
	void *ctx;
};

enum read_live_kind {
	LIVE_ADDED,
	LIVE_CHANGED,
	LIVE_REMOVED,
	LIVE_RESET /* no event can describe the change: read the list again */
};

struct read_live_event {
	enum read_live_kind kind;
	struct slice data; /* the item as the list shows it, or showed it; RESET: {} */
};
#define READ_LIVE_MOST 2

/* What the change means to the caller's list: no event, one or two. *may: whether the pattern's own rule still admits
 * the caller; if not there are no events. */
bool read_live_follow(struct run *r, const struct read_live *w, const struct read_live_change *c,
		      struct read_live_event *events, size_t *n, bool *may) MUST_CHECK;

#endif
