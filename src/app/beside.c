/* Requests to the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/beside.h"

#include "app/dyn.h"

struct slice beside_table(struct run *r)
{
	return arena_printf(r->arena, "%.*s" BESIDE_ENDING, SLICE_ARG(r->design->table));
}

struct value beside_key(struct run *r, struct slice pk, struct slice sk)
{
	struct value_member members[] = {
		{ SLICE("PK"), value_make_s(r->arena, pk) },
		{ SLICE("SK"), value_make_s(r->arena, sk) },
	};

	return value_make_map(r->arena, members, 2);
}

bool beside_get(struct run *r, struct value key, struct value *item)
{
	return dyn_get_from(r, beside_table(r), key, true, item);
}

bool beside_batch_get(struct run *r, const struct value *keys, size_t n, struct value *items)
{
	return dyn_batch_get_from(r, beside_table(r), keys, n, true, items);
}

bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct value **items, size_t *n,
		  struct value *last)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, value_make_s(r->arena, pk), VALUE_ABSENT };
	struct dyn_query q = { .table = beside_table(r), .where = &where, .where_count = 1, .consistent = true, .limit = limit, .start = start };
	struct dyn_page page;

	if (!dyn_query(r, &q, &page))
		return false;
	*items = page.items;
	*n = page.count;
	*last = page.last;
	return true;
}
