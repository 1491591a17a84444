/* Lists that are watched: in which partitions a pattern's rows stand, and what a change of the table means to a list.
 *
 * The keys of an image of an item tell which lists it can be in, without reading anything; filter, rules and `then` are
 * asked of the images themselves, as the list would ask them of its rows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_LIVE_H
#define THORPE_APP_READ_READ_LIVE_H

#include "app/read/read.h"

/* a list with its parameters; whoever keeps it copies what is pointed to */
struct read_live {
	const struct access *access;
	struct value params; /* an M: those given, without defaults */
	struct value key;    /* get: the key of the item; else absent */
};

/* Whether changes of such a list can be told: false, and a sentence says why not. */
bool read_live_can(const struct design *d, const struct access *access, const char **why);

/* What the caller may watch. Problems: as read_access(), and INVALID for a list that cannot be watched. `partitions`:
 * those that rows of the list can be in, as read_live_places() names them, and those of the account that watches. */
bool read_live_open(struct run *r, const struct access *access, const struct row *given, struct read_live *out,
		    struct slice **partitions, size_t *n) MUST_CHECK;
/* The same partitions again, for a list of which read_live_moves(). */
bool read_live_partitions(struct run *r, const struct read_live *w, struct slice **partitions, size_t *n) MUST_CHECK;

/* The partitions an item stands in: of the table, and of each index that has it. */
void read_live_places(struct run *r, struct value image, struct slice **places, size_t *n);

/* Whether two callers may be told different things: else one answer is good for all but operators. */
bool read_live_depends_on_caller(const struct design *d, const struct access *access, struct arena *a);
/* Whether the partitions follow the clock: a window that ends today. */
bool read_live_moves(const struct design *d, const struct read_live *w);

struct read_live_change {
	struct value old, new_; /* images; absent: there is none */
	/* Another item as it was before it changed, at about the same time; absent: it has not, as far as is known. NULL:
	 * nothing is known. */
	struct value (*before)(void *ctx, struct value key);
	void *ctx;
};

enum read_live_kind {
	LIVE_ADDED,
	LIVE_CHANGED,
	LIVE_REMOVED,
	LIVE_RESET /* nobody can tell any more: read the list again */
};

struct read_live_event {
	enum read_live_kind kind;
	struct slice data; /* the item as the list shows it, or showed it; RESET: {} */
};
#define READ_LIVE_MOST 2

/* What the change means to who watches: nothing, or one or two events. *may: whether the pattern's own rule still lets
 * the caller in; when not there are no events. */
bool read_live_follow(struct run *r, const struct read_live *w, const struct read_live_change *c,
		      struct read_live_event *events, size_t *n, bool *may) MUST_CHECK;

#endif
