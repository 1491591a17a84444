/* PutItem, UpdateItem, DeleteItem.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/action.h"
#include "api/reply.h"
#include "value/codec.h"

static void add_attributes(struct op_state *s, struct value item)
{
	if (!value_present(item) || value_count(item) == 0)
		return;
	json_name(&s->out, "Attributes");
	item_to_json(&s->out, item);
}

/* Adds what ReturnValues asks for. */
static void add_returned(struct op_state *s, const struct write_action *act)
{
	struct slice rv = json_get_text(s->in, "ReturnValues");

	if (slice_is(rv, "ALL_OLD"))
		add_attributes(s, act->old_item);
	else if (slice_is(rv, "ALL_NEW"))
		add_attributes(s, act->new_item);
	else if (slice_is(rv, "UPDATED_OLD") && act->update && value_present(act->old_item))
		add_attributes(s, update_touched(act->update, act->old_item, s->arena));
	else if (slice_is(rv, "UPDATED_NEW") && act->update)
		add_attributes(s, update_touched(act->update, act->new_item, s->arena));
}

static bool failed(struct op_state *s, struct error *e)
{
	struct buf b;

	if (!actions_failed(s, e))
		return false;
	if (s->reasons && value_present(s->reasons[0].item)) {
		buf_init(&b, s->arena);
		json_name(&b, "Item");
		item_to_json(&b, s->reasons[0].item);
		e->members = buf_slice(&b);
	}
	return true;
}

static bool written(struct op_state *s, struct error *e)
{
	const struct write_action *act = &s->write.actions[0];
	enum return_capacity how = reply_capacity_wanted(s->in);

	if (failed(s, e))
		return false;
	json_open(&s->out, '{');
	add_returned(s, act);
	if (how != CAPACITY_NONE) {
		json_name(&s->out, "ConsumedCapacity");
		reply_capacity(&s->out, act->table, &act->capacity, how, false);
	}
	if (act->table->has_local_indexes && slice_is(json_get_text(s->in, "ReturnItemCollectionMetrics"), "SIZE")) {
		json_name(&s->out, "ItemCollectionMetrics");
		reply_collection(&s->out, act->table, action_key_item(act, s->arena), act->collection_bytes, s->arena);
	}
	json_close(&s->out, '}');
	return true;
}

static bool write_one(struct op_state *s, enum write_kind kind, struct error *e)
{
	struct request_action act = { 0 };

	if (!action_parse(s, kind, s->in, &act, e) ||
	    !actions_prepare(s, &(struct request_write){ .actions = &act, .count = 1 }, e))
		return false;
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
