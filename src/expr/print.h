/* Prints compiled expressions as text, with the names and values they need: for requests to another DynamoDB, and
 * to show people an expression that never had a text.
 *
 * Placeholders are numbered from 0 for each struct expr_printer, so equal requests have equal texts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PRINT_H
#define THORPE_EXPR_PRINT_H

#include "expr/expr.h"

struct expr_printer {
	struct buf *out;          /* receives the text: placeholders and words, nothing to escape in JSON */
	struct buf names, values; /* members of ExpressionAttributeNames and -Values, without braces */
	uint32_t name_count, value_count;
	bool only_text; /* leave out names and values */
};
void expr_printer_init(struct expr_printer *p, struct arena *a, struct buf *out);

/* Cannot print tests that only the legacy forms have. */
void expr_print_condition(struct expr_printer *p, const struct condition *c);
void expr_print_update(struct expr_printer *p, const struct update *u);
void expr_print_projection(struct expr_printer *p, const struct projection *r);
void expr_print_key_terms(struct expr_printer *p, const struct key_term *terms, size_t n);
/* ,"ExpressionAttributeNames":{…},"ExpressionAttributeValues":{…}; leaves out an empty one. */
void expr_print_placeholders(struct expr_printer *p);

#endif
