/* The patterns that a merge runs, and their parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "base/grow.h"

struct parts {
	struct pattern *p;
	struct merge_part *list;
	size_t count, capacity;
	struct value label;
};

/* Adds a pattern, unless it is there with the same parameters. */
static bool add_pattern(struct parts *x, const struct access *access, const struct row *given)
{
	struct run *r = x->p->g->r;
	struct pattern *p = x->p;
	struct merge_part part = { .label = x->label };
	struct row *params = arena_new(r->arena, struct row);
	bool none, may;

	pattern_init(&part.pattern, p->g, access, p->trusted);
	part.pattern.child = true;
	part.pattern.depth = p->depth + 1;
	if (part.pattern.depth > READ_MOST_NESTED)
		return run_fail(r, PROBLEM_INTERNAL, "'%.*s' merges itself", SLICE_ARG(p->access->name));
	if (!pattern_params(p->g, access, given, p->trusted, params, &none))
		return false;
	part.pattern.params = params;
	part.pattern.ordered = p->access->order.n || p->ordered;
	if (part.pattern.ordered)
		part.pattern.descending = p->descending;
	part.pattern.followed = p->followed || p->access->has_then;
	if (!pattern_allow(&part.pattern, &may))
		return false;
	if (p->open || p->past_rules) { /* the merge's own rule decides */
		part.pattern.open = p->open;
		part.pattern.past_rules = may = true;
		part.pattern.row_rule = false;
	}
	part.id = read_hash(row_item(params)) ^ read_hash(value_make_s(r->arena, access->name));
	for (size_t i = 0; i < x->count; i++)
		if (x->list[i].id == part.id)
			return true;
	if (none || !may || x->count == READ_MOST_SOURCES)
		return true;
	GROW_IN(r->arena, x->list, x->count, x->capacity, 8);
	x->list[x->count++] = part;
	return true;
}

/* ---- several patterns ---- */

static bool parts_of(struct parts *x)
{
	const struct access *a = x->p->access;

	for (size_t i = 0; i < a->merge_of_count; i++)
		if (!add_pattern(x, a->merge_parts[i], x->p->params))
			return false;
	return true;
}

/* ---- one pattern with other parameters each time ---- */

static bool with_values(struct parts *x, struct scope *s, struct row *given)
{
	const struct access *a = x->p->access;

	row_copy(given, x->p->g->r->arena, x->p->params);
	for (size_t i = 0; i < a->merge_with_count; i++) {
		struct value v;

		if (!scope_value(s, a->merge_with[i].term, &v))
			return false;
		if (value_present(v))
			row_set(given, a->merge_with[i].at, v);
		else
			row_drop(given, a->merge_with[i].at);
	}
	return true;
}

static bool has_all(const struct access *a, const struct row *given)
{
	for (size_t i = 0; i < a->merge_with_count; i++)
		if (!row_has(given, a->merge_with[i].at))
			return false;
	return true;
}

static bool add_for(struct parts *x, const struct access *run, struct value v)
{
	struct term_variable variables[2] = { { x->p->access->range_at, x->p->access->range_variable, v } };
	struct row given;
	struct scope s = pattern_scope(x->p, NULL);

	x->label = v;
	if (s.variable_count)
		variables[1] = s.variables[0];
	s.variables = variables;
	s.variable_count++;
	return with_values(x, &s, &given) && (!has_all(x->p->access, &given) || add_pattern(x, run, &given));
}

static bool parts_over_numbers(struct parts *x, const struct access *run)
{
	const struct access *a = x->p->access;

	for (int64_t n = a->range_from; n <= a->range_to; n++)
		if (!add_for(x, run, value_make_i64(x->p->g->r->arena, n)))
			return false;
	return true;
}

static bool parts_over_list(struct parts *x, const struct access *run)
{
	struct arena *a = x->p->g->r->arena;
	struct scope s = pattern_scope(x->p, NULL);
	struct value list;
	struct value_iter it;

	if (!scope_value(&s, x->p->access->range_list, &list))
		return false;
	if (value_present(list) && !value_count(list) && value_type(list) != VALUE_L)
		return add_for(x, run, list);
	for (it = value_iter(list); value_next(&it);) {
		if (!add_for(x, run, value_element(a, &it)))
			return false;
	}
	return true;
}

/* ---- for each row of another, level by level ---- */

struct level {
	struct row *list; /* what each row gives the pattern that is run */
	size_t count;
};

/* The values that lead from a row to the level below: a parameter of `over` has its name in `with`, or its position. */
static void lead_down(const struct parts *x, const struct access *over, const struct row *row, struct row *given)
{
	const struct access *a = x->p->access;

	row_copy(given, x->p->g->r->arena, x->p->params);
	for (size_t i = 0; i < over->param_count; i++) {
		struct value v = VALUE_ABSENT;
		bool named = false;

		for (size_t k = 0; k < a->merge_with_count; k++)
			if (a->merge_with[k].at == over->param_at[i]) {
				v = row_get(row, over->param_at[i]);
				named = true;
			}
		if (!named && i < a->merge_with_count)
			v = row_get(row, a->merge_with[i].at);
		if (value_present(v))
			row_set(given, over->param_at[i], v);
	}
}

/* The values of the start itself for the pattern that is run: the other way round. */
static void start_itself(const struct parts *x, const struct access *over, struct row *given)
{
	const struct access *a = x->p->access;

	row_copy(given, x->p->g->r->arena, x->p->params);
	for (size_t i = 0; i < a->merge_with_count; i++)
		if (!row_has(given, a->merge_with[i].at) && i < over->param_count)
			row_set(given, a->merge_with[i].at, row_get(x->p->params, over->param_at[i]));
}

static bool rows_below(struct parts *x, const struct access *over, const struct row *given, struct level *out)
{
	struct run *r = x->p->g->r;
	struct parts one = { .p = x->p };
	struct flow *s;
	struct found *rows;
	size_t n, known = out->count;

	if (!add_pattern(&one, over, given))
		return false;
	if (!one.count)
		return true;
	one.list[0].pattern.descending = over->descending;
	one.list[0].pattern.ordered = false;
	s = pattern_open(&one.list[0].pattern);
	if (!s || !flow_all(s, &rows, &n))
		return false;
	out->list = arena_grow(r->arena, out->list, known * sizeof(*out->list), (known + n) * sizeof(*out->list));
	for (size_t i = 0; i < n; i++) {
		struct scope scope = pattern_scope(x->p, &rows[i].shown);

		if (!with_values(x, &scope, &out->list[out->count]))
			return false;
		out->count += has_all(x->p->access, &out->list[out->count]);
	}
	return true;
}

static bool parts_for_each(struct parts *x, const struct access *run)
{
	const struct access *a = x->p->access, *over = a->merge_rows;
	struct level here = { 0 };
	struct row start;

	if (!rows_below(x, over, x->p->params, &here))
		return false;
	if (a->merge_levels) {
		start_itself(x, over, &start);
		if (has_all(a, &start) && !add_pattern(x, run, &start))
			return false;
	}
	for (int64_t level = 1;; level++) {
		struct level below = { 0 };
		size_t before = x->count;

		backend_together(x->p->g->r->backend, true);
		for (size_t i = 0; i < here.count; i++) {
			struct row down;
			size_t count = x->count;

			if (!add_pattern(x, run, &here.list[i]))
				return false;
			if (level >= a->merge_levels || x->count == count) /* a row that is there already: a circle */
				continue;
			lead_down(x, over, &here.list[i], &down);
			if (!rows_below(x, over, &down, &below))
				return false;
		}
		backend_together(x->p->g->r->backend, false);
		if (level >= a->merge_levels || x->count == before)
			return true;
		here = below;
	}
}

bool merge_parts(struct pattern *p, struct merge_part **parts, size_t *n)
{
	const struct access *run = p->access->merge_run;
	struct parts x = { .p = p };
	bool ok;

	if (p->access->merge_of_count)
		ok = parts_of(&x);
	else if (p->access->merge_rows)
		ok = parts_for_each(&x, run);
	else
		ok = p->access->range_list ? parts_over_list(&x, run) : parts_over_numbers(&x, run);
	*parts = x.list;
	*n = x.count;
	return ok;
}

/* ---- can an item come from two of them? ---- */

static bool is_compared_by_equality(const struct access *a, const struct name *param)
{
	for (size_t i = 0; i < a->where_count; i++)
		if (a->where[i].op == WHERE_EQ && template_reads(a->where[i].value, param))
			return true;
	return false;
}

/* An item is in an index once: no row is in two queries if the parameters that differ are compared by =. */
bool merge_is_disjoint(const struct pattern *p)
{
	const struct access *run = p->access->merge_run;

	if (!run || run->kind != ACCESS_QUERY || run->has_then || run->walk_param.n)
		return false;
	for (size_t i = 0; i < p->access->merge_with_count; i++)
		if (!is_compared_by_equality(run, p->access->merge_with[i].at))
			return false;
	return true;
}
