/* Terms that are asked of many items.
 *
 * A plan is a list of tests. Each says where to go on when it holds and when it does not, so that `and`, `or` and `not` are gone
 * when it is asked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term_plan.h"
#include "design/term_internal.h"

enum how {
	LITERAL,
	PLACE,    /* a path: the value at its place, or what is inside it */
	BY_SCOPE, /* as any term is evaluated */
	ONCE,     /* the same, but for all items together */
};

struct operand {
	enum how how;
	const struct term *term;
	struct value literal; /* LITERAL */
	size_t place;         /* PLACE */
	size_t known;         /* ONCE: where it is remembered */
};

enum what {
	EQUAL,    /* operands[0] and [1] … */
	UNEQUAL,  /* … or not */
	IS_TRUE,  /* operands[0] */
	IN,       /* operands[0] is one of the others */
	COMPARED, /* as term_compared() says */
};

#define YES UINT32_MAX /* the answers, where a test's number would stand */
#define NO (UINT32_MAX - 1)

struct plan_test {
	enum what what;
	enum term_kind kind;   /* COMPARED */
	uint32_t next[2];      /* the test that follows; or the answer */
	const struct operand *operands;
	size_t operand_count;
};

struct term_plan {
	struct plan_test *tests;
	size_t test_count, test_room;
	uint32_t first;
	size_t known_count;
};

/* An operand is asked either for its value or whether it holds, so one of the two is there. */
struct term_known {
	bool known, holds;
	struct value value;
};

/* ---- making one ---- */

struct planning {
	struct arena *arena;
	term_place *place;
	void *ctx;
	struct term_plan *plan;
};

static void look_for_path(void *ctx, const struct term *t)
{
	bool *any = ctx;

	*any = *any || t->kind == TERM_PATH;
}

static bool looks_at_paths(const struct term *t)
{
	bool any = false;

	term_walk(t, look_for_path, &any);
	return any;
}

static struct operand operand_of(struct planning *x, const struct term *t)
{
	struct operand o = { .how = BY_SCOPE, .term = t };

	if (t->kind == TERM_LITERAL) {
		o.how = LITERAL;
		o.literal = t->value;
	} else if (t->kind == TERM_PATH) {
		o.place = x->place(x->ctx, t->names, t->name_count);
		o.how = o.place == TERM_NO_PLACE ? BY_SCOPE : PLACE;
	} else if (!looks_at_paths(t)) {
		o.how = ONCE;
		o.known = x->plan->known_count++;
	}
	return o;
}

static enum what what_of(enum term_kind kind)
{
	switch (kind) {
	case TERM_EQ: return EQUAL;
	case TERM_NE: return UNEQUAL;
	case TERM_IN: return IN;
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE:
	case TERM_BETWEEN:
	case TERM_PRESENT:
	case TERM_ABSENT:
	case TERM_BEGINS:
	case TERM_CONTAINS: return COMPARED;
	default: return IS_TRUE;
	}
}

static uint32_t add_test(struct planning *x, const struct term *t, uint32_t yes, uint32_t no)
{
	struct plan_test test = { .what = looks_at_paths(t) ? what_of(t->kind) : IS_TRUE, .kind = t->kind, .next = { no, yes } };
	struct term_plan *p = x->plan;
	struct operand *operands;

	test.operand_count = test.what == IS_TRUE ? 1 : t->arg_count;
	operands = arena_array(x->arena, struct operand, test.operand_count);
	for (size_t i = 0; i < test.operand_count; i++)
		operands[i] = operand_of(x, test.what == IS_TRUE ? t : t->args[i]);
	test.operands = operands;
	if (p->test_count == p->test_room) {
		size_t room = p->test_room ? 2 * p->test_room : 8;

		p->tests = arena_grow(x->arena, p->tests, p->test_room * sizeof(*p->tests), room * sizeof(*p->tests));
		p->test_room = room;
	}
	p->tests[p->test_count] = test;
	return (uint32_t)p->test_count++;
}

/* From the end to the beginning: where to begin, when it is known where to go on. */
static uint32_t plan(struct planning *x, const struct term *t, uint32_t yes, uint32_t no)
{
	if (looks_at_paths(t)) {
		if (t->kind == TERM_AND)
			return plan(x, t->args[0], plan(x, t->args[1], yes, no), no);
		if (t->kind == TERM_OR)
			return plan(x, t->args[0], yes, plan(x, t->args[1], yes, no));
		if (t->kind == TERM_NOT)
			return plan(x, t->args[0], no, yes);
	}
	return add_test(x, t, yes, no);
}

const struct term_plan *term_plan_new(struct arena *a, const struct term *t, term_place *place, void *ctx)
{
	struct planning x = { a, place, ctx, arena_new(a, struct term_plan) };

	x.plan->first = plan(&x, t, YES, NO);
	return x.plan;
}

/* ---- asking ---- */

void term_asking_init(struct term_asking *q, const struct term_plan *p, const struct term_scope *scope)
{
	*q = (struct term_asking){ .plan = p, .scope = scope };
	q->known = arena_array(scope->arena, struct term_known, p->known_count);
}

static inline struct value at_place(const struct operand *o, const struct value *places)
{
	struct value v = places[o->place];

	for (size_t i = 1; i < o->term->name_count; i++)
		v = value_get(v, o->term->names[i]);
	return v;
}

static bool other_value(struct term_asking *q, const struct operand *o, struct value *out, struct error *e)
{
	struct term_known *k;

	if (o->how != ONCE)
		return term_value(o->term, q->scope, out, e);
	k = &q->known[o->known];
	if (!k->known && !term_value(o->term, q->scope, &k->value, e))
		return false;
	k->known = true;
	*out = k->value;
	return true;
}

static inline bool value_of(struct term_asking *q, const struct operand *o, const struct value *places, struct value *out,
			    struct error *e)
{
	if (o->how > PLACE)
		return other_value(q, o, out, e);
	*out = o->how == PLACE ? at_place(o, places) : o->literal;
	return true;
}

/* Most values that are compared are short: two words that overlap, instead of a call. */
static inline bool is_same(struct value x, struct value y)
{
	uint64_t a[2], b[2];
	uint16_t c[2], d[2];

	if (x.n != y.n || !value_present(x) || !value_present(y))
		return false;
	if (x.n >= 8 && x.n <= 16) {
		memcpy(&a[0], x.p, 8);
		memcpy(&a[1], x.p + x.n - 8, 8);
		memcpy(&b[0], y.p, 8);
		memcpy(&b[1], y.p + x.n - 8, 8);
		return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
	}
	if (x.n >= 2 && x.n <= 4) { /* true and false, and small numbers */
		memcpy(&c[0], x.p, 2);
		memcpy(&c[1], x.p + x.n - 2, 2);
		memcpy(&d[0], y.p, 2);
		memcpy(&d[1], y.p + x.n - 2, 2);
		return ((c[0] ^ d[0]) | (c[1] ^ d[1])) == 0;
	}
	return value_equal(x, y);
}

static bool is_in(struct term_asking *q, const struct plan_test *t, const struct value *places, bool *out, struct error *e)
{
	struct value x, y;

	*out = false;
	if (!value_of(q, &t->operands[0], places, &x, e))
		return false;
	for (size_t i = 1; i < t->operand_count && !*out; i++) {
		if (!value_of(q, &t->operands[i], places, &y, e))
			return false;
		*out = is_same(x, y);
	}
	return true;
}

static bool compared(struct term_asking *q, const struct plan_test *t, const struct value *places, bool *out, struct error *e)
{
	struct value v[TERM_COMPARED_MOST] = { VALUE_ABSENT };

	for (size_t i = 0; i < t->operand_count && i < TERM_COMPARED_MOST; i++)
		if (!value_of(q, &t->operands[i], places, &v[i], e))
			return false;
	*out = term_compared(t->kind, v);
	return true;
}

static bool is_true(struct term_asking *q, const struct operand *o, const struct value *places, bool *out, struct error *e)
{
	struct term_known *k;
	struct value v;

	if (o->how == ONCE) {
		k = &q->known[o->known];
		if (!k->known && !term_holds(o->term, q->scope, &k->holds, e))
			return false;
		k->known = true;
		*out = k->holds;
		return true;
	}
	if (o->how == BY_SCOPE)
		return term_holds(o->term, q->scope, out, e);
	v = o->how == PLACE ? at_place(o, places) : o->literal;
	*out = value_type(v) == VALUE_BOOL && value_bool(v);
	return true;
}

static inline bool try(struct term_asking *q, const struct plan_test *t, const struct value *places, bool *out, struct error *e)
{
	struct value x, y;

	switch (t->what) {
	case EQUAL:
	case UNEQUAL:
		if (!value_of(q, &t->operands[0], places, &x, e) || !value_of(q, &t->operands[1], places, &y, e))
			return false;
		*out = is_same(x, y) == (t->what == EQUAL);
		return true;
	case IS_TRUE: return is_true(q, &t->operands[0], places, out, e);
	case IN: return is_in(q, t, places, out, e);
	case COMPARED: break;
	}
	return compared(q, t, places, out, e);
}

bool term_ask(struct term_asking *q, const struct value *places, bool *out, struct error *e)
{
	const struct plan_test *tests = q->plan->tests;
	uint32_t at = q->plan->first;
	bool holds;

	while (at < NO) {
		if (!try(q, &tests[at], places, &holds, e))
			return false;
		at = tests[at].next[holds];
	}
	*out = at == YES;
	return true;
}
