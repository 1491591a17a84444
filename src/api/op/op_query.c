/* Query: one partition of a table or index.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/paging.h"
#include "value/codec.h"

#define INVALID(...) error_set(e, s->arena, ERR_VALIDATION, __VA_ARGS__)

static const char *const expressions[] = { "ProjectionExpression", "FilterExpression", "KeyConditionExpression", NULL };
/* KeyConditions may be combined with other expressions if it is the only key condition. */
static const char *const legacy[] = { "AttributesToGet", "QueryFilter", "ConditionalOperator", NULL };
static const char *const legacy_with_keys[] = { "AttributesToGet", "QueryFilter", "ConditionalOperator",
						"KeyConditions", NULL };

/* The legacy form: one or two conditions. */
static bool parse_key_conditions(struct op_state *s, struct paging *p, struct error *e)
{
	struct key_term *terms;
	size_t n;

	if (!key_terms_from_conditions(s->arena, json_get(s->in, "KeyConditions"), &terms, &n, e))
		return false;
	p->query.terms = terms;
	p->query.term_count = n;
	return n == 1 || n == 2 || INVALID("Conditions can be of length 1 or 2 only");
}

static bool is_empty_key(struct value v)
{
	return value_type(v) != VALUE_N && value_bytes(v).n == 0;
}

static bool check_term_values(struct op_state *s, const struct key_term *t, const struct key_attr *attr, struct error *e)
{
	if (value_type(t->value) != attr->type || (t->op == KEY_BETWEEN && value_type(t->upper) != attr->type))
		return INVALID("One or more parameter values were invalid: Condition parameter type does not "
			       "match schema type");
	if (is_empty_key(t->value) || (t->op == KEY_BETWEEN && is_empty_key(t->upper)))
		return INVALID("One or more parameter values are not valid. The AttributeValue for a key "
			       "attribute cannot contain an empty %s value. Key: %.*s",
			       attr->type == VALUE_S ? "string" : "binary", SLICE_ARG(attr->name));
	return true;
}

static bool check_term(struct op_state *s, const struct key_term *t, const struct key_attr *attr, struct error *e)
{
	if (t->not_indexable)
		return INVALID("Attempted conditional constraint is not an indexable operation");
	return check_term_values(s, t, attr, e);
}

static bool check_hash_terms(struct op_state *s, const struct paging *p, const struct key_schema *k, struct error *e)
{
	const struct page_request *r = &p->request;

	for (size_t i = 0; i < k->hash_count; i++) {
		const struct key_term *t = page_term(r, k->hash[i].name);

		if (!paging_check_start_attr(s, p, &k->hash[i], e))
			return false;
		if (k->hash_count == 1 && k->range_count == 0 && r->term_count > 1)
			return INVALID("Query key condition not supported");
		if (!t)
			return INVALID("Query condition missed key schema element: %.*s", SLICE_ARG(k->hash[i].name));
		if (!check_term(s, t, &k->hash[i], e))
			return false;
		if (t->op != KEY_EQ)
			return INVALID("Query key condition not supported");
	}
	return true;
}

/* Range attributes from the left without gaps, all but the last one `=`. */
static bool check_range_terms(struct op_state *s, const struct paging *p, const struct key_schema *k, struct error *e)
{
	size_t left = p->request.term_count - k->hash_count;
	bool inequality = false;

	for (size_t i = 0; i < k->range_count; i++) {
		const struct key_term *t = page_term(&p->request, k->range[i].name);

		if (!paging_check_start_attr(s, p, &k->range[i], e))
			return false;
		if (left == 0)
			continue;
		if (!t)
			return INVALID("Query condition missed key schema element: %.*s", SLICE_ARG(k->range[i].name));
		if (!check_term(s, t, &k->range[i], e))
			return false;
		if (inequality)
			return INVALID("Query key condition not supported");
		inequality = t->op != KEY_EQ;
		left--;
	}
	return left == 0 || INVALID("Query key condition not supported");
}

/* Of the first `n` attributes those that lack a condition with `=`: "r1, r2", or empty. */
static struct slice without_equality(struct op_state *s, const struct page_request *r, const struct key_attr *attrs,
				     size_t n)
{
	struct buf names;

	buf_init(&names, s->arena);
	for (size_t i = 0; i < n; i++) {
		const struct key_term *t = page_term(r, attrs[i].name);

		if (t && t->op == KEY_EQ && !t->not_indexable)
			continue;
		if (names.n)
			buf_lit(&names, ", ");
		buf_put(&names, attrs[i].name);
	}
	return buf_slice(&names);
}

/* Keys of several attributes: every HASH attribute needs `=`, and every RANGE attribute left of another condition. */
static bool check_multi_attribute(struct op_state *s, const struct page_request *r, const struct key_schema *k,
				  struct error *e)
{
	struct slice missing = without_equality(s, r, k->hash, k->hash_count);
	size_t last = k->range_count;

	if (k->hash_count < 2 && k->range_count < 2)
		return true;
	if (missing.n)
		return INVALID("HASH key attributes %.*s must have equality conditions specified in "
			       "the query",
			       SLICE_ARG(missing));
	while (last > 0 && !page_term(r, k->range[last - 1].name))
		last--;
	if (last < 2)
		return true;
	missing = without_equality(s, r, k->range, last - 1);
	return !missing.n || INVALID("RANGE key attributes %.*s must have equality conditions specified in the query "
				     "because a condition is present on key attribute %.*s",
				     SLICE_ARG(missing), SLICE_ARG(k->range[last - 1].name));
}

/* DynamoDB walks the key schema and checks start key and conditions together. */
static bool check_key_condition(struct op_state *s, const struct paging *p, struct error *e)
{
	const struct key_schema *k = page_key(&p->request);

	return check_multi_attribute(s, &p->request, k, e) && check_hash_terms(s, p, k, e) &&
	       check_range_terms(s, p, k, e);
}

/* A partition key alone is a whole key: there is one item at most, and nothing after it. */
static bool finds_one_item(const struct page_request *r)
{
	return !r->index && !r->table->key.range_count;
}

static bool refuse_start(struct op_state *s, const struct page_request *r, struct error *e)
{
	struct slice name = r->table->key.hash[0].name, text;
	struct value v = value_get(r->start, name);
	struct buf b;

	buf_init(&b, s->arena);
	value_to_json(&b, v);
	text = slice_make(b.p + strlen("{'S':'"), b.n - strlen("{'S':''}"));
	return INVALID("The provided exclusive start key is invalid: ExclusiveStartKey: "
		       "{%.*s=AttributeValue: {%s:%.*s}}",
		       SLICE_ARG(name), value_type_name(value_type(v)), SLICE_ARG(text));
}

static bool check_start_bounds(struct op_state *s, const struct page_request *r, struct error *e)
{
	if (!value_present(r->start))
		return true;
	if (finds_one_item(r))
		return refuse_start(s, r, e);
	switch (page_start_check(r)) {
	case PAGE_START_FITS: return true;
	case PAGE_START_NOT_IN_RANGE:
		return INVALID("The provided starting key does not match the range key predicate");
	case PAGE_START_NOT_RESTARTABLE: return INVALID("The query can return at most one row and cannot be restarted");
	case PAGE_START_OUTSIDE: break;
	}
	return INVALID("The provided starting key is outside query boundaries based on provided conditions");
}

/* Key attributes are conditions, not filters. */
static bool check_filter_keys(struct op_state *s, const struct paging *p, struct error *e)
{
	const struct page_request *r = &p->request;
	const struct key_schema *k = page_key(r);
	const struct path *paths;
	size_t n = r->filter ? condition_paths(r->filter, &paths) : 0;

	for (size_t i = 0; i < n; i++)
		if (is_key_attribute(k, paths[i].steps[0].name))
			return INVALID("%s can only contain non-primary key attributes: Primary key attribute: "
				       "%.*s",
				       p->filter_is_legacy ? "QueryFilter" : "Filter Expression",
				       SLICE_ARG(paths[i].steps[0].name));
	return true;
}

/* All expressions are bound before the key condition is taken apart. */
static bool parse_expressions(struct op_state *s, struct paging *p, struct error *e)
{
	const struct condition *key = NULL;
	struct expr_bindings *b;
	struct key_term *terms;

	if (!params_bindings(s, s->in, &b, e))
		return false;
	if (op_has(s->in, "KeyConditionExpression") &&
	    !key_condition_compile(b, json_get_text(s->in, "KeyConditionExpression"), &key, e))
		return false;
	if (!paging_parse_filter(s, p, b, e) || !paging_parse_projection(s, p, b, e) || !expr_bindings_check_used(b, e))
		return false;
	if (!key)
		return parse_key_conditions(s, p, e);
	if (!key_condition_terms(s->arena, key, &terms, &p->query.term_count, e))
		return false;
	p->query.terms = terms;
	return true;
}

static bool parse(struct op_state *s, struct paging *p, struct error *e)
{
	bool legacy_keys = op_has(s->in, "KeyConditions");
	bool key_expression = op_has(s->in, "KeyConditionExpression");

	if (!params_check_mix(s, s->in, expressions, legacy_keys && !key_expression ? legacy : legacy_with_keys, e) ||
	    !params_conditional_operator(s, s->in, "QueryFilter", e) || !paging_parse_legacy_filter(s, p, e) ||
	    !paging_parse_attributes(s, p, e) || !paging_parse_start(s, p, e))
		return false;
	if (!legacy_keys && !key_expression)
		return INVALID("Either the KeyConditions or KeyConditionExpression parameter must be specified in "
			       "the request.");
	return parse_expressions(s, p, e) && paging_check_select(s, p, e);
}

bool query_prepare(struct op_state *s, struct paging *p, struct error *e)
{
	p->at_most_one = false;
	if (!paging_resolve(s, p, e) || !paging_check_start_count(s, p, e) || !check_key_condition(s, p, e) ||
	    !paging_check_start(s, p, e) || !check_start_bounds(s, &p->request, e) || !paging_check_projection(s, p, e) ||
	    !check_filter_keys(s, p, e) || !paging_check_whole_items(s, p, e) || !paging_check_filter(s, p, e))
		return false;
	p->at_most_one = finds_one_item(&p->request);
	return true;
}

bool op_query(struct op_state *s, struct error *e)
{
	struct paging p = { .legacy_filter = "QueryFilter" };

	if (!parse(s, &p, e))
		return false;
	paging_parse_rest(s, &p);
	p.query.backwards = !op_bool(s->in, "ScanIndexForward", true);
	return query_prepare(s, &p, e) && paging_reply(s, &p, e);
}
