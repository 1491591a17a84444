/* Whether an item that left its key was deleted or moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/read/read.h"
#include "process/keeper/keeper_move.h"

/* ---- what can change ---- */

static bool is_settled(const struct entity *e, const struct name *n)
{
	const struct attribute *a = slots_attribute(e->slots, n);

	/* A derived attribute is settled when its sources are: they are in the list too. The time of creation and the
	 * creator never change. */
	return !a || a->fixed || a->now || a->the_caller || a->derived || a->after.n;
}

bool keeper_can_move(struct run *r, const struct entity *e)
{
	struct name_list names = { 0 };

	/* A key may be an attribute as it is. */
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].at->of_table)
			names_add(r->arena, &names, e->attributes[i].at);
	for (size_t i = 0; i < e->key_count; i++) {
		if (!e->keys[i].at->of_table)
			continue;
		names_of_template(r->arena, &names, e, e->keys[i].template);
		names_of_term(r->arena, &names, e, e->keys[i].when);
	}
	for (size_t i = 0; i < names.count; i++)
		if (!is_settled(e, names.list[i]))
			return true;
	return false;
}

/* ---- finding it ---- */

struct search {
	struct run *run;
	const struct entity *entity;
	struct row gone; /* full */
	bool found;
};

static bool visit(void *ctx, const struct row *row, bool *stop)
{
	struct search *x = ctx;
	const struct entity *e = x->entity;

	if (row->entity != e)
		return true;
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (attribute_is_id(a) && !value_equal(row_get(row, a->at), row_get(&x->gone, a->at)))
			return true;
	}
	*stop = x->found = true;
	return true;
}

/* Whether the pattern leads to an item of the entity by an id that stays. */
static bool leads_there(struct search *x, const struct access *a)
{
	bool by_id = false;

	if ((a->kind != ACCESS_QUERY && a->kind != ACCESS_GET) || a->count_only || a->unite.n || !a->param_count ||
	    read_entity(x->run->design, a) != x->entity)
		return false;
	for (size_t i = 0; i < a->param_count; i++) {
		const struct attribute *of = slots_attribute(x->entity->slots, a->param_at[i]);

		if (!of || !of->fixed)
			return false;
		by_id = by_id || attribute_is_id(of);
	}
	return by_id;
}

static bool has_id(const struct search *x)
{
	for (size_t i = 0; i < x->entity->attribute_count; i++) {
		const struct attribute *a = &x->entity->attributes[i];

		if (attribute_is_id(a) && value_present(row_get(&x->gone, a->at)))
			return true;
	}
	return false;
}

/* By its address, if `found by` finds it from attributes that never change. */
static bool search_identity(struct search *x, bool *asked)
{
	const struct entity *e = x->entity;
	const struct value *args = entity_identity(x->run, &x->gone);
	struct row found;
	bool by_id = false;

	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);

		if (!e->found_by.n || !a || !a->fixed)
			return true;
		by_id = by_id || attribute_is_id(a);
	}
	if (!by_id)
		return true;
	*asked = true;
	if (!entity_fetch(x->run, e, args, e->param_count, true, &found))
		return false;
	x->found = found.entity != NULL;
	return true;
}

/* *asked: there was a way to find it. */
static bool search(struct search *x, bool *asked)
{
	const struct design *d = x->run->design;
	struct scope s = { .run = x->run, .item = &x->gone };

	*asked = false;
	if (!has_id(x))
		return true;
	if (!search_identity(x, asked))
		return false;
	for (size_t i = 0; i < d->access_count && !x->found; i++) {
		if (!leads_there(x, &d->accesses[i]))
			continue;
		*asked = true;
		if (!read_each(&d->accesses[i], &s, NULL, 0, visit, x))
			return false;
	}
	return true;
}

bool keeper_fate(struct run *r, const struct change *c, enum keeper_fate *out)
{
	struct search x = { .run = r, .entity = c->entity, .gone = entity_lay(r, c->entity, c->old_image) };
	struct value now;
	bool asked;

	if (!dyn_get(r, c->key, true, &now))
		return false;
	*out = value_present(now) && !entity_expired(r, now) ? KEEPER_BACK : KEEPER_GONE;
	if (*out == KEEPER_BACK || c->by_ttl || !keeper_can_move(r, c->entity))
		return true;
	if (!search(&x, &asked))
		return false;
	*out = x.found ? KEEPER_MOVED : asked ? KEEPER_GONE : KEEPER_UNKNOWN;
	return true;
}
