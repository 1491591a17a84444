/* Rules about DynamoDB's limits and what the declared traffic costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

#define ACTIONS_MAX 100 /* of one transaction */

/* ---- transactions ---- */

/* How many elements a list of a companion can have; -1: unknown. */
static double most_elements(const struct entity *e, const struct term *t)
{
	if (term_name(t)) {
		const struct attribute *a = entity_attribute(e, *term_name(t));
		if (a && a->derived)
			return most_elements(e, a->derived);
		return a && a->has_max ? a->max : -1;
	}
	if (t->kind == TERM_CALL && slice_is(t->name, "first") && t->arg_count == 2)
		for (size_t i = 0; i < 2; i++) {
			int64_t n;
			if (t->args[i]->kind != TERM_LITERAL || value_type(t->args[i]->value) != VALUE_N)
				continue;
			struct number x = value_number(t->args[i]->value);
			if (number_to_i64(&x, &n))
				return (double)n;
		}
	return -1;
}

/* Actions of a transaction; `open`: for each element of a list without a maximum. */
struct sum {
	struct arena *arena;
	double actions;
	struct place open;
};

static double times(struct sum *x, const struct entity *e, const struct term *list, struct place place)
{
	double n = list ? most_elements(e, list) : 1;

	if (n < 0 && !x->open.line)
		x->open = place;
	return n < 0 ? 0 : n;
}

/* Rules about one item are one action on it. */
struct target {
	const struct reference *item;
	const struct each_rule *each;
};

static bool terms_alike(struct arena *a, const struct term *x, const struct term *y)
{
	struct buf b, c;
	if (!x || !y)
		return x == y;
	buf_init(&b, a);
	buf_init(&c, a);
	term_print(&b, x);
	term_print(&c, y);
	return slice_equal(buf_slice(&b), buf_slice(&c));
}

static bool same_target(struct arena *a, const struct target *x, const struct target *y)
{
	if (x->item->to != y->item->to || !slice_equal(x->each->variable, y->each->variable) ||
	    !terms_alike(a, x->each->list, y->each->list))
		return false;
	for (size_t i = 0; i < x->item->arg_count; i++)
		if (!terms_alike(a, x->item->args[i], y->item->args[i]))
			return false;
	return true;
}

static void add_targets(struct sum *x, const struct entity *e, double n)
{
	struct target *all = arena_array(x->arena, struct target, e->count_count + e->require_count);
	size_t count = 0;
	EACH (struct count_rule, r, e->counts, e->count_count)
		all[count++] = (struct target){ &r->target, &r->each };
	EACH (struct requirement, r, e->requires, e->require_count)
		all[count++] = (struct target){ &r->target, &r->each };
	for (size_t i = 0; i < count; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = same_target(x->arena, &all[i], &all[k]);
		if (!again)
			x->actions += n * times(x, e, all[i].each->list, all[i].item->place);
	}
}

static void add_entity(struct sum *x, const struct entity *e, double n)
{
	x->actions += n * (1 + (e->delete_.then_count ? 1 : 0));
	add_targets(x, e, n);
	EACH (struct companion, k, e->companions, e->companion_count)
		x->actions += n * times(x, e, k->each_list, k->place);
}

#define STEPS_MOST 8 /* the loader excludes circles */

static void add_also(struct sum *x, const struct entity *e, int event, double n, int steps);

static void add_rule(struct sum *x, const struct entity *e, const struct also_rule *r, double n, int steps)
{
	n *= times(x, e, r->each.list, r->place);
	if (r->kind == ALSO_UPDATE && !r->with_count) {
		x->actions += n;
		return;
	}
	add_entity(x, r->to, n);
	add_also(x, r->to,
		 r->kind == ALSO_PUT      ? ON_CREATED
		 : r->kind == ALSO_UPDATE ? ON_UPDATED
					  : ON_DELETED,
		 n, steps);
}

static void add_also(struct sum *x, const struct entity *e, int event, double n, int steps)
{
	EACH (struct also_rule, r, e->also, steps < STEPS_MOST ? e->also_count : 0)
		if (r->events & event)
			add_rule(x, e, r, n, steps + 1);
}

static void say_size(struct checker *c, const struct sum *x, struct slice what, struct slice of)
{
	if (x->actions > ACTIONS_MAX)
		check_say(c, AT_SUBJECT, "%.*s %.*s can take %.0f actions", SLICE_ARG(what), SLICE_ARG(of), x->actions);
	if (x->open.line) {
		check_say(c, x->open, "%.*s %.*s takes an action for each element of a list without a maximum",
			  SLICE_ARG(what), SLICE_ARG(of));
		check_severity(c, SEVERITY_WARNING);
	}
}

static void action_size(struct checker *c, const struct entity *e, const struct action *a)
{
	struct sum x = { .arena = c->arena };

	add_entity(&x, e, 1);
	add_also(&x, e, ON_UPDATED, 1, 0);
	EACH (struct requirement, r, a->requires, a->require_count)
		x.actions += times(&x, e, r->each.list, r->target.place);
	EACH (struct also_rule, r, a->also, a->also_count)
		add_rule(&x, e, r, 1, 1);
	say_size(c, &x, a->name, e->name);
}

static void transaction_size(struct checker *c, const struct entity *e)
{
	struct sum x = { .arena = c->arena };

	add_entity(&x, e, 1);
	add_also(&x, e, ON_CREATED, 1, 0);
	say_size(c, &x, SLICE("one"), e->name);
	EACH (struct action, a, e->actions, e->action_count)
		if (a->also_count || a->require_count)
			action_size(c, e, a);
}

/* ---- sizes ---- */

static void unbounded_text(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (a->type == ATTR_TEXT && !a->derived && !a->copy_entity.n && (!a->has_max || a->max > 380000))
		check_say(c, a->place, "%.*s can be longer than an item", SLICE_ARG(a->name));
}

static bool is_collection(const struct attribute *a)
{
	return a->type == ATTR_LIST || a->type == ATTR_SET || (a->type == ATTR_MAP && (!a->members || a->members->open));
}

/* The first part of a value that may have any number of elements: lines[].notes. Empty: none. */
static struct slice unbounded_part(struct arena *x, const struct attribute *a, struct slice path)
{
	struct slice part = { 0 };

	if (is_collection(a) && !a->has_max)
		return path;
	if (a->each)
		return unbounded_part(x, a->each,
				      arena_printf(x, "%.*s%s", SLICE_ARG(path), a->type == ATTR_LIST ? "[]" : ".*"));
	for (size_t i = 0; a->members && i < a->members->member_count && !part.n; i++) {
		const struct attribute *m = &a->members->members[i];

		part = unbounded_part(x, m, arena_printf(x, "%.*s.%.*s", SLICE_ARG(path), SLICE_ARG(m->name)));
	}
	return part;
}

static void unbounded_list(struct checker *c, const struct entity *e, const struct attribute *a)
{
	struct slice part = a->derived || a->copy_entity.n ? SLICE("") : unbounded_part(c->arena, a, a->name);

	if (part.n)
		check_say(c, a->place, "%.*s can grow without limit", SLICE_ARG(part));
}

/* ---- capacity ---- */

/* Write units of creating one item of at most 1 KB: each action, twice in a transaction, and each index it is in. */
static double units_of_create(const struct checker *c, const struct entity *e)
{
	struct traffic_write w = check_write_of(c, e);

	return (w.actions > 1 ? w.actions * 2 : 1) + w.indexed;
}

static void capacity(struct checker *c)
{
	double writes = 0;
	if (!c->d->provisioned)
		return;
	EACH (struct traffic_rule, t, c->d->traffic, c->d->traffic_count) {
		struct slice verb;
		const struct entity *e = design_call(c->d, t->pattern, &verb);
		if (e && slice_is(verb, "create"))
			writes += t->per_second * units_of_create(c, e);
	}
	if (writes <= (double)c->d->write_units)
		return;
	check_say(c, AT_SUBJECT, "the declared traffic takes about %.0f write units a second, %lld are provisioned",
		  writes, (long long)c->d->write_units);
}

const struct rule check_rules_limit[] = {
	{ "transaction-size", SEVERITY_ERROR, "A transaction has at most 100 actions, and the write is refused.",
	  "Limit the list: `list of string 0..50`, or `first 50 of tags`.", .entity = transaction_size },
	{ "unbounded-text", SEVERITY_NOTE,
	  "The write that exceeds it is refused by DynamoDB, with a message about the whole item.",
	  "Give it a length: `text 0..350000`.", .attribute = unbounded_text },
	{ "unbounded-list", SEVERITY_WARNING,
	  "It is read and written as a whole, each time dearer, until the item is full and every write of it is refused.",
	  "Give it a maximum: `list of string 0..50`, `map 0..20`; what grows further are items of their own.",
	  .attribute = unbounded_list },
	{ "capacity", SEVERITY_WARNING, "A transaction costs twice, and each index an item is in is one more write.",
	  "Provision more, or `billing: on demand`.", .design = capacity },
	{ NULL },
};
