/* Query: one partition of a table or index.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/paging.h"

#define INVALID(...) error_set(e, s->arena, ERR_VALIDATION, __VA_ARGS__)

static const char *const expressions[] = { "ProjectionExpression", "FilterExpression",
					   "KeyConditionExpression", NULL };
/* KeyConditions may stand beside other expressions as long as it is the only key condition. */
static const char *const legacy[] = { "AttributesToGet", "QueryFilter", "ConditionalOperator", NULL };
static const char *const legacy_with_keys[] = { "AttributesToGet", "QueryFilter", "ConditionalOperator",
						"KeyConditions", NULL };

static bool parse_key_condition(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e)
{
	struct key_term *terms;
	bool ok;

	if (op_has(s->in, "KeyConditionExpression"))
		ok = key_condition_compile(b, op_string(s->in, "KeyConditionExpression"), &terms,
					   &p->request.term_count, e);
	else
		ok = key_terms_from_conditions(s->arena, json_get(s->in, "KeyConditions"), &terms,
					       &p->request.term_count, e);
	if (ok)
		p->request.terms = terms;
	return ok;
}

static const struct key_term *term_of(const struct page_request *r, struct slice name)
{
	for (size_t i = 0; i < r->term_count; i++)
		if (slice_equal(r->terms[i].name, name))
			return &r->terms[i];
	return NULL;
}

static bool is_empty_key(struct value v)
{
	return value_type(v) != VALUE_N && value_bytes(v).n == 0;
}

static bool check_term_values(struct op_state *s, const struct key_term *t, const struct key_attr *attr,
			      struct error *e)
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

static bool check_hash_terms(struct op_state *s, const struct page_request *r, const struct key_schema *k,
			     struct error *e)
{
	for (size_t i = 0; i < k->hash_count; i++) {
		const struct key_term *t = term_of(r, k->hash[i].name);

		if (k->hash_count == 1 && k->range_count == 0 && r->term_count > 1)
			return INVALID("Query key condition not supported");
		if (!t)
			return INVALID("Query condition missed key schema element: %.*s",
				       SLICE_ARG(k->hash[i].name));
		if (!check_term_values(s, t, &k->hash[i], e))
			return false;
		if (t->op != KEY_EQ)
			return INVALID("Query key condition not supported");
	}
	return true;
}

/* Range attributes from the left without gaps, all but the last one `=`. */
static bool check_range_terms(struct op_state *s, const struct page_request *r, const struct key_schema *k,
			      struct error *e)
{
	size_t left = r->term_count - k->hash_count;
	bool inequality = false;

	for (size_t i = 0; i < k->range_count && left > 0; i++) {
		const struct key_term *t = term_of(r, k->range[i].name);

		if (!t)
			return INVALID("Query condition missed key schema element: %.*s",
				       SLICE_ARG(k->range[i].name));
		if (!check_term_values(s, t, &k->range[i], e))
			return false;
		if (inequality)
			return INVALID("Query key condition not supported");
		inequality = t->op != KEY_EQ;
		left--;
	}
	return left == 0 || INVALID("Query key condition not supported");
}

static const struct key_schema *schema_of(const struct page_request *r)
{
	return r->index ? &r->index->key : &r->table->key;
}

static bool check_key_condition(struct op_state *s, const struct page_request *r, struct error *e)
{
	const struct key_schema *k = schema_of(r);

	return check_hash_terms(s, r, k, e) && check_range_terms(s, r, k, e);
}

static bool check_start_bounds(struct op_state *s, const struct page_request *r, struct error *e)
{
	if (!value_present(r->start))
		return true;
	switch (page_start_check(r)) {
	case PAGE_START_FITS:
		return true;
	case PAGE_START_NOT_IN_RANGE:
		return INVALID("The provided starting key does not match the range key predicate");
	case PAGE_START_NOT_RESTARTABLE:
		return INVALID("The query can return at most one row and cannot be restarted");
	case PAGE_START_OUTSIDE:
		break;
	}
	return INVALID("The provided starting key is outside query boundaries based on provided conditions");
}

/* Key attributes are conditions, not filters. */
static bool check_filter_keys(struct op_state *s, const struct page_request *r, struct error *e)
{
	const struct key_schema *k = schema_of(r);
	const struct path *paths;
	size_t n = r->filter ? condition_paths(r->filter, &paths) : 0;

	for (size_t i = 0; i < n; i++)
		if (is_key_attribute(k, paths[i].steps[0].name))
			return INVALID("%s can only contain non-primary key attributes: Primary key attribute: "
				       "%.*s",
				       op_has(s->in, "FilterExpression") ? "Filter Expression" : "QueryFilter",
				       SLICE_ARG(paths[i].steps[0].name));
	return true;
}

static bool parse(struct op_state *s, struct paging *p, struct error *e)
{
	bool legacy_keys = op_has(s->in, "KeyConditions");
	bool key_expression = op_has(s->in, "KeyConditionExpression");
	struct expr_bindings *b;

	if (!params_check_mix(s, s->in, expressions, legacy_keys && !key_expression ? legacy : legacy_with_keys,
			      e) ||
	    !params_conditional_operator(s, s->in, "QueryFilter", e) || !paging_parse_start(s, p, e))
		return false;
	if (!legacy_keys && !key_expression)
		return INVALID("Either the KeyConditions or KeyConditionExpression parameter must be specified in "
			       "the request.");
	return params_bindings(s, s->in, &b, e) && parse_key_condition(s, p, b, e) &&
	       paging_parse_filter(s, p, b, e) && params_projection(s, s->in, b, &p->projection, e) &&
	       expr_bindings_check_used(b, e) && paging_check_select(s, p, e);
}

bool op_query(struct op_state *s, struct error *e)
{
	struct paging p = { .legacy_filter = "QueryFilter" };

	if (!parse(s, &p, e))
		return false;
	p.request.backwards = !op_bool(s->in, "ScanIndexForward", true);
	return paging_resolve(s, &p, e) && check_key_condition(s, &p.request, e) &&
	       paging_check_start(s, &p, e) && check_start_bounds(s, &p.request, e) &&
	       check_filter_keys(s, &p.request, e) && paging_check_attributes(s, &p, e) &&
	       paging_reply(s, &p, e);
}
