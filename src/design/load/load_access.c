/* Access patterns: a named read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define LIMIT_MOST 100000

/* Parameters, input.x, and what `rows` adds: attributes of the rows. */
static struct load_scope *scope_of(struct load *l, const struct access *a, bool rows)
{
	struct load_scope *s = arena_new(l->a, struct load_scope);

	s->access = a;
	s->rows = rows;
	s->input = true;
	return s;
}

/* ---- address and parameters ---- */
static void read_is(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->id_count = load_texts(l, y, "an id, or a list of ids", &a->ids);
}

static void read_path(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	load_path(l, y, NULL, &a->path, &a->path_template, &a->params, &a->param_count);
}

static void read_with(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of parameters and their types", &count);
	struct attribute *list = arena_array(l->a, struct attribute, count);

	for (size_t i = 0; i < count; i++) {
		if (!load_is_name(entries[i].key.text))
			load_error(l, entries[i].key.place, "bad-name",
				   "the name of a parameter has letters, digits and '_'");
		load_attribute(l, &entries[i], NULL, NULL, &list[i]);
	}
	a->query_params = list;
	a->query_param_count = count;
}

/* ---- what is read ---- */
static void read_get(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_span s;

	a->kind = ACCESS_GET;
	if (y->kind == YAML_MAP) {
		load_where(l, a, y);
		for (size_t i = 0; i < a->where_count; i++)
			if (a->where[i].op != WHERE_EQ || a->where[i].optional)
				load_error(l, a->where[i].place, "wrong-value", "'get' needs whole keys");
		return;
	}
	if (!load_is_scalar(l, y, "an item, as in Post(post_id), or its keys"))
		return;
	s = load_whole(y);
	if (load_reference(l, &s, scope_of(l, a, false), &a->get) && s.n)
		load_error(l, span_place(l, s), "unknown-word", "expected nothing after the item, not '%.*s'",
			   SLICE_ARG(span_text(s)));
}

static void read_batch(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_span s;

	a->kind = ACCESS_BATCH;
	if (!load_is_scalar(l, y, "an item, as in Vote(caller, id)"))
		return;
	s = load_whole(y);
	/* names that are no parameters are those the ids in the query string go by */
	if (load_reference(l, &s, NULL, &a->get) && s.n)
		load_error(l, span_place(l, s), "unknown-word", "expected nothing after the item, not '%.*s'",
			   SLICE_ARG(span_text(s)));
}

static void read_query(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct slice name = load_text(l, y, "the name of an index, or 'table'");

	a->kind = ACCESS_QUERY;
	if (slice_is(name, "table"))
		return;
	a->index = name;
	if (name.n)
		load_later_index(l, name, y->place);
}

static void read_where(struct load *l, void *into, const struct yaml *y)
{
	load_where(l, into, y);
}

static void read_merge(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->kind = ACCESS_MERGE;
	load_merge(l, a, y);
}

static void read_filter(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->filter = load_term(l, y, scope_of(l, a, true));
}

static void read_returns(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->entity = load_text(l, y, "the name of an entity");
	if (a->entity.n)
		load_later_entity(l, a->entity, y->place);
}

/* ---- how it is read ---- */
static void read_order(struct load *l, void *into, const struct yaml *y)
{
	static const struct slice names[] = { { "ascending", 9 },   { "oldest first", 12 }, { "lowest first", 12 },
					      { "descending", 10 }, { "newest first", 12 }, { "highest first", 13 } };
	struct access *a = into;

	if (!load_is_scalar(l, y, "an order, as in newest first"))
		return;
	a->order = y->text;
	for (size_t i = 0; i < 6; i++)
		if (slice_equal(y->text, names[i])) {
			a->descending = i >= 3;
			return;
		}
	load_unknown(l, y->place, "unknown-word", "order called", y->text, names, 6);
}

static void read_limit(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->limit = load_integer(l, y, 1, LIMIT_MOST, "a number of items");
}

static void read_cache(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->cache_seconds = load_duration(l, y);
}

static void read_consistent(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->consistent = load_bool(l, y);
}

static void read_one(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->single = load_bool(l, y);
}

static void read_count(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->count_only = load_bool(l, y);
}

static void read_without(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;
	size_t count = y->kind == YAML_LIST ? y->count : y->kind == YAML_SCALAR;

	a->without_count = load_texts(l, y, "a list of attributes", &a->without);
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR)
			load_later_row_attribute(l, items[i].text, items[i].place, a);
}

static void read_actions(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;
	size_t count = y->kind == YAML_LIST ? y->count : y->kind == YAML_SCALAR;

	a->action_count = load_texts(l, y, "a list of actions", &a->actions);
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR)
			load_later_row_action(l, items[i].text, items[i].place, a);
}

static void read_unite(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->unite = load_text(l, y, "the name of an attribute");
	if (a->unite.n)
		load_later_row_attribute(l, a->unite, y->place, a);
}

static void read_allow(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->allow = load_term(l, y, scope_of(l, a, true));
}

static void read_shows(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->shows_all = slice_is(load_text(l, y, "all rows"), "all rows");
	a->shows_place = y->place;
	if (!a->shows_all)
		load_error(l, y->place, "wrong-value", "'shows' is 'all rows': whatever the rules of the rows say");
}

static void read_operators(struct load *l, void *into, const struct yaml *y)
{
	((struct access *)into)->operators_only = load_bool(l, y);
}

static void read_accept(struct load *l, void *into, const struct yaml *y)
{
	load_accept(l, &((struct access *)into)->accepts, y);
}

/* clang-format off */
static const struct load_word words[] = {
	{ "is", read_is },	     { "path", read_path },
	{ "with", read_with },	     { "get", read_get },
	{ "query", read_query },     { "where", read_where },
	{ "merge", read_merge },     { "batch", read_batch },
	{ "filter", read_filter },   { "returns", read_returns },
	{ "order", read_order },     { "limit", read_limit },
	{ "cache", read_cache },     { "consistent", read_consistent },
	{ "one", read_one },	     { "count", read_count },
	{ "without", read_without }, { "then", load_then },
	{ "walk", load_walk },	     { "rank", load_rank },
	{ "tree", load_tree },	     { "unite", read_unite },
	{ "allow", read_allow },     { "for operators", read_operators },
	{ "shows", read_shows },
	{ "actions", read_actions }, { "accept", read_accept },
	{ 0 },
};
/* clang-format on */

/* ---- parameters of a pattern without a path: its placeholders, in order ---- */
static bool is_parameter(const struct access *a, struct slice name)
{
	for (size_t i = 0; i < a->param_count; i++)
		if (slice_equal(a->params[i], name))
			return true;
	for (size_t i = 0; i < a->query_param_count; i++)
		if (slice_equal(a->query_params[i].name, name))
			return true;
	return slice_is(name, "caller");
}

static size_t add_placeholders(const struct access *a, const struct template *t, struct slice *names, size_t n)
{
	for (size_t i = 0; t && i < t->part_count; i++) {
		const struct template_part *part = &t->parts[i];
		bool seen = !part->names || is_parameter(a, part->names[0]);

		for (size_t k = 0; !seen && k < n; k++)
			seen = slice_equal(names[k], part->names[0]);
		if (!seen)
			names[n++] = part->names[0];
	}
	return n;
}

static void params_from_placeholders(struct load *l, struct access *a)
{
	size_t most = a->get.arg_count, n = 0;
	struct slice *names;

	for (size_t i = 0; i < a->where_count; i++)
		most += (a->where[i].value ? a->where[i].value->part_count : 0) +
			(a->where[i].upper ? a->where[i].upper->part_count : 0);
	names = arena_array(l->a, struct slice, most);
	for (size_t i = 0; i < a->where_count; i++) {
		n = add_placeholders(a, a->where[i].value, names, n);
		n = add_placeholders(a, a->where[i].upper, names, n);
	}
	for (size_t i = 0; i < a->get.arg_count; i++)
		if (a->get.args[i]->kind == TERM_PATH && a->get.args[i]->name_count == 1 &&
		    !is_parameter(a, a->get.args[i]->names[0]))
			names[n++] = a->get.args[i]->names[0];
	a->params = names;
	a->param_count = n;
}

/* ---- all together ---- */
static void check_access(struct load *l, const struct access *a)
{
	if (a->kind == ACCESS_GET && !a->get.entity.n && !a->where_count)
		load_error(l, a->place, "missing-word", "an access pattern needs 'get', 'query', 'merge' or 'batch'");
	if (a->action_count && (!a->path.n || a->single || a->count_only || a->unite.n))
		load_error(l, a->place, "wrong-clause", "'actions' goes with a list that has a 'path'");
	if (a->kind == ACCESS_QUERY && !a->where_count)
		load_error(l, a->place, "missing-word", "a query needs 'where'");
	if (a->shows_all && !a->allow)
		load_error(l, a->shows_place, "missing-word", "'shows: all rows' needs 'allow': to whom");
	for (size_t i = 0; i < a->param_count && a->path.n; i++)
		for (size_t k = 0; k < a->query_param_count; k++)
			if (slice_equal(a->params[i], a->query_params[k].name))
				load_error(l, a->query_params[k].place, "duplicate-key",
					   "'%.*s' is in the path already", SLICE_ARG(a->params[i]));
}

static void check_kinds(struct load *l, const struct access *a, const struct yaml *y)
{
	static const char *const kinds[] = { "get", "query", "merge", "batch" };
	size_t n = 0;

	for (size_t i = 0; y->kind == YAML_MAP && i < y->count; i++) {
		const struct yaml *key = &y->entries[i].key;

		for (size_t k = 0; k < 4; k++)
			if (slice_is(key->text, kinds[k]) && ++n == 2)
				load_error(l, key->place, "wrong-clause",
					   "an access pattern has one of 'get', 'query', 'merge' "
					   "and 'batch'");
		if (slice_is(key->text, "where") && a->kind != ACCESS_QUERY)
			load_error(l, key->place, "wrong-clause", "'where' goes with 'query'");
	}
}

/* Literals equal, placeholders anything. */
static bool same_shape(const struct template *x, const struct template *y)
{
	if (!x || !y || x->part_count != y->part_count)
		return false;
	for (size_t i = 0; i < x->part_count; i++)
		if (!x->parts[i].names != !y->parts[i].names ||
		    (!x->parts[i].names && !slice_equal(x->parts[i].literal, y->parts[i].literal)))
			return false;
	return true;
}

static void check_paths(struct load *l, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (same_shape(l->accesses[i].path_template, l->accesses[k].path_template))
				load_error(l, l->accesses[i].place, "same-path", "'%.*s' has this path, too",
					   SLICE_ARG(l->accesses[k].name));
}

void load_accesses(struct load *l, void *into, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of access patterns by name", &count);

	(void)into;
	l->accesses = arena_array(l->a, struct access, count);
	l->d->accesses = l->accesses;
	l->d->access_count = count;
	for (size_t i = 0; i < count; i++) {
		struct access *a = &l->accesses[i];
		size_t before = findings_errors(l->f);

		a->name = entries[i].key.text;
		a->place = entries[i].key.place;
		l->subject = arena_printf(l->a, "access %.*s", SLICE_ARG(a->name));
		load_words(l, &entries[i].value, "an access pattern", words, a, NULL);
		check_kinds(l, a, &entries[i].value);
		if (findings_errors(l->f) == before)
			check_access(l, a);
		if (!a->path.n)
			params_from_placeholders(l, a);
	}
	check_paths(l, count);
	l->subject = SLICE("");
}
