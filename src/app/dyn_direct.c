/* Query without a document, where the backend takes values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_request.h"

#include "api/direct.h"
#include "base/map.h"

#define TERMS_MOST (KEY_HASH_MAX + KEY_RANGE_MAX)

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

/* SIZE_MAX: more than a key has attributes. */
static size_t make_terms(const struct dyn_query *query, struct key_term *terms)
{
	size_t n = 0;

	for (size_t i = 0; i < query->where_count; i++) {
		const struct dyn_condition *c = &query->where[i];

		if (dyn_says_nothing(c))
			continue;
		if (n == TERMS_MOST)
			return SIZE_MAX;
		terms[n++] = (struct key_term){ .name = c->attribute, .op = key_op(c->op), .value = c->value, .upper = c->upper };
	}
	return n;
}

struct names {
	struct slice *list;
	size_t count;
	struct map seen;
};

static void add_name(void *ctx, struct slice name)
{
	struct names *n = ctx;

	if (!map_set(&n->seen, name, n))
		n->list[n->count++] = name;
}

static const struct projection *make_projection(struct run *r, const struct dyn_query *query)
{
	struct names n = { 0 };

	if (!query->without_count || query->count_only)
		return NULL;
	n.list = arena_array(r->arena, struct slice, query->all_count + 2 * TERMS_MOST);
	map_init(&n.seen, r->arena);
	dyn_each_projected(r, query, add_name, &n);
	return projection_of_names(r->arena, n.list, n.count);
}

bool dyn_query_directly(struct run *r, const struct dyn_query *query, struct dyn_page *page)
{
	struct key_term terms[TERMS_MOST];
	struct api_page found;
	struct api_query q = {
		.table = r->design->table, .index = query->index, .terms = terms, .term_count = make_terms(query, terms),
		.backwards = query->descending, .consistent = query->consistent, .count_only = query->count_only,
		.limit = query->limit > 0 ? query->limit : 0, .start = query->start,
	};

	if (r->trace || !r->backend->query || q.term_count > TERMS_MOST)
		return false;
	q.projection = make_projection(r, query);
	if (query->filter) {
		q.filter = buf_slice(&query->filter->text);
		q.names = buf_slice(&query->filter->names);
		q.values = buf_slice(&query->filter->values);
	}
	if (!r->backend->query(r->backend, r->arena, &q, &found))
		return false;
	*page = (struct dyn_page){ .items = found.items, .count = found.count, .last = found.last };
	return true;
}
