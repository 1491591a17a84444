/* A request to the database in the making: a document, and the placeholders of its expressions.
 *
 * Expressions are written straight into the document; names and values are put aside while they are, and follow with
 * dyn_put_placeholders(). Placeholders are numbered from 0 for each action, so that equal requests have equal
 * expressions (which the database then need not parse again).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DYN_REQUEST_H
#define THORPE_APP_DYN_REQUEST_H

#include "api/direct_write.h"
#include "app/dyn.h"

struct dyn_request {
	struct run *run;
	struct buf body;
	struct buf names, values; /* members, without braces */
	uint32_t name_count, value_count;
	struct api_binding *bindings; /* placeholders go here instead (dyn_direct_write.c); NULL: they do not */
	size_t binding_count, binding_room;
};

/* The document is "{". */
void dyn_request_init(struct dyn_request *q, struct run *r);
/* "TableName":"…" */
void dyn_put_table(struct dyn_request *q);
void dyn_put_other_table(struct dyn_request *q, struct slice table);
/* A placeholder, at the end of the document. */
void dyn_put_name(struct dyn_request *q, struct slice name);
void dyn_put_value(struct dyn_request *q, struct value v);
/* The text of a filter, at the end of the document, and its names and values. */
void dyn_put_filter(struct dyn_request *q, const struct term_filter *f);
/* ,"ExpressionAttributeNames":{…},"ExpressionAttributeValues":{…} as far as there are any; numbering begins anew. */
void dyn_put_placeholders(struct dyn_request *q);

/* Ends the document, sends it and keeps the trace. Whether the reply is a 200; no problem is set. */
bool dyn_send(struct dyn_request *q, const char *operation, struct backend_reply *reply) MUST_CHECK;

/* An item of a reply; NULL: absent. Problem: INTERNAL. */
bool dyn_read_item(struct run *r, const struct json *j, struct value *item) MUST_CHECK;
/* ---- without a document ---- */
/* False: it has to be asked with one. */
bool dyn_query_directly(struct run *r, const struct dyn_query *query, struct dyn_page *page) MUST_CHECK;
/* So here: *end is DONE or REFUSED. Together: as a transaction, even if it is one. */
bool dyn_write_directly(struct run *r, const struct dyn_write *w, size_t n, bool together, struct dyn_refusal *refusals,
			enum dyn_outcome *end) MUST_CHECK;
/* A condition that everything fulfils. */
bool dyn_says_nothing(const struct dyn_condition *c);
/* The attributes that `without` leaves, maybe more than once. */
void dyn_each_projected(struct run *r, const struct dyn_query *query, void (*visit)(void *ctx, struct slice name), void *ctx);

/* Problem: INTERNAL; the reply to this operation makes no sense. False. */
bool dyn_bad_reply(struct run *r, const char *operation);

#endif
