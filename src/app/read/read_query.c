/* Rows of a Query: partition after partition of a walk, page after page. The first partition of a walk is read alone,
 * since its rows may be enough; then all others at once (backend_together()).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_where.h"

#define FILTERED_LEAST 50 /* rows to read where a filter drops some */
#define FILTERED_MOST  4000

struct query_flow {
	struct flow s;
	struct pattern *p;
	struct query_plan plan; /* of the partition `step` */
	bool planned;
	int64_t step, steps;
	struct value start; /* absent: the partition's beginning */
	int calls;
	size_t rest;   /* rows wanted of each further partition; 0: still reading the first */
	bool together; /* the further partitions are read at once */
	bool has_read; /* something, in this reading */
};

static bool plan(struct query_flow *q)
{
	if (!q->planned && !query_plan(q->p, q->step, &q->plan))
		return false;
	q->planned = true;
	return true;
}

/* Where a filter drops rows, each call reads more than the one before. */
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

/* A partition comes after one that this reading has read to its end. */
static void begin_rest(struct query_flow *q, size_t want)
{
	if (q->rest || !q->has_read || value_present(q->start))
		return;
	q->rest = want;
	q->together = true;
	backend_together(q->p->g->r->backend, true);
}

static void end_rest(struct query_flow *q)
{
	if (!q->together || (q->s.head == q->s.count && !q->s.ended))
		return;
	q->together = false;
	backend_together(q->p->g->r->backend, false);
}

static bool query_more(struct flow *s, size_t want)
{
	struct query_flow *q = (struct query_flow *)s;
	struct dyn_page page = { 0 };
	struct dyn_query request;

	begin_rest(q, want);
	if (!plan(q))
		return false;
	q->has_read = true;
	if (!q->plan.none) {
		request = query_request(q->p, &q->plan);
		request.limit = rows_to_ask(q, q->rest ? q->rest : want);
		request.start = q->start;
		request.without = q->p->known->left_out;
		request.without_count = q->p->known->left_out_count;
		request.all = q->p->known->projected;
		request.all_count = q->p->known->projected_count;
		if (!dyn_query(q->p->g->r, &request, &page))
			return false;
		s->g->left -= value_present(page.last) ? request.limit : (int64_t)page.count + 1;
		take_rows(q, &page);
	}
	go_on(q, page.last);
	end_rest(q);
	return true;
}

/* ---- places ----
 * The step of a walk, then the values of the key attributes that `where` does not fix, in a fixed order; none: the
 * beginning. */

static void query_save(struct flow *s, const struct read_place *place, struct buf *b)
{
	const struct read_names *open = &((struct query_flow *)s)->p->known->open;

	buf_varint(b, (uint64_t)place->step);
	for (size_t i = 0; value_present(place->at) && i < open->count; i++)
		buf_part(b, value_slice(value_get(place->at, open->list[i]->text)));
}

static size_t add_fixed(const struct query_flow *q, struct value_member *members)
{
	const struct read_names *fixed = &q->p->known->fixed;
	size_t n = 0;

	for (size_t i = 0; i < fixed->count; i++) {
		const struct dyn_condition *c = query_condition(&q->plan, fixed->list[i]);

		if (c)
			members[n++] = (struct value_member){ fixed->list[i]->text, c->value };
	}
	return n;
}

static bool query_load(struct flow *s, struct slice saved)
{
	struct query_flow *q = (struct query_flow *)s;
	struct value_member members[4 * PLAN_MOST];
	const struct read_names *open = &q->p->known->open;
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
	for (size_t i = 0; i < open->count; i++, p += n) {
		used = read_varint(p, end, &n);
		p += used;
		if (!used || n > (size_t)(end - p))
			return false;
		members[count] = (struct value_member){ open->list[i]->text, { (const uint8_t *)p, n } };
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

	p->expected = p->known->expected;
	q->s.ops = &query_ops;
	q->s.g = p->g;
	q->p = p;
	q->steps = query_steps(p->access);
	return &q->s;
}

/* ---- counting ---- */

static void skip_expired(struct run *r, struct query_plan *plan)
{
	plan->filter = test_join(r->arena, TEST_AND, plan->filter, dyn_not_expired(r, r->design->ttl));
}

/* The texts among the table's key attributes that a filter may read: those that are no key of the index. */
static size_t filtered_keys(const struct pattern *p, const struct name **out)
{
	const struct design *d = p->g->r->design;
	size_t n = 0;

	for (size_t i = 0; i < d->key_name_count; i++) {
		const struct name *name = d->key_names[i];

		if (name->of_table && name->key->type == VALUE_S && !is_key_attribute(p->access->key, name->text))
			out[n++] = name;
	}
	return n;
}

static const struct key_rule *only_rule(const struct entity *e, const struct name *attribute)
{
	const struct key_rule *found = NULL;

	for (size_t i = 0; i < e->key_count; i++)
		if (e->keys[i].at == attribute) {
			if (found)
				return NULL;
			found = &e->keys[i];
		}
	return found;
}

bool query_can_tell_strangers(const struct pattern *p)
{
	const struct access *a = p->access;
	const struct read_kinds *kinds = &p->known->possible;
	const struct name *keys[PLAN_MOST];
	size_t n = filtered_keys(p, keys);

	if (!a->from) /* the key condition covers the same attributes; it suffices if it fixes the prefix of both */
		return a->where_count == (size_t)a->key->hash_count + a->key->range_count && kinds->count &&
		       !a->where[a->where_count - 1].optional;
	if (!n || kinds->others || !kinds->count)
		return false;
	for (size_t i = 0; i < kinds->count; i++)
		for (size_t k = 0; k < n; k++) {
			const struct key_rule *rule = only_rule(kinds->list[i], keys[k]);

			if (!rule || !template_prefix(rule->template).n)
				return false;
		}
	return true;
}

static void skip_strangers(struct pattern *p, struct query_plan *plan)
{
	const struct read_kinds *kinds = &p->known->possible;
	const struct name *keys[PLAN_MOST];
	struct arena *a = p->g->r->arena;
	size_t n = p->access->from ? filtered_keys(p, keys) : 0;
	const struct test *any = NULL;

	for (size_t i = 0; n && i < kinds->count; i++) {
		const struct test *all = NULL;

		for (size_t k = 0; k < n; k++) {
			struct value prefix =
				value_make_s(a, template_prefix(only_rule(kinds->list[i], keys[k])->template));

			all = test_join(a, TEST_AND, all, test_attribute(a, TEST_BEGINS_WITH, keys[k]->text, prefix));
		}
		any = test_join(a, TEST_OR, any, all);
	}
	if (any)
		plan->filter = test_join(a, TEST_AND, plan->filter, any);
}

bool query_count(struct pattern *p, int64_t *count)
{
	struct run *r = p->g->r;
	struct dyn_query request;
	struct query_plan plan_;
	struct dyn_page page;

	*count = 0;
	for (int64_t step = 0; step < query_steps(p->access); step++) {
		if (!query_plan(p, step, &plan_))
			return false;
		if (plan_.none)
			continue;
		if (r->design->ttl.n && query_projects(r->design, p->access, r->design->ttl))
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
