/* What the names in a term stand for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/scope.h"
#include "app/entity/upward.h"
#include "app/entity/entity.h"
#include "app/entity/renamed.h"
#include "app/entity/entity_key.h"
#include "app/entity/witness.h"

#define DEPTH_MOST    8 /* rules that evaluate other rules (visible E): ends a circle */
#define DEPTH_EXPLORE 4 /* the same for a run that explores, which evaluates every part of every rule */

static void scope_reads(void *ctx, const struct name *n, struct value v)
{
	const struct scope *s = ctx;

	witness_reads(s->witness, n, v);
}

/* Ends the evaluation: the run has the problem, but a term stops only at an error. */
static bool stop(struct scope *s, struct error *e)
{
	s->failed = true;
	return error_set(e, s->run->arena, ERR_INTERNAL, "Another item could not be read");
}

static bool enter(struct scope *s)
{
	if (s->run->depth < (run_explores(s->run) ? DEPTH_EXPLORE : DEPTH_MOST)) {
		s->run->depth++;
		return true;
	}
	return run_fail(s->run, PROBLEM_INTERNAL, "The rules of this design depend on one another endlessly");
}

/* What the rule for everywhere keeps from the caller is not there. */
static bool hide(struct scope *s, struct row *item, struct witness *w)
{
	bool keeps;

	if (!item->entity || !item->entity->everywhere)
		return true;
	if (!entity_keeps(s->run, item, w, &keeps))
		return false;
	if (!keeps && !run_explores(s->run))
		*item = (struct row){ 0 };
	return true;
}

static bool look_once(struct scope *s, const struct term *t, const struct value *args, struct row *item,
		      struct witness **w)
{
	struct entity_look look;

	*item = (struct row){ 0 };
	*w = NULL;
	if (!s->run->witnesses)
		return entity_fetch(s->run, t->entity, args, t->arg_count, false, item);
	if (!entity_look(s->run, t->entity, args, t->arg_count, &look))
		return false;
	*item = look.item;
	*w = witness_item(s->run, t->entity, &look);
	return true;
}

/* A missing item may have another name now, which the one that names it has yet to learn. */
static bool other_item(struct scope *s, const struct term *t, const struct value *args, struct row *item,
		       struct witness **w)
{
	bool renamed = false;

	*item = (struct row){ 0 };
	*w = NULL;
	if (!t->entity)
		return run_fail(s->run, PROBLEM_INTERNAL, "There is no entity %.*s", SLICE_ARG(t->name));
	if (!look_once(s, t, args, item, w))
		return false;
	if (!item->entity && !renamed_look(s->run, t->entity, args, t->arg_count, &renamed))
		return false;
	if (renamed && !look_once(s, t, args, item, w))
		return false;
	return hide(s, item, *w);
}

/* What the caller may not read counts as absent. */
static bool hide_unreadable(struct scope *s, const struct term *t, struct row *item)
{
	const struct attribute *a = NULL;
	bool may = true;

	if (!s->as_caller || !item->entity)
		return true;
	if (!entity_allows_item(s->run, ALLOW_READ, item, &may))
		return false;
	if (t->kind == TERM_FETCH)
		a = slots_attribute(item->entity->slots, t->at);
	if (may && a && a->private_ && !entity_allows_item(s->run, ALLOW_UPDATE, item, &may))
		return false;
	if (!may)
		*item = (struct row){ 0 };
	return true;
}

static bool scope_fetch(void *ctx, const struct term *t, const struct value *args, bool *there, struct value *v,
			struct error *e)
{
	struct scope *s = ctx;
	struct row other;
	struct witness *w;
	bool ok;

	*there = false;
	*v = VALUE_ABSENT;
	if (!enter(s))
		return stop(s, e);
	ok = other_item(s, t, args, &other, &w) && hide_unreadable(s, t, &other);
	*there = other.entity != NULL;
	if (*there && t->kind == TERM_FETCH) {
		*v = row_get(&other, t->at);
		witness_reads(w, t->at, *v);
	}
	s->run->depth--;
	return ok || stop(s, e);
}

static bool scope_visible(void *ctx, const struct term *t, const struct value *args, bool *out, struct error *e)
{
	struct scope *s = ctx;
	struct row item;
	struct witness *w;
	bool ok;

	*out = false;
	if (!enter(s))
		return stop(s, e);
	ok = other_item(s, t, args, &item, &w);
	if (ok && item.entity)
		ok = w ? entity_allows_witnessed(s->run, ALLOW_READ, &item, w, out)
		       : entity_allows_item(s->run, ALLOW_READ, &item, out);
	s->run->depth--;
	return ok || stop(s, e);
}

static bool scope_has_role(void *ctx, struct slice role)
{
	const struct scope *s = ctx;

	return run_has_role(s->run, role);
}

static bool scope_may(void *ctx, struct slice permission)
{
	struct scope *s = ctx;
	bool out = false;

	/* Finding permissions runs a pattern, and so may end where this began. */
	if (!enter(s)) {
		s->failed = true;
		return false;
	}
	if (!caller_may(s->run, permission, &out)) {
		s->failed = true;
		out = false;
	}
	s->run->depth--;
	return out;
}

struct term_scope scope_bind(struct scope *s)
{
	return (struct term_scope){
		.ctx = s,
		.item = s->item,
		.old = s->before,
		.input = s->input,
		.body = s->body,
		.variables = s->variables,
		.variable_count = s->variable_count,
		.reads = s->witness ? scope_reads : NULL,
		.fetch = scope_fetch,
		.visible = scope_visible,
		.has_role = scope_has_role,
		.may = scope_may,
		.caller = s->run->caller.subject,
		.claims = s->run->caller.claims,
		.now_ms = s->run->now_ms,
		.arena = s->run->arena,
	};
}

bool scope_error(struct scope *s, const struct error *e)
{
	return s->failed ? false : run_error(s->run, e);
}

bool scope_value(struct scope *s, const struct term *t, struct value *out)
{
	struct term_scope bound = scope_bind(s);
	struct error e = { 0 };

	s->failed = false;
	if (!term_value(t, &bound, out, &e))
		return scope_error(s, &e);
	return !s->failed;
}

bool scope_value_for(struct scope *s, const struct term *t, struct slice attribute, struct value *out)
{
	struct term_scope bound = scope_bind(s);
	struct error e = { 0 };

	s->failed = false;
	if (term_value(t, &bound, out, &e))
		return !s->failed;
	if (!s->failed && e.code == ERR_VALIDATION && s->run->problem.type == PROBLEM_NONE)
		return run_invalid(s->run, attribute, "cannot be computed: %.*s", SLICE_ARG(e.message));
	return scope_error(s, &e);
}

/* ---- exploring (run_explores()) ---- */

struct exploring {
	struct scope *scope;
	struct term_scope bound;
	bool outside;
};

static void explore_part(void *ctx, const struct term *t)
{
	struct exploring *x = ctx;
	struct error e = { 0 };
	struct value v;
	bool holds;

	if (t->kind != TERM_FETCH && t->kind != TERM_EXISTS && t->kind != TERM_VISIBLE && t->kind != TERM_MAY)
		return;
	x->outside = true;
	if (t->kind == TERM_FETCH)
		(void)!term_value(t, &x->bound, &v, &e);
	else
		(void)!term_holds(t, &x->bound, &holds, &e);
	x->scope->failed = false;
	x->scope->run->problem = (struct problem){ 0 };
}

bool scope_explore(struct scope *s, const struct term *t)
{
	struct exploring x = { .scope = s, .bound = scope_bind(s) };

	term_walk(t, explore_part, &x);
	return x.outside;
}

bool scope_holds(struct scope *s, const struct term *t, bool *out)
{
	struct term_scope bound;
	struct error e = { 0 };

	*out = true;
	s->failed = false;
	if (!t || (run_explores(s->run) && scope_explore(s, t)))
		return true;
	bound = scope_bind(s);
	if (!term_holds(t, &bound, out, &e))
		return scope_error(s, &e);
	return !s->failed;
}

/* The message begins with the placeholder that did not fit. */
static bool unfit(struct scope *s, const struct template *t, const struct error *e)
{
	for (size_t i = 0; e->code == ERR_VALIDATION && i < t->part_count; i++) {
		const struct template_part *p = &t->parts[i];
		struct slice m = e->message;

		if (p->name_count != 1 || m.n <= p->names[0].n || m.p[p->names[0].n] != ' ' ||
		    !slice_starts(m, p->names[0]))
			continue;
		m = slice_make(m.p + p->names[0].n + 1, m.n - p->names[0].n - 1);
		return run_invalid(s->run, p->names[0], "%.*s", SLICE_ARG(m));
	}
	return run_error(s->run, e);
}

static enum template_result fill(struct scope *s, const struct template *t, bool in_key, struct value *out,
				 struct error *e)
{
	struct term_scope bound = scope_bind(s);
	enum template_result result = template_fill(t, &bound, in_key, out, e);

	if (result != TEMPLATE_OK)
		*out = VALUE_ABSENT;
	return result;
}

bool scope_fill(struct scope *s, const struct template *t, bool in_key, struct value *out)
{
	struct error e = { 0 };

	return fill(s, t, in_key, out, &e) != TEMPLATE_BAD || unfit(s, t, &e);
}

enum template_result scope_try_fill(struct scope *s, const struct template *t, bool in_key, struct value *out)
{
	struct error e = { 0 };

	return fill(s, t, in_key, out, &e);
}

bool scope_args(struct scope *s, const struct term *const *args, size_t n, struct value **out)
{
	struct value *values = arena_array(s->run->arena, struct value, n);

	*out = values;
	for (size_t i = 0; i < n; i++)
		if (!scope_value(s, args[i], &values[i]))
			return false;
	return true;
}

bool scope_each(struct scope *s, const struct each_rule *each, scope_fn *fn, void *ctx)
{
	struct term_variable x = { each->at, each->variable, VALUE_ABSENT };
	struct scope inner = *s;
	struct value_iter it;
	struct value list;

	if (!each->list)
		return fn(ctx, s);
	if (!scope_value(s, each->list, &list))
		return false;
	inner.variables = &x;
	inner.variable_count = 1;
	it = value_iter(list);
	while (value_next(&it)) {
		x.value = value_element(s->run->arena, &it);
		if (!fn(ctx, &inner))
			return false;
	}
	return true;
}
