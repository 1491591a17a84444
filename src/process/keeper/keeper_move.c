/* Gone, or elsewhere?
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/read/read.h"
#include "process/keeper/keeper_move.h"

/* ---- what can change ---- */

static bool is_settled(const struct entity *e, struct slice name)
{
	const struct attribute *a = entity_attribute(e, name);

	/* A derived attribute is settled when its sources are: they are in the list too. The time of creation and the creator
	 * never change. */
	return !a || a->fixed || a->now || a->the_caller || a->derived || a->after.n;
}

bool keeper_can_move(struct run *r, const struct entity *e)
{
	const struct key_schema *k = &r->design->key;
	struct name_list names = { 0 };

	/* A key may be an attribute as it is. */
	for (size_t i = 0; i < e->attribute_count; i++)
		if (is_key_attribute(k, e->attributes[i].name))
			names_add(r->arena, &names, e->attributes[i].name);
	for (size_t i = 0; i < e->key_count; i++) {
		if (!is_key_attribute(k, e->keys[i].attribute))
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

static bool is_id(const struct attribute *a)
{
	return a && a->fixed && (a->id || a->unique);
}

struct search {
	struct run *run;
	const struct entity *entity;
	struct value gone; /* full */
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

		if (is_id(a) && !value_equal(value_get(row->full, a->name), value_get(x->gone, a->name)))
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
		const struct attribute *of = entity_attribute(x->entity, a->params[i]);

		if (!of || !of->fixed)
			return false;
		by_id = by_id || is_id(of);
	}
	return by_id;
}

static bool has_id(const struct search *x)
{
	for (size_t i = 0; i < x->entity->attribute_count; i++) {
		const struct attribute *a = &x->entity->attributes[i];

		if (is_id(a) && value_present(value_get(x->gone, a->name)))
			return true;
	}
	return false;
}

/* By its address, when that leads on from what does not change. */
static bool search_identity(struct search *x, bool *asked)
{
	const struct entity *e = x->entity;
	const struct value *args = entity_identity(x->run, e, x->gone);
	struct value full;
	bool by_id = false;

	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (!e->found_by.n || !a || !a->fixed)
			return true;
		by_id = by_id || is_id(a);
	}
	if (!by_id)
		return true;
	*asked = true;
	if (!entity_fetch(x->run, e, args, e->param_count, true, &full))
		return false;
	x->found = value_present(full);
	return true;
}

/* *asked: there was a way to find it. */
static bool search(struct search *x, bool *asked)
{
	const struct design *d = x->run->design;
	struct row f;
	struct scope s = { .run = x->run, .item = &f };

	*asked = false;
	if (!has_id(x))
		return true;
	if (!search_identity(x, asked))
		return false;
	row_from(&f, x->run->arena, NULL, x->gone);
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
	struct search x = { .run = r, .entity = c->entity, .gone = entity_full(r, c->entity, c->old_image) };
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
