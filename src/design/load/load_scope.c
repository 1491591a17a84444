/* The names a term, a template or a list may use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define MERGE_DEPTH_MAX 8

static bool each_of_entity(const struct entity *e, load_name_fn *fn, void *ctx)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (fn(ctx, e->attributes[i].name))
			return true;
	for (size_t i = 0; i < e->key_count; i++)
		if (fn(ctx, e->keys[i].attribute))
			return true;
	return false;
}

/* Also the attributes of its companions. */
static bool each_of_items(const struct entity *e, load_name_fn *fn, void *ctx)
{
	if (each_of_entity(e, fn, ctx))
		return true;
	for (size_t i = 0; i < e->companion_count; i++)
		for (size_t k = 0; k < e->companions[i].rule_count; k++)
			if (fn(ctx, e->companions[i].rules[k].attribute))
				return true;
	return false;
}

static bool each_entity(const struct design *d, load_entity_fn *fn, void *ctx)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (fn(ctx, &d->entities[i]))
			return true;
	return false;
}

static bool each_of_rows(struct load *l, const struct access *a, int depth, load_entity_fn *fn, void *ctx)
{
	const struct entity *e = NULL;

	if (a && a->entity.n)
		e = design_entity(l->d, a->entity);
	else if (a && a->get.entity.n)
		e = design_entity(l->d, a->get.entity);
	if (e)
		return fn(ctx, e);
	if (!a || a->kind != ACCESS_MERGE || depth == MERGE_DEPTH_MAX)
		return each_entity(l->d, fn, ctx);
	if (!a->merge_of_count)
		return each_of_rows(l, design_access(l->d, a->merge_pattern), depth + 1, fn, ctx);
	for (size_t i = 0; i < a->merge_of_count; i++)
		if (each_of_rows(l, design_access(l->d, a->merge_of[i]), depth + 1, fn, ctx))
			return true;
	return false;
}

bool load_each_row_entity(struct load *l, const struct access *a, bool fetched, load_entity_fn *fn, void *ctx)
{
	const struct entity *then = a && a->then.entity.n ? design_entity(l->d, a->then.entity) : NULL;

	if (then && fn(ctx, then))
		return true;
	return (!then || !fetched) && each_of_rows(l, a, 0, fn, ctx);
}

/* a callback for names, called for those of each entity's items */
struct named {
	load_name_fn *fn;
	void *ctx;
};

static bool names_of_items(void *ctx, const struct entity *e)
{
	const struct named *n = ctx;

	return each_of_items(e, n->fn, n->ctx);
}

static bool each_parameter(const struct access *a, load_name_fn *fn, void *ctx)
{
	for (size_t i = 0; i < a->param_count; i++)
		if (fn(ctx, a->params[i]))
			return true;
	for (size_t i = 0; i < a->query_param_count; i++)
		if (fn(ctx, a->query_params[i].name))
			return true;
	return false;
}

static bool each_other(const struct load_scope *s, load_name_fn *fn, void *ctx)
{
	if (s->variable.n && fn(ctx, s->variable))
		return true;
	for (size_t i = 0; s->processor && i < s->processor->let_count; i++)
		if (fn(ctx, s->processor->let[i].attribute))
			return true;
	return s->also && fn(ctx, slice_str(s->also));
}

bool load_each_name(struct load *l, const struct load_scope *s, load_name_fn *fn, void *ctx)
{
	const struct entity *target = s->target.n ? design_entity(l->d, s->target) : NULL;
	const struct access *rows = s->over.n ? design_access(l->d, s->over) : s->access;
	struct named named = { fn, ctx };

	if (s->entity && each_of_entity(s->entity, fn, ctx))
		return true;
	if (target && each_of_entity(target, fn, ctx))
		return true;
	if (s->access && each_parameter(s->access, fn, ctx))
		return true;
	if (s->rows && load_each_row_entity(l, rows, s->fetched, names_of_items, &named))
		return true;
	return each_other(s, fn, ctx);
}

static bool is_it(void *ctx, struct slice name)
{
	return slice_equal(*(const struct slice *)ctx, name);
}

bool load_scope_has(struct load *l, const struct load_scope *s, struct slice name)
{
	return load_each_name(l, s, is_it, &name);
}

bool load_entity_has(const struct entity *e, struct slice name)
{
	return each_of_entity(e, is_it, &name);
}
