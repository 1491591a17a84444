/* Parts that CreateTable and UpdateTable have in common: definitions, keys, projections, capacity.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_TABLE_SPEC_PARTS_H
#define THORPE_API_OP_TABLE_SPEC_PARTS_H

#include "api/op/table_spec.h"

/* AttributeDefinitions. */
struct definitions {
	const struct key_attr *attrs;
	size_t count;
};
struct definitions spec_definitions(const struct json *list, struct arena *a);
const struct key_attr *spec_find_definition(const struct definitions *d, struct slice name);
/* "[a, b]" */
struct slice spec_definition_names(const struct definitions *d, struct arena *a);

/* A KeySchema list. Tables and LSIs: HASH, then optionally RANGE. Errors: attributes without
 * definition, the same name twice, wrong order. */
bool spec_key(const struct json *list, const struct definitions *d, struct arena *a, struct key_schema *out,
	      struct error *e) MUST_CHECK;

bool spec_projection(const struct json *projection, struct arena *a, struct index *out, struct error *e) MUST_CHECK;
/* Checks the number of NonKeyAttributes of all indexes together. */
bool spec_check_non_key_total(size_t total, struct arena *a, struct error *e) MUST_CHECK;

/* ProvisionedThroughput, given. `index`: empty for the table's own. */
bool spec_throughput(const struct json *throughput, struct slice index, struct arena *a, struct throughput *out,
		     struct error *e) MUST_CHECK;
/* OnDemandThroughput: *read and *write are -1 if it sets no limit. */
struct spec_on_demand {
	const struct json *limits; /* NULL: not given */
	struct slice index;        /* empty: the table's own */
	bool removable;            /* -1 may be given, to remove a limit (UpdateTable) */
};
bool spec_on_demand(const struct spec_on_demand *q, struct arena *a, int64_t *read, int64_t *write,
		    struct error *e) MUST_CHECK;
/* The first member present in OnDemandThroughput, or NULL. */
const char *spec_on_demand_member(const struct json *limits);

/* One global index: key, projection, and capacity as the table's billing mode requires. */
bool spec_global_index(const struct json *j, const struct definitions *d, bool on_demand, struct arena *a,
		       struct index *out, struct error *e) MUST_CHECK;

/* SSESpecification; NULL: nothing. */
void spec_sse(const struct json *sse, bool *enabled, struct slice *key);

#endif
