/* What an access pattern does with keys and rows: where, then, merge, walk, rank, tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define RANGE_MOST  1000
#define LEVELS_MOST 32
#define DAYS_MOST   3660

static struct load_scope *scope_of(struct load *l, const struct access *a, bool rows)
{
	struct load_scope *s = arena_new(l->a, struct load_scope);

	s->access = a;
	s->rows = rows;
	s->input = true;
	return s;
}

/* ---- where ---- */
static bool take_optional(struct load_span *s)
{
	struct slice t = span_text(*s), tail = SLICE(" if given");

	if (t.n <= tail.n || !slice_equal(slice_make(t.p + t.n - tail.n, tail.n), tail))
		return false;
	*s = span_cut(*s, 0, t.n - tail.n);
	return true;
}

static bool read_between(struct load *l, const struct access *a, struct load_span s, struct where_rule *w)
{
	struct load_span lower;

	if (!span_split_word(&s, "and", &lower) || !lower.n || !s.n) {
		load_error(l, span_place(l, lower), "wrong-value", "expected 'between … and …'");
		return false;
	}
	w->op = WHERE_BETWEEN;
	w->value = load_span_template(l, lower, scope_of(l, a, false));
	w->upper = load_span_template(l, s, scope_of(l, a, false));
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
	w->optional = take_optional(&s);
	if (span_take(&s, "between"))
		return read_between(l, a, s, w);
	w->op = WHERE_EQ;
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (span_take(&s, operators[i].words)) {
			w->op = operators[i].op;
			break;
		}
	if (!s.n) {
		load_expected(l, y, "a template, or a condition as in begins with POST#");
		return false;
	}
	w->value = load_span_template(l, s, scope_of(l, a, false));
	return w->value != NULL;
}

void load_where(struct load *l, struct access *a, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of key attributes and templates", &count);
	struct where_rule *list = arena_array(l->a, struct where_rule, count);

	a->where_count = 0; /* `get` and `where` in one pattern: said elsewhere */
	for (size_t i = 0; i < count; i++) {
		struct where_rule *w = &list[a->where_count];

		*w = (struct where_rule){ .attribute = entries[i].key.text, .place = entries[i].key.place };
		load_later_key(l, w->attribute, w->place, a);
		a->where_count += read_condition(l, a, &entries[i].value, w);
	}
	a->where = list;
}

/* ---- then ---- */
static void read_then_get(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->then.entity = load_text(l, y, "the name of an entity");
	if (a->then.entity.n)
		load_later_entity(l, a->then.entity, y->place);
}

static void read_then_keys(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->then.key_count = load_rules(l, y, "the keys of an item, as in {PK: <siteId>, SK: METADATA}",
				       scope_of(l, a, true), &a->then.keys);
}

/* `keep` is about what was fetched: an entity that may stand after it. */
static void read_then_keep(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = scope_of(l, a, true);

	s->fetched = true;
	a->then.keep = load_term(l, y, s);
}

static const struct load_word then_words[] = {
	{ "get", read_then_get },
	{ "keys", read_then_keys },
	{ "keep", read_then_keep },
	{ 0 },
};

void load_then(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t before = findings_errors(l->f);

	a->has_then = true;
	load_words(l, y, "'then'", then_words, a, NULL);
	if (findings_errors(l->f) == before && !a->then.key_count)
		load_error(l, y->place, "missing-word", "'then' needs 'keys'");
}

/* ---- merge ---- */
static struct slice pattern_name(struct load *l, const struct yaml *y)
{
	struct slice name = load_text(l, y, "the name of an access pattern");

	if (name.n)
		load_later_access(l, name, y->place);
	return name;
}

static void read_run(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->merge_pattern = pattern_name(l, y);
}

static void read_for_each(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->merge_over = pattern_name(l, y);
}

/* n in 1..5, or word in <list> */
static void read_for(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "a loop, as in n in 1..5 or word in words(input.q)";
	struct access *a = into;
	struct load_span s, variable, from, to;
	const char *dots;

	if (!load_is_scalar(l, y, expected))
		return;
	s = load_whole(y);
	if (!span_split_word(&s, "in", &variable) || !span_is_name(variable) || !s.n) {
		load_expected(l, y, expected);
		return;
	}
	a->range_variable = span_text(variable);
	dots = memmem(span_text(s).p, s.n, "..", 2);
	if (!dots) {
		a->range_list = load_span_term(l, s, scope_of(l, a, false));
		return;
	}
	from = span_cut(s, 0, (size_t)(dots - span_text(s).p));
	to = span_cut(s, from.n + 2, s.n - from.n - 2);
	if (!span_integer(from, &a->range_from) || !span_integer(to, &a->range_to) || a->range_from > a->range_to ||
	    a->range_from < -RANGE_MOST || a->range_to > RANGE_MOST)
		load_error(l, span_place(l, s), "wrong-value",
			   "expected a range of whole numbers from %d to %d, as in 1..5", -RANGE_MOST, RANGE_MOST);
}

static void read_merge_by(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->merge_by = load_text(l, y, "the name of an attribute");
	if (a->merge_by.n)
		load_later_row_attribute(l, a->merge_by, y->place, NULL);
}

static void read_merge_else(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->merge_else = load_text(l, y, "the name of an attribute");
	if (a->merge_else.n)
		load_later_row_attribute(l, a->merge_else, y->place, NULL);
}

static void read_in_all(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->merge_in_all = load_bool(l, y);
}

static void read_levels(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->merge_levels = load_integer(l, y, 1, LEVELS_MOST, "a number of levels");
}

static void read_of(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;
	size_t count = y->kind == YAML_LIST ? y->count : y->kind == YAML_SCALAR;

	a->merge_of_count = load_texts(l, y, "a list of access patterns", &a->merge_of);
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR)
			load_later_access(l, items[i].text, items[i].place);
}

static void read_merge_with(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = scope_of(l, a, a->merge_over.n > 0);

	s->variable = a->range_variable;
	s->over = a->merge_over;
	a->merge_with_count = load_assignments(l, y, s, SLICE(""), &a->merge_with);
	for (size_t i = 0; i < a->merge_with_count; i++)
		load_later_param(l, a->merge_with[i].attribute, a->merge_with[i].place, a->merge_pattern);
}

static const struct load_word merge_words[] = {
	{ "run", read_run },       { "for each", read_for_each },
	{ "for", read_for },       { "with", read_merge_with },
	{ "by", read_merge_by },   { "else", read_merge_else },
	{ "in all", read_in_all }, { "levels", read_levels },
	{ "of", read_of },         { 0 },
};

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
	size_t before = findings_errors(l->f);

	load_words(l, y, "a merge", merge_words, into, NULL);
	if (findings_errors(l->f) == before)
		check_merge(l, into, y);
}

/* ---- walk ---- */
/* one day back, 7 times */
static bool read_steps(struct access *a, struct load_span s)
{
	struct load_span step, number, times;
	int64_t days;

	if (!span_split(&s, ',', &step) || !span_split_word(&s, "times", &times) ||
	    !span_integer(times, &a->walk_times) || s.n)
		return false;
	span_split(&step, ' ', &number);
	if (slice_is(span_text(number), "one") || slice_is(span_text(number), "a"))
		days = 1;
	else if (!span_integer(number, &days))
		return false;
	if (span_take(&step, "week") || span_take(&step, "weeks"))
		days *= 7;
	else if (!span_take(&step, "day") && !span_take(&step, "days"))
		return false;
	a->walk_days = days;
	return slice_is(span_text(step), "back") && days > 0 && days <= DAYS_MOST && a->walk_times > 0 &&
	       a->walk_times <= DAYS_MOST;
}

void load_walk(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "a walk, as in {date: one day back, 7 times}";
	struct access *a = into;
	const struct yaml_entry *entries;
	struct load_span s, name;
	struct place place;
	size_t count;

	if (y->kind == YAML_MAP) {
		entries = yaml_entries(l->a, l->source, y, YAML_JOIN_VALUES, &count);
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
			   "expected how far and how often, as in one day back, 7 times");
	load_later_param(l, a->walk_param, place, a->name);
}

/* ---- rank, tree ---- */
static void read_rank_by(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = scope_of(l, a, true);

	s->also = "age";
	a->rank = load_term(l, y, s);
}

static void read_rank_keep(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->rank_keep = load_integer(l, y, 1, 1000000, "a number of items");
}

static const struct load_word rank_words[] = {
	{ "by", read_rank_by },
	{ "keep", read_rank_keep },
	{ 0 },
};

void load_rank(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t before = findings_errors(l->f);

	load_words(l, y, "'rank'", rank_words, a, NULL);
	if (findings_errors(l->f) == before && !a->rank)
		load_error(l, y->place, "missing-word", "'rank' needs 'by'");
}

static void read_tree_parent(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->tree_parent = load_text(l, y, "the name of an attribute");
	if (a->tree_parent.n)
		load_later_row_attribute(l, a->tree_parent, y->place, a);
}

static void read_tree_by(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->tree_by = load_text(l, y, "the name of an attribute");
	if (a->tree_by.n)
		load_later_row_attribute(l, a->tree_by, y->place, a);
}

static const struct load_word tree_words[] = {
	{ "parent", read_tree_parent },
	{ "by", read_tree_by },
	{ 0 },
};

void load_tree(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t before = findings_errors(l->f);

	load_words(l, y, "'tree'", tree_words, a, NULL);
	if (findings_errors(l->f) == before && !a->tree_parent.n)
		load_error(l, y->place, "missing-word", "'tree' needs 'parent'");
}
