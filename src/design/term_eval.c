/* Evaluates terms over attribute values. Nothing here trusts types: what does not fit is false or
 * absent, as in DynamoDB, and only arithmetic complains.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"
#include "design/term_internal.h"

/* Where a sum or product needs more digits than a number has, its operands are rounded first. */
#define DIGITS_OF_SUM 37
#define DIGITS_OF_FACTOR 19

#define DAY_MS INT64_C(86400000)
#define DAYS_MAX 10000000 /* far beyond the years a timestamp knows */

/* ---- comparisons ---- */

bool term_compare(enum term_kind op, struct value x, struct value y)
{
	bool equal = value_present(x) && value_present(y) && value_equal(x, y);
	int c;

	if (op == TERM_EQ || op == TERM_NE)
		return equal == (op == TERM_EQ);
	if (!term_is_ordered(x) || value_type(x) != value_type(y))
		return false;
	c = value_cmp(x, y);
	switch (op) {
	case TERM_LT: return c < 0;
	case TERM_LE: return c <= 0;
	case TERM_GT: return c > 0;
	default: return c >= 0;
	}
}

bool term_begins(struct value x, struct value prefix)
{
	enum value_type t = value_type(x);

	return t == value_type(prefix) && (t == VALUE_S || t == VALUE_B) &&
	       slice_starts(value_bytes(x), value_bytes(prefix));
}

static bool has_bytes(struct slice in, struct slice what)
{
	return what.n == 0 || (in.n >= what.n && memmem(in.p, in.n, what.p, what.n));
}

static bool has_element(struct value list, struct value what)
{
	struct value_iter it = value_iter(list);

	while (value_next(&it))
		if (value_equal(it.value, what))
			return true;
	return false;
}

bool term_contains(struct value in, struct value what)
{
	enum value_type t = value_type(what);

	if (t == VALUE_NONE)
		return false;
	switch (value_type(in)) {
	case VALUE_S: return t == VALUE_S && has_bytes(value_bytes(in), value_bytes(what));
	case VALUE_B: return t == VALUE_B && has_bytes(value_bytes(in), value_bytes(what));
	case VALUE_SS: return t == VALUE_S && value_set_has(in, value_bytes(what));
	case VALUE_NS: return t == VALUE_N && value_set_has(in, value_bytes(what));
	case VALUE_BS: return t == VALUE_B && value_set_has(in, value_bytes(what));
	case VALUE_L: return has_element(in, what);
	default: return false;
	}
}

bool term_compared(enum term_kind op, const struct value v[TERM_COMPARED_MOST])
{
	switch (op) {
	case TERM_PRESENT: return value_present(v[0]);
	case TERM_ABSENT: return !value_present(v[0]);
	case TERM_BEGINS: return term_begins(v[0], v[1]);
	case TERM_CONTAINS: return term_contains(v[0], v[1]);
	case TERM_BETWEEN: return term_compare(TERM_GE, v[0], v[1]) && term_compare(TERM_LE, v[0], v[2]);
	default: return term_compare(op, v[0], v[1]);
	}
}

/* ---- arithmetic ---- */

static const char *verb_of(enum term_kind op)
{
	switch (op) {
	case TERM_ADD: return "added";
	case TERM_SUB: return "subtracted";
	case TERM_MUL: return "multiplied";
	case TERM_DIV: return "divided";
	default: return "negated";
	}
}

/* Both rounded to so many digits, or to the same place when they are to be added. */
static bool round_both(struct number *x, struct number *y, bool product, struct arena *a,
		       struct error *e)
{
	int top_x = number_top(x), top_y = number_top(y);
	int top = top_x > top_y ? top_x : top_y;
	int at_x = product ? top_x - DIGITS_OF_FACTOR + 1 : top - DIGITS_OF_SUM + 1;
	int at_y = product ? top_y - DIGITS_OF_FACTOR + 1 : at_x;

	return number_round(x, at_x, x, a, e) && number_round(y, at_y, y, a, e);
}

static bool compute(enum term_kind op, const struct number *x, const struct number *y,
		    struct number *out, struct arena *a, struct error *e)
{
	switch (op) {
	case TERM_ADD: return number_add(x, y, out, a, e);
	case TERM_NEGATE: /* from zero */
	case TERM_SUB: return number_sub(x, y, out, a, e);
	case TERM_MUL: return number_mul(x, y, out, a, e);
	default: return number_div(x, y, out, a, e);
	}
}

static struct value joined(struct value x, struct value y, struct arena *a)
{
	struct slice p = value_bytes(x), q = value_bytes(y);
	char *text = arena_alloc(a, p.n + q.n);

	if (p.n)
		memcpy(text, p.p, p.n);
	if (q.n)
		memcpy(text + p.n, q.p, q.n);
	return value_make_s(a, slice_make(text, p.n + q.n));
}

static bool is_zero(struct value v)
{
	return value_type(v) == VALUE_N && value_number(v).digits == 0;
}

static bool arithmetic(enum term_kind op, struct value x, struct value y, struct arena *a,
		       struct value *out, struct error *e)
{
	struct number left, right, n;

	*out = VALUE_ABSENT;
	if (!value_present(x) || !value_present(y))
		return true;
	if (op == TERM_ADD && value_type(x) == VALUE_S && value_type(y) == VALUE_S) {
		*out = joined(x, y, a);
		return true;
	}
	if (op == TERM_DIV && value_type(x) == VALUE_N && is_zero(y))
		return true;
	if (value_type(x) != VALUE_N || value_type(y) != VALUE_N)
		return error_set(e, a, ERR_VALIDATION,
				 "Only numbers can be %s, and one of these is of type %s",
				 verb_of(op),
				 value_type_name(value_type(value_type(x) == VALUE_N ? y : x)));
	left = value_number(x);
	right = value_number(y);
	if (!compute(op, &left, &right, &n, a, e)) {
		if (op == TERM_DIV || !round_both(&left, &right, op == TERM_MUL, a, e) ||
		    !compute(op, &left, &right, &n, a, e))
			return false;
	}
	*out = value_make_n(a, &n);
	return true;
}

/* ---- other items and the caller ---- */

static bool fetch(const struct term *t, const struct term_scope *s, struct value *item,
		  struct error *e)
{
	struct value *args = arena_array(s->arena, struct value, t->arg_count);

	*item = VALUE_ABSENT;
	for (size_t i = 0; i < t->arg_count; i++) {
		if (!term_value(t->args[i], s, &args[i], e))
			return false;
		if (!value_present(args[i])) /* without its whole identity there is no item */
			return true;
	}
	if (!s->fetch)
		return error_set(e, s->arena, ERR_INTERNAL, "No other item can be read here");
	return s->fetch(s->ctx, t->name, args, t->arg_count, t->attribute, item, e);
}

static bool visible(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value *args = arena_array(s->arena, struct value, t->arg_count);
	struct value item;

	*out = false;
	if (!s->visible) {
		if (!fetch(t, s, &item, e))
			return false;
		*out = value_present(item);
		return true;
	}
	for (size_t i = 0; i < t->arg_count; i++) {
		if (!term_value(t->args[i], s, &args[i], e))
			return false;
		if (!value_present(args[i]))
			return true;
	}
	return s->visible(s->ctx, t->name, args, t->arg_count, out, e);
}

static bool has_role(const struct term *t, const struct term_scope *s)
{
	if (s->caller.n == 0)
		return false;
	return slice_is(t->name, "user") || (s->has_role && s->has_role(s->ctx, t->name));
}

static bool may(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value permission;

	if (!term_value(t->args[0], s, &permission, e))
		return false;
	*out = s->caller.n && s->may && value_type(permission) == VALUE_S &&
	       s->may(s->ctx, value_bytes(permission));
	return true;
}

/* ---- conditions ---- */

static bool is_in(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value x, y;

	*out = false;
	if (!term_value(t->args[0], s, &x, e))
		return false;
	for (size_t i = 1; i < t->arg_count && !*out; i++) {
		if (!term_value(t->args[i], s, &y, e))
			return false;
		*out = term_compare(TERM_EQ, x, y);
	}
	return true;
}

static bool compared(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value v[TERM_COMPARED_MOST] = { VALUE_ABSENT };

	for (size_t i = 0; i < t->arg_count && i < TERM_COMPARED_MOST; i++)
		if (!term_value(t->args[i], s, &v[i], e))
			return false;
	*out = term_compared(t->kind, v);
	return true;
}

static bool is_condition(enum term_kind kind)
{
	switch (kind) {
	case TERM_LITERAL:
	case TERM_PATH:
	case TERM_NOW:
	case TERM_TODAY:
	case TERM_CALLER:
	case TERM_NEGATE:
	case TERM_ADD:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_DIV:
	case TERM_FETCH:
	case TERM_CALL: return false;
	default: return true;
	}
}

bool term_holds(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value v;

	switch (t->kind) {
	case TERM_ALWAYS:
	case TERM_NEVER: *out = t->kind == TERM_ALWAYS; return true;
	case TERM_AND:
	case TERM_OR:
		if (!term_holds(t->args[0], s, out, e))
			return false;
		return *out == (t->kind == TERM_OR) || term_holds(t->args[1], s, out, e);
	case TERM_NOT:
		if (!term_holds(t->args[0], s, out, e))
			return false;
		*out = !*out;
		return true;
	case TERM_IN: return is_in(t, s, out, e);
	case TERM_IS_ROLE: *out = has_role(t, s); return true;
	case TERM_MAY: return may(t, s, out, e);
	case TERM_EXISTS:
		if (!fetch(t, s, &v, e))
			return false;
		*out = value_present(v);
		return true;
	case TERM_VISIBLE: return visible(t, s, out, e);
	default: break;
	}
	if (is_condition(t->kind))
		return compared(t, s, out, e);
	if (!term_value(t, s, &v, e))
		return false;
	*out = value_type(v) == VALUE_BOOL && value_bool(v);
	return true;
}

/* ---- values ---- */

/* Only the chosen one is evaluated: the other may read an item. */
static bool choose(const struct term *t, const struct term_scope *s, struct value *out,
		   struct error *e)
{
	bool first;

	return term_holds(t->args[0], s, &first, e) && term_value(t->args[first ? 1 : 2], s, out, e);
}

static bool days_ago(const struct term *t, const struct term_scope *s, struct value *out,
		     struct error *e)
{
	char text[TIME_TEXT_MAX];
	struct number n;
	struct value v;
	int64_t days;

	if (!term_value(t->args[0], s, &v, e))
		return false;
	if (value_type(v) != VALUE_N)
		return true;
	n = value_number(v);
	if (number_to_i64(&n, &days) && days > -DAYS_MAX && days < DAYS_MAX)
		*out = value_make_s(s->arena, time_format(s->now_ms - days * DAY_MS, text));
	return true;
}

static bool call(const struct term *t, const struct term_scope *s, struct value *out,
		 struct error *e)
{
	struct value *args = arena_array(s->arena, struct value, t->arg_count);
	enum term_function f = term_function_find(t->name);

	if (f == CALL_CHOOSE)
		return choose(t, s, out, e);
	if (f == CALL_DAYS_AGO)
		return days_ago(t, s, out, e);
	for (size_t i = 0; i < t->arg_count; i++)
		if (!term_value(t->args[i], s, &args[i], e))
			return false;
	*out = term_call(s->arena, f, args, t->arg_count);
	return true;
}

static bool computed(const struct term *t, const struct term_scope *s, struct value *out,
		     struct error *e)
{
	struct value x, y;

	if (t->kind == TERM_NEGATE) {
		if (!term_value(t->args[0], s, &y, e))
			return false;
		return arithmetic(t->kind, value_make_i64(s->arena, 0), y, s->arena, out, e);
	}
	return term_value(t->args[0], s, &x, e) && term_value(t->args[1], s, &y, e) &&
	       arithmetic(t->kind, x, y, s->arena, out, e);
}

static bool fetched(const struct term *t, const struct term_scope *s, struct value *out,
		    struct error *e)
{
	struct value item;

	if (!fetch(t, s, &item, e))
		return false;
	*out = value_get(item, t->attribute);
	return true;
}

bool term_value(const struct term *t, const struct term_scope *s, struct value *out,
		struct error *e)
{
	char text[TIME_TEXT_MAX];
	bool holds;

	*out = VALUE_ABSENT;
	switch (t->kind) {
	case TERM_LITERAL: *out = t->value; return true;
	case TERM_PATH:
		if (s->path)
			*out = s->path(s->ctx, t->names, t->name_count);
		return true;
	case TERM_NOW: *out = value_make_s(s->arena, time_format(s->now_ms, text)); return true;
	case TERM_TODAY:
		*out = value_make_s(s->arena, time_format_date(s->now_ms, text));
		return true;
	case TERM_CALLER:
		if (s->caller.n)
			*out = value_make_s(s->arena, s->caller);
		return true;
	case TERM_NEGATE:
	case TERM_ADD:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_DIV: return computed(t, s, out, e);
	case TERM_FETCH: return fetched(t, s, out, e);
	case TERM_CALL: return call(t, s, out, e);
	default: break;
	}
	if (!term_holds(t, s, &holds, e))
		return false;
	*out = value_make_bool(s->arena, holds);
	return true;
}
