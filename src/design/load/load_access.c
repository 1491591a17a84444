/* Access patterns: a named read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define LIMIT_MOST 100000

/* ---- address and parameters ---- */
static void read_path(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_path p = load_path(l, y, NULL);

	a->path = p.text;
	a->path_template = p.template;
	a->params = p.params;
	a->param_count = p.count;
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

	a->kind = ACCESS_GET;
	if (y->kind != YAML_MAP) {
		(void)load_item(l, y, "an item, as in Post(post_id), or its keys", load_access_scope(l, a, false),
				&a->get);
		return;
	}
	load_where(l, a, y);
	for (size_t i = 0; i < a->where_count; i++)
		if (a->where[i].op != WHERE_EQ || a->where[i].optional)
			load_error(l, a->where[i].place, "wrong-value", "'get' needs whole keys");
}

/* Without a scope: names that are no parameters name the ids in the query string. */
static void read_batch(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->kind = ACCESS_BATCH;
	(void)load_item(l, y, "an item, as in Vote(caller, id)", NULL, &a->get);
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
		load_later_found(l, NAME_INDEX, name, y->place, SLICE(""), &a->from);
}

static void read_merge(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->kind = ACCESS_MERGE;
	load_merge(l, a, y);
}

/* ---- how it is read ---- */
static const struct slice orders[] = { { "ascending", 9 },   { "oldest first", 12 }, { "lowest first", 12 },
				       { "descending", 10 }, { "newest first", 12 }, { "highest first", 13 } };

static void read_order(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	if (!load_is_scalar(l, y, "an order, as in newest first"))
		return;
	a->order = y->text;
	a->descending = load_choice(l, y->text, y->place, "order called", &NAMES(orders)) >= 3;
}

static const struct slice all_rows[] = { { "all rows", 8 } };

static void read_shows(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;

	a->shows_all = slice_equal(load_text(l, y, "all rows"), all_rows[0]);
	a->shows_place = y->place;
	if (!a->shows_all)
		load_error(l, y->place, "wrong-value",
			   "'shows' has one value, 'all rows': it ignores the rules of the rows");
}

static const struct load_shape with_shape = { SHAPE_MAP, "parameters and their types", "[A-Za-z_][A-Za-z0-9_]*",
					      .of = &load_attribute_shape };
static const struct load_shape *const get_shapes[] = { &load_item_shape, &load_where_shape, NULL };
static const struct load_shape get_shape = { SHAPE_EITHER, "an item, as in Post(post_id), or its keys",
					     .either = get_shapes };
static const struct load_shape condition_shape = { SHAPE_TEXT, "a condition", .is_words = true };
static const struct load_shape filter_shape = { SHAPE_LIST, "a condition, or a list of conditions of which all hold",
						.of = &condition_shape };
static const struct load_shape query_shape = { SHAPE_TEXT, "the name of an index, or 'table'" };
static const struct load_shape order_shape = { SHAPE_CHOICE, "the order of the items", .choices = orders,
					       .choice_count = LENGTH(orders) };
static const struct load_shape shows_shape = { SHAPE_CHOICE, "ignores the rules of the rows", .choices = all_rows,
					       .choice_count = 1 };

/* Of the rows as they are shown: those that `then` fetches. */
static void read_show(struct load *l, void *into, const struct yaml *y)
{
	struct access *a = into;
	struct load_scope *s = load_access_scope(l, a, true);

	s->fetched = true;
	a->show_count = load_show(l, y, s, &a->show);
}

static const struct load_word words[] = {
	{ "is", WORD_TEXTS, LIST_AT(access, ids, id_count), "an id, or a list of ids" },
	{ "path", .read = read_path, .shape = &load_path_shape },
	{ "with", .read = read_with, .shape = &with_shape },
	{ "get", .read = read_get, .shape = &get_shape },
	{ "query", .read = read_query, .shape = &query_shape },
	{ "where", .read = load_where, .shape = &load_where_shape },
	{ "merge", .read = read_merge, .shape = &load_merge_shape },
	{ "batch", .read = read_batch, .shape = &load_item_shape },
	{ "filter", .read = load_filter, .shape = &filter_shape },
	{ "returns", WORD_TEXT, AT(access, entity), "the name of an entity", NAME_ENTITY, FOUND(access, of) },
	{ "order", .read = read_order, .shape = &order_shape },
	{ "limit", WORD_INTEGER, AT(access, limit), "a number of items", .most = LIMIT_MOST },
	{ "cache", WORD_DURATION, AT(access, cache_seconds) },
	{ "consistent", WORD_BOOL, AT(access, consistent) },
	{ "one", WORD_BOOL, AT(access, single) },
	{ "count", WORD_BOOL, AT(access, count_only) },
	{ "show", .read = read_show, .shape = &load_show_shape },
	{ "without", WORD_TEXTS, LIST_AT(access, without, without_count), "a list of attributes", NAME_ROW_ATTRIBUTE },
	{ "then", .read = load_then, .shape = &load_then_shape },
	{ "walk", .read = load_walk, .shape = &load_walk_shape },
	{ "rank", .read = load_rank, .shape = &load_rank_shape },
	{ "tree", .read = load_tree, .shape = &load_tree_shape },
	{ "unite", WORD_TEXT, AT(access, unite), "the name of an attribute", NAME_ROW_ATTRIBUTE },
	{ "allow", WORD_TERM, AT(access, allow) },
	{ "for operators", WORD_BOOL, AT(access, operators_only) },
	{ "shows", .read = read_shows, .shape = &shows_shape },
	{ "actions", WORD_TEXTS, LIST_AT(access, actions, action_count), "a list of actions", NAME_ROW_ACTION },
	{ "accept", WORD_ACCEPT, AT(access, accepts) },
	{ 0 },
};

static const char *const kinds[] = { "get", "query", "merge", "batch", NULL };
static const struct load_shape access_shape = { SHAPE_WORDS, "an access pattern", .words = words, .one_of = { kinds } };
const struct load_shape load_accesses_shape = { SHAPE_MAP, "access patterns by name", .of = &access_shape };

/* ---- parameters of a pattern without a path: its placeholders, in order ---- */
static bool is_parameter(const struct access *a, struct slice name)
{
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		if (slice_equal(p->name, name))
			return true;
	return slice_among(a->params, a->param_count, name) || slice_is(name, "caller");
}

static size_t add_placeholders(const struct access *a, const struct template *t, struct slice *names, size_t n)
{
	EACH (struct template_part, part, t ? t->parts : NULL, t ? t->part_count : 0)
		if (part->names && !is_parameter(a, part->names[0]) && !slice_among(names, n, part->names[0]))
			names[n++] = part->names[0];
	return n;
}

static void params_from_placeholders(struct load *l, struct access *a)
{
	size_t most = a->get.arg_count, n = 0;
	struct slice *names;

	EACH (struct where_rule, w, a->where, a->where_count)
		most += (w->value ? w->value->part_count : 0) + (w->upper ? w->upper->part_count : 0);
	names = arena_array(l->a, struct slice, most);
	EACH (struct where_rule, w, a->where, a->where_count) {
		n = add_placeholders(a, w->value, names, n);
		n = add_placeholders(a, w->upper, names, n);
	}
	for (size_t i = 0; i < a->get.arg_count; i++) {
		const struct slice *name = term_name(a->get.args[i]);

		if (name && !is_parameter(a, *name))
			names[n++] = *name;
	}
	a->params = names;
	a->param_count = n;
}

/* ---- whole patterns ---- */
static void check_access(struct load *l, const struct access *a)
{
	if (a->kind == ACCESS_GET && !a->get.entity.n && !a->where_count)
		load_error(l, a->place, "missing-word", "an access pattern needs 'get', 'query', 'merge' or 'batch'")
			->repair = SLICE("as in query: table, where: {PK: USER#<user>}");
	if (a->action_count && (!a->path.n || a->single || a->count_only || a->unite.n))
		load_error(l, a->place, "wrong-clause", "'actions' goes with a list that has a 'path'");
	if (a->kind == ACCESS_QUERY && !a->where_count)
		load_error(l, a->place, "missing-word", "a query needs 'where'")->repair =
			SLICE("give the whole partition key, as in where: {PK: USER#<user>}");
	if (a->show_count && (a->count_only || a->unite.n))
		load_error(l, a->show->place, "wrong-clause", "'show' goes with rows, and %s",
			   a->count_only ? "'count' has none" : "'unite' has none");
	if (a->shows_all && !a->allow)
		load_error(l, a->shows_place, "missing-word", "'shows: all rows' needs 'allow': to whom");
	EACH (struct attribute, p, a->query_params, a->path.n ? a->query_param_count : 0)
		if (slice_among(a->params, a->param_count, p->name))
			load_error(l, p->place, "duplicate-key", "'%.*s' is in the path already", SLICE_ARG(p->name))
				->repair = SLICE("leave it out: the parameters of the path are declared by it");
}

static void check_kinds(struct load *l, const struct access *a, const struct yaml *y)
{
	load_one_of(l, y, kinds, "an access pattern has one of 'get', 'query', 'merge' and 'batch'");
	for (size_t i = 0; y->kind == YAML_MAP && i < y->count; i++)
		if (slice_is(y->entries[i].key.text, "where") && a->kind != ACCESS_QUERY)
			load_error(l, y->entries[i].key.place, "wrong-clause", "'where' goes with 'query'");
}

static void check_paths(struct load *l, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (template_alike(l->accesses[i].path_template, l->accesses[k].path_template))
				load_error(l, l->accesses[i].place, "same-path", "'%.*s' has this path, too",
					   SLICE_ARG(l->accesses[k].name))
					->repair =
					SLICE("give one of them another path; names of placeholders do not tell "
					      "them apart");
}

void load_accesses(struct load *l, void *into, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of access patterns by name", &count);

	(void)into;
	l->accesses = arena_array(l->a, struct access, count + load_bound_count(l));
	l->d->accesses = l->accesses;
	l->d->access_count = count;
	for (size_t i = 0; i < count; i++) {
		struct access *a = &l->accesses[i];
		size_t before = findings_errors(l->f);

		l->access = a;
		l->scope = load_access_scope(l, a, true);
		a->name = entries[i].key.text;
		a->place = entries[i].key.place;
		load_subject(l, "access", a->name);
		(void)load_words(l, &entries[i].value, "an access pattern", words, a, NULL);
		check_kinds(l, a, &entries[i].value);
		if (findings_errors(l->f) == before)
			check_access(l, a);
		if (!a->path.n)
			params_from_placeholders(l, a);
	}
	check_paths(l, count);
	l->access = NULL;
	l->subject = SLICE("");
}
