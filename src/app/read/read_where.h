/* What a Query of a pattern asks for: key conditions, filter, projection. For read*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_WHERE_H
#define THORPE_APP_READ_READ_WHERE_H

#include "app/read/read_internal.h"

struct query_plan {
	struct dyn_condition where[KEY_HASH_MAX + KEY_RANGE_MAX];
	size_t where_count;
	const struct test *filter; /* NULL: none */
	bool none;                 /* nothing can be there */
};
/* For the partition `step` of a walk, or the only one. */
bool query_plan(struct pattern *p, int64_t step, struct query_plan *out) MUST_CHECK;
struct dyn_query query_request(const struct pattern *p, const struct query_plan *plan);
/* The key of what is queried. */
const struct key_schema *query_schema(const struct pattern *p);
/* Whether rows have an attribute, if their items have it. */
bool query_projects(const struct pattern *p, struct slice attribute);
/* `without` and all there is, for a ProjectionExpression; what rules and ranks look at stays. */
void query_projection(const struct pattern *p, const struct slice **without, size_t *without_count,
		      const struct slice **all, size_t *all_count);

#endif
