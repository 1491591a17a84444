/* The functions of terms.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/map.h"
#include "design/term/term_parts.h"
#include "design/term/term_lex.h"
#include "design/term/term_text.h"

#define UNFILTERED(name) \
	"DynamoDB has no " name "(): keep the result in an attribute of its own (= " name "(…)) and compare with that"
#define PERIOD(name)                                                                                                 \
	"DynamoDB has no " name "(): write 'begins with' and the " name ", or keep the " name " in an attribute of " \
	"its own (= " name "(…))"

const struct term_function_info term_functions[CALLS] = {
	[CALL_SIZE] = { "size", 1, 1, "size(x)", NULL },
	[CALL_LOWER] = { "lower", 1, 1, "lower(x)",
			 "DynamoDB has no lower(): keep the attribute in lower case (the clause 'lower') and compare with that" },
	[CALL_UPPER] = { "upper", 1, 1, "upper(x)",
			 "DynamoDB has no upper(): keep the result in an attribute of its own (= upper(…)) and compare with that" },
	[CALL_FIRST] = { "first", 1, 2, "first 80 of x",
			 "DynamoDB cannot take the first part of an attribute: write 'begins with', or keep the part in an attribute of its own" },
	[CALL_WORDS] = { "words", 1, 8, "words(title, tags)",
			 "DynamoDB cannot split an attribute into words: keep them in an attribute of its own (= words(…)) and write 'contains'" },
	[CALL_SLUG] = { "slug", 1, 1, "slug(x)",
			"DynamoDB has no slug(): keep the result in an attribute of its own (= slug(…)) and compare with that" },
	[CALL_MIN] = { "min", 1, 100, "min(a, b)",
		       "DynamoDB has no min(): compare each attribute by itself, or keep the result in an attribute of its own" },
	[CALL_MAX] = { "max", 1, 100, "max(a, b)",
		       "DynamoDB has no max(): compare each attribute by itself, or keep the result in an attribute of its own" },
	[CALL_DATE] = { "date", 1, 1, "date(x)",
			"DynamoDB has no date(): write 'begins with' and the day, or keep the day in an attribute of its own (= date(…))" },
	[CALL_EPOCH] = { "epoch", 1, 1, "epoch(x)",
			 "DynamoDB has no epoch(): compare the timestamps themselves, which sort as text" },
	[CALL_POWER] = { "power", 2, 2, "power(x, 1.5)",
			 "DynamoDB has no power(): keep the result in an attribute of its own (= power(…)) and compare with that" },
	[CALL_ROUND] = { "round", 1, 2, "round(x) or round(x, 2)",
			 "DynamoDB has no round(): keep the result in an attribute of its own (= round(…)) and compare with that" },
	[CALL_DAYS_AGO] = { "days_ago", 1, 1, "days_ago(7)",
			    "DynamoDB cannot count days from an attribute: compare a timestamp with days_ago and a number" },
	[CALL_HOURS_AGO] = { "hours_ago", 1, 1, "hours_ago(12)",
			     "DynamoDB cannot count hours from an attribute: compare a timestamp with hours_ago and a number" },
	[CALL_MINUTES_AGO] = { "minutes_ago", 1, 1, "minutes_ago(5)",
			       "DynamoDB cannot count minutes from an attribute: compare a timestamp with minutes_ago and a number" },
	[CALL_CHOOSE] = { "choose", 3, 3, "choose(condition, a, b)", "DynamoDB has no choose(): join both cases by or" },
	[CALL_LAST] = { "last", 1, 2, "last 4 of x",
			"DynamoDB cannot take the last part of an attribute: keep it in an attribute of its own" },
	[CALL_MOD] = { "mod", 2, 2, "mod(a, b)", UNFILTERED("mod") },
	[CALL_FLOOR] = { "floor", 1, 1, "floor(x)", UNFILTERED("floor") },
	[CALL_CEIL] = { "ceil", 1, 1, "ceil(x)", UNFILTERED("ceil") },
	[CALL_ABS] = { "abs", 1, 1, "abs(x)",
		       "DynamoDB has no abs(): write 'between' and both limits, or keep the result in an attribute of its own" },
	[CALL_HASH] = { "hash", 2, 2, "hash(x, 10)", UNFILTERED("hash") },
	[CALL_GEOHASH] = { "geohash", 3, 3, "geohash(latitude, longitude, 7)", UNFILTERED("geohash") },
	[CALL_TRIM] = { "trim", 1, 1, "trim(x)", UNFILTERED("trim") },
	[CALL_TEXT] = { "text", 1, 1, "text(x)", UNFILTERED("text") },
	[CALL_REPLACE] = { "replace", 3, 3, "replace(x, ' ', '-')", UNFILTERED("replace") },
	[CALL_JOIN] = { "join", 2, 2, "join(tags, ', ')", UNFILTERED("join") },
	[CALL_SPLIT] = { "split", 2, 2, "split(x, ',')", UNFILTERED("split") },
	[CALL_HOUR] = { "hour", 1, 1, "hour(x)", PERIOD("hour") },
	[CALL_WEEK] = { "week", 1, 1, "week(x)", UNFILTERED("week") },
	[CALL_MONTH] = { "month", 1, 1, "month(x)", PERIOD("month") },
	[CALL_YEAR] = { "year", 1, 1, "year(x)", PERIOD("year") },
	[CALL_LATER] = { "later", 3, 3, "x + 30 days, or later(x, n, 'days')",
			 "DynamoDB does not count with times: subtract from the other side, as in created_at < now - 30 days" },
	[CALL_SUM] = { "sum", 1, 2, "sum(lines, quantity * price) or sum(numbers)", UNFILTERED("sum") },
	[CALL_ANY] = { "any", 2, 2, "any(lines, quantity > 5)", UNFILTERED("any") },
	[CALL_ALL] = { "all", 2, 2, "all(lines, quantity > 5)", UNFILTERED("all") },
	[CALL_COUNT] = { "count", 2, 2, "count(lines, quantity > 5), or size(lines)", UNFILTERED("count") },
};

const char *const term_function_names[] = {
	"size",  "lower", "upper",    "first",     "words",       "slug",    "min",   "max",   "date",  "epoch",
	"power", "round", "days_ago", "hours_ago", "minutes_ago", "choose",  "last",  "mod",   "floor", "ceil",
	"abs",   "hash",  "geohash",  "trim",      "text",        "replace", "join",  "split", "hour",  "week",
	"month", "year",  "later",    "sum",       "any",         "all",     "count", NULL
};

enum term_function term_function_find(struct slice name)
{
	int f = 0;

	while (f < CALLS && !term_word_is(name, term_functions[f].name))
		f++;
	return (enum term_function)f;
}

static struct value call_size(struct arena *a, struct value v)
{
	switch (value_type(v)) {
	case VALUE_S: return value_make_i64(a, (int64_t)value_string_units(value_bytes(v)));
	case VALUE_B: return value_make_i64(a, (int64_t)value_bytes(v).n);
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
	case VALUE_L:
	case VALUE_M: return value_make_i64(a, (int64_t)value_count(v));
	default: return VALUE_ABSENT;
	}
}

static struct value change(struct arena *a, enum term_function f, struct slice s)
{
	struct slice out = f == CALL_LOWER ? text_lower(a, s) : f == CALL_UPPER ? text_upper(a, s) : text_slug(a, s);

	/* A slug of nothing but punctuation is none. */
	return f == CALL_SLUG && out.n == 0 ? VALUE_ABSENT : value_make_s(a, out);
}

/* lower, upper, slug: of a string, or of each string in a list or set (a list then). */
static struct value call_change(struct arena *a, enum term_function f, struct value v)
{
	enum value_type type = value_type(v);
	struct value_iter it;
	struct value *out;
	size_t n = 0;

	if (type == VALUE_S)
		return change(a, f, value_bytes(v));
	if (type != VALUE_L && type != VALUE_SS)
		return VALUE_ABSENT;
	out = arena_array(a, struct value, value_count(v));
	it = value_iter(v);
	while (value_next(&it)) {
		if (type == VALUE_L && value_type(it.value) != VALUE_S)
			continue;
		out[n] = change(a, f, type == VALUE_L ? value_bytes(it.value) : it.element);
		n += value_present(out[n]);
	}
	return value_make_list(a, out, n);
}

/* The first, or the last, elements of a list or set. */
static struct value some_elements(struct arena *a, struct value v, size_t most, bool last)
{
	enum value_type type = value_type(v);
	size_t n = 0, all = value_count(v), count = all < most ? all : most, skip = last ? all - count : 0;
	struct value *values = arena_array(a, struct value, count);
	struct slice *elements = arena_array(a, struct slice, count);
	struct value_iter it = value_iter(v);

	while (n < count && value_next(&it)) {
		if (skip) {
			skip--;
			continue;
		}
		values[n] = it.value;
		elements[n++] = it.element;
	}
	if (type == VALUE_L)
		return value_make_list(a, values, n);
	return n ? value_make_set(a, type, elements, n) : VALUE_ABSENT;
}

static struct slice some_text(struct slice s, size_t most, bool last)
{
	size_t all = last ? text_count(s) : 0, skip;

	if (!last)
		return text_first(s, most);
	skip = text_first(s, all > most ? all - most : 0).n;
	return slice_make(s.p + skip, s.n - skip);
}

/* first, last */
static struct value call_ends(struct arena *a, enum term_function f, const struct value *args, size_t n)
{
	struct value v = args[n - 1];
	enum value_type type = value_type(v);
	bool last = f == CALL_LAST;
	struct number count;
	int64_t most = 1;

	if (n == 2) {
		if (value_type(args[0]) != VALUE_N)
			return VALUE_ABSENT;
		count = value_number(args[0]);
		if (!number_to_i64(&count, &most))
			most = count.negative || count.exponent < 0 ? 0 : INT64_MAX;
		if (most < 0)
			most = 0;
	}
	if (type == VALUE_S)
		return value_make_s(a, some_text(value_bytes(v), (size_t)most, last));
	if (type == VALUE_L && n == 1)
		return value_at(v, last && value_count(v) ? value_count(v) - 1 : 0);
	if (value_type_has_elements(type))
		return some_elements(a, v, (size_t)most, last);
	return VALUE_ABSENT;
}

struct words {
	struct arena *arena;
	struct map seen;
	struct value *list;
	size_t n, room;
};

static void add_words(struct words *w, struct slice text)
{
	struct slice word;

	while (text_word(w->arena, &text, &word)) {
		if (text_is_stop_word(word) || map_get(&w->seen, word))
			continue;
		GROW_IN(w->arena, w->list, w->n, w->room, 16);
		w->list[w->n] = value_make_s(w->arena, word);
		map_set(&w->seen, word, &w->seen);
		w->n++;
	}
}

/* Each word once, in order of appearance, from texts and from lists and sets of texts. */
static struct value call_words(struct arena *a, const struct value *args, size_t n)
{
	struct words w = { .arena = a };
	bool any = false;

	map_init(&w.seen, a);
	for (size_t i = 0; i < n; i++) {
		enum value_type type = value_type(args[i]);
		struct value_iter it;

		any = any || type == VALUE_S || type == VALUE_L || type == VALUE_SS;
		if (type == VALUE_S)
			add_words(&w, value_bytes(args[i]));
		if (type != VALUE_L && type != VALUE_SS)
			continue;
		it = value_iter(args[i]);
		while (value_next(&it))
			if (type == VALUE_SS || value_type(it.value) == VALUE_S)
				add_words(&w, type == VALUE_SS ? it.element : value_bytes(it.value));
	}
	return any ? value_make_list(a, w.list, w.n) : VALUE_ABSENT;
}

/* The least or greatest; absent when they have no common order. */
static struct value call_extreme(enum term_function f, const struct value *args, size_t n)
{
	struct value best = args[0];

	if (!term_is_ordered(best))
		return VALUE_ABSENT;
	for (size_t i = 1; i < n; i++) {
		int c;

		if (value_type(args[i]) != value_type(best))
			return VALUE_ABSENT;
		c = value_cmp(args[i], best);
		if (f == CALL_MIN ? c < 0 : c > 0)
			best = args[i];
	}
	return best;
}

/* For ranking, where fifteen digits are plenty; absent where the result is not a number. */
static struct value call_power(struct arena *a, struct value x, struct value y)
{
	struct number n;
	struct error e;
	double d;

	if (value_type(x) != VALUE_N || value_type(y) != VALUE_N)
		return VALUE_ABSENT;
	d = pow(value_double(x), value_double(y));
	if (!isfinite(d) || !number_parse(arena_printf(a, "%.15g", d), &n, a, &e))
		return VALUE_ABSENT;
	return value_make_n(a, &n);
}

/* round(x, 2): two decimal places. */
static struct value call_round(struct arena *a, const struct value *args, size_t count)
{
	struct number n, digits;
	struct error e = { 0 };
	int64_t places = 0;

	if (value_type(args[0]) != VALUE_N || (count > 1 && value_type(args[1]) != VALUE_N))
		return VALUE_ABSENT;
	n = value_number(args[0]);
	if (count > 1) {
		digits = value_number(args[1]);
		if (!number_to_i64(&digits, &places) || places < -100 || places > 100)
			return VALUE_ABSENT;
	}
	return number_round(&n, (int)-places, &n, a, &e) ? value_make_n(a, &n) : VALUE_ABSENT;
}

struct value term_call(struct arena *a, enum term_function f, const struct value *args, size_t n)
{
	switch (f) {
	case CALL_SIZE: return call_size(a, args[0]);
	case CALL_LOWER:
	case CALL_UPPER:
	case CALL_SLUG: return call_change(a, f, args[0]);
	case CALL_FIRST:
	case CALL_LAST: return call_ends(a, f, args, n);
	case CALL_WORDS: return call_words(a, args, n);
	case CALL_MIN:
	case CALL_MAX: return call_extreme(f, args, n);
	case CALL_DATE:
	case CALL_EPOCH:
	case CALL_HOUR:
	case CALL_WEEK:
	case CALL_MONTH:
	case CALL_YEAR:
	case CALL_LATER: return term_call_time(a, f, args);
	case CALL_MOD:
	case CALL_FLOOR:
	case CALL_CEIL:
	case CALL_ABS:
	case CALL_HASH:
	case CALL_GEOHASH: return term_call_math(a, f, args);
	case CALL_TRIM:
	case CALL_TEXT:
	case CALL_REPLACE:
	case CALL_JOIN:
	case CALL_SPLIT: return term_call_string(a, f, args, n);
	case CALL_POWER: return call_power(a, args[0], args[1]);
	case CALL_ROUND: return call_round(a, args, n);
	case CALL_DAYS_AGO:
	case CALL_HOURS_AGO:
	case CALL_MINUTES_AGO:
	case CALL_CHOOSE:
	case CALL_SUM:
	case CALL_ANY:
	case CALL_ALL:
	case CALL_COUNT:
	case CALLS: break;
	}
	return VALUE_ABSENT;
}

bool term_is_function(struct slice name)
{
	for (size_t i = 0; i < CALLS; i++)
		if (slice_is(name, term_function_names[i]))
			return true;
	return false;
}
