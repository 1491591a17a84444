/* TransactGetItems: up to 100 items as they are at one moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/cancellation.h"
#include "api/op/params.h"
#include "api/op/tally.h"
#include "value/codec.h"

static const char *const expressions[] = { "ProjectionExpression", NULL };
static const char *const legacy[] = { NULL };

struct get {
	const struct table *table;
	const struct projection *projection;
	struct value key;
	struct item_key item_key;
	struct value item;
};

static const struct json *get_of(const struct json *items, size_t i)
{
	return json_get(&items->items[i], "Get");
}

static bool parse_gets(struct op_state *s, const struct json *items, struct get *gets, struct error *e)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct json *obj = get_of(items, i);
		struct expr_bindings *b;

		if (!params_check_mix(s, obj, expressions, legacy, e) ||
		    !item_from_json(s->arena, json_get(obj, "Key"), &gets[i].key, e) || !params_bindings(s, obj, &b, e) ||
		    !params_projection(s, obj, b, &gets[i].projection, e) || !expr_bindings_check_used(b, e))
			return false;
	}
	return true;
}

static bool resolve_gets(struct op_state *s, const struct json *items, struct get *gets, struct error *e)
{
	struct reply_reason *reasons = arena_array(s->arena, struct reply_reason, items->count);
	bool canceled = false;

	for (size_t i = 0; i < items->count; i++) {
		gets[i].table = op_table(s, json_get_text(get_of(items, i), "TableName"), e);
		if (!gets[i].table)
			return false;
		if (!table_key_of_key(gets[i].table, gets[i].key, s->arena, &gets[i].item_key, &reasons[i].error) ||
		    !params_check_projection_keys(s, gets[i].table, gets[i].projection, &reasons[i].error))
			canceled = true;
	}
	return !canceled || cancellation_set(e, s->arena, reasons, items->count);
}

static bool refuse_repeated_items(struct op_state *s, const struct get *gets, size_t n, struct error *e)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (gets[i].table->id == gets[j].table->id && value_equal(gets[i].key, gets[j].key))
				return error_set(e, s->arena, ERR_VALIDATION,
						 "Transaction request cannot include multiple operations on "
						 "one item");
	return true;
}

static bool read_gets(struct op_state *s, struct get *gets, size_t n, struct tally *tally, struct error *e)
{
	struct store_view *view = store_view(db_store(s->db), s->arena);
	size_t bytes = 0, counted = 0;

	for (size_t i = 0; i < n; i++) {
		struct capacity c = { .read = true };
		size_t size;

		if (i + 1 == n || gets[i].table != gets[i + 1].table) {
			stats_add(&gets[i].table->stats->reads, (int64_t)(i + 1 - counted));
			counted = i + 1;
		}
		if (!db_get(&(struct db_at){ s->db, view, gets[i].table }, gets[i].item_key, s->arena, &gets[i].item, e))
			return false;
		size = value_present(gets[i].item) ? item_size(gets[i].item) : 0;
		bytes += size;
		if (bytes > TRANSACTION_BYTES_MAX)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "The aggregate size of the items in the transaction cannot exceed "
					 "4 MB");
		c.table_units = 2 * capacity_read_units(size, true);
		tally_add(tally, gets[i].table, &c);
	}
	return true;
}

bool op_transact_get_items(struct op_state *s, struct error *e)
{
	const struct json *items = json_get(s->in, "TransactItems");
	struct get *gets = arena_array(s->arena, struct get, items->count);
	struct tally tally;

	tally_init(&tally, s->arena);
	if (!parse_gets(s, items, gets, e) || !resolve_gets(s, items, gets, e) ||
	    !refuse_repeated_items(s, gets, items->count, e) || !read_gets(s, gets, items->count, &tally, e))
		return false;
	json_open(&s->out, '{');
	json_member_open(&s->out, "Responses", '[');
	for (size_t i = 0; i < items->count; i++) {
		struct value item = gets[i].item;

		json_open(&s->out, '{');
		if (value_present(item)) {
			json_name(&s->out, "Item");
			item_to_json(&s->out,
				     gets[i].projection ? projection_apply(gets[i].projection, item, s->arena) : item);
		}
		json_close(&s->out, '}');
	}
	json_close(&s->out, ']');
	tally_reply(&s->out, &tally, reply_capacity_wanted(s->in), true);
	json_close(&s->out, '}');
	return true;
}
