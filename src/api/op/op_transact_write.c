/* TransactWriteItems: up to 100 actions, all or none.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/sha.h>
#include <stdlib.h>
#include "api/op/cancellation.h"
#include "api/op/collections.h"
#include "api/execute.h"
#include "api/op/tally.h"

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

/* Appends the document with members in order of their names, so that equal requests give equal bytes. Their digests
 * are stored with tokens: different bytes after an upgrade would make a retry look like a different request. */
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

void op_set_token(struct op_state *s, const struct json *document)
{
	struct buf b;

	s->write.token = json_get_text(document, "ClientRequestToken");
	if (!s->write.token.n)
		return;
	buf_init(&b, s->arena);
	add_canonical(&b, json_get(document, "TransactItems"));
	SHA256((const unsigned char *)b.p, b.n, s->write.token_digest);
}

static bool parse_actions(struct op_state *s, const struct json *items, struct request_action *out, struct error *e)
{
	for (size_t i = 0; i < items->count; i++) {
		enum write_kind kind;
		const struct json *obj = the_action(&items->items[i], &kind);

		if (!obj)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "TransactItems can only contain one of Check, Put, Update or Delete");
		if (!action_parse(s, kind, obj, &out[i], e))
			return false;
	}
	return true;
}

static bool written(struct op_state *s, struct error *e)
{
	struct tally tally;

	if (actions_failed(s, e))
		return cancellation_set(e, s->arena, s->reasons, s->write.action_count);
	tally_init(&tally, s->arena);
	for (size_t i = 0; i < s->write.action_count; i++) {
		const struct write_action *act = &s->write.actions[i];
		struct capacity c = act->capacity; /* for a repeated request: the cost of reading */

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
	struct request_action *actions = arena_array(s->arena, struct request_action, items->count);
	struct request_write q = { .actions = actions, .count = items->count, .together = true };

	if (!parse_actions(s, items, actions, e) || !actions_prepare(s, &q, e))
		return false;
	op_set_token(s, s->in);
	s->written = written;
	s->submit = true;
	return true;
}
