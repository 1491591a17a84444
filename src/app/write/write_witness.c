/* The conditions on other items that were looked at (P4 of write_plan.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/write/write_plan.h"

struct holding {
	struct plan *plan;
	struct plan_action *action;
	const struct witness *witness;
};

/* Whether the value can change while the key stays. */
static bool is_stored(const struct holding *h, struct slice name)
{
	const struct attribute *a = h->witness->entity ? entity_attribute(h->witness->entity, name) : NULL;

	return !(a && a->from_key) && !value_present(value_get(h->witness->key, name));
}

static void hold_value(struct holding *h, struct slice name, struct value v)
{
	struct fields *equal = &h->action->equal;

	if (!is_stored(h, name))
		return;
	if (fields_has(equal, name) && !value_equal(fields_get(equal, name), v))
		h->plan->outdated = true;
	fields_set(equal, name, v);
}

/* Parts of the identity that the key does not tell: the item may be replaced by another one at its key. */
static void hold_identity(struct holding *h)
{
	const struct entity *e = h->witness->entity;
	struct run *r = h->plan->run;
	struct name_list names = { 0 };

	if (e && e->slots->told)
		return;
	for (size_t i = 0; e && i < e->key_count; i++)
		if (e->keys[i].at->of_table)
			names_of_template(r->arena, &names, e, e->keys[i].template);
	for (size_t i = 0; e && i < e->param_count; i++) {
		struct value v = value_get(h->witness->stored, e->params[i]);

		if (value_present(v) && !names_have(&names, e->params[i]))
			hold_value(h, e->params[i], v);
	}
}

/* What makes an item at such a key one of the entity, or not: conditions of the key; with `constants` also what is the same in
 * all of its items (entityType: POST). */
static void hold_kind(struct holding *h, bool constants)
{
	const struct entity *e = h->witness->entity;
	struct run *r = h->plan->run;
	struct name_list names = { 0 };

	if (e && e->slots->located && !constants) /* its key has no conditions */
		return;
	for (size_t i = 0; e && i < e->key_count; i++) {
		const struct key_rule *k = &e->keys[i];

		if (k->at->of_table)
			names_of_term(r->arena, &names, e, k->when);
		else if (constants && !k->when && template_is_constant(k->template))
			names_add(r->arena, &names, k->attribute);
	}
	for (size_t i = 0; i < names.count; i++)
		hold_value(h, names.list[i], value_get(h->witness->stored, names.list[i]));
}

static void hold_there(struct holding *h)
{
	const struct witness *w = h->witness;
	struct plan_action *a = h->action;

	a->must_exist = true;
	for (size_t i = 0; i < w->seen.count; i++)
		hold_value(h, w->seen.list[i].name, w->seen.list[i].value);
	hold_kind(h, false);
	hold_identity(h);
	if (a->role == PLAN_WITNESS && a->entity)
		plan_ask_alive(h->plan, a);
}

static void hold_absent(struct holding *h)
{
	const struct witness *w = h->witness;
	struct run *r = h->plan->run;

	if (value_present(w->stored) && !entity_expired(r, w->stored)) {
		hold_kind(h, true);
		hold_identity(h);
		return;
	}
	h->action->must_not_exist = true;
	if (value_present(w->stored))
		h->action->or_expired = r->design->ttl;
}

/* A new item must not be there anyway, and an old one that moves must be all that it was. */
static bool is_held(const struct plan_action *a)
{
	return a && (a->role == PLAN_OLD || (a->role == PLAN_MAIN && a->kind == DYN_PUT));
}

static void hold(struct plan *p, const struct witness *w)
{
	struct holding h = { .plan = p, .action = plan_find(p, w->key), .witness = w };

	if (is_held(h.action)) {
		/* It was there when it was looked at, and must not be for this to be written: refused, whatever is there now. */
		h.action->must_exist = h.action->must_exist || w->there;
		return;
	}
	if (!h.action) {
		h.action = plan_add(p, PLAN_WITNESS, DYN_CHECK, w->key);
		h.action->entity = w->entity;
	}
	h.action->witnessed = true;
	if (w->there)
		hold_there(&h);
	else
		hold_absent(&h);
}

void plan_witnesses(struct plan *p)
{
	if (!p->count) /* nothing is written */
		return;
	for (const struct witness *w = p->write->witnesses.first; w; w = w->next) {
		p->outdated = p->outdated || w->torn;
		hold(p, w);
	}
}
