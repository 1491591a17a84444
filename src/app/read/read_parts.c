/* The patterns that a merge runs, and their parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"

struct parts {
	struct pattern *p;
	struct merge_part *list;
	size_t count, capacity;
	struct value label;
};

/* The same pattern with the same parameters is run once. */
static bool add(struct parts *x, const struct access *access, const struct row *given)
{
	struct run *r = x->p->g->r;
	struct pattern *p = x->p;
	struct merge_part part = {
		.pattern = { .g = p->g, .access = access, .trusted = p->trusted, .child = true, .depth = p->depth + 1 }
	};
	struct row *params = arena_new(r->arena, struct row);
	bool none, may;

	part.label = x->label;
	if (part.pattern.depth > READ_MOST_NESTED)
		return run_fail(r, PROBLEM_INTERNAL, "'%.*s' merges itself", SLICE_ARG(p->access->name));
	if (!pattern_params(p->g, access, given, p->trusted, params, &none))
		return false;
	part.pattern.params = params;
	part.pattern.ordered = p->access->order.n || p->ordered;
	part.pattern.descending = part.pattern.ordered ? p->descending : access->descending;
	part.pattern.followed = p->followed || p->access->has_then;
	if (!pattern_allow(&part.pattern, &may))
		return false;
	if (p->open || p->past_rules) { /* the merge's own rule has decided, or will */
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
	if (x->count == x->capacity) {
		size_t capacity = x->capacity ? 2 * x->capacity : 8;

		x->list = arena_grow(r->arena, x->list, x->capacity * sizeof(*x->list), capacity * sizeof(*x->list));
		x->capacity = capacity;
	}
	x->list[x->count++] = part;
	return true;
}

static const struct access *pattern_named(struct run *r, struct slice name, const struct access **out)
{
	*out = design_access(r->design, name);
	if (!*out)
		run_fail(r, PROBLEM_INTERNAL, "There is no access pattern '%.*s'", SLICE_ARG(name));
	return *out;
}

/* ---- of several ---- */
static bool parts_of(struct parts *x)
{
	const struct access *a = x->p->access, *run;

	for (size_t i = 0; i < a->merge_of_count; i++)
		if (!pattern_named(x->p->g->r, a->merge_of[i], &run) || !add(x, run, x->p->params))
			return false;
	return true;
}

/* ---- one with other parameters each time ---- */
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
	struct scope s = pattern_scope(x->p, VALUE_ABSENT);

	x->label = v;
	if (s.variable_count)
		variables[1] = s.variables[0];
	s.variables = variables;
	s.variable_count++;
	return with_values(x, &s, &given) && (!has_all(x->p->access, &given) || add(x, run, &given));
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
	struct scope s = pattern_scope(x->p, VALUE_ABSENT);
	struct value list;
	struct value_iter it;

	if (!scope_value(&s, x->p->access->range_list, &list))
		return false;
	if (value_present(list) && !value_count(list) && value_type(list) != VALUE_L)
		return add_for(x, run, list);
	for (it = value_iter(list); value_next(&it);) {
		struct value v = it.value;
		struct number n;

		if (value_type(list) == VALUE_SS)
			v = value_make_s(a, it.element);
		else if (value_type(list) == VALUE_NS)
			n = number_decode((const uint8_t *)it.element.p, it.element.n), v = value_make_n(a, &n);
		if (!add_for(x, run, v))
			return false;
	}
	return true;
}

/* ---- for each row of another, level by level ---- */

struct level {
	struct row *list; /* what each row gives the pattern that is run */
	size_t count;
};

/* The values that lead down from a row: a parameter of `over` is called as in `with`, or stands in its place. */
static void lead_down(const struct parts *x, const struct access *over, const struct row *row, struct row *given)
{
	const struct access *a = x->p->access;

	row_copy(given, x->p->g->r->arena, x->p->params);
	for (size_t i = 0; i < over->param_count; i++) {
		struct value v = VALUE_ABSENT;
		bool named = false;

		for (size_t k = 0; k < a->merge_with_count; k++)
			if (slice_equal(a->merge_with[k].attribute, over->params[i])) {
				v = row_find(row, over->params[i]);
				named = true;
			}
		if (!named && i < a->merge_with_count)
			v = row_get(row, a->merge_with[i].at);
		if (value_present(v))
			row_put(given, over->params[i], v);
	}
}

/* And those that the start gives the pattern that is run: the other way round. */
static void start_itself(const struct parts *x, const struct access *over, struct row *given)
{
	const struct access *a = x->p->access;

	row_copy(given, x->p->g->r->arena, x->p->params);
	for (size_t i = 0; i < a->merge_with_count; i++)
		if (!row_has(given, a->merge_with[i].at) && i < over->param_count)
			row_set(given, a->merge_with[i].at, row_find(x->p->params, over->params[i]));
}

static bool rows_below(struct parts *x, const struct access *over, const struct row *given, struct level *out)
{
	struct run *r = x->p->g->r;
	struct parts one = { .p = x->p };
	struct flow *s;
	struct found *rows;
	size_t n, known = out->count;

	if (!add(&one, over, given))
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
		struct scope scope = pattern_scope(x->p, rows[i].shown.full);

		if (!with_values(x, &scope, &out->list[out->count]))
			return false;
		out->count += has_all(x->p->access, &out->list[out->count]);
	}
	return true;
}

static bool parts_for_each(struct parts *x, const struct access *run)
{
	const struct access *a = x->p->access, *over;
	struct level here = { 0 };
	struct row start;

	if (!pattern_named(x->p->g->r, a->merge_over, &over) || !rows_below(x, over, x->p->params, &here))
		return false;
	if (a->merge_levels) {
		start_itself(x, over, &start);
		if (has_all(a, &start) && !add(x, run, &start))
			return false;
	}
	for (int64_t level = 1;; level++) {
		struct level below = { 0 };
		size_t before = x->count;

		backend_together(x->p->g->r->backend, true);
		for (size_t i = 0; i < here.count; i++) {
			struct row down;
			size_t count = x->count;

			if (!add(x, run, &here.list[i]))
				return false;
			if (level >= a->merge_levels || x->count == count) /* a row that was there is a circle */
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
	struct parts x = { .p = p };
	const struct access *run;
	bool ok;

	if (p->access->merge_of_count)
		ok = parts_of(&x);
	else if (!pattern_named(p->g->r, p->access->merge_pattern, &run))
		ok = false;
	else if (p->access->merge_over.n)
		ok = parts_for_each(&x, run);
	else
		ok = p->access->range_list ? parts_over_list(&x, run) : parts_over_numbers(&x, run);
	*parts = x.list;
	*n = x.count;
	return ok;
}

/* ---- can an item come from two of them? ---- */

static bool names(const struct template *t, struct slice name)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].names && slice_equal(t->parts[i].names[0], name))
			return true;
	return false;
}

/* An item stands once in an index: where the parameters that differ are compared by =, no row is in two queries. */
bool merge_is_disjoint(const struct pattern *p)
{
	const struct access *run =
		p->access->merge_pattern.n ? design_access(p->g->r->design, p->access->merge_pattern) : NULL;

	if (!run || run->kind != ACCESS_QUERY || run->has_then || run->walk_param.n)
		return false;
	for (size_t i = 0; i < p->access->merge_with_count; i++) {
		struct slice name = p->access->merge_with[i].attribute;
		bool by_equality = false;

		for (size_t k = 0; k < run->where_count; k++)
			by_equality = by_equality || (run->where[k].op == WHERE_EQ && names(run->where[k].value, name));
		if (!by_equality)
			return false;
	}
	return true;
}
