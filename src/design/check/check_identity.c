/* Rules about the table's own key: whether it distinguishes items, and whether an item can be found again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static size_t key_templates(const struct entry *e, const struct template **out)
{
	out[0] = e->hash[0];
	out[1] = e->range[0];
	return e->range[0] ? 2 : 1;
}

/* ---- a time in the key ---- */

/* Whether every placeholder of the guard's key is also in the item's key, and none is the time. */
static bool guards(const struct checker *c, const struct shape *s, const struct entry *item, struct slice time)
{
	EACH (struct entry, e, c->spaces[0].entries, c->spaces[0].entry_count) {
		if (e->shape != s)
			continue;
		const struct template *keys[2], *own[2];
		size_t n = key_templates(e, keys), m = key_templates(item, own), holes = 0;
		bool fits = true;
		for (size_t k = 0; k < n; k++)
			EACH (struct template_part, p, keys[k]->parts, keys[k]->part_count) {
				if (!p->names)
					continue;
				holes++;
				bool known = false;
				for (size_t j = 0; j < m; j++)
					known |= template_names(own[j], p->names[0]);
				fits &= known && !slice_equal(p->names[0], time);
			}
		if (fits && holes)
			return true;
	}
	return false;
}

static bool has_guard(const struct checker *c, const struct entry *e, struct slice time)
{
	EACH (struct shape, s, c->shapes, c->shape_count)
		if (s->entity == e->shape->entity && s->companion && s->companion->unique.n && !s->companion->when &&
		    guards(c, s, e, time))
			return true;
	return false;
}

/* Whether the key has an id that is new for each item, or that names only this item. */
static bool has_own_id(struct checker *c, const struct entry *e)
{
	const struct template *keys[2];
	size_t n = key_templates(e, keys);
	for (size_t k = 0; k < n; k++)
		EACH (struct template_part, p, keys[k]->parts, keys[k]->part_count) {
			const struct attribute *a = p->names ? entity_attribute(e->shape->entity, p->names[0]) : NULL;
			if (!a)
				continue;
			struct slice own = arena_printf(c->arena, "%.*sid",
							SLICE_ARG(plain_name(c->arena, e->shape->entity->name)));
			if (a->id || slice_equal(plain_name(c->arena, a->name), own))
				return true;
		}
	return false;
}

static void time_lets_duplicate(struct checker *c, const struct space *s, const struct entry *x)
{
	const struct entity *e = x->shape->entity;
	if (s->index || x->shape->companion)
		return;
	for (size_t k = 0; k < key_attr_count(s->key); k++) {
		const struct template *t = entry_key(s, x, k);
		EACH (struct template_part, p, t->parts, t->part_count) {
			const struct attribute *a = p->names ? entity_attribute(e, p->names[0]) : NULL;
			if (a && (a->now || a->touched) && !is_parameter(e, a->name) && !has_own_id(c, x) &&
			    !has_guard(c, x, a->name))
				check_say(c, t->place,
					  "%.*s in %.*s makes each key new: the same thing can be done twice",
					  SLICE_ARG(a->name), SLICE_ARG(t->text));
		}
	}
}

/* ---- addressing ---- */

static bool is_beyond_identity(const void *e, const struct term *t)
{
	return term_name(t) && !is_parameter(e, *term_name(t));
}

static bool follows_from_identity(const struct entity *e, struct slice name)
{
	const struct attribute *a = entity_attribute(e, name);
	return is_parameter(e, name) || (a && a->derived && !term_any(a->derived, is_beyond_identity, e));
}

/* The first placeholder of the entry's key that the path does not give; NULL: none. */
static const struct template_part *missing_in_path(const struct entry *x, const struct template **in)
{
	const struct template *keys[2];
	size_t n = key_templates(x, keys);
	for (size_t k = 0; k < n; k++)
		EACH (struct template_part, p, keys[k]->parts, keys[k]->part_count)
			if (p->names && !follows_from_identity(x->shape->entity, p->names[0])) {
				*in = keys[k];
				return p;
			}
	return NULL;
}

static void not_addressable(struct checker *c, const struct entity *e)
{
	EACH (struct entry, x, c->spaces[0].entries, c->spaces[0].entry_count) {
		const struct template *t;
		const struct template_part *p =
			x->shape->entity == e && !x->shape->companion && !e->found_by.n && e->params
				? missing_in_path(x, &t)
				: NULL;
		if (!p)
			continue;
		check_say(c, t->place, "%.*s needs %.*s, which the path %.*s does not have", SLICE_ARG(t->text),
			  SLICE_ARG(p->names[0]), SLICE_ARG(e->path));
		return;
	}
}

/* ---- two kinds, one key ---- */

static void same_key(struct checker *c, const struct space *s, const struct entry *y)
{
	if (s->index)
		return;
	EACH (struct entry, x, s->entries, (size_t)(y - s->entries))
		if (x->shape != y->shape && template_alike(x->hash[0], y->hash[0]) &&
		    (!x->range[0] || template_alike(x->range[0], y->range[0])))
			check_say(c, y->hash[0]->place, "%.*s and %.*s have the same key, %.*s",
				  SLICE_ARG(y->shape->name), SLICE_ARG(x->shape->name), SLICE_ARG(y->hash[0]->text));
}

/* ---- identities that move ---- */

/* Whether items of the other entity are found by what the rename names, and get the new identity. */
static bool moves_with(const struct checker *c, const struct entity *e, const struct entity *other)
{
	for (size_t i = 0; i < e->rename.then_count; i++) {
		const struct access *a = e->rename.then_access[i];
		if (entity_follows(other, e, 0) && (a->of == other || reach_has_entity(check_reach(c, a), other)))
			return true;
	}
	return false;
}

/* The same, or they follow what follows. */
static bool moves_along(const struct checker *c, const struct entity *e, const struct entity *other, int depth)
{
	if (moves_with(c, e, other))
		return true;
	EACH (struct entity, x, c->d->entities, depth < 4 ? c->d->entity_count : 0)
		if (x != e && x != other && moves_with(c, e, x) && moves_along(c, x, other, depth + 1))
			return true;
	return false;
}

static void identity_can_change(struct checker *c, const struct entity *e)
{
	const struct attribute *moving = NULL;
	EACH (struct slice, p, e->params, e->param_count) {
		const struct attribute *a = entity_attribute(e, *p);
		if (a && attribute_can_change(a) && !a->touched && !a->from_key)
			moving = a;
	}
	/* Without an `update` rule the value cannot change; a marker has no other attributes. */
	if (!moving || !e->allow[ALLOW_UPDATE] || e->allow[ALLOW_UPDATE]->kind == TERM_NEVER || e->attribute_count < 4)
		return;
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		const struct attribute *through;
		enum refers how = entity_refers(c, other, e, &through);
		/* One part of a longer identity may name another entity: only E(a, b) surely means this item. */
		if (how == REFERS_NOT || (e->param_count > 1 && how != REFERS_CHECKED) || moves_along(c, e, other, 0))
			continue;
		check_say(c, moving->place, "%.*s may change, and %.*s refers to it", SLICE_ARG(moving->name),
			  SLICE_ARG(other->name));
		break;
	}
}

/* The item that the entity's items follow when it is renamed, by which the other one's do not; NULL: none. */
static const struct entity *leaves_behind(const struct checker *c, const struct entity *e, const struct entity *other)
{
	EACH (struct entity, of, c->d->entities, c->d->entity_count)
		if (of != other && moves_along(c, of, e, 0) && !moves_along(c, of, other, 0))
			return of;
	return NULL;
}

/* Items that refer to one which follows have to follow that, or the same rename. */
static void left_behind(struct checker *c, const struct entity *e)
{
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		const struct entity *of = leaves_behind(c, e, other);
		const struct attribute *through;
		if (!of || entity_refers(c, other, e, &through) != REFERS_CHECKED || moves_along(c, e, other, 0))
			continue;
		check_say(c, e->rename.then_count ? e->rename.place : AT_SUBJECT,
			  "a %.*s follows the %.*s that is renamed, and %.*s, which refers to it, does not",
			  SLICE_ARG(e->name), SLICE_ARG(of->name), SLICE_ARG(other->name));
		check_repair(c, "Say `rename: {then move: …}` of %.*s, with a pattern that finds them.",
			     SLICE_ARG(e->name));
	}
}

const struct rule check_rules_identity[] = {
	{ "time-lets-duplicate", SEVERITY_ERROR,
	  "attribute_not_exists(PK) never fails when every key is new; an index does not enforce uniqueness either.",
	  "Add a companion without the time in its key: {unique: userId, PK: LIKE#<userId>#<postId>, SK: LIKE}.",
	  .entry = time_lets_duplicate },
	{ "not-addressable", SEVERITY_WARNING, "The path alone is not enough to read, change or delete the item.",
	  "Name the pattern that finds the rest (`found by`), or put the value into the path.",
	  .entity = not_addressable },
	{ "same-key", SEVERITY_ERROR, "The table's key is all that tells items apart.",
	  "Give each kind a prefix of its own.", .entry = same_key },
	{ "identity-can-change", SEVERITY_WARNING,
	  "After the change they refer to nothing, or to the next item with that name.",
	  "Make it `fixed`, let the others refer to an id, or let them follow: `rename: {then move: …}`.",
	  .entity = identity_can_change },
	{ "left-behind", SEVERITY_WARNING, "After the rename it refers to nothing, or to the next item with that name.",
	  "Let it follow, too.", .entity = left_behind },
	{ NULL },
};
