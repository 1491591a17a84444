/* The names a term, a template or a list may use.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define MERGE_DEPTH_MAX 8

static bool each_rule(const struct entity *e, const struct key_rule *rules, size_t n, load_name_fn *fn, void *ctx)
{
	EACH (struct key_rule, r, rules, n)
		if (fn(ctx, &(struct load_meaning){ r->attribute, .of = e, .template = r->template }))
			return true;
	return false;
}

/* An attribute of a rule's name is what the name means. */
static bool each_of_entity(const struct entity *e, load_name_fn *fn, void *ctx)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (fn(ctx, &(struct load_meaning){ a->name, .attribute = a }))
			return true;
	EACH (struct key_rule, r, e->keys, e->key_count)
		if (!entity_attribute(e, r->attribute) && each_rule(e, r, 1, fn, ctx))
			return true;
	return false;
}

/* Also the attributes of its companions. */
static bool each_of_items(const struct entity *e, load_name_fn *fn, void *ctx)
{
	if (each_of_entity(e, fn, ctx))
		return true;
	EACH (struct companion, c, e->companions, e->companion_count)
		if (each_rule(e, c->rules, c->rule_count, fn, ctx))
			return true;
	return false;
}

/* Without a declared entity, a pattern's rows may be of any. */
static bool each_of_pattern(struct load *l, const struct access *a, int depth, load_name_fn *fn, void *ctx)
{
	const struct entity *e = NULL;

	if (a && a->entity.n)
		e = design_entity(l->d, a->entity);
	else if (a && a->get.entity.n)
		e = design_entity(l->d, a->get.entity);
	if (e)
		return each_of_items(e, fn, ctx);
	if (!a || a->kind != ACCESS_MERGE || depth == MERGE_DEPTH_MAX) {
		EACH (struct entity, any, l->d->entities, l->d->entity_count)
			if (each_of_items(any, fn, ctx))
				return true;
		return false;
	}
	if (!a->merge_of_count)
		return each_of_pattern(l, design_access(l->d, a->merge_pattern), depth + 1, fn, ctx);
	EACH (struct slice, name, a->merge_of, a->merge_of_count)
		if (each_of_pattern(l, design_access(l->d, *name), depth + 1, fn, ctx))
			return true;
	return false;
}

static bool each_of_rows(struct load *l, const struct load_scope *s, load_name_fn *fn, void *ctx)
{
	const struct access *a = s->over.n ? design_access(l->d, s->over) : s->access;
	const struct entity *then = a && a->then.entity.n ? design_entity(l->d, a->then.entity) : NULL;

	if (then && each_of_items(then, fn, ctx))
		return true;
	return (!then || !s->fetched) && each_of_pattern(l, a, 0, fn, ctx);
}

static bool each_parameter(const struct access *a, load_name_fn *fn, void *ctx)
{
	EACH (struct slice, name, a->params, a->param_count)
		if (fn(ctx, &(struct load_meaning){ *name }))
			return true;
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		if (fn(ctx, &(struct load_meaning){ p->name, .attribute = p }))
			return true;
	return false;
}

static bool each_other(const struct load_scope *s, load_name_fn *fn, void *ctx)
{
	if (s->variable.n && fn(ctx, &(struct load_meaning){ s->variable, .attribute = s->each }))
		return true;
	EACH (struct assignment, x, s->processor ? s->processor->let : NULL, s->processor ? s->processor->let_count : 0)
		if (fn(ctx, &(struct load_meaning){ x->attribute, .let = x->term }))
			return true;
	return s->also && fn(ctx, &(struct load_meaning){ slice_str(s->also), .number = true });
}

bool load_scope_inside(const struct load_scope *s, struct slice name, struct load_scope *inner)
{
	*inner = (struct load_scope){ .entity = s->entity, .target = s->target, .access = s->access };
	if (s->processor && s->variable.n && !s->processor->each_list && slice_equal(name, s->variable)) {
		*inner = (struct load_scope){ .rows = true, .over = s->processor->each_pattern };
		return true;
	}
	return (slice_is(name, "old") && s->old) || (slice_is(name, "input") && s->input);
}

bool load_each_name(struct load *l, const struct load_scope *s, load_name_fn *fn, void *ctx)
{
	const struct entity *target = s->target.n ? design_entity(l->d, s->target) : NULL;

	return (s->entity && each_of_entity(s->entity, fn, ctx)) || (target && each_of_entity(target, fn, ctx)) ||
	       (s->access && each_parameter(s->access, fn, ctx)) || (s->rows && each_of_rows(l, s, fn, ctx)) ||
	       each_other(s, fn, ctx);
}

static bool is_it(void *ctx, const struct load_meaning *x)
{
	return slice_equal(*(const struct slice *)ctx, x->name);
}

bool load_scope_has(struct load *l, const struct load_scope *s, struct slice name)
{
	return load_each_name(l, s, is_it, &name);
}

bool load_entity_has(const struct entity *e, struct slice name)
{
	return each_of_entity(e, is_it, &name);
}
