/* The conditions on other items that were read (P4 of write_plan.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/write/write_plan.h"

struct holding {
	struct plan *plan;
	struct plan_action *action;
	const struct witness *witness;
};

/* Whether the value can change while the key stays. */
static bool is_stored(const struct holding *h, const struct name *n)
{
	const struct entity *e = h->witness->entity;
	const struct attribute *a = e ? slots_attribute(e->slots, n) : NULL;

	return !(a && a->from_key) && !n->of_table;
}

static void hold_value(struct holding *h, const struct name *n, struct value v)
{
	struct fields *equal = &h->action->equal;

	if (!is_stored(h, n))
		return;
	if (fields_has(equal, n->text) && !value_equal(fields_get(equal, n->text), v))
		h->plan->outdated = true;
	fields_set(equal, n->text, v);
}

/* Parts of the identity that are not in the key: another item may replace this one at its key. */
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

		if (value_present(v) && !names_have(&names, e->param_at[i]))
			hold_value(h, e->param_at[i], v);
	}
}

/* What makes an item with such a key one of the entity: conditions of the key; with `constants` also attributes that
 * are the same in all its items (entityType: POST). */
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
			names_add(r->arena, &names, k->at);
	}
	for (size_t i = 0; i < names.count; i++)
		hold_value(h, names.list[i], value_get(h->witness->stored, names.list[i]->text));
}

static void hold_there(struct holding *h)
{
	const struct witness *w = h->witness;
	struct plan_action *a = h->action;

	a->must_exist = true;
	for (size_t i = 0; i < w->seen.other_count; i++)
		hold_value(h, w->seen.others[i].at, w->seen.others[i].value);
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

/* The conditions for new items (must not exist) and moved ones (unchanged as a whole) include it already. */
static bool is_held(const struct plan_action *a)
{
	return a && (a->role == PLAN_OLD || (a->role == PLAN_MAIN && a->kind == DYN_PUT));
}

static void hold(struct plan *p, const struct witness *w)
{
	struct holding h = { .plan = p, .action = plan_find(p, w->key), .witness = w };

	if (is_held(h.action)) {
		/* It existed when it was read, but must not exist for this write: refused, whatever its state now. */
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
	if (!p->count) /* no writes */
		return;
	for (const struct witness *w = p->write->witnesses.first; w; w = w->next) {
		p->outdated = p->outdated || w->torn;
		hold(p, w);
	}
}
