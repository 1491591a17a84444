/* Finds designs that parse and resolve but can never work: circles, values used before they are set, parameters that
 * nothing gives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define CHAIN_MOST 64 /* longer chains are not followed, whatever the file */

/* The state of a node in the depth-first search for circles. */
enum mark { NEW, OPEN, DONE };

/* ---- attributes that are derived from each other ---- */
struct derivation {
	struct load *l;
	const struct entity *entity;
	const struct attribute *of;
	enum mark *marks;
	int depth;
};

static void follow_derived(struct derivation *x);

static void follow_name(void *ctx, const struct term *t)
{
	struct derivation *x = ctx, next = *x;

	next.of = term_name(t) ? entity_attribute(x->entity, *term_name(t)) : NULL;
	next.depth++;
	if (!next.of || !next.of->derived || next.of == x->of)
		return;
	if (x->marks[next.of - x->entity->attributes] == OPEN)
		load_error(x->l, next.of->place, "circle",
			   "'%.*s' is derived from '%.*s', which is derived from it in turn", SLICE_ARG(next.of->name),
			   SLICE_ARG(x->of->name))
			->repair = SLICE("let clients give one of them, or derive it from something else");
	else if (x->marks[next.of - x->entity->attributes] == NEW && x->depth < CHAIN_MOST)
		follow_derived(&next);
}

static void follow_derived(struct derivation *x)
{
	enum mark *mark = &x->marks[x->of - x->entity->attributes];

	*mark = OPEN;
	term_walk(x->of->derived, follow_name, x);
	*mark = DONE;
}

static void check_derived(struct load *l, const struct entity *e)
{
	struct derivation x = { .l = l, .entity = e, .marks = arena_array(l->a, enum mark, e->attribute_count) };

	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		x.of = a;
		if (a->derived && x.marks[a - e->attributes] == NEW)
			follow_derived(&x);
	}
}

/* ---- copies of copies ---- */
static void check_copies(struct load *l, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		const struct attribute *x = a;

		for (int n = 0; x && x->copy_of && n < CHAIN_MOST; n++) {
			x = entity_attribute(x->copy_of, x->copy_attribute);
			if (x != a)
				continue;
			load_error(l, a->place, "circle", "'%.*s' is a copy of itself", SLICE_ARG(a->name))->repair =
				SLICE("let clients give one of the copies");
			break;
		}
	}
}

/* ---- patterns that run each other ---- */
static void follow_merge(struct load *l, const struct access *a, enum mark *marks, int depth)
{
	enum mark *mark = a ? &marks[a - l->accesses] : NULL;

	if (!a || *mark == DONE || depth > CHAIN_MOST)
		return;
	if (*mark == OPEN) {
		load_subject(l, "access", a->name);
		load_error(l, a->place, "circle", "'%.*s' merges itself", SLICE_ARG(a->name))->repair =
			SLICE("a merge runs queries, or merges that do not lead back to it");
		return;
	}
	*mark = OPEN;
	follow_merge(l, a->merge_run, marks, depth + 1);
	follow_merge(l, a->merge_rows, marks, depth + 1);
	for (size_t i = 0; i < a->merge_of_count; i++)
		follow_merge(l, a->merge_parts[i], marks, depth + 1);
	*mark = DONE;
}

static void check_merges(struct load *l)
{
	enum mark *marks = arena_array(l->a, enum mark, l->d->access_count);

	EACH (struct access, a, l->accesses, l->d->access_count)
		follow_merge(l, a, marks, 0);
}

/* ---- let ---- */
static bool is_named(const void *name, const struct term *t)
{
	return term_name(t) && slice_equal(*term_name(t), *(const struct slice *)name);
}

static void check_let(struct load *l, const struct processor *p)
{
	EACH (struct assignment, s, p->let, p->let_count)
		EACH (struct assignment, later, s, p->let_count - (size_t)(s - p->let)) {
			if (!term_any(s->term, is_named, &later->attribute) ||
			    (p->of && load_entity_has(p->of, later->attribute)))
				continue;
			load_error(l, s->place, "circle", "'%.*s' uses '%.*s', which has no value yet",
				   SLICE_ARG(s->attribute), SLICE_ARG(later->attribute))
				->repair = SLICE("put what is used before what uses it");
		}
}

static void lacks(struct load *l, struct place p, const struct access *a, struct slice name)
{
	load_error(l, p, "missing-parameter", "'%.*s' needs a value for '%.*s'", SLICE_ARG(a->name), SLICE_ARG(name))
		->repair = arena_printf(l->a, "as in %.*s(%.*s = …)", SLICE_ARG(a->name), SLICE_ARG(name));
}

/* Without any, the parameters are attributes of these names. */
static void check_call(struct load *l, const struct processor *p, const struct access *a, const struct assignment *with,
		       size_t n)
{
	EACH (struct slice, name, a->params, a->param_count)
		if (!is_assigned(with, n, *name) && (n || !p->of || !load_entity_has(p->of, *name)) &&
		    !is_assigned(p->let, n ? 0 : p->let_count, *name))
			lacks(l, p->place, a, *name);
	EACH (struct attribute, q, a->query_params, a->query_param_count)
		if (q->required && !q->default_ && !is_assigned(with, n, q->name) &&
		    (n || !p->of || !load_entity_has(p->of, q->name)) &&
		    !is_assigned(p->let, n ? 0 : p->let_count, q->name))
			lacks(l, p->place, a, q->name);
}

/* Parameters of the merge itself are handed on. */
static void check_run(struct load *l, const struct access *a)
{
	const struct access *run = a->merge_run;

	EACH (struct slice, name, run->params, run->param_count) {
		bool given = is_assigned(a->merge_with, a->merge_with_count, *name) ||
			     slice_among(a->params, a->param_count, *name);

		EACH (struct attribute, p, a->query_params, a->query_param_count)
			given = given || slice_equal(p->name, *name);
		if (!given)
			lacks(l, a->place, run, *name);
	}
	EACH (struct attribute, q, run->query_params, run->query_param_count) {
		bool given = q->default_ || is_assigned(a->merge_with, a->merge_with_count, q->name) ||
			     slice_among(a->params, a->param_count, q->name);

		EACH (struct attribute, p, a->query_params, a->query_param_count)
			given = given || slice_equal(p->name, q->name);
		if (q->required && !given)
			lacks(l, a->place, run, q->name);
	}
}

void load_sound(struct load *l)
{
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_derived(l, e);
		check_copies(l, e);
	}
	check_merges(l);
	EACH (struct access, a, l->accesses, l->d->access_count) {
		load_subject(l, "access", a->name);
		if (a->merge_run && !a->merge_levels)
			check_run(l, a);
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count) {
		load_subject(l, "processor", p->name);
		check_let(l, p);
		if (p->each_pattern.n)
			check_call(l, p, p->rows_access, p->each_with, p->each_with_count);
		if (p->target_access)
			check_call(l, p, p->target_access, p->with, p->with_count);
	}
	l->subject = SLICE("");
}
