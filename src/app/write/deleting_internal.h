/* Internals of deleting.h: markers, their rows, and removing those. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_DELETING_INTERNAL_H
#define THORPE_APP_WRITE_DELETING_INTERNAL_H

#include "app/db/beside.h"
#include "app/write/deleting.h"

/* ---- markers (deleting.c) ---- */
/* The markers of an item, one for each set of parameters that it has; without ids. */
void markers_of(struct run *r, const struct entity *e, struct value full, struct marker **out, size_t *n);
/* The item of a new marker; sets its id and time. */
bool marker_make(struct run *r, struct marker *m, struct value *item) MUST_CHECK;
/* *known false: unknown layout or entity; the marker stays. */
bool marker_read(struct run *r, struct value item, struct marker *m, bool *known) MUST_CHECK;
struct slice marker_kind(struct run *r, const struct entity *e); /* its PK */
/* The parameters of a pattern, as stored in `values`, an M; absent: one is missing, so the pattern returns nothing. */
struct value marker_values(struct run *r, const struct access *x, struct value values);

/* ---- rows (deleting_rows.c) ---- */
/* a row that a cascade removes */
struct doomed {
	const struct entity *entity; /* NULL: of none */
	struct value key;
};
struct doomed_list {
	struct doomed *list;
	size_t count;
};
/* At most `most` rows of the marker's patterns, each once, including expired ones. */
bool deleting_rows(struct run *r, const struct marker *m, size_t most, struct doomed_list *out) MUST_CHECK;
/* Whether the stored item is complete, as the runtime writes items of its entity. One that another program has put
 * with less (say, only its key) was never counted, and conditions on it would never hold: it is removed as it is. */
bool doomed_fits(struct run *r, const struct doomed *row, struct value stored);
/* The condition of M3. */
void plan_under(struct plan *p, const struct marker *m);
/* Adds the actions that remove the rows to a plan that has its own actions already. *fits false: too many for one
 * transaction, incompatible, or not as they should be; the plan is unchanged. Skips missing rows; *found: the number
 * of existing ones. */
bool plan_doom(struct plan *p, const struct marker *m, const struct doomed *list, size_t n, bool *fits,
	       size_t *found) MUST_CHECK;

/* ---- carrying out (deleting_carry.c) ---- */
enum carried {
	CARRIED,
	CARRIED_IN_PART,
	CARRIED_EARLY, /* no rows are visible, but an index may be late: the marker stays for a moment (late.h) */
	CARRIED_NOT,   /* run->problem */
};
/* This server has put it: indexes show what hangs on it late_ms() from now. */
void deleting_note(struct run *r, const struct marker *m);
/* How long this server has known the marker, of a remote table; starts counting if it is new. */
int64_t deleting_known_ms(struct run *r, const struct marker *m);
/* Removes at most about so many rows; 0: only looks. CARRIED: the marker is gone. */
enum carried deleting_carry(struct run *r, const struct marker *m, int64_t most);
/* Carries out all markers of entities whose items are removed with this entity's. */
enum carried deleting_settle(struct run *r, const struct entity *e);

#endif
