/* What the text does not say and follows from it: types of derived attributes and copies. And what
 * needs those. SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/load_type.h"

#define COPIES_MOST 8 /* of copies; a circle ends here */

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth);

static void take_type(struct attribute *to, const struct attribute *from)
{
	to->type = from->type;
	to->element = from->element;
	to->form = from->form;
	to->choices = from->choices;
	to->choice_count = from->choice_count;
}

static void type_of_source(struct load *l, const struct entity *e, struct slice name, struct attribute *out, int depth)
{
	const struct attribute *a = e ? entity_attribute(e, name) : NULL;

	if (!a || depth == COPIES_MOST)
		return;
	infer(l, e, (struct attribute *)(uintptr_t)a, depth + 1); /* ours, until loading is done */
	take_type(out, a);
}

/* What a derived attribute is stored as. Its names are looked up as any others', so those it is made of come first. */
static void type_from_kinds(struct term_type t, struct attribute *out)
{
	static const struct {
		unsigned is;
		enum attr_type type;
	} types[] = {
		{ TYPE_NUMBER, ATTR_NUMBER }, { TYPE_BOOLEAN, ATTR_BOOLEAN }, { TYPE_TIME, ATTR_TIMESTAMP },
		{ TYPE_LIST, ATTR_LIST },     { TYPE_SET, ATTR_SET },         { TYPE_MAP, ATTR_MAP },
		{ TYPE_BINARY, ATTR_BINARY },
	};

	if (t.of) {
		take_type(out, t.of);
		return;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (t.is == types[i].is)
			out->type = types[i].type;
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
	else if (t->kind == TERM_PATH)
		a = entity_attribute(e, t->names[t->name_count - 1]);
	if (a && (a->derived || a->copy_entity.n) && i->depth < COPIES_MOST)
		infer(i->l, e, (struct attribute *)(uintptr_t)a, i->depth + 1); /* ours, until loading is done */
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

/* Each once: of many that name one another, each would be worked out for each. A circle ends where it began. */
static bool is_inferred(struct load *l, const struct attribute *a)
{
	if (!l->inferred) {
		l->inferred = arena_new(l->a, struct map);
		map_init(l->inferred, l->a);
	}
	return map_set(l->inferred, arena_copy(l->a, slice_make(&a, sizeof(a))), l) != NULL;
}

static void infer(struct load *l, const struct entity *e, struct attribute *a, int depth)
{
	const struct entity *source = a->copy_entity.n ? design_entity(l->d, a->copy_entity) : NULL;
	const struct attribute *from = source ? entity_attribute(source, a->copy_attribute) : NULL;

	if ((!a->copy_entity.n && !a->derived) || is_inferred(l, a))
		return;
	if (a->copy_entity.n)
		type_of_source(l, source, a->copy_attribute, a, depth);
	if (from)
		a->lower = from->lower; /* for who asks by it */
	else if (a->derived)
		infer_derived(l, e, a, depth);
}

static bool is_number(const struct attribute *a)
{
	return a->type == ATTR_NUMBER || a->type == ATTR_INTEGER;
}

static void check_counts(struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < e->count_count; i++) {
		const struct count_rule *c = &e->counts[i];
		const struct entity *target = design_entity(l->d, c->target.entity);
		const struct attribute *a = target ? entity_attribute(target, c->attribute) : NULL;

		if (a && (!is_number(a) || a->derived || a->sequence))
			load_error(l, c->target.place, "wrong-type", "'%.*s' of %.*s is no number that can be counted",
				   SLICE_ARG(c->attribute), SLICE_ARG(target->name));
	}
	for (size_t i = 0; i < e->action_count; i++)
		for (size_t k = 0; k < e->actions[i].add_count; k++) {
			const struct assignment *add = &e->actions[i].add[k];
			const struct attribute *a = entity_attribute(e, add->attribute);

			if (a && (!is_number(a) || a->derived || a->sequence))
				load_error(l, add->place, "wrong-type", "'%.*s' is no number that can be added to",
					   SLICE_ARG(add->attribute));
		}
}

/* What a route names has to fit into an address. */
static void mark_addresses(const struct entity *e)
{
	for (size_t i = 0; !e->internal && i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (a)
			((struct attribute *)(uintptr_t)a)->in_address = true;
	}
}

void load_infer(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		mark_addresses(&l->entities[i]);
	for (size_t i = 0; i < l->d->entity_count; i++)
		for (size_t k = 0; k < l->entities[i].attribute_count; k++)
			infer(l, &l->entities[i], (struct attribute *)(uintptr_t)&l->entities[i].attributes[k], 0);
	for (size_t i = 0; i < l->d->entity_count; i++) {
		l->subject = arena_printf(l->a, "entity %.*s", SLICE_ARG(l->entities[i].name));
		check_counts(l, &l->entities[i]);
	}
	l->subject = SLICE("");
}
