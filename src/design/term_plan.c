/* Terms that are asked of many items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term_plan.h"
#include "design/term_internal.h"

enum how {
	BY_SCOPE, /* as any term is evaluated */
	ONCE,     /* the same, but for all items together */
	LITERAL,
	PLACE,    /* a path: the value at its place, or what is inside it */
	HERE,     /* a condition whose parts are planned */
};

struct node {
	enum how how;
	const struct term *term;
	size_t place;            /* PLACE */
	size_t known;            /* ONCE: where it is remembered */
	const struct node *args; /* HERE: as many as the term has */
};

struct term_plan {
	struct node root;
	size_t known_count;
};

/* A node is asked either for its value or whether it holds, so one of the two is there. */
struct term_known {
	bool known, holds;
	struct value value;
};

/* ---- making one ---- */

struct planning {
	struct arena *arena;
	term_place *place;
	void *ctx;
	size_t known_count;
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

static bool is_taken_apart(enum term_kind kind)
{
	switch (kind) {
	case TERM_AND:
	case TERM_OR:
	case TERM_NOT:
	case TERM_EQ:
	case TERM_NE:
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE:
	case TERM_IN:
	case TERM_BETWEEN:
	case TERM_PRESENT:
	case TERM_ABSENT:
	case TERM_BEGINS:
	case TERM_CONTAINS: return true;
	default: return false;
	}
}

static struct node plan(struct planning *x, const struct term *t)
{
	struct node n = { .how = BY_SCOPE, .term = t };
	struct node *args;

	if (t->kind == TERM_LITERAL) {
		n.how = LITERAL;
	} else if (t->kind == TERM_PATH) {
		n.place = x->place(x->ctx, t->names, t->name_count);
		n.how = n.place == TERM_NO_PLACE ? BY_SCOPE : PLACE;
	} else if (!looks_at_paths(t)) {
		n.how = ONCE;
		n.known = x->known_count++;
	} else if (is_taken_apart(t->kind)) {
		args = arena_array(x->arena, struct node, t->arg_count);
		for (size_t i = 0; i < t->arg_count; i++)
			args[i] = plan(x, t->args[i]);
		n.how = HERE;
		n.args = args;
	}
	return n;
}

const struct term_plan *term_plan_new(struct arena *a, const struct term *t, term_place *place, void *ctx)
{
	struct planning x = { .arena = a, .place = place, .ctx = ctx };
	struct term_plan *p = arena_new(a, struct term_plan);

	p->root = plan(&x, t);
	p->known_count = x.known_count;
	return p;
}

/* ---- asking ---- */

void term_asking_init(struct term_asking *q, const struct term_plan *plan_, const struct term_scope *scope)
{
	*q = (struct term_asking){ .plan = plan_, .scope = scope };
	q->known = arena_array(scope->arena, struct term_known, plan_->known_count);
}

static struct value at_place(const struct node *n, const struct value *places)
{
	struct value v = places[n->place];

	for (size_t i = 1; i < n->term->name_count; i++)
		v = value_get(v, n->term->names[i]);
	return v;
}

static bool value_of(struct term_asking *q, const struct node *n, const struct value *places, struct value *out,
		     struct error *e)
{
	struct term_known *k;

	switch (n->how) {
	case LITERAL: *out = n->term->value; return true;
	case PLACE: *out = at_place(n, places); return true;
	case ONCE:
		k = &q->known[n->known];
		if (!k->known && !term_value(n->term, q->scope, &k->value, e))
			return false;
		k->known = true;
		*out = k->value;
		return true;
	case BY_SCOPE:
	case HERE: break; /* a condition as a value: true or false */
	}
	return term_value(n->term, q->scope, out, e);
}

static bool is_in(struct term_asking *q, const struct node *n, const struct value *places, bool *out, struct error *e)
{
	struct value x, y;

	*out = false;
	if (!value_of(q, &n->args[0], places, &x, e))
		return false;
	for (size_t i = 1; i < n->term->arg_count && !*out; i++) {
		if (!value_of(q, &n->args[i], places, &y, e))
			return false;
		*out = term_compare(TERM_EQ, x, y);
	}
	return true;
}

static bool compared(struct term_asking *q, const struct node *n, const struct value *places, bool *out, struct error *e)
{
	struct value v[TERM_COMPARED_MOST] = { VALUE_ABSENT };

	for (size_t i = 0; i < n->term->arg_count && i < TERM_COMPARED_MOST; i++)
		if (!value_of(q, &n->args[i], places, &v[i], e))
			return false;
	*out = term_compared(n->term->kind, v);
	return true;
}

static bool holds(struct term_asking *q, const struct node *n, const struct value *places, bool *out, struct error *e);

static bool taken_apart(struct term_asking *q, const struct node *n, const struct value *places, bool *out, struct error *e)
{
	switch (n->term->kind) {
	case TERM_AND:
	case TERM_OR:
		if (!holds(q, &n->args[0], places, out, e))
			return false;
		return *out == (n->term->kind == TERM_OR) || holds(q, &n->args[1], places, out, e);
	case TERM_NOT:
		if (!holds(q, &n->args[0], places, out, e))
			return false;
		*out = !*out;
		return true;
	case TERM_IN: return is_in(q, n, places, out, e);
	default: return compared(q, n, places, out, e);
	}
}

static bool holds(struct term_asking *q, const struct node *n, const struct value *places, bool *out, struct error *e)
{
	struct term_known *k;
	struct value v;

	switch (n->how) {
	case HERE: return taken_apart(q, n, places, out, e);
	case ONCE:
		k = &q->known[n->known];
		if (!k->known && !term_holds(n->term, q->scope, &k->holds, e))
			return false;
		k->known = true;
		*out = k->holds;
		return true;
	case PLACE:
		v = at_place(n, places);
		*out = value_type(v) == VALUE_BOOL && value_bool(v);
		return true;
	case LITERAL:
	case BY_SCOPE: break;
	}
	return term_holds(n->term, q->scope, out, e);
}

bool term_ask(struct term_asking *q, const struct value *places, bool *out, struct error *e)
{
	return holds(q, &q->plan->root, places, out, e);
}
