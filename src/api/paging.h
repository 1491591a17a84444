/* What Query and Scan have in common: index, selection, filter, start key, the page itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_PAGING_H
#define THORPE_API_PAGING_H

#include "api/params.h"

struct paging {
	struct page_request request;
	const struct projection *projection; /* NULL: everything the index or table has */
	struct value start;                  /* ExclusiveStartKey as given */
	bool count_only;                     /* Select COUNT */
	const char *legacy_filter;           /* "QueryFilter" or "ScanFilter" */
};

/* Before the table is known. */
bool paging_parse_start(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
bool paging_parse_filter(struct op_state *s, struct paging *p, struct expr_bindings *b, struct error *e)
	MUST_CHECK;
bool paging_check_select(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

/* Finds table and index, and checks what depends on them but the start key. */
bool paging_resolve(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
/* That projection and filter can be answered by the index. */
bool paging_check_attributes(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;
/* That the start key is a key of the table and of the index; sets request.start. */
bool paging_check_start(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

/* Reads the page and writes the reply. */
bool paging_reply(struct op_state *s, struct paging *p, struct error *e) MUST_CHECK;

#endif
