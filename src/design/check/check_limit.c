/* Rules about DynamoDB's limits and what the declared traffic costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

#define ACTIONS_MAX 100 /* of one transaction */

/* ---- transactions ---- */

/* How many elements a list of a companion can have; -1: nobody knows. */
static double most_elements(const struct entity *e, const struct term *t)
{
	if (t->kind == TERM_PATH && t->name_count == 1) {
		const struct attribute *a = entity_attribute(e, t->names[0]);
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

static void transaction_size(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		double actions = 1 + (double)e->count_count + (double)e->require_count + (e->delete_.then_count ? 1 : 0);
		const struct companion *open = NULL;
		EACH (struct companion, k, e->companions, e->companion_count) {
			double n = k->each_list ? most_elements(e, k->each_list) : 1;
			if (n < 0)
				open = k;
			else
				actions += n;
		}
		struct about about = about_entity(c, e);
		if (actions > ACTIONS_MAX)
			check_say(c, &about, (struct place){ 0 }, "one %.*s can take %.0f actions", SLICE_ARG(e->name),
				  actions);
		if (open) {
			check_say(c, &about, open->place,
				  "one %.*s takes an action for each element of a list without a "
				  "maximum",
				  SLICE_ARG(e->name));
			check_severity(c, SEVERITY_WARNING);
		}
	}
}

/* ---- sizes ---- */

static void unbounded_text(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->type == ATTR_TEXT && !a->derived && !a->copy_entity.n &&
			    (!a->has_max || a->max > 380000)) {
				struct about about = about_entity(c, e);
				check_say(c, &about, a->place, "%.*s can be longer than an item", SLICE_ARG(a->name));
			}
}

static bool is_collection(const struct attribute *a)
{
	return a->type == ATTR_LIST || a->type == ATTR_SET || a->type == ATTR_MAP;
}

static void unbounded_list(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (is_collection(a) && !a->derived && !a->copy_entity.n && !a->has_max) {
				struct about about = about_entity(c, e);
				check_say(c, &about, a->place, "%.*s can grow without an end", SLICE_ARG(a->name));
			}
}

/* ---- capacity ---- */

/* Write units of creating one item of at most 1 KB: each action, twice in a transaction, and each
 * index it is in. */
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
		if (t->pattern.n <= 7 || memcmp(t->pattern.p, "create ", 7) != 0)
			continue;
		const struct entity *e = design_entity(c->d, slice_make(t->pattern.p + 7, t->pattern.n - 7));
		if (e)
			writes += t->per_second * units_of_create(c, e);
	}
	if (writes <= (double)c->d->write_units)
		return;
	struct about about = about_table(c);
	check_say(c, &about, (struct place){ 0 },
		  "the declared traffic takes about %.0f write units a second, %lld are provisioned", writes,
		  (long long)c->d->write_units);
}

const struct rule check_rules_limit[] = {
	{ "transaction-size", SEVERITY_ERROR, transaction_size,
	  "One write can take more than 100 actions (warning: it has no limit).",
	  "A transaction has at most 100 actions, and the write is refused.",
	  "Limit the list: `list of string 0..50`, or `first 50 of tags`." },
	{ "unbounded-text", SEVERITY_NOTE, unbounded_text, "Text without a maximum, in an item of at most 400 KB.",
	  "The write that exceeds it is refused by DynamoDB, with a message about the whole item.",
	  "Give it a length: `text 0..350000`." },
	{ "unbounded-list", SEVERITY_WARNING, unbounded_list,
	  "A list, set or map without a maximum, in an item of at most 400 KB.",
	  "It is read and written as a whole, each time dearer, until the item is full and every "
	  "write of it is refused.",
	  "Give it a maximum: `list of string 0..50`, `map 0..20`; what grows further are items of "
	  "their own." },
	{ "capacity", SEVERITY_WARNING, capacity, "The provisioned units are below what the declared traffic costs.",
	  "A transaction costs twice, and each index an item is in is one more write.",
	  "Provision more, or `billing: on demand`." },
	{ NULL },
};
