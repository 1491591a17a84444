/* Whether the caller may see the item it writes, decided before the commit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

/* ---- other items after the write ---- */

static bool added(struct run *r, struct value item, const struct value_member *add, struct value *out)
{
	struct number n = value_number(add->value);
	struct value sum;

	if (!value_move(r, value_get(item, add->name), &n, &sum))
		return false;
	*out = value_map_with(r->arena, item, add->name, sum);
	return true;
}

/* *item: in: as stored; out: after the action. */
static bool act_on(struct run *r, const struct plan_action *a, struct value *item)
{
	if (a->kind == DYN_PUT)
		*item = a->item;
	if (a->kind == DYN_DELETE)
		*item = VALUE_ABSENT;
	if (a->kind != DYN_UPDATE || !value_present(*item))
		return true;
	for (size_t i = 0; i < a->set.count; i++)
		*item = value_map_with(r->arena, *item, a->set.list[i].name, a->set.list[i].value);
	for (size_t i = 0; i < a->add.count; i++)
		if (!added(r, *item, &a->add.list[i], item))
			return false;
	return true;
}

/* *any: the memo has new items of the plan. */
static bool foresee(struct plan *p, bool *any)
{
	*any = false;
	for (size_t i = 0; i < p->count; i++) {
		struct plan_action *a = &p->actions[i];
		struct value stored = VALUE_ABSENT;

		if (a->foreseen || a->left_out || a->table.n || a->kind == DYN_CHECK ||
		    (!entity_seen(p->run, a->key, &stored) && a->kind == DYN_UPDATE))
			continue;
		if (!act_on(p->run, a, &stored))
			return false;
		entity_foresee(p->run, a->key, stored);
		a->foreseen = *any = true;
	}
	return true;
}

/* ---- the item itself ---- */

static bool item_to_be(struct plan *p, struct row *out)
{
	const struct plan_action *a = plan_main(p);
	struct run *r = p->run;

	if (a && a->kind == DYN_PUT) {
		*out = row_lay(r->arena, p->entity, entity_full(r, p->entity, a->item));
		return true;
	}
	row_copy(out, r->arena, p->item);
	for (size_t i = 0; a && i < a->add.count; i++) {
		struct number n = value_number(a->add.list[i].value);

		if (!row_move(r, out, a->add.list[i].name, &n))
			return false;
	}
	return true;
}

/* If the rule reads an item for the first time that the write changes, evaluates it again with the changed item. */
static bool ask_read_rule(struct plan *p, bool *readable)
{
	struct row item;
	bool again;

	if (!item_to_be(p, &item) || !foresee(p, &again))
		return false;
	do {
		if (!entity_allows_item(p->run, ALLOW_READ, &item, readable) || !foresee(p, &again))
			return false;
	} while (again);
	return true;
}

enum write_shown plan_shown(struct plan *p)
{
	struct run *r = p->run;
	struct witnesses *notes = r->witnesses;
	bool readable, ok;

	if (!p->write->options->shown || !p->item)
		return SHOWN_UNKNOWN;
	if (r->caller.operator_)
		return SHOWN_YES;
	r->witnesses = NULL;
	ok = ask_read_rule(p, &readable);
	r->witnesses = notes;
	r->memo = NULL;
	for (size_t i = 0; i < p->count; i++)
		p->actions[i].foreseen = false;
	if (!ok)
		r->problem = (struct problem){ 0 }; /* checked after the commit instead */
	return !ok ? SHOWN_UNKNOWN : readable ? SHOWN_YES : SHOWN_NO;
}
