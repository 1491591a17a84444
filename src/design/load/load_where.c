/* What an access pattern does with keys and rows: where, then, merge, walk, rank, tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define RANGE_MOST  1000
#define LEVELS_MOST 32
#define STEPS_MOST  3660
#define RANKED_MOST 1000000

/* ---- where ---- */
static bool take_optional(struct load_span *s)
{
	struct slice t = span_text(*s), tail = SLICE(" if given");

	if (t.n <= tail.n || !slice_equal(slice_make(t.p + t.n - tail.n, tail.n), tail))
		return false;
	*s = span_cut(*s, 0, t.n - tail.n);
	return true;
}

/* <to:ulid> is the highest ULID of its time, not the lowest. */
static void end_range(const struct template *t)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].format == FORMAT_ULID_LOWEST)
			OURS(struct template_part, &t->parts[i])->format = FORMAT_ULID_HIGHEST;
}

void load_no_bounds(struct load *l, const struct template *t)
{
	EACH (struct template_part, p, t->parts, t->part_count)
		if (p->format == FORMAT_ULID_LOWEST)
			load_error(l, t->place, "bad-template", "<%.*s:ulid> is the bound of a range, and this is none",
				   SLICE_ARG(p->names[0]))
				->repair = SLICE("as in between <from:ulid> and <to:ulid>, or >= <from:ulid>");
}

static bool read_between(struct load *l, const struct access *a, struct load_span s, struct where_rule *w)
{
	struct load_span lower;

	if (!span_split_word(&s, "and", &lower) || !lower.n || !s.n) {
		load_error(l, span_place(l, lower), "wrong-value", "expected 'between … and …'");
		return false;
	}
	w->op = WHERE_BETWEEN;
	w->value = load_span_template(l, lower, load_access_scope(l, a, false));
	w->upper = load_span_template(l, s, load_access_scope(l, a, false));
	end_range(w->upper);
	return w->value && w->upper;
}

static bool read_condition(struct load *l, const struct access *a, const struct yaml *y, struct where_rule *w)
{
	static const struct {
		const char *words;
		enum where_op op;
	} operators[] = { { "begins with", WHERE_BEGINS },
			  { "<=", WHERE_LE },
			  { ">=", WHERE_GE },
			  { "=", WHERE_EQ },
			  { ">", WHERE_GT },
			  { "< ", WHERE_LT } };
	struct load_span s;

	if (!load_is_scalar(l, y, "a template, or a condition as in begins with POST#"))
		return false;
	s = load_whole(y);
	if (slice_starts(span_text(s), SLICE("begins_with"))) {
		load_error(l, y->place, "wrong-value", "expected a template, or a condition as in begins with POST#")
			->repair = SLICE("begins with has neither '_' nor parentheses");
		return false;
	}
	w->optional = take_optional(&s);
	if (span_take(&s, "between"))
		return read_between(l, a, s, w);
	w->op = WHERE_EQ;
	for (size_t i = 0; i < LENGTH(operators); i++)
		if (span_take(&s, operators[i].words)) {
			w->op = operators[i].op;
			break;
		}
	if (!s.n) {
		load_expected(l, y, "a template, or a condition as in begins with POST#");
		return false;
	}
	w->value = load_span_template(l, s, load_access_scope(l, a, false));
	if (w->op == WHERE_LE || w->op == WHERE_GT)
		end_range(w->value);
	if (w->value && (w->op == WHERE_EQ || w->op == WHERE_BEGINS))
		load_no_bounds(l, w->value);
	return w->value != NULL;
}

void load_where(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of key attributes and templates", &count);
	struct where_rule *list = arena_array(l->a, struct where_rule, count);

	a->where_count = 0; /* `get` and `where` in one pattern are reported elsewhere */
	for (size_t i = 0; i < count; i++) {
		struct where_rule *w = &list[a->where_count];

		*w = (struct where_rule){ .attribute = entries[i].key.text, .place = entries[i].key.place };
		load_later_name(l, NAME_WHERE, w->attribute, w->place, a->name);
		a->where_count += read_condition(l, a, &entries[i].value, w);
	}
	a->where = list;
}

const struct load_shape load_where_shape = { SHAPE_MAP,
					     "key attributes and templates, or conditions as in begins with POST#",
					     .of = &load_any_shape };

/* ---- then ---- */
/* `keep` looks at the fetched item, whose entity (`get`) may come later in the map. */
static void read_then_keep(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = load_access_scope(l, a, true);

	s->fetched = true;
	a->then.keep = load_term(l, y, s);
}

static const struct load_shape keep_shape = { SHAPE_TYPE, .type = WORD_TERM };

static const struct load_word then_words[] = {
	{ "get", WORD_TEXT, AT(access, then.entity), "the name of an entity", NAME_ENTITY, FOUND(access, then.of) },
	{ "keys", WORD_RULES, LIST_AT(access, then.keys, then.key_count),
	  "the keys of an item, as in {PK: <siteId>, SK: METADATA}" },
	{ "keep", .read = read_then_keep, .shape = &keep_shape },
	{ 0 },
};

static const char *const then_needs[] = { "keys", NULL };
const struct load_shape load_then_shape = { SHAPE_WORDS, "'then'", .words = then_words, .needed = then_needs };

void load_then(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->has_then = true;
	if (load_words(l, y, "'then'", then_words, a, NULL) && !a->then.key_count)
		load_error(l, y->place, "missing-word", "'then' needs 'keys'")->repair =
			SLICE("as in keys: {PK: <siteId>, SK: METADATA}");
	else if (a->then.key_count)
		load_needs_keys(l, "'then'", NULL, a->then.keys, a->then.key_count, y->place);
}

/* ---- merge ---- */
/* n in 1..5, n in shards, or word in <list> */
static void read_for(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_span s, from, to;
	const char *dots;

	if (!load_loop(l, y, "a loop, as in n in 1..5, n in shards or word in words(input.q)", &a->range_variable, &s))
		return;
	a->range_shards = slice_is(span_text(s), "shards");
	if (a->range_shards)
		return;
	dots = memmem(span_text(s).p, s.n, "..", 2);
	if (!dots) {
		a->range_list = load_span_term(l, s, load_access_scope(l, a, false));
		return;
	}
	from = span_cut(s, 0, (size_t)(dots - span_text(s).p));
	to = span_cut(s, from.n + 2, s.n - from.n - 2);
	if (!span_integer(from, &a->range_from) || !span_integer(to, &a->range_to) || a->range_from > a->range_to ||
	    a->range_from < -RANGE_MOST || a->range_to > RANGE_MOST)
		load_error(l, span_place(l, s), "wrong-value",
			   "expected a range of whole numbers from %d to %d, as in 1..5", -RANGE_MOST, RANGE_MOST);
}

static void read_merge_with(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = load_access_scope(l, a, a->merge_over.n > 0);

	s->variable = a->range_variable;
	s->over = a->merge_over;
	a->merge_with_count = load_assignments(l, y, s, SLICE(""), &a->merge_with);
	EACH (struct assignment, with, a->merge_with, a->merge_with_count)
		load_later_name(l, NAME_PARAMETER, with->attribute, with->place, a->merge_pattern);
}

static const struct load_shape for_shape = { SHAPE_TEXT,
					     "a loop, as in n in 1..5, n in shards or word in words(input.q)",
					     "[A-Za-z_][A-Za-z0-9_]* in .+", .is_words = true };
static const struct load_shape merge_with_shape = { SHAPE_TYPE, .type = WORD_ASSIGNMENTS };

static const struct load_word merge_words[] = {
	{ "run", WORD_TEXT, AT(access, merge_pattern), "the name of an access pattern", NAME_ACCESS,
	  FOUND(access, merge_run) },
	{ "for each", WORD_TEXT, AT(access, merge_over), "the name of an access pattern", NAME_ACCESS,
	  FOUND(access, merge_rows) },
	{ "for", .read = read_for, .shape = &for_shape },
	{ "with", .read = read_merge_with, .shape = &merge_with_shape },
	{ "by", WORD_TEXT, AT(access, merge_by), "the name of an attribute", NAME_ITEM_ATTRIBUTE },
	{ "else", WORD_TEXT, AT(access, merge_else), "the name of an attribute", NAME_ITEM_ATTRIBUTE },
	{ "in all", WORD_BOOL, AT(access, merge_in_all) },
	{ "levels", WORD_INTEGER, AT(access, merge_levels), "a number of levels", .most = LEVELS_MOST },
	{ "of", WORD_TEXTS, LIST_AT(access, merge_of, merge_of_count), "a list of access patterns", NAME_ACCESS,
	  FOUND(access, merge_parts) },
	{ 0 },
};

static const char *const merge_kinds[] = { "run", "of", NULL };
const struct load_shape load_merge_shape = { SHAPE_WORDS, "a merge", .words = merge_words, .one_of = { merge_kinds } };

static void check_merge(struct load *l, const struct access *a, const struct yaml *y)
{
	if (a->merge_of_count) {
		if (a->merge_pattern.n || a->merge_over.n || a->range_variable.n)
			load_error(l, y->place, "wrong-clause", "a merge has either 'of' or 'run'");
		return;
	}
	if (!a->merge_pattern.n)
		load_error(l, y->place, "missing-word", "a merge needs 'run' or 'of'");
	else if (!a->merge_over.n == !a->range_variable.n)
		load_error(l, y->place, "missing-word", "a merge needs either 'for each' or 'for'");
	if (a->merge_in_all && !a->merge_by.n)
		load_error(l, y->place, "missing-word", "'in all' needs 'by'");
	if (a->merge_levels && !a->merge_over.n)
		load_error(l, y->place, "wrong-clause", "'levels' goes with 'for each'");
}

void load_merge(struct load *l, void *into, const struct yaml *y)
{
	if (load_words(l, y, "a merge", merge_words, into, NULL))
		check_merge(l, into, y);
}

/* ---- walk ---- */
/* one day back, 7 times; one month on, 12 times */
static bool read_steps(struct access *a, struct load_span s)
{
	struct load_span step, number, times, unit;
	int64_t n;
	bool back;

	if (!span_split(&s, ',', &step) || !span_split_word(&s, "times", &times) ||
	    !span_integer(times, &a->walk_times) || s.n)
		return false;
	span_split(&step, ' ', &number);
	span_split(&step, ' ', &unit);
	if (slice_is(span_text(number), "one") || slice_is(span_text(number), "a"))
		n = 1;
	else if (!span_integer(number, &n) || n < 1 || n > STEPS_MOST)
		return false;
	back = slice_is(span_text(step), "back");
	a->walk_unit = time_unit_named(span_text(unit));
	a->walk_step = back ? -n : n;
	return (back || slice_is(span_text(step), "on")) && a->walk_unit >= TIME_HOUR && a->walk_unit < TIME_UNITS &&
	       a->walk_times > 0 && a->walk_times <= STEPS_MOST;
}

static const struct load_shape steps_shape = { SHAPE_MAP, .of = &load_any_shape };
static const struct load_shape *const walk_shapes[] = { &load_any_shape, &steps_shape, NULL };
const struct load_shape load_walk_shape = { SHAPE_EITHER, "a walk, as in {date: one day back, 7 times}",
					    .either = walk_shapes };

void load_walk(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "a walk, as in {date: one day back, 7 times}";
	struct access *a = into;
	const struct yaml_entry *entries;
	struct load_span s, name;
	struct place place;
	size_t count;

	if (y->kind == YAML_MAP) {
		entries = load_map(l, y, expected, &count);
		if (count != 1 || entries[0].value.kind != YAML_SCALAR) {
			load_expected(l, y, expected);
			return;
		}
		a->walk_param = entries[0].key.text;
		place = entries[0].key.place;
		s = load_whole(&entries[0].value);
	} else {
		if (!load_is_scalar(l, y, expected))
			return;
		s = load_whole(y);
		span_split(&s, ',', &name);
		a->walk_param = span_text(name);
		place = span_place(l, name);
	}
	if (!read_steps(a, s))
		load_error(l, span_place(l, s), "wrong-value",
			   "expected how far and how often, as in one day back, 7 times")
			->repair = SLICE("steps are hours, days, weeks, months or years, 'back' or 'on'");
	load_later_name(l, NAME_PARAMETER, a->walk_param, place, a->name);
}

/* ---- rank, tree ---- */
static void read_rank_by(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = load_access_scope(l, a, true);

	s->also = "age";
	a->rank = load_term(l, y, s);
}

static const struct load_shape rank_by_shape = { SHAPE_TYPE, .type = WORD_TERM };

static const struct load_word rank_words[] = {
	{ "by", .read = read_rank_by, .shape = &rank_by_shape },
	{ "keep", WORD_INTEGER, AT(access, rank_keep), "a number of items", .most = RANKED_MOST },
	{ 0 },
};

static const char *const rank_needs[] = { "by", NULL };
const struct load_shape load_rank_shape = { SHAPE_WORDS, "'rank'", .words = rank_words, .needed = rank_needs };

void load_rank(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	if (load_words(l, y, "'rank'", rank_words, a, NULL) && !a->rank)
		load_error(l, y->place, "missing-word", "'rank' needs 'by'");
}

static const struct load_word tree_words[] = {
	{ "parent", WORD_TEXT, AT(access, tree_parent), "the name of an attribute", NAME_ROW_ATTRIBUTE },
	{ "by", WORD_TEXT, AT(access, tree_by), "the name of an attribute", NAME_ROW_ATTRIBUTE },
	{ 0 },
};

static const char *const tree_needs[] = { "parent", NULL };
const struct load_shape load_tree_shape = { SHAPE_WORDS, "'tree'", .words = tree_words, .needed = tree_needs };

void load_tree(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	if (load_words(l, y, "'tree'", tree_words, a, NULL) && !a->tree_parent.n)
		load_error(l, y->place, "missing-word", "'tree' needs 'parent'");
}
