/* filter: a condition, or a list of conditions of which all hold; `if given`: without its parameters it is left out.
 *
 * x = input.y if given becomes `input.y is absent or x = input.y`; the part about the parameter is known when the request
 * is made. Parameters of other conditions are required.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static bool is_attribute(const struct load *l, struct slice name)
{
	EACH (struct entity, e, l->d->entities, l->d->entity_count)
		if (load_entity_has(e, name))
			return true;
	return false;
}

/* The parameter that the path reads; NULL: none. As when the filter runs: a bare name is first an attribute. */
static const struct slice *parameter_of(const struct load *l, const struct access *a, const struct term *t)
{
	const struct slice *name = t->kind != TERM_PATH                          ? NULL
				   : t->of == TERM_OF_INPUT                      ? &t->names[1]
				   : t->of == TERM_OF_ITEM && t->name_count == 1 ? &t->names[0]
										 : NULL;

	if (!name || (t->of == TERM_OF_ITEM && is_attribute(l, *name)))
		return NULL;
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		if (slice_equal(p->name, *name))
			return name;
	return NULL;
}

/* ---- if given ---- */

struct given {
	struct load *l;
	const struct access *access;
	const struct load_scope *scope;
	struct load_names seen;
	const struct term *condition;
};

static const struct term *new_term(struct load *l, enum term_kind kind, struct place p, const struct term *x,
				   const struct term *y)
{
	struct term *t = arena_new(l->a, struct term);
	const struct term **args = arena_array(l->a, const struct term *, 2);

	args[0] = x;
	args[1] = y;
	t->kind = kind;
	t->place = p;
	t->args = args;
	t->arg_count = y ? 2 : 1;
	return t;
}

/* input.y is absent */
static const struct term *is_absent(struct given *g, struct slice name, struct place p)
{
	struct term *path = arena_new(g->l->a, struct term);
	struct slice *names = arena_array(g->l->a, struct slice, 2);
	const struct term *t;

	names[0] = SLICE("input");
	names[1] = name;
	path->kind = TERM_PATH;
	path->place = p;
	path->names = names;
	path->name_count = 2;
	path->of = TERM_OF_INPUT;
	t = new_term(g->l, TERM_ABSENT, p, path, NULL);
	load_names_of_term(g->l, t);
	load_later_term(g->l, t, g->scope);
	return t;
}

static void add_given(void *ctx, const struct term *t)
{
	struct given *g = ctx;
	const struct slice *name = parameter_of(g->l, g->access, t);

	if (!name || slice_among(g->seen.list, g->seen.n, *name))
		return;
	load_names_add(&g->seen, *name);
	g->condition = new_term(g->l, TERM_OR, t->place, is_absent(g, *name, t->place), g->condition);
}

static const struct term *if_given(struct load *l, const struct term *t, struct place p)
{
	struct given g = { .l = l, .access = l->access, .scope = l->scope, .seen = { .a = l->a }, .condition = t };

	if (!t)
		return NULL;
	term_walk(t, add_given, &g);
	if (!g.seen.n)
		load_error(l, p, "wrong-clause",
			   "'if given' needs a parameter that 'with' declares, as in state = input.state");
	return g.condition;
}

/* ---- reading ---- */

static bool take_suffix(struct load_span *s, const char *words)
{
	struct slice t = span_text(*s), w = slice_str(words);

	if (t.n <= w.n || !slice_equal(slice_make(t.p + t.n - w.n, w.n), w) || t.p[t.n - w.n - 1] != ' ')
		return false;
	*s = span_cut(*s, 0, t.n - w.n);
	return true;
}

void load_filter(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t n;
	const struct yaml *items = load_list(l, y, "a condition, or a list of them", &n);

	for (size_t i = 0; i < n; i++) {
		struct load_span s;
		const struct term *t;
		bool given;

		if (!load_is_scalar(l, &items[i], "a condition"))
			continue;
		s = load_whole(&items[i]);
		given = take_suffix(&s, "if given");
		t = load_span_term(l, s, l->scope);
		if (given)
			t = if_given(l, t, items[i].place);
		a->filter = a->filter && t ? new_term(l, TERM_AND, t->place, a->filter, t) : t ? t : a->filter;
	}
}

/* ---- parameters that must be given ---- */

struct use {
	const struct load *l;
	const struct access *access;
	const struct attribute *param;
};

static bool reads(const void *ctx, const struct term *t)
{
	const struct use *u = ctx;
	const struct slice *name = parameter_of(u->l, u->access, t);

	return name && slice_equal(*name, u->param->name);
}

/* The filter says what happens without it. */
static bool asks_whether_given(const void *ctx, const struct term *t)
{
	return (t->kind == TERM_ABSENT || t->kind == TERM_PRESENT) && reads(ctx, t->args[0]);
}

void load_require_filtered(struct load *l)
{
	EACH (struct access, a, l->accesses, l->d->access_count)
		EACH (struct attribute, p, a->query_params, a->filter ? a->query_param_count : 0) {
			struct use u = { l, a, p };

			if (!p->default_ && !p->required && term_any(a->filter, reads, &u) &&
			    !term_any(a->filter, asks_whether_given, &u))
				OURS(struct attribute, p)->required = true;
		}
}
