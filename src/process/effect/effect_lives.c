/* Conditions on other items in the transaction of an effect: what a new item requires, and what an item lives while.
 *
 * They close a race. Processors do not wait for one another, so another processor may change the item that a decision
 * depends on before the effect is written. With a check in the transaction, decisions are ordered by their commits: a
 * change that makes an item wrong comes later in the stream, and the processor that removes the item will see it. A
 * removal checks whether each item is wrong now, not whether the change that woke the processor still matters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/passed_over.h"
#include "process/effect/effect_internal.h"

/* ---- conditions ---- */

static bool to_test(struct run *r, const struct term *t, const struct test **out)
{
	struct row none;
	struct scope s = { .run = r, .item = &none };
	struct term_scope bound = scope_bind(&s);
	struct error e = { 0 };
	const char *why = NULL;

	row_init(&none, r->arena, NULL);
	if (!term_to_test(t, &bound, out, &why, &e))
		return why ? run_fail(r, PROBLEM_INTERNAL, "A condition cannot be expressed in DynamoDB: %s", why)
			   : scope_error(&s, &e);
	return !s.failed;
}

static bool add_condition(struct run *r, struct dyn_write *w, const struct term *t)
{
	const struct test *test;

	if (!to_test(r, t, &test))
		return false;
	w->also = test_join(r->arena, TEST_AND, w->also, test);
	return true;
}

/* The target does not exist, has expired, or `if` does not hold. */
static bool add_that_does_not(struct run *r, struct dyn_write *w, const struct effect_reason *x)
{
	const struct term *if_ = x->requirement->if_;
	const struct term not_ = { .kind = TERM_NOT, .args = &if_, .arg_count = 1 };
	const struct test *fails = NULL;

	w->also = test_attribute(r->arena, TEST_NOT_EXISTS, r->design->key.hash[0].name, VALUE_ABSENT);
	if (x->entity->may_expire)
		w->also = test_join(r->arena, TEST_OR, w->also, dyn_expired(r, r->design->ttl));
	if (if_ && !to_test(r, &not_, &fails))
		return false;
	w->also = test_join(r->arena, TEST_OR, w->also, fails);
	return true;
}

/* ---- reasons ---- */

static bool add_reason(struct run *r, const struct requirement *q, const struct row *item, struct effect_reason *list,
		       size_t *n)
{
	struct scope s = { .run = r, .item = item };
	struct effect_reason *x = &list[*n];
	struct value *args;
	bool applies;

	if (!scope_holds(&s, q->when, &applies))
		return false;
	if (!applies)
		return true;
	*x = (struct effect_reason){ .requirement = q, .entity = q->target.to };
	*n += 1;
	return scope_args(&s, q->target.args, q->target.arg_count, &args) &&
	       entity_locate(r, x->entity, args, q->target.arg_count, &x->key);
}

/* The `lives while` of the item that apply to it; with `requires` also its requirements when it is put. */
static bool find_reasons(struct run *r, const struct entity *e, const struct row *item, bool requires,
			 struct effect_reason **out, size_t *n)
{
	*out = arena_array(r->arena, struct effect_reason, e->lives_count + e->require_count);
	*n = 0;
	for (size_t i = 0; i < e->lives_count; i++)
		if (!add_reason(r, &e->lives[i], item, *out, n))
			return false;
	for (size_t i = 0; requires && i < e->require_count; i++)
		if (!add_reason(r, &e->requires[i], item, *out, n))
			return false;
	return true;
}

/* ---- puts ---- */

static bool can_check(const struct entity *e, const struct requirement *list, size_t n)
{
	const char *why;

	for (size_t i = 0; i < n; i++)
		if (list[i].target.to == e || list[i].each.list || (list[i].if_ && !term_can_filter(list[i].if_, &why)))
			return false;
	return true;
}

bool effect_can_check(const struct entity *e)
{
	return can_check(e, e->requires, e->require_count) && can_check(e, e->lives, e->lives_count);
}

/* The batch's check on the item with that key, for the action at `put`; adds it if missing. Requirements of one put
 * share a check. Those of different effects do not, unless they are the same: one effect's refusal is not the other's. */
static bool check_that_holds(struct effect *x, size_t put, const struct effect_reason *t, size_t *at)
{
	const struct requirement *q = t->requirement;
	bool collides = x->collides; /* another of the put's requirements does */
	bool known = effect_batch_find(x, t->key, at);
	struct run *r = x->run;
	struct dyn_write *w;

	if (known && x->batch.asks[*at] == q)
		return true;
	w = effect_batch_add(x, t->key, at);
	if (!w && (!known || !x->batch.asks[*at] || (x->processor->parts > 1 && *at < put))) {
		x->collides = true;
		return true;
	}
	x->collides = collides; /* another requirement on the same item: one condition for both */
	if (w) {
		w->kind = DYN_CHECK;
		w->key = t->key;
		w->must_exist = true;
		x->batch.asks[*at] = q;
		if (t->entity->may_expire)
			w->also = dyn_not_expired(r, r->design->ttl);
	}
	/* A refusal shows the first one's sentence. */
	return !q->if_ || add_condition(r, &x->batch.list[*at], q->if_);
}

bool effect_requires(struct effect *x, const struct row *item, struct effect_reason **out, size_t *n,
		     const struct requirement **lacks)
{
	*lacks = NULL;
	if (!find_reasons(x->run, x->target, item, true, out, n))
		return false;
	for (size_t i = 0; i < *n && !*lacks; i++)
		if (!value_present((*out)[i].key))
			*lacks = (*out)[i].requirement;
	return true;
}

bool effect_add_checks(struct effect *x, size_t at, const struct effect_reason *list, size_t n)
{
	struct batch_need need = { .list = arena_array(x->run->arena, size_t, n) };

	for (size_t i = 0; i < n; i++)
		if (!check_that_holds(x, at, &list[i], &need.list[need.count++]))
			return false;
	x->batch.needs[at] = need;
	return true;
}

void effect_tell_required(struct effect *x, const struct requirement *q)
{
	if (q->sentence.n)
		run_pass_over(x->run, PASSED_OVER_REQUIREMENT, "a %.*s is not put: %.*s", SLICE_ARG(x->target->name),
			      SLICE_ARG(q->sentence));
	else if (q->of)
		run_pass_over(x->run, PASSED_OVER_REQUIREMENT, "a %.*s is not put: %.*s: there is no such %.*s",
			      SLICE_ARG(x->target->name), SLICE_ARG(q->of->name), SLICE_ARG(q->target.entity));
	else
		run_pass_over(x->run, PASSED_OVER_REQUIREMENT,
			      "a %.*s is not put: the %.*s that it requires does not exist, or does not meet its condition",
			      SLICE_ARG(x->target->name), SLICE_ARG(q->target.entity));
}

/* ---- removals ---- */

struct removal {
	struct value key, stored;
	const struct entity *entity; /* NULL: the item has no `lives while` */
	struct effect_reason *reasons;
	size_t first, count; /* of all reasons */
};

/* Collects the items that decide whether it stays, to be read. */
static bool gather_reasons(struct run *r, struct removal *m)
{
	struct row f;

	row_from(&f, r->arena, m->entity, entity_full(r, m->entity, m->stored));
	return find_reasons(r, m->entity, &f, false, &m->reasons, &m->count);
}

static bool reason_holds(struct run *r, const struct effect_reason *x, struct value stored, bool *out)
{
	struct row f;
	struct scope s = { .run = r, .item = &f };

	*out = false;
	if (!value_present(stored) || entity_expired(r, stored) || entity_of_likely(r, stored, x->entity) != x->entity)
		return true;
	*out = true;
	row_from(&f, r->arena, x->entity, entity_full(r, x->entity, stored));
	return !x->requirement->if_ || scope_holds(&s, x->requirement->if_, out);
}

/* Makes the checks that all reasons hold. */
static bool make_checks(struct run *r, const struct effect_reason *list, size_t n, struct dyn_write *checks)
{
	for (size_t i = 0; i < n; i++) {
		checks[i] = (struct dyn_write){ .kind = DYN_CHECK, .key = list[i].key, .must_exist = true };
		if (list[i].requirement->if_ && !add_condition(r, &checks[i], list[i].requirement->if_))
			return false;
	}
	return true;
}

/* Whether the item is removed, and the check for the transaction: that one reason does not hold, or that all do. */
static bool decide(struct run *r, const struct removal *m, const struct value *stored, bool *goes,
		   struct dyn_write *checks, size_t *check_count)
{
	*goes = !m->count;
	*check_count = 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct effect_reason *x = &m->reasons[i];
		bool holds;

		if (!reason_holds(r, x, stored[i], &holds))
			return false;
		if (holds)
			continue;
		*goes = true;
		if (!value_present(x->key))
			return true;
		checks[0] = (struct dyn_write){ .kind = DYN_CHECK, .key = x->key };
		*check_count = 1;
		return add_that_does_not(r, &checks[0], x);
	}
	*check_count = *goes ? 0 : m->count;
	return make_checks(r, m->reasons, *check_count, checks);
}

/* Reads the targets of all reasons of all removals with one request. */
static bool read_reasons(struct run *r, struct removal *list, size_t n, struct value **out)
{
	size_t count = 0, k = 0;
	struct value *keys;

	for (size_t i = 0; i < n; i++) {
		list[i].first = count;
		count += list[i].count;
	}
	keys = arena_array(r->arena, struct value, count + 1);
	*out = arena_array(r->arena, struct value, count + 1);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < list[i].count; j++)
			keys[k++] = list[i].reasons[j].key;
	return !count || dyn_batch_get(r, keys, count, true, *out);
}

/* Reads the items to remove, and the items that decide whether they stay. */
static bool read_removals(struct run *r, struct removal *list, size_t n, struct value **reasons)
{
	struct value *keys = arena_array(r->arena, struct value, n + 1),
		     *items = arena_array(r->arena, struct value, n + 1);

	for (size_t i = 0; i < n; i++)
		keys[i] = list[i].key;
	if (n && !dyn_batch_get(r, keys, n, true, items))
		return false;
	for (size_t i = 0; i < n; i++) {
		list[i].stored = items[i];
		if (!value_present(items[i]))
			continue;
		list[i].entity = entity_of(r, items[i]);
		if (list[i].entity && list[i].entity->lives_count && !gather_reasons(r, &list[i]))
			return false;
	}
	return read_reasons(r, list, n, reasons);
}

/* Adds the check to the batch. Several removals may share one; a target that is removed in the same batch needs
 * none. */
static void add_decision(struct effect *x, const struct dyn_write *check)
{
	size_t at;
	struct dyn_write *w = effect_batch_add(x, check->key, &at);

	if (w)
		*w = *check;
}

struct decision {
	struct dyn_write *checks;
	size_t count;
};

static bool settle_one(struct effect *x, const struct removal *m, const struct value *reasons, bool *goes,
		       struct decision *out)
{
	struct run *r = x->run;

	*goes = false;
	out->checks = arena_array(r->arena, struct dyn_write, m->count + 1);
	if (!value_present(m->stored)) {
		run_pass_over(r, PASSED_OVER_NOTHING, "%s", "");
		return true;
	}
	if (!decide(r, m, reasons + m->first, goes, out->checks, &out->count))
		return false;
	if (!*goes)
		run_pass_over(r, PASSED_OVER_HOLDS, "%s", "");
	return true;
}

/* `where[i]`: the action that removes list[i]. */
static bool settle_all(struct effect *x, struct removal *list, const size_t *where, size_t n)
{
	struct decision *decisions = arena_array(x->run->arena, struct decision, n);
	bool stays[EFFECT_MOST_ACTIONS];
	struct value *reasons;

	if (!read_removals(x->run, list, n, &reasons))
		return false;
	for (size_t i = 0; i < x->batch.count; i++)
		stays[i] = true;
	for (size_t i = 0; i < n; i++)
		if (!settle_one(x, &list[i], reasons, &stays[where[i]], &decisions[i]))
			return false;
	effect_batch_keep(x, stays);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < decisions[i].count; k++)
			add_decision(x, &decisions[i].checks[k]);
	return true;
}

bool effect_settle(struct effect *x)
{
	struct batch *b = &x->batch;
	size_t *where, n = 0;
	struct removal *list;
	bool ok;

	if (b->settled || !b->count)
		return true;
	where = arena_array(x->run->arena, size_t, b->count);
	list = arena_array(x->run->arena, struct removal, b->count);
	for (size_t i = 0; i < b->count; i++)
		if (b->list[i].kind == DYN_DELETE) {
			list[n].key = b->list[i].key;
			where[n++] = i;
		}
	ok = !n || settle_all(x, list, where, n);
	b->settled = true;
	return ok;
}

/* Whether writing the item also counts on one of the reasons' targets: a transaction takes one action for each item. */
static bool counts_on(const struct entity *e, const struct effect_reason *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < e->count_count; k++)
			if (e->counts[k].target.to == list[i].entity)
				return true;
		for (size_t k = 0; k < e->require_count; k++)
			if (e->requires[k].target.to == list[i].entity)
				return true;
	}
	return false;
}

/* Adds the checks to the riders, beside the position. */
static void ride_along(struct effect *x, const struct dyn_write *checks, size_t n)
{
	struct run *r = x->run;
	struct dyn_write *riders = arena_array(r->arena, struct dyn_write, r->rider_count + n);

	if (x->checks_ride) /* drops the checks of the previous try */
		r->rider_count = x->riders_before;
	x->riders_before = r->rider_count;
	if (r->rider_count)
		memcpy(riders, r->riders, r->rider_count * sizeof(*riders));
	memcpy(riders + r->rider_count, checks, n * sizeof(*riders));
	r->riders = riders;
	r->rider_count += n;
	x->checks_ride = n > 0;
}

bool effect_settle_one(struct effect *x, const struct entity *e, struct value key, bool *go)
{
	struct removal m = { .key = key };
	struct run *r = x->run;
	struct dyn_write *checks;
	struct value *reasons;
	size_t count;

	*go = false;
	if (!read_removals(r, &m, 1, &reasons))
		return false;
	if (!value_present(m.stored)) {
		run_pass_over(r, PASSED_OVER_NOTHING, "%s", "");
		return true;
	}
	checks = arena_array(r->arena, struct dyn_write, m.count + 1);
	if (!decide(r, &m, reasons, go, checks, &count))
		return false;
	if (!*go)
		run_pass_over(r, PASSED_OVER_HOLDS, "%s", "");
	x->decided = !*go && count;
	if (!count || (*go && counts_on(e, m.reasons, m.count)))
		return true;
	ride_along(x, checks, count);
	return true;
}

bool effect_put_lives(struct effect *x, const struct row *item, bool *lives)
{
	struct run *r = x->run;
	struct effect_reason *list;
	struct dyn_write *checks;
	struct value *keys, *stored;
	size_t n;

	*lives = true;
	if (!x->target->lives_count)
		return true;
	if (!find_reasons(r, x->target, item, false, &list, &n))
		return false;
	keys = arena_array(r->arena, struct value, n + 1);
	stored = arena_array(r->arena, struct value, n + 1);
	checks = arena_array(r->arena, struct dyn_write, n + 1);
	for (size_t i = 0; i < n; i++)
		keys[i] = list[i].key;
	if (n && !dyn_batch_get(r, keys, n, true, stored))
		return false;
	for (size_t i = 0; i < n && *lives; i++) {
		if (!reason_holds(r, &list[i], stored[i], lives))
			return false;
		if (!*lives)
			effect_tell_required(x, list[i].requirement);
	}
	if (!*lives)
		return true;
	if (!make_checks(r, list, n, checks))
		return false;
	if (!counts_on(x->target, list, n))
		ride_along(x, checks, n);
	return true;
}
