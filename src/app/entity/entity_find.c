/* From an identity to the item's key, and to the item.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/db/dyn.h"
#include "app/entity/entity_key.h"
#include "app/db/guess.h"
#include "app/entity/input.h"
#include "app/entity/renamed.h"
#include "app/entity/upward.h"

static bool is_nothing(struct value v)
{
	return !value_present(v) || value_type(v) == VALUE_NULL;
}

/* ---- what a part of an item determines ---- */

struct asks {
	const struct entity *entity;
	const struct row *have;
	bool missing;
};

static void ask_name(void *ctx, const struct name *name)
{
	struct asks *x = ctx;
	uint32_t at = x->entity->slots->of_name[name->id];
	bool known = at != SLOT_NONE && (x->entity->slots->list[at]->attribute ||
					 key_has_rule(x->entity->keys, x->entity->key_count, name));

	x->missing = x->missing || (known && !row_has(x->have, name));
}

static bool can_tell(const struct entity *e, const struct row *have, const struct term *t)
{
	struct asks x = { .entity = e, .have = have };

	names_each(t, ask_name, &x);
	return !x.missing;
}

/* Sets constants, and derived attributes whose sources are all known, until nothing more follows. */
static bool derive(struct run *r, const struct entity *e, struct row *f)
{
	struct scope s = { .run = r, .item = f };
	bool more = true;

	for (size_t i = 0; i < e->key_count; i++) {
		const struct key_rule *k = &e->keys[i];

		if (!k->when && template_is_constant(k->template) && !k->at->of_table)
			row_set(f, k->at, value_make_s(r->arena, k->template->text));
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < e->attribute_count; i++) {
			const struct attribute *a = &e->attributes[i];
			struct value v;

			if (!a->derived || a->when || row_has(f, a->at) || !can_tell(e, f, a->derived))
				continue;
			if (!scope_value(&s, a->derived, &v))
				return false;
			row_set(f, a->at, v);
			more = true;
		}
	}
	return true;
}

/* ---- keys ---- */

/* Unknown attributes count as absent in conditions. With `strict` a condition that reads one ends the search
 * instead. */
static bool choose_rule(struct scope *s, const struct entity *e, const struct name *attribute, bool strict,
			struct value *out)
{
	const struct key_rule *base = NULL;
	bool holds;

	*out = VALUE_ABSENT;
	for (size_t i = 0; i < e->key_count; i++) {
		const struct key_rule *rule = &e->keys[i];

		if (rule->at != attribute)
			continue;
		if (!rule->when) {
			base = base ? base : rule;
			continue;
		}
		if (strict && !can_tell(e, s->item, rule->when))
			return true;
		if (!scope_holds(s, rule->when, &holds))
			return false;
		if (holds &&
		    (scope_try_fill(s, rule->template, true, out) == TEMPLATE_OK || can_tell(e, s->item, rule->when)))
			return true;
	}
	if (base)
		(void)!scope_try_fill(s, base->template, true, out);
	return true;
}

/* *key is absent when `f` does not lead to one. */
static bool make_key(struct run *r, const struct entity *e, struct row *f, bool strict, struct value *key)
{
	struct scope s = { .run = r, .item = f };
	struct value_member members[TABLE_KEY_MOST];
	const struct name *const *keys = r->design->key_at;

	*key = VALUE_ABSENT;
	if (!derive(r, e, f))
		return false;
	for (size_t i = 0; i < key_count(r->design); i++) {
		struct value v = VALUE_ABSENT;

		if (!key_has_rule(e->keys, e->key_count, keys[i]))
			v = row_get(f, keys[i]);
		else if (!choose_rule(&s, e, keys[i], strict, &v))
			return false;
		if (value_type(v) != keys[i]->key->type || (keys[i]->key->type != VALUE_N && value_bytes(v).n == 0))
			return true;
		members[i] = (struct value_member){ keys[i]->text, v };
	}
	*key = value_make_map(r->arena, members, key_count(r->design));
	return true;
}

/* The same if the identity alone makes the key: no search for conditions. */
static bool fill_key(struct run *r, const struct entity *e, const struct row *identity, struct value *key)
{
	struct scope s = { .run = r, .item = identity };
	struct value_member members[TABLE_KEY_MOST];
	const struct slots *slots = e->slots;

	for (size_t i = 0; i < slots->key_count; i++) {
		const struct name *name = slots->list[slots->keys[i].at]->name;
		struct value v;

		if (scope_try_fill(&s, slots->keys[i].template, true, &v) != TEMPLATE_OK ||
		    value_type(v) != name->key->type)
			return true;
		members[i] = (struct value_member){ name->text, v };
	}
	*key = value_make_map(r->arena, members, slots->key_count);
	return true;
}

static struct guesses *places_of(const struct run *r)
{
	return r->app ? r->app->guesses : NULL;
}

/* ---- found by ---- */

struct finding_by {
	struct run *run;
	const struct entity *entity;
	const struct row *identity;
	struct value *key;
};

/* A pattern may find rows of another identity: /posts/a/comments/1 is not the comment of another post. */
static bool is_of_identity(const struct finding_by *x, const struct row *row)
{
	for (size_t i = 0; i < x->entity->param_count; i++) {
		struct value v = row_get(row, x->entity->param_at[i]);

		if (value_present(v) && !value_equal(v, row_get(x->identity, x->entity->param_at[i])))
			return false;
	}
	return true;
}

static bool visit_row(void *ctx, const struct row *row, bool *stop)
{
	struct finding_by *x = ctx;
	struct run *r = x->run;
	struct row f;

	if (row->entity == x->entity) {
		*stop = is_of_identity(x, row);
		if (*stop)
			*x->key = dyn_key_of(r, row->full);
		if (*stop &&
		    places_of(r)) /* a guess at the item, so that the items it refers to are read in the same round trip */
			guess_learn(places_of(r), *x->key, row->full);
		return true;
	}
	row_init(&f, r->arena, x->entity);
	for (size_t i = 0; i < x->entity->attribute_count; i++) {
		const struct name *at = x->entity->attributes[i].at;

		if (value_present(row_get(row, at)) && !key_has_rule(x->entity->keys, x->entity->key_count, at))
			row_set(&f, at, row_get(row, at));
	}
	for (size_t i = 0; i < x->entity->param_count; i++)
		row_set(&f, x->entity->param_at[i], row_get(x->identity, x->entity->param_at[i]));
	if (!make_key(r, x->entity, &f, false, x->key))
		return false;
	*stop = value_present(*x->key);
	return true;
}

/* ---- places: where an item of this identity was last seen ----
 *
 * A database elsewhere shows an item in an index a moment late, and asking it is a round trip. So this server
 * remembers the keys of items that it wrote or found. A place is a guess: the item is read there, and must have the
 * identity. */

/* The name under which a place is remembered. It is not a valid table key. */
static struct value name_of_place(struct run *r, const struct entity *e, const struct row *identity)
{
	struct value_member *members = arena_array(r->arena, struct value_member, e->param_count + 1);

	members[0] = (struct value_member){ SLICE("@entity"), value_make_s(r->arena, e->name) };
	for (size_t i = 0; i < e->param_count; i++)
		members[i + 1] = (struct value_member){ e->params[i], row_get(identity, e->param_at[i]) };
	return value_make_map(r->arena, members, e->param_count + 1);
}

static bool look_at_place(struct run *r, const struct entity *e, const struct row *identity, struct value *key)
{
	struct finding_by x = { .run = r, .entity = e, .identity = identity, .key = key };
	struct value place = guess_item(places_of(r), r->arena, name_of_place(r, e, identity), NULL), stored;

	if (!value_present(place))
		return true;
	if (!dyn_get(r, place, true, &stored))
		return false;
	if (value_present(stored) && entity_of(r, stored) == e) {
		struct row item = entity_lay(r, e, stored);

		if (is_of_identity(&x, &item))
			*key = place;
	}
	return true;
}

void entity_remember_place(struct run *r, const struct entity *e, const struct row *item, struct value key)
{
	if (!e->found_by.n || !places_of(r) || !value_present(key))
		return;
	for (size_t i = 0; i < e->param_count; i++)
		if (is_nothing(row_get(item, e->param_at[i])))
			return;
	guess_learn(places_of(r), name_of_place(r, e, item), key);
}

static bool find_by(struct run *r, const struct entity *e, const struct row *identity, struct value *key)
{
	struct finding_by x = { .run = r, .entity = e, .identity = identity, .key = key };
	struct scope s = { .run = r, .item = identity };

	if (places_of(r) && (!look_at_place(r, e, identity, key) || value_present(*key)))
		return value_present(*key);
	if (!read_each(e->found_access, &s, NULL, 0, visit_row, &x))
		return false;
	if (places_of(r) && value_present(*key))
		guess_learn(places_of(r), name_of_place(r, e, identity), *key);
	return true;
}

/* ---- */

/* False: a part of the identity is absent. */
static bool lay_identity(struct run *r, const struct entity *e, const struct value *args, struct row *identity)
{
	row_init(identity, r->arena, e);
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);

		if (is_nothing(args[i]))
			return false;
		row_set(identity, e->param_at[i], a ? input_normal(r, a, args[i]) : args[i]);
	}
	return true;
}

bool entity_locate(struct run *r, const struct entity *e, const struct value *args, size_t n, struct value *key)
{
	bool by_itself = e->slots->located && !e->found_by.n;
	const struct value *known;
	struct row identity, f;

	*key = VALUE_ABSENT;
	if (n != e->param_count)
		return run_fail(r, PROBLEM_INTERNAL, "A %.*s has %zu values in its identity, not %zu",
				SLICE_ARG(e->name), e->param_count, n);
	if (r->renames)
		args = renamed_now(r, e, args, n);
	known = by_itself ? memo_place(r, e, args) : NULL;
	if (known) {
		*key = *known;
		return true;
	}
	if (!lay_identity(r, e, args, &identity))
		return true;
	if (by_itself) {
		if (!fill_key(r, e, &identity, key))
			return false;
		if (r->witnesses) /* of a write */
			memo_keep_place(r, e, args, *key);
		return true;
	}
	row_copy(&f, r->arena, &identity);
	if (!make_key(r, e, &f, e->found_by.n > 0, key))
		return false;
	if (value_present(*key) || !e->found_by.n)
		return true;
	return find_by(r, e, &identity, key);
}

bool entity_is_at(struct run *r, const struct row *item, const struct value *args, size_t n)
{
	const struct entity *e = item->entity;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = item->slots->of_name[e->param_at[i]->id];
		const struct attribute *a = item->slots->list[at]->attribute;
		struct value v = item->values[at];

		if (value_present(v) && !value_equal(v, args[i]) && (!a || !value_equal(v, input_normal(r, a, args[i]))))
			return false;
	}
	return true;
}
