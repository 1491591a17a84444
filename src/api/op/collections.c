/* ItemCollectionMetrics of operations that touch several tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/collections.h"
#include "api/reply.h"

static bool shown(const struct write_action *act)
{
	return act->kind != WRITE_CHECK && act->error.code == ERR_NONE && act->table->has_local_indexes;
}

static bool same_collection(const struct write_action *x, const struct write_action *y)
{
	return x->table->id == y->table->id && slice_equal(x->key.pk, y->key.pk);
}

/* The last action on a collection knows its final size. */
static bool is_last_of_collection(const struct write_action *actions, size_t n, size_t i)
{
	for (size_t j = i + 1; j < n; j++)
		if (shown(&actions[j]) && same_collection(&actions[i], &actions[j]))
			return false;
	return true;
}

static bool is_first_of_table(const struct write_action *actions, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (shown(&actions[j]) && actions[j].table->id == actions[i].table->id)
			return false;
	return true;
}

static void reply_collections_of(struct op_state *s, const struct write_action *actions, size_t n, const struct table *t)
{
	json_name_string(&s->out, t->name);
	json_open(&s->out, '[');
	for (size_t i = 0; i < n; i++) {
		if (shown(&actions[i]) && actions[i].table->id == t->id && is_last_of_collection(actions, n, i))
			reply_collection(&s->out, t, action_key_item(&actions[i], s->arena),
					 actions[i].collection_bytes, s->arena);
	}
	json_close(&s->out, ']');
}

void collections_reply(struct op_state *s, const struct write_action *actions, size_t n)
{
	bool any = false;

	if (!slice_is(json_get_text(s->in, "ReturnItemCollectionMetrics"), "SIZE"))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!shown(&actions[i]) || !is_first_of_table(actions, i))
			continue;
		if (!any)
			json_member_open(&s->out, "ItemCollectionMetrics", '{');
		any = true;
		reply_collections_of(s, actions, n, actions[i].table);
	}
	if (any)
		json_close(&s->out, '}');
}
