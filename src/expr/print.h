/* Compiled expressions as text again, with the names and values that they need: what a request to another DynamoDB says, and what people are
 * shown of one that was never text.
 *
 * Placeholders are numbered from 0 for each struct expr_printer, so that equal requests have equal texts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PRINT_H
#define THORPE_EXPR_PRINT_H

#include "expr/expr.h"

struct expr_printer {
	struct buf *out;          /* where the text goes: placeholders and words, nothing to escape in JSON */
	struct buf names, values; /* members of ExpressionAttributeNames and -Values, without braces */
	uint32_t name_count, value_count;
	bool only_text; /* names and values are not wanted */
};
void expr_printer_init(struct expr_printer *p, struct arena *a, struct buf *out);

/* Not what only the legacy forms can say. */
void expr_print_condition(struct expr_printer *p, const struct condition *c);
void expr_print_update(struct expr_printer *p, const struct update *u);
void expr_print_projection(struct expr_printer *p, const struct projection *r);
void expr_print_key_terms(struct expr_printer *p, const struct key_term *terms, size_t n);
/* ,"ExpressionAttributeNames":{…},"ExpressionAttributeValues":{…} as far as there are any. */
void expr_print_placeholders(struct expr_printer *p);

#endif
