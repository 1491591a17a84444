/* Compiled conditions: made by compile_condition.c, build.c and legacy_condition.c, evaluated by condition.c, taken
 * apart by keycond.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_CONDITION_H
#define THORPE_EXPR_CONDITION_H

#include "expr/bind.h"
#include "expr/build.h"

/* A path or a value, or the size() of either. */
struct operand {
	bool is_path, is_size;
	struct path path;
	struct value value;
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

bool condition_compile_as(struct expr_bindings *b, const char *label, struct slice text, const struct condition **out,
			  struct error *e) MUST_CHECK;
const char *test_op_name(enum test_op op);
const char *condition_label_name(enum condition_label label);

#endif
