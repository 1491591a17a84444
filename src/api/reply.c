/* Pieces that several replies share: consumed capacity, item collections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/reply.h"
#include "value/codec.h"

enum return_capacity reply_capacity_wanted(const struct json *in)
{
	struct slice how = op_string(in, "ReturnConsumedCapacity");

	if (slice_is(how, "TOTAL"))
		return CAPACITY_TOTAL;
	return slice_is(how, "INDEXES") ? CAPACITY_INDEXES : CAPACITY_NONE;
}

void reply_member(struct buf *b, const char *name)
{
	if (b->n && b->p[b->n - 1] != '{')
		buf_lit(b, ",");
	buf_lit(b, "\"");
	buf_str(b, name);
	buf_lit(b, "\":");
}

/* Units are multiples of one half: at most one decimal, and always one, as DynamoDB prints doubles. */
static void units(struct buf *b, const char *name, double n)
{
	reply_member(b, name);
	buf_printf(b, "%.1f", n);
}

static void units_object(struct buf *b, const struct capacity *c, double n, bool rw_split)
{
	buf_lit(b, "{");
	if (rw_split)
		units(b, c->read ? "ReadCapacityUnits" : "WriteCapacityUnits", n);
	units(b, "CapacityUnits", n);
	buf_lit(b, "}");
}

static void indexes(struct buf *b, const struct table *t, const struct capacity *c, bool global, bool rw_split)
{
	bool any = false;

	for (size_t i = 0; i < t->index_count; i++) {
		if (t->indexes[i].global != global || c->index_units[i] <= 0)
			continue;
		if (!any) {
			reply_member(b, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes");
			buf_lit(b, "{");
		} else {
			buf_lit(b, ",");
		}
		any = true;
		json_string(b, t->indexes[i].name);
		buf_lit(b, ":");
		units_object(b, c, c->index_units[i], rw_split);
	}
	if (any)
		buf_lit(b, "}");
}

void reply_capacity(struct buf *b, const struct table *t, const struct capacity *c, enum return_capacity how,
		    bool rw_split)
{
	double total = capacity_total(c);

	buf_lit(b, "{");
	reply_member(b, "TableName");
	json_string(b, t->name);
	units(b, "CapacityUnits", total);
	if (rw_split)
		units(b, c->read ? "ReadCapacityUnits" : "WriteCapacityUnits", total);
	if (how == CAPACITY_INDEXES) {
		reply_member(b, "Table");
		units_object(b, c, c->table_units, rw_split);
		indexes(b, t, c, false, rw_split);
		indexes(b, t, c, true, rw_split);
	}
	buf_lit(b, "}");
}

void reply_collection(struct buf *b, const struct table *t, struct value key_item, int64_t bytes,
		      struct arena *a)
{
	struct value_member hash = { t->key.hash[0].name, value_get(key_item, t->key.hash[0].name) };
	double gigabytes = (double)bytes / (1024.0 * 1024.0 * 1024.0);
	int64_t below = (int64_t)gigabytes;

	buf_lit(b, "{\"ItemCollectionKey\":");
	item_to_json(b, value_make_map(a, &hash, 1));
	buf_printf(b, ",\"SizeEstimateRangeGB\":[%lld.0,%lld.0]}", (long long)below, (long long)below + 1);
}
