/* Requests to the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/beside.h"

#include "app/dyn_request.h"
#include "value/codec.h"

struct slice beside_table(struct run *r)
{
	return arena_printf(r->arena, "%.*s.thorpe", SLICE_ARG(r->design->table));
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

bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct value **items, size_t *n,
		  struct value *last)
{
	struct backend_reply reply;
	const struct json *list;
	struct dyn_request q;

	begin(&q, r);
	buf_lit(&q.body, ",\"KeyConditionExpression\":\"");
	dyn_put_name(&q, SLICE("PK"));
	buf_lit(&q.body, " = ");
	dyn_put_value(&q, value_make_s(r->arena, pk));
	buf_byte(&q.body, '"');
	dyn_put_placeholders(&q);
	buf_printf(&q.body, ",\"Limit\":%d", limit);
	if (value_present(start)) {
		buf_lit(&q.body, ",\"ExclusiveStartKey\":");
		item_to_json(&q.body, start);
	}
	if (!dyn_send(&q, "Query", &reply))
		return run_backend_error(r, &reply);
	list = json_get(reply.body, "Items");
	if (!json_is(list, JSON_ARRAY))
		return dyn_bad_reply(r, "Query");
	*items = arena_array(r->arena, struct value, list->count);
	for (*n = 0; *n < list->count; ++*n)
		if (!dyn_read_item(r, &list->items[*n], &(*items)[*n]))
			return false;
	return dyn_read_item(r, json_get(reply.body, "LastEvaluatedKey"), last);
}
