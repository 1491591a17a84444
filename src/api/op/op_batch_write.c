/* BatchWriteItem: up to 25 puts and deletes, each by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/collections.h"
#include "api/internal.h"
#include "api/op/tally.h"
#include "base/map.h"
#include "value/codec.h"

static bool parse_request(struct op_state *s, const struct json *request, struct write_action *act, struct error *e)
{
	bool put = op_has(request, "PutRequest"), delete = op_has(request, "DeleteRequest");

	if (put == delete)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "Supplied AttributeValue has more than one datatypes set, must contain exactly "
				 "one of the supported datatypes");
	if (put) {
		act->kind = WRITE_PUT;
		return item_from_json(s->arena, json_get(json_get(request, "PutRequest"), "Item"), &act->item, e) &&
		       table_check_item_size(act->item, false, s->arena, e);
	}
	act->kind = WRITE_DELETE;
	return item_from_json(s->arena, json_get(json_get(request, "DeleteRequest"), "Key"), &act->key_item, e);
}

static bool refuse_duplicates(struct op_state *s, struct error *e)
{
	struct map seen;

	map_init(&seen, s->arena);
	for (size_t i = 0; i < s->write.action_count; i++) {
		const struct write_action *act = &s->write.actions[i];
		struct buf key;

		buf_init(&key, s->arena);
		buf_be32(&key, act->table->id);
		buf_be16(&key, (uint16_t)act->key.pk.n);
		buf_put(&key, act->key.pk);
		buf_put(&key, act->key.sk);
		if (map_set(&seen, buf_slice(&key), s))
			return error_set(e, s->arena, ERR_VALIDATION, "Provided list of item keys contains duplicates");
	}
	return true;
}

static size_t count_requests(const struct json *tables)
{
	size_t n = 0;

	for (size_t i = 0; i < tables->count; i++)
		n += tables->members[i].value.count;
	return n;
}

static bool parse_requests(struct op_state *s, const struct json *tables, struct error *e)
{
	struct write_action *act = s->write.actions;

	for (size_t i = 0; i < tables->count; i++) {
		const struct json *list = &tables->members[i].value;

		for (size_t j = 0; j < list->count; j++)
			if (!parse_request(s, &list->items[j], act++, e))
				return false;
	}
	return true;
}

/* For an item with an invalid key, DynamoDB returns the error of an invalid key here. */
static bool resolve_request(struct op_state *s, const struct table *t, struct write_action *act, struct error *e)
{
	if (act->kind == WRITE_PUT) {
		struct value key = table_key_item(t, NULL, act->item, s->arena);

		if (!table_key_of_key(t, key, s->arena, &act->key, e))
			return false;
	}
	return action_resolve(s, t, act, e);
}

static bool resolve_requests(struct op_state *s, const struct json *tables, struct error *e)
{
	struct write_action *act = s->write.actions;

	for (size_t i = 0; i < tables->count; i++) {
		const struct table *t = op_table(s, tables->members[i].name, e);

		if (!t)
			return false;
		for (size_t j = 0; j < tables->members[i].value.count; j++)
			if (!resolve_request(s, t, act++, e))
				return false;
	}
	return refuse_duplicates(s, e);
}

/* Drops requests by chance and records them as UnprocessedItems for written(). False when none is left: DynamoDB then
 * refuses the whole batch. */
static bool throttle(struct op_state *s, const struct json *tables, struct error *e)
{
	struct write_action *actions = s->write.actions;
	size_t at = 0, left = 0;
	struct buf *out = arena_new(s->arena, struct buf);

	buf_init(out, s->arena);
	for (size_t i = 0; i < tables->count; i++) {
		const struct json *list = &tables->members[i].value;
		bool any = false;

		for (size_t j = 0; j < list->count; j++, at++) {
			if (!fault_strikes(s->fault, FAULT_THROTTLE, actions[at].table->name, at)) {
				actions[left++] = actions[at];
				continue;
			}
			if (!any) {
				json_name_string(out, tables->members[i].name);
				json_open(out, '[');
			}
			any = true;
			json_comma(out);
			json_write(out, &list->items[j]);
		}
		if (any)
			json_close(out, ']');
	}
	if (!left)
		fault_set_throttled(s, actions[0].table, NULL, true, e);
	s->write.action_count = left;
	s->data = out;
	return left;
}

static bool written(struct op_state *s, struct error *e)
{
	const struct buf *unprocessed = s->data;
	struct tally tally;

	tally_init(&tally, s->arena);
	for (size_t i = 0; i < s->write.action_count; i++) {
		const struct write_action *act = &s->write.actions[i];

		if (act->error.code != ERR_NONE) {
			*e = act->error;
			return false;
		}
		tally_add(&tally, act->table, &act->capacity);
	}
	json_open(&s->out, '{');
	json_member_open(&s->out, "UnprocessedItems", '{');
	if (unprocessed)
		buf_put(&s->out, buf_slice(unprocessed));
	json_close(&s->out, '}');
	collections_reply(s, s->write.actions, s->write.action_count);
	tally_reply(&s->out, &tally, reply_capacity_wanted(s->in), false);
	json_close(&s->out, '}');
	return true;
}

bool op_batch_write_item(struct op_state *s, struct error *e)
{
	const struct json *tables = json_get(s->in, "RequestItems");

	if (!json_is(tables, JSON_OBJECT) || tables->count == 0)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "The requestItems parameter is required for BatchWriteItem");
	size_t n = count_requests(tables);

	if (n > BATCH_WRITES_MAX)
		return error_set(e, s->arena, ERR_VALIDATION, "Too many items requested for the BatchWriteItem call");
	s->write.mode = REQUEST_EACH;
	s->write.actions = arena_array(s->arena, struct write_action, n);
	s->write.action_count = n;
	if (!parse_requests(s, tables, e) || !resolve_requests(s, tables, e) || (s->fault && !throttle(s, tables, e)))
		return false;
	s->written = written;
	s->submit = true;
	return true;
}
