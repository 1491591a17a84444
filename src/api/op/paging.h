/* What Query and Scan have in common: index, selection, filter, start key, the page itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_PAGING_H
#define THORPE_API_OP_PAGING_H

#include "api/op/params.h"

struct paging {
	struct request_query query;  /* as requested; a scan has no terms */
	struct page_request request; /* the same, resolved and checked */
	bool all_attributes;         /* Select ALL_ATTRIBUTES */
	bool filter_is_legacy;       /* for its error texts */
	bool at_most_one;            /* no LastEvaluatedKey */
	const char *legacy_filter;   /* "QueryFilter" or "ScanFilter" */
};

/* Before the table is known. */
bool paging_parse_start(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
/* QueryFilter or ScanFilter; FilterExpression; AttributesToGet; ProjectionExpression. */
bool paging_parse_legacy_filter(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_parse_filter(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e) MUST_CHECK;
bool paging_parse_attributes(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_parse_projection(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e) MUST_CHECK;
bool paging_check_select(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

/* Table, index, consistency, limit. */
void paging_parse_rest(struct op_state *s, struct paging *p);

/* Resolves `query` into `request`: finds table and index, and checks what depends on them, except the start key. */
bool paging_resolve(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
/* Checks that the index holds what is needed: whole items (ALL_ATTRIBUTES), the projection, the filter. */
bool paging_check_whole_items(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_check_projection(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_check_filter(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

/* Checks the start key, in three steps with other checks between them: it has as many attributes as a key of table
 * and index; each attribute of the searched key is valid; it is a key of the table. The last step sets request.start.
 * */
bool paging_check_start_count(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_check_start_attr(struct op_state *s, const struct paging *p, const struct key_attr *attr,
			     struct error *e) MUST_CHECK;
bool paging_check_start(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

/* The checks of a query, in DynamoDB's order (op_query.c). */
bool query_prepare(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
/* Reads the page and passes its items to request.emit(). */
bool paging_read(struct op_state *s, struct paging *p, struct page *page, struct error *e) MUST_CHECK;
/* Reads the page and writes the reply. */
bool paging_reply(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

#endif
