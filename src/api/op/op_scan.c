/* Scan, whole or in parallel segments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/paging.h"

#define INVALID(...) error_set(e, s->arena, ERR_VALIDATION, __VA_ARGS__)

static const char *const expressions[] = { "ProjectionExpression", "FilterExpression", NULL };
static const char *const legacy[] = { "AttributesToGet", "ScanFilter", "ConditionalOperator", NULL };

static bool parse_segments(struct op_state *s, struct paging *p, struct error *e)
{
	bool segment = op_has(s->in, "Segment"), total = op_has(s->in, "TotalSegments");
	int64_t i = op_int(s->in, "Segment", 0), n = op_int(s->in, "TotalSegments", 0);

	if (segment && !total)
		return INVALID("The TotalSegments parameter is required but was not present in the request when "
			       "Segment parameter is present");
	if (total && !segment)
		return INVALID("The Segment parameter is required but was not present in the request when "
			       "parameter TotalSegments is present");
	if (total && i >= n)
		return INVALID("The Segment parameter is zero-based and must be less than parameter "
			       "TotalSegments: Segment: %lld is not less than TotalSegments: %lld",
			       (long long)i, (long long)n);
	p->request.segment = (uint32_t)i;
	p->request.total_segments = (uint32_t)n;
	return true;
}

/* A start key must lie in the segment it is used with. */
static bool check_start_segment(struct op_state *s, struct paging *p, struct error *e)
{
	if (!value_present(p->request.start) || p->request.total_segments < 2 ||
	    page_start_in_bounds(&p->request, s->arena))
		return true;
	return INVALID("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
		       "ExclusiveStartKey with correct Segment. TotalSegments: %u Segment: %u",
		       p->request.total_segments, p->request.segment);
}

/* With an index, its key attributes are checked one by one. */
static bool check_start_of_index(struct op_state *s, struct paging *p, struct error *e)
{
	const struct index *i = p->request.index;

	for (size_t n = 0; i && n < i->key.hash_count; n++)
		if (!paging_check_start_attr(s, p, &i->key.hash[n], e))
			return false;
	for (size_t n = 0; i && n < i->key.range_count; n++)
		if (!paging_check_start_attr(s, p, &i->key.range[n], e))
			return false;
	return true;
}

static bool parse(struct op_state *s, struct paging *p, struct error *e)
{
	struct expr_bindings *b;

	return params_check_mix(s, s->in, expressions, legacy, e) &&
	       params_conditional_operator(s, s->in, "ScanFilter", e) && paging_parse_attributes(s, p, e) &&
	       paging_parse_legacy_filter(s, p, e) && paging_parse_start(s, p, e) && parse_segments(s, p, e) &&
	       params_bindings(s, s->in, &b, e) && paging_parse_filter(s, p, b, e) &&
	       paging_parse_projection(s, p, b, e) && expr_bindings_check_used(b, e) && paging_check_select(s, p, e);
}

bool op_scan(struct op_state *s, struct error *e)
{
	struct paging p = { .legacy_filter = "ScanFilter" };

	if (!parse(s, &p, e))
		return false;
	paging_parse_rest(s, &p);
	return paging_resolve(s, &p, e) && paging_check_start_count(s, &p, e) && check_start_of_index(s, &p, e) &&
	       paging_check_whole_items(s, &p, e) && paging_check_start(s, &p, e) && check_start_segment(s, &p, e) &&
	       paging_check_projection(s, &p, e) && paging_check_filter(s, &p, e) && paging_reply(s, &p, e);
}
