/* Binds a condition's tree to a request's names and values, and checks what depends on them: each
 * condition by itself, operands first, in order of appearance.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/condition.h"
#include "expr/limits.h"
#include "expr/path.h"

/* Sets of types, a bit each. */
#define TYPE_BIT(t)    (1u << (t))
#define TYPES_ORDERED  (TYPE_BIT(VALUE_S) | TYPE_BIT(VALUE_N) | TYPE_BIT(VALUE_B))
#define TYPES_PREFIXED (TYPE_BIT(VALUE_S) | TYPE_BIT(VALUE_B))
#define TYPES_SIZED    (~(TYPE_BIT(VALUE_N) | TYPE_BIT(VALUE_BOOL) | TYPE_BIT(VALUE_NULL)))

static const struct test *compile_test(struct binder *x, const struct node *n);

const char *test_op_name(enum test_op op)
{
	static const char *const names[] = {
		[TEST_EQ] = "=",
		[TEST_NE] = "<>",
		[TEST_LT] = "<",
		[TEST_LE] = "<=",
		[TEST_GT] = ">",
		[TEST_GE] = ">=",
		[TEST_BETWEEN] = "BETWEEN",
		[TEST_IN] = "IN",
		[TEST_AND] = "AND",
		[TEST_OR] = "OR",
		[TEST_NOT] = "NOT",
		[TEST_EXISTS] = "attribute_exists",
		[TEST_NOT_EXISTS] = "attribute_not_exists",
		[TEST_TYPE] = "attribute_type",
		[TEST_BEGINS_WITH] = "begins_with",
		[TEST_CONTAINS] = "contains",
	};

	return names[op];
}

/* VALUE_NONE for a path: its type is known only with an item. */
static enum value_type operand_type(const struct operand *o)
{
	if (o->is_size)
		return VALUE_N;
	return o->is_path ? VALUE_NONE : value_type(o->value);
}

static bool check_types(struct binder *x, const char *op, const struct operand *args, size_t n, unsigned allowed)
{
	for (size_t i = 0; i < n; i++) {
		enum value_type t = operand_type(&args[i]);

		if (t != VALUE_NONE && !(allowed & TYPE_BIT(t)))
			return binder_refuse_type(x, op, value_type_name(t));
	}
	return true;
}

static bool check_distinct(struct binder *x, const char *op, const struct operand *args, size_t n)
{
	if (!args[0].is_path || args[0].is_size)
		return true;
	for (size_t i = 1; i < n; i++) {
		struct slice first;

		if (!args[i].is_path || args[i].is_size || path_cmp(&args[0].path, &args[i].path))
			continue;
		first = path_print(&args[0].path, x->arena);
		return binder_refuse(x,
				     "The first operand must be distinct from the remaining operands for "
				     "this operator or function; operator: %s, first operand: %.*s",
				     op, SLICE_ARG(first));
	}
	return true;
}

static bool check_count(struct binder *x, const char *op, size_t wanted, size_t n)
{
	if (n == wanted)
		return true;
	return binder_refuse(x,
			     "Incorrect number of operands for operator or function; operator or "
			     "function: %s, number of operands: %zu",
			     op, n);
}

static bool compile_operand(struct binder *x, const struct node *n, struct operand *out);

/* size(): the only call that may be an operand. */
static bool compile_size(struct binder *x, const struct node *n, struct operand *out)
{
	size_t count = tree_children(x->tree, n);
	struct operand ignored;
	unsigned arg = n->child;

	for (size_t i = 0; i < count; i++, arg = tree_node(x->tree, arg)->next)
		if (!compile_operand(x, tree_node(x->tree, arg), i ? &ignored : out))
			return false;
	if (!check_count(x, "size", 1, count) || !check_types(x, "size", out, 1, TYPES_SIZED))
		return false;
	out->is_size = true;
	return true;
}

static bool compile_operand(struct binder *x, const struct node *n, struct operand *out)
{
	*out = (struct operand){ .is_path = n->kind == NODE_PATH };
	if (n->kind == NODE_PATH)
		return binder_path_seen(x, n, &out->path);
	if (n->kind == NODE_VALUE_REF)
		return binder_value(x, n, &out->value);
	return compile_size(x, n, out);
}

static struct slice print_bound(struct arena *a, struct value v)
{
	enum value_type t = value_type(v);
	char number[NUMBER_TEXT_MAX];
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "AttributeValue: {%s:", value_type_name(t));
	if (t == VALUE_N) {
		struct number n = value_number(v);

		buf_add(&b, number, number_format(&n, number));
	} else if (t == VALUE_B) {
		buf_base64(&b, value_bytes(v));
	} else {
		buf_put(&b, value_bytes(v));
	}
	buf_byte(&b, '}');
	return buf_slice(&b);
}

static bool check_between(struct binder *x, const struct operand *args)
{
	struct value low = args[1].value, high = args[2].value;
	struct slice one, two;
	bool same;

	if (!check_types(x, "BETWEEN", args, 3, TYPES_ORDERED) || !check_distinct(x, "BETWEEN", args, 3))
		return false;
	if (args[1].is_path || args[1].is_size || args[2].is_path || args[2].is_size)
		return true;
	same = value_type(low) == value_type(high);
	if (same && value_cmp(low, high) <= 0)
		return true;
	one = print_bound(x->arena, low);
	two = print_bound(x->arena, high);
	return binder_refuse(x,
			     "The BETWEEN operator requires %s; lower bound operand: %.*s, upper bound "
			     "operand: %.*s",
			     same ? "upper bound to be greater than or equal to lower bound"
				  : "same data type for lower and upper bounds",
			     SLICE_ARG(one), SLICE_ARG(two));
}

static bool check_in(struct binder *x, const struct operand *args, size_t n)
{
	if (!check_distinct(x, "IN", args, n))
		return false;
	if (n - 1 > EXPR_IN_OPERANDS_MAX)
		return binder_refuse(x,
				     "The IN operator is provided with too many operands; number of "
				     "operands: %zu",
				     n - 1);
	return true;
}

static bool check_type_name(struct binder *x, struct test *t)
{
	const struct operand *name = &t->args[1];
	enum value_type type = operand_type(name);

	if (type == VALUE_NONE)
		return binder_refuse_type(x, "attribute_type", "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
	if (type != VALUE_S || name->is_size)
		return binder_refuse_type(x, "attribute_type", value_type_name(type));
	t->type = value_type_parse(value_bytes(name->value));
	if (t->type == VALUE_NONE)
		return binder_refuse(x,
				     "Invalid attribute type name found; type: %.*s, valid types: "
				     "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
				     SLICE_ARG(value_bytes(name->value)));
	return true;
}

static bool check_call(struct binder *x, struct test *t)
{
	const char *op = test_op_name(t->op);
	bool exists = t->op == TEST_EXISTS || t->op == TEST_NOT_EXISTS;

	if (!check_count(x, op, exists ? 1 : 2, t->arg_count))
		return false;
	if (exists && (!t->args[0].is_path || t->args[0].is_size))
		return binder_refuse(x,
				     "Operator or function requires a document path; operator or "
				     "function: %s",
				     op);
	if (!check_distinct(x, op, t->args, t->arg_count))
		return false;
	if (t->op == TEST_TYPE)
		return check_type_name(x, t);
	return t->op != TEST_BEGINS_WITH || check_types(x, op, t->args, 2, TYPES_PREFIXED);
}

static enum test_op call_op(const struct node *n)
{
	switch ((enum func)n->func) {
	case FUNC_ATTRIBUTE_EXISTS: return TEST_EXISTS;
	case FUNC_ATTRIBUTE_NOT_EXISTS: return TEST_NOT_EXISTS;
	case FUNC_ATTRIBUTE_TYPE: return TEST_TYPE;
	case FUNC_BEGINS_WITH: return TEST_BEGINS_WITH;
	default: return TEST_CONTAINS;
	}
}

static enum test_op node_op(const struct node *n)
{
	switch ((enum node_kind)n->kind) {
	case NODE_BETWEEN: return TEST_BETWEEN;
	case NODE_IN: return TEST_IN;
	case NODE_AND: return TEST_AND;
	case NODE_OR: return TEST_OR;
	case NODE_NOT: return TEST_NOT;
	case NODE_CALL: return call_op(n);
	default: return (enum test_op)(TEST_EQ + (n->kind - NODE_EQ));
	}
}

static bool check_test(struct binder *x, struct test *t)
{
	const char *op = test_op_name(t->op);

	switch (t->op) {
	case TEST_BETWEEN: return check_between(x, t->args);
	case TEST_IN: return check_in(x, t->args, t->arg_count);
	case TEST_EQ:
	case TEST_NE: return check_distinct(x, op, t->args, 2);
	case TEST_LT:
	case TEST_LE:
	case TEST_GT:
	case TEST_GE: return check_types(x, op, t->args, 2, TYPES_ORDERED) && check_distinct(x, op, t->args, 2);
	default: return check_call(x, t);
	}
}

static const struct test *compile_leaf(struct binder *x, const struct node *n, struct test *t)
{
	struct operand *args;
	size_t i = 0;

	t->arg_count = tree_children(x->tree, n);
	args = arena_array(x->arena, struct operand, t->arg_count);
	for (unsigned c = n->child; c; c = tree_node(x->tree, c)->next)
		if (!compile_operand(x, tree_node(x->tree, c), &args[i++]))
			return NULL;
	t->args = args;
	return check_test(x, t) ? t : NULL;
}

static const struct test *compile_test(struct binder *x, const struct node *n)
{
	struct test *t = arena_new(x->arena, struct test);
	const struct node *left;

	t->op = node_op(n);
	if (t->op != TEST_AND && t->op != TEST_OR && t->op != TEST_NOT)
		return compile_leaf(x, n, t);
	left = tree_node(x->tree, n->child);
	t->left = compile_test(x, left);
	if (!t->left)
		return NULL;
	if (t->op == TEST_NOT)
		return t;
	t->right = compile_test(x, tree_node(x->tree, left->next));
	return t->right ? t : NULL;
}

bool condition_compile_as(struct expr_bindings *b, const char *label, struct slice text, const struct condition **out,
			  struct error *e)
{
	struct condition *c;
	struct binder x;

	if (!binder_init(&x, b, TREE_CONDITION, label, text, e))
		return false;
	c = arena_new(b->arena, struct condition);
	c->root = compile_test(&x, tree_node(x.tree, x.tree->root));
	if (!c->root || !binder_finish(&x))
		return false;
	c->paths = x.paths;
	c->path_count = x.path_count;
	*out = c;
	return true;
}

const char *condition_label_name(enum condition_label label)
{
	return label == FILTER_EXPRESSION ? "FilterExpression" : "ConditionExpression";
}

bool condition_compile(struct expr_bindings *b, enum condition_label label, struct slice text,
		       const struct condition **out, struct error *e)
{
	return condition_compile_as(b, condition_label_name(label), text, out, e);
}

size_t condition_paths(const struct condition *c, const struct path **out)
{
	*out = c->paths;
	return c->path_count;
}
