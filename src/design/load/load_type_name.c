/* What the names in a term stand for, by their types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load_type.h"

#define LET_MOST 4 /* of `let` that name one another; a circle ends here */

static unsigned kind_of_type(enum attr_type type)
{
	switch (type) {
	case ATTR_STRING:
	case ATTR_TEXT:
	case ATTR_ENUM: return TYPE_TEXT;
	case ATTR_TIMESTAMP: return TYPE_TIME;
	case ATTR_NUMBER:
	case ATTR_INTEGER:
	case ATTR_EPOCH: return TYPE_NUMBER;
	case ATTR_BOOLEAN: return TYPE_BOOLEAN;
	case ATTR_LIST: return TYPE_LIST;
	case ATTR_SET: return TYPE_SET;
	case ATTR_MAP: return TYPE_MAP;
	case ATTR_BINARY: return TYPE_BINARY;
	}
	return TYPE_ANY;
}

static bool is_null(const struct term *t)
{
	return t && t->kind == TERM_LITERAL && value_type(t->value) == VALUE_NULL;
}

struct term_type type_of_attribute(const struct attribute *a)
{
	struct term_type out = { .is = kind_of_type(a->type), .element = TYPE_ANY, .of = a };

	if (a->compressed)
		return (struct term_type){ .is = TYPE_ANY, .element = TYPE_ANY, .of = a };
	if ((a->type == ATTR_LIST || a->type == ATTR_SET) && a->element != ATTR_MAP)
		out.element = kind_of_type(a->element);
	if (is_null(a->default_))
		out.is |= TYPE_NULL;
	return out;
}

/* ---- one name, of everything that may have it ---- */
struct naming {
	struct typing *typing;
	struct slice name;
	struct term_type type; /* of those found */
	bool any;
};

static void found(struct naming *n, struct term_type t)
{
	if (n->any) {
		n->type.is |= t.is;
		n->type.element |= t.element;
		n->type.of = NULL;
	} else {
		n->type = t;
	}
	n->any = true;
}

static void found_anything(struct naming *n)
{
	found(n, (struct term_type){ .is = TYPE_ANY, .element = TYPE_ANY });
}

/* A template that is one bare placeholder keeps its type. */
static void in_rules(struct naming *n, const struct entity *e, const struct key_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct template *t = rules[i].template;
		const struct attribute *a;

		if (!slice_equal(rules[i].attribute, n->name) || !t)
			continue;
		if (t->part_count != 1 || !t->parts[0].names) {
			found(n, (struct term_type){ .is = TYPE_TEXT, .element = TYPE_ANY });
			continue;
		}
		a = t->parts[0].name_count == 1 && t->parts[0].format == FORMAT_PLAIN
			    ? entity_attribute(e, t->parts[0].names[0])
			    : NULL;
		if (a)
			found(n, type_of_attribute(a));
		else
			found_anything(n);
	}
}

static void in_entity(struct naming *n, const struct entity *e)
{
	const struct attribute *a = entity_attribute(e, n->name);

	if (a)
		found(n, type_of_attribute(a));
	else
		in_rules(n, e, e->keys, e->key_count);
}

static bool in_items(void *ctx, const struct entity *e)
{
	struct naming *n = ctx;

	in_entity(n, e);
	for (size_t i = 0; i < e->companion_count; i++)
		in_rules(n, e, e->companions[i].rules, e->companions[i].rule_count);
	return false;
}

static void in_parameters(struct naming *n, const struct access *a)
{
	for (size_t i = 0; i < a->param_count; i++)
		if (slice_equal(a->params[i], n->name))
			found_anything(n); /* as the key it is compared with */
	for (size_t i = 0; i < a->query_param_count; i++)
		if (slice_equal(a->query_params[i].name, n->name))
			found(n, type_of_attribute(&a->query_params[i]));
}

static void in_let(struct naming *n, const struct processor *p)
{
	for (size_t i = 0; i < p->let_count; i++) {
		struct typing quiet = *n->typing;

		if (!slice_equal(p->let[i].attribute, n->name))
			continue;
		quiet.quiet = true;
		if (quiet.depth++ == LET_MOST)
			found_anything(n);
		else
			found(n, type_of_term(&quiet, p->let[i].term));
	}
}

static struct term_type type_of_name(struct typing *y, const struct load_scope *s, struct slice name)
{
	struct naming n = { .typing = y, .name = name };
	struct load *l = y->l;
	const struct entity *target = s->target.n ? design_entity(l->d, s->target) : NULL;

	if (s->variable.n && slice_equal(s->variable, name))
		found_anything(&n);
	if (s->also && slice_is(name, s->also))
		found(&n, (struct term_type){ .is = TYPE_NUMBER, .element = TYPE_ANY });
	if (s->processor)
		in_let(&n, s->processor);
	if (s->entity)
		in_entity(&n, s->entity);
	if (target)
		in_entity(&n, target);
	if (s->access)
		in_parameters(&n, s->access);
	if (s->rows)
		load_each_row_entity(l, s->over.n ? design_access(l->d, s->over) : s->access, s->fetched, in_items, &n);
	if (!n.any)
		found_anything(&n);
	return n.type;
}

/* ---- paths ---- */
/* old.x, input.x, and the rows of a loop. */
static bool is_prefix(const struct load_scope *s, struct slice name, struct load_scope *inner)
{
	if (s->processor && s->variable.n && slice_equal(name, s->variable)) {
		inner->rows = true;
		inner->over = s->processor->each_pattern;
		return true;
	}
	if (!(slice_is(name, "old") && s->old) && !(slice_is(name, "input") && s->input))
		return false;
	inner->entity = s->entity;
	inner->target = s->target;
	inner->access = s->access;
	return true;
}

struct term_type type_of_path(struct typing *y, const struct term *t)
{
	const struct term_type anything = { .is = TYPE_ANY, .element = TYPE_ANY };
	struct load_scope inner = { 0 };
	bool prefixed = t->name_count > 1 && y->scope && is_prefix(y->scope, t->names[0], &inner);
	struct term_type type;

	if (!y->scope)
		return anything;
	if (prefixed)
		type = type_of_name(y, &inner, t->names[1]);
	else
		type = type_of_name(y, y->scope, t->names[0]);
	if (t->name_count == 1 + (size_t)prefixed)
		return type;
	if (!(type.is & TYPE_MAP))
		type_error(y, t->place, "'%.*s' is %s and has nothing inside it", SLICE_ARG(t->names[prefixed]),
			   type_name(y->l->a, type.is));
	return anything;
}
