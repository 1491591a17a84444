/* What CreateTable and UpdateTable ask for, checked and turned into the engine's terms.
 *
 * The request has passed its shape (shape.h). Checks come in DynamoDB's order, with its texts.
 * Results live in the arena and borrow strings from the request.
 * Errors: VALIDATION; LIMIT_EXCEEDED where said.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_TABLE_SPEC_H
#define THORPE_API_OP_TABLE_SPEC_H

#include "api/op.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

/* CreateTable. *out is a `spec` for control.h. */
bool table_spec_parse(const struct json *in, struct arena *a, struct table *out, struct error *e) MUST_CHECK;

/* The checks of UpdateTable that do not need the table; DynamoDB makes them before it looks the table up. */
bool table_change_check(const struct json *in, struct arena *a, struct error *e) MUST_CHECK;
/* UpdateTable on table `t`, after table_change_check(). Also errors LIMIT_EXCEEDED (more than one
 * index made or removed at once) and NOT_FOUND (an index). */
bool table_change_parse(const struct json *in, const struct table *t, struct arena *a, struct table_change *out,
			struct error *e) MUST_CHECK;

/* Tags of CreateTable and TagResource: no duplicates, no reserved keys, at most 50. `list` may be
 * NULL. */
bool table_spec_tags(const struct json *list, struct arena *a, const struct tag **out, size_t *count,
		     struct error *e) MUST_CHECK;

#endif
