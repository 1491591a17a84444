/* What Query and Scan have in common: index, selection, filter, start key, the page itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/paging.h"
#include "api/internal.h"
#include "api/reply.h"
#include "value/codec.h"

#define INVALID(...)  error_set(e, s->arena, ERR_VALIDATION, __VA_ARGS__)
#define BAD_PARAMETER "One or more parameter values were invalid: "
#define BAD_START     "The provided starting key is invalid"

/* DynamoDB names the start key in some of the complaints about its values and not in others. */
static bool names_start_key(struct slice message)
{
	static const char *const alone[] = { "contains duplicates", "number set", "numeric value", "significant digits",
					     "number with magnitude" };

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (memmem(message.p, message.n, alone[i], strlen(alone[i])))
			return false;
	return true;
}

bool paging_parse_start(struct op_state *s, struct paging *p, struct error *e)
{
	if (!op_has(s->in, "ExclusiveStartKey"))
		return true;
	if (item_from_json(s->arena, json_get(s->in, "ExclusiveStartKey"), &p->query.start, e))
		return true;
	if (e->code == ERR_VALIDATION && names_start_key(e->message)) {
		struct slice why = e->message;

		return INVALID(BAD_START ": %.*s", SLICE_ARG(why));
	}
	return false;
}

bool paging_parse_legacy_filter(struct op_state *s, struct paging *p, struct error *e)
{
	const struct json *filter = json_get(s->in, p->legacy_filter);

	if (!op_has(s->in, p->legacy_filter) || !filter->count)
		return true;
	p->filter_is_legacy = true;
	return condition_from_filter(s->arena, filter, json_get_text(s->in, "ConditionalOperator"), &p->query.filter, e);
}

bool paging_parse_filter(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e)
{
	return !op_has(s->in, "FilterExpression") ||
	       condition_compile(b, FILTER_EXPRESSION, json_get_text(s->in, "FilterExpression"), &p->query.filter, e);
}

bool paging_parse_attributes(struct op_state *s, struct paging *p, struct error *e)
{
	return !op_has(s->in, "AttributesToGet") ||
	       projection_from_attributes(s->arena, json_get(s->in, "AttributesToGet"), &p->query.projection, e);
}

bool paging_parse_projection(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e)
{
	return !op_has(s->in, "ProjectionExpression") ||
	       projection_compile(b, json_get_text(s->in, "ProjectionExpression"), &p->query.projection, e);
}

bool paging_check_select(struct op_state *s, struct paging *p, struct error *e)
{
	struct slice select = json_get_text(s->in, "Select");
	const char *chosen = op_has(s->in, "AttributesToGet")        ? "AttributesToGet"
			     : op_has(s->in, "ProjectionExpression") ? "ProjectionExpression"
								     : NULL;

	p->query.count_only = slice_is(select, "COUNT");
	p->all_attributes = slice_is(select, "ALL_ATTRIBUTES");
	if (slice_is(select, "SPECIFIC_ATTRIBUTES") && !chosen)
		return INVALID(BAD_PARAMETER "Must specify the AttributesToGet or ProjectionExpression when "
					     "choosing to get SPECIFIC_ATTRIBUTES");
	if (chosen && p->query.count_only)
		return INVALID(BAD_PARAMETER "Cannot specify the %s when choosing to get only the Count", chosen);
	if (chosen && select.n && !slice_is(select, "SPECIFIC_ATTRIBUTES"))
		return INVALID(BAD_PARAMETER "Cannot specify the %s when choosing to get %.*s", chosen,
			       SLICE_ARG(select));
	if (slice_is(select, "ALL_PROJECTED_ATTRIBUTES") && !op_has(s->in, "IndexName"))
		return INVALID(BAD_PARAMETER "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an "
					     "IndexName");
	return true;
}

static bool resolve_index(struct op_state *s, struct paging *p, struct error *e)
{
	const struct table *t = p->request.table;
	struct slice name = p->query.index;
	const struct index *i = table_index(t, name);

	if (!i)
		return INVALID("The table does not have the specified index: %.*s", SLICE_ARG(name));
	if (i->global && p->request.consistent)
		return INVALID("Consistent reads are not supported on global secondary indexes");
	if (i->status == STATUS_CREATING)
		return INVALID("Cannot read from backfilling global secondary index: %.*s", SLICE_ARG(name));
	p->request.index = i;
	return true;
}

void paging_parse_rest(struct op_state *s, struct paging *p)
{
	p->query.table = json_get_text(s->in, "TableName");
	p->query.index = json_get_text(s->in, "IndexName");
	p->query.consistent = op_bool(s->in, "ConsistentRead", false);
	p->query.limit = op_int(s->in, "Limit", 0);
}

bool paging_resolve(struct op_state *s, struct paging *p, struct error *e)
{
	const struct request_query *q = &p->query;
	struct page_request *r = &p->request;

	r->terms = q->terms;
	r->term_count = q->term_count;
	r->backwards = q->backwards;
	r->filter = q->filter;
	r->consistent = q->consistent;
	r->limit = q->limit;
	r->table = op_table(s, q->table, e);
	return r->table && (!q->index.n || resolve_index(s, p, e));
}

/* The top-level attributes of the paths that the index lacks, sorted: "a, b", or empty. */
static struct slice not_projected(struct op_state *s, const struct paging *p, const struct path *paths, size_t n)
{
	struct slice *names = arena_array(s->arena, struct slice, n);
	size_t count = 0;
	struct buf b;

	for (size_t i = 0; i < n; i++)
		if (!index_has_attribute(p->request.table, p->request.index, paths[i].steps[0].name))
			names[count++] = paths[i].steps[0].name;
	if (count)
		qsort(names, count, sizeof(*names), slice_order);
	buf_init(&b, s->arena);
	for (size_t i = 0; i < count; i++) {
		if (i && slice_equal(names[i], names[i - 1]))
			continue;
		if (i)
			buf_lit(&b, ", ");
		buf_put(&b, names[i]);
	}
	return buf_slice(&b);
}

static bool check_projected(struct op_state *s, struct paging *p, const struct path *paths, size_t n, struct error *e)
{
	struct slice missing = not_projected(s, p, paths, n);

	if (!missing.n)
		return true;
	if (!p->request.index->global) {
		p->request.fetch_items = true;
		return true;
	}
	return INVALID(BAD_PARAMETER "Global secondary index %.*s does not project [%.*s]",
		       SLICE_ARG(p->request.index->name), SLICE_ARG(missing));
}

bool paging_check_whole_items(struct op_state *s, struct paging *p, struct error *e)
{
	const struct index *i = p->request.index;

	if (!i || i->projection == PROJECT_ALL || !p->all_attributes)
		return true;
	if (i->global)
		return INVALID(BAD_PARAMETER "Select type ALL_ATTRIBUTES is not supported for global secondary "
					     "index %.*s because its projection type is not ALL",
			       SLICE_ARG(i->name));
	p->request.fetch_items = true;
	return true;
}

bool paging_check_projection(struct op_state *s, struct paging *p, struct error *e)
{
	const struct path *paths;
	size_t n;

	if (!p->query.projection)
		return true;
	n = projection_paths(p->query.projection, &paths);
	return params_check_key_paths(s, p->request.table, paths, n, e) &&
	       (!p->request.index || check_projected(s, p, paths, n, e));
}

bool paging_check_filter(struct op_state *s, struct paging *p, struct error *e)
{
	const struct path *paths;
	struct slice missing;
	size_t n;

	if (!p->request.filter)
		return true;
	n = condition_paths(p->request.filter, &paths);
	if (!params_check_key_paths(s, p->request.table, paths, n, e))
		return false;
	/* Query refuses a filter on attributes that the index (of either kind) lacks; in a Scan they are just
	 * absent. */
	if (!p->request.index || !p->request.terms)
		return true;
	missing = not_projected(s, p, paths, n);
	return !missing.n || INVALID(BAD_PARAMETER "Secondary index %.*s does not project one or more filter "
						   "attributes: [%.*s]",
				     SLICE_ARG(p->request.index->name), SLICE_ARG(missing));
}

bool paging_check_start_attr(struct op_state *s, const struct paging *p, const struct key_attr *attr, struct error *e)
{
	struct value v = value_get(p->query.start, attr->name);

	if (!value_present(p->query.start))
		return true;
	if (!value_present(v))
		return INVALID(BAD_START);
	return value_type(v) == attr->type || INVALID("The provided key element does not match the schema");
}

static size_t start_key_count(const struct paging *p)
{
	const struct table *t = p->request.table;
	const struct index *i = p->request.index;
	size_t n = (size_t)t->key.hash_count + t->key.range_count;

	for (size_t j = 0; i && j < i->key.hash_count; j++)
		n += !is_key_attribute(&t->key, i->key.hash[j].name);
	for (size_t j = 0; i && j < i->key.range_count; j++)
		n += !is_key_attribute(&t->key, i->key.range[j].name);
	return n;
}

bool paging_check_start_count(struct op_state *s, struct paging *p, struct error *e)
{
	if (!value_present(p->query.start) || value_count(p->query.start) == start_key_count(p))
		return true;
	return p->request.index || p->request.terms
		       ? INVALID(BAD_START)
		       : INVALID(BAD_START ": The provided key element does not match the schema");
}

bool paging_check_start(struct op_state *s, struct paging *p, struct error *e)
{
	const struct table *t = p->request.table;
	struct item_key ignored;

	if (!value_present(p->query.start))
		return true;
	if (!table_key_of_key(t, table_key_item(t, NULL, p->query.start, s->arena), s->arena, &ignored, e)) {
		struct slice why = e->message;

		return INVALID(BAD_START ": %.*s", SLICE_ARG(why));
	}
	p->request.start = p->query.start;
	return true;
}

struct emission {
	struct op_state *s;
	const struct projection *projection;
};

static void emit(void *ctx, struct value item)
{
	struct emission *m = ctx;

	item_to_json(&m->s->out, m->projection ? projection_apply(m->projection, item, m->s->arena) : item);
}

/* A guess for a reply of small items, so that the buffer need not grow (and be copied) step by step. */
static size_t likely_bytes(const struct paging *p)
{
	int64_t items = p->request.limit && p->request.limit < 32 ? p->request.limit : 32;

	return p->query.count_only ? 256 : 1024 * (size_t)items;
}

bool paging_read(struct op_state *s, struct paging *p, struct page *page, struct error *e)
{
	if (s->fault)
		p->request.view = fault_view(s, p->request.table, p->request.index, p->request.consistent);
	if (!db_page(s->db, &p->request, s->arena, page, e))
		return false;
	if (p->at_most_one)
		page->last_key = VALUE_ABSENT;
	return true;
}

bool paging_reply(struct op_state *s, struct paging *p, struct error *e)
{
	struct emission m = { .s = s, .projection = p->query.projection };
	enum return_capacity how = reply_capacity_wanted(s->in);
	bool items = !p->query.count_only;
	struct page page = { 0 };

	p->request.emit = items ? emit : NULL;
	p->request.ctx = &m;
	p->request.uncounted = how == CAPACITY_NONE;
	buf_room(&s->out, likely_bytes(p));
	json_open(&s->out, '{');
	if (items)
		json_member_open(&s->out, "Items", '[');
	if (!paging_read(s, p, &page, e))
		return false;
	if (items)
		json_close(&s->out, ']');
	json_member_int(&s->out, "Count", page.count);
	json_member_int(&s->out, "ScannedCount", page.scanned);
	if (value_present(page.last_key)) {
		json_name(&s->out, "LastEvaluatedKey");
		item_to_json(&s->out, page.last_key);
	}
	if (how != CAPACITY_NONE) {
		json_name(&s->out, "ConsumedCapacity");
		reply_capacity(&s->out, p->request.table, &page.capacity, how, false);
	}
	json_close(&s->out, '}');
	return true;
}
