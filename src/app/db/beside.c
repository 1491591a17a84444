/* Requests to the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"

struct slice beside_name(struct arena *a, struct slice table)
{
	return arena_printf(a, "%.*s" BESIDE_ENDING, SLICE_ARG(table));
}

struct slice beside_table(struct run *r)
{
	return beside_name(r->arena, r->design->table);
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

static bool query(struct run *r, struct slice pk, struct dyn_query *q, struct dyn_page *page)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, value_make_s(r->arena, pk), VALUE_ABSENT };

	q->table = beside_table(r);
	q->where = &where;
	q->where_count = 1;
	q->consistent = true;
	return dyn_query(r, q, page);
}

bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct dyn_page *page)
{
	return query(r, pk, &(struct dyn_query){ .limit = limit, .start = start }, page);
}

bool beside_count(struct run *r, struct slice pk, int64_t *out)
{
	struct dyn_query q = { .count_only = true };
	struct dyn_page page;

	*out = 0;
	do {
		if (!query(r, pk, &q, &page))
			return false;
		*out += (int64_t)page.count;
		q.start = page.last;
	} while (value_present(page.last));
	return true;
}

int64_t beside_number(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));
	struct number n;
	int64_t out;

	if (value_type(v) != VALUE_N)
		return 0;
	n = value_number(v);
	return number_to_i64(&n, &out) ? out : 0;
}

struct slice beside_text(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));

	return value_type(v) == VALUE_S ? value_bytes(v) : SLICE("");
}
