/* The effect of a write on other items: counters that move by the difference, and items that must exist.
 *
 * The difference is between the contributions of the stored item and the new one. A counter of the item itself moves
 * on its own, so a count's `by` or `when` uses a derived attribute of it, which is stored, and never the counter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/renamed.h"
#include "app/write/joined.h"
#include "app/write/renaming/renaming.h"
#include "base/grow.h"

/* ---- conditions on a target ---- */

/* Evaluates here a condition that DynamoDB cannot express; the attributes it read must be unchanged at commit. */
static bool ask_here(struct plan *p, struct plan_action *a, const struct plan_ask *ask)
{
	struct name_list names = { 0 };
	struct value target;
	struct row f;
	struct scope s;
	bool holds;

	if (!entity_fetch_key(p->run, a->entity, a->key, true, &target))
		return false;
	if (!value_present(target))
		return plan_tell_missing(p->write, ask);
	row_from(&f, p->run->arena, a->entity, target);
	s = (struct scope){ .run = p->run, .item = &f };
	if (!scope_holds(&s, ask->if_, &holds))
		return false;
	if (!holds)
		return plan_tell_unfit(p->write, ask);
	names_of_term(p->run->arena, &names, a->entity, ask->if_);
	for (size_t i = 0; i < names.count; i++) {
		const struct name *n = names.list[i];

		if (!slots_attribute(a->entity->slots, n)->from_key && !n->of_table)
			fields_set(&a->equal, n->text, row_get(&f, n));
	}
	return true;
}

bool plan_filter(struct plan *p, struct plan_action *a, const struct term *t, bool *cannot)
{
	struct scope s = write_scope(p->write, p->item, value_present(p->old) ? &p->old_row : NULL);
	struct term_scope bound = scope_bind(&s);
	const struct test *test;
	struct error e = { 0 };
	const char *why = NULL;

	*cannot = !term_can_filter(t, &why);
	if (*cannot)
		return false;
	if (!term_to_test(t, &bound, &test, &why, &e))
		return why ? run_fail(p->run, PROBLEM_INTERNAL, "A condition cannot be expressed in DynamoDB: %s", why)
			   : scope_error(&s, &e);
	a->also = test_join(p->run->arena, TEST_AND, a->also, test);
	return !s.failed;
}

void plan_ask_alive(struct plan *p, struct plan_action *a)
{
	if (a->entity->may_expire)
		a->also = test_join(p->run->arena, TEST_AND, a->also, dyn_not_expired(p->run, p->run->design->ttl));
}

/* The rule for everywhere, as a condition on an item that the caller's write refers to. */
static bool ask_everywhere(struct plan *p, struct plan_action *a)
{
	const struct term *rule = a->entity->everywhere;
	bool cannot;

	if (!rule || a->ask_count || write_is_own(p->write) || p->run->caller.operator_)
		return true;
	return plan_filter(p, a, rule, &cannot) ||
	       (cannot && run_fail(p->run, PROBLEM_INTERNAL, "The rule for everywhere cannot be expressed in DynamoDB"));
}

bool plan_add_ask(struct plan *p, struct plan_action *a, const struct plan_ask *ask)
{
	bool cannot;

	if (!plan_joins(p, a) || !ask_everywhere(p, a))
		return false;
	if (!a->ask_count)
		plan_ask_alive(p, a);
	GROW_IN(p->run->arena, a->asks, a->ask_count, a->ask_capacity, 4);
	a->asks[a->ask_count] = *ask;
	a->asks[a->ask_count++].by = p->write;
	if (!ask->if_ || plan_filter(p, a, ask->if_, &cannot))
		return true;
	return cannot && ask_here(p, a, ask);
}

/* ---- targets ---- */

/* If a copy's source is in the transaction anyway, adds the condition that the copy is current. */
static void hold_copies(struct plan *p, struct plan_action *a)
{
	for (size_t i = 0; i < p->write->copy_count; i++) {
		struct copy_note *c = &p->write->copies[i];
		const struct attribute *source;
		struct name_list names = { 0 };

		if (!c->attribute->kept_by.n || !value_equal(c->key, a->key))
			continue;
		source = slots_attribute(a->entity->slots, c->attribute->copy_at);
		if (source && source->from_key)
			continue;
		names_of_copy(p->run->arena, &names, a->entity, c->attribute);
		for (size_t k = 0; k < names.count; k++) {
			source = slots_attribute(a->entity->slots, names.list[k]);
			if (!source || !source->from_key)
				fields_set(&a->equal, names.list[k]->text, value_get(c->from, names.list[k]->text));
		}
		c->held = true;
	}
}

struct plan_action *plan_target(struct plan *p, const struct entity *e, struct value key)
{
	struct plan_action *a = plan_find(p, key);

	if (a)
		return a;
	a = plan_add(p, PLAN_TARGET, DYN_UPDATE, key);
	a->entity = e;
	a->must_exist = true;
	return a;
}

static bool is_self(const struct plan *p, struct value key)
{
	return value_equal(key, p->key) || value_equal(key, p->old_key);
}

/* A requirement on the item itself, evaluated on the new item. */
static bool ask_self(struct plan *p, const struct plan_ask *ask)
{
	struct scope s = write_scope(p->write, p->item, value_present(p->old) ? &p->old_row : NULL);
	bool holds;

	if (!scope_holds(&s, ask->if_, &holds))
		return false;
	return holds || plan_tell_unfit(p->write, ask);
}

/* ---- counts ---- */

/* What an item contributes to one target, before and after. */
struct share {
	struct value *args;
	struct number before, after;
	bool was, is;
};

struct shares {
	struct plan *plan;
	const struct count_rule *rule;
	bool after; /* which side is being added */
	struct share *list;
	size_t count, capacity;
};

/* The same target may come several times: for each element of a list. */
static struct share *share_of(struct shares *x, struct value *args)
{
	size_t n = x->rule->target.arg_count;

	for (size_t i = 0; i < x->count; i++)
		if (values_equal(x->list[i].args, args, n))
			return &x->list[i];
	if (x->count > DYN_MOST_ACTIONS) {
		(void)run_fail(x->plan->run, PROBLEM_INVALID,
			       "this would change too many items: at most %d can be changed at once", DYN_MOST_ACTIONS);
		return NULL;
	}
	GROW_IN(x->plan->run->arena, x->list, x->count, x->capacity, 2);
	x->list[x->count] = (struct share){ args, number_from_i64(0), number_from_i64(0), false, false };
	return &x->list[x->count++];
}

static bool add_share(void *ctx, struct scope *s)
{
	struct shares *x = ctx;
	struct number amount = number_from_i64(1), *sum;
	struct error e = { 0 };
	struct share *share;
	struct value by, *args;
	bool counts;

	if (!scope_holds(s, x->rule->when, &counts) || (counts && x->rule->by && !scope_value(s, x->rule->by, &by)))
		return false;
	if (!counts || (x->rule->by && value_type(by) != VALUE_N))
		return true;
	if (x->rule->by)
		amount = value_number(by);
	if (!scope_args(s, x->rule->target.args, x->rule->target.arg_count, &args))
		return false;
	share = share_of(x, args);
	if (!share)
		return false;
	*(x->after ? &share->is : &share->was) = true;
	sum = x->after ? &share->after : &share->before;
	return number_add(sum, &amount, sum, x->plan->run->arena, &e) || run_error(x->plan->run, &e);
}

static bool add_side(struct shares *x, const struct row *item, bool after)
{
	struct scope s = { .run = x->plan->run, .item = item };

	x->after = after;
	return !item || row_is_empty(item) || scope_each(&s, &x->rule->each, add_share, x);
}

/* Whether the item named the same one before. */
static bool named_before(struct plan *p, const struct reference *to, const struct value *args, bool *out)
{
	struct scope s = { .run = p->run, .item = &p->old_row };
	struct value *was;

	*out = false;
	if (!value_present(p->old) || !reference_follows(p->entity, to))
		return true;
	if (!scope_args(&s, to->args, to->arg_count, &was))
		return false;
	*out = values_equal(was, args, to->arg_count);
	return true;
}

/* A name that an item has given up leads to it only for those that named it so before (N2 of renaming.h). */
static bool may_lead(struct plan *p, const struct reference *to, const struct value *args, bool *before, bool *out)
{
	*before = *out = true;
	if (!to->to->is_renamed)
		return true;
	if (!named_before(p, to, args, before))
		return false;
	*out = *before || renamed_now(p->run, to->to, args, to->arg_count) == args;
	return true;
}

/* Moves the counter. `starts`: the item did not count there before, so the target must exist and fit. */
static bool move_counter(struct plan *p, const struct count_rule *c, struct value *args, const struct number *n,
			 bool starts)
{
	const struct entity *e = c->target.to;
	struct plan_ask ask = { .reference = &c->target, .args = args, .if_ = c->if_, .by = p->write, .each = &c->each };
	struct plan_action *a;
	struct value key;
	bool before, leads;

	if (p->write->follows && renaming_takes(p->run, p->write->follows, e))
		return true; /* N4 */
	if (!may_lead(p, &c->target, args, &before, &leads))
		return false;
	if (!leads)
		return !starts || plan_tell_missing(p->write, &ask);
	if (!entity_locate(p->run, e, args, c->target.arg_count, &key))
		return false;
	if (!value_present(key) && before && e->is_renamed) {
		if (!renamed_look(p->run, e, args, c->target.arg_count, &leads) ||
		    (leads && !entity_locate(p->run, e, args, c->target.arg_count, &key)))
			return false;
	}
	if (!value_present(key))
		return !starts || plan_tell_missing(p->write, &ask);
	if (is_self(p, key)) {
		if (!p->item)
			return true;
		return (!starts || ask_self(p, &ask)) && fields_move(p->run, &p->self, c->attribute, n);
	}
	if (!starts && value_equal(key, p->write->gone))
		return true;
	a = plan_target(p, e, key);
	if (e->is_renamed && before)
		a->args = args;
	a->named = a->named || c->each.list;
	return fields_move(p->run, &a->add, c->attribute, n) && (!starts || plan_add_ask(p, a, &ask));
}

static bool plan_count(struct plan *p, const struct count_rule *c)
{
	struct shares x = { .plan = p, .rule = c };
	const struct number zero = number_from_i64(0);
	struct error e = { 0 };

	if (!add_side(&x, &p->old_row, false) || !add_side(&x, p->item, true))
		return false;
	for (size_t i = 0; i < x.count; i++) {
		const struct share *share = &x.list[i];
		struct number n;

		if (!number_sub(&share->after, &share->before, &n, p->run->arena, &e))
			return run_error(p->run, &e);
		if (share->was && share->is && number_cmp(&n, &zero) == 0)
			continue;
		if (!move_counter(p, c, share->args, &n, !share->was))
			return false;
	}
	return true;
}

/* +1 and -1 on one counter cancel out; drops targets that are neither moved nor required. */
static void drop_idle(struct plan *p)
{
	const struct number zero = number_from_i64(0);
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct plan_action *a = &p->actions[i];

		for (size_t k = a->add.count; k-- > 0;) {
			struct number n = value_number(a->add.list[k].value);

			if (number_cmp(&n, &zero) == 0)
				fields_drop(&a->add, a->add.list[k].name);
		}
		if (a->role == PLAN_TARGET && !a->add.count && !a->ask_count)
			continue;
		if (a->role == PLAN_TARGET && !a->add.count && !a->set.count)
			a->kind = DYN_CHECK;
		p->actions[kept++] = *a;
	}
	p->count = kept;
}

bool plan_counts(struct plan *p)
{
	for (size_t i = 0; i < p->entity->count_count; i++)
		if (!plan_count(p, &p->entity->counts[i]))
			return false;
	return true;
}

/* ---- requirements ---- */

struct requiring {
	struct plan *plan;
	const struct requirement *rule;
	/* Of a reference in an item that is there: what it named before. That is not asked for again, so that a list with
	 * an item that was deleted since can still be added to. */
	struct value **named;
	size_t named_count, named_capacity;
};

static bool note_named(void *ctx, struct scope *s)
{
	struct requiring *x = ctx;
	bool named;

	if (!scope_holds(s, x->rule->when, &named))
		return false;
	if (!named)
		return true;
	GROW_IN(s->run->arena, x->named, x->named_count, x->named_capacity, 4);
	return scope_args(s, x->rule->target.args, x->rule->target.arg_count, &x->named[x->named_count++]);
}

static bool is_named(const struct requiring *x, const struct value *args)
{
	for (size_t i = 0; i < x->named_count; i++)
		if (values_equal(x->named[i], args, x->rule->target.arg_count))
			return true;
	return false;
}

static bool require_one(void *ctx, struct scope *s)
{
	const struct requiring *x = ctx;
	const struct requirement *q = x->rule;
	struct plan *p = x->plan;
	const struct entity *e = q->target.to;
	struct plan_ask ask = { .reference = &q->target,
				.if_ = q->if_,
				.sentence = q->sentence,
				.by = p->write,
				.each = &q->each,
				.of = q->of };
	struct plan_action *a;
	struct value *args, key;
	bool holds, before, leads;

	if (!scope_holds(s, q->when, &holds))
		return false;
	if (!holds)
		return true;
	if (!scope_args(s, q->target.args, q->target.arg_count, &args))
		return false;
	if (is_named(x, args))
		return true;
	if (!may_lead(p, &q->target, args, &before, &leads) ||
	    !entity_locate(p->run, e, args, q->target.arg_count, &key))
		return false;
	ask.args = args;
	if (!leads)
		return plan_tell_missing(p->write, &ask);
	if (p->count > DYN_MOST_ACTIONS)
		return run_fail(p->run, PROBLEM_INVALID,
				"this would change too many items: at most %d can be changed at once", DYN_MOST_ACTIONS);
	/* What a new item requires is there before it; what it refers to may be itself. */
	if (!value_present(key) || (is_self(p, key) && !value_present(p->old) && !q->of))
		return plan_tell_missing(p->write, &ask);
	if (is_self(p, key))
		return ask_self(p, &ask);
	a = plan_target(p, e, key);
	if (e->is_renamed && before)
		a->args = args;
	return plan_add_ask(p, a, &ask);
}

static bool plan_requirement(struct plan *p, const struct requirement *q)
{
	struct scope s = write_scope(p->write, p->item, value_present(p->old) ? &p->old_row : NULL);
	struct scope old = { .run = p->run, .item = &p->old_row };
	struct requiring x = { .plan = p, .rule = q };

	if (q->of && value_present(p->old) && !scope_each(&old, &q->each, note_named, &x))
		return false;
	return scope_each(&s, &q->each, require_one, &x);
}

/* Whether an attribute that the requirement names has changed. */
static bool is_touched(struct plan *p, const struct requirement *q)
{
	struct name_list names = { 0 };

	for (size_t i = 0; i < q->target.arg_count; i++)
		names_of_term(p->run->arena, &names, p->entity, q->target.args[i]);
	names_of_term(p->run->arena, &names, p->entity, q->when);
	names_of_term(p->run->arena, &names, p->entity, q->each.list);
	return !value_present(p->old) || names_meet(&names, &p->changed);
}

bool plan_requires(struct plan *p)
{
	const struct entity *e = p->entity;
	const struct action *action = p->write->action;

	for (size_t i = 0; p->item && !p->write->follows && i < e->require_count; i++)
		if (is_touched(p, &e->requires[i]) && !plan_requirement(p, &e->requires[i]))
			return false;
	for (size_t i = 0; p->item && action && i < action->require_count; i++)
		if (!plan_requirement(p, &action->requires[i]))
			return false;
	drop_idle(p);
	for (size_t i = 0; i < p->count; i++)
		hold_copies(p, &p->actions[i]);
	return true;
}
