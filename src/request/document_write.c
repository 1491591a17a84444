/* Spells requests as DynamoDB does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "request/document.h"

#include "base/map.h"
#include "expr/print.h"
#include "value/codec.h"

/* Most requests fit: the buffer then never moves. */
#define BODY_ROOM 512

static void put_table(struct buf *b, struct slice table)
{
	buf_lit(b, "\"TableName\":");
	json_string(b, table);
}

static void put_projection(struct buf *b, const struct projection *projection)
{
	struct expr_printer p;

	if (!projection)
		return;
	expr_printer_init(&p, b->arena, b);
	buf_lit(b, ",\"ProjectionExpression\":\"");
	expr_print_projection(&p, projection);
	buf_byte(b, '"');
	expr_print_placeholders(&p);
}

static void put_get(struct buf *b, const struct request_get *q)
{
	put_table(b, q->table);
	buf_lit(b, ",\"Key\":");
	item_to_json(b, q->key);
	put_projection(b, q->projection);
	if (q->consistent)
		buf_lit(b, ",\"ConsistentRead\":true");
}

static void put_batch(struct buf *b, const struct request_batch *q)
{
	struct map seen;

	map_init(&seen, b->arena);
	buf_lit(b, "\"RequestItems\":{");
	json_string(b, q->table);
	buf_lit(b, ":{\"Keys\":[");
	for (size_t i = 0; i < q->count; i++) {
		if (map_set(&seen, slice_make(q->keys[i].p, q->keys[i].n), b))
			continue;
		if (seen.n > 1)
			buf_byte(b, ',');
		item_to_json(b, q->keys[i]);
	}
	buf_byte(b, ']');
	put_projection(b, q->projection);
	if (q->consistent)
		buf_lit(b, ",\"ConsistentRead\":true");
	buf_lit(b, "}}");
}

/* ---- Query ---- */

static void put_settings(struct buf *b, const struct request_query *q)
{
	if (q->backwards)
		buf_lit(b, ",\"ScanIndexForward\":false");
	if (q->consistent)
		buf_lit(b, ",\"ConsistentRead\":true");
	if (q->count_only)
		buf_lit(b, ",\"Select\":\"COUNT\"");
	if (q->limit > 0) {
		buf_lit(b, ",\"Limit\":");
		buf_i64(b, q->limit);
	}
	if (value_present(q->start)) {
		buf_lit(b, ",\"ExclusiveStartKey\":");
		item_to_json(b, q->start);
	}
}

static void put_query(struct buf *b, const struct request_query *q)
{
	struct expr_printer p;

	put_table(b, q->table);
	if (q->index.n) {
		buf_lit(b, ",\"IndexName\":");
		json_string(b, q->index);
	}
	expr_printer_init(&p, b->arena, b);
	buf_lit(b, ",\"KeyConditionExpression\":\"");
	expr_print_key_terms(&p, q->terms, q->term_count);
	buf_byte(b, '"');
	if (q->filter) {
		buf_lit(b, ",\"FilterExpression\":\"");
		expr_print_condition(&p, q->filter);
		buf_byte(b, '"');
	}
	if (q->projection) {
		buf_lit(b, ",\"ProjectionExpression\":\"");
		expr_print_projection(&p, q->projection);
		buf_byte(b, '"');
	}
	expr_print_placeholders(&p);
	put_settings(b, q);
}

/* ---- writes ---- */

static void put_action(struct buf *b, const struct request_action *q)
{
	struct expr_printer p;

	put_table(b, q->table);
	buf_str(b, q->kind == WRITE_PUT ? ",\"Item\":" : ",\"Key\":");
	item_to_json(b, q->kind == WRITE_PUT ? q->item : q->key);
	expr_printer_init(&p, b->arena, b);
	if (q->update) {
		buf_lit(b, ",\"UpdateExpression\":\"");
		expr_print_update(&p, q->update);
		buf_byte(b, '"');
	}
	if (q->condition) {
		buf_lit(b, ",\"ConditionExpression\":\"");
		expr_print_condition(&p, q->condition);
		buf_byte(b, '"');
	}
	if (q->return_old_on_failure)
		buf_lit(b, ",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"");
	expr_print_placeholders(&p);
}

static void put_transaction(struct buf *b, const struct request_write *q)
{
	static const char *const members[] = {
		[WRITE_PUT] = "{\"Put\":{", [WRITE_UPDATE] = "{\"Update\":{", [WRITE_DELETE] = "{\"Delete\":{", [WRITE_CHECK] = "{\"ConditionCheck\":{"
	};

	buf_lit(b, "\"TransactItems\":[");
	for (size_t i = 0; i < q->count; i++) {
		buf_str(b, i ? "," : "");
		buf_str(b, members[q->actions[i].kind]);
		put_action(b, &q->actions[i]);
		buf_lit(b, "}}");
	}
	buf_byte(b, ']');
	if (q->token.n) {
		buf_lit(b, ",\"ClientRequestToken\":");
		json_string(b, q->token);
	}
}

static void put_records(struct buf *b, const struct request_records *q)
{
	buf_lit(b, "\"ShardIterator\":");
	json_string(b, q->iterator);
	buf_lit(b, ",\"Limit\":");
	buf_i64(b, q->limit);
}

struct slice request_document(struct arena *a, const struct request *q)
{
	struct buf b;

	buf_init(&b, a);
	buf_room(&b, BODY_ROOM);
	buf_byte(&b, '{');
	switch (q->kind) {
	case REQUEST_GET: put_get(&b, &q->get); break;
	case REQUEST_BATCH_GET: put_batch(&b, &q->batch); break;
	case REQUEST_QUERY: put_query(&b, &q->query); break;
	case REQUEST_WRITE:
		if (request_is_transaction(&q->write))
			put_transaction(&b, &q->write);
		else
			put_action(&b, &q->write.actions[0]);
		break;
	case REQUEST_RECORDS: put_records(&b, &q->records); break;
	}
	buf_str(&b, q->measured && q->kind != REQUEST_RECORDS ? ",\"ReturnConsumedCapacity\":\"TOTAL\"}" : "}");
	return buf_slice(&b);
}
