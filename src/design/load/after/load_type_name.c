/* What the names in a term stand for, by their types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/after/load_type.h"

#define MEMBERS_TOLD 64 /* for suggestions */
#define LET_MOST     4  /* of `let` that name one another; a circle ends here */

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
	if (a->type == ATTR_LIST && a->each)
		out.element = kind_of_type(a->each->type);
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
static struct slice list_known(struct typing *y, const struct slice *known, size_t n)
{
	struct buf b;

	buf_init(&b, y->l->a);
	buf_lit(&b, "known: ");
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%.*s", i ? ", " : "", SLICE_ARG(known[i]));
	return buf_slice(&b);
}

static void no_such_part(struct typing *y, const struct term *t, size_t step, const struct attribute *a)
{
	struct slice name = t->names[step], known[MEMBERS_TOLD], meant;
	struct finding *f;
	size_t n = 0;

	if (a->type == ATTR_MAP && a->members && !term_is_element(name)) {
		f = type_error(y, t->place, "there is no member '%.*s'%s%.*s", SLICE_ARG(name),
			       a->members->name.n ? " of " : "", SLICE_ARG(a->members->name));
		while (n < a->members->member_count && n < MEMBERS_TOLD)
			known[n] = a->members->members[n].name, n++;
		meant = suggest_slice(name, known, n);
		if (meant.n)
			f->repair = arena_printf(y->l->a, "did you mean '%.*s'?", SLICE_ARG(meant));
		else
			f->repair = list_known(y, known, n);
		return;
	}
	f = type_error(y, t->place, "'%.*s' is %s and has %s", SLICE_ARG(t->names[step - 1]),
		       type_name(y->l->a, type_of_attribute(a).is),
		       a->type == ATTR_LIST                           ? "elements"
		       : term_is_element(name) && a->type == ATTR_MAP ? "no order"
								      : "nothing inside it");
	if (a->type == ATTR_LIST)
		f->repair = SLICE("an element is x[0]; any(x, …), all(x, …) and sum(x, …) are about all of them");
}

/* What the names from `step` on lead to: address.zip, lines[0].sku */
static struct term_type type_of_steps(struct typing *y, const struct term *t, size_t step, struct term_type type)
{
	const struct attribute *a = type.of;
	bool wrong;

	for (; a && step < t->name_count; step++) {
		const struct attribute *next =
			attribute_inside(a, t->names[step], term_is_element(t->names[step]), &wrong);

		if (wrong) {
			no_such_part(y, t, step, a);
			return anything;
		}
		if (!next && a->type == ATTR_LIST && a->element != ATTR_MAP && step + 1 == t->name_count)
			return (struct term_type){ .is = type_of_attribute(a).element, .element = TYPE_ANY };
		a = next;
	}
	return a ? type_of_attribute(a) : anything;
}

struct term_type type_of_path(struct typing *y, const struct term *t)
{
	struct load_scope inner;
	bool prefixed = t->name_count > 1 && y->scope && load_scope_inside(y->scope, t->names[0], &inner);
	struct term_type type;

	if (t->member)
		return type_of_steps(y, t, 1, type_of_attribute(t->member));
	if (!y->scope)
		return anything;
	type = type_of_name(y, prefixed ? &inner : y->scope, t->names[prefixed]);
	if (t->name_count == 1 + (size_t)prefixed)
		return type;
	if (type.of)
		return type_of_steps(y, t, 1 + (size_t)prefixed, type);
	if (!(type.is & (TYPE_MAP | TYPE_LIST)))
		type_error(y, t->place, "'%.*s' is %s and has nothing inside it", SLICE_ARG(t->names[prefixed]),
			   type_name(y->l->a, type.is));
	return anything;
}

/* ---- templates ---- */
void type_check_template(struct load *l, const struct load_template *t)
{
	struct typing y = { .l = l, .scope = t->scope };
	size_t at = 0;

	EACH (struct template_part, p, t->template->parts, t->template->part_count) {
		struct term path = { .kind = TERM_PATH, .names = p->names, .name_count = p->name_count, .of = p->of };
		struct term_type type;

		if (!p->names)
			continue;
		path.place = load_placeholder_place(l, t->span, &at);
		if (p->name_count < 2)
			continue;
		type = type_of_path(&y, &path);
		if (type.of && !(type.is & ~(unsigned)(TYPE_MAP | TYPE_LIST | TYPE_SET)))
			type_error(&y, path.place, "%s is no part of a text", type_name(l->a, type.is));
	}
}
