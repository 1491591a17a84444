/* PutItem, UpdateItem, DeleteItem.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/action.h"
#include "api/reply.h"
#include "value/codec.h"

static void add_attributes(struct op_state *s, struct value item)
{
	if (!value_present(item) || value_count(item) == 0)
		return;
	json_name(&s->out, "Attributes");
	item_to_json(&s->out, item);
}

/* What ReturnValues asks for. */
static void add_returned(struct op_state *s, const struct write_action *act)
{
	struct slice rv = op_string(s->in, "ReturnValues");

	if (slice_is(rv, "ALL_OLD"))
		add_attributes(s, act->old_item);
	else if (slice_is(rv, "ALL_NEW"))
		add_attributes(s, act->new_item);
	else if (slice_is(rv, "UPDATED_OLD") && act->update && value_present(act->old_item))
		add_attributes(s, update_touched(act->update, act->old_item, s->arena));
	else if (slice_is(rv, "UPDATED_NEW") && act->update)
		add_attributes(s, update_touched(act->update, act->new_item, s->arena));
}

static bool failed(struct op_state *s, const struct write_action *act, struct error *e)
{
	*e = act->error;
	if (act->error.code == ERR_CONDITION_FAILED && act->return_old_on_failure &&
	    value_present(act->old_item)) {
		struct buf b;

		buf_init(&b, s->arena);
		json_name(&b, "Item");
		item_to_json(&b, act->old_item);
		e->members = buf_slice(&b);
	}
	return false;
}

static bool written(struct op_state *s, struct error *e)
{
	const struct write_action *act = s->data;
	enum return_capacity how = reply_capacity_wanted(s->in);

	if (act->error.code != ERR_NONE)
		return failed(s, act, e);
	json_open(&s->out, '{');
	add_returned(s, act);
	if (how != CAPACITY_NONE) {
		json_name(&s->out, "ConsumedCapacity");
		reply_capacity(&s->out, act->table, &act->capacity, how, false);
	}
	if (act->table->has_local_indexes && slice_is(op_string(s->in, "ReturnItemCollectionMetrics"), "SIZE")) {
		json_name(&s->out, "ItemCollectionMetrics");
		reply_collection(&s->out, act->table, action_key_item(act, s->arena), act->collection_bytes,
				 s->arena);
	}
	json_close(&s->out, '}');
	return true;
}

static bool write_one(struct op_state *s, enum write_kind kind, struct error *e)
{
	struct write_action *act = arena_new(s->arena, struct write_action);
	const struct table *t;

	if (!action_parse(s, kind, s->in, act, e))
		return false;
	t = op_table(s, op_string(s->in, "TableName"), e);
	if (!t || !action_resolve(s, t, act, e))
		return false;
	s->write.mode = REQUEST_EACH;
	s->write.actions = act;
	s->write.action_count = 1;
	s->data = act;
	s->written = written;
	s->submit = true;
	return true;
}

bool op_put_item(struct op_state *s, struct error *e)
{
	return write_one(s, WRITE_PUT, e);
}

bool op_update_item(struct op_state *s, struct error *e)
{
	return write_one(s, WRITE_UPDATE, e);
}

bool op_delete_item(struct op_state *s, struct error *e)
{
	return write_one(s, WRITE_DELETE, e);
}
