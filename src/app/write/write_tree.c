/* Trees: an item that requires another of its own kind is its child, and must never be its own ancestor.
 *
 * When the item gets another parent, or another identity, reads its ancestors upwards. Each is read as a term reads it, so the write
 * commits only if all of them still have the same parents (witness.h): of two writes that would each move an item
 * below the other, one fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/entity/renamed.h"
#include "app/write/write_plan.h"

#define LEVELS_MOST 32 /* each is a condition of the transaction, which has at most 100 actions */

struct climb {
	struct write *write;
	const struct requirement *rule;
	struct slice parent;    /* the attribute with the parent */
	struct name_list names; /* the attributes that determine an item's place */
};

/* The attribute with the parent: that of a reference with `tree`, or the changeable attribute of a rule that requires
 * the item's own kind and uses only its attributes. */
static const struct attribute *parent_of(const struct entity *e, const struct requirement *q)
{
	const struct attribute *found = NULL;

	if (q->of)
		return q->of->tree ? q->of : NULL;
	if (q->target.to != e || q->target.arg_count != e->param_count)
		return NULL;
	for (size_t i = 0; i < q->target.arg_count; i++) {
		const struct term *t = q->target.args[i];
		const struct attribute *a =
			t->kind == TERM_PATH && t->name_count == 1 ? slots_attribute(e->slots, t->at) : NULL;

		if (!a)
			return NULL;
		if (!a->fixed && !a->id)
			found = a;
	}
	return found;
}

/* The item's parent, as a normalised identity; *args NULL: none. */
static bool place_of(struct climb *c, const struct row *item, struct value **args)
{
	const struct entity *e = c->write->entity;
	struct scope s = { .run = c->write->run, .item = item };
	struct value *place;
	bool holds;

	*args = NULL;
	if (!scope_holds(&s, c->rule->when, &holds))
		return false;
	if (!holds)
		return true;
	if (!scope_args(&s, c->rule->target.args, e->param_count, &place))
		return false;
	for (size_t i = 0; i < e->param_count; i++) {
		if (!value_present(place[i]) || value_type(place[i]) == VALUE_NULL)
			return true;
		place[i] = input_normal(s.run, slots_attribute(e->slots, e->param_at[i]), place[i]);
	}
	*args = place;
	return true;
}

/* Reads the attributes that determine an ancestor's place. A missing ancestor has no parent. */
static bool read_ancestor(struct climb *c, const struct value *identity, struct row *out)
{
	struct run *r = c->write->run;
	size_t n = c->write->entity->param_count;
	struct term *literals = arena_array(r->arena, struct term, n);
	const struct term **args = arena_array(r->arena, const struct term *, n);
	struct scope s = { .run = r };

	row_init(out, r->arena, NULL);
	for (size_t i = 0; i < n; i++) {
		literals[i] = (struct term){ .kind = TERM_LITERAL, .value = identity[i] };
		args[i] = &literals[i];
	}
	for (size_t i = 0; i < c->names.count; i++) {
		struct term fetch = { .kind = TERM_FETCH,
				      .name = c->write->entity->name,
				      .entity = c->write->entity,
				      .args = args,
				      .arg_count = n,
				      .attribute = c->names.list[i]->text,
				      .at = c->names.list[i] };
		struct value v;

		if (!scope_value(&s, &fetch, &v))
			return false;
		if (value_present(v))
			row_set(out, fetch.at, v);
	}
	return true;
}

static bool is_itself(const struct climb *c, const struct row *item, const struct value *place)
{
	const struct entity *e = c->write->entity;

	for (size_t i = 0; i < e->param_count; i++)
		if (!value_equal(place[i], row_get(item, e->param_at[i])))
			return false;
	return true;
}

/* An ancestor without a parent may be a name that an item has given up, with children that have not followed yet: they
 * are that item's (renamed.h). *place NULL: it is not. */
static bool follow_rename(struct climb *c, const struct value *was, const struct value **place)
{
	struct run *r = c->write->run;
	const struct entity *e = c->write->entity;
	bool found = false;

	*place = NULL;
	if (!was || !e->rename.then_count)
		return true;
	if (renamed_now(r, e, was, e->param_count) == was && !renamed_look(r, e, was, e->param_count, &found))
		return false;
	if (found)
		*place = renamed_now(r, e, was, e->param_count);
	return true;
}

static bool climb(struct climb *c, const struct row *item, const struct row *before)
{
	struct run *r = c->write->run;
	struct row *at = arena_array(r->arena, struct row, LEVELS_MOST);
	const struct row *from = item;
	const struct value *place = NULL, *was;
	struct value *next;

	for (int level = 0;; level++) {
		was = place;
		if (!place_of(c, from, &next))
			return false;
		place = next ? renamed_now(r, c->write->entity, next, c->write->entity->param_count) : NULL;
		if (!place && !follow_rename(c, was, &place))
			return false;
		if (!place)
			return true;
		/* Those below its old name may follow it. */
		if (is_itself(c, item, place) || (before && is_itself(c, before, place)))
			return run_invalid(r, c->parent, "%s %.*s cannot be below itself",
					   strchr("AEIO", c->write->entity->name.p[0]) ? "an" : "a",
					   SLICE_ARG(c->write->entity->name));
		if (level == LEVELS_MOST)
			return run_invalid(r, c->parent, "at most %d levels", LEVELS_MOST);
		if (!read_ancestor(c, place, &at[level]))
			return false;
		from = &at[level];
	}
}

/* Whether the item stays where it was. An item that gets another identity may be named as a parent already: by an item
 * whose parent is gone. */
static bool stays(const struct climb *c, const struct row *item, const struct row *before)
{
	const struct entity *e = c->write->entity;
	bool same = true;

	for (size_t i = 0; i < e->param_count; i++)
		same = same && value_equal(row_get(item, e->param_at[i]), row_get(before, e->param_at[i]));
	for (size_t i = 0; i < c->names.count; i++)
		same = same && value_equal(row_get(item, c->names.list[i]), row_get(before, c->names.list[i]));
	return same;
}

bool write_tree(struct write *w, const struct row *item, const struct row *before)
{
	const struct entity *e = w->entity;

	for (size_t i = 0; i < e->require_count; i++) {
		const struct attribute *parent = parent_of(e, &e->requires[i]);
		struct climb c = { .write = w, .rule = &e->requires[i] };

		if (!parent)
			continue;
		c.parent = parent->name;
		names_of_term(w->run->arena, &c.names, e, c.rule->when);
		for (size_t k = 0; k < e->param_count; k++)
			names_of_term(w->run->arena, &c.names, e, c.rule->target.args[k]);
		if (before && stays(&c, item, before))
			continue;
		for (size_t k = 0; k < c.names.count; k++)
			names_add(w->run->arena, &w->looked_at, c.names.list[k]);
		if (!climb(&c, item, before))
			return false;
	}
	return true;
}
