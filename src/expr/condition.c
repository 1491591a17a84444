/* Evaluates conditions on the item in place, without copying or allocating.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/condition.h"

/* Room for an intermediate number: type, length, encoding. */
struct scratch {
	uint8_t bytes[2 + NUMBER_ENCODED_MAX];
};

static struct value size_of(struct value v, struct scratch *room)
{
	struct number n;
	size_t size;

	switch (value_type(v)) {
	case VALUE_S: size = value_string_units(value_bytes(v)); break;
	case VALUE_B: size = value_bytes(v).n; break;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
	case VALUE_L:
	case VALUE_M: size = value_count(v); break;
	default: return VALUE_ABSENT;
	}
	n = number_from_i64((int64_t)size);
	room->bytes[0] = VALUE_N;
	room->bytes[1] = (uint8_t)number_encode(&n, room->bytes + 2);
	return (struct value){ room->bytes, 2 + (size_t)room->bytes[1] };
}

static struct value operand_get(const struct operand *o, struct value item, struct scratch *room)
{
	struct value v = o->is_path ? path_get(&o->path, item) : o->value;

	return o->is_size ? size_of(v, room) : v;
}

static bool equal(struct value x, struct value y)
{
	return value_present(x) && value_present(y) && value_equal(x, y);
}

static bool is_ordered(struct value x, struct value y)
{
	enum value_type t = value_type(x);

	return t == value_type(y) && (t == VALUE_S || t == VALUE_N || t == VALUE_B);
}

static bool compare(enum test_op op, struct value x, struct value y)
{
	int c;

	if (op == TEST_EQ)
		return equal(x, y);
	if (op == TEST_NE)
		return !equal(x, y);
	if (!is_ordered(x, y))
		return false;
	c = value_cmp(x, y);
	switch (op) {
	case TEST_LT: return c < 0;
	case TEST_LE: return c <= 0;
	case TEST_GT: return c > 0;
	default: return c >= 0;
	}
}

static bool is_in(const struct test *t, struct value x, struct value item)
{
	struct scratch room;

	for (size_t i = 1; i < t->arg_count; i++)
		if (equal(x, operand_get(&t->args[i], item, &room)))
			return true;
	return false;
}

static bool leaf_holds(const struct test *t, struct value item)
{
	struct scratch room[3];
	struct value x, y;

	if (t->op == TEST_TRUE)
		return true;
	x = operand_get(&t->args[0], item, &room[0]);
	switch (t->op) {
	case TEST_EXISTS: return value_present(x);
	case TEST_NOT_EXISTS: return !value_present(x);
	case TEST_TYPE: return value_type(x) == t->type;
	case TEST_IN: return is_in(t, x, item);
	default: break;
	}
	y = operand_get(&t->args[1], item, &room[1]);
	switch (t->op) {
	case TEST_BEGINS_WITH: return value_begins(x, y);
	case TEST_CONTAINS: return value_contains(x, y);
	case TEST_NOT_CONTAINS: return value_present(x) && !value_contains(x, y);
	case TEST_BETWEEN:
		return compare(TEST_GE, x, y) && compare(TEST_LE, x, operand_get(&t->args[2], item, &room[2]));
	default: return compare(t->op, x, y);
	}
}

static bool test_holds(const struct test *t, struct value item)
{
	switch (t->op) {
	case TEST_AND: return test_holds(t->left, item) && test_holds(t->right, item);
	case TEST_OR: return test_holds(t->left, item) || test_holds(t->right, item);
	case TEST_NOT: return !test_holds(t->left, item);
	default: return leaf_holds(t, item);
	}
}

bool condition_holds(const struct condition *c, struct value item, struct arena *a)
{
	(void)a;
	return test_holds(c->root, item);
}
