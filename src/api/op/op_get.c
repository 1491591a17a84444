/* GetItem.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/execute.h"
#include "api/internal.h"
#include "api/op/params.h"
#include "api/reply.h"
#include "value/codec.h"

static const char *const expressions[] = { "ProjectionExpression", NULL };
static const char *const legacy[] = { "AttributesToGet", NULL };

bool get_item(struct op_state *s, const struct request_get *q, const struct table **t, struct value *item,
	      struct error *e)
{
	struct item_key k;

	*t = op_table(s, q->table, e);
	if (!*t || !table_key_of_key(*t, q->key, s->arena, &k, e) ||
	    !params_check_projection_keys(s, *t, q->projection, e) ||
	    !db_get(&(struct db_at){ s->db, s->fault ? fault_view(s, *t, NULL, q->consistent) : NULL, *t }, k, s->arena,
		    item, e))
		return false;
	stats_add(&(*t)->stats->reads, 1);
	return true;
}

struct capacity get_capacity(const struct request_get *q, struct value item)
{
	return (struct capacity){ .read = true,
				  .table_units = capacity_read_units(value_present(item) ? item_size(item) : 0,
								     q->consistent) };
}

bool op_get_item(struct op_state *s, struct error *e)
{
	enum return_capacity how = reply_capacity_wanted(s->in);
	struct request_get q = { .table = json_get_text(s->in, "TableName"),
				 .consistent = op_bool(s->in, "ConsistentRead", false) };
	struct expr_bindings *b;
	const struct table *t;
	struct value item;

	if (!params_check_mix(s, s->in, expressions, legacy, e) ||
	    !item_from_json(s->arena, json_get(s->in, "Key"), &q.key, e) || !params_bindings(s, s->in, &b, e) ||
	    !params_projection(s, s->in, b, &q.projection, e) || !expr_bindings_check_used(b, e) ||
	    !get_item(s, &q, &t, &item, e))
		return false;
	json_open(&s->out, '{');
	if (value_present(item)) {
		json_name(&s->out, "Item");
		item_to_json(&s->out, q.projection ? projection_apply(q.projection, item, s->arena) : item);
	}
	if (how != CAPACITY_NONE) {
		struct capacity c = get_capacity(&q, item);

		json_name(&s->out, "ConsumedCapacity");
		reply_capacity(&s->out, t, &c, how, false);
	}
	json_close(&s->out, '}');
	return true;
}
