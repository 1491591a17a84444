/* Infers the types of derived attributes and copies, and checks what depends on them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/load_type.h"

#define COPIES_MOST 8 /* copies of copies; ends a cycle */

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
	infer(l, e, OURS(struct attribute, a), depth + 1);
	take_type(out, a);
}

/* The stored type of a derived attribute. The attributes it is made of have been inferred before. */
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
	for (size_t i = 0; i < LENGTH(types); i++)
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

/* Marks the attribute. Each is inferred once, which also ends a cycle. */
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
		a->lower = from->lower; /* queries by the copy are normalised like its source */
	else if (a->derived)
		infer_derived(l, e, a, depth);
}

static bool can_be_counted(const struct attribute *a)
{
	return (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER) && !a->derived && !a->sequence;
}

static void check_counts(struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < e->count_count; i++) {
		const struct count_rule *c = &e->counts[i];
		const struct entity *target = design_entity(l->d, c->target.entity);
		const struct attribute *a = target ? entity_attribute(target, c->attribute) : NULL;

		if (a && !can_be_counted(a))
			load_error(l, c->target.place, "wrong-type", "'%.*s' of %.*s is no number that can be counted",
				   SLICE_ARG(c->attribute), SLICE_ARG(target->name));
	}
	for (size_t i = 0; i < e->action_count; i++)
		for (size_t k = 0; k < e->actions[i].add_count; k++) {
			const struct assignment *add = &e->actions[i].add[k];
			const struct attribute *a = entity_attribute(e, add->attribute);

			if (a && !can_be_counted(a))
				load_error(l, add->place, "wrong-type", "'%.*s' is no number that can be added to",
					   SLICE_ARG(add->attribute));
		}
}

/* Parts of a route have to fit into an address. */
static void mark_addresses(const struct entity *e)
{
	for (size_t i = 0; !e->internal && i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (a)
			OURS(struct attribute, a)->in_address = true;
	}
}

void load_infer(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		mark_addresses(&l->entities[i]);
	for (size_t i = 0; i < l->d->entity_count; i++)
		for (size_t k = 0; k < l->entities[i].attribute_count; k++)
			infer(l, &l->entities[i], OURS(struct attribute, &l->entities[i].attributes[k]), 0);
	for (size_t i = 0; i < l->d->entity_count; i++) {
		load_subject(l, "entity", l->entities[i].name);
		check_counts(l, &l->entities[i]);
	}
	l->subject = SLICE("");
}
