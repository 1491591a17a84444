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

static void transaction_size(struct checker *c, const struct entity *e)
{
	double actions = 1 + (double)e->count_count + (double)e->require_count + (e->delete_.then_count ? 1 : 0);
	const struct companion *open = NULL;
	EACH (struct companion, k, e->companions, e->companion_count) {
		double n = k->each_list ? most_elements(e, k->each_list) : 1;
		if (n < 0)
			open = k;
		else
			actions += n;
	}
	if (actions > ACTIONS_MAX)
		check_say(c, AT_SUBJECT, "one %.*s can take %.0f actions", SLICE_ARG(e->name), actions);
	if (open) {
		check_say(c, open->place, "one %.*s takes an action for each element of a list without a maximum",
			  SLICE_ARG(e->name));
		check_severity(c, SEVERITY_WARNING);
	}
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
