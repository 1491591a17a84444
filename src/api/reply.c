/* Pieces that several replies share: consumed capacity, item collections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/reply.h"
#include "value/codec.h"

enum return_capacity reply_capacity_wanted(const struct json *in)
{
	struct slice how = json_get_text(in, "ReturnConsumedCapacity");

	if (slice_is(how, "TOTAL"))
		return CAPACITY_TOTAL;
	return slice_is(how, "INDEXES") ? CAPACITY_INDEXES : CAPACITY_NONE;
}

/* Units are multiples of one half: at most one decimal, and always one, as DynamoDB prints doubles. */
static void units(struct buf *b, const char *name, double n)
{
	json_name(b, name);
	buf_printf(b, "%.1f", n);
}

static void units_object(struct buf *b, const struct capacity *c, double n, bool rw_split)
{
	json_open(b, '{');
	if (rw_split)
		units(b, c->read ? "ReadCapacityUnits" : "WriteCapacityUnits", n);
	units(b, "CapacityUnits", n);
	json_close(b, '}');
}

static void indexes(struct buf *b, const struct table *t, const struct capacity *c, bool global, bool rw_split)
{
	bool any = false;

	for (size_t i = 0; i < t->index_count; i++) {
		if (t->indexes[i].global != global || c->index_units[i] <= 0)
			continue;
		if (!any)
			json_member_open(b, global ? "GlobalSecondaryIndexes" : "LocalSecondaryIndexes", '{');
		any = true;
		json_name_string(b, t->indexes[i].name);
		units_object(b, c, c->index_units[i], rw_split);
	}
	if (any)
		json_close(b, '}');
}

void reply_capacity(struct buf *b, const struct table *t, const struct capacity *c, enum return_capacity how,
		    bool rw_split)
{
	double total = capacity_total(c);

	json_open(b, '{');
	json_member_string(b, "TableName", t->name);
	units(b, "CapacityUnits", total);
	if (rw_split)
		units(b, c->read ? "ReadCapacityUnits" : "WriteCapacityUnits", total);
	if (how == CAPACITY_INDEXES) {
		json_name(b, "Table");
		units_object(b, c, c->table_units, rw_split);
		indexes(b, t, c, false, rw_split);
		indexes(b, t, c, true, rw_split);
	}
	json_close(b, '}');
}

void reply_collection(struct buf *b, const struct table *t, struct value key_item, int64_t bytes, struct arena *a)
{
	struct value_member hash = { t->key.hash[0].name, value_get(key_item, t->key.hash[0].name) };
	double gigabytes = (double)bytes / (1024.0 * 1024.0 * 1024.0);
	int64_t below = (int64_t)gigabytes;

	json_open(b, '{');
	json_name(b, "ItemCollectionKey");
	item_to_json(b, value_make_map(a, &hash, 1));
	json_name(b, "SizeEstimateRangeGB");
	buf_printf(b, "[%lld.0,%lld.0]}", (long long)below, (long long)below + 1);
}
