/* A pattern with its parameters: who may run it, and its rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "app/read/read_internal.h"

/* ---- parameters ---- */

static bool fill_default(struct reading *g, const struct attribute *q, struct row *out)
{
	struct scope s = { .run = g->r, .input = out };
	int64_t now = g->r->now_ms;
	struct value v;
	bool ok;

	g->r->now_ms = g->now_ms; /* "today" is that of the first page, or the pages would not fit together */
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

struct scope pattern_scope(const struct pattern *p, struct value full)
{
	struct run *r = p->g->r;
	struct scope s = { .run = r, .full = full, .input = p->params };
	struct term_variable *caller;

	if (r->caller.subject.n) { /* <caller> in a template */
		caller = arena_new(r->arena, struct term_variable);
		caller->name = SLICE("caller");
		caller->value = value_make_s(r->arena, r->caller.subject);
		s.variables = caller;
		s.variable_count = 1;
	}
	return s;
}

struct scope pattern_scope_raw(const struct pattern *p, const struct found *row)
{
	struct scope s = pattern_scope(p, VALUE_ABSENT);

	s.item = &row->raw;
	return s;
}

/* ---- the pattern's own rule ---- */

struct looks {
	const struct access *access;
	bool at_rows;
};

static void look(void *ctx, const struct term *t)
{
	struct looks *l = ctx;
	bool known = false;

	if (t->kind != TERM_PATH || slice_is(t->names[0], "input") || slice_is(t->names[0], "caller"))
		return;
	for (size_t i = 0; i < l->access->param_count; i++)
		known = known || slice_equal(l->access->params[i], t->names[0]);
	for (size_t i = 0; i < l->access->query_param_count; i++)
		known = known || slice_equal(l->access->query_params[i].name, t->names[0]);
	l->at_rows = l->at_rows || !known;
}

bool pattern_allow(struct pattern *p, bool *may)
{
	struct looks looks = { .access = p->access };
	struct scope s;

	*may = p->open = p->trusted || p->g->r->caller.operator_;
	if (*may || p->access->operators_only)
		return true;
	*may = true;
	p->past_rules = p->access->shows_all;
	if (!p->access->allow)
		return true;
	term_walk(p->access->allow, look, &looks);
	p->row_rule = looks.at_rows;
	if (p->row_rule)
		return true;
	s = pattern_scope(p, VALUE_ABSENT);
	return scope_holds(&s, p->access->allow, may);
}

/* ---- rows ---- */

static bool looks_like(struct run *r, const struct entity *e, struct value stored)
{
	return slots_are_keyed(r->arena, e->slots, slots_lay(r->arena, e->slots, stored));
}

const struct entity *pattern_entity(const struct pattern *p, struct value stored)
{
	struct run *r = p->g->r;
	const struct entity *e, *said;

	if (p->expected && looks_like(r, p->expected, stored))
		return p->expected;
	said = p->access->entity.n ? design_entity(r->design, p->access->entity) : NULL;
	e = entity_of_likely(r, stored, said);
	return !e && said && looks_like(r, said, stored) ? said : e;
}

/* Where the pattern tells the entity; false: it does not, or not of this item. */
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

static bool key_of_get(struct pattern *p, const struct entity *e, struct value *key)
{
	const struct reference *get = &p->access->get;
	struct scope s = pattern_scope(p, VALUE_ABSENT);
	struct value *args;

	if (!e)
		return query_key(p, key);
	return scope_args(&s, get->args, get->arg_count, &args) && entity_locate(p->g->r, e, args, get->arg_count, key);
}

static bool is_kept(struct pattern *p, const struct found *row, bool *kept)
{
	struct scope s;

	*kept = true;
	if (!p->access->filter)
		return true;
	s = pattern_scope_raw(p, row);
	return scope_holds(&s, p->access->filter, kept);
}

static struct flow *get_open(struct pattern *p)
{
	struct run *r = p->g->r;
	const struct entity *e = p->access->get.entity.n ? design_entity(r->design, p->access->get.entity) : NULL;
	struct found *row = arena_new(r->arena, struct found);
	struct value key, item = VALUE_ABSENT;
	bool there;

	if (!key_of_get(p, e, &key) ||
	    (value_present(key) && !dyn_get(r, key, p->access->consistent || p->trusted, &item)))
		return NULL;
	there = value_present(item) && pattern_row(p, item, row) && (!e || row->shown.entity == e);
	if (there && !is_kept(p, row, &there))
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
	size_t limit = p->access->limit ? (size_t)p->access->limit : 20, n = 0;
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
		p->g->left = 1; /* rules and `then` have their own measure: the rows at hand */
	return rank_sort(p, rows, n) ? flow_of_rows(p->g, rows, n) : NULL;
}

struct flow *pattern_open(struct pattern *p)
{
	struct flow *raw = pattern_raw(p);

	if (raw && p->access->rank && p->access->rank_keep)
		raw = ranked(p, raw);
	return raw ? show_open(p, raw) : NULL;
}
