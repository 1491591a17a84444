/* Patterns whose parameters are bound by name where they are used: then remove: [comments of post(post = id)].
 *
 * Such a use is a pattern of its own, which has the attributes of the item as its parameters: a copy of the pattern with
 * other names. So everything else knows only patterns whose parameters are attributes of the same names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

struct load_binding {
	struct slice parameter, attribute;
};

struct load_bound {
	struct load_bound *next;
	const struct access *of; /* the pattern */
	struct access *made;     /* the copy: a place after the last pattern */
	struct load_binding *list;
	size_t count;
};

/* ---- in the second pass ---- */

static bool has_parenthesis(struct slice s)
{
	return s.n && memchr(s.p, '(', s.n);
}

size_t load_bound_count(const struct load *l)
{
	size_t n = 0;

	for (const struct load_later *w = l->later; w; w = w->next)
		n += has_parenthesis(w->name);
	return n;
}

static struct slice trimmed(struct slice s)
{
	while (s.n && s.p[0] == ' ')
		s = slice_make(s.p + 1, s.n - 1);
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

/* The next of `a = b, c = d`. False: it is not of this shape. */
static bool take_binding(struct slice *rest, struct load_binding *out)
{
	const char *comma = memchr(rest->p, ',', rest->n);
	struct slice one = slice_make(rest->p, comma ? (size_t)(comma - rest->p) : rest->n);
	const char *sign = memchr(one.p, '=', one.n);

	*rest = comma ? slice_make(comma + 1, rest->n - one.n - 1) : SLICE("");
	if (!sign)
		return false;
	out->parameter = trimmed(slice_make(one.p, (size_t)(sign - one.p)));
	out->attribute = trimmed(slice_make(sign + 1, one.n - (size_t)(sign - one.p) - 1));
	return load_is_name(out->parameter) && load_is_name(out->attribute);
}

static bool has_parameter(const struct access *a, struct slice name)
{
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		if (slice_equal(p->name, name))
			return true;
	return slice_among(a->params, a->param_count, name);
}

static const struct load_binding *binding_of(const struct load_bound *b, struct slice parameter)
{
	for (size_t i = 0; i < b->count; i++)
		if (slice_equal(b->list[i].parameter, parameter))
			return &b->list[i];
	return NULL;
}

static struct slice renamed(const struct load_bound *b, struct slice name)
{
	const struct load_binding *x = binding_of(b, name);

	return x ? x->attribute : name;
}

/* Every parameter is an attribute of the entity then, and no two are the same. */
static void check_bound(struct load *l, const struct load_bound *b, const struct entity *e, struct place p)
{
	EACH (struct load_binding, x, b->list, b->count) {
		if (!has_parameter(b->of, x->parameter))
			load_error(l, p, "unknown-parameter", "'%.*s' has no parameter '%.*s'", SLICE_ARG(b->of->name),
				   SLICE_ARG(x->parameter));
		if (e)
			load_check_attribute(l, e, x->attribute, p);
	}
	for (size_t i = 0; e && i < b->of->param_count; i++)
		if (!binding_of(b, b->of->params[i]) && !load_entity_has(e, b->of->params[i]))
			load_error(l, p, "missing-parameter", "'%.*s' needs a value for '%.*s'", SLICE_ARG(b->of->name),
				   SLICE_ARG(b->of->params[i]));
}

const void *load_bind(struct load *l, const struct load_later *w, bool *is)
{
	const char *open = w->name.n ? memchr(w->name.p, '(', w->name.n) : NULL;
	struct load_bound *b = arena_new(l->a, struct load_bound);
	struct slice rest, name;

	*is = open && !design_access(l->d, w->name);
	if (!*is)
		return NULL;
	name = trimmed(slice_make(w->name.p, (size_t)(open - w->name.p)));
	rest = slice_make(open + 1, w->name.n - (size_t)(open - w->name.p) - 1);
	b->of = load_check_access(l, name, w->place);
	if (!b->of)
		return NULL;
	if (b->of->kind != ACCESS_QUERY && b->of->kind != ACCESS_GET) {
		load_error(l, w->place, "wrong-value",
			   "parameters are bound for a 'query' or a 'get', and '%.*s' is neither",
			   SLICE_ARG(b->of->name));
		return b->of;
	}
	b->list = arena_array(l->a, struct load_binding, rest.n);
	if (!rest.n || rest.p[rest.n - 1] != ')')
		rest = SLICE("");
	else
		rest.n--;
	while (rest.n && take_binding(&rest, &b->list[b->count]))
		b->count++;
	if (!b->count || rest.n) {
		load_error(l, w->place, "wrong-value",
			   "expected parameter = attribute, as in comments of post(post = id)");
		return b->of;
	}
	check_bound(l, b, design_entity(l->d, w->of), w->place);
	b->made = &l->accesses[l->d->access_count + l->bound_count++];
	b->next = l->bound;
	l->bound = b;
	return b->made;
}

/* ---- the copies ---- */

static const struct template *rename_template(struct load *l, const struct load_bound *b, const struct template *t)
{
	struct template *copy;
	struct template_part *parts;

	if (!t)
		return NULL;
	copy = arena_new(l->a, struct template);
	parts = arena_array(l->a, struct template_part, t->part_count);
	*copy = *t;
	copy->parts = parts;
	for (size_t i = 0; i < t->part_count; i++) {
		struct slice *names;

		parts[i] = t->parts[i];
		if (parts[i].name_count != 1 || !binding_of(b, parts[i].names[0]))
			continue;
		names = arena_new(l->a, struct slice);
		*names = renamed(b, parts[i].names[0]);
		parts[i].names = names;
	}
	load_names_of_template(l, copy);
	return copy;
}

/* Bare names in a filter are attributes of the rows first: only input.x is certainly a parameter. */
static const struct term *rename_term(struct load *l, const struct load_bound *b, const struct term *t, bool bare)
{
	struct term *copy = arena_new(l->a, struct term);
	const struct term **args = arena_array(l->a, const struct term *, t->arg_count);
	size_t at = t->of == TERM_OF_INPUT;

	*copy = *t;
	for (size_t i = 0; i < t->arg_count; i++)
		args[i] = rename_term(l, b, t->args[i], bare);
	copy->args = args;
	if (t->kind == TERM_PATH && (at || bare) && t->name_count == at + 1 && binding_of(b, t->names[at])) {
		struct slice *names = arena_array(l->a, struct slice, t->name_count);

		names[0] = t->names[0];
		names[at] = renamed(b, t->names[at]);
		copy->names = names;
	}
	return copy;
}

static const struct term *rename_root(struct load *l, const struct load_bound *b, const struct term *t, bool bare)
{
	const struct load_scope *scope = load_access_scope(l, b->made, !bare);
	const struct term *copy = rename_term(l, b, t, bare);

	load_names_of_term(l, copy);
	load_later_term(l, copy, scope);
	return copy;
}

static void rename_parameters(struct load *l, const struct load_bound *b, struct access *a)
{
	struct slice *params = arena_array(l->a, struct slice, a->param_count);
	struct attribute *more = arena_array(l->a, struct attribute, a->query_param_count);

	for (size_t i = 0; i < a->param_count; i++)
		params[i] = renamed(b, a->params[i]);
	for (size_t i = 0; i < a->query_param_count; i++) {
		more[i] = a->query_params[i];
		more[i].name = renamed(b, more[i].name);
	}
	a->params = params;
	a->query_params = more;
}

static void make(struct load *l, const struct load_bound *b)
{
	struct access *a = b->made;
	struct where_rule *where;
	const struct term **args;

	*a = *b->of;
	a->bound = true;
	a->path = SLICE("");
	a->path_template = NULL;
	a->id_count = 0;
	a->walk_param = renamed(b, a->walk_param);
	rename_parameters(l, b, a);
	where = arena_array(l->a, struct where_rule, a->where_count);
	for (size_t i = 0; i < a->where_count; i++) {
		where[i] = a->where[i];
		where[i].value = rename_template(l, b, where[i].value);
		where[i].upper = rename_template(l, b, where[i].upper);
	}
	a->where = where;
	args = arena_array(l->a, const struct term *, a->get.arg_count);
	for (size_t i = 0; i < a->get.arg_count; i++)
		args[i] = rename_root(l, b, a->get.args[i], true);
	a->get.args = args;
	if (a->filter)
		a->filter = rename_root(l, b, a->filter, false);
}

void load_make_bound(struct load *l)
{
	for (const struct load_bound *b = l->bound; b; b = b->next)
		make(l, b);
	l->d->access_count += l->bound_count;
}
