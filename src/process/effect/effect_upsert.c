/* upsert: creates an item, or changes it: adds to numbers, keeps the highest or lowest value, sets the rest.
 *
 * The item is read, and written under the condition that what is set is as it was (write_plan.h, P2); otherwise it is
 * read again. The position is in the same transaction: the item has each change once. Sums and extremes are the same in
 * whatever order changes come; what `with` sets is that of the last one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "design/slots.h"
#include "process/effect/effect_internal.h"

/* an extreme, evaluated */
struct candidate {
	const struct extreme *rule;
	struct value *values; /* of rule->list; the first absent: the extreme is left out */
};

struct upsert {
	struct write write; /* first: write_try() gives it back */
	struct effect *effect;
	struct row with; /* evaluated */
	struct candidate *candidates;
	struct action add, make; /* to an item that is there; a new one has its numbers from the start */
	struct row given;        /* of this try */
	bool lacks;              /* a term was absent */
	bool is_made;
};

static bool evaluate(struct upsert *u, const struct assignment *x, struct value *v)
{
	struct effect *e = u->effect;
	struct scope s = effect_scope(e, e->run);
	const struct attribute *a = slots_attribute(e->target->slots, x->at);

	if (!scope_value(&s, x->term, v))
		return false;
	if (!is_there(*v)) {
		u->lacks = true;
		*v = VALUE_ABSENT;
		return true;
	}
	*v = write_fit(e->run, a, *v);
	return true;
}

static bool evaluate_with(struct upsert *u)
{
	const struct processor *p = u->effect->rule;

	row_init(&u->with, u->effect->run->arena, NULL);
	for (size_t i = 0; i < p->with_count; i++) {
		struct value v;

		if (!evaluate(u, &p->with[i], &v))
			return false;
		if (value_present(v))
			row_set(&u->with, p->with[i].at, v);
	}
	return true;
}

static bool evaluate_extremes(struct upsert *u)
{
	const struct processor *p = u->effect->rule;
	struct arena *a = u->effect->run->arena;

	u->candidates = arena_array(a, struct candidate, p->extreme_count);
	for (size_t i = 0; i < p->extreme_count; i++) {
		struct candidate *c = &u->candidates[i];

		c->rule = &p->extremes[i];
		c->values = arena_array(a, struct value, c->rule->count);
		for (size_t k = 0; k < c->rule->count; k++)
			if (!evaluate(u, &c->rule->list[k], &c->values[k]))
				return false;
	}
	return true;
}

/* What is absent, or no number, adds nothing. */
static bool evaluate_adds(struct upsert *u)
{
	const struct processor *p = u->effect->rule;
	struct arena *a = u->effect->run->arena;
	struct assignment *list = arena_array(a, struct assignment, p->add_count);

	for (size_t i = 0; i < p->add_count; i++) {
		struct term *t = arena_new(a, struct term);

		t->kind = TERM_LITERAL;
		if (!evaluate(u, &p->add[i], &t->value))
			return false;
		if (value_type(t->value) != VALUE_N)
			continue;
		list[u->add.add_count] = p->add[i];
		list[u->add.add_count++].term = t;
	}
	u->add.add = list;
	u->make.creates = true;
	u->add.name = u->make.name = SLICE("upsert");
	return true;
}

/* Whether it is beyond the item's; an absent one is beyond nothing. */
static bool is_beyond(const struct candidate *c, struct value was)
{
	int order;

	if (!value_present(c->values[0]))
		return false;
	if (!is_there(was) || value_type(was) != value_type(c->values[0]))
		return true;
	order = value_cmp(c->values[0], was);
	return c->rule->lowest ? order < 0 : order > 0;
}

static void take(struct upsert *u, const struct candidate *c)
{
	for (size_t i = 0; i < c->rule->count; i++)
		if (value_present(c->values[i]))
			row_set(&u->given, c->rule->list[i].at, c->values[i]);
}

/* Attributes that may not change are set when the item is created, and stay. What is set has its old value in the
 * condition. A value that is not beyond the item's sets nothing, and needs no condition: another write that moves the
 * item's value meanwhile comes after this one. So writes that only add do not make each other wait. */
static void give_changes(struct upsert *u, const struct row *before)
{
	struct write *w = &u->write;
	const struct processor *p = u->effect->rule;

	row_init(&u->given, w->run->arena, NULL);
	for (size_t i = 0; i < p->with_count; i++) {
		const struct name *n = p->with[i].at;
		const struct attribute *a = slots_attribute(w->entity->slots, n);
		struct value v = row_get(&u->with, n);

		if (a && value_present(v) && effect_may_change(w->entity, a))
			row_set(&u->given, n, v);
	}
	for (size_t i = 0; i < p->extreme_count; i++) {
		const struct candidate *c = &u->candidates[i];

		if (is_beyond(c, row_get(before, c->rule->list[0].at)))
			take(u, c);
	}
}

static enum plan_end change(struct upsert *u, struct value old, struct write_result *out)
{
	struct row before = row_lay(u->write.run->arena, u->write.entity, old);

	give_changes(u, &before);
	u->write.input = &u->given;
	u->write.action = &u->add;
	/* Adding alone changes only counters, of which nothing is asked. Everything else is a change as any other, with
	 * checks, `touched` and the last writer. */
	u->write.trusted = !u->effect->rule->with_count && row_is_empty(&u->given);
	u->is_made = true;
	return write_alter(&u->write, old, out);
}

static bool make(struct upsert *u, struct row *f)
{
	struct run *r = u->write.run;
	int64_t was = effect_time_enter(u->effect, r);
	bool ok = write_make(&u->write, &u->given, f);

	effect_time_leave(r, was);
	return ok;
}

/* So that what is derived from them is right at once. */
static bool add_numbers(struct upsert *u, struct row *f)
{
	for (size_t i = 0; i < u->add.add_count; i++) {
		struct number n = value_number(u->add.add[i].term->value);

		if (!row_move(u->write.run, f, u->add.add[i].attribute, &n))
			return false;
	}
	return true;
}

static enum plan_end create(struct upsert *u, struct write_result *out)
{
	struct write *w = &u->write;
	struct row f;
	bool lives;

	row_copy(&u->given, w->run->arena, &u->with);
	for (size_t i = 0; i < w->entity->param_count; i++)
		row_set(&u->given, w->entity->param_at[i], w->args[i]);
	for (size_t i = 0; i < u->effect->rule->extreme_count; i++)
		if (value_present(u->candidates[i].values[0]))
			take(u, &u->candidates[i]);
	w->input = &u->given;
	w->trusted = true;
	u->is_made = false;
	w->action = &u->make;
	if (!effect_clear_expired(w->run, w->entity, w->key) || !make(u, &f) || !add_numbers(u, &f))
		return PLAN_FAILED;
	u->is_made = true;
	if (!effect_put_lives(u->effect, &f, &lives))
		return PLAN_FAILED;
	return lives ? write_put_new(w, &f, out) : PLAN_DONE;
}

static enum plan_end upsert_once(struct write *w, struct write_result *out)
{
	struct upsert *u = (struct upsert *)w;
	struct value old;

	if (!write_read(w, &old))
		return PLAN_FAILED;
	return value_present(old) ? change(u, old, out) : create(u, out);
}

bool effect_upsert(struct effect *x, const struct value *args, struct value key)
{
	struct run *r = x->run;
	struct upsert u = { .effect = x };
	struct write_result out;
	int64_t was = effect_time_enter(x, r);
	bool ok;

	u.write = (struct write){
		.run = r, .entity = x->target, .key = key, .args = args, .arg_count = x->target->param_count, .trusted = true
	};
	ok = evaluate_with(&u) && evaluate_extremes(&u) && evaluate_adds(&u);
	effect_time_leave(r, was);
	if (!ok)
		return false;
	if (write_try(&u.write, upsert_once, &out))
		return true;
	return effect_is_skipped(r, x->target, u.is_made, u.lacks);
}
