/* Checks of an item whose counters move: by a count of another item, or by an action that adds.
 *
 * A check must hold even if only a counter of the item moves. `stock >= 0` with stock moving by -3 becomes the
 * condition stock >= 3, which many writes may use at once; for other checks, all attributes they read must be
 * unchanged at commit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

struct held {
	struct plan *plan;
	struct plan_action *action;
	const struct entity *entity;
	const struct check_rule *check;
	struct row item; /* in full: as read; of PLAN_MAIN, as it becomes */
};

static bool fail_check(const struct held *h)
{
	struct run *r = h->plan->run;
	struct slice item;

	if (!h->action->named)
		return run_fail(r, PROBLEM_CONFLICT, "%.*s", SLICE_ARG(h->check->sentence));
	item = write_identity_text(r, entity_identity(r, &h->item), h->entity->param_count);
	return run_fail(r, PROBLEM_CONFLICT, "%.*s %.*s: %.*s", SLICE_ARG(h->entity->name), SLICE_ARG(item),
			SLICE_ARG(h->check->sentence));
}

/* The condition is on the item as it is stored: what the write itself sets is not there yet. */
static void still(struct held *h, const struct name_list *names)
{
	const struct row *was = h->action->role == PLAN_MAIN ? &h->action->of->old_row : &h->item;

	for (size_t i = 0; i < names->count; i++) {
		const struct name *n = names->list[i];

		if (!slots_attribute(h->entity->slots, n)->from_key && !n->of_table)
			fields_set(&h->action->equal, n->text, row_get(was, n));
	}
}

/* ---- a counter and its limit ---- */

struct limit {
	enum term_kind kind;
	const struct term *counter, *bound;
};

static bool moves(const struct held *h, const struct term *t)
{
	return t->kind == TERM_PATH && t->name_count == 1 && fields_has(&h->action->add, t->names[0]);
}

static bool reads_moved(const struct held *h, const struct term *t)
{
	struct name_list names = { 0 };

	names_of_term(h->plan->run->arena, &names, h->entity, t);
	for (size_t i = 0; i < names.count; i++)
		if (fields_has(&h->action->add, names.list[i]->text))
			return true;
	return false;
}

static bool as_limit(const struct held *h, struct limit *l)
{
	static const enum term_kind turned[] = {
		[TERM_LT] = TERM_GT,
		[TERM_LE] = TERM_GE,
		[TERM_GT] = TERM_LT,
		[TERM_GE] = TERM_LE,
	};
	const struct term *t = h->check->term;

	if (t->kind != TERM_LT && t->kind != TERM_LE && t->kind != TERM_GT && t->kind != TERM_GE)
		return false;
	*l = (struct limit){ t->kind, t->args[0], t->args[1] };
	if (!moves(h, l->counter))
		*l = (struct limit){ turned[t->kind], t->args[1], t->args[0] };
	return moves(h, l->counter) && !reads_moved(h, l->bound);
}

/* counter <= bound - n */
static const struct term *moved_limit(const struct held *h, const struct limit *l, struct value bound,
				      const struct number *n)
{
	struct arena *arena = h->plan->run->arena;
	struct term *t = arena_array(arena, struct term, 2);
	const struct term **args = arena_array(arena, const struct term *, 2);
	struct number least = value_number(bound);
	struct error e = { 0 };

	if (!number_sub(&least, n, &least, arena, &e)) {
		(void)run_error(h->plan->run, &e);
		return NULL;
	}
	t[0] = (struct term){ .kind = TERM_LITERAL, .value = value_make_n(arena, &least) };
	args[0] = l->counter;
	args[1] = &t[0];
	t[1] = (struct term){ .kind = l->kind, .args = args, .arg_count = 2 };
	return &t[1];
}

static bool hold_limit(struct held *h, const struct limit *l)
{
	struct scope s = { .run = h->plan->run, .item = &h->item };
	struct number n = value_number(fields_get(&h->action->add, l->counter->names[0])), zero = number_from_i64(0);
	bool lower = l->kind == TERM_GT || l->kind == TERM_GE, holds, cannot;
	int sign = number_cmp(&n, &zero);
	struct name_list names = { 0 };
	const struct term *t;
	struct value bound;

	if (lower ? sign >= 0 : sign <= 0) /* moves away from the limit */
		return true;
	if (!scope_value(&s, l->bound, &bound))
		return false;
	if (value_type(bound) != VALUE_N)
		return fail_check(h);
	t = moved_limit(h, l, bound, &n);
	if (!t || !scope_holds(&s, t, &holds))
		return false;
	if (!holds)
		return fail_check(h);
	names_of_term(h->plan->run->arena, &names, h->entity, l->bound);
	still(h, &names);
	return plan_filter(h->plan, h->action, t, &cannot);
}

/* ---- anything else ---- */

static bool hold_whole(struct held *h)
{
	struct run *r = h->plan->run;
	struct value before = row_item(&h->item);
	struct scope s = { .run = r };
	struct name_list names = { 0 };
	struct row after;
	bool holds;

	row_from(&after, r->arena, h->item.entity, before);
	for (size_t i = 0; i < h->action->add.count; i++) {
		struct number n = value_number(h->action->add.list[i].value);

		if (!row_move(r, &after, h->action->add.list[i].name, &n))
			return false;
	}
	if (!entity_complete(r, h->entity, &after, before))
		return false;
	s.item = &after;
	if (!scope_holds(&s, h->check->term, &holds))
		return false;
	if (!holds)
		return fail_check(h);
	names_of_term(r->arena, &names, h->entity, h->check->term);
	still(h, &names);
	return true;
}

/* ---- all checks ---- */

/* *there false: it is missing, which other code reports. */
static bool read_item(struct held *h, bool *there)
{
	struct run *r = h->plan->run;
	struct value full;

	*there = true;
	if (h->action->role == PLAN_MAIN) {
		row_copy(&h->item, r->arena, h->action->of->item);
		return true;
	}
	if (!entity_fetch_key(r, h->entity, h->action->key, true, &full))
		return false;
	*there = value_present(full);
	row_from(&h->item, r->arena, h->entity, full);
	return true;
}

static bool hold_checks(struct plan *p, struct plan_action *a)
{
	struct held h = { .plan = p, .action = a, .entity = a->role == PLAN_MAIN ? a->of->entity : a->entity };
	bool there = false;

	for (size_t i = 0; i < h.entity->check_count; i++) {
		struct limit l;

		h.check = &h.entity->checks[i];
		if (!reads_moved(&h, h.check->term))
			continue;
		if (!there && !read_item(&h, &there))
			return false;
		if (!there) { /* one that comes before the commit has to be read, and checked */
			a->must_not_exist = true;
			return true;
		}
		if (!(as_limit(&h, &l) ? hold_limit(&h, &l) : hold_whole(&h)))
			return false;
	}
	return true;
}

bool plan_held(struct plan *p)
{
	if (p->write->trusted && !p->item)
		return true; /* a cascade removes the item whatever the checks of its targets say */
	for (size_t i = 0; i < p->count; i++) {
		struct plan_action *a = &p->actions[i];

		if (a->kind == DYN_UPDATE && a->add.count && (a->role == PLAN_TARGET || a->role == PLAN_MAIN) &&
		    !hold_checks(p, a))
			return false;
	}
	return true;
}
