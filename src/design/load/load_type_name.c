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
	if (a->fine)
		*(a->type == ATTR_TIMESTAMP ? &out.is : &out.element) = TYPE_FINE;
	if (is_null(a->default_))
		out.is |= TYPE_NULL;
	return out;
}

static const struct term_type anything = { .is = TYPE_ANY, .element = TYPE_ANY };

/* ---- one name, of everything that may have it ---- */
struct naming {
	struct typing *typing;
	struct slice name;
	struct term_type type; /* of those found */
	bool any;
};

static void add_type(struct naming *n, struct term_type t)
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

/* A template that is one bare placeholder keeps its type. */
static struct term_type type_of_template(const struct entity *e, const struct template *t)
{
	const struct attribute *a;

	if (t->part_count != 1 || !t->parts[0].names)
		return (struct term_type){ .is = TYPE_TEXT, .element = TYPE_ANY };
	a = t->parts[0].name_count == 1 && t->parts[0].format == FORMAT_PLAIN ? entity_attribute(e, t->parts[0].names[0])
									      : NULL;
	return a ? type_of_attribute(a) : anything;
}

static struct term_type type_of_let(const struct typing *y, const struct term *t)
{
	struct typing quiet = *y;

	quiet.quiet = true;
	return quiet.depth++ == LET_MOST ? anything : type_of_term(&quiet, t);
}

/* A parameter may have any type: it takes that of the key it is compared with. */
static bool add_meaning(void *ctx, const struct load_meaning *x)
{
	struct naming *n = ctx;

	if (!slice_equal(x->name, n->name))
		return false;
	if (x->attribute)
		add_type(n, type_of_attribute(x->attribute));
	else if (x->template)
		add_type(n, type_of_template(x->of, x->template));
	else if (x->let)
		add_type(n, type_of_let(n->typing, x->let));
	else
		add_type(n, x->number ? (struct term_type){ .is = TYPE_NUMBER, .element = TYPE_ANY } : anything);
	return false;
}

static struct term_type type_of_name(struct typing *y, const struct load_scope *s, struct slice name)
{
	struct naming n = { .typing = y, .name = name };

	load_each_name(y->l, s, add_meaning, &n);
	return n.any ? n.type : anything;
}

/* ---- paths ---- */
struct term_type type_of_path(struct typing *y, const struct term *t)
{
	struct load_scope inner;
	bool prefixed = t->name_count > 1 && y->scope && load_scope_inside(y->scope, t->names[0], &inner);
	struct term_type type;

	if (!y->scope)
		return anything;
	type = type_of_name(y, prefixed ? &inner : y->scope, t->names[prefixed]);
	if (t->name_count == 1 + (size_t)prefixed)
		return type;
	if (!(type.is & TYPE_MAP))
		type_error(y, t->place, "'%.*s' is %s and has nothing inside it", SLICE_ARG(t->names[prefixed]),
			   type_name(y->l->a, type.is));
	return anything;
}
