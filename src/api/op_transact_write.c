/* TransactWriteItems: up to 100 actions, all or none.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/sha.h>
#include <stdlib.h>
#include "api/cancellation.h"
#include "api/collections.h"
#include "api/tally.h"


struct action_name {
	const char *name;
	enum write_kind kind;
};

static const struct action_name action_names[] = {
	{ "ConditionCheck", WRITE_CHECK },
	{ "Put", WRITE_PUT },
	{ "Delete", WRITE_DELETE },
	{ "Update", WRITE_UPDATE },
};

/* The one member of a TransactItem that is set, or NULL. */
static const struct json *the_action(const struct json *item, enum write_kind *kind)
{
	const struct json *found = NULL;

	for (size_t i = 0; i < sizeof(action_names) / sizeof(action_names[0]); i++) {
		if (!op_has(item, action_names[i].name))
			continue;
		if (found)
			return NULL;
		found = json_get(item, action_names[i].name);
		*kind = action_names[i].kind;
	}
	return found;
}

static int by_name(const void *x, const void *y)
{
	return slice_cmp(((const struct json_member *)x)->name, ((const struct json_member *)y)->name);
}

/* Appends the document with members in order of their names, so that equal requests give equal bytes. Digests of them are stored with
 * tokens: other bytes would make a retry after an upgrade another request. */
static void add_canonical(struct buf *b, const struct json *j)
{
	if (j->type == JSON_ARRAY) {
		buf_lit(b, "[");
		for (size_t i = 0; i < j->count; i++)
			add_canonical(b, &j->items[i]);
		buf_lit(b, "]");
	} else if (j->type == JSON_OBJECT) {
		struct json_member *sorted = arena_array(b->arena, struct json_member, j->count);

		memcpy(sorted, j->members, j->count * sizeof(*sorted));
		qsort(sorted, j->count, sizeof(*sorted), by_name);
		buf_lit(b, "{");
		for (size_t i = 0; i < j->count; i++) {
			json_write(b, &(struct json){ .type = JSON_STRING, .string = sorted[i].name });
			add_canonical(b, &sorted[i].value);
		}
		buf_lit(b, "}");
	} else {
		json_write(b, j);
		buf_lit(b, ",");
	}
}

static void set_token(struct op_state *s)
{
	struct buf b;

	s->write.token = op_string(s->in, "ClientRequestToken");
	if (!s->write.token.n)
		return;
	buf_init(&b, s->arena);
	add_canonical(&b, json_get(s->in, "TransactItems"));
	SHA256((const unsigned char *)b.p, b.n, s->write.token_digest);
}

static bool parse_actions(struct op_state *s, const struct json *items, struct error *e)
{
	for (size_t i = 0; i < items->count; i++) {
		enum write_kind kind;
		const struct json *obj = the_action(&items->items[i], &kind);

		if (!obj)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "TransactItems can only contain one of Check, Put, Update or Delete");
		if (!action_parse(s, kind, obj, &s->write.actions[i], e))
			return false;
	}
	return true;
}

/* Errors of single actions are reasons for cancellation; a missing table is the request's. The
 * first faulty action is the only one told of: DynamoDB looks no further. */
static bool resolve_actions(struct op_state *s, const struct json *items, struct error *e)
{
	struct cancellation_reason *reasons =
		arena_array(s->arena, struct cancellation_reason, items->count);
	bool canceled = false;

	for (size_t i = 0; i < items->count; i++) {
		enum write_kind kind;
		const struct json *obj = the_action(&items->items[i], &kind);
		const struct table *t = op_table(s, op_string(obj, "TableName"), e);

		if (!t)
			return false;
		if (!canceled)
			canceled = !action_resolve(s, t, &s->write.actions[i], &reasons[i].error);
	}
	return !canceled || cancellation_set(e, s->arena, reasons, items->count);
}

static bool check_total_size(struct op_state *s, struct error *e)
{
	size_t bytes = 0;

	for (size_t i = 0; i < s->write.action_count; i++) {
		const struct write_action *act = &s->write.actions[i];

		bytes += item_size(act->kind == WRITE_PUT ? act->item : act->key_item);
		if (bytes > TRANSACTION_BYTES_MAX)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "Transaction payload size cannot exceed 4MB. Payload Size: %zu", bytes);
	}
	return true;
}

static bool canceled(struct op_state *s, struct error *e)
{
	size_t n = s->write.action_count;
	struct cancellation_reason *reasons = arena_array(s->arena, struct cancellation_reason, n);

	for (size_t i = 0; i < n; i++) {
		const struct write_action *act = &s->write.actions[i];

		reasons[i].error = act->error;
		if (act->return_old_on_failure)
			reasons[i].item = act->old_item;
	}
	return cancellation_set(e, s->arena, reasons, n);
}

static bool written(struct op_state *s, struct error *e)
{
	struct tally tally;

	if (s->write.error.code == ERR_TRANSACTION_CANCELED)
		return canceled(s, e);
	tally_init(&tally, s->arena);
	for (size_t i = 0; i < s->write.action_count; i++) {
		const struct write_action *act = &s->write.actions[i];
		struct capacity c = act->capacity; /* of a repetition: what reading it costs */

		capacity_scale(&c, 2);
		tally_add(&tally, act->table, &c);
	}
	json_open(&s->out, '{');
	collections_reply(s, s->write.actions, s->write.action_count);
	tally_reply(&s->out, &tally, reply_capacity_wanted(s->in), true);
	json_close(&s->out, '}');
	return true;
}

bool op_transact_write_items(struct op_state *s, struct error *e)
{
	const struct json *items = json_get(s->in, "TransactItems");

	s->write.mode = REQUEST_ALL;
	s->write.actions = arena_array(s->arena, struct write_action, items->count);
	s->write.action_count = items->count;
	if (!parse_actions(s, items, e) || !resolve_actions(s, items, e) ||
	    !check_total_size(s, e))
		return false;
	set_token(s);
	s->written = written;
	s->submit = true;
	return true;
}
