/* Index entries: the effect of an item's change on each index of its table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/apply.h"
#include "table/layout.h"

/* An index being backfilled may not have the entry yet; an active one has it (T4). */
static bool has_entry(struct stage *s, const struct index *i, struct slice key, bool *has, struct error *e)
{
	struct slice ignored;

	*has = true;
	if (i->status != STATUS_CREATING)
		return true;
	return stage_get(s, STORE_INDEX, key, &ignored, has, e);
}

/* The old and the new entry; either may be absent. */
struct entries {
	bool had, has;
	struct slice old_key, new_key;
	struct value old, new;
	size_t old_size, new_size;
};

static struct entries entries_of(struct stage *s, const struct index *i, const struct item_change *c)
{
	struct entries x = {
		.had = value_present(c->old) && index_holds(i, c->old),
		.has = value_present(c->new) && index_holds(i, c->new),
	};

	if (x.had) {
		x.old_key = layout_index_key(s->arena, i, c->old, c->key);
		x.old = index_projected(c->table, i, c->old, s->arena);
		x.old_size = item_size(x.old);
	}
	if (x.has) {
		x.new_key = layout_index_key(s->arena, i, c->new, c->key);
		x.new = index_projected(c->table, i, c->new, s->arena);
		x.new_size = item_size(x.new);
	}
	return x;
}

/* DynamoDB counts the larger of the two for an entry rewritten in place, both if it moves. */
static double units_of(const struct entries *x)
{
	double old = x->had ? capacity_write_units(x->old_size) : 0;
	double new = x->has ? capacity_write_units(x->new_size) : 0;

	if (x->had && x->has && slice_equal(x->old_key, x->new_key)) {
		if (value_equal(x->old, x->new))
			return 0;
		return old > new ? old : new;
	}
	return old + new;
}

static bool plan_one(struct stage *s, const struct index *i, const struct entries *x, struct index_change *c,
		     struct error *e)
{
	bool same_key = x->had && x->has && slice_equal(x->old_key, x->new_key);
	bool stored = false;

	*c = (struct index_change){ 0 };
	if (x->had && !has_entry(s, i, x->old_key, &stored, e))
		return false;
	if (stored && same_key && value_equal(x->old, x->new))
		return true;
	if (stored) {
		c->remove = !same_key;
		c->old_key = x->old_key;
		c->items--;
		c->bytes -= (int64_t)x->old_size;
	}
	if (x->has) {
		c->put = true;
		c->new_key = x->new_key;
		c->new_entry = x->new;
		c->items++;
		c->bytes += (int64_t)x->new_size;
	}
	return true;
}

bool index_plan(struct stage *s, const struct item_change *c, struct index_plan *plan, struct capacity *capacity,
		struct error *e)
{
	const struct table *t = c->table;
	size_t n;

	plan->local_bytes = 0;
	for (n = 0; n < t->index_count; n++) {
		const struct index *i = &t->indexes[n];
		struct entries x = entries_of(s, i, c);

		if (!plan_one(s, i, &x, &plan->changes[n], e))
			return false;
		capacity->index_units[n] += units_of(&x);
		if (!i->global)
			plan->local_bytes += plan->changes[n].bytes;
	}
	return true;
}

static void stage_change(struct stage *s, const struct index *i, const struct index_change *c)
{
	if (c->remove)
		stage_delete(s, STORE_INDEX, c->old_key);
	if (c->put)
		stage_put(s, STORE_INDEX, c->new_key, value_slice(c->new_entry));
	stage_count(s, i->id, i->stats, c->items, c->bytes);
}

void index_stage(struct stage *s, const struct table *t, const struct index_plan *plan)
{
	size_t n;

	for (n = 0; n < t->index_count; n++)
		stage_change(s, &t->indexes[n], &plan->changes[n]);
}

bool index_enter(struct stage *s, const struct index *i, const struct item_change *in, bool *made, struct error *e)
{
	struct entries x = entries_of(s, i, &(struct item_change){ in->table, in->key, VALUE_ABSENT, in->new });
	struct index_change c;
	bool there = false;

	*made = false;
	if (!x.has)
		return true;
	if (!has_entry(s, i, x.new_key, &there, e))
		return false;
	if (there)
		return true;
	*made = true;
	if (!plan_one(s, i, &x, &c, e))
		return false;
	stage_change(s, i, &c);
	return true;
}
