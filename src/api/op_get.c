/* GetItem.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/params.h"
#include "api/reply.h"
#include "value/codec.h"

static const char *const expressions[] = { "ProjectionExpression", NULL };
static const char *const legacy[] = { "AttributesToGet", NULL };

bool op_get_item(struct op_state *s, struct error *e)
{
	enum return_capacity how = reply_capacity_wanted(s->in);
	struct expr_bindings *b;
	const struct projection *projection;
	const struct table *t;
	struct value key, item;
	struct item_key k;

	if (!params_check_mix(s, s->in, expressions, legacy, e) ||
	    !item_from_json(s->arena, json_get(s->in, "Key"), &key, e) ||
	    !params_bindings(s, s->in, &b, e) || !params_projection(s, s->in, b, &projection, e) ||
	    !expr_bindings_check_used(b, e))
		return false;
	t = op_table(s, op_string(s->in, "TableName"), e);
	if (!t || !table_key_of_key(t, key, s->arena, &k, e) ||
	    !params_check_projection_keys(s, t, projection, e) ||
	    !db_get(s->db, s->fault ? fault_view(s, t, NULL, op_bool(s->in, "ConsistentRead", false)) : NULL, t, k, s->arena, &item, e))
		return false;
	stats_add(&t->stats->reads, 1);

	json_open(&s->out, '{');
	if (value_present(item)) {
		json_name(&s->out, "Item");
		item_to_json(&s->out, projection ? projection_apply(projection, item, s->arena) : item);
	}
	if (how != CAPACITY_NONE) {
		struct capacity c = { .read = true };

		c.table_units = capacity_read_units(value_present(item) ? item_size(item) : 0,
						    op_bool(s->in, "ConsistentRead", false));
		json_name(&s->out, "ConsumedCapacity");
		reply_capacity(&s->out, t, &c, how, false);
	}
	json_close(&s->out, '}');
	return true;
}
