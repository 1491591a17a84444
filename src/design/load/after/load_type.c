/* The types of terms, and findings about terms that can never work.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "design/load/after/load_type.h"
#include "design/term/term_parts.h"
#include "design/term/term_text.h"

static struct term_type plain(unsigned is)
{
	return (struct term_type){ .is = is, .element = TYPE_ANY };
}

/* ---- messages ---- */
const char *type_name(struct arena *a, unsigned is)
{
	/* clang-format off */
	static const struct {
		unsigned is;
		const char *name;
	} names[] = {
		{ TYPE_TEXT, "a text" },          { TYPE_TIME, "a timestamp" }, { TYPE_DATE, "a date" },
		{ TYPE_NUMBER, "a number" },      { TYPE_BOOLEAN, "true or false" }, { TYPE_LIST, "a list" },
		{ TYPE_SET, "a set" },            { TYPE_MAP, "a map" },        { TYPE_BINARY, "a binary" },
		{ TYPE_NULL, "null" },            { TYPE_FINE, "a timestamp with milliseconds" },
	};
	/* clang-format on */
	struct buf b;

	if ((is & TYPE_ANY) == TYPE_ANY)
		return "anything";
	if ((is & TYPE_STRING) == TYPE_STRING)
		is &= ~(unsigned)(TYPE_MOMENT | TYPE_DATE);
	if ((is & TYPE_MOMENT) == TYPE_MOMENT)
		is &= ~(unsigned)TYPE_FINE;
	buf_init(&b, a);
	for (size_t i = 0; i < LENGTH(names); i++)
		if (is & names[i].is) {
			buf_str(&b, b.n ? " or " : "");
			buf_str(&b, names[i].name);
		}
	buf_byte(&b, 0);
	return b.p;
}

struct finding *type_error(struct typing *y, struct place p, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (y->quiet)
		return arena_new(y->l->a, struct finding);
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (y->subject_of.n)
		return load_error(y->l, p, "wrong-type", "'%.*s': %s", SLICE_ARG(y->subject_of), text);
	return load_error(y->l, p, "wrong-type", "%s", text);
}

/* ---- operands ---- */
bool type_comparable(unsigned x, unsigned y)
{
	if (x & TYPE_STRING)
		x |= TYPE_STRING;
	return (x & y) != 0 || ((x & TYPE_STRING) && (y & TYPE_STRING));
}

/* One is a timestamp of seconds and the other one of milliseconds: as texts these have no common order. */
static bool differs_in_unit(unsigned x, unsigned y)
{
	return (x == TYPE_TIME && y == TYPE_FINE) || (x == TYPE_FINE && y == TYPE_TIME);
}

/* 2026-11-15T12:00:00Z as 2026-11-15T12:00:00.000Z */
static void refine_literal(struct typing *y, struct term *t)
{
	char text[TIME_TEXT_MAX];
	int64_t ms;

	if (value_type(t->value) == VALUE_S && time_parse(value_bytes(t->value), &ms))
		t->value = value_make_s(y->l->a, time_format_unit(ms, TIME_MILLISECOND, text));
}

void type_refine(struct typing *y, const struct term *t)
{
	struct term *own = OURS(struct term, t);
	enum term_function f = t->kind == TERM_CALL ? t->function : CALLS;

	if (t->kind == TERM_LITERAL)
		refine_literal(y, own);
	own->fine = t->kind == TERM_NOW || term_is_ago(f);
	if (f == CALL_LATER)
		type_refine(y, t->args[0]);
	for (size_t i = f == CALL_CHOOSE; (f == CALL_MIN || f == CALL_MAX || f == CALL_CHOOSE) && i < t->arg_count; i++)
		type_refine(y, t->args[i]);
}

/* Operands that are compared have one unit of time. */
static void same_unit(struct typing *y, const struct term *a, const struct term *b, struct term_type x,
		      struct term_type z)
{
	if (differs_in_unit(x.is, z.is))
		type_error(y, b->place,
			   "a timestamp with milliseconds is compared with one of whole seconds: as texts they have no "
			   "order within a second")
			->repair = SLICE("make both 'timestamp ms'");
	if (x.is == TYPE_FINE)
		type_refine(y, b);
	if (z.is == TYPE_FINE)
		type_refine(y, a);
}

/* The term, which must be able to be one of these. */
static struct term_type need(struct typing *y, const struct term *t, unsigned wanted, const char *what)
{
	struct term_type type = type_of_term(y, t);

	if (type.is && !(type.is & wanted))
		type_error(y, t->place, "%s, and this is %s", what, type_name(y->l->a, type.is));
	return type;
}

static void need_condition(struct typing *y, const struct term *t)
{
	(void)need(y, t, TYPE_BOOLEAN, "a condition is expected");
}

static struct term_type type_of_sum(struct typing *y, const struct term *t)
{
	struct term_type x = need(y, t->args[0], TYPE_NUMBER | TYPE_STRING, "numbers are added and texts joined");
	struct term_type z = need(y, t->args[1], TYPE_NUMBER | TYPE_STRING, "numbers are added and texts joined");
	unsigned is = x.is & z.is & TYPE_NUMBER;

	if ((x.is & TYPE_STRING) && (z.is & TYPE_STRING))
		is |= TYPE_TEXT;
	if (is || !(x.is & (TYPE_NUMBER | TYPE_STRING)) || !(z.is & (TYPE_NUMBER | TYPE_STRING)))
		return plain(is ? is : TYPE_NUMBER | TYPE_TEXT);
	type_error(y, t->place, "a text and a number cannot be added")->repair =
		SLICE("numbers are added and texts are joined: both must be of one kind");
	return plain(TYPE_NUMBER | TYPE_TEXT);
}

static bool is_zero(const struct term *t)
{
	struct number n;

	if (t->kind != TERM_LITERAL || value_type(t->value) != VALUE_N)
		return false;
	n = value_number(t->value);
	return n.digits == 0;
}

static struct term_type type_of_arithmetic(struct typing *y, const struct term *t)
{
	const char *what = t->kind == TERM_SUB   ? "only numbers can be subtracted"
			   : t->kind == TERM_MUL ? "only numbers can be multiplied"
			   : t->kind == TERM_DIV ? "only numbers can be divided"
						 : "only numbers can be negated";

	for (size_t i = 0; i < t->arg_count; i++)
		(void)need(y, t->args[i], TYPE_NUMBER, what);
	if (t->kind == TERM_DIV && is_zero(t->args[1]))
		type_error(y, t->args[1]->place, "nothing can be divided by 0")->repair =
			SLICE("divide by another number, or leave the division out");
	return plain(TYPE_NUMBER);
}

/* ---- comparisons ---- */
static bool is_moment(unsigned is)
{
	return is && !(is & ~(unsigned)TYPE_MOMENT);
}

static void never_equal(struct typing *y, const struct term *at, struct term_type x, struct term_type z)
{
	struct finding *f;

	if (!x.is || !z.is || type_comparable(x.is, z.is))
		return;
	f = type_error(y, at->place, "%s is compared with %s, which is never equal", type_name(y->l->a, x.is),
		       type_name(y->l->a, z.is));
	if (z.is == TYPE_NULL && x.of)
		f->repair =
			SLICE("an attribute that was not given is absent, not null: write 'is absent' or 'is present'");
	else if ((x.is == TYPE_NUMBER && is_moment(z.is)) || (is_moment(x.is) && z.is == TYPE_NUMBER))
		f->repair = SLICE("epoch(x) is a timestamp in seconds");
	if (!f->repair.n)
		f->repair =
			SLICE("compare values of one kind: size(x) is the length of a text, text(x) a number as a text");
}

/* What is stored in lower case is never equal to a text with a capital. */
static void check_case(struct typing *y, const struct term *literal, const struct attribute *a)
{
	struct slice text, lower;

	if (!a || !a->lower || a->type == ATTR_LIST || a->type == ATTR_SET || literal->kind != TERM_LITERAL ||
	    value_type(literal->value) != VALUE_S)
		return;
	text = value_bytes(literal->value);
	lower = text_lower(y->l->a, text);
	if (!slice_equal(text, lower))
		type_error(y, literal->place, "'%.*s' is stored in lower case, so this is never equal",
			   SLICE_ARG(a->name))
			->repair = arena_printf(y->l->a, "write '%.*s'", SLICE_ARG(lower));
}

static void check_equal(struct typing *y, const struct term *t)
{
	struct term_type x = type_of_term(y, t->args[0]);

	for (size_t i = 1; i < t->arg_count; i++) {
		struct term_type z = type_of_term(y, t->args[i]);

		never_equal(y, t->args[i], x, z);
		same_unit(y, t->args[0], t->args[i], x, z);
		check_case(y, t->args[i], x.of);
		check_case(y, t->args[0], z.of);
	}
}

static void check_ordered(struct typing *y, const struct term *t)
{
	struct term_type x = need(y, t->args[0], TYPE_ORDERED, "only numbers, texts, times and binaries have an order");

	for (size_t i = 1; i < t->arg_count; i++) {
		struct term_type z =
			need(y, t->args[i], TYPE_ORDERED, "only numbers, texts, times and binaries have an order");

		same_unit(y, t->args[0], t->args[i], x, z);
		if (x.is & z.is & TYPE_ORDERED)
			continue;
		if ((x.is & TYPE_ORDERED) && (z.is & TYPE_ORDERED))
			never_equal(y, t->args[i], x, z);
	}
}

static void check_begins(struct typing *y, const struct term *t)
{
	struct term_type x =
		need(y, t->args[0], TYPE_STRING | TYPE_BINARY, "only texts and binaries begin with something");
	struct term_type z = need(y, t->args[1], TYPE_STRING | TYPE_BINARY, "a text begins with a text");

	if ((x.is & (TYPE_STRING | TYPE_BINARY)) && (z.is & (TYPE_STRING | TYPE_BINARY)))
		never_equal(y, t->args[1], plain(x.is & (TYPE_STRING | TYPE_BINARY)), z);
}

static void check_contains(struct typing *y, const struct term *t)
{
	struct term_type in = need(y, t->args[0], TYPE_STRING | TYPE_BINARY | TYPE_LIST | TYPE_SET,
				   "only texts, lists, sets and binaries contain something");
	struct term_type what = type_of_term(y, t->args[1]);
	unsigned fit = in.is & (TYPE_STRING | TYPE_BINARY);

	if (in.is & (TYPE_LIST | TYPE_SET))
		fit |= in.element;
	if (fit && what.is && !type_comparable(fit, what.is))
		type_error(y, t->args[1]->place, "%s is never in it: it has %s", type_name(y->l->a, what.is),
			   type_name(y->l->a, fit));
}

/* ---- other items ---- */
/* A number may stand for a text in an identity; otherwise the types must agree. */
void type_check_argument(struct typing *y, const struct entity *e, const struct attribute *a, const struct term *arg)
{
	struct term_type x = type_of_term(y, arg), wanted = a ? type_of_attribute(a) : plain(TYPE_ANY);
	unsigned fit = wanted.is & TYPE_TEXT ? wanted.is | TYPE_NUMBER : wanted.is;

	if (a && a->fine && a->type == ATTR_TIMESTAMP)
		type_refine(y, arg);
	if (!x.is || (is_moment(fit) ? x.is & (fit | TYPE_TEXT) : type_comparable(fit, x.is)))
		return;
	type_error(y, arg->place, "'%.*s' of %.*s is %s, and this is %s", SLICE_ARG(a->name), SLICE_ARG(e->name),
		   type_name(y->l->a, wanted.is), type_name(y->l->a, x.is));
}

static struct term_type type_of_item(struct typing *y, const struct term *t)
{
	const struct entity *e = design_entity(y->l->d, t->name);
	const struct attribute *a = e ? entity_attribute(e, t->attribute) : NULL;

	for (size_t i = 0; i < t->arg_count; i++)
		if (e && i < e->param_count)
			type_check_argument(y, e, entity_attribute(e, e->params[i]), t->args[i]);
		else
			(void)type_of_term(y, t->args[i]);
	if (t->kind != TERM_FETCH)
		return plain(TYPE_BOOLEAN);
	return a ? type_of_attribute(a) : plain(TYPE_ANY);
}

/* ---- functions ---- */
/* first, last */
static struct term_type type_of_ends(struct typing *y, const struct term *t)
{
	unsigned whole = TYPE_STRING | TYPE_LIST | TYPE_SET;
	bool first = t->function == CALL_FIRST;
	struct term_type x =
		need(y, t->args[t->arg_count - 1], whole,
		     first ? "first takes from a text, a list or a set" : "last takes from a text, a list or a set");
	struct term_type out = { .is = x.is & (TYPE_LIST | TYPE_SET), .element = x.element };

	if (t->arg_count == 2)
		(void)need(y, t->args[0], TYPE_NUMBER,
			   first ? "first takes so many of them" : "last takes so many of them");
	else if (x.is & TYPE_LIST)
		out.is = (out.is & ~(unsigned)TYPE_LIST) | x.element;
	if (x.is & TYPE_STRING)
		out.is |= TYPE_TEXT;
	return out;
}

/* lower, upper, slug */
static struct term_type type_of_change(struct typing *y, const struct term *t)
{
	struct term_type x =
		need(y, t->args[0], TYPE_STRING | TYPE_LIST | TYPE_SET, "this is for texts and lists of texts");
	struct term_type out = { .element = TYPE_TEXT };

	if (x.is & TYPE_STRING)
		out.is |= TYPE_TEXT;
	if (x.is & (TYPE_LIST | TYPE_SET))
		out.is |= TYPE_LIST;
	if (!(x.is & TYPE_STRING) && (x.is & (TYPE_LIST | TYPE_SET)) && !(x.element & TYPE_STRING))
		type_error(y, t->args[0]->place, "this is for texts and lists of texts, and its elements are %s",
			   type_name(y->l->a, x.element));
	return out;
}

static struct term_type type_of_extreme(struct typing *y, const struct term *t)
{
	const char *what = "only numbers, texts, times and binaries have an order";
	struct term_type out = need(y, t->args[0], TYPE_ORDERED, what);

	out.of = NULL;
	for (size_t i = 1; i < t->arg_count; i++) {
		struct term_type x = need(y, t->args[i], TYPE_ORDERED, what);

		if ((x.is & TYPE_ORDERED) && (out.is & TYPE_ORDERED))
			never_equal(y, t->args[i], plain(out.is & TYPE_ORDERED), x);
		same_unit(y, t->args[0], t->args[i], plain(out.is), x);
		if (is_moment(out.is) && is_moment(x.is) && (out.is & x.is))
			out.is &= x.is;
		else
			out.is |= x.is;
	}
	out.is &= TYPE_ORDERED;
	return out;
}

static struct term_type type_of_choose(struct typing *y, const struct term *t)
{
	struct term_type a, b;

	need_condition(y, t->args[0]);
	a = type_of_term(y, t->args[1]);
	b = type_of_term(y, t->args[2]);
	if (a.is == b.is && a.element == b.element)
		return (struct term_type){ .is = a.is, .element = a.element, .of = a.of == b.of ? a.of : NULL };
	return (struct term_type){ .is = a.is | b.is, .element = a.element | b.element };
}

/* sum, any, all, count */
static struct term_type type_of_each(struct typing *y, const struct term *t)
{
	bool sum = t->function == CALL_SUM;
	struct term_type list =
		need(y, t->args[0], TYPE_LIST | TYPE_SET | TYPE_MAP, "this goes through a list, a set or a map");

	if (t->arg_count == 2 && sum)
		(void)need(y, t->args[1], TYPE_NUMBER, "only numbers can be added up");
	else if (t->arg_count == 2)
		need_condition(y, t->args[1]);
	else if ((list.is & (TYPE_LIST | TYPE_SET)) && !(list.is & TYPE_MAP) && !(list.element & TYPE_NUMBER))
		type_error(y, t->args[0]->place, "only numbers can be added up, and its elements are %s",
			   type_name(y->l->a, list.element))
			->repair = SLICE("as in sum(lines, quantity * price)");
	return plain(sum || t->function == CALL_COUNT ? TYPE_NUMBER : TYPE_BOOLEAN);
}

/* x + 30 days, later(x, n, 'days'): a time of the same form */
static struct term_type type_of_later(struct typing *y, const struct term *t)
{
	struct term_type x = need(y, t->args[0], TYPE_STRING, "times are added to timestamps, dates, months and years");
	const struct term *unit = t->args[2];
	enum time_unit u = TIME_UNITS;

	(void)need(y, t->args[1], TYPE_NUMBER, "so many units of time are a number");
	(void)need(y, unit, TYPE_TEXT,
		   "a unit of time is one of 'second', 'minute', 'hour', 'day', 'week', 'month' and 'year'");
	if (unit->kind == TERM_LITERAL && value_type(unit->value) == VALUE_S) {
		u = time_unit_named(value_bytes(unit->value));
		if (u == TIME_UNITS)
			type_error(y, unit->place, "there is no such unit of time")->repair =
				SLICE("units are 'second', 'minute', 'hour', 'day', 'week', 'month' and 'year'");
	}
	if (x.is == TYPE_DATE && u < TIME_DAY)
		type_error(y, t->place, "a date has no %ss", time_unit_names[u])->repair =
			SLICE("add them to a timestamp");
	x.of = NULL;
	x.is &= TYPE_STRING;
	return x;
}

/* The last argument of hash() and geohash(), if it is a literal. */
static void check_count(struct typing *y, const struct term *t, int64_t most)
{
	const struct term *n = t->args[t->arg_count - 1];
	int64_t count;

	if (n->kind == TERM_LITERAL && value_type(n->value) == VALUE_N &&
	    (!term_whole(n->value, &count) || count < 1 || count > most))
		type_error(y, n->place, "%.*s takes a whole number from 1 to %lld here", SLICE_ARG(t->name),
			   (long long)most);
}

#define SCALAR (TYPE_STRING | TYPE_NUMBER | TYPE_BOOLEAN)
#define TIMES  (TYPE_STRING | TYPE_NUMBER)
#define MANY   (TYPE_LIST | TYPE_SET)

/* clang-format off */
/* What the arguments are, the last one as the others unless `then` says otherwise. */
static const struct call_type {
	unsigned takes;
	const char *what;
	struct term_type gives;
	unsigned then;
} calls[CALLS] = {
	[CALL_SIZE] = { TYPE_STRING | TYPE_BINARY | MANY | TYPE_MAP, "size(x) is for texts, lists, sets, maps and binaries",
			{ TYPE_NUMBER, TYPE_ANY } },
	[CALL_WORDS] = { TYPE_STRING | MANY, "words(x) is for texts and lists of texts", { TYPE_LIST, TYPE_TEXT } },
	[CALL_DATE] = { TIMES, "date(x) is for timestamps and epochs", { TYPE_DATE, TYPE_ANY } },
	[CALL_HOUR] = { TIMES, "hour(x) is for timestamps and epochs", { TYPE_TEXT, TYPE_ANY } },
	[CALL_WEEK] = { TIMES, "week(x) is for timestamps, dates and epochs", { TYPE_TEXT, TYPE_ANY } },
	[CALL_MONTH] = { TIMES, "month(x) is for timestamps, dates and epochs", { TYPE_TEXT, TYPE_ANY } },
	[CALL_YEAR] = { TIMES, "year(x) is for timestamps, dates and epochs", { TYPE_TEXT, TYPE_ANY } },
	[CALL_EPOCH] = { TIMES, "epoch(x) is for timestamps and dates", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_POWER] = { TYPE_NUMBER, "power(x, y) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_ROUND] = { TYPE_NUMBER, "round(x) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_MOD] = { TYPE_NUMBER, "mod(a, b) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_FLOOR] = { TYPE_NUMBER, "floor(x) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_CEIL] = { TYPE_NUMBER, "ceil(x) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_ABS] = { TYPE_NUMBER, "abs(x) is for numbers", { TYPE_NUMBER, TYPE_ANY } },
	[CALL_HASH] = { SCALAR, "hash(x, n) is for a text or number, and a number", { TYPE_NUMBER, TYPE_ANY }, TYPE_NUMBER },
	[CALL_GEOHASH] = { TYPE_NUMBER, "geohash(latitude, longitude, n) is for numbers", { TYPE_TEXT, TYPE_ANY } },
	[CALL_TRIM] = { TYPE_STRING, "trim(x) is for texts", { TYPE_TEXT, TYPE_ANY } },
	[CALL_TEXT] = { SCALAR, "text(x) is for numbers", { TYPE_TEXT, TYPE_ANY } },
	[CALL_REPLACE] = { TYPE_STRING, "replace(x, a, b) is for texts", { TYPE_TEXT, TYPE_ANY } },
	[CALL_SPLIT] = { TYPE_STRING, "split(x, ',') is for texts", { TYPE_LIST, TYPE_TEXT } },
	[CALL_JOIN] = { MANY, "join(list, ', ') is for a list or set, and a text", { TYPE_TEXT, TYPE_ANY }, TYPE_STRING },
	[CALL_DAYS_AGO] = { TYPE_NUMBER, "days_ago(n) takes a number of days", { TYPE_MOMENT, TYPE_ANY } },
	[CALL_HOURS_AGO] = { TYPE_NUMBER, "hours_ago(n) takes a number of hours", { TYPE_MOMENT, TYPE_ANY } },
	[CALL_MINUTES_AGO] = { TYPE_NUMBER, "minutes_ago(n) takes a number of minutes", { TYPE_MOMENT, TYPE_ANY } },
};
/* clang-format on */

static struct term_type type_of_call(struct typing *y, const struct term *t)
{
	const struct call_type *c = &calls[t->function];

	switch (t->function) {
	case CALL_LOWER:
	case CALL_UPPER:
	case CALL_SLUG: return type_of_change(y, t);
	case CALL_FIRST:
	case CALL_LAST: return type_of_ends(y, t);
	case CALL_MIN:
	case CALL_MAX: return type_of_extreme(y, t);
	case CALL_CHOOSE: return type_of_choose(y, t);
	case CALL_LATER: return type_of_later(y, t);
	case CALL_SUM:
	case CALL_ANY:
	case CALL_ALL:
	case CALL_COUNT: return type_of_each(y, t);
	case CALL_HASH: check_count(y, t, TERM_HASH_MOST); break;
	case CALL_GEOHASH: check_count(y, t, TERM_GEOHASH_MOST); break;
	default: break;
	}
	for (size_t i = 0; i < t->arg_count; i++)
		(void)need(y, t->args[i], c->then && i + 1 == t->arg_count ? c->then : c->takes, c->what);
	return c->gives;
}

/* ---- literals ---- */
static unsigned kind_of(struct value v)
{
	switch (value_type(v)) {
	case VALUE_S: return TYPE_TEXT;
	case VALUE_N: return TYPE_NUMBER;
	case VALUE_BOOL: return TYPE_BOOLEAN;
	case VALUE_NULL: return TYPE_NULL;
	case VALUE_L: return TYPE_LIST;
	case VALUE_M: return TYPE_MAP;
	case VALUE_B: return TYPE_BINARY;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS: return TYPE_SET;
	default: return TYPE_ANY;
	}
}

static struct term_type type_of_literal(struct value v)
{
	struct term_type out = { .is = kind_of(v), .element = TYPE_ANY };

	if (out.is == TYPE_LIST && value_count(v))
		out.element = kind_of(value_at(v, 0));
	return out;
}

/* ---- all of them ---- */
struct term_type type_of_term(struct typing *y, const struct term *t)
{
	switch (t->kind) {
	case TERM_LITERAL: return type_of_literal(t->value);
	case TERM_PATH: return type_of_path(y, t);
	case TERM_NOW: return plain(TYPE_MOMENT);
	case TERM_TODAY: return plain(TYPE_DATE);
	case TERM_CALLER: return plain(TYPE_TEXT);
	case TERM_CLAIM:
		return t->claim ? type_of_attribute(&y->l->d->callers.claims[t->claim - 1].attribute) : plain(TYPE_ANY);
	case TERM_ADD: return type_of_sum(y, t);
	case TERM_NEGATE:
	case TERM_SUB:
	case TERM_MUL:
	case TERM_DIV: return type_of_arithmetic(y, t);
	case TERM_EXISTS:
	case TERM_VISIBLE:
	case TERM_FETCH: return type_of_item(y, t);
	case TERM_CALL: return type_of_call(y, t);
	case TERM_NOT:
	case TERM_AND:
	case TERM_OR:
		for (size_t i = 0; i < t->arg_count; i++)
			need_condition(y, t->args[i]);
		break;
	case TERM_EQ:
	case TERM_NE:
	case TERM_IN: check_equal(y, t); break;
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE:
	case TERM_BETWEEN: check_ordered(y, t); break;
	case TERM_BEGINS: check_begins(y, t); break;
	case TERM_CONTAINS: check_contains(y, t); break;
	case TERM_MATCHES: (void)need(y, t->args[0], TYPE_STRING, "only texts match a pattern"); break;
	case TERM_MAY: (void)need(y, t->args[0], TYPE_STRING, "a permission is a text"); break;
	case TERM_PRESENT:
	case TERM_ABSENT: (void)type_of_term(y, t->args[0]); break;
	case TERM_IS_ROLE:
	case TERM_ALWAYS:
	case TERM_NEVER: break;
	}
	return plain(TYPE_BOOLEAN);
}
