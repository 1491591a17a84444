/* Infers the types of derived attributes and copies, and checks what depends on them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/after/load_type.h"

#define COPIES_MOST 64 /* copies of copies, and attributes derived from derived ones; protects the stack */

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth);

static void copy_type(struct attribute *to, const struct attribute *from)
{
	to->type = from->type;
	to->element = from->element;
	to->members = from->members;
	to->each = from->each;
	to->form = from->form;
	to->fine = from->fine;
	to->choices = from->choices;
	to->choice_count = from->choice_count;
}

/* The stored type of a derived attribute. The attributes it is made of have been inferred before. */
static void type_from_kinds(struct term_type t, struct attribute *out)
{
	static const struct {
		unsigned is;
		enum attr_type type;
	} types[] = {
		{ TYPE_NUMBER, ATTR_NUMBER }, { TYPE_BOOLEAN, ATTR_BOOLEAN }, { TYPE_LIST, ATTR_LIST },
		{ TYPE_SET, ATTR_SET },       { TYPE_MAP, ATTR_MAP },         { TYPE_BINARY, ATTR_BINARY },
	};

	if (t.of) {
		copy_type(out, t.of);
		return;
	}
	for (size_t i = 0; i < LENGTH(types); i++)
		if (t.is == types[i].is)
			out->type = types[i].type;
	if (t.is && !(t.is & ~(unsigned)TYPE_MOMENT)) {
		out->type = ATTR_TIMESTAMP;
		out->fine = t.is == TYPE_FINE;
	}
	if (t.element == TYPE_TEXT)
		out->element = ATTR_STRING;
	else if (t.element == TYPE_NUMBER)
		out->element = ATTR_NUMBER;
}

struct inferring {
	struct load *l;
	const struct entity *entity;
	int depth;
};

static void infer_named(void *ctx, const struct term *t)
{
	struct inferring *i = ctx;
	const struct entity *e = t->kind == TERM_FETCH ? design_entity(i->l->d, t->name) : i->entity;
	const struct attribute *a = NULL;

	if (t->kind == TERM_FETCH && e)
		a = entity_attribute(e, t->attribute);
	else if (t->kind == TERM_PATH && t->of != TERM_OF_ELEMENT)
		a = entity_attribute(e, t->names[t->of != TERM_OF_ITEM]);
	if (a && (a->derived || a->copy_entity.n) && i->depth < COPIES_MOST)
		infer(i->l, e, OURS(struct attribute, a), i->depth + 1);
}

static void infer_derived(struct load *l, const struct entity *e, struct attribute *a, int depth)
{
	struct inferring i = { l, e, depth };
	struct typing y = { .l = l, .scope = load_term_scope(l, a->derived), .quiet = true };
	struct term_type type;

	term_walk(a->derived, infer_named, &i);
	type = type_of_term(&y, a->derived);
	if (type.of != a)
		type_from_kinds(type, a);
}

/* Whether the attribute is inferred already; marks it. So each is inferred once, and circles end. */
static bool is_inferred(struct load *l, const struct attribute *a)
{
	if (!l->inferred) {
		l->inferred = arena_new(l->a, struct map);
		map_init(l->inferred, l->a);
	}
	return map_set(l->inferred, arena_copy(l->a, slice_make(&a, sizeof(a))), l) != NULL;
}

/* A reference has all of the form of what it names: it is that value. */
static void infer_reference(struct load *l, struct attribute *a, const struct attribute *from, int depth)
{
	bool many = attribute_has_references(a);

	if (depth < COPIES_MOST)
		infer(l, a->refers->to, OURS(struct attribute, from), depth + 1);
	if (many)
		a->element = from->type;
	else
		a->type = from->type;
	a->form = from->form;
	a->fine = from->fine;
	a->choices = from->choices;
	a->choice_count = from->choice_count;
	a->matches = from->matches;
	a->matches_says = from->matches_says;
	a->lower |= from->lower;
	if (many || from->id)
		return;
	a->has_min = from->has_min;
	a->has_max = from->has_max;
	a->min = from->min;
	a->max = from->max;
}

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth)
{
	const struct attribute *from = a->copy_of ? entity_attribute(a->copy_of, a->copy_attribute) : NULL;

	if (a->refers)
		from = attribute_referred(a);
	if ((!from && !a->derived) || is_inferred(l, a))
		return;
	if (a->refers) {
		infer_reference(l, a, from, depth);
	} else if (a->derived) {
		infer_derived(l, e, a, depth);
	} else if (depth < COPIES_MOST) {
		infer(l, a->copy_of, OURS(struct attribute, from), depth + 1);
		copy_type(a, from);
		a->lower = from->lower; /* queries by the copy are normalised like its source */
	}
}

static bool can_be_counted(const struct attribute *a)
{
	return (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER) && !a->derived && !a->sequence;
}

/* "its counters: posts, likes" */
static struct slice counters_of(struct load *l, const struct entity *e)
{
	struct buf b;

	buf_init(&b, l->a);
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (a->counter && !a->sequence)
			buf_printf(&b, "%s%.*s", b.n ? ", " : "its counters: ", SLICE_ARG(a->name));
	return b.n ? buf_slice(&b) : SLICE("declare a counter, as in posts: counter");
}

static void check_counts(struct load *l, const struct entity *e)
{
	EACH (struct count_rule, c, e->counts, e->count_count) {
		const struct attribute *a = c->target.to ? entity_attribute(c->target.to, c->attribute) : NULL;

		if (a && !can_be_counted(a))
			load_error(l, c->target.place, "wrong-type",
				   "'%.*s' of %.*s is not a number that can be counted", SLICE_ARG(c->attribute),
				   SLICE_ARG(c->target.entity))
				->repair = counters_of(l, c->target.to);
	}
	EACH (struct action, x, e->actions, e->action_count)
		EACH (struct assignment, add, x->add, x->add_count) {
			const struct attribute *a = entity_attribute(e, add->attribute);

			if (a && !can_be_counted(a))
				load_error(l, add->place, "wrong-type", "'%.*s' is not a number that can be added to",
					   SLICE_ARG(add->attribute))
					->repair = counters_of(l, e);
		}
}

/* Parts of a route have to fit into an address. */
static void mark_addresses(const struct entity *e)
{
	EACH (struct slice, name, e->params, e->internal ? 0 : e->param_count) {
		const struct attribute *a = entity_attribute(e, *name);

		if (a)
			OURS(struct attribute, a)->in_address = true;
	}
}

static void infer_shown(struct load *l, const struct attribute *list, size_t count)
{
	EACH (struct attribute, a, list, count) {
		struct typing y = { .l = l, .scope = a->derived ? load_term_scope(l, a->derived) : NULL, .quiet = true };

		if (a->derived && y.scope)
			type_from_kinds(type_of_term(&y, a->derived), OURS(struct attribute, a));
	}
}

void load_infer(struct load *l)
{
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		mark_addresses(e);
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->copy_entity.n)
				OURS(struct attribute, a)->copy_of = design_entity(l->d, a->copy_entity);
	}
	load_fractions(l);
	EACH (struct entity, e, l->entities, l->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			infer(l, e, OURS(struct attribute, a), 0);
	EACH (struct entity, e, l->entities, l->d->entity_count)
		infer_shown(l, e->show, e->show_count);
	EACH (struct access, a, l->accesses, l->d->access_count)
		infer_shown(l, a->show, a->show_count);
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_counts(l, e);
	}
	l->subject = SLICE("");
}
