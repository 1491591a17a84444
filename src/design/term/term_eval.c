/* Evaluates terms over attribute values. Values of an unexpected type are false or absent, as in DynamoDB; only
 * arithmetic reports them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"
#include "design/row.h"
#include "design/term/regex.h"
#include "design/term/term_parts.h"

/* Where a sum or product needs more digits than a number has, its operands are rounded first. */
#define DIGITS_OF_SUM    37
#define DIGITS_OF_FACTOR 19

/* ---- comparisons ---- */

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

bool term_compare(enum term_kind op, struct value x, struct value y)
{
	int c;

	if (op == TERM_EQ || op == TERM_NE)
		return is_same(x, y) == (op == TERM_EQ);
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

#define COMPARED_MOST 3 /* arguments */

/* As term_compare(), and PRESENT, ABSENT, BEGINS, CONTAINS, BETWEEN, by the values of their arguments; absent: not
 * given. */
static bool term_compared(enum term_kind op, const struct value v[COMPARED_MOST])
{
	switch (op) {
	case TERM_PRESENT: return value_present(v[0]);
	case TERM_ABSENT: return !value_present(v[0]);
	case TERM_BEGINS: return value_begins(v[0], v[1]);
	case TERM_CONTAINS: return value_contains(v[0], v[1]);
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
static bool round_both(struct number *x, struct number *y, bool product, struct arena *a, struct error *e)
{
	int top_x = number_top(x), top_y = number_top(y);
	int top = top_x > top_y ? top_x : top_y;
	int at_x = product ? top_x - DIGITS_OF_FACTOR + 1 : top - DIGITS_OF_SUM + 1;
	int at_y = product ? top_y - DIGITS_OF_FACTOR + 1 : at_x;

	return number_round(x, at_x, x, a, e) && number_round(y, at_y, y, a, e);
}

static bool compute_number(enum term_kind op, const struct number *x, const struct number *y, struct number *out,
			   struct arena *a, struct error *e)
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

static bool arithmetic(enum term_kind op, struct value x, struct value y, struct arena *a, struct value *out,
		       struct error *e)
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
		return error_set(e, a, ERR_VALIDATION, "Only numbers can be %s, and one of these is of type %s",
				 verb_of(op), value_type_name(value_type(value_type(x) == VALUE_N ? y : x)));
	left = value_number(x);
	right = value_number(y);
	if (!compute_number(op, &left, &right, &n, a, e)) {
		if (op == TERM_DIV || !round_both(&left, &right, op == TERM_MUL, a, e) ||
		    !compute_number(op, &left, &right, &n, a, e))
			return false;
	}
	*out = value_make_n(a, &n);
	return true;
}

/* ---- paths ---- */

enum term_of term_path_of(const struct slice *names, size_t n)
{
	if (n > 1 && slice_is(names[0], "old"))
		return TERM_OF_OLD;
	return n > 1 && slice_is(names[0], "input") ? TERM_OF_INPUT : TERM_OF_ITEM;
}

/* `at` NULL: the term stands alone, and the name is looked for. */
static inline struct value in_row(const struct row *w, struct slice name, const struct name *at)
{
	if (!w)
		return VALUE_ABSENT;
	return at ? row_get(w, at) : row_find(w, name);
}

/* The lexer takes five digits at most. */
uint32_t term_element(struct slice step)
{
	uint32_t at = 0;

	for (size_t i = 1; i + 1 < step.n; i++)
		at = at * 10 + (uint32_t)(step.p[i] - '0');
	return at;
}

struct value term_inside(struct value v, const struct slice *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v = term_is_element(names[i]) ? value_at(v, term_element(names[i])) : value_get(v, names[i]);
	return v;
}

/* Nearly always of an attribute itself. */
static inline struct value below(struct value v, const struct slice *names, size_t n)
{
	return n ? term_inside(v, names, n) : v;
}

static const struct term_variable *variable(const struct term_scope *s, struct slice name, const struct name *at)
{
	for (size_t i = 0; i < s->variable_count; i++) {
		const struct term_variable *v = &s->variables[i];

		if (at && v->at ? at == v->at : slice_equal(v->name, name))
			return v;
	}
	return NULL;
}

struct value term_path(const struct term_scope *s, const struct slice *names, size_t n, enum term_of of,
		       const struct name *at)
{
	const struct term_variable *v;
	struct value found;

	if (of == TERM_OF_ELEMENT)
		return term_inside(s->element, names, n);
	if (of != TERM_OF_ITEM)
		return below(in_row(of == TERM_OF_OLD ? s->old : s->input, names[1], at), names + 2, n - 2);
	v = s->variable_count ? variable(s, names[0], at) : NULL;
	if (v)
		return below(v->value, names + 1, n - 1);
	found = in_row(s->item, names[0], at);
	if (s->reads && at)
		s->reads(s->ctx, at, found);
	if (!value_present(found) && s->input && !s->body)
		found = in_row(s->input, names[0], at);
	return below(found, names + 1, n - 1);
}

/* ---- parts with the same result for all items ---- */

static bool is_path(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_PATH;
}

static void number_parts(struct term *rule, const struct term *t)
{
	bool any = term_any(t, is_path, NULL);

	if (t->kind == TERM_LITERAL || t->kind == TERM_ALWAYS || t->kind == TERM_NEVER)
		return;
	if (!any)
		((struct term *)(uintptr_t)t)->once = ++rule->once_count; /* part of a rule that is being made */
	for (size_t i = 0; any && i < t->arg_count; i++)
		number_parts(rule, t->args[i]);
}

void term_prepare(struct term *rule)
{
	rule->once_count = 0;
	number_parts(rule, rule);
}

void term_remember(const struct term *rule, struct term_scope *s)
{
	s->known = rule->once_count ? arena_array(s->arena, struct term_known, rule->once_count + 1) : NULL;
}

static inline struct term_known *known_of(const struct term *t, const struct term_scope *s)
{
	return s->known && t->once ? &s->known[t->once] : NULL;
}

static inline bool value_of(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	if (t->kind == TERM_PATH)
		*out = term_path(s, t->names, t->name_count, t->of, t->at);
	else if (t->kind == TERM_LITERAL)
		*out = t->value;
	else
		return term_value(t, s, out, e);
	return true;
}

/* ---- other items and the caller ---- */

/* *whole: no part of the identity is absent; otherwise there is no such item. */
static bool arguments(const struct term *t, const struct term_scope *s, struct value **out, bool *whole, struct error *e)
{
	struct value *args = arena_array(s->arena, struct value, t->arg_count);

	*out = args;
	*whole = true;
	for (size_t i = 0; i < t->arg_count && *whole; i++) {
		if (!value_of(t->args[i], s, &args[i], e))
			return false;
		*whole = value_present(args[i]);
	}
	return true;
}

static bool fetch_item(const struct term *t, const struct term_scope *s, bool *there, struct value *v, struct error *e)
{
	struct value *args;
	bool whole;

	*there = false;
	*v = VALUE_ABSENT;
	if (!arguments(t, s, &args, &whole, e) || !whole)
		return !whole;
	if (!s->fetch)
		return error_set(e, s->arena, ERR_INTERNAL, "No other item can be read here");
	return s->fetch(s->ctx, t, args, there, v, e);
}

static bool see_item(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value *args, v;
	bool whole;

	if (!s->visible)
		return fetch_item(t, s, out, &v, e);
	*out = false;
	if (!arguments(t, s, &args, &whole, e) || !whole)
		return !whole;
	return s->visible(s->ctx, t, args, out, e);
}

static bool has_role(const struct term *t, const struct term_scope *s)
{
	if (s->caller.n == 0)
		return false;
	return slice_is(t->name, "user") || (s->has_role && s->has_role(s->ctx, t->name));
}

static bool caller_may(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value permission;

	if (!term_value(t->args[0], s, &permission, e))
		return false;
	*out = s->caller.n && s->may && value_type(permission) == VALUE_S && s->may(s->ctx, value_bytes(permission));
	return true;
}

/* ---- conditions ---- */

static bool is_in(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value x, y;

	*out = false;
	if (!value_of(t->args[0], s, &x, e))
		return false;
	for (size_t i = 1; i < t->arg_count && !*out; i++) {
		if (!value_of(t->args[i], s, &y, e))
			return false;
		*out = term_compare(TERM_EQ, x, y);
	}
	return true;
}

static bool evaluate_comparison(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct value v[COMPARED_MOST] = { VALUE_ABSENT };

	for (size_t i = 0; i < t->arg_count && i < COMPARED_MOST; i++)
		if (!value_of(t->args[i], s, &v[i], e))
			return false;
	*out = term_compared(t->kind, v);
	return true;
}

static bool evaluate_matches(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	enum regex_result r = REGEX_NO;
	struct value v;

	if (!value_of(t->args[0], s, &v, e))
		return false;
	if (value_type(v) == VALUE_S)
		r = regex_match(t->regex, value_bytes(v));
	*out = r == REGEX_YES;
	if (r != REGEX_UNDECIDED)
		return true;
	return error_set(e, s->arena, ERR_VALIDATION,
			 "A text could not be compared with the pattern '%.*s': it takes too long",
			 SLICE_ARG(regex_text(t->regex)));
}

static bool is_condition(enum term_kind kind)
{
	switch (kind) {
	case TERM_LITERAL:
	case TERM_PATH:
	case TERM_NOW:
	case TERM_TODAY:
	case TERM_CALLER:
	case TERM_CLAIM:
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

static bool evaluate_condition(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
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
	case TERM_MATCHES: return evaluate_matches(t, s, out, e);
	case TERM_IS_ROLE: *out = has_role(t, s); return true;
	case TERM_MAY: return caller_may(t, s, out, e);
	case TERM_EXISTS: return fetch_item(t, s, out, &v, e);
	case TERM_VISIBLE: return see_item(t, s, out, e);
	default: break;
	}
	if (is_condition(t->kind))
		return evaluate_comparison(t, s, out, e);
	if (!value_of(t, s, &v, e))
		return false;
	*out = value_type(v) == VALUE_BOOL && value_bool(v);
	return true;
}

static bool remembered(const struct term *t, const struct term_scope *s, struct term_known *k, bool *out,
		       struct error *e)
{
	if (!k->known && !evaluate_condition(t, s, &k->holds, e))
		return false;
	k->known = true;
	*out = k->holds;
	return true;
}

/* The parts of nearly all rules are handled here: `and`, `or`, and whether two values are the same. */
bool term_holds(const struct term *t, const struct term_scope *s, bool *out, struct error *e)
{
	struct term_known *k = known_of(t, s);
	struct value x, y;

	while (!k && (t->kind == TERM_AND || t->kind == TERM_OR)) {
		if (!term_holds(t->args[0], s, out, e))
			return false;
		if (*out == (t->kind == TERM_OR))
			return true;
		t = t->args[1];
		k = known_of(t, s);
	}
	if (k)
		return remembered(t, s, k, out, e);
	if (t->kind != TERM_EQ && t->kind != TERM_NE)
		return evaluate_condition(t, s, out, e);
	if (!value_of(t->args[0], s, &x, e) || !value_of(t->args[1], s, &y, e))
		return false;
	*out = is_same(x, y) == (t->kind == TERM_EQ);
	return true;
}

/* ---- values ---- */

/* Only the chosen one is evaluated: the other may read an item. */
static bool evaluate_choose(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	bool first;

	return term_holds(t->args[0], s, &first, e) && value_of(t->args[first ? 1 : 2], s, out, e);
}

/* The next element of a list or set, or value of a map. */
static struct value element_of(struct arena *a, enum value_type type, const struct value_iter *it)
{
	struct number n;

	switch (type) {
	case VALUE_SS: return value_make_s(a, it->element);
	case VALUE_BS: return value_make_b(a, it->element);
	case VALUE_NS: n = number_decode((const uint8_t *)it->element.p, it->element.n); return value_make_n(a, &n);
	default: return it->value;
	}
}

/* sum(), any(), all(), count(). Absent parts add nothing; without a list there are no elements. */
static bool evaluate_each(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	struct value list, part, total = value_make_i64(s->arena, 0);
	struct term_scope inner = *s;
	enum value_type type;
	int64_t count = 0, all = 0;
	bool holds, decided = false;

	if (!value_of(t->args[0], s, &list, e))
		return false;
	type = value_type(list);
	if (type != VALUE_L && type != VALUE_M && type != VALUE_SS && type != VALUE_NS && type != VALUE_BS)
		list = value_make_list(s->arena, NULL, 0);
	for (struct value_iter it = value_iter(list); !decided && value_next(&it); all++) {
		inner.element = element_of(s->arena, type, &it);
		if (t->function == CALL_SUM) {
			part = inner.element;
			if (t->arg_count == 2 && !value_of(t->args[1], &inner, &part, e))
				return false;
			if (value_type(part) == VALUE_N && !arithmetic(TERM_ADD, total, part, s->arena, &total, e))
				return false;
			continue;
		}
		if (!term_holds(t->args[1], &inner, &holds, e))
			return false;
		count += holds;
		decided = t->function == CALL_ANY ? holds : t->function == CALL_ALL && !holds;
	}
	if (t->function == CALL_SUM)
		*out = total;
	else if (t->function == CALL_COUNT)
		*out = value_make_i64(s->arena, count);
	else
		*out = value_make_bool(s->arena, t->function == CALL_ANY ? count > 0 : count == all);
	return true;
}

static bool evaluate_call(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	struct value *args = arena_array(s->arena, struct value, t->arg_count);
	enum term_function f = t->function;

	if (f == CALL_CHOOSE)
		return evaluate_choose(t, s, out, e);
	if (term_is_each(f))
		return evaluate_each(t, s, out, e);
	for (size_t i = 0; i < t->arg_count; i++)
		if (!value_of(t->args[i], s, &args[i], e))
			return false;
	*out = term_is_ago(f) ? term_ago(s->arena, f, args[0], s->now_ms, t->fine)
			      : term_call(s->arena, f, args, t->arg_count);
	return true;
}

static bool evaluate_arithmetic(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	struct value x, y;

	if (t->kind == TERM_NEGATE) {
		if (!value_of(t->args[0], s, &y, e))
			return false;
		return arithmetic(t->kind, value_make_i64(s->arena, 0), y, s->arena, out, e);
	}
	return value_of(t->args[0], s, &x, e) && value_of(t->args[1], s, &y, e) &&
	       arithmetic(t->kind, x, y, s->arena, out, e);
}

static bool evaluate(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	char text[TIME_TEXT_MAX];
	bool is;

	*out = VALUE_ABSENT;
	switch (t->kind) {
	case TERM_LITERAL:
	case TERM_PATH: return value_of(t, s, out, e);
	case TERM_NOW:
		*out = value_make_s(s->arena,
				    time_format_unit(s->now_ms, t->fine ? TIME_MILLISECOND : TIME_SECOND, text));
		return true;
	case TERM_TODAY: *out = value_make_s(s->arena, time_format_date(s->now_ms, text)); return true;
	case TERM_CALLER:
		if (s->caller.n)
			*out = value_make_s(s->arena, s->caller);
		return true;
	case TERM_CLAIM:
		if (s->claims && t->claim)
			*out = s->claims[t->claim - 1];
		return true;
	case TERM_NEGATE:
	case TERM_ADD:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_DIV: return evaluate_arithmetic(t, s, out, e);
	case TERM_FETCH: return fetch_item(t, s, &is, out, e);
	case TERM_CALL: return evaluate_call(t, s, out, e);
	default: break;
	}
	if (!evaluate_condition(t, s, &is, e))
		return false;
	*out = value_make_bool(s->arena, is);
	return true;
}

bool term_value(const struct term *t, const struct term_scope *s, struct value *out, struct error *e)
{
	struct term_known *k = known_of(t, s);

	if (!k)
		return evaluate(t, s, out, e);
	if (!k->known && !evaluate(t, s, &k->value, e))
		return false;
	k->known = true;
	*out = k->value;
	return true;
}
