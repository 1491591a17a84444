/* Builds expressions from parts, without text: conditions from tests, updates from changes to top-level attributes.
 *
 * The result equals what compiling the text would give: condition_of() and update_of() refuse what DynamoDB would
 * refuse in the text (its size as print.h writes it, the number of operators, disallowed values, overlapping paths,
 * operands of ADD). The caller must not combine operands that make no sense together (x < true, bounds in the wrong
 * order, an attribute with itself).
 * Names and values are borrowed. Errors: VALIDATION, with the texts of the compiled form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_BUILD_H
#define THORPE_EXPR_BUILD_H

#include "expr/expr.h"

enum test_op {
	TEST_EQ, /* up to TEST_GE: in the order of NODE_EQ to NODE_GE (tree.h) */
	TEST_NE,
	TEST_LT,
	TEST_LE,
	TEST_GT,
	TEST_GE,
	TEST_BETWEEN, /* operand, lower, upper */
	TEST_IN,      /* operand, then the list */
	TEST_AND,
	TEST_OR,
	TEST_NOT,
	TEST_EXISTS,
	TEST_NOT_EXISTS,
	TEST_TYPE, /* operand, the name of its type as a value */
	TEST_BEGINS_WITH,
	TEST_CONTAINS,
	TEST_NOT_CONTAINS, /* legacy only: false if the attribute is absent */
	TEST_TRUE,         /* an empty legacy filter */
};

/* a value, or with a name the attribute, or its size() */
struct test_operand {
	struct slice name;       /* empty: the value */
	const struct path *path; /* into the attribute, with its name as the first step; NULL: the attribute itself */
	bool size;
	struct value value;
};
static inline struct test_operand test_value(struct value v)
{
	return (struct test_operand){ .value = v };
}
static inline struct test_operand test_name(struct slice name)
{
	return (struct test_operand){ .name = name };
}

struct test;
/* For all operators except AND, OR and NOT. */
const struct test *test_of(struct arena *a, enum test_op op, const struct test_operand *operands, size_t n);
/* name op value; EXISTS and NOT_EXISTS without a value. */
const struct test *test_attribute(struct arena *a, enum test_op op, struct slice name, struct value v);
/* AND or OR. If one side is NULL, returns the other. */
const struct test *test_join(struct arena *a, enum test_op op, const struct test *left, const struct test *right);
const struct test *test_not(struct arena *a, const struct test *t);

bool condition_of(struct arena *a, enum condition_label label, const struct test *root, const struct condition **out,
		  struct error *e) MUST_CHECK;

enum action_kind { ACTION_SET, ACTION_REMOVE, ACTION_ADD, ACTION_DELETE };
/* one part of an update */
struct update_part {
	enum action_kind kind;
	struct slice name;
	struct value value; /* unused for REMOVE */
};
/* At least one part. */
bool update_of(struct arena *a, const struct update_part *parts, size_t n, const struct update **out,
	       struct error *e) MUST_CHECK;

#endif
