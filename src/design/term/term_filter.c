/* Terms as DynamoDB's conditions and filters.
 *
 * Parts that do not read the item are evaluated first. DynamoDB has no constants true and false, and refuses
 * comparisons whose values can never match (x < true, bounds in the wrong order, an attribute with itself). So every
 * part is either known now and disappears, or becomes tests that DynamoDB takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_parts.h"
#include "expr/build.h"
#include "expr/path.h"

/* The result of a part: an error, a known truth, or a test. */
enum outcome { FAILED, FALSE, TRUE, TEST };

struct writer {
	struct arena *arena;
	const struct term_scope *scope;
	struct error *e;
};

static enum outcome known_outcome(bool holds)
{
	return holds ? TRUE : FALSE;
}

static enum outcome test_made(const struct test **out, const struct test *t)
{
	*out = t;
	return TEST;
}

/* address.zip, lines[0].sku */
static const struct path *path_of(struct writer *w, const struct term *t)
{
	struct path_step *steps = arena_array(w->arena, struct path_step, t->name_count);
	struct path *p = arena_new(w->arena, struct path);

	for (size_t i = 0; i < t->name_count; i++) {
		steps[i] = (struct path_step){ .name = t->names[i] };
		if (term_is_element(t->names[i]))
			steps[i] = (struct path_step){ .is_index = true, .index = term_element(t->names[i]) };
	}
	*p = (struct path){ steps, t->name_count };
	return p;
}

static bool read_operand(struct writer *w, const struct term *t, struct test_operand *out)
{
	const struct term *of = t->kind == TERM_PATH ? t : t->arg_count ? t->args[0] : NULL;

	*out = (struct test_operand){ 0 };
	if (!term_reads_item(t))
		return term_value(t, w->scope, &out->value, w->e);
	out->size = t->kind != TERM_PATH;
	out->name = of->names[0];
	if (of->name_count > 1)
		out->path = path_of(w, of);
	return true;
}

static bool is_value(const struct test_operand *o)
{
	return !o->name.n;
}

static bool is_absent(const struct test_operand *o)
{
	return is_value(o) && !value_present(o->value);
}

static bool is_same(const struct test_operand *x, const struct test_operand *y)
{
	if (is_value(x) || is_value(y) || x->size || y->size || !slice_equal(x->name, y->name))
		return false;
	return x->path && y->path ? path_cmp(x->path, y->path) == 0 : x->path == y->path;
}

static enum outcome make_test(struct writer *w, enum test_op op, const struct test_operand *x,
			      const struct test_operand *y, const struct test **out)
{
	struct test_operand both[2] = { *x };

	if (y)
		both[1] = *y;
	return test_made(out, test_of(w->arena, op, both, y ? 2 : 1));
}

/* The attribute is of one of these types, as of "SB". */
static enum outcome make_types(struct writer *w, const struct test_operand *x, const char *types,
			       const struct test **out)
{
	const struct test *all = NULL;
	struct test_operand both[2] = { *x };

	for (const char *t = types; *t; t++) {
		both[1] = test_value(value_make_s(w->arena, slice_make(t, 1)));
		all = test_join(w->arena, TEST_OR, all, test_of(w->arena, TEST_TYPE, both, 2));
	}
	return test_made(out, all);
}

/* ---- comparisons ---- */

static const enum test_op ops[] = { [TERM_EQ] = TEST_EQ, [TERM_NE] = TEST_NE, [TERM_LT] = TEST_LT,
				    [TERM_LE] = TEST_LE, [TERM_GT] = TEST_GT, [TERM_GE] = TEST_GE };

static enum outcome compare_same(struct writer *w, enum term_kind op, const struct test_operand *x,
				 const struct test **out)
{
	switch (op) {
	case TERM_EQ: return make_test(w, TEST_EXISTS, x, NULL, out);
	case TERM_NE: return make_test(w, TEST_NOT_EXISTS, x, NULL, out);
	case TERM_LE:
	case TERM_GE: return make_types(w, x, "SNB", out);
	default: return FALSE;
	}
}

/* Whether DynamoDB takes the operand in a comparison by order: it refuses what has none. */
static bool may_have_order(const struct test_operand *o)
{
	return !is_value(o) || term_is_ordered(o->value);
}

static enum outcome compare_operands(struct writer *w, enum term_kind op, const struct test_operand *x,
				     const struct test_operand *y, const struct test **out)
{
	bool equality = op == TERM_EQ || op == TERM_NE;

	if (is_value(x) && is_value(y))
		return known_outcome(term_compare(op, x->value, y->value));
	if (is_absent(x) || is_absent(y))
		return known_outcome(op == TERM_NE);
	if (!equality && (!may_have_order(x) || !may_have_order(y)))
		return FALSE;
	if (is_same(x, y))
		return compare_same(w, op, x, out);
	return make_test(w, ops[op], x, y, out);
}

/* Both hold, or either. A known side decides, or is left out. */
static enum outcome join_outcomes(struct writer *w, enum test_op op, const enum outcome o[2],
				  const struct test *const t[2], const struct test **out)
{
	enum outcome decides = op == TEST_AND ? FALSE : TRUE;

	if (o[0] == decides || o[1] == decides)
		return decides;
	if (o[0] != TEST && o[1] != TEST)
		return o[0];
	return test_made(out, test_join(w->arena, op, o[0] == TEST ? t[0] : NULL, o[1] == TEST ? t[1] : NULL));
}

static enum outcome make_between(struct writer *w, const struct test_operand x[3], const struct test **out)
{
	const struct test *t[2];
	enum outcome o[2];

	for (int i = 0; i < 3; i++)
		if (!may_have_order(&x[i]))
			return FALSE;
	if (is_value(&x[1]) && is_value(&x[2]) && !term_compare(TERM_LE, x[1].value, x[2].value))
		return FALSE;
	if (!is_same(&x[0], &x[1]) && !is_same(&x[0], &x[2]))
		return test_made(out, test_of(w->arena, TEST_BETWEEN, x, 3));
	o[0] = compare_operands(w, TERM_GE, &x[0], &x[1], &t[0]);
	o[1] = compare_operands(w, TERM_LE, &x[0], &x[2], &t[1]);
	return join_outcomes(w, TEST_AND, o, t, out);
}

/* x[0] is one of the others, of which there are n - 1. */
static enum outcome make_in(struct writer *w, struct test_operand *x, size_t n, const struct test **out)
{
	size_t left = 1;

	if (is_absent(&x[0]))
		return FALSE;
	for (size_t i = 1; i < n; i++) {
		if (is_same(&x[0], &x[i]))
			return make_test(w, TEST_EXISTS, &x[0], NULL, out);
		if (is_absent(&x[i]))
			continue;
		if (is_value(&x[0]) && is_value(&x[i])) {
			if (value_equal(x[0].value, x[i].value))
				return TRUE;
			continue;
		}
		x[left++] = x[i];
	}
	return left == 1 ? FALSE : test_made(out, test_of(w->arena, TEST_IN, x, left));
}

/* begins_with and contains are never true of these. */
static bool never_begins(const struct test_operand *o)
{
	enum value_type t = value_type(o->value);

	return o->size || (is_value(o) && t != VALUE_S && t != VALUE_B);
}

static bool never_contains(const struct test_operand *in_, const struct test_operand *what)
{
	if (in_->size || is_absent(what))
		return true;
	if (!is_value(in_))
		return false;
	switch (value_type(in_->value)) {
	case VALUE_NONE:
	case VALUE_N:
	case VALUE_BOOL:
	case VALUE_NULL:
	case VALUE_M: return true;
	default: return false;
	}
}

static enum outcome make_present(struct writer *w, const struct test_operand *x, bool wanted, const struct test **out)
{
	struct test_operand zero;

	if (is_value(x))
		return known_outcome(value_present(x->value) == wanted);
	if (!x->size)
		return make_test(w, wanted ? TEST_EXISTS : TEST_NOT_EXISTS, x, NULL, out);
	/* size(x) >= 0 holds exactly if x has a size. */
	zero = test_value(value_make_i64(w->arena, 0));
	make_test(w, TEST_GE, x, &zero, out);
	return wanted ? TEST : test_made(out, test_not(w->arena, *out));
}

static enum outcome make_comparison(struct writer *w, const struct term *t, const struct test **out)
{
	struct test_operand *x = arena_array(w->arena, struct test_operand, t->arg_count);

	for (size_t i = 0; i < t->arg_count; i++)
		if (!read_operand(w, t->args[i], &x[i]))
			return FAILED;
	switch (t->kind) {
	case TERM_IN: return make_in(w, x, t->arg_count, out);
	case TERM_BETWEEN: return make_between(w, x, out);
	case TERM_PRESENT:
	case TERM_ABSENT: return make_present(w, &x[0], t->kind == TERM_PRESENT, out);
	case TERM_BEGINS:
		if (never_begins(&x[0]) || never_begins(&x[1]))
			return FALSE;
		return is_same(&x[0], &x[1]) ? make_types(w, &x[0], "SB", out)
					     : make_test(w, TEST_BEGINS_WITH, &x[0], &x[1], out);
	case TERM_CONTAINS:
		if (never_contains(&x[0], &x[1]))
			return FALSE;
		return is_same(&x[0], &x[1]) ? make_types(w, &x[0], "SB", out)
					     : make_test(w, TEST_CONTAINS, &x[0], &x[1], out);
	default: return compare_operands(w, t->kind, &x[0], &x[1], out);
	}
}

/* ---- logic ---- */

static enum outcome make_condition(struct writer *w, const struct term *t, const struct test **out);

static enum outcome make_not(struct writer *w, const struct term *t, const struct test **out)
{
	enum outcome o;

	if (t->args[0]->kind == TERM_NOT)
		return make_condition(w, t->args[0]->args[0], out);
	o = make_condition(w, t->args[0], out);
	if (o == TEST)
		return test_made(out, test_not(w->arena, *out));
	return o == FAILED ? o : known_outcome(o == FALSE);
}

/* If the left side decides, the right side is not evaluated. */
static enum outcome make_logic(struct writer *w, const struct term *t, const struct test **out)
{
	enum outcome decides = t->kind == TERM_AND ? FALSE : TRUE, o[2];
	const struct test *sides[2];

	o[0] = make_condition(w, t->args[0], &sides[0]);
	if (o[0] == FAILED || o[0] == decides)
		return o[0];
	o[1] = make_condition(w, t->args[1], &sides[1]);
	return o[1] == FAILED ? FAILED : join_outcomes(w, t->kind == TERM_AND ? TEST_AND : TEST_OR, o, sides, out);
}

static enum outcome make_condition(struct writer *w, const struct term *t, const struct test **out)
{
	struct test_operand x, yes;
	bool holds;

	if (!term_reads_item(t))
		return term_holds(t, w->scope, &holds, w->e) ? known_outcome(holds) : FAILED;
	switch (t->kind) {
	case TERM_AND:
	case TERM_OR: return make_logic(w, t, out);
	case TERM_NOT: return make_not(w, t, out);
	case TERM_PATH:
		yes = test_value(value_make_bool(w->arena, true));
		return read_operand(w, t, &x) ? compare_operands(w, TERM_EQ, &x, &yes, out) : FAILED;
	case TERM_CALL: return FALSE; /* a size is not true */
	default: return make_comparison(w, t, out);
	}
}

/* DynamoDB has no constants: an attribute that no item has is there, or not there, or both. */
static const struct test *test_known(struct arena *a, bool holds)
{
	static const struct slice none = { "thorpe:none", sizeof("thorpe:none") - 1 };
	const struct test *absent = test_attribute(a, TEST_NOT_EXISTS, none, VALUE_ABSENT);

	return holds ? absent : test_join(a, TEST_AND, absent, test_attribute(a, TEST_EXISTS, none, VALUE_ABSENT));
}

bool term_to_test(const struct term *t, const struct term_scope *s, const struct test **out, const char **why,
		  struct error *e)
{
	struct writer w = { s->arena, s, e };
	enum outcome o;

	*why = NULL;
	if (!term_can_filter(t, why))
		return false;
	o = make_condition(&w, t, out);
	if (o == TRUE || o == FALSE)
		*out = test_known(w.arena, o == TRUE);
	return o != FAILED;
}
