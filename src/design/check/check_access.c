/* Rules about access patterns: whether DynamoDB can answer them, and whether they find the right items and only
 * those.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static void needs_scan(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (a->kind != ACCESS_QUERY || r->space)
		return;
	const struct space *s = check_space(c, a->index);
	if (!s)
		check_say(c, AT_SUBJECT, "there is no index %.*s", SLICE_ARG(a->index));
	else
		check_say(c, AT_SUBJECT, "the query does not say which partition of %.*s (%.*s = …)",
			  SLICE_ARG(s->name), SLICE_ARG(s->key->hash[0].name));
}

/* Whether an item of the entity can have the keys. */
static bool can_have_keys(struct checker *c, const struct entity *e, const struct key_rule *keys, size_t n)
{
	const struct space *table = &c->spaces[0];

	EACH (struct entry, x, table->entries, table->entry_count) {
		bool all = x->shape->entity == e && !x->shape->companion;

		for (size_t k = 0; all && k < key_attr_count(table->key); k++)
			EACH (struct key_rule, r, keys, n)
				if (slice_equal(r->attribute, key_attr_at(table->key, k)->name))
					all = all && template_meets(c->arena, r->template, entry_key(table, x, k), e);
		if (all)
			return true;
	}
	return false;
}

static void then_finds_nothing(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;

	if (a->has_then && a->then.of && !can_have_keys(c, a->then.of, a->then.keys, a->then.key_count))
		check_say(c, a->then.keys[0].place, "no %.*s has keys like these (%.*s)", SLICE_ARG(a->then.of->name),
			  SLICE_ARG(a->then.keys[a->then.key_count - 1].template->text));
}

static void finds_nothing(struct checker *c, const struct reach *r)
{
	then_finds_nothing(c, r);
	if (!r->space || r->entry_count)
		return;
	const struct access *a = r->access;
	struct slice asked = a->where_count ? a->where[a->where_count - 1].value->text : SLICE("…");
	if (r->by_key_count)
		check_say(c, AT_SUBJECT, "the filter holds for nothing that the query of %.*s can find",
			  SLICE_ARG(r->space->name));
	else
		check_say(c, a->where_count ? a->where[0].place : AT_SUBJECT,
			  "nothing in %.*s has keys like this (%.*s)", SLICE_ARG(r->space->name), SLICE_ARG(asked));
}

/* The names of the kinds of items a query reaches, "Post, Like and Comment". */
static struct slice kinds(struct checker *c, const struct reach *r, size_t *count)
{
	struct buf b;
	buf_init(&b, c->arena);
	*count = 0;
	EACH (struct entry, x, r->entries, r->entry_count) {
		bool seen = false;
		EACH (struct entry, earlier, r->entries, (size_t)(x - r->entries))
			seen |= earlier->shape == x->shape;
		if (seen)
			continue;
		buf_str(&b, (*count)++ ? ", " : "");
		buf_put(&b, x->shape->name);
	}
	return buf_slice(&b);
}

static bool is_own_mirror(const struct reach *r)
{
	bool main = false;
	EACH (struct entry, x, r->entries, r->entry_count) {
		if (x->shape->entity != r->entries[0].shape->entity)
			return false;
		main |= !x->shape->companion;
	}
	return main;
}

static bool has_sort_condition(const struct reach *r)
{
	EACH (struct key_attr, k, r->space->key->range, r->space->key->range_count)
		if (check_where(r->access, k->name))
			return true;
	return false;
}

static void mixed_collection(struct checker *c, const struct reach *r)
{
	size_t n = 0;
	struct slice names = r->space ? kinds(c, r, &n) : SLICE("");
	if (n < 2 || (r->space->index && is_own_mirror(r))) /* rule mirror-in-index reports its own mirror */
		return;
	check_say(c, AT_SUBJECT, "the query returns several kinds of items: %.*s", SLICE_ARG(names));
	/* Without `returns`, a whole collection (an order and its lines) may be meant. */
	if (!r->access->entity.n && !has_sort_condition(r))
		check_severity(c, SEVERITY_WARNING);
}

/* The attribute that the last placeholder of a prefix stands for in what is found. */
static bool prefix_is_closed(struct checker *c, const struct where_rule *w, const struct template *t,
			     const struct entity *e)
{
	size_t n = template_holes(w->value);
	const struct template_part *peer = n ? template_hole(t, n - 1) : NULL;
	if (!peer)
		return false;
	if (peer->format != FORMAT_PLAIN && peer->format != FORMAT_LOWER)
		return true;
	const struct attribute *a = hole_attribute(c, e, peer);
	/* Prefixes of grid cells (geohash) are meant to match longer values. */
	struct slice asked = template_hole(w->value, n - 1)->names[0];
	if (name_contains(c->arena, peer->names[0], "geohash quadkey plus_code pluscode h3") ||
	    name_contains(c->arena, asked, "geohash quadkey prefix beginning startswith"))
		return true;
	return a && (a->id || attribute_is_time(a)); /* ids have one length; prefixes of times are meant */
}

static void open_prefix(struct checker *c, const struct reach *r)
{
	if (!r->space)
		return;
	EACH (struct where_rule, w, r->access->where, r->access->where_count) {
		const struct template *t = w->value;
		if (w->op != WHERE_BEGINS || !t->part_count || !t->parts[t->part_count - 1].names)
			continue;
		bool closed = true;
		EACH (struct entry, x, r->entries, r->entry_count)
			closed = closed && prefix_is_closed(c, w, x->range[0], x->shape->entity);
		if (closed)
			continue;
		check_say(c, w->place, "begins with %.*s also finds what begins with a longer value",
			  SLICE_ARG(t->text));
		check_repair(c, "End the prefix with the delimiter: begins with %.*s#; for one item use get.",
			     SLICE_ARG(t->text));
	}
}

static void consistent_index(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (a->consistent && a->kind == ACCESS_QUERY && a->index.n)
		check_say(c, AT_SUBJECT, "reads %.*s, an index, consistently", SLICE_ARG(a->index));
}

static void filter_over_key(struct checker *c, const struct reach *r)
{
	const struct key_schema *k = r->space->key;
	for (size_t i = 0; i < key_attr_count(k); i++) {
		struct slice name = key_attr_at(k, i)->name;
		if (!term_mentions(r->access->filter, name))
			continue;
		check_say(c, r->access->filter->place, "the filter names %.*s, a key of %.*s", SLICE_ARG(name),
			  SLICE_ARG(r->space->name));
		check_repair(c, "Put the condition on %.*s into `where`.", SLICE_ARG(name));
	}
}

static void bad_filter(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	const char *why = "";
	if (!a->filter)
		return;
	if (!term_can_filter(a->filter, &why))
		check_say(c, a->filter->place, "DynamoDB cannot evaluate the filter: %s", why);
	else if (r->space)
		filter_over_key(c, r);
}

/* ---- projections ---- */

static bool projects(const struct checker *c, const struct space *s, struct slice name)
{
	if (!s->index || is_key_attribute(s->key, name) || design_is_table_key(c->d, name))
		return true;
	return index_carries(s->index, name);
}

static const struct entry *table_entry(const struct checker *c, const struct shape *s)
{
	EACH (struct entry, e, c->spaces[0].entries, c->spaces[0].entry_count)
		if (e->shape == s)
			return e;
	return NULL;
}

static bool key_names(const struct space *s, const struct entry *e, struct slice name)
{
	for (size_t i = 0; e && i < key_attr_count(s->key); i++)
		if (template_names(entry_key(s, e, i), name))
			return true;
	return false;
}

/* An attribute that a key names, of the index or the table, need not be projected. */
static bool follows_from_key(const struct checker *c, const struct space *s, const struct entry *e, struct slice name)
{
	return key_names(s, e, name) || key_names(&c->spaces[0], table_entry(c, e->shape), name);
}

/* Says so when a term reads an attribute of these rows that the index does not carry. */
static void say_unprojected(struct checker *c, const struct reach *r, const struct entry *e, const struct term *t,
			    const char *what, bool from_key)
{
	EACH (struct attribute, a, e->shape->entity->attributes, e->shape->entity->attribute_count) {
		if (projects(c, r->space, a->name) || !term_mentions(t, a->name))
			continue;
		if (from_key && follows_from_key(c, r->space, e, a->name))
			continue;
		check_say(c, t->place, "%s needs %.*s, which %.*s does not carry", what, SLICE_ARG(a->name),
			  SLICE_ARG(r->space->name));
		check_repair(c, "Add %.*s to the projection of %.*s.", SLICE_ARG(a->name), SLICE_ARG(r->space->name));
	}
}

static void not_projected(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (!r->space || !r->space->index || r->space->index->projection == PROJECT_ALL)
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct entity *e = x->shape->entity;
		say_unprojected(c, r, x, a->filter, "the filter", false);
		if (!a->has_then && !x->shape->companion && !a->count_only && e->allow[ALLOW_READ])
			say_unprojected(c, r, x, e->allow[e->allow[ALLOW_LIST] ? ALLOW_LIST : ALLOW_READ],
					"who may read", true);
		say_unprojected(c, r, x, a->rank, "rank", true);
		EACH (struct attribute, s, a->show, a->has_then ? 0 : a->show_count)
			say_unprojected(c, r, x, s->derived, "what is shown", true);
	}
}

/* CARD#<cardId> where a card's own key is CARD#<…>: the row points to it. */
static bool points_to_item(const struct checker *c, const struct entry *e)
{
	const struct template *t = e->range[0] ? e->range[0] : e->hash[0];
	EACH (struct entity, to, c->d->entities, c->d->entity_count) {
		const struct template *pk = to == e->shape->entity ? NULL : entity_key(c, to, true);
		if (pk && to->param_count == 1 && template_alike(pk, t) && template_holes(pk))
			return true;
	}
	return false;
}

static bool only_ids(const struct checker *c, const struct space *s, const struct entry *e)
{
	if (s->index && s->index->projection == PROJECT_KEYS_ONLY)
		return true;
	if (e->shape->companion || (s->index && s->index->projection != PROJECT_ALL) || !points_to_item(c, e))
		return false;
	EACH (struct attribute, a, e->shape->entity->attributes, e->shape->entity->attribute_count)
		if (!a->now && !a->touched && !follows_from_key(c, s, e, a->name))
			return false;
	return true;
}

/* Whether a merge runs the pattern: its rows are then rows of the merge. */
static bool is_run_by_another(const struct checker *c, const struct access *a)
{
	EACH (struct access, other, c->d->accesses, c->d->access_count)
		if (other->merge_run == a || other->merge_rows == a)
			return true;
	return false;
}

static void ids_only(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (!r->space || !r->entry_count || a->has_then || a->count_only || !a->path.n || is_run_by_another(c, a))
		return;
	EACH (struct entry, x, r->entries, r->entry_count)
		if (!only_ids(c, r->space, x))
			return;
	check_say(c, AT_SUBJECT, "the rows hold ids and nothing else");
}

/* ---- cost ---- */

static bool fixes_whole_key(const struct reach *r)
{
	const struct key_schema *k = r->space->key;
	EACH (struct key_attr, x, k->range, k->range_count) {
		const struct where_rule *w = check_where(r->access, x->name);
		if (!w || w->op != WHERE_EQ || w->optional)
			return false;
	}
	return true;
}

static void query_for_one(struct checker *c, const struct reach *r)
{
	if (r->space && !r->space->index && fixes_whole_key(r))
		check_say(c, AT_SUBJECT, "a query where both keys are known");
}

static void counts_by_reading(struct checker *c, const struct reach *r)
{
	if (r->space && r->access->count_only && !fixes_whole_key(r))
		check_say(c, AT_SUBJECT, "reads everything it counts");
}

static void one_by_one(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (a->kind == ACCESS_MERGE && a->merge_over.n)
		check_say(c, AT_SUBJECT, "runs '%.*s' once for each row of '%.*s'", SLICE_ARG(a->merge_pattern),
			  SLICE_ARG(a->merge_over));
}

/* Whether the sort condition cuts off what is older than some moment, or the filter looks at the time. */
static bool leaves_out_expired(const struct checker *c, const struct access *a)
{
	EACH (struct where_rule, w, a->where, a->where_count)
		if (w->op != WHERE_EQ && w->op != WHERE_BEGINS)
			return true;
	return term_mentions(a->filter, c->d->ttl);
}

static void expired_visible(struct checker *c, const struct reach *r)
{
	if (!c->d->ttl.n || !r->space || leaves_out_expired(c, r->access) || r->access->has_then)
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		if (!shape_has(x->shape, c->d->ttl))
			continue;
		check_say(c, AT_SUBJECT, "%.*s is in these rows for a while after it has expired",
			  SLICE_ARG(x->shape->name));
		break;
	}
}

/* ---- a merge over numbers ---- */

/* The attribute of an item that a parameter of the query is compared with: the same placeholder in the key's
 * template. */
static const struct attribute *compared_with(const struct checker *c, const struct reach *r, const struct entry *e,
					     struct slice parameter)
{
	const struct key_schema *k = r->space->key;
	for (size_t i = 0; i < key_attr_count(k); i++) {
		const struct template *t = entry_key(r->space, e, i);
		const struct where_rule *w = check_where(r->access, key_attr_at(k, i)->name);
		for (size_t n = 0; t && w && n < template_holes(w->value); n++) {
			const struct template_part *own = template_hole(t, n);
			if (own && slice_equal(template_hole(w->value, n)->names[0], parameter))
				return hole_attribute(c, e->shape->entity, own);
		}
	}
	return NULL;
}

static bool is_variable(const struct access *a, const struct term *t)
{
	return term_name(t) && slice_equal(*term_name(t), a->range_variable);
}

static void merge_misses(struct checker *c, const struct reach *merge)
{
	const struct access *a = merge->access;
	const struct reach *r = a->merge_run ? check_reach(c, a->merge_run) : NULL;
	if (!r || !r->space || !a->range_variable.n || a->range_list)
		return;
	EACH (struct assignment, with, a->merge_with, a->merge_with_count) {
		const struct attribute *x = NULL;
		for (size_t i = 0; i < r->entry_count && !x && is_variable(a, with->term); i++)
			x = compared_with(c, r, &r->entries[i], with->attribute);
		if (!x || !x->has_min || !x->has_max || !attribute_is_number(x) ||
		    ((double)a->range_from <= x->min && (double)a->range_to >= x->max))
			continue;
		check_say(c, AT_SUBJECT, "runs for %lld..%lld, and %.*s is %.15g..%.15g", (long long)a->range_from,
			  (long long)a->range_to, SLICE_ARG(x->name), x->min, x->max);
	}
}

/* ---- what rows show ---- */

static bool is_queried(const void *ctx, const struct term *t)
{
	(void)ctx;
	return (t->kind == TERM_FETCH || t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE) && t->entity &&
	       t->entity->found_by.n;
}

static void show_queries(struct checker *c, const struct reach *r)
{
	EACH (struct attribute, s, r->access->show, r->access->show_count)
		if (term_any(s->derived, is_queried, NULL))
			check_say(c, s->place, "%.*s of each row takes a query", SLICE_ARG(s->name));
}

const struct rule check_rules_access[] = {
	{ "needs-scan", SEVERITY_ERROR,
	  "A Query reads one partition; without it every item of the table would be read and paid for.",
	  "Give the whole partition key with `=`, or add an index whose partition key this pattern knows.",
	  .access = needs_scan },
	{ "finds-nothing", SEVERITY_ERROR, "The answer is always empty, and nothing tells the caller why.",
	  "Ask the index that holds these items, or set this index's keys on them.", .access = finds_nothing },
	{ "mixed-collection", SEVERITY_ERROR,
	  "They share a partition: pages include items that were not asked for, often only later pages.",
	  "Add a sort condition (`begins with POST#`), or a filter on an attribute that only one kind has; accept it if the whole collection is meant.",
	  .access = mixed_collection },
	{ "open-prefix", SEVERITY_ERROR, "Ids that begin with another id are then returned as if they were it.",
	  "End the prefix with the delimiter; for one item use get.", .access = open_prefix },
	{ "consistent-index", SEVERITY_ERROR,
	  "A global index follows the table a moment later; there is no consistent read of it.",
	  "Read the table itself, if need be through a companion stored under the partition you ask for.",
	  .access = consistent_index },
	{ "bad-filter", SEVERITY_ERROR, "DynamoDB refuses the request.",
	  "Filter on the item's own attributes with comparisons, begins with, contains, present and absent.",
	  .access = bad_filter },
	{ "not-projected", SEVERITY_ERROR, "In the index the attribute is absent, so the comparison fails for every row.",
	  "Add it to the index's projection.", .access = not_projected },
	{ "ids-only", SEVERITY_WARNING, "Clients that list them must read each item separately.",
	  "Add `then: {get: …, keys: {…}}`, which fetches a hundred at a time, or copy what a list shows onto the rows.",
	  .access = ids_only },
	{ "expired-visible", SEVERITY_NOTE,
	  "TTL deletes within days, not at the moment. The REST API hides them, but they are read and paid for, and visible to direct queries of the table.",
	  "Add a filter on the TTL attribute, or a sort condition that cuts off what is too old.",
	  .access = expired_visible },
	{ "query-for-one", SEVERITY_NOTE, "A Query for one item costs as much and is harder to read.", "Use `get`.",
	  .access = query_for_one },
	{ "counts-by-reading", SEVERITY_NOTE,
	  "Select=COUNT is charged for the items it reads, not for the number it returns.",
	  "Keep a counter on the item it is about (`counts`), unless the number stays small.",
	  .access = counts_by_reading },
	{ "merge-misses", SEVERITY_WARNING, "No page has the rows of the other partitions.",
	  "Let the merge run over the whole range of the attribute.", .access = merge_misses },
	{ "show-queries", SEVERITY_WARNING,
	  "An item of an entity with `found by` has no key to read it by, so a page asks once for each row.",
	  "Show parts of items whose identity is their key, or put the value onto the rows with a copy.",
	  .access = show_queries },
	{ "one-by-one", SEVERITY_NOTE, "The cost and the time grow with the number of rows.",
	  "Fine for a handful; otherwise put what belongs together into one partition.", .access = one_by_one },
	{ NULL },
};
