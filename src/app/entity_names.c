/* What terms and templates read of the item they are about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity_internal.h"

/* ---- by themselves ---- */

struct each {
	names_fn *fn;
	void *ctx;
};

static bool is_elsewhere(struct slice name)
{
	return slice_is(name, "old") || slice_is(name, "input") || slice_is(name, "caller");
}

static void visit_names(const struct each *x, const struct slice *names, size_t n)
{
	if (n == 1 || (n > 1 && !is_elsewhere(names[0])))
		x->fn(x->ctx, names[0]);
}

static void visit_term(void *ctx, const struct term *t)
{
	if (t->kind == TERM_PATH)
		visit_names(ctx, t->names, t->name_count);
}

void names_each(const struct term *t, names_fn *fn, void *ctx)
{
	struct each x = { fn, ctx };

	if (t)
		term_walk(t, visit_term, &x);
}

void names_each_template(const struct template *t, names_fn *fn, void *ctx)
{
	struct each x = { fn, ctx };

	for (size_t i = 0; t && i < t->part_count; i++)
		visit_names(&x, t->parts[i].names, t->parts[i].name_count);
}

/* ---- and through what follows from others ---- */

struct names {
	struct arena *arena;
	struct name_list *list, seen; /* seen: followed already, so that a circle ends */
	const struct entity *entity;
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

static void follow(void *ctx, struct slice name)
{
	struct names *x = ctx;
	const struct entity *e = x->entity;
	const struct attribute *a = entity_attribute(e, name);

	if (has(&x->seen, name))
		return;
	names_add(x->arena, &x->seen, name);
	if (a) {
		names_add(x->arena, x->list, name);
		names_each(a->derived, follow, x);
		names_each(a->when, follow, x);
		if (a->after.n)
			follow(x, a->after);
	}
	for (size_t i = 0; i < e->key_count; i++) {
		if (!slice_equal(e->keys[i].attribute, name))
			continue;
		names_each_template(e->keys[i].template, follow, x);
		names_each(e->keys[i].when, follow, x);
	}
}

/* old.x is x as it was stored, whatever x is made from. */
static void add_old(void *ctx, const struct term *t)
{
	struct names *x = ctx;

	if (t->kind == TERM_PATH && t->name_count > 1 && slice_is(t->names[0], "old") && entity_attribute(x->entity, t->names[1]))
		names_add(x->arena, x->list, t->names[1]);
}

void names_of_term(struct arena *a, struct name_list *l, const struct entity *e, const struct term *t)
{
	struct names x = { .arena = a, .list = l, .entity = e };

	names_each(t, follow, &x);
	if (t)
		term_walk(t, add_old, &x);
}

void names_of_template(struct arena *a, struct name_list *l, const struct entity *e, const struct template *t)
{
	struct names x = { .arena = a, .list = l, .entity = e };

	names_each_template(t, follow, &x);
}

void names_of_copy(struct arena *a, struct name_list *l, const struct entity *source, const struct attribute *copy)
{
	names_add(a, l, copy->copy_attribute);
	if (copy->copy_if)
		names_of_term(a, l, source, copy->copy_if);
}
