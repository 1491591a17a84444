/* The attributes of the item that terms and templates read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "base/grow.h"

/* ---- by themselves ---- */

struct each {
	names_fn *fn;
	void *ctx;
};

static void visit_term(void *ctx, const struct term *t)
{
	const struct each *x = ctx;

	if (t->kind == TERM_PATH && t->of == TERM_OF_ITEM && t->at)
		x->fn(x->ctx, t->at);
}

void names_each(const struct term *t, names_fn *fn, void *ctx)
{
	struct each x = { fn, ctx };

	if (t)
		term_walk(t, visit_term, &x);
}

void names_each_template(const struct template *t, names_fn *fn, void *ctx)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].at && t->parts[i].of == TERM_OF_ITEM)
			fn(ctx, t->parts[i].at);
}

/* ---- and through what follows from others ---- */

struct names {
	struct arena *arena;
	struct name_list *list;
	const struct entity *entity;
	bool *seen; /* by slot: visited already; ends circles */
};

bool names_have(const struct name_list *l, const struct name *n)
{
	return names_among(l->list, l->count, n);
}

void names_add(struct arena *a, struct name_list *l, const struct name *n)
{
	if (names_have(l, n))
		return;
	GROW_IN(a, l->list, l->count, l->capacity, 8);
	l->list[l->count++] = n;
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
		names_add(x->arena, x->list, name);
		names_each(a->derived, follow, x);
		names_each(a->when, follow, x);
		if (a->after.n)
			follow(x, a->after_at);
	}
	for (size_t i = 0; i < e->key_count; i++) {
		if (e->keys[i].at != name)
			continue;
		names_each_template(e->keys[i].template, follow, x);
		names_each(e->keys[i].when, follow, x);
	}
}

/* old.x is the stored x: the attributes that x is made from do not matter. */
static void add_old(void *ctx, const struct term *t)
{
	struct names *x = ctx;

	if (t->kind == TERM_PATH && t->of == TERM_OF_OLD && t->at && slots_attribute(x->entity->slots, t->at))
		names_add(x->arena, x->list, t->at);
}

void names_of_term(struct arena *a, struct name_list *l, const struct entity *e, const struct term *t)
{
	struct names x = { .arena = a, .list = l, .entity = e };

	if (!t)
		return;
	x.seen = arena_array(a, bool, e->slots->count);
	names_each(t, follow, &x);
	term_walk(t, add_old, &x);
}

void names_of_template(struct arena *a, struct name_list *l, const struct entity *e, const struct template *t)
{
	struct names x = { .arena = a, .list = l, .entity = e, .seen = arena_array(a, bool, e->slots->count) };

	names_each_template(t, follow, &x);
}

void names_of_copy(struct arena *a, struct name_list *l, const struct entity *source, const struct attribute *copy)
{
	names_add(a, l, copy->copy_at);
	if (copy->copy_if)
		names_of_term(a, l, source, copy->copy_if);
}
