/* Backfills of indexes and TTL entries: the writer's part, one chunk of items at a time.
 *
 * From the start of a backfill, writes keep the index (or the TTL entries) up to date, so a chunk only has to add
 * missing entries, from the current items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/control/control_internal.h"
#include "table/layout.h"

static const struct index *index_by_id(const struct table *t, uint32_t id)
{
	size_t i;

	for (i = 0; i < t->index_count; i++)
		if (t->indexes[i].id == id)
			return &t->indexes[i];
	return NULL;
}

/* The index being backfilled; NULL: it (or its table) was dropped, or it is complete. */
static const struct index *creating_index(struct stage *s, const struct control *c, const struct table **t)
{
	const struct index *i;

	*t = catalog_table_by_id(stage_catalog(s), c->table_id);
	i = *t ? index_by_id(*t, c->index_id) : NULL;
	return i && i->status == STATUS_CREATING ? i : NULL;
}

bool control_backfill_chunk(struct stage *s, struct control *c, struct error *e)
{
	const struct table *t;
	const struct index *i = creating_index(s, c, &t);
	struct value item;
	bool made;
	size_t n;

	for (n = 0; i && n < c->key_count; n++) {
		if (!stage_get_item(s, t->id, c->keys[n], &item, e))
			return false;
		if (!value_present(item))
			continue;
		if (!index_enter(s, i, &(struct item_change){ t, c->keys[n], VALUE_ABSENT, item }, &made, e))
			return false;
		c->worked += made;
	}
	return true;
}

bool control_backfill_done(struct stage *s, struct control *c)
{
	const struct table *was;
	const struct index *i = creating_index(s, c, &was);
	struct index *x;
	struct table t;

	if (!i)
		return true;
	t = *was;
	x = arena_array(s->arena, struct index, t.index_count);
	memcpy(x, t.indexes, t.index_count * sizeof(*x));
	x[i - was->indexes].status = STATUS_ACTIVE;
	x[i - was->indexes].backfilling = false;
	t.indexes = x;
	c->result = stage_put_table(s, &t);
	return true;
}

bool control_ttl_chunk(struct stage *s, struct control *c, struct error *e)
{
	const struct table *t = catalog_table_by_id(stage_catalog(s), c->table_id);
	struct value item;
	int64_t expiry;
	size_t n;

	for (n = 0; t && t->ttl_backfilling && n < c->key_count; n++) {
		if (!stage_get_item(s, t->id, c->keys[n], &item, e))
			return false;
		if (!layout_ttl_of_item(t, item, &expiry))
			continue;
		stage_put(s, STORE_TTL, layout_ttl_key(s->arena, t->id, expiry, c->keys[n]), SLICE(""));
		c->worked++;
	}
	return true;
}

bool control_ttl_done(struct stage *s, struct control *c)
{
	const struct table *was = catalog_table_by_id(stage_catalog(s), c->table_id);
	struct table t;

	if (!was || !was->ttl_backfilling || was->ttl_epoch != c->ttl_epoch)
		return true;
	t = *was;
	t.ttl_backfilling = false;
	c->result = stage_put_table(s, &t);
	return true;
}
