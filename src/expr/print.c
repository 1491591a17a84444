/* Prints expressions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/print.h"

#include <assert.h>
#include "expr/condition.h"
#include "expr/update.h"
#include "value/codec.h"

void expr_printer_init(struct expr_printer *p, struct arena *a, struct buf *out)
{
	*p = (struct expr_printer){ .out = out };
	buf_init(&p->names, a);
	buf_init(&p->values, a);
}

/* ---- placeholders ---- */

static void print_placeholder(struct buf *b, const char *sign, uint32_t number)
{
	buf_add(b, sign, 2);
	buf_u64(b, number);
}

/* "#n0": */
static void print_member(struct buf *b, const char *sign, uint32_t number)
{
	if (b->n)
		buf_byte(b, ',');
	buf_byte(b, '"');
	print_placeholder(b, sign, number);
	buf_lit(b, "\":");
}

static void print_name(struct expr_printer *p, struct slice name)
{
	uint32_t number = p->name_count++;

	print_placeholder(p->out, "#n", number);
	if (p->only_text)
		return;
	print_member(&p->names, "#n", number);
	json_string(&p->names, name);
}

static void print_value(struct expr_printer *p, struct value v)
{
	uint32_t number = p->value_count++;

	print_placeholder(p->out, ":v", number);
	if (p->only_text)
		return;
	print_member(&p->values, ":v", number);
	value_to_json(&p->values, v);
}

void expr_print_placeholders(struct expr_printer *p)
{
	if (p->names.n) {
		buf_lit(p->out, ",\"ExpressionAttributeNames\":{");
		buf_put(p->out, buf_slice(&p->names));
		buf_byte(p->out, '}');
	}
	if (p->values.n) {
		buf_lit(p->out, ",\"ExpressionAttributeValues\":{");
		buf_put(p->out, buf_slice(&p->values));
		buf_byte(p->out, '}');
	}
}

static void print_path(struct expr_printer *p, const struct path *path)
{
	for (size_t i = 0; i < path->count; i++) {
		const struct path_step *s = &path->steps[i];

		if (s->is_index) {
			buf_printf(p->out, "[%u]", (unsigned)s->index);
			continue;
		}
		if (i)
			buf_byte(p->out, '.');
		print_name(p, s->name);
	}
}

/* ---- conditions ---- */

static void print_operand(struct expr_printer *p, const struct operand *o)
{
	if (o->is_size)
		buf_lit(p->out, "size(");
	if (o->is_path)
		print_path(p, &o->path);
	else
		print_value(p, o->value);
	if (o->is_size)
		buf_byte(p->out, ')');
}

/* Operands from the `from`-th on, with a separator between them. */
static void print_operands(struct expr_printer *p, const struct test *t, size_t from, const char *between)
{
	for (size_t i = from; i < t->arg_count; i++) {
		if (i > from)
			buf_str(p->out, between);
		print_operand(p, &t->args[i]);
	}
}

static void print_leaf(struct expr_printer *p, const struct test *t)
{
	assert(t->op != TEST_NOT_CONTAINS && t->op != TEST_TRUE);
	switch (t->op) {
	case TEST_BETWEEN:
		print_operand(p, &t->args[0]);
		buf_lit(p->out, " BETWEEN ");
		print_operands(p, t, 1, " AND ");
		break;
	case TEST_IN:
		print_operand(p, &t->args[0]);
		buf_lit(p->out, " IN (");
		print_operands(p, t, 1, ", ");
		buf_byte(p->out, ')');
		break;
	case TEST_EQ:
	case TEST_NE:
	case TEST_LT:
	case TEST_LE:
	case TEST_GT:
	case TEST_GE:
		print_operand(p, &t->args[0]);
		buf_byte(p->out, ' ');
		buf_str(p->out, test_op_name(t->op));
		buf_byte(p->out, ' ');
		print_operand(p, &t->args[1]);
		break;
	default:
		buf_str(p->out, test_op_name(t->op));
		buf_byte(p->out, '(');
		print_operands(p, t, 0, ", ");
		buf_byte(p->out, ')');
	}
}

static bool is_joined(const struct test *t)
{
	return t->op == TEST_AND || t->op == TEST_OR;
}

static void print_test(struct expr_printer *p, const struct test *t);

/* Uses parentheses if the surrounding operator differs. DynamoDB refuses redundant parentheses only around
 * parentheses. */
static void print_side(struct expr_printer *p, const struct test *t, enum test_op around)
{
	bool apart = is_joined(t) && t->op != around;

	if (apart)
		buf_byte(p->out, '(');
	print_test(p, t);
	if (apart)
		buf_byte(p->out, ')');
}

static void print_test(struct expr_printer *p, const struct test *t)
{
	if (t->op == TEST_NOT) {
		buf_lit(p->out, "NOT ");
		print_side(p, t->left, TEST_NOT);
	} else if (is_joined(t)) {
		print_side(p, t->left, t->op);
		buf_str(p->out, t->op == TEST_AND ? " AND " : " OR ");
		print_side(p, t->right, t->op);
	} else {
		print_leaf(p, t);
	}
}

void expr_print_condition(struct expr_printer *p, const struct condition *c)
{
	print_test(p, c->root);
}

/* ---- updates ---- */

static void print_source(struct expr_printer *p, const struct source *s)
{
	switch (s->kind) {
	case SOURCE_VALUE: print_value(p, s->value); break;
	case SOURCE_PATH: print_path(p, &s->path); break;
	case SOURCE_IF_NOT_EXISTS:
		buf_lit(p->out, "if_not_exists(");
		print_path(p, &s->path);
		buf_lit(p->out, ", ");
		print_source(p, s->left);
		buf_byte(p->out, ')');
		break;
	case SOURCE_LIST_APPEND:
		buf_lit(p->out, "list_append(");
		print_source(p, s->left);
		buf_lit(p->out, ", ");
		print_source(p, s->right);
		buf_byte(p->out, ')');
		break;
	case SOURCE_PLUS:
	case SOURCE_MINUS:
		print_source(p, s->left);
		buf_str(p->out, s->kind == SOURCE_PLUS ? " + " : " - ");
		print_source(p, s->right);
		break;
	}
}

static void print_section(struct expr_printer *p, const struct update *u, enum action_kind kind, bool *any)
{
	static const char *const words[] = { "SET ", "REMOVE ", "ADD ", "DELETE " };
	bool first = true;

	for (size_t i = 0; i < u->count; i++) {
		if (u->actions[i].kind != kind)
			continue;
		if (first && *any)
			buf_byte(p->out, ' ');
		buf_str(p->out, first ? words[kind] : ", ");
		first = false;
		*any = true;
		print_path(p, &u->paths[i]);
		if (kind == ACTION_REMOVE)
			continue;
		buf_str(p->out, kind == ACTION_SET ? " = " : " ");
		print_source(p, &u->actions[i].source);
	}
}

void expr_print_update(struct expr_printer *p, const struct update *u)
{
	bool any = false;

	for (int kind = ACTION_SET; kind <= ACTION_DELETE; kind++)
		print_section(p, u, (enum action_kind)kind, &any);
}

/* ---- projections, key conditions ---- */

void expr_print_projection(struct expr_printer *p, const struct projection *r)
{
	const struct path *paths;
	size_t n = projection_paths(r, &paths);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_byte(p->out, ',');
		print_path(p, &paths[i]);
	}
}

static void print_key_term(struct expr_printer *p, const struct key_term *t)
{
	static const char *const signs[] = { [KEY_EQ] = " = ",        [KEY_LT] = " < ",  [KEY_LE] = " <= ",
					     [KEY_GT] = " > ",        [KEY_GE] = " >= ", [KEY_BETWEEN] = " BETWEEN ",
					     [KEY_BEGINS_WITH] = ", " };

	buf_str(p->out, t->op == KEY_BEGINS_WITH ? "begins_with(" : "");
	print_name(p, t->name);
	buf_str(p->out, signs[t->op]);
	print_value(p, t->value);
	if (t->op == KEY_BETWEEN) {
		buf_lit(p->out, " AND ");
		print_value(p, t->upper);
	}
	buf_str(p->out, t->op == KEY_BEGINS_WITH ? ")" : "");
}

void expr_print_key_terms(struct expr_printer *p, const struct key_term *terms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_str(p->out, i ? " AND " : "");
		print_key_term(p, &terms[i]);
	}
}
