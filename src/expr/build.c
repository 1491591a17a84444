/* Builds conditions and updates from parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/build.h"

#include "expr/condition.h"
#include "expr/limits.h"
#include "expr/path.h"
#include "expr/print.h"
#include "expr/update.h"
#include "value/codec.h"

/* An operand and the words around it take at most this much text, so a few of them fit and need not be printed to
 * be measured. */
#define OPERAND_TEXT     40
#define STEPS_OF_OPERAND 4

/* ---- tests ---- */

static void fill_operand(struct operand *o, struct path_step *step, const struct test_operand *in)
{
	*o = (struct operand){ .is_path = in->name.n > 0, .is_size = in->size, .value = in->value };
	if (!o->is_path)
		return;
	if (in->path) {
		o->path = *in->path;
		return;
	}
	*step = (struct path_step){ .name = in->name };
	o->path = (struct path){ step, 1 };
}

const struct test *test_of(struct arena *a, enum test_op op, const struct test_operand *operands, size_t n)
{
	struct test *t = arena_alloc(a, sizeof(*t) + n * (sizeof(struct operand) + sizeof(struct path_step)));
	struct operand *args = (struct operand *)(t + 1);
	struct path_step *steps = (struct path_step *)(args + n);

	for (size_t i = 0; i < n; i++)
		fill_operand(&args[i], &steps[i], &operands[i]);
	*t = (struct test){ .op = op, .args = args, .arg_count = n };
	if (op == TEST_TYPE)
		t->type = value_type_parse(value_bytes(operands[1].value));
	return t;
}

const struct test *test_attribute(struct arena *a, enum test_op op, struct slice name, struct value v)
{
	struct test_operand operands[] = { test_name(name), test_value(v) };

	return test_of(a, op, operands, op == TEST_EXISTS || op == TEST_NOT_EXISTS ? 1 : 2);
}

const struct test *test_join(struct arena *a, enum test_op op, const struct test *left, const struct test *right)
{
	struct test *t;

	if (!left || !right)
		return left ? left : right;
	t = arena_new(a, struct test);
	t->op = op;
	t->left = left;
	t->right = right;
	return t;
}

const struct test *test_not(struct arena *a, const struct test *t)
{
	struct test *not = arena_new(a, struct test);

	not ->op = TEST_NOT;
	not ->left = t;
	return not ;
}

/* ---- conditions ---- */

/* collects facts about a condition's parts */
struct survey {
	struct arena *arena;
	struct error *e;
	size_t operators, operands, path_count;
	struct path *paths; /* NULL: only count them */
};

static bool check_value(struct arena *a, struct value v, struct error *e)
{
	struct slice why;

	if (value_is_allowed(v, a, e))
		return true;
	why = e->message;
	return error_set(e, a, ERR_VALIDATION, "ExpressionAttributeValues contains invalid value: %.*s", SLICE_ARG(why));
}

static bool survey_operand(struct survey *s, const struct operand *o)
{
	s->operands += 1 + (o->is_path ? o->path.count / STEPS_OF_OPERAND : 0);
	s->operators += o->is_size;
	if (!o->is_path)
		return s->paths || check_value(s->arena, o->value, s->e);
	if (s->paths)
		s->paths[s->path_count] = o->path;
	s->path_count++;
	return true;
}

static bool survey_test(struct survey *s, const struct test *t)
{
	s->operators++;
	for (size_t i = 0; i < t->arg_count; i++)
		if (!survey_operand(s, &t->args[i]))
			return false;
	return (!t->left || survey_test(s, t->left)) && (!t->right || survey_test(s, t->right));
}

static bool check_size(struct arena *a, const char *label, const struct condition *c, const struct update *u,
		       size_t operands, struct error *e)
{
	struct expr_printer p;
	struct buf text;

	if (operands * OPERAND_TEXT <= EXPR_SIZE_MAX)
		return true;
	buf_init(&text, a);
	expr_printer_init(&p, a, &text);
	p.only_text = true;
	if (c)
		expr_print_condition(&p, c);
	else
		expr_print_update(&p, u);
	return text.n <= EXPR_SIZE_MAX || expr_refuse_size(a, label, text.n, e);
}

bool condition_of(struct arena *a, enum condition_label label, const struct test *root, const struct condition **out,
		  struct error *e)
{
	const char *name = condition_label_name(label);
	struct condition *c = arena_new(a, struct condition);
	struct survey s = { .arena = a, .e = e };

	if (!survey_test(&s, root))
		return false;
	if (s.operators > EXPR_OPERATORS_MAX)
		return expr_refuse_operators(a, name, e);
	c->root = root;
	c->path_count = s.path_count;
	c->paths = s.paths = arena_alloc(a, s.path_count * sizeof(*s.paths) + 1);
	s.path_count = 0;
	(void)!survey_test(&s, root);
	*out = c;
	return check_size(a, name, c, NULL, s.operands, e);
}

/* ---- updates ---- */

static bool check_part(struct arena *a, const struct action *action, struct error *e)
{
	return action->kind == ACTION_REMOVE || (check_value(a, action->source.value, e) &&
						 (action->kind == ACTION_SET || update_check_added(a, action, e)));
}

bool update_of(struct arena *a, const struct update_part *parts, size_t n, const struct update **out, struct error *e)
{
	struct update *u = arena_new(a, struct update);
	struct action *actions = arena_array(a, struct action, n);
	struct path_step *steps = arena_array(a, struct path_step, n);
	struct path *paths = arena_array(a, struct path, n);

	for (size_t i = 0; i < n; i++) {
		actions[i] = (struct action){ .kind = parts[i].kind,
					      .source = { .kind = SOURCE_VALUE, .value = parts[i].value } };
		steps[i].name = parts[i].name;
		paths[i] = (struct path){ &steps[i], 1 };
		if (!check_part(a, &actions[i], e))
			return false;
	}
	u->actions = actions;
	u->paths = paths;
	u->count = n;
	u->sorted = path_sorted(a, paths, n);
	*out = u;
	for (size_t i = 1; i < n; i++)
		if (!path_cmp(u->sorted[i - 1], u->sorted[i]))
			return path_check_apart(a, "UpdateExpression", paths, n, e);
	return check_size(a, "UpdateExpression", NULL, u, 2 * n, e);
}
