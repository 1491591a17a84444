/* What the legacy forms share: their members, comparison operators and argument lists.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_LEGACY_H
#define THORPE_EXPR_LEGACY_H

#include "expr/condition.h"

enum comparison {
	COMPARE_EQ,
	COMPARE_NE,
	COMPARE_IN,
	COMPARE_LE,
	COMPARE_LT,
	COMPARE_GE,
	COMPARE_GT,
	COMPARE_BETWEEN,
	COMPARE_NOT_NULL,
	COMPARE_NULL,
	COMPARE_CONTAINS,
	COMPARE_NOT_CONTAINS,
	COMPARE_BEGINS_WITH,
};

/* One attribute's condition. */
struct legacy_condition {
	struct slice name;
	enum comparison op;
	const struct value *args;
	size_t arg_count;
};

/* The members of an object that count, in order: the last of duplicate names, none that is null. Errors:
 * SERIALIZATION (not an object), VALIDATION (empty name). */
bool legacy_members(struct arena *a, const struct json *obj, const struct json_member ***out, size_t *count,
		    struct error *e) MUST_CHECK;

/* `field` names the member in messages ("expected"). */
bool legacy_operator(struct arena *a, const char *field, struct slice attribute, const struct json *j,
		     enum comparison *out, struct error *e) MUST_CHECK;
/* AttributeValueList: `list` may be NULL. */
bool legacy_values(struct arena *a, const struct json *list, struct legacy_condition *c, struct error *e) MUST_CHECK;
/* Checks number and types of the arguments. */
bool legacy_check(struct arena *a, const struct legacy_condition *c, struct error *e) MUST_CHECK;
/* Reads and checks {ComparisonOperator, AttributeValueList} of one attribute. */
bool legacy_condition(struct arena *a, const char *field, const struct json_member *m, struct legacy_condition *out,
		      struct error *e) MUST_CHECK;

#endif
