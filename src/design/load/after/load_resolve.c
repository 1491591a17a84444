/* The second pass over terms, templates and references: checks every name in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/load.h"

/* ---- other items ---- */
static const struct entity *check_items(struct load *l, struct slice entity, size_t count, struct place p)
{
	const struct entity *e = load_check_entity(l, entity, p);

	if (!e || !e->path_template || !e->param_count || e->param_count == count) /* no parameter: reported there */
		return e;
	load_error(l, p, "wrong-count", "%.*s is addressed by %zu value%s, not by %zu", SLICE_ARG(e->name),
		   e->param_count, e->param_count == 1 ? "" : "s", count)
		->repair = arena_printf(l->a, "its path is %.*s", SLICE_ARG(e->path));
	return e;
}

static const void *resolve_reference(struct load *l, const struct load_later *w)
{
	const struct reference *r = w->thing;

	return check_items(l, r->entity, r->arg_count, r->place);
}

void load_later_reference(struct load *l, struct reference *r)
{
	load_later(l, (struct load_later){ .resolve = resolve_reference, .thing = r, .into = &r->to });
}

/* ---- paths in terms and templates ---- */
struct visit {
	struct load *l;
	const struct load_scope *scope;
};

/* Whether the names cannot be checked, because the scope itself is unknown and was reported. */
static bool is_lost(struct load *l, const struct load_scope *s)
{
	return (s->processor && !s->entity && !s->processor->every_seconds) ||
	       (s->target.n && !design_entity(l->d, s->target));
}

/* `alone`: without old, input or a row before it, where `caller` is possible, too. */
static struct finding *unknown_name(struct load *l, const struct load_scope *scope, struct slice name, bool alone,
				    struct place p)
{
	struct load_names names = { .a = l->a };
	bool parameter = scope->access && !scope->rows;

	load_names_of(l, scope, &names);
	if (alone && (scope->entity || scope->access))
		load_names_add(&names, SLICE("caller"));
	return load_unknown(l, p, parameter ? "unknown-parameter" : "unknown-attribute",
			    parameter ? "parameter" : "attribute", name, &names);
}

/* old.x, input.x, and the rows of a loop. */
static bool check_prefixed(struct load *l, const struct load_scope *s, const struct slice *names, size_t n,
			   struct place p)
{
	struct load_scope inner;
	struct slice name = n > 1 ? names[1] : SLICE("");

	if (slice_is(names[0], "caller") && n > 1) {
		(void)load_find_claim(l, name, p);
		return true;
	}
	if (slice_is(names[0], "caller"))
		return true;
	if (!load_scope_inside(s, names[0], &inner))
		return false;
	if (n < 2)
		load_error(l, p, "wrong-value", "expected an attribute, as in %.*s.x", SLICE_ARG(names[0]));
	else if (!load_scope_has(l, &inner, name))
		(void)unknown_name(l, &inner, name, false, p);
	return true;
}

/* The finding about a name that does not exist; NULL: it exists, or the finding is about something else. */
static struct finding *check_path(struct load *l, const struct load_scope *s, const struct slice *names, size_t n,
				  struct place p)
{
	if (is_lost(l, s) || check_prefixed(l, s, names, n, p) || load_scope_has(l, s, names[0]))
		return NULL;
	return unknown_name(l, s, names[0], true, p);
}

struct place load_placeholder_place(const struct load *l, struct load_span s, size_t *at)
{
	struct slice t = span_text(s);
	size_t from = *at, to;

	while (from < t.n && t.p[from] != '<')
		from++;
	to = ++from;
	while (to < t.n && t.p[to] != '>' && t.p[to] != ':')
		to++;
	*at = to;
	return from < t.n ? span_place(l, span_cut(s, from, to - from)) : span_place(l, s);
}

/* reactions.like is one name; in old.reactions.like, or that of a loop's row, the second one. */
static size_t join_names(struct load *l, const struct load_scope *s, const struct slice *names, size_t n,
			 const struct slice **out)
{
	struct load_scope inner;
	bool prefixed = n > 2 && load_scope_inside(s, names[0], &inner);
	size_t at = prefixed ? 1 : 0;
	struct slice joined, *list;

	*out = names;
	if (is_lost(l, s) || !load_group_path(l, prefixed ? &inner : s, names, n, at, &joined))
		return n;
	list = arena_array(l->a, struct slice, 2);
	list[0] = names[0];
	list[at] = joined;
	*out = list;
	return at + 1;
}

/* USER#{user_id}: braces around a name that is known are meant as a placeholder. */
static void check_braces(struct load *l, const struct load_later *w)
{
	struct slice t = span_text(w->span), name;
	const char *open = t.n ? memchr(t.p, '{', t.n) : NULL, *close;

	for (; open; open = memchr(close, '{', t.n - (size_t)(close - t.p))) {
		close = memchr(open, '}', t.n - (size_t)(open - t.p));
		if (!close)
			return;
		name = slice_make(open + 1, (size_t)(close - open) - 1);
		if (is_lost(l, w->scope) || !load_scope_has(l, w->scope, name))
			continue;
		load_error(l, span_place(l, span_cut(w->span, (size_t)(open - t.p), name.n + 2)), "bad-template",
			   "{%.*s} stands for itself in a template", SLICE_ARG(name))
			->repair = arena_printf(l->a, "a placeholder is written <%.*s>", SLICE_ARG(name));
	}
}

static const void *resolve_template(struct load *l, const struct load_later *w)
{
	const struct template *t = w->thing;
	size_t at = 0;

	for (size_t i = 0; i < t->part_count; i++) {
		struct template_part *part = OURS(struct template_part, &t->parts[i]);

		if (part->name_count > 1)
			part->name_count = join_names(l, w->scope, part->names, part->name_count, &part->names);
	}
	check_braces(l, w);
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names)
			(void)check_path(l, w->scope, t->parts[i].names, t->parts[i].name_count,
					 load_placeholder_place(l, w->span, &at));
	return NULL;
}

void load_later_template(struct load *l, const struct template *t, struct load_span s, const struct load_scope *scope)
{
	struct load_template *x;

	if (!scope)
		return;
	load_later(l, (struct load_later){ .resolve = resolve_template, .thing = t, .span = s, .scope = scope });
	x = arena_new(l->a, struct load_template);
	*x = (struct load_template){ .next = l->templates, .template = t, .span = s, .scope = scope };
	l->templates = x;
}

/* ---- terms ---- */
static bool is_role(const struct design *d, struct slice name)
{
	return slice_is(name, "user") || slice_among(d->callers.roles, d->callers.role_count, name);
}

static void check_role(struct load *l, const struct term *t)
{
	struct load_names names = { .a = l->a };

	if (load_is_stray(l, "roles", t->name) || load_is_stray(l, "callers", t->name))
		return;
	if (is_role(l->d, t->name))
		return;
	load_names_add(&names, SLICE("user"));
	for (size_t i = 0; i < l->d->callers.role_count; i++)
		if (!slice_is(l->d->callers.roles[i], "user"))
			load_names_add(&names, l->d->callers.roles[i]);
	load_unknown(l, t->place, "unknown-role", "role", t->name, &names);
}

/* What the steps of a path lead to, from its first name. */
static const struct attribute *at_the_end(const struct attribute *a, const struct term *t, size_t step)
{
	bool wrong;

	for (; a && step < t->name_count; step++)
		a = attribute_inside(a, t->names[step], term_is_element(t->names[step]), &wrong);
	return a;
}

/* The attribute that a path or a fetch names; NULL: none, or unknown. */
static const struct attribute *attribute_of(struct load *l, const struct load_scope *s, const struct term *t)
{
	const struct entity *e = s->entity ? s->entity : s->target.n ? design_entity(l->d, s->target) : NULL;
	bool prefixed = t->kind == TERM_PATH && t->of != TERM_OF_ITEM;

	if (t->kind == TERM_PATH && t->member)
		return at_the_end(t->member, t, 1);
	if (t->kind == TERM_FETCH) {
		e = design_entity(l->d, t->name);
		return e ? entity_attribute(e, t->attribute) : NULL;
	}
	if (!e && s->access && s->access->entity.n)
		e = design_entity(l->d, s->access->entity);
	if (!e || t->kind != TERM_PATH)
		return NULL;
	return at_the_end(entity_attribute(e, t->names[prefixed]), t, 1 + (size_t)prefixed);
}

static void check_choices(struct load *l, const struct load_scope *s, const struct term *t)
{
	const struct attribute *a = attribute_of(l, s, t->args[0]);

	for (size_t i = 1; i < t->arg_count; i++)
		if (t->args[i]->kind == TERM_LITERAL && value_type(t->args[i]->value) == VALUE_S)
			load_check_choice(l, a, value_bytes(t->args[i]->value), t->args[i]->place);
}

/* status = paid */
static void check_bare(struct load *l, const struct load_scope *s, const struct term *t)
{
	struct finding *f = t->member ? NULL : check_path(l, s, t->names, t->name_count, t->place);
	struct load_scope inner;
	struct slice hint = f ? load_hint(HINT_TERM, t->names[0]) : SLICE("");

	OURS(struct term, t)->inside = t->name_count > 1 && t->of == TERM_OF_ITEM &&
				       !load_scope_inside(s, t->names[0], &inner) &&
				       !slice_equal(t->names[0], s->variable) && !slice_is(t->names[0], "caller");
	if (f && f->repair.n > 3 && !memcmp(f->repair.p + f->repair.n - 3, "…", 3))
		f->repair = SLICE(""); /* too many to read */
	if (hint.n && t->name_count == 1)
		f->repair = hint;
	else if (f && t->name_count == 1 && !slice_starts(f->repair, SLICE("did you")))
		f->repair = arena_printf(l->a, "%.*s%sif it is a text, put it in quotes: '%.*s'", SLICE_ARG(f->repair),
					 f->repair.n ? "; " : "", SLICE_ARG(t->names[0]));
}

/* ---- members of elements: sum(lines, quantity * price) ---- */
struct naming_members {
	struct load *l;
	const struct structure *of;
};

/* A member takes precedence over an attribute of the same name. */
static void name_member(void *ctx, const struct term *t)
{
	struct naming_members *x = ctx;
	struct term *own = OURS(struct term, t);

	if (t->kind == TERM_CALL && term_is_each(t->function))
		load_error(x->l, t->place, "bad-term", "%.*s(…) cannot be inside another one of its kind",
			   SLICE_ARG(t->name))
			->repair = SLICE("sum, any, all and count go through one list");
	if (t->kind != TERM_PATH || t->of != TERM_OF_ITEM)
		return;
	own->member = structure_member(x->of, t->names[0]);
	if (own->member)
		own->of = TERM_OF_ELEMENT;
}

static void name_members(struct load *l, const struct load_scope *s, const struct term *t)
{
	const struct attribute *list = t->arg_count == 2 ? attribute_of(l, s, t->args[0]) : NULL;
	struct naming_members x = { .l = l, .of = list && list->each ? list->each->members : NULL };

	if (x.of && !list->compressed)
		term_walk(t->args[1], name_member, &x);
	else if (t->arg_count == 2)
		load_error(l, t->args[0]->place, "wrong-type", "%.*s(x, …) is for lists and maps of structures",
			   SLICE_ARG(t->name))
			->repair = SLICE("say what its elements are, as in lines: list of Line 0..20");
}

static void join_group(struct load *l, const struct load_scope *s, struct term *t)
{
	if (t->name_count > 1)
		t->name_count = join_names(l, s, t->names, t->name_count, &t->names);
}

static void visit_term(void *ctx, const struct term *t)
{
	struct visit *v = ctx;
	const struct entity *e;

	switch (t->kind) {
	case TERM_CALL:
		if (term_is_each(t->function))
			name_members(v->l, v->scope, t);
		break;
	case TERM_PATH:
		join_group(v->l, v->scope, OURS(struct term, t));
		check_bare(v->l, v->scope, t);
		break;
	case TERM_EXISTS:
	case TERM_VISIBLE:
	case TERM_FETCH:
		e = check_items(v->l, t->name, t->arg_count, t->place);
		if (t->kind == TERM_FETCH && e)
			load_check_attribute(v->l, e, t->attribute, t->place);
		break;
	case TERM_IS_ROLE: check_role(v->l, t); break;
	case TERM_CLAIM: OURS(struct term, t)->claim = load_find_claim(v->l, t->name, t->place); break;
	case TERM_MAY:
		if (!v->l->d->callers.permissions_entity.n)
			load_error(v->l, t->place, "missing-word", "'may' needs 'permissions' in 'callers'")->repair =
				SLICE("as in permissions: Group.permissions through my groups(user_id = caller) by group");
		break;
	case TERM_EQ:
	case TERM_NE:
	case TERM_IN: check_choices(v->l, v->scope, t); break;
	default: break;
	}
}

static const void *resolve_term(struct load *l, const struct load_later *w)
{
	struct visit v = { l, w->scope };

	term_walk(w->thing, visit_term, &v);
	return NULL;
}

static struct slice address_of(const struct term *const *t)
{
	return slice_make(t, sizeof(*t));
}

void load_keep_scope(struct load *l, const struct term *t, const struct load_scope *scope)
{
	if (!l->scopes) {
		l->scopes = arena_new(l->a, struct map);
		map_init(l->scopes, l->a);
	}
	map_set(l->scopes, arena_copy(l->a, address_of(&t)), (void *)(uintptr_t)scope);
}

void load_later_term(struct load *l, const struct term *t, const struct load_scope *scope)
{
	if (!scope)
		return;
	load_keep_scope(l, t, scope);
	load_later(l, (struct load_later){ .resolve = resolve_term, .thing = t, .scope = scope });
}

const struct load_scope *load_term_scope(struct load *l, const struct term *t)
{
	return l->scopes ? map_get(l->scopes, address_of(&t)) : NULL;
}
