/* Keys, GetItem and Query.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"

#include "base/map.h"

#define KEY_MOST (KEY_HASH_MAX + KEY_RANGE_MAX)

struct slice dyn_table(const struct run *r, struct slice table)
{
	return table.n ? table : r->design->table;
}

/* ---- keys ---- */

static size_t key_members(struct value_member *out, const struct key_attr *attrs, size_t n, struct value item)
{
	size_t taken = 0;

	for (size_t i = 0; i < n; i++) {
		struct value v = value_get(item, attrs[i].name);

		if (value_present(v))
			out[taken++] = (struct value_member){ attrs[i].name, v };
	}
	return taken;
}

static size_t take_key(struct value_member *out, const struct key_schema *k, struct value item)
{
	size_t n = key_members(out, k->hash, k->hash_count, item);

	return n + key_members(out + n, k->range, k->range_count, item);
}

struct value dyn_key_of(struct run *r, struct value item)
{
	struct value_member m[KEY_MOST];

	return value_make_map(r->arena, m, take_key(m, &r->design->key, item));
}

struct value dyn_start_key_of(struct run *r, struct slice index, struct value item)
{
	const struct design_index *i = index.n ? design_index(r->design, index) : NULL;
	struct value_member m[2 * KEY_MOST];
	size_t n = take_key(m, &r->design->key, item);

	if (i)
		n += take_key(m + n, &i->key, item);
	return value_make_map(r->arena, m, n);
}

/* ---- GetItem ---- */

bool dyn_get_from(struct run *r, struct slice table, struct value key, bool consistent, struct value *item)
{
	struct request q = { .kind = REQUEST_GET,
			     .get = { .table = dyn_table(r, table), .key = key, .consistent = consistent } };
	struct reply reply;

	*item = VALUE_ABSENT;
	if (!dyn_execute(r, &q, &reply))
		return run_reply_error(r, &reply);
	*item = reply.item;
	return true;
}

bool dyn_get(struct run *r, struct value key, bool consistent, struct value *item)
{
	return dyn_get_from(r, SLICE(""), key, consistent, item);
}

/* ---- the key condition ---- */

static enum key_op key_op(enum where_op op)
{
	switch (op) {
	case WHERE_EQ: return KEY_EQ;
	case WHERE_LT: return KEY_LT;
	case WHERE_LE: return KEY_LE;
	case WHERE_GT: return KEY_GT;
	case WHERE_GE: return KEY_GE;
	case WHERE_BETWEEN: return KEY_BETWEEN;
	case WHERE_BEGINS: break;
	}
	return KEY_BEGINS_WITH;
}

/* Bounds in the wrong order match nothing; DynamoDB would refuse them. */
static bool matches_nothing(const struct dyn_query *query)
{
	for (size_t i = 0; i < query->where_count; i++) {
		const struct dyn_condition *c = &query->where[i];

		if (c->op == WHERE_BETWEEN && value_type(c->value) == value_type(c->upper) &&
		    value_cmp(c->value, c->upper) > 0)
			return true;
	}
	return false;
}

/* begins_with an empty value matches everything; DynamoDB refuses an empty key value. */
static struct key_term *make_terms(struct run *r, const struct dyn_query *query, size_t *n)
{
	struct key_term *terms = arena_array(r->arena, struct key_term, query->where_count);

	*n = 0;
	for (size_t i = 0; i < query->where_count; i++) {
		const struct dyn_condition *c = &query->where[i];

		if (c->op != WHERE_BEGINS || value_bytes(c->value).n)
			terms[(*n)++] = (struct key_term){
				.name = c->attribute, .op = key_op(c->op), .value = c->value, .upper = c->upper
			};
	}
	return terms;
}

/* ---- the projection ---- */

/* a projection must not repeat a path */
struct names {
	struct slice *list;
	size_t count;
	struct map seen;
};

static void add_name(struct names *n, struct slice name)
{
	if (!map_set(&n->seen, name, n))
		n->list[n->count++] = name;
}

static void add_key(struct names *n, const struct key_schema *k)
{
	for (size_t i = 0; i < k->hash_count; i++)
		add_name(n, k->hash[i].name);
	for (size_t i = 0; i < k->range_count; i++)
		add_name(n, k->range[i].name);
}

static const struct projection *make_projection(struct run *r, const struct dyn_query *query)
{
	const struct design_index *index = query->index.n ? design_index(r->design, query->index) : NULL;
	struct names n = { .list = arena_array(r->arena, struct slice, query->all_count + 2 * KEY_MOST) };

	map_init(&n.seen, r->arena);
	add_key(&n, &r->design->key);
	if (index)
		add_key(&n, &index->key);
	for (size_t i = 0; i < query->all_count; i++)
		if ((!index || index_carries(index, query->all[i])) && /* DynamoDB refuses others */
		    !slice_among(query->without, query->without_count, query->all[i]))
			add_name(&n, query->all[i]);
	return projection_of_names(r->arena, n.list, n.count);
}

/* ---- Query ---- */

bool dyn_query(struct run *r, const struct dyn_query *query, struct dyn_page *page)
{
	struct request q = { .kind = REQUEST_QUERY,
			     .query = { .table = dyn_table(r, query->table),
					.index = query->index,
					.backwards = query->descending,
					.consistent = query->consistent,
					.count_only = query->count_only,
					.limit = query->limit > 0 ? query->limit : 0,
					.start = query->start } };
	struct error e = { 0 };
	struct reply reply;

	*page = (struct dyn_page){ 0 };
	if (matches_nothing(query))
		return true;
	q.query.terms = make_terms(r, query, &q.query.term_count);
	if (query->filter && !condition_of(r->arena, FILTER_EXPRESSION, query->filter, &q.query.filter, &e)) {
		reply_fail(&reply, &e);
		return run_reply_error(r, &reply);
	}
	if (query->without_count && !query->count_only)
		q.query.projection = make_projection(r, query);
	if (!dyn_execute(r, &q, &reply))
		return run_reply_error(r, &reply);
	*page = (struct dyn_page){ .items = reply.items, .count = reply.count, .last = reply.last };
	return true;
}
