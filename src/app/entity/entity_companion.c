/* The companions of an item, made from it alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/entity_key.h"
#include "base/grow.h"
#include "base/map.h"

struct companions {
	struct run *run;
	const struct row *full;
	struct companion_item *list;
	size_t count, capacity;
	struct map seen; /* keys, as bytes */
};

static void add_companion(struct companions *c, const struct companion *rule, struct value item, struct value element)
{
	struct value key = dyn_key_of(c->run, item);
	struct slice bytes = value_slice(key);

	if (map_get(&c->seen, bytes))
		return;
	map_set(&c->seen, bytes, c);
	GROW_IN(c->run->arena, c->list, c->count, c->capacity, 4);
	c->list[c->count++] = (struct companion_item){ .rule = rule, .item = item, .key = key, .element = element };
}

static bool fill_rules(struct scope *s, const struct companion *rule, struct row *f)
{
	for (size_t i = 0; i < rule->rule_count; i++) {
		const struct name *name = rule->rules[i].at;
		const struct key_rule *chosen;
		struct value v;

		if (row_has(f, name))
			continue;
		if (!key_rule_choose(s, rule->rules, rule->rule_count, name, &chosen))
			return false;
		if (!chosen)
			continue;
		if (!scope_fill(s, chosen->template, name->key != NULL, &v))
			return false;
		row_set(f, name, v);
	}
	return true;
}

/* Makes one companion: for an element of its list, or the only one. */
static bool make_companion(struct companions *c, const struct companion *rule, struct value element)
{
	struct term_variable each = { rule->each_at, rule->each_variable, element };
	struct scope s = {
		.run = c->run, .item = c->full, .variables = &each, .variable_count = rule->each_variable.n ? 1 : 0
	};
	const struct design *d = c->run->design;
	struct row f;
	bool holds;

	if (!scope_holds(&s, rule->when, &holds))
		return false;
	if (!holds)
		return true;
	row_init(&f, c->run->arena, NULL);
	if (!fill_rules(&s, rule, &f))
		return false;
	for (size_t i = 0; i < key_count(d); i++)
		if (value_type(row_get(&f, d->key_at[i])) != d->key_at[i]->key->type)
			return true;
	add_companion(c, rule, row_item(&f), element);
	return true;
}

/* Blames the list's attribute for an element that cannot be in a key: clients do not know the design's variable. */
static bool blame_list(struct run *r, const struct companion *rule)
{
	const struct term *list = rule->each_list;
	struct problem was = r->problem;

	if (was.type != PROBLEM_INVALID || was.part_count != 1 ||
	    !slice_equal(was.parts[0].attribute, rule->each_variable) || list->kind != TERM_PATH ||
	    list->name_count != 1)
		return false;
	r->problem = (struct problem){ 0 };
	return run_invalid(r, list->names[0], "%.*s", SLICE_ARG(was.parts[0].detail));
}

static bool make_each(struct companions *c, const struct companion *rule)
{
	struct scope s = { .run = c->run, .item = c->full };
	struct value list;
	struct value_iter it;

	if (!scope_value(&s, rule->each_list, &list))
		return false;
	if (!value_type_has_elements(value_type(list)))
		return true;
	it = value_iter(list);
	while (value_next(&it))
		if (!make_companion(c, rule, value_element(c->run->arena, &it)))
			return blame_list(c->run, rule);
	return true;
}

bool entity_companions(struct run *r, const struct entity *e, const struct row *full, struct companion_item **out,
		       size_t *n)
{
	struct companions c = { .run = r, .full = full };

	map_init(&c.seen, r->arena);
	for (size_t i = 0; i < e->companion_count; i++) {
		const struct companion *rule = &e->companions[i];

		if (rule->each_list ? !make_each(&c, rule) : !make_companion(&c, rule, VALUE_ABSENT))
			return false;
	}
	*out = c.list;
	*n = c.count;
	return true;
}

/* ---- from an item back to a rule ---- */

bool key_fits_rules(struct run *r, const struct key_rule *rules, size_t n, struct value stored)
{
	for (size_t i = 0; i < key_count(r->design); i++) {
		const struct name *key = r->design->key_at[i];
		struct value v = value_get(stored, key->text);
		size_t literals;
		bool fits = false;

		for (size_t k = 0; k < n && !fits; k++)
			fits = rules[k].at == key && key_matches(r, rules[k].template, v, &literals);
		if (!fits)
			return false;
	}
	return true;
}

static bool is_companion_of(struct run *r, const struct entity *e, struct value stored)
{
	for (size_t k = 0; k < e->companion_count; k++)
		if (key_fits_rules(r, e->companions[k].rules, e->companions[k].rule_count, stored))
			return true;
	return false;
}

const struct entity *entity_of_companion(struct run *r, struct value stored)
{
	const struct entity *found = NULL;

	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		if ((!found || !found->everywhere) && is_companion_of(r, e, stored))
			found = e;
	}
	return found;
}

bool entity_is_companion(struct run *r, struct value stored)
{
	for (size_t i = 0; i < r->design->entity_count; i++)
		for (size_t k = 0; k < r->design->entities[i].companion_count; k++) {
			const struct companion *c = &r->design->entities[i].companions[k];

			if (key_fits_rules(r, c->rules, c->rule_count, stored))
				return true;
		}
	return false;
}

const struct companion_item *companion_find(const struct companion_item *list, size_t n, struct value key)
{
	for (size_t i = 0; i < n; i++)
		if (value_equal(list[i].key, key))
			return &list[i];
	return NULL;
}
