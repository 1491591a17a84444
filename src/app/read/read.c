/* Access patterns, from their parameters to their result.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "app/read/read_where.h"
#include "base/grow.h"

uint64_t read_hash(struct value v)
{
	uint64_t h = XXH3_64bits(v.p ? (const void *)v.p : "", v.n);

	return h ? h : 1; /* 0 means none */
}

/* ---- results ---- */

static bool to_rows(struct pattern *p, const struct found *rows, size_t n, struct read_result *out)
{
	out->rows = arena_alloc(p->g->r->arena, arena_array_size(sizeof(*out->rows), n)); /* all set below */
	out->row_count = n;
	for (size_t i = 0; i < n; i++)
		out->rows[i] = rows[i].shown;
	return !p->shows || shown_of_rows(p, out->rows, n);
}

#define DAY_MS 86400000

/* The content of a cursor: the time of the first page, if later pages depend on it; the rows shown so far; the
 * place. */
struct resumption {
	uint64_t shown;
	struct slice place;
};

static bool resume(struct reading *g, const struct read_request *q, struct resumption *out)
{
	struct slice payload;
	uint64_t now;
	size_t used;

	*out = (struct resumption){ 0 };
	if (!q->cursor.n)
		return true;
	if (!cursor_open(g->r, q->access, q->params, q->cursor, &payload))
		return false;
	used = read_varint(payload.p, payload.p + payload.n, &now);
	payload = slice_make(payload.p + used, payload.n - used);
	if (!used || !(used = read_varint(payload.p, payload.p + payload.n, &out->shown)))
		return cursor_malformed(g->r);
	if (now)
		g->now_ms = (int64_t)now;
	out->place = slice_make(payload.p + used, payload.n - used);
	return true;
}

/* No more exact than the next page needs: the less a cursor says, the more often it is the same. */
static uint64_t time_of_first(const struct pattern *p)
{
	switch (p->known->time) {
	case READ_ANY_TIME: return 0;
	case READ_BY_DAY: return (uint64_t)(p->g->now_ms - p->g->now_ms % DAY_MS);
	case READ_BY_TIME: break;
	}
	return (uint64_t)p->g->now_ms;
}

static void add_next(struct pattern *p, const struct read_request *q, struct flow *s, const struct read_place *place,
		     uint64_t shown, struct read_result *out)
{
	struct buf b;

	buf_init(&b, p->g->r->arena);
	buf_varint(&b, time_of_first(p));
	buf_varint(&b, shown);
	flow_save(s, place, &b);
	out->next = cursor_seal(p->g->r, q->access, q->params, buf_slice(&b));
}

int64_t read_page_size(const struct access *a)
{
	if (a->rank && a->rank_keep)
		return a->rank_keep;
	return a->limit ? a->limit : READ_PAGE;
}

/* A ranking ends after the rows it keeps. */
static size_t page_size(const struct read_request *q, uint64_t shown)
{
	uint64_t keep = q->access->rank ? (uint64_t)q->access->rank_keep : 0;
	uint64_t limit = (uint64_t)(q->limit ? q->limit : read_page_size(q->access));

	if (keep)
		limit = shown >= keep ? 0 : limit < keep - shown ? limit : keep - shown;
	return (size_t)limit;
}

static bool read_list(struct pattern *p, const struct read_request *q, const struct resumption *from,
		      struct read_result *out)
{
	size_t limit = page_size(q, from->shown), n = 0;
	struct flow *s = pattern_open(p);
	const struct read_place *last = NULL;
	struct found *rows = NULL, beyond;
	size_t capacity = 0;
	bool got = true, whole;

	if (!s)
		return false;
	if (!flow_load(s, from->place))
		return cursor_malformed(p->g->r);
	while (n < limit && got) {
		GROW_IN(p->g->r->arena, rows, n, capacity, limit < 64 ? limit : 64);
		if (!flow_next(s, limit - n + 1, &rows[n], &got))
			return false;
		n += got;
	}
	last = s->now;
	whole = p->access->rank && p->access->rank_keep && from->shown + n >= (uint64_t)p->access->rank_keep;
	if (!whole && !flow_next(s, 1, &beyond, &got))
		return false;
	if (!whole && (got || !s->ended))
		add_next(p, q, s, got ? last : s->now, from->shown + n, out);
	if (p->access->rank && !p->access->rank_keep && !rank_sort(p, rows, n))
		return false;
	return to_rows(p, rows, n, out);
}

static bool read_one(struct pattern *p, struct read_result *out)
{
	struct flow *s = pattern_open(p);
	struct found row;
	bool got;

	if (!s || !flow_next(s, 1, &row, &got))
		return false;
	if (!got)
		return run_fail(p->g->r, PROBLEM_NOT_FOUND, "There is nothing here, or you may not see it");
	return to_rows(p, &row, 1, out);
}

static bool read_batch(struct pattern *p, const struct read_request *q, struct read_result *out)
{
	struct found *rows;
	size_t n;

	return shape_batch(p, q, &rows, &n) && to_rows(p, rows, n, out);
}

static bool is_mixed(const struct pattern *p)
{
	return (!p->expected || p->access->has_then) && p->known->mixed;
}

static bool read_all(struct pattern *p, struct read_result *out)
{
	struct flow *s = pattern_open(p);
	struct found *rows;
	size_t n;

	if (!s || !flow_all(s, &rows, &n) || !to_rows(p, rows, n, out))
		return false;
	out->mixed = n && is_mixed(p);
	if (p->access->unite.n)
		return shape_unite(p, out);
	shape_tree(p, out);
	return true;
}

enum read_shape read_shape_of(const struct access *a)
{
	if (a->count_only)
		return a->kind == ACCESS_MERGE && a->range_variable.n && !a->range_list ? READ_COUNTS : READ_COUNT;
	if (a->unite.n)
		return READ_VALUES;
	return (a->kind == ACCESS_GET || a->single) && !a->tree_parent.n ? READ_ONE : READ_LIST;
}

static bool run_pattern(struct pattern *p, const struct read_request *q, const struct resumption *from,
			struct read_result *out)
{
	const struct access *a = p->access;

	switch (out->shape) {
	case READ_COUNT: return shape_count(p, &out->count);
	case READ_COUNTS: return shape_counts(p, out);
	case READ_VALUES: return read_all(p, out);
	case READ_ONE: return read_one(p, out);
	case READ_LIST: break;
	}
	if (a->tree_parent.n)
		return read_all(p, out);
	if (!(a->kind == ACCESS_BATCH ? read_batch(p, q, out) : read_list(p, q, from, out)))
		return false;
	out->mixed = out->row_count && is_mixed(p);
	return true;
}

/* A value that the keys need is missing: nothing is found. */
static bool read_nothing(struct run *r, struct read_result *out)
{
	return out->shape != READ_ONE || run_fail(r, PROBLEM_NOT_FOUND, "There is nothing here");
}

bool read_access(struct run *r, const struct read_request *q, struct read_result *out)
{
	struct reading g = { r, READ_MOST_ROWS, r->now_ms };
	struct resumption from;
	struct pattern p;
	struct row params;
	bool none, may;

	*out = (struct read_result){ .shape = read_shape_of(q->access) };
	pattern_init(&p, &g, q->access, q->trusted);
	p.shows = q->shows;
	if (q->limit < 0 || q->limit > READ_MOST_LIMIT)
		return run_invalid(r, SLICE("limit"), "must be between 1 and %d", READ_MOST_LIMIT);
	if (!resume(&g, q, &from) || !pattern_params(&g, q->access, q->params, q->trusted, &params, &none))
		return false;
	p.params = &params;
	if (!pattern_allow(&p, &may))
		return false;
	if (!may)
		return pattern_refuse(r);
	return none ? read_nothing(r, out) : run_pattern(&p, q, &from, out);
}

bool read_item(struct run *r, const struct entity *e, const struct value *args, size_t n, struct row *out)
{
	bool may = false;

	if (!entity_fetch(r, e, args, n, true, out))
		return false;
	if (out->entity && !entity_allows_item(r, ALLOW_READ, out, &may))
		return false;
	if (may)
		return true;
	*out = (struct row){ 0 };
	return run_fail(r, PROBLEM_NOT_FOUND, "There is no such %.*s, or you may not see it", SLICE_ARG(e->name));
}

/* ---- for the runtime itself ---- */

/* Opens a pattern that no rule limits; *none: a value that its keys need is missing. */
static bool open_trusted(struct scope *s, struct reading *g, const struct access *access, const struct row *given,
			 struct pattern *p, bool *none)
{
	struct row *params = arena_new(s->run->arena, struct row);

	pattern_init(p, g, access, true);
	p->open = true;
	p->params = params;
	return pattern_params(g, access, given, true, params, none);
}

static struct value named(const struct scope *s, const struct name *name)
{
	struct value v = VALUE_ABSENT;

	for (size_t i = 0; i < s->variable_count; i++)
		if (s->variables[i].at == name)
			return s->variables[i].value;
	if (s->item)
		v = row_get(s->item, name);
	return value_present(v) || !s->input ? v : row_get(s->input, name);
}

bool read_given(struct scope *s, const struct access *access, const struct assignment *with, size_t with_count,
		struct row *out)
{
	struct value v;

	row_init(out, s->run->arena, NULL);
	for (size_t i = 0; i < access->param_count + access->query_param_count; i++) {
		const struct name *name = i < access->param_count ? access->param_at[i]
								  : access->query_params[i - access->param_count].at;

		v = with_count ? VALUE_ABSENT : named(s, name);
		if (value_present(v))
			row_set(out, name, v);
	}
	for (size_t i = 0; i < with_count; i++) {
		if (!scope_value(s, with[i].term, &v))
			return false;
		if (value_present(v))
			row_set(out, with[i].at, v);
	}
	return true;
}

bool read_each(const struct access *access, struct scope *s, const struct assignment *with, size_t with_count,
	       bool (*visit)(void *ctx, const struct row *row, bool *stop), void *ctx)
{
	struct reading g = { s->run, INT64_MAX, s->run->now_ms };
	struct pattern p;
	struct row given;
	struct flow *rows;
	struct found row;
	bool none, got, stop = false;

	if (!read_given(s, access, with, with_count, &given) || !open_trusted(s, &g, access, &given, &p, &none))
		return false;
	if (none)
		return true;
	rows = pattern_open(&p);
	if (!rows)
		return false;
	while (!stop) {
		if (!flow_next(rows, 100, &row, &got))
			return false;
		if (!got)
			return true;
		if (!visit(ctx, &row.shown, &stop))
			return false;
	}
	return true;
}

/* ---- queries without making them ---- */

struct asking {
	void (*visit)(void *ctx, const struct read_asked *q);
	void *ctx;
	bool known;
};

static bool asks_of(struct pattern *p, struct asking *x)
{
	const struct access *a = p->access;
	struct merge_part *parts;
	size_t n;

	if (a->kind == ACCESS_MERGE && !a->merge_rows) {
		if (!merge_parts(p, &parts, &n))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!asks_of(&parts[i].pattern, x))
				return false;
		return true;
	}
	x->known = x->known && a->kind == ACCESS_QUERY;
	for (int64_t i = 0; a->kind == ACCESS_QUERY && i < query_steps(a); i++) {
		struct query_plan plan;

		if (!query_plan(p, i, &plan))
			return false;
		if (!plan.none)
			x->visit(x->ctx, &(struct read_asked){ a, plan.where, plan.where_count, p->params });
	}
	return true;
}

bool read_asks(struct run *r, const struct access *access, struct scope *s,
	       void (*visit)(void *ctx, const struct read_asked *q), void *ctx, bool *known)
{
	struct reading g = { r, INT64_MAX, r->now_ms };
	struct asking x = { .visit = visit, .ctx = ctx, .known = true };
	struct pattern p;
	struct row given;
	bool none;

	*known = true;
	if (!read_given(s, access, NULL, 0, &given) || !open_trusted(s, &g, access, &given, &p, &none))
		return false;
	if (!none && !asks_of(&p, &x))
		return false;
	*known = x.known;
	return true;
}
