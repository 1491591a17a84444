/* Requests to the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/beside.h"

#include "app/dyn_request.h"
#include "value/codec.h"

#define BATCH_TRIES 5

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

static void begin(struct dyn_request *q, struct run *r)
{
	dyn_request_init(q, r);
	dyn_put_other_table(q, beside_table(r));
	buf_lit(&q->body, ",\"ConsistentRead\":true");
}

bool beside_get(struct run *r, struct value key, struct value *item)
{
	struct backend_reply reply;
	struct dyn_request q;

	begin(&q, r);
	buf_lit(&q.body, ",\"Key\":");
	item_to_json(&q.body, key);
	if (!dyn_send(&q, "GetItem", &reply))
		return run_backend_error(r, &reply);
	return dyn_read_item(r, json_get(reply.body, "Item"), item);
}

/* Asks for those of which items[i] is absent. *unprocessed: how many the database left out. */
static bool batch_once(struct run *r, struct slice table, const struct value *keys, size_t n, struct value *items, size_t *unprocessed)
{
	const struct json *list, *left;
	struct backend_reply reply;
	struct dyn_request q;
	bool first = true;

	dyn_request_init(&q, r);
	buf_lit(&q.body, "\"RequestItems\":{");
	json_string(&q.body, table);
	buf_lit(&q.body, ":{\"ConsistentRead\":true,\"Keys\":[");
	for (size_t i = 0; i < n; i++) {
		if (value_present(items[i]))
			continue;
		buf_str(&q.body, first ? "" : ",");
		first = false;
		item_to_json(&q.body, keys[i]);
	}
	buf_lit(&q.body, "]}}");
	if (!dyn_send(&q, "BatchGetItem", &reply))
		return run_backend_error(r, &reply);
	list = json_get_slice(json_get(reply.body, "Responses"), table);
	for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++) {
		struct value item, key;

		if (!dyn_read_item(r, &list->items[i], &item))
			return false;
		key = beside_key(r, value_bytes(value_get(item, SLICE("PK"))), value_bytes(value_get(item, SLICE("SK"))));
		for (size_t k = 0; k < n; k++)
			if (value_equal(keys[k], key))
				items[k] = item;
	}
	left = json_get(json_get_slice(json_get(reply.body, "UnprocessedKeys"), table), "Keys");
	*unprocessed = json_is(left, JSON_ARRAY) ? left->count : 0;
	return true;
}

bool beside_batch_get(struct run *r, const struct value *keys, size_t n, struct value *items)
{
	struct slice table = beside_table(r);
	size_t unprocessed = n;

	for (size_t i = 0; i < n; i++)
		items[i] = VALUE_ABSENT;
	for (int i = 0; i < BATCH_TRIES && unprocessed; i++)
		if (!batch_once(r, table, keys, n, items, &unprocessed))
			return false;
	return !unprocessed || run_busy(r);
}

/* What it says besides the key and where to begin. */
static bool query(struct run *r, struct slice pk, struct slice more, struct value start, struct backend_reply *reply)
{
	struct dyn_request q;

	begin(&q, r);
	buf_lit(&q.body, ",\"KeyConditionExpression\":\"");
	dyn_put_name(&q, SLICE("PK"));
	buf_lit(&q.body, " = ");
	dyn_put_value(&q, value_make_s(r->arena, pk));
	buf_byte(&q.body, '"');
	dyn_put_placeholders(&q);
	buf_put(&q.body, more);
	if (value_present(start)) {
		buf_lit(&q.body, ",\"ExclusiveStartKey\":");
		item_to_json(&q.body, start);
	}
	return dyn_send(&q, "Query", reply) || run_backend_error(r, reply);
}

bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct value **items, size_t *n,
		  struct value *last)
{
	struct backend_reply reply;
	const struct json *list;

	if (!query(r, pk, arena_printf(r->arena, ",\"Limit\":%d", limit), start, &reply))
		return false;
	list = json_get(reply.body, "Items");
	if (!json_is(list, JSON_ARRAY))
		return dyn_bad_reply(r, "Query");
	*items = arena_array(r->arena, struct value, list->count);
	for (*n = 0; *n < list->count; ++*n)
		if (!dyn_read_item(r, &list->items[*n], &(*items)[*n]))
			return false;
	return dyn_read_item(r, json_get(reply.body, "LastEvaluatedKey"), last);
}

bool beside_count(struct run *r, struct slice pk, int64_t *out)
{
	struct value start = VALUE_ABSENT;
	struct backend_reply reply;
	const struct json *count;

	*out = 0;
	do {
		if (!query(r, pk, SLICE(",\"Select\":\"COUNT\""), start, &reply))
			return false;
		count = json_get(reply.body, "Count");
		*out += json_is(count, JSON_INT) ? count->integer : 0;
		if (!dyn_read_item(r, json_get(reply.body, "LastEvaluatedKey"), &start))
			return false;
	} while (value_present(start));
	return true;
}
