/* A pattern with its parameters: its own rule, and its rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "app/read/read_where.h"

void pattern_init(struct pattern *p, struct reading *g, const struct access *access, bool trusted)
{
	*p = (struct pattern){ .g = g, .access = access, .trusted = trusted, .descending = access->descending };
	p->known = read_known(g->r, access);
}

/* ---- parameters ---- */

static bool fill_default(struct reading *g, const struct attribute *q, struct row *out)
{
	struct scope s = { .run = g->r, .input = out };
	int64_t now = g->r->now_ms;
	struct value v;
	bool ok;

	g->r->now_ms = g->now_ms; /* "today" is that of the first page, so that the pages fit together */
	ok = scope_value(&s, q->default_, &v);
	g->r->now_ms = now;
	if (ok && value_present(v))
		row_set(out, q->at, v);
	return ok;
}

bool pattern_params(struct reading *g, const struct access *access, const struct row *given, bool trusted,
		    struct row *out, bool *none)
{
	bool ok = true;

	*none = false;
	row_init(out, g->r->arena, NULL);
	for (size_t i = 0; i < access->param_count; i++) {
		struct value v = given ? row_get(given, access->param_at[i]) : VALUE_ABSENT;

		if (value_present(v))
			row_set(out, access->param_at[i], v);
		else if (trusted)
			*none = true;
		else
			ok = run_invalid(g->r, access->params[i], "is required");
	}
	for (size_t i = 0; i < access->query_param_count; i++) {
		const struct attribute *q = &access->query_params[i];
		struct value v = given ? row_get(given, q->at) : VALUE_ABSENT;

		if (value_present(v))
			row_set(out, q->at, v);
		else if (q->default_ && !fill_default(g, q, out))
			return false;
		else if (q->required && !q->default_ && !trusted)
			ok = run_invalid(g->r, q->name, "is required");
	}
	return ok;
}

struct scope pattern_scope(const struct pattern *p, const struct row *item)
{
	struct run *r = p->g->r;
	struct scope s = { .run = r, .item = item, .input = p->params };
	const struct callers *c = &r->design->callers;
	struct term_variable *list;

	if (!r->caller.subject.n)
		return s;
	/* <caller> and <caller.tenant> in a template */
	s.variables = list = arena_array(r->arena, struct term_variable, 1 + c->claim_count);
	list[s.variable_count++] = (struct term_variable){ .at = r->design->caller_at,
							   .name = SLICE("caller"),
							   .value = value_make_s(r->arena, r->caller.subject) };
	for (size_t i = 0; r->caller.claims && i < c->claim_count; i++)
		list[s.variable_count++] = (struct term_variable){ .at = c->claims[i].attribute.at,
								   .name = c->claims[i].attribute.at->text,
								   .value = r->caller.claims[i] };
	return s;
}

bool pattern_holds(const struct pattern *p, const struct term *t, const struct row *item, bool *out)
{
	struct scope s;

	*out = true;
	if (!t)
		return true;
	s = pattern_scope(p, item);
	return scope_holds(&s, t, out);
}

/* ---- the pattern's own rule ---- */

bool pattern_allow(struct pattern *p, bool *may)
{
	*may = p->open = p->trusted || p->g->r->caller.operator_;
	if (*may || p->access->operators_only)
		return true;
	p->past_rules = p->access->shows_all;
	p->row_rule = p->known->row_rule;
	return pattern_holds(p, p->row_rule ? NULL : p->access->allow, NULL, may);
}

bool pattern_refuse(struct run *r)
{
	return r->caller.subject.n ? run_fail(r, PROBLEM_FORBIDDEN, "You may not read this")
				   : run_fail(r, PROBLEM_UNAUTHENTICATED, "Log in to read this");
}

/* ---- rows ---- */

static bool looks_like(struct run *r, const struct entity *e, struct value stored)
{
	return slots_are_keyed(r->arena, e->slots, slots_lay(r->arena, e->slots, stored));
}

const struct entity *pattern_entity(const struct pattern *p, struct value stored)
{
	struct run *r = p->g->r;
	const struct entity *e, *said = p->access->of;

	if (p->expected && looks_like(r, p->expected, stored))
		return p->expected;
	e = entity_of_likely(r, stored, said);
	return !e && said && looks_like(r, said, stored) ? said : e;
}

/* A row of the expected entity; false: the item is of another one. */
static bool expected_row(const struct pattern *p, struct value stored, struct found *out, bool *expired)
{
	struct run *r = p->g->r;
	const struct slots *slots = p->expected->slots;
	struct row item = row_lay(r->arena, p->expected, stored);

	*expired = entity_item_expired(r, &item);
	if (*expired || !slots_are_keyed(r->arena, slots, item.values))
		return *expired;
	if (!slots_are_whole(slots, item.values))
		item = entity_lay(r, p->expected, stored);
	*out = (struct found){ .stored = stored, .raw = item, .shown = item };
	return true;
}

bool pattern_row(const struct pattern *p, struct value stored, struct found *out)
{
	struct run *r = p->g->r;
	struct row item = row_of(stored);
	const struct entity *e;
	bool expired;

	if (p->expected && expected_row(p, stored, out, &expired))
		return !expired;
	if (entity_expired(r, stored))
		return false;
	e = pattern_entity(p, stored);
	if (e)
		item = entity_lay(r, e, stored);
	*out = (struct found){ .stored = stored, .raw = item, .shown = item };
	return true;
}

bool pattern_key(struct pattern *p, struct value *key)
{
	const struct reference *get = &p->access->get;
	struct scope s;
	struct value *args;

	if (!get->to)
		return query_key(p, key);
	s = pattern_scope(p, NULL);
	return scope_args(&s, get->args, get->arg_count, &args) &&
	       entity_locate(p->g->r, get->to, args, get->arg_count, key);
}

static struct flow *get_open(struct pattern *p)
{
	struct run *r = p->g->r;
	const struct entity *e = p->access->get.to;
	struct found *row = arena_new(r->arena, struct found);
	struct value key, item = VALUE_ABSENT;
	bool there;

	if (!pattern_key(p, &key) ||
	    (value_present(key) && !dyn_get(r, key, p->access->consistent || p->trusted, &item)))
		return NULL;
	there = value_present(item) && pattern_row(p, item, row) && (!e || row->shown.entity == e);
	if (there && !pattern_holds(p, p->access->filter, &row->raw, &there))
		return NULL;
	return flow_of_rows(p->g, row, there);
}

/* The rows before `then` and rules. */
static struct flow *pattern_raw(struct pattern *p)
{
	switch (p->access->kind) {
	case ACCESS_GET: return get_open(p);
	case ACCESS_QUERY: return query_open(p);
	case ACCESS_MERGE: return merge_open(p);
	case ACCESS_BATCH: break;
	}
	return flow_of_rows(p->g, NULL, 0);
}

/* The best of a bounded number of rows. */
static struct flow *ranked(struct pattern *p, struct flow *raw)
{
	size_t limit = p->access->limit ? (size_t)p->access->limit : READ_PAGE, n = 0;
	struct found *rows = arena_array(p->g->r->arena, struct found, limit);
	bool got = true;

	if (p->g->left < (int64_t)limit)
		p->g->left = (int64_t)limit;
	while (n < limit && got) {
		if (!flow_next(raw, limit - n, &rows[n], &got))
			return NULL;
		n += got;
	}
	if (p->g->left <= 0)
		p->g->left = 1; /* rules and `then` are limited by the rows at hand */
	return rank_sort(p, rows, n) ? flow_of_rows(p->g, rows, n) : NULL;
}

struct flow *pattern_open(struct pattern *p)
{
	struct flow *raw = pattern_raw(p);

	if (raw && p->access->rank && p->access->rank_keep)
		raw = ranked(p, raw);
	return raw ? show_open(p, raw) : NULL;
}
