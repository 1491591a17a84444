/* Compiled conditions: what compile_condition.c and legacy_condition.c make, condition.c evaluates
 * and keycond.c takes apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_CONDITION_H
#define THORPE_EXPR_CONDITION_H

#include "expr/bind.h"

/* A path or a value, or the size() of it. */
struct operand {
	bool is_path, is_size;
	struct path path;
	struct value value;
};

enum test_op {
	TEST_EQ, /* to TEST_GE: in the order of NODE_EQ to NODE_GE */
	TEST_NE,
	TEST_LT,
	TEST_LE,
	TEST_GT,
	TEST_GE,
	TEST_BETWEEN,
	TEST_IN,
	TEST_AND,
	TEST_OR,
	TEST_NOT,
	TEST_EXISTS,
	TEST_NOT_EXISTS,
	TEST_TYPE,
	TEST_BEGINS_WITH,
	TEST_CONTAINS,
	TEST_NOT_CONTAINS, /* legacy only: false where there is no attribute */
	TEST_TRUE,         /* an empty legacy filter */
};

struct test {
	enum test_op op;
	enum value_type type;            /* TEST_TYPE */
	const struct test *left, *right; /* TEST_AND, TEST_OR; TEST_NOT: left */
	const struct operand *args;      /* all others */
	size_t arg_count;
};

struct condition {
	const struct test *root;
	const struct path *paths;
	size_t path_count;
};

bool condition_compile_as(struct expr_bindings *b, const char *label, struct slice text,
			  const struct condition **out, struct error *e) MUST_CHECK;
const char *test_op_name(enum test_op op);

#endif
