/* What terms and templates read of the item they are about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"

/* ---- by themselves ---- */

struct each {
	const struct entity *entity;
	names_fn *fn;
	void *ctx;
};

/* A term that was made here has names without numbers. */
static void visit_path(const struct each *x, const struct slice *names, enum term_of of, const struct name *at)
{
	const struct slots *s = x->entity->slots;
	uint32_t found;

	if (!names || of != TERM_OF_ITEM)
		return;
	if (!at) {
		found = slots_find(s, names[0]);
		at = found == SLOT_NONE ? NULL : s->list[found]->name;
	}
	if (at)
		x->fn(x->ctx, at);
}

static void visit_term(void *ctx, const struct term *t)
{
	if (t->kind == TERM_PATH)
		visit_path(ctx, t->names, t->of, t->at);
}

void names_each(const struct entity *e, const struct term *t, names_fn *fn, void *ctx)
{
	struct each x = { e, fn, ctx };

	if (t)
		term_walk(t, visit_term, &x);
}

void names_each_template(const struct entity *e, const struct template *t, names_fn *fn, void *ctx)
{
	struct each x = { e, fn, ctx };

	for (size_t i = 0; t && i < t->part_count; i++)
		visit_path(&x, t->parts[i].names, t->parts[i].of, t->parts[i].at);
}

/* ---- and through what follows from others ---- */

struct names {
	struct arena *arena;
	struct name_list *list;
	const struct entity *entity;
	bool *seen; /* by slot: followed already, so that a circle ends */
};

static bool has(const struct name_list *l, struct slice name)
{
	for (size_t i = 0; i < l->count; i++)
		if (slice_equal(l->list[i], name))
			return true;
	return false;
}

void names_add(struct arena *a, struct name_list *l, struct slice name)
{
	if (has(l, name))
		return;
	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 8;

		l->list = arena_grow(a, l->list, l->capacity * sizeof(*l->list), capacity * sizeof(*l->list));
		l->capacity = capacity;
	}
	l->list[l->count++] = name;
}

static void follow(void *ctx, const struct name *name)
{
	struct names *x = ctx;
	const struct entity *e = x->entity;
	uint32_t at = e->slots->of_name[name->id];
	const struct attribute *a;

	if (at == SLOT_NONE || x->seen[at])
		return;
	x->seen[at] = true;
	a = e->slots->list[at]->attribute;
	if (a) {
		names_add(x->arena, x->list, a->name);
		names_each(e, a->derived, follow, x);
		names_each(e, a->when, follow, x);
		if (a->after.n)
			follow(x, a->after_at);
	}
	for (size_t i = 0; i < e->key_count; i++) {
		if (e->keys[i].at != name)
			continue;
		names_each_template(e, e->keys[i].template, follow, x);
		names_each(e, e->keys[i].when, follow, x);
	}
}

/* old.x is x as it was stored, whatever x is made from. */
static void add_old(void *ctx, const struct term *t)
{
	struct names *x = ctx;

	if (t->kind == TERM_PATH && t->of == TERM_OF_OLD && entity_attribute(x->entity, t->names[1]))
		names_add(x->arena, x->list, t->names[1]);
}

void names_of_term(struct arena *a, struct name_list *l, const struct entity *e, const struct term *t)
{
	struct names x = { .arena = a, .list = l, .entity = e };

	if (!t)
		return;
	x.seen = arena_array(a, bool, e->slots->count);
	names_each(e, t, follow, &x);
	term_walk(t, add_old, &x);
}

void names_of_template(struct arena *a, struct name_list *l, const struct entity *e, const struct template *t)
{
	struct names x = { .arena = a, .list = l, .entity = e, .seen = arena_array(a, bool, e->slots->count) };

	names_each_template(e, t, follow, &x);
}

void names_of_copy(struct arena *a, struct name_list *l, const struct entity *source, const struct attribute *copy)
{
	names_add(a, l, copy->copy_attribute);
	if (copy->copy_if)
		names_of_term(a, l, source, copy->copy_if);
}
