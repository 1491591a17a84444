/* The Query of a pattern: key conditions, filter, projection. For read*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_WHERE_H
#define THORPE_APP_READ_READ_WHERE_H

#include "app/read/read_internal.h"

#define PLAN_MOST (KEY_HASH_MAX + KEY_RANGE_MAX)

struct query_plan {
	struct dyn_condition where[PLAN_MOST];
	const struct name *at[PLAN_MOST]; /* the attribute of each */
	size_t where_count;
	const struct test *filter; /* NULL: none */
	bool none;                 /* no row can be there */
};
/* For the partition `step` of a walk, or the only one. */
bool query_plan(struct pattern *p, int64_t step, struct query_plan *out) MUST_CHECK;
/* The plan's condition on an attribute; NULL: none. */
const struct dyn_condition *query_condition(const struct query_plan *plan, const struct name *at);
struct dyn_query query_request(const struct pattern *p, const struct query_plan *plan);
/* GET by `where`: the key of the item; absent: there can be none. */
bool query_key(struct pattern *p, struct value *key) MUST_CHECK;
/* Whether rows have the attribute, if their items have it. */
bool query_projects(const struct design *d, const struct access *access, struct slice attribute);

/* ---- made once (read_kinds.c) ---- */
/* The filter, with input.x for parameters that are no attributes; NULL: none. */
const struct term *query_filter(const struct design *d, const struct access *access, struct arena *a);
/* Fills in left_out, projected and suffices. */
void query_projection(const struct design *d, const struct access *access, struct arena *a, struct read_known *out);

/* The partitions of a walk, or the only one. */
static inline int64_t query_steps(const struct access *a)
{
	return a->walk_times ? a->walk_times : 1;
}

#endif
