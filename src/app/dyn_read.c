/* Keys, GetItem and Query.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_request.h"

#include "base/map.h"
#include "value/codec.h"

/* ---- keys ---- */

#define KEY_MOST (KEY_HASH_MAX + KEY_RANGE_MAX)

static size_t take(struct value_member *out, const struct key_attr *attrs, size_t n, struct value item)
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
	size_t n = take(out, k->hash, k->hash_count, item);

	return n + take(out + n, k->range, k->range_count, item);
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

bool dyn_get(struct run *r, struct value key, bool consistent, struct value *item)
{
	struct backend_reply reply;
	struct dyn_request q;

	*item = VALUE_ABSENT;
	if (!r->trace && r->backend->get && r->backend->get(r->backend, r->arena, r->design->table, key, item))
		return true;
	dyn_request_init(&q, r);
	dyn_put_table(&q);
	buf_lit(&q.body, ",\"Key\":");
	item_to_json(&q.body, key);
	if (consistent)
		buf_lit(&q.body, ",\"ConsistentRead\":true");
	if (!dyn_send(&q, "GetItem", &reply))
		return run_backend_error(r, &reply);
	return dyn_read_item(r, json_get(reply.body, "Item"), item);
}

/* ---- Query ---- */

static void put_comparison(struct dyn_request *q, const struct dyn_condition *c, const char *operator)
{
	dyn_put_name(q, c->attribute);
	buf_str(&q->body, operator);
	dyn_put_value(q, c->value);
}

static void put_condition(struct dyn_request *q, const struct dyn_condition *c)
{
	switch (c->op) {
	case WHERE_EQ: put_comparison(q, c, " = "); break;
	case WHERE_LT: put_comparison(q, c, " < "); break;
	case WHERE_LE: put_comparison(q, c, " <= "); break;
	case WHERE_GT: put_comparison(q, c, " > "); break;
	case WHERE_GE: put_comparison(q, c, " >= "); break;
	case WHERE_BEGINS:
		buf_lit(&q->body, "begins_with(");
		put_comparison(q, c, ", ");
		buf_byte(&q->body, ')');
		break;
	case WHERE_BETWEEN:
		put_comparison(q, c, " BETWEEN ");
		buf_lit(&q->body, " AND ");
		dyn_put_value(q, c->upper);
		break;
	}
}

/* Everything begins with nothing, but DynamoDB takes no empty value for a key. */
bool dyn_says_nothing(const struct dyn_condition *c)
{
	return c->op == WHERE_BEGINS && !value_bytes(c->value).n;
}

/* Nothing lies between bounds in the wrong order, but DynamoDB refuses them. */
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

static void put_conditions(struct dyn_request *q, const struct dyn_query *query)
{
	bool any = false;

	buf_lit(&q->body, ",\"KeyConditionExpression\":\"");
	for (size_t i = 0; i < query->where_count; i++) {
		if (dyn_says_nothing(&query->where[i]))
			continue;
		if (any)
			buf_lit(&q->body, " AND ");
		any = true;
		put_condition(q, &query->where[i]);
	}
	buf_byte(&q->body, '"');
}

static bool is_among(struct slice name, const struct slice *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(name, list[i]))
			return true;
	return false;
}

/* DynamoDB refuses to be asked for what the index does not hold. */
static bool holds(const struct design_index *i, struct slice name)
{
	return !i || i->projection == PROJECT_ALL ||
	       (i->projection == PROJECT_INCLUDE && is_among(name, i->include, i->include_count));
}

static void each_key(const struct key_schema *k, void (*visit)(void *ctx, struct slice name), void *ctx)
{
	for (size_t i = 0; i < k->hash_count; i++)
		visit(ctx, k->hash[i].name);
	for (size_t i = 0; i < k->range_count; i++)
		visit(ctx, k->range[i].name);
}

void dyn_each_projected(struct run *r, const struct dyn_query *query, void (*visit)(void *ctx, struct slice name), void *ctx)
{
	const struct design *d = r->design;
	const struct design_index *index = query->index.n ? design_index(d, query->index) : NULL;

	each_key(&d->key, visit, ctx);
	if (index)
		each_key(&index->key, visit, ctx);
	for (size_t i = 0; i < query->all_count; i++)
		if (holds(index, query->all[i]) && !is_among(query->all[i], query->without, query->without_count))
			visit(ctx, query->all[i]);
}

struct projecting {
	struct dyn_request *q;
	struct map seen; /* no path may stand there twice */
};

static void project(void *ctx, struct slice name)
{
	struct projecting *p = ctx;

	if (map_find(&p->seen, name))
		return;
	if (p->seen.n)
		buf_byte(&p->q->body, ',');
	map_set(&p->seen, name, NULL);
	dyn_put_name(p->q, name);
}

static void put_projection(struct dyn_request *q, const struct dyn_query *query)
{
	struct projecting p = { .q = q };

	map_init(&p.seen, q->run->arena);
	buf_lit(&q->body, ",\"ProjectionExpression\":\"");
	dyn_each_projected(q->run, query, project, &p);
	buf_byte(&q->body, '"');
}

static void put_settings(struct dyn_request *q, const struct dyn_query *query)
{
	if (query->descending)
		buf_lit(&q->body, ",\"ScanIndexForward\":false");
	if (query->consistent)
		buf_lit(&q->body, ",\"ConsistentRead\":true");
	if (query->count_only)
		buf_lit(&q->body, ",\"Select\":\"COUNT\"");
	if (query->limit > 0) {
		buf_lit(&q->body, ",\"Limit\":");
		buf_i64(&q->body, query->limit);
	}
	if (value_present(query->start)) {
		buf_lit(&q->body, ",\"ExclusiveStartKey\":");
		item_to_json(&q->body, query->start);
	}
}

static void put_query(struct dyn_request *q, const struct dyn_query *query)
{
	dyn_put_table(q);
	if (query->index.n) {
		buf_lit(&q->body, ",\"IndexName\":");
		json_string(&q->body, query->index);
	}
	put_conditions(q, query);
	if (query->filter && query->filter->text.n) {
		buf_lit(&q->body, ",\"FilterExpression\":\"");
		dyn_put_filter(q, query->filter);
		buf_byte(&q->body, '"');
	}
	if (query->without_count && !query->count_only)
		put_projection(q, query);
	dyn_put_placeholders(q);
	put_settings(q, query);
}

static bool read_page(struct run *r, const struct json *body, bool count_only, struct dyn_page *page)
{
	const struct json *items = json_get(body, "Items"), *count = json_get(body, "Count");

	if (!dyn_read_item(r, json_get(body, "LastEvaluatedKey"), &page->last))
		return false;
	if (count_only) {
		if (!json_is(count, JSON_INT) || count->integer < 0)
			return dyn_bad_reply(r, "Query");
		page->count = (size_t)count->integer;
		return true;
	}
	if (!json_is(items, JSON_ARRAY))
		return dyn_bad_reply(r, "Query");
	page->items = arena_array(r->arena, struct value, items->count);
	for (page->count = 0; page->count < items->count; page->count++)
		if (!dyn_read_item(r, &items->items[page->count], &page->items[page->count]))
			return false;
	return true;
}

bool dyn_query(struct run *r, const struct dyn_query *query, struct dyn_page *page)
{
	struct backend_reply reply;
	struct dyn_request q;

	*page = (struct dyn_page){ 0 };
	if (matches_nothing(query) || dyn_query_directly(r, query, page))
		return true;
	dyn_request_init(&q, r);
	put_query(&q, query);
	if (!dyn_send(&q, "Query", &reply))
		return run_backend_error(r, &reply);
	return read_page(r, reply.body, query->count_only, page);
}
