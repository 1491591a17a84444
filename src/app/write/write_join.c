/* Joins the plan of a part into the plan of its transaction (P5 and P1 of write_plan.h): DynamoDB takes one action an
 * item, and several rules may be about the same one.
 *
 * An action decides its item (it puts, changes or deletes it) or is a target: a counter that moves, a condition. A
 * target joins what decides the item: its counters move in the new item, and what it asks is asked of the item as it
 * becomes, or, if the target came first, of the item as it was. Two actions that decide one item join only if they are
 * about a companion that one item gives up and another takes over.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

static bool decides(const struct plan_action *a)
{
	return a->role != PLAN_TARGET && a->role != PLAN_WITNESS;
}

static struct plan_action *find(struct plan *p, const struct plan_action *b)
{
	for (size_t i = 0; i < p->count; i++)
		if (slice_equal(p->actions[i].table, b->table) && value_equal(p->actions[i].key, b->key))
			return &p->actions[i];
	return NULL;
}

static bool tell_twice(struct plan *p, const struct plan_action *a)
{
	const struct plan *of = a->of;
	const struct row *item = of->item ? of->item : &of->old_row;

	if (a->role != PLAN_MAIN)
		return run_fail(p->run, PROBLEM_INVALID, "this would write the same item twice: %.*s",
				SLICE_ARG(entity_key_text(p->run, a->key)));
	return run_fail(p->run, PROBLEM_INVALID, "this would write %.*s %.*s twice", SLICE_ARG(of->entity->name),
			SLICE_ARG(write_identity_text(p->run, entity_identity(p->run, item), of->entity->param_count)));
}

/* ---- counters ---- */

/* A sequence moves up to the last number taken; everything else by the sum. */
static bool move_one(struct run *r, struct fields *to, const struct entity *e, const struct value_member *by)
{
	const struct attribute *a = e ? entity_attribute(e, by->name) : NULL;
	struct number n = value_number(by->value), is;

	if (!a || !a->sequence || !fields_has(to, by->name))
		return fields_move(r, to, by->name, &n);
	is = value_number(fields_get(to, by->name));
	if (number_cmp(&n, &is) > 0)
		fields_set(to, by->name, by->value);
	return true;
}

static bool move_all(struct run *r, struct fields *to, const struct plan_action *from)
{
	for (size_t i = 0; i < from->add.count; i++)
		if (!move_one(r, to, from->entity, &from->add.list[i]))
			return false;
	return true;
}

/* The same in a new item that is put. */
static bool move_in_item(struct plan *p, struct plan_action *a, const struct plan_action *from)
{
	struct fields *self = &a->of->self;
	struct error e = { 0 };

	for (size_t i = 0; i < from->add.count; i++) {
		struct slice name = from->add.list[i].name;
		struct number before = value_type(fields_get(self, name)) == VALUE_N
					       ? value_number(fields_get(self, name))
					       : number_from_i64(0);
		struct number after, by;
		struct value v;

		if (!move_one(p->run, self, from->entity, &from->add.list[i]))
			return false;
		after = value_number(fields_get(self, name));
		if (!number_sub(&after, &before, &by, p->run->arena, &e))
			return run_error(p->run, &e);
		if (!value_move(p->run, value_get(a->item, name), &by, &v))
			return false;
		a->item = value_map_with(p->run->arena, a->item, name, v);
	}
	return true;
}

/* ---- conditions ---- */

static void join_equal(struct plan *p, struct fields *to, const struct fields *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct slice name = from->list[i].name;

		if (fields_has(to, name) && !value_equal(fields_get(to, name), from->list[i].value))
			p->outdated = true;
		fields_set(to, name, from->list[i].value);
	}
}

static void join_asks(struct plan *p, struct plan_action *a, const struct plan_action *from)
{
	struct plan_ask *all;

	if (!from->ask_count)
		return;
	all = arena_array(p->run->arena, struct plan_ask, a->ask_count + from->ask_count);
	for (size_t i = 0; i < a->ask_count + from->ask_count; i++)
		all[i] = i < a->ask_count ? a->asks[i] : from->asks[i - a->ask_count];
	a->asks = all;
	a->ask_count += from->ask_count;
	a->ask_capacity = a->ask_count;
}

/* Conditions of both, on the item as it was. */
static void join_conditions(struct plan *p, struct plan_action *a, const struct plan_action *from)
{
	join_equal(p, &a->equal, &from->equal);
	join_asks(p, a, from);
	if (from->also)
		a->also = a->also ? test_join(p->run->arena, TEST_AND, a->also, from->also) : from->also;
	a->must_exist = a->must_exist || from->must_exist;
	a->takes = a->takes || from->takes;
	a->named = true;
	if (!a->entity)
		a->entity = from->entity;
}

static void join_sets(struct plan_action *a, const struct plan_action *from)
{
	for (size_t i = 0; i < from->set.count; i++)
		fields_set(&a->set, from->set.list[i].name, from->set.list[i].value);
}

/* What a target asks, of the item as this transaction makes it. */
static bool ask_new(struct plan *p, struct row *item, const struct plan_action *target)
{
	struct scope s = { .run = p->run, .item = item };

	for (size_t i = 0; i < target->ask_count; i++) {
		const struct plan_ask *ask = &target->asks[i];
		bool holds;

		if (!scope_holds(&s, ask->if_, &holds))
			return false;
		if (!holds)
			return plan_tell_unfit(ask->by, ask);
	}
	return true;
}

/* ---- targets ---- */

static bool join_targets(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	join_conditions(p, a, b);
	join_sets(a, b);
	if (!move_all(p->run, &a->add, b))
		return false;
	a->kind = a->add.count || a->set.count ? DYN_UPDATE : DYN_CHECK;
	return true;
}

static bool join_to_put(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	struct row item;

	if (a->role != PLAN_MAIN && (b->add.count || b->set.count))
		return tell_twice(p, a);
	row_from(&item, p->run->arena, b->entity, entity_full(p->run, b->entity, a->item));
	if (!ask_new(p, &item, b))
		return false;
	for (size_t i = 0; i < b->set.count; i++)
		a->item = value_map_with(p->run->arena, a->item, b->set.list[i].name, b->set.list[i].value);
	return !b->add.count || move_in_item(p, a, b);
}

/* What the target has seen of the item is what this transaction makes it, or what it was. */
static void join_seen(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	for (size_t i = 0; i < b->equal.count; i++) {
		struct slice name = b->equal.list[i].name;

		if (!fields_has(&a->set, name))
			fields_set(&a->equal, name, b->equal.list[i].value);
		else if (!value_equal(fields_get(&a->set, name), b->equal.list[i].value))
			p->outdated = true;
	}
}

/* The attributes that a condition reads must stay, unless the transaction sets them. */
static void watch_asks(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	struct name_list names = { 0 };

	for (size_t i = 0; i < b->ask_count; i++)
		names_of_term(p->run->arena, &names, a->of->entity, b->asks[i].if_);
	for (size_t i = 0; i < names.count; i++) {
		const struct name *n = names.list[i];
		const struct attribute *x = slots_attribute(a->of->entity->slots, n);

		if (!(x && x->from_key) && !n->of_table && !fields_has(&a->equal, n->text))
			fields_set(&a->equal, n->text, row_get(&a->of->old_row, n));
	}
}

static bool join_to_update(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	struct row item;

	if (a->role != PLAN_MAIN)
		return tell_twice(p, a);
	row_copy(&item, p->run->arena, a->of->item);
	if (!ask_new(p, &item, b))
		return false;
	watch_asks(p, a, b);
	join_seen(p, a, b);
	join_sets(a, b);
	if (!move_all(p->run, &a->add, b) || !move_all(p->run, &a->of->self, b))
		return false;
	a->takes = a->takes || b->takes;
	a->kind = a->add.count || a->set.count ? DYN_UPDATE : a->kind;
	return true;
}

/* A target of an item that is decided already. */
static bool join_target(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	switch (a->kind) {
	case DYN_PUT: return join_to_put(p, a, b);
	case DYN_DELETE: return !b->ask_count || plan_tell_missing(b->asks[0].by, &b->asks[0]);
	case DYN_UPDATE:
	case DYN_CHECK: break;
	}
	return join_to_update(p, a, b);
}

/* An item is decided that was a target before: what was asked of it holds for the item as it was. */
static bool join_decision(struct plan *p, struct plan_action *a, const struct plan_action *target)
{
	if (a->kind == DYN_PUT)
		return join_to_put(p, a, target);
	join_conditions(p, a, target);
	if (a->kind == DYN_DELETE)
		return true;
	join_sets(a, target);
	if (!move_all(p->run, &a->add, target) || !move_all(p->run, &a->of->self, target))
		return false;
	a->kind = a->add.count || a->set.count ? DYN_UPDATE : a->kind;
	return true;
}

/* ---- both decide ---- */

static bool join_companions(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	if (a->kind == DYN_DELETE && b->kind == DYN_PUT) {
		*a = *b;
		a->must_not_exist = false; /* it is there, and the item that has it gives it up */
		return true;
	}
	if (a->kind == DYN_PUT && b->kind == DYN_DELETE) {
		a->must_not_exist = false;
		return true;
	}
	if (a->kind == DYN_DELETE || (value_equal(a->item, b->item) && !b->companion->unique.n))
		return true;
	if (!b->companion->unique.n)
		return tell_twice(p, a);
	(void)run_fail(p->run, PROBLEM_TAKEN, "%.*s of %.*s would be the same twice", SLICE_ARG(b->companion->unique),
		       SLICE_ARG(b->of->entity->name));
	p->run->problem.attribute = b->companion->unique;
	return false;
}

static bool join_decided(struct plan *p, struct plan_action *a, const struct plan_action *b)
{
	if (a->role == PLAN_COMPANION && b->role == PLAN_COMPANION)
		return join_companions(p, a, b);
	if (a->role == PLAN_MARKER && a->kind == DYN_CHECK && b->kind == DYN_CHECK)
		return true;
	if (a->kind == DYN_DELETE && b->kind == DYN_DELETE) {
		join_conditions(p, a, b);
		return true;
	}
	return tell_twice(p, a);
}

static bool join_one(struct plan *p, const struct plan_action *b)
{
	struct plan_action *a = find(p, b), earlier;

	if (!a) {
		a = plan_add(p, b->role, b->kind, b->key);
		*a = *b;
		a->named = true;
		return true;
	}
	if (decides(a))
		return decides(b) ? join_decided(p, a, b) : join_target(p, a, b);
	if (!decides(b))
		return join_targets(p, a, b);
	earlier = *a;
	*a = *b;
	return join_decision(p, a, &earlier);
}

bool plan_join(struct plan *p, struct plan *part)
{
	for (size_t i = 0; i < part->count; i++)
		if (!part->actions[i].left_out && !join_one(p, &part->actions[i]))
			return false;
	return plan_promise(part);
}

/* ---- what later terms see ---- */

static bool promise_changed(struct plan *p, const struct plan_action *a)
{
	struct value item = entity_stored(p->run, p->entity, p->item);

	for (size_t i = 0; i < a->add.count; i++) {
		struct number n = value_number(a->add.list[i].value);
		struct value v;

		if (!value_move(p->run, value_get(item, a->add.list[i].name), &n, &v))
			return false;
		item = value_map_with(p->run->arena, item, a->add.list[i].name, v);
	}
	entity_promise(p->run, a->key, item);
	return true;
}

bool plan_promise(struct plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct plan_action *a = &p->actions[i];

		if (a->table.n || a->of != p)
			continue;
		if (a->kind == DYN_PUT)
			entity_promise(p->run, a->key, a->item);
		else if (a->kind == DYN_DELETE)
			entity_promise(p->run, a->key, VALUE_ABSENT);
		else if (a->role == PLAN_MAIN && !promise_changed(p, a))
			return false;
	}
	return true;
}
