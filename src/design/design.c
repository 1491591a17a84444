/* Look-ups in a loaded design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/design.h"

const struct entity *design_entity(const struct design *d, struct slice name)
{
	EACH (struct entity, e, d->entities, d->entity_count)
		if (slice_equal(e->name, name))
			return e;
	return NULL;
}

const struct name *design_named(const struct design *d, struct slice text)
{
	return d->by_name ? map_get(d->by_name, text) : NULL;
}

const struct access *design_access(const struct design *d, struct slice name)
{
	EACH (struct access, a, d->accesses, d->access_count)
		if (slice_equal(a->name, name))
			return a;
	return NULL;
}

const struct design_index *design_index(const struct design *d, struct slice name)
{
	EACH (struct design_index, i, d->indexes, d->index_count)
		if (slice_equal(i->name, name))
			return i;
	return NULL;
}

const struct attribute *entity_attribute(const struct entity *e, struct slice name)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (slice_equal(a->name, name))
			return a;
	return NULL;
}

struct slice entity_collection(const struct entity *e)
{
	struct slice path = e->path;

	while (path.n && path.p[path.n - 1] == '>') {
		size_t at = path.n;

		while (at && path.p[at - 1] != '/')
			at--;
		if (path.p[at] != '<' || memchr(path.p + at, '>', path.n - at) != path.p + path.n - 1)
			break; /* the rest of the segment is text: v<n> */
		path.n = at ? at - 1 : 0;
	}
	return path.n || !e->path.n ? path : SLICE("/");
}

bool attribute_is_number(const struct attribute *a)
{
	return a->counter || a->type == ATTR_NUMBER || a->type == ATTR_INTEGER || a->type == ATTR_EPOCH;
}

bool index_carries(const struct design_index *x, struct slice name)
{
	return x->projection == PROJECT_ALL ||
	       (x->projection == PROJECT_INCLUDE && slice_among(x->include, x->include_count, name));
}

bool effect_sets(const struct processor *p, struct slice attribute)
{
	if (is_assigned(p->with, p->with_count, attribute) || is_assigned(p->add, p->add_count, attribute))
		return true;
	EACH (struct extreme, x, p->extremes, p->extreme_count)
		if (is_assigned(x->list, x->count, attribute))
			return true;
	return p->effect == EFFECT_COUNT && slice_equal(p->target_attribute, attribute);
}

static bool any_also(const struct entity *e, const struct also_rule *list, size_t n, also_is *is, const void *ctx)
{
	EACH (struct also_rule, x, list, n)
		if (is(ctx, e, x))
			return true;
	return false;
}

bool design_any_also(const struct design *d, also_is *is, const void *ctx)
{
	EACH (struct entity, e, d->entities, d->entity_count) {
		if (any_also(e, e->also, e->also_count, is, ctx))
			return true;
		EACH (struct action, a, e->actions, e->action_count)
			if (any_also(e, a->also, a->also_count, is, ctx))
				return true;
	}
	return false;
}

static bool puts_item(const void *entity, const struct entity *from, const struct also_rule *x)
{
	(void)from;
	return x->kind == ALSO_PUT && x->to == entity;
}

bool design_also_puts(const struct design *d, const struct entity *e)
{
	return design_any_also(d, puts_item, e);
}

struct attribute_of {
	const struct entity *entity;
	struct slice attribute;
};

static bool sets_attribute(const void *ctx, const struct entity *from, const struct also_rule *x)
{
	const struct attribute_of *of = ctx;

	(void)from;
	return x->to == of->entity &&
	       (is_assigned(x->with, x->with_count, of->attribute) || is_assigned(x->add, x->add_count, of->attribute));
}

bool design_also_sets(const struct design *d, const struct entity *e, struct slice attribute)
{
	return design_any_also(d, sets_attribute, &(struct attribute_of){ e, attribute });
}

const struct attribute *structure_member(const struct structure *s, struct slice name)
{
	EACH (struct attribute, m, s->members, s->member_count)
		if (slice_equal(m->name, name))
			return m;
	return NULL;
}

const struct attribute *attribute_inside(const struct attribute *a, struct slice name, bool element, bool *wrong)
{
	const struct attribute *m = NULL;

	*wrong = false;
	if (a->compressed) {
		*wrong = true;
		return NULL;
	}
	switch (a->type) {
	case ATTR_LIST: *wrong = !element; return element ? a->each : NULL;
	case ATTR_MAP:
		*wrong = element;
		if (element || !a->members)
			return element ? NULL : a->each;
		m = structure_member(a->members, name);
		*wrong = !m && !a->members->open;
		return m;
	default: *wrong = true; return NULL;
	}
}

bool entity_takes(const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (a->next)
			return true;
	return false;
}

const struct action *entity_action(const struct entity *e, struct slice name)
{
	EACH (struct action, x, e->actions, e->action_count)
		if (slice_equal(x->name, name))
			return x;
	return NULL;
}

bool design_is_table_key(const struct design *d, struct slice name)
{
	return is_key_attribute(&d->key, name);
}

bool design_is_key(const struct design *d, struct slice name)
{
	EACH (struct design_index, i, d->indexes, d->index_count)
		if (is_key_attribute(&i->key, name))
			return true;
	return is_key_attribute(&d->key, name);
}

struct reference attribute_source(const struct attribute *a)
{
	return (struct reference){
		.entity = a->copy_entity, .to = a->copy_of, .args = a->copy_args, .arg_count = a->copy_arg_count
	};
}

const char *const also_kind_names[] = { [ALSO_PUT] = "put", [ALSO_UPDATE] = "update", [ALSO_DELETE] = "delete" };
const char *const allow_verb_names[ALLOW_VERBS] = { "create", "read", "update", "delete", "list" };

const struct entity *design_call(const struct design *d, struct slice call, struct slice *verb)
{
	const char *space = memchr(call.p, ' ', call.n);
	size_t n = space ? (size_t)(space - call.p) : 0;

	*verb = slice_make(call.p, n);
	return n ? design_entity(d, slice_make(space + 1, call.n - n - 1)) : NULL;
}

bool access_has_parameter(const struct access *a, const struct name *n)
{
	if (names_among(a->param_at, a->param_count, n))
		return true;
	for (size_t i = 0; i < a->query_param_count; i++)
		if (a->query_params[i].at == n)
			return true;
	return false;
}

bool is_assigned(const struct assignment *list, size_t n, struct slice attribute)
{
	EACH (struct assignment, s, list, n)
		if (slice_equal(s->attribute, attribute))
			return true;
	return false;
}

const struct attribute *attribute_referred(const struct attribute *a)
{
	const struct entity *to = a->refers ? a->refers->to : NULL;

	return to && a->refers_part < to->param_count ? entity_attribute(to, to->params[a->refers_part]) : NULL;
}

/* ---- following a rename ---- */

bool reference_follows(const struct entity *e, const struct reference *r)
{
	if (!r->to || !r->arg_count || r->arg_count != r->to->param_count)
		return false;
	for (size_t i = 0; i < r->arg_count; i++) {
		const struct slice *name = term_name(r->args[i]);
		const struct attribute *a = name ? entity_attribute(e, *name) : NULL;

		if (!a || a->derived || a->after.n || a->copy_entity.n)
			return false;
	}
	return true;
}

const struct reference *entity_follows(const struct entity *e, const struct entity *to, size_t i)
{
	EACH (struct requirement, q, e->requires, e->require_count)
		if (q->target.to == to && !q->each.list && reference_follows(e, &q->target) && !i--)
			return &q->target;
	EACH (struct count_rule, c, e->counts, e->count_count)
		if (c->target.to == to && !c->each.list && reference_follows(e, &c->target) && !i--)
			return &c->target;
	return NULL;
}
