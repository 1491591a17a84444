/* Adding up capacity by table, for operations that touch several.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/tally.h"
#include "base/grow.h"

void tally_init(struct tally *t, struct arena *a)
{
	*t = (struct tally){ .arena = a };
}

static struct tally_entry *entry_of(struct tally *t, const struct table *table)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->entries[i].table->id == table->id)
			return &t->entries[i];
	GROW_IN(t->arena, t->entries, t->count, t->room, 4);
	t->entries[t->count] = (struct tally_entry){ .table = table };
	return &t->entries[t->count++];
}

void tally_add(struct tally *t, const struct table *table, const struct capacity *c)
{
	struct tally_entry *entry = entry_of(t, table);

	entry->capacity.read = c->read;
	capacity_add(&entry->capacity, c);
}

void tally_reply(struct buf *b, const struct tally *t, enum return_capacity how, bool rw_split)
{
	if (how == CAPACITY_NONE)
		return;
	json_member_open(b, "ConsumedCapacity", '[');
	for (size_t i = 0; i < t->count; i++)
		reply_capacity(b, t->entries[i].table, &t->entries[i].capacity, how, rw_split);
	json_close(b, ']');
}
