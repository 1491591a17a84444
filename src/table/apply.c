/* One action on one item: condition, new item, and everything that follows from the change.
 *
 * Computes and checks everything before it stages anything: a failed action has staged nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/apply.h"
#include "table/layout.h"

/* An item's change, computed but not yet staged. */
struct change {
	const struct table *table;
	struct item_key key;
	struct value old, new;
	size_t old_size, new_size; /* item_size(); 0: absent */
	struct index_plan indexes;
	int64_t collection_bytes; /* after it; tables with LSIs */
	bool collection_changes;
	bool by_ttl;
};

static size_t size_of(struct value item)
{
	return value_present(item) ? item_size(item) : 0;
}

static bool same(struct value x, struct value y)
{
	if (!value_present(x) || !value_present(y))
		return value_present(x) == value_present(y);
	return value_equal(x, y);
}

/* ---- computing the change ---- */
/* The table's current definition, also stored in the action (write.h). */
static const struct table *current_table(struct stage *s, struct write_action *a)
{
	const struct catalog *c = stage_catalog(s);
	const struct table *t = catalog_table_by_id(c, a->table->id);

	if (!t) {
		error_set(&a->error, s->arena, ERR_NOT_FOUND, "Requested resource not found");
		return NULL;
	}
	if (t != a->table) {
		catalog_hold(c, t, s->arena);
		a->table = t;
	}
	return t;
}

static bool check_condition(struct stage *s, struct write_action *a, struct value old)
{
	if (!a->condition || condition_holds(a->condition, old, s->arena))
		return true;
	if (a->return_old_on_failure)
		a->old_item = old;
	a->capacity.table_units = capacity_write_units(size_of(old));
	return error_set(&a->error, s->arena, ERR_CONDITION_FAILED, "The conditional request failed");
}

static bool put_item(struct stage *s, struct write_action *a, bool table_changed, struct value *new)
{
	*new = a->item;
	/* The caller's check used an earlier definition. */
	return !table_changed || table_check_index_keys(a->table, a->item, s->arena, &a->error);
}

static bool update_item(struct stage *s, struct write_action *a, struct value old, struct value *new)
{
	*new = value_present(old) ? old : a->key_item;
	/* An update that only removes does not create a missing item, and its paths cannot be invalid. */
	if (!value_present(old) && a->update && update_only_takes(a->update)) {
		*new = VALUE_ABSENT;
		return true;
	}
	if (a->update && !update_apply(a->update, *new, s->arena, new, &a->error))
		return false;
	return table_check_item_size(*new, true, s->arena, &a->error) &&
	       table_check_updated_index_keys(a->table, old, *new, s->arena, &a->error);
}

static bool new_item(struct stage *s, struct write_action *a, bool table_changed, struct value old, struct value *new)
{
	switch (a->kind) {
	case WRITE_PUT: return put_item(s, a, table_changed, new);
	case WRITE_UPDATE: return update_item(s, a, old, new);
	case WRITE_DELETE: *new = VALUE_ABSENT; return true;
	case WRITE_CHECK: break;
	}
	*new = old;
	return true;
}

static bool plan_collection(struct stage *s, struct change *c, struct error *e)
{
	int64_t more = (int64_t)c->new_size - (int64_t)c->old_size + c->indexes.local_bytes;
	uint64_t bytes = 0;
	struct slice record;
	bool found;

	if (!c->table->has_local_indexes)
		return true;
	if (!stage_get(s, STORE_STATS, layout_collection_key(s->arena, c->table->id, c->key.pk), &record, &found, e))
		return false;
	if (found && !layout_read_u64_record(record, &bytes))
		return error_set(e, s->arena, ERR_INTERNAL, "The size of an item collection is damaged");
	c->collection_bytes = (int64_t)bytes + more;
	c->collection_changes = more != 0;
	if (more > 0 && c->collection_bytes > COLLECTION_BYTES_MAX)
		return error_set(e, s->arena, ERR_COLLECTION_SIZE, "Collection size exceeded.");
	return true;
}

static double table_units(const struct change *c)
{
	return capacity_write_units(c->old_size > c->new_size ? c->old_size : c->new_size);
}

/* ---- staging ---- */
static void stage_item(struct stage *s, const struct change *c)
{
	const struct table *t = c->table;
	struct slice key = layout_item_key(s->arena, t->id, c->key);
	int64_t items = (int64_t)value_present(c->new) - (int64_t)value_present(c->old);

	if (value_present(c->new))
		stage_put(s, STORE_ITEMS, key, value_slice(c->new));
	else
		stage_delete(s, STORE_ITEMS, key);
	stage_count(s, t->id, t->stats, items, (int64_t)c->new_size - (int64_t)c->old_size);
}

static void stage_collection(struct stage *s, const struct change *c)
{
	struct slice key;

	if (!c->table->has_local_indexes || !c->collection_changes)
		return;
	key = layout_collection_key(s->arena, c->table->id, c->key.pk);
	if (c->collection_bytes > 0)
		stage_put(s, STORE_STATS, key, layout_u64_record(s->arena, (uint64_t)c->collection_bytes));
	else
		stage_delete(s, STORE_STATS, key);
}

static void stage_ttl(struct stage *s, const struct change *c)
{
	int64_t old = 0, new = 0;
	bool had = layout_ttl_of_item(c->table, c->old, &old);
	bool has = layout_ttl_of_item(c->table, c->new, &new);

	if (had && (!has || old != new))
		stage_delete(s, STORE_TTL, layout_ttl_key(s->arena, c->table->id, old, c->key));
	if (has && (!had || old != new || c->table->ttl_backfilling))
		stage_put(s, STORE_TTL, layout_ttl_key(s->arena, c->table->id, new, c->key), SLICE(""));
}

static enum stream_event event_of(const struct change *c)
{
	if (!value_present(c->old))
		return EVENT_INSERT;
	return value_present(c->new) ? EVENT_MODIFY : EVENT_REMOVE;
}

static void stage_record(struct stage *s, const struct change *c)
{
	const struct stream *st = c->table->stream;
	struct stream_record r = { .event = event_of(c), .by_ttl = c->by_ttl, .created_ms = s->batch->now_ms };
	struct value known = value_present(c->new) ? c->new : c->old;

	if (!st)
		return;
	r.keys = table_key_item(c->table, NULL, known, s->arena);
	r.size_bytes = item_size(r.keys);
	if (st->view == STREAM_OLD_IMAGE || st->view == STREAM_NEW_AND_OLD) {
		r.old_image = c->old;
		r.size_bytes += c->old_size;
	}
	if (st->view == STREAM_NEW_IMAGE || st->view == STREAM_NEW_AND_OLD) {
		r.new_image = c->new;
		r.size_bytes += c->new_size;
	}
	stage_put(s, STORE_STREAM,
		  layout_stream_key(s->arena, st->id, stream_shard_of(st, c->key.pk), stage_next_sequence(s)),
		  layout_stream_record(s->arena, &r));
}

static void stage_change(struct stage *s, const struct change *c)
{
	stage_item(s, c);
	index_stage(s, c->table, &c->indexes);
	stage_collection(s, c);
	stage_ttl(s, c);
	stage_record(s, c);
}

/* ---- the action ---- */
/* Whether the item as it is now has still expired. */
static bool has_expired(const struct write_action *a, struct value old)
{
	int64_t expiry;

	return layout_ttl_of_item(a->table, old, &expiry) && expiry <= a->ttl_deadline;
}

static bool plan_change(struct stage *s, struct write_action *a, struct change *c)
{
	c->new_size = same(c->old, c->new) ? c->old_size : size_of(c->new);
	a->capacity.table_units = table_units(c);
	if (!same(c->old, c->new) && !index_plan(s, &(struct item_change){ c->table, c->key, c->old, c->new },
						 &c->indexes, &a->capacity, &a->error))
		return false;
	return plan_collection(s, c, &a->error);
}

static void clear_outcome(struct write_action *a)
{
	a->error = (struct error){ 0 };
	a->old_item = a->new_item = VALUE_ABSENT;
	a->capacity = (struct capacity){ 0 };
	a->collection_bytes = 0;
}

bool apply_action(struct stage *s, struct write_action *a)
{
	const struct table *known = a->table;
	struct change *c = arena_new(s->arena, struct change);

	clear_outcome(a);
	c->table = current_table(s, a);
	c->key = a->key;
	c->by_ttl = a->by_ttl;
	if (!c->table || !stage_get_item(s, c->table->id, a->key, &c->old, &a->error))
		return false;
	c->old_size = size_of(c->old);
	if (a->condition || a->update) /* otherwise it is not read */
		s->item_bytes += c->old_size;
	if (a->by_ttl && !has_expired(a, c->old))
		return true;
	if (!check_condition(s, a, c->old) || !new_item(s, a, c->table != known, c->old, &c->new) ||
	    !plan_change(s, a, c))
		return false;
	a->old_item = c->old;
	a->new_item = c->new;
	a->collection_bytes = c->collection_bytes;
	if (!same(c->old, c->new))
		stage_change(s, c);
	if (a->by_ttl)
		s->ttl_deleted++;
	return true;
}

bool apply_replay(struct stage *s, struct write_action *a)
{
	const struct table *t;
	struct value item;

	clear_outcome(a);
	t = current_table(s, a);
	if (!t || !stage_get_item(s, t->id, a->key, &item, &a->error))
		return false;
	a->capacity.read = true;
	a->capacity.table_units = capacity_read_units(size_of(item), true);
	return true;
}
