/* Inside of deleting.h: markers, the rows that hang on them, and removing those.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_DELETING_INTERNAL_H
#define THORPE_APP_WRITE_DELETING_INTERNAL_H

#include "app/db/beside.h"
#include "app/write/deleting.h"

/* ---- markers (deleting.c) ---- */
/* One for each set of parameters that the item has, without ids. */
void markers_of(struct run *r, const struct entity *e, struct value full, struct marker **out, size_t *n);
/* The item of a new one; gives it its id and time. */
bool marker_make(struct run *r, struct marker *m, struct value *item) MUST_CHECK;
/* *known false: of a layout or an entity that is not known here; it stays. */
bool marker_read(struct run *r, struct value item, struct marker *m, bool *known) MUST_CHECK;
struct slice marker_kind(struct run *r, const struct entity *e); /* its PK */
/* The parameters of a pattern as `values` has them, an M; absent: one is missing, and the pattern returns nothing. */
struct value marker_values(struct run *r, const struct access *x, struct value values);

/* ---- rows (deleting_rows.c) ---- */
/* something that a cascade removes */
struct doomed {
	const struct entity *entity; /* NULL: of none */
	struct value key;
};
struct doomed_list {
	struct doomed *list;
	size_t count;
};
/* At most `most` of what the marker's patterns return, each once; also what has expired. */
bool deleting_rows(struct run *r, const struct marker *m, size_t most, struct doomed_list *out) MUST_CHECK;
/* Whether the stored item is one of its entity as the runtime writes them. One that another program has put with less (its key
 * and nothing else, say) was never counted, and its condition would never hold: it goes as it is. */
bool doomed_fits(struct run *r, const struct doomed *row, struct value stored);
/* The condition of M3. */
void plan_under(struct plan *p, const struct marker *m);
/* Adds what it takes to remove them, to a plan that has its own actions already. *fits false: they are too many for one
 * transaction, or cannot be in one, or are not as they should be; the plan is as it was. Rows that are not there are passed
 * over; *found says how many were. */
bool plan_doom(struct plan *p, const struct marker *m, const struct doomed *list, size_t n, bool *fits,
	       size_t *found) MUST_CHECK;

/* ---- carrying out (deleting_carry.c) ---- */
enum carried {
	CARRIED,
	CARRIED_IN_PART,
	CARRIED_EARLY, /* nothing is seen any more, but an index may be late: the marker stays for a moment (late.h) */
	CARRIED_NOT,   /* run->problem */
};
/* Removes at most about so many rows; 0: only looks. CARRIED: the marker is gone. */
enum carried deleting_carry(struct run *r, const struct marker *m, int64_t most);
/* All markers of what goes with items of the entity. */
enum carried deleting_settle(struct run *r, const struct entity *e);

#endif
