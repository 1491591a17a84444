/* Access patterns from their parameters to their result.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "app/read_internal.h"

uint64_t read_hash(struct value v)
{
	uint64_t h = XXH3_64bits(v.p ? (const void *)v.p : "", v.n);

	return h ? h : 1; /* 0 says that there is none */
}

/* ---- parameters ---- */

static bool fill_default(struct reading *g, const struct attribute *q, struct fields *out)
{
	struct scope s = { .run = g->r, .input = out };
	int64_t now = g->r->now_ms;
	struct value v;
	bool ok;

	g->r->now_ms = g->now_ms; /* "today" is that of the first page, or the pages would not fit together */
	ok = scope_value(&s, q->default_, &v);
	g->r->now_ms = now;
	if (ok && value_present(v))
		fields_set(out, q->name, v);
	return ok;
}

bool pattern_params(struct reading *g, const struct access *access, const struct fields *given, bool trusted, struct fields *out,
		    bool *none)
{
	bool ok = true;

	*none = false;
	fields_init(out, g->r->arena);
	for (size_t i = 0; i < access->param_count; i++) {
		struct value v = given ? fields_get(given, access->params[i]) : VALUE_ABSENT;

		if (value_present(v))
			fields_set(out, access->params[i], v);
		else if (trusted)
			*none = true;
		else
			ok = run_invalid(g->r, access->params[i], "is required");
	}
	for (size_t i = 0; i < access->query_param_count; i++) {
		const struct attribute *q = &access->query_params[i];
		struct value v = given ? fields_get(given, q->name) : VALUE_ABSENT;

		if (value_present(v))
			fields_set(out, q->name, v);
		else if (q->default_ && !fill_default(g, q, out))
			return false;
		else if (q->required && !q->default_ && !trusted)
			ok = run_invalid(g->r, q->name, "is required");
	}
	return ok;
}

struct scope pattern_scope(const struct pattern *p, const struct fields *item)
{
	struct run *r = p->g->r;
	struct scope s = { .run = r, .item = item, .input = p->params };
	struct scope_variable *caller;

	if (r->caller.subject.n) { /* <caller> in a template */
		caller = arena_new(r->arena, struct scope_variable);
		caller->name = SLICE("caller");
		caller->value = value_make_s(r->arena, r->caller.subject);
		s.variables = caller;
		s.variable_count = 1;
	}
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
	if (!p->access->allow)
		return true;
	term_walk(p->access->allow, look, &looks);
	p->row_rule = looks.at_rows;
	if (p->row_rule)
		return true;
	s = pattern_scope(p, NULL);
	if (!scope_holds(&s, p->access->allow, may))
		return false;
	p->open = *may;
	return true;
}

static bool refuse(struct run *r)
{
	return r->caller.subject.n ? run_fail(r, PROBLEM_FORBIDDEN, "This is not for you to read") :
				     run_fail(r, PROBLEM_UNAUTHENTICATED, "Log in to read this");
}

/* ---- rows ---- */

const struct entity *pattern_entity(const struct pattern *p, struct value stored)
{
	struct run *r = p->g->r;
	const struct entity *e = entity_of(r, stored);
	const struct entity *said = e || !p->access->entity.n ? NULL : design_entity(r->design, p->access->entity);
	const struct key_schema *k = &r->design->key;

	if (!said)
		return e;
	/* Nothing is recognised, and the pattern says what it is: then its keys must at least look like it. */
	for (size_t i = 0; i < said->key_count; i++) {
		const struct key_rule *rule = &said->keys[i];
		struct value v = value_get(stored, rule->attribute);
		struct slice *parts = arena_array(r->arena, struct slice, rule->template->part_count);

		if (is_key_attribute(k, rule->attribute) && !rule->when &&
		    (value_type(v) != VALUE_S || !template_match(rule->template, value_bytes(v), parts)))
			return NULL;
	}
	return said;
}

bool pattern_row(const struct pattern *p, struct value stored, struct row *out)
{
	struct run *r = p->g->r;

	if (entity_expired(r, stored))
		return false;
	*out = (struct row){ .stored = stored };
	out->shown.entity = pattern_entity(p, stored);
	out->shown.full = out->shown.entity ? entity_full(r, out->shown.entity, stored) : stored;
	out->raw = out->shown.full;
	return true;
}

static bool key_of_get(struct pattern *p, const struct entity *e, struct value *key)
{
	const struct reference *get = &p->access->get;
	struct scope s = pattern_scope(p, NULL);
	struct value *args;

	if (!e)
		return query_key(p, key);
	return scope_args(&s, get->args, get->arg_count, &args) && entity_locate(p->g->r, e, args, get->arg_count, key);
}

static bool is_kept(struct pattern *p, const struct row *row, bool *kept)
{
	struct fields item;
	struct scope s;

	*kept = true;
	if (!p->access->filter)
		return true;
	fields_from_item(&item, p->g->r->arena, row->raw);
	s = pattern_scope(p, &item);
	return scope_holds(&s, p->access->filter, kept);
}

static struct flow *get_open(struct pattern *p)
{
	struct run *r = p->g->r;
	const struct entity *e = p->access->get.entity.n ? design_entity(r->design, p->access->get.entity) : NULL;
	struct row *row = arena_new(r->arena, struct row);
	struct value key, item = VALUE_ABSENT;
	bool there;

	if (!key_of_get(p, e, &key) || (value_present(key) && !dyn_get(r, key, p->access->consistent, &item)))
		return NULL;
	there = value_present(item) && pattern_row(p, item, row) && (!e || row->shown.entity == e);
	if (there && !is_kept(p, row, &there))
		return NULL;
	return flow_of_rows(p->g, row, there);
}

struct flow *pattern_raw(struct pattern *p)
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
	struct row *rows = arena_array(p->g->r->arena, struct row, limit);
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

/* ---- results ---- */

static void to_rows(struct run *r, const struct row *rows, size_t n, struct read_result *out)
{
	out->rows = arena_array(r->arena, struct read_row, n);
	out->row_count = n;
	for (size_t i = 0; i < n; i++)
		out->rows[i] = rows[i].shown;
}

/* What a cursor holds: the time of the first page, how many rows a ranking has shown, the place. */
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
	g->now_ms = (int64_t)now;
	out->place = slice_make(payload.p + used, payload.n - used);
	return true;
}

static void add_next(struct pattern *p, const struct read_request *q, struct flow *s, const struct read_place *place, uint64_t shown,
		     struct read_result *out)
{
	struct buf b;

	buf_init(&b, p->g->r->arena);
	buf_varint(&b, (uint64_t)p->g->now_ms);
	buf_varint(&b, shown);
	flow_save(s, place, &b);
	out->next = cursor_seal(p->g->r, q->access, q->params, buf_slice(&b));
}

static size_t page_size(const struct read_request *q, uint64_t shown)
{
	const struct access *a = q->access;
	uint64_t keep = a->rank && a->rank_keep ? (uint64_t)a->rank_keep : 0;
	uint64_t limit = q->limit ? (uint64_t)q->limit : keep ? keep : a->limit ? (uint64_t)a->limit : 20;

	if (keep)
		limit = shown >= keep ? 0 : limit < keep - shown ? limit : keep - shown;
	return (size_t)limit;
}

static bool read_list(struct pattern *p, const struct read_request *q, const struct resumption *from, struct read_result *out)
{
	size_t limit = page_size(q, from->shown), n = 0;
	struct flow *s = pattern_open(p);
	const struct read_place *last = NULL;
	struct row *rows = NULL, beyond;
	size_t capacity = 0;
	bool got = true, whole;

	if (!s)
		return false;
	if (!flow_load(s, from->place))
		return cursor_malformed(p->g->r);
	while (n < limit && got) {
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : limit < 64 ? limit : 64;
			rows = arena_grow(p->g->r->arena, rows, n * sizeof(*rows), capacity * sizeof(*rows));
		}
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
	to_rows(p->g->r, rows, n, out);
	return true;
}

static bool read_one(struct pattern *p, struct read_result *out)
{
	struct flow *s = pattern_open(p);
	struct row row;
	bool got;

	out->shape = READ_ONE;
	if (!s || !flow_next(s, 1, &row, &got))
		return false;
	if (!got)
		return run_fail(p->g->r, PROBLEM_NOT_FOUND, "There is nothing here, or it is not for you to see");
	to_rows(p->g->r, &row, 1, out);
	return true;
}

static bool read_all(struct pattern *p, struct read_result *out)
{
	struct flow *s = pattern_open(p);
	struct row *rows;
	size_t n;

	if (!s || !flow_all(s, &rows, &n))
		return false;
	to_rows(p->g->r, rows, n, out);
	if (p->access->unite.n)
		shape_unite(p, out);
	else
		shape_tree(p, out);
	return true;
}

static bool is_mixed(struct run *r, const struct access *access)
{
	struct read_kinds kinds;

	read_kinds(r->design, access, r->arena, &kinds);
	return kinds.count > 1;
}

static bool run_pattern(struct pattern *p, const struct read_request *q, const struct resumption *from, struct read_result *out)
{
	const struct access *a = p->access;

	if (a->count_only) {
		out->shape = READ_COUNT;
		if (a->kind == ACCESS_MERGE && a->range_variable.n && !a->range_list)
			return shape_counts(p, out);
		return shape_count(p, &out->count);
	}
	if (a->unite.n || a->tree_parent.n)
		return read_all(p, out);
	if (a->kind == ACCESS_GET || a->single)
		return read_one(p, out);
	out->shape = READ_LIST;
	out->mixed = is_mixed(p->g->r, a);
	return a->kind == ACCESS_BATCH ? shape_batch(p, q, out) : read_list(p, q, from, out);
}

/* Something that is needed for the keys is not there: nothing is found. */
static bool read_nothing(struct run *r, const struct access *a, struct read_result *out)
{
	out->shape = a->count_only ? READ_COUNT : a->unite.n ? READ_VALUES : READ_LIST;
	if (out->shape == READ_LIST && (a->kind == ACCESS_GET || a->single))
		return run_fail(r, PROBLEM_NOT_FOUND, "There is nothing here");
	return true;
}

bool read_access(struct run *r, const struct read_request *q, struct read_result *out)
{
	struct reading g = { r, READ_MOST_ROWS, r->now_ms };
	struct pattern p = { .g = &g, .access = q->access, .trusted = q->trusted, .descending = q->access->descending };
	struct resumption from;
	struct fields params;
	bool none, may;

	memset(out, 0, sizeof(*out));
	if (q->limit < 0 || q->limit > READ_MOST_LIMIT)
		return run_invalid(r, SLICE("limit"), "between 1 and %d", READ_MOST_LIMIT);
	if (!resume(&g, q, &from) || !pattern_params(&g, q->access, q->params, q->trusted, &params, &none))
		return false;
	p.params = &params;
	if (!pattern_allow(&p, &may))
		return false;
	if (!may)
		return refuse(r);
	return none ? read_nothing(r, q->access, out) : run_pattern(&p, q, &from, out);
}

bool read_item(struct run *r, const struct entity *e, const struct value *args, size_t n, struct value *full)
{
	bool may = false;

	if (!entity_fetch(r, e, args, n, true, full))
		return false;
	if (value_present(*full) && !entity_allows(r, e, ALLOW_READ, *full, VALUE_ABSENT, &may))
		return false;
	if (may)
		return true;
	*full = VALUE_ABSENT;
	return run_fail(r, PROBLEM_NOT_FOUND, "There is no such %.*s, or it is not for you to see", SLICE_ARG(e->name));
}

/* ---- for the runtime itself ---- */

static struct value named(const struct scope *s, struct slice name)
{
	struct value v = VALUE_ABSENT;

	for (size_t i = 0; i < s->variable_count; i++)
		if (slice_equal(s->variables[i].name, name))
			return s->variables[i].value;
	if (s->item)
		v = fields_get(s->item, name);
	return value_present(v) || !s->input ? v : fields_get(s->input, name);
}

static bool given_by(struct scope *s, const struct access *access, const struct assignment *with, size_t with_count, struct fields *out)
{
	struct value v;

	fields_init(out, s->run->arena);
	for (size_t i = 0; i < access->param_count + access->query_param_count; i++) {
		struct slice name = i < access->param_count ? access->params[i] : access->query_params[i - access->param_count].name;

		v = with_count ? VALUE_ABSENT : named(s, name);
		if (value_present(v))
			fields_set(out, name, v);
	}
	for (size_t i = 0; i < with_count; i++) {
		if (!scope_value(s, with[i].term, &v))
			return false;
		if (value_present(v))
			fields_set(out, with[i].attribute, v);
	}
	return true;
}

bool read_each(struct run *r, const struct access *access, struct scope *s, const struct assignment *with, size_t with_count,
	       bool (*visit)(void *ctx, const struct read_row *row, bool *stop), void *ctx)
{
	struct reading g = { r, INT64_MAX, r->now_ms };
	struct pattern p = { .g = &g, .access = access, .trusted = true, .open = true, .descending = access->descending };
	struct fields given, params;
	struct flow *rows;
	struct row row;
	bool none, got, stop = false;

	if (!given_by(s, access, with, with_count, &given) || !pattern_params(&g, access, &given, true, &params, &none))
		return false;
	p.params = &params;
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
