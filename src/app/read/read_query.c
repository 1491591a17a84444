/* Rows of a Query: partition after partition of a walk, page after page.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_where.h"

#define FILTERED_LEAST 50 /* rows to ask for where a filter takes some away */
#define FILTERED_MOST  4000

struct query_flow {
	struct flow s;
	struct pattern *p;
	struct query_plan plan; /* of the partition `step` */
	bool planned;
	int64_t step, steps;
	struct value start; /* absent: the partition's beginning */
	const struct slice *without, *all;
	size_t without_count, all_count;
	int calls;
};

static bool plan(struct query_flow *q)
{
	if (!q->planned && !query_plan(q->p, q->step, &q->plan))
		return false;
	q->planned = true;
	return true;
}

/* A filter takes rows away: the fewer came, the more are asked for. */
static int64_t rows_to_ask(struct query_flow *q, size_t want)
{
	int64_t n = want < READ_MOST_CHUNK + 1 ? (int64_t)want : READ_MOST_CHUNK + 1;

	if (q->plan.filter) {
		n = 2 * n > FILTERED_LEAST ? 2 * n : FILTERED_LEAST;
		n <<= q->calls;
		q->calls += q->calls < 6;
		n = n < FILTERED_MOST ? n : FILTERED_MOST;
	}
	return n < q->s.g->left ? n : q->s.g->left;
}

static const struct read_place *place_at(struct query_flow *q, struct value at)
{
	struct read_place *place = arena_new(q->p->g->r->arena, struct read_place);

	place->at = at;
	place->step = q->step;
	return place;
}

static void take_rows(struct query_flow *q, const struct dyn_page *page)
{
	struct found row;

	for (size_t i = 0; i < page->count; i++) {
		if (!pattern_row(q->p, page->items[i], &row))
			continue;
		row.place = place_at(q, page->items[i]);
		flow_push(&q->s, &row);
	}
}

static void go_on(struct query_flow *q, struct value last)
{
	q->start = last;
	if (!value_present(last)) {
		q->step++;
		q->planned = false;
		q->s.ended = q->step >= q->steps;
	}
	if (q->s.head == q->s.count && !q->s.ended)
		q->s.now = place_at(q, q->start);
}

static bool query_more(struct flow *s, size_t want)
{
	struct query_flow *q = (struct query_flow *)s;
	struct dyn_page page = { 0 };
	struct dyn_query request;

	if (!plan(q))
		return false;
	if (!q->plan.none) {
		request = query_request(q->p, &q->plan);
		request.limit = rows_to_ask(q, want);
		request.start = q->start;
		request.without = q->without;
		request.without_count = q->without_count;
		request.all = q->all;
		request.all_count = q->all_count;
		if (!dyn_query(q->p->g->r, &request, &page))
			return false;
		s->g->left -= value_present(page.last) ? request.limit : (int64_t)page.count + 1;
		take_rows(q, &page);
	}
	go_on(q, page.last);
	return true;
}

/* ---- places ----
 * A walk's step, then the values of the key attributes that `where` does not fix, in a fixed order; none: the beginning. */

struct key_names {
	struct slice list[2 * (KEY_HASH_MAX + KEY_RANGE_MAX)];
	size_t count;
};

static bool is_fixed(const struct access *a, struct slice name)
{
	for (size_t i = 0; i < a->where_count; i++)
		if (slice_equal(a->where[i].attribute, name) && a->where[i].op == WHERE_EQ && !a->where[i].optional)
			return true;
	return false;
}

static void add_name(const struct access *a, struct key_names *names, struct slice name, bool fixed)
{
	if (is_fixed(a, name) != fixed)
		return;
	for (size_t i = 0; i < names->count; i++)
		if (slice_equal(names->list[i], name))
			return;
	names->list[names->count++] = name;
}

static void add_names(const struct access *a, struct key_names *names, const struct key_schema *k, bool fixed)
{
	for (size_t i = 0; i < k->hash_count; i++)
		add_name(a, names, k->hash[i].name, fixed);
	for (size_t i = 0; i < k->range_count; i++)
		add_name(a, names, k->range[i].name, fixed);
}

static struct key_names key_names(const struct pattern *p, bool fixed)
{
	struct key_names names = { .count = 0 };

	add_names(p->access, &names, query_schema(p), fixed);
	add_names(p->access, &names, &p->g->r->design->key, fixed);
	return names;
}

static void query_save(struct flow *s, const struct read_place *place, struct buf *b)
{
	struct query_flow *q = (struct query_flow *)s;
	struct key_names names = key_names(q->p, false);

	buf_varint(b, (uint64_t)place->step);
	for (size_t i = 0; value_present(place->at) && i < names.count; i++) {
		struct value v = value_get(place->at, names.list[i]);

		buf_varint(b, v.n);
		buf_add(b, v.p, v.n);
	}
}

static size_t add_fixed(struct query_flow *q, struct value_member *members)
{
	struct key_names names = key_names(q->p, true);
	size_t n = 0;

	for (size_t i = 0; i < names.count; i++)
		for (size_t k = 0; k < q->plan.where_count; k++)
			if (slice_equal(q->plan.where[k].attribute, names.list[i]))
				members[n++] = (struct value_member){ names.list[i], q->plan.where[k].value };
	return n;
}

static bool query_load(struct flow *s, struct slice saved)
{
	struct query_flow *q = (struct query_flow *)s;
	struct value_member members[4 * (KEY_HASH_MAX + KEY_RANGE_MAX)];
	struct key_names names = key_names(q->p, false);
	const char *p = saved.p, *end = saved.p + saved.n;
	uint64_t n;
	size_t used = read_varint(p, end, &n), count;

	if (!used || n >= (uint64_t)q->steps)
		return false;
	q->step = (int64_t)n;
	p += used;
	s->now = place_at(q, VALUE_ABSENT);
	if (p == end)
		return true;
	if (!plan(q))
		return false;
	count = add_fixed(q, members);
	for (size_t i = 0; i < names.count; i++, p += n) {
		used = read_varint(p, end, &n);
		p += used;
		if (!used || n > (size_t)(end - p))
			return false;
		members[count] = (struct value_member){ names.list[i], { (const uint8_t *)p, n } };
		if (!n || !value_is_valid(members[count++].value, 0))
			return false;
	}
	q->start = value_make_map(q->p->g->r->arena, members, count);
	s->now = place_at(q, q->start);
	return p == end;
}

static const struct flow_ops query_ops = { query_more, query_save, query_load };

struct flow *query_open(struct pattern *p)
{
	struct query_flow *q = arena_new(p->g->r->arena, struct query_flow);

	p->expected = read_known(p->g->r, p->access).expected;
	q->s.ops = &query_ops;
	q->s.g = p->g;
	q->p = p;
	q->steps = p->access->walk_times ? p->access->walk_times : 1;
	if (p->access->without_count && !p->access->has_then)
		query_projection(p, &q->without, &q->without_count, &q->all, &q->all_count);
	return &q->s;
}

/* ---- only how many ---- */

static void skip_expired(struct run *r, struct query_plan *plan)
{
	plan->filter = test_join(r->arena, TEST_AND, plan->filter, dyn_not_expired(r, r->design->ttl));
}

/* The key attributes of the table that a filter may look at: those that are not the index's own. */
static size_t filtered_keys(const struct pattern *p, const struct key_attr **out)
{
	const struct key_schema *k = &p->g->r->design->key, *own = query_schema(p);
	size_t n = 0;

	for (size_t i = 0; i < (size_t)k->hash_count + k->range_count; i++) {
		const struct key_attr *a = i < k->hash_count ? &k->hash[i] : &k->range[i - k->hash_count];
		bool is_own = a->type != VALUE_S;

		for (size_t h = 0; h < own->hash_count; h++)
			is_own = is_own || slice_equal(own->hash[h].name, a->name);
		for (size_t h = 0; h < own->range_count; h++)
			is_own = is_own || slice_equal(own->range[h].name, a->name);
		if (!is_own)
			out[n++] = a;
	}
	return n;
}

static const struct key_rule *only_rule(const struct entity *e, struct slice attribute)
{
	const struct key_rule *found = NULL;

	for (size_t i = 0; i < e->key_count; i++)
		if (slice_equal(e->keys[i].attribute, attribute)) {
			if (found)
				return NULL;
			found = &e->keys[i];
		}
	return found;
}

bool query_can_tell_strangers(const struct pattern *p, const struct read_kinds *kinds)
{
	const struct key_attr *keys[KEY_HASH_MAX + KEY_RANGE_MAX];
	size_t n = filtered_keys(p, keys);

	if (!p->access->index.n) /* the key condition is on the same attributes: it tells where it says how both begin */
		return p->access->where_count == (size_t)query_schema(p)->hash_count + query_schema(p)->range_count &&
		       kinds->count && !p->access->where[p->access->where_count - 1].optional;
	if (!n || kinds->others || !kinds->count)
		return false;
	for (size_t i = 0; i < kinds->count; i++)
		for (size_t k = 0; k < n; k++) {
			const struct key_rule *rule = only_rule(kinds->list[i], keys[k]->name);

			if (!rule || !template_prefix(rule->template).n)
				return false;
		}
	return true;
}

static void skip_strangers(struct pattern *p, struct query_plan *plan)
{
	const struct key_attr *keys[KEY_HASH_MAX + KEY_RANGE_MAX];
	struct arena *a = p->g->r->arena;
	size_t n = p->access->index.n ? filtered_keys(p, keys) : 0;
	const struct test *any = NULL;
	struct read_kinds kinds;

	if (!n)
		return;
	read_possible(p->g->r->design, p->access, a, &kinds);
	for (size_t i = 0; i < kinds.count; i++) {
		const struct test *all = NULL;

		for (size_t k = 0; k < n; k++) {
			struct slice prefix = template_prefix(only_rule(kinds.list[i], keys[k]->name)->template);

			all = test_join(a, TEST_AND, all,
					test_attribute(a, TEST_BEGINS_WITH, keys[k]->name, value_make_s(a, prefix)));
		}
		any = test_join(a, TEST_OR, any, all);
	}
	plan->filter = test_join(a, TEST_AND, plan->filter, any);
}

bool query_count(struct pattern *p, int64_t *count)
{
	struct run *r = p->g->r;
	struct dyn_query request;
	struct query_plan plan_;
	struct dyn_page page;

	*count = 0;
	for (int64_t step = 0; step < (p->access->walk_times ? p->access->walk_times : 1); step++) {
		if (!query_plan(p, step, &plan_))
			return false;
		if (plan_.none)
			continue;
		if (r->design->ttl.n && query_projects(p, r->design->ttl))
			skip_expired(r, &plan_);
		if (!p->open)
			skip_strangers(p, &plan_);
		request = query_request(p, &plan_);
		request.count_only = true;
		do {
			if (!dyn_query(r, &request, &page))
				return false;
			*count += (int64_t)page.count;
			request.start = page.last;
		} while (value_present(page.last));
	}
	return true;
}
