/* Rules about indexes: whether they are filled and used, hot partitions, and cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

#define FEW_VALUES       10   /* partitions that count as few */
#define PARTITION_WRITES 1000 /* write units a second of one partition */
#define INCLUDE_MAX      100  /* projected attributes of all indexes of a table */
#define GLOBAL_MAX       20
#define LARGE_TEXT       1024 /* texts long enough to report that lists project them */

static bool is_set(const struct checker *c, struct slice attribute)
{
	EACH (struct shape, s, c->shapes, c->shape_count)
		if (shape_has(s, attribute))
			return true;
	return false;
}

/* An attribute that is nearly called so. */
static void suggest_key(struct checker *c, struct slice name)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (suggest_slice(name, &a->name, 1).n) {
				check_repair(c,
					     "Did you mean %.*s? Otherwise set it in the `keys` of what is to be listed.",
					     SLICE_ARG(a->name));
				return;
			}
}

static void index_never_set(struct checker *c, const struct space *s)
{
	if (s->entry_count)
		return;
	for (size_t i = 0; i < key_attr_count(s->key); i++) {
		struct slice name = key_attr_at(s->key, i)->name;

		if (is_set(c, name))
			continue;
		check_say(c, s->index->place, "no item has all keys of %.*s: nothing sets %.*s", SLICE_ARG(s->name),
			  SLICE_ARG(name));
		suggest_key(c, name);
		return;
	}
	check_say(c, AT_SUBJECT, "no item has all keys of %.*s", SLICE_ARG(s->name));
}

static void index_never_used(struct checker *c, const struct space *s)
{
	EACH (struct access, a, c->d->accesses, c->d->access_count)
		if (a->kind == ACCESS_QUERY && slice_equal(a->index, s->name))
			return;
	check_say(c, AT_SUBJECT, "no access pattern queries %.*s", SLICE_ARG(s->name));
}

/* ---- half a key ---- */

static bool in_space(const struct space *s, const struct shape *shape)
{
	EACH (struct entry, x, s->entries, s->entry_count)
		if (x->shape == shape)
			return true;
	return false;
}

static void half_an_index_key(struct checker *c)
{
	EACH (struct shape, s, c->shapes, c->shape_count) {
		size_t n;
		const struct key_rule *rules = shape_rules(s, &n);
		EACH (struct key_rule, r, rules, n) {
			const struct space *half = NULL;
			bool whole = design_is_table_key(c->d, r->attribute);
			EACH_INDEX (x, c)
				if (is_key_attribute(x->key, r->attribute)) {
					whole |= in_space(x, s);
					half = x;
				}
			if (!half || whole)
				continue;
			/* Most items have a type or an account's id, without being meant to be listed by it. */
			if (template_holes(r->template) == 0 || r->template->part_count == 1)
				continue;
			c->about = about_entity(c, s->entity);
			check_say(c, r->place, "%.*s sets %.*s and lacks the other key of %.*s", SLICE_ARG(s->name),
				  SLICE_ARG(r->attribute), SLICE_ARG(half->name));
		}
	}
}

/* ---- unread entries ---- */

/* An earlier entry of the space has the same kind; reporting that one is enough. */
static bool is_repeated(const struct space *s, const struct entry *x)
{
	EACH (struct entry, earlier, s->entries, (size_t)(x - s->entries))
		if (earlier->shape == x->shape)
			return true;
	return false;
}

static void index_entry_unread(struct checker *c, const struct space *s, const struct entry *e)
{
	if (s->index && !e->read && !is_repeated(s, e))
		check_say(c, e->hash[0]->place, "%.*s is in %.*s, where no access pattern looks for it",
			  SLICE_ARG(e->shape->name), SLICE_ARG(s->name));
}

/* The same placeholders in the same order, whatever the literals; `prefix`: x may have fewer. */
static bool same_holes(const struct template *x, const struct template *y, bool prefix)
{
	size_t n = template_holes(x), m = template_holes(y);
	if (prefix ? n > m : n != m)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!slice_equal(template_hole(x, i)->names[0], template_hole(y, i)->names[0]))
			return false;
	return true;
}

static void index_repeats_table(struct checker *c, const struct space *s, const struct entry *e)
{
	if (!s->index || s->key->hash_count != 1 || s->key->range_count != 1 || e->shape->companion || is_repeated(s, e))
		return;
	const struct template *pk = entity_key(c, e->shape->entity, true);
	const struct template *sk = entity_key(c, e->shape->entity, false);
	if (pk && sk && template_holes(pk) && same_holes(e->hash[0], pk, false) && same_holes(e->range[0], sk, true))
		check_say(c, e->hash[0]->place, "%.*s is in %.*s as it is in the table", SLICE_ARG(e->shape->name),
			  SLICE_ARG(s->name));
}

/* ---- siblings ---- */

static void missing_from_index(struct checker *c, const struct entity *e)
{
	const struct template *pk = entity_key(c, e, true), *sk = entity_key(c, e, false);
	if (!pk || !sk || !template_prefix(sk).n)
		return;
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		if (other == e || !template_alike(pk, entity_key(c, other, true)) || !entity_key(c, other, false) ||
		    !slice_equal(template_prefix(sk), template_prefix(entity_key(c, other, false))))
			continue;
		EACH_INDEX (s, c) {
			bool mine = false, its = false;
			EACH (struct entry, x, s->entries, s->entry_count) {
				mine |= x->shape->entity == e;
				its |= x->shape->entity == other;
			}
			if (!mine && its)
				check_say(c, AT_SUBJECT, "%.*s is in %.*s, and %.*s, stored beside it, is not",
					  SLICE_ARG(other->name), SLICE_ARG(s->name), SLICE_ARG(e->name));
		}
	}
}

/* ---- hot partitions ---- */

/* How many values the partition key can have at a time: 1 for a day, a large number for many. */
static size_t values_of_hole(struct checker *c, const struct entry *e, const struct template_part *p)
{
	if (format_is_time(p->format))
		return 1;
	if (p->format == FORMAT_SHARD)
		return (size_t)p->width;
	const struct attribute *a = hole_attribute(c, e->shape->entity, p);
	if (!a)
		return SIZE_MAX;
	if (a->type == ATTR_ENUM)
		return a->choice_count;
	if (a->type == ATTR_BOOLEAN)
		return 2;
	if (a->has_min && a->has_max && attribute_is_number(a) && a->max >= a->min && a->max - a->min < 1000)
		return (size_t)(a->max - a->min) + 1;
	return SIZE_MAX;
}

static size_t partitions(struct checker *c, const struct space *s, const struct entry *e)
{
	size_t count = 1;
	for (size_t i = 0; i < s->key->hash_count; i++)
		EACH (struct template_part, p, e->hash[i]->parts, e->hash[i]->part_count) {
			size_t n = p->names ? values_of_hole(c, e, p) : 1;
			if (n == SIZE_MAX)
				return SIZE_MAX;
			count *= n;
		}
	return count;
}

/* The shortest period in the partition key; TIME_UNITS: there is none. */
static enum time_unit period_of(const struct space *s, const struct entry *e)
{
	enum time_unit unit = TIME_UNITS;
	for (size_t i = 0; i < s->key->hash_count; i++)
		EACH (struct template_part, p, e->hash[i]->parts, e->hash[i]->part_count)
			if (p->names && format_is_time(p->format) && format_unit(p->format) < unit)
				unit = format_unit(p->format);
	return unit;
}

/* Whether the author has thought of it: the key has shards. */
static bool is_spread(const struct space *s, const struct entry *e)
{
	for (size_t i = 0; i < s->key->hash_count; i++)
		EACH (struct template_part, p, e->hash[i]->parts, e->hash[i]->part_count)
			if (p->names && p->format == FORMAT_SHARD)
				return true;
	return false;
}

/* Whether few callers write it: only special roles may create it. */
static bool seldom_written(const struct checker *c, const struct entity *e)
{
	const struct term *t = e->allow[ALLOW_CREATE];
	return t && t->kind == TERM_IS_ROLE && !term_is_public(c->d, t);
}

static void hot_partition(struct checker *c, const struct space *s, const struct entry *e)
{
	struct slice who = e->shape->name, key = e->hash[0]->text;
	size_t n = partitions(c, s, e);
	enum time_unit unit = period_of(s, e);
	EACH (struct entry, earlier, s->entries, (size_t)(e - s->entries))
		if (earlier->shape == e->shape && slice_equal(earlier->hash[0]->text, key))
			return;
	if (n > FEW_VALUES || is_spread(s, e))
		return;
	c->about = about_space(c, s);
	c->about.accepts[2] = c->about.accepts[1];
	c->about.accepts[1] = &e->shape->entity->accepts;
	if (n == 1 && unit != TIME_UNITS)
		check_say(c, e->hash[0]->place, "every %.*s of %s %s goes into one partition, %.*s", SLICE_ARG(who),
			  unit == TIME_HOUR ? "an" : "a", time_unit_names[unit], SLICE_ARG(key));
	else if (n == 1)
		check_say(c, e->hash[0]->place, "every %.*s goes into one partition, %.*s", SLICE_ARG(who),
			  SLICE_ARG(key));
	else
		check_say(c, e->hash[0]->place, "all %.*s go into %zu partitions, %.*s", SLICE_ARG(who), n,
			  SLICE_ARG(key));
	if (seldom_written(c, e->shape->entity))
		check_severity(c, SEVERITY_NOTE);
}

static double traffic_of(const struct checker *c, const struct entity *e)
{
	double sum = 0;
	EACH (struct traffic_rule, t, c->d->traffic, c->d->traffic_count) {
		struct slice verb;
		if (design_call(c->d, t->pattern, &verb) == e && slice_is(verb, "create"))
			sum += t->per_second;
	}
	return sum;
}

static void partition_ceiling(struct checker *c, const struct space *s, const struct entry *e)
{
	size_t n = partitions(c, s, e);
	double rate = traffic_of(c, e->shape->entity) / (n != SIZE_MAX ? (double)n : 1);
	if (n > FEW_VALUES || rate <= PARTITION_WRITES)
		return;
	c->about = about_space(c, s);
	check_say(c, e->hash[0]->place, "%.0f writes a second to one partition, %.*s", rate,
		  SLICE_ARG(e->hash[0]->text));
}

/* ---- size and cost ---- */

static bool is_large(const struct attribute *a)
{
	return !a->compressed && a->type == ATTR_TEXT && (!a->has_max || a->max > LARGE_TEXT);
}

static void large_projection(struct checker *c, const struct space *s, const struct entry *x)
{
	const struct entity *e = x->shape->entity;
	if (!s->index || x->shape->companion || is_repeated(s, x))
		return;
	c->about = about_space(c, s);
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (is_large(a) && index_carries(s->index, a->name)) {
			check_say(c, AT_SUBJECT, "copies the %.*s of each %.*s", SLICE_ARG(a->name),
				  SLICE_ARG(x->shape->name));
			return;
		}
}

static void counter_churn(struct checker *c, const struct entity *e)
{
	const struct attribute *counter = NULL;
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (a->counter && !counter)
			counter = a;
	size_t n = 0;
	EACH_INDEX (s, c)
		n += counter && space_entry(s, e) && index_carries(s->index, counter->name);
	if (n < 2)
		return;
	check_say(c, counter->place, "each change of %.*s is written %zu times: the item and %zu indexes",
		  SLICE_ARG(counter->name), n + 1, n);
}

static void projection_limit(struct checker *c)
{
	size_t included = 0;
	EACH (struct design_index, x, c->d->indexes, c->d->index_count)
		if (x->projection == PROJECT_INCLUDE)
			included += x->include_count;
	if (included > INCLUDE_MAX)
		check_say(c, AT_SUBJECT, "%zu attributes are projected, %d are allowed", included, INCLUDE_MAX);
	if (c->d->index_count > GLOBAL_MAX)
		check_say(c, AT_SUBJECT, "%zu indexes, %d are allowed", c->d->index_count, GLOBAL_MAX);
}

const struct rule check_rules_index[] = {
	{ "index-never-set", SEVERITY_ERROR, "An item without both key attributes is not in the index.",
	  "Set its keys on the entities it is for, or remove the index.", .index = index_never_set },
	{ "index-never-used", SEVERITY_WARNING, "Every write to it is paid for.",
	  "Declare the access pattern it is for, or remove the index.", .index = index_never_used },
	{ "half-an-index-key", SEVERITY_WARNING, "An item without both key attributes is not in the index.",
	  "Set the other key attribute, too.", .design = half_an_index_key },
	{ "index-entry-unread", SEVERITY_NOTE, "The copy is written and stored for nothing.",
	  "Leave these keys off, or declare the pattern.", .entry = index_entry_unread },
	{ "index-repeats-table", SEVERITY_NOTE,
	  "The same query on the table costs no second write and can be consistent.", "Leave these keys off.",
	  .entry = index_repeats_table },
	{ "missing-from-index", SEVERITY_NOTE, "Lists and lookups through the index miss it.",
	  "Give it the same index keys.", .entity = missing_from_index },
	{ "hot-partition", SEVERITY_WARNING,
	  "A partition takes about 1000 writes and 3000 reads a second, and a throttled index throttles the table.",
	  "Spread it over shards (`<id:shard 10>`) and merge them (`for: n in shards`), or accept it with the expected rate.",
	  .entry = hot_partition },
	{ "partition-ceiling", SEVERITY_ERROR,
	  "Beyond 1000 write units a second a partition is throttled, however much capacity the table has.",
	  "Spread it over shards (`<id:shard 10>`) and merge them (`for: n in shards`).", .entry = partition_ceiling },
	{ "large-projection", SEVERITY_NOTE, "A page of a list reads, and pays for, everything the index carries.",
	  "List the attributes a list shows in `projection`, without the text.", .entry = large_projection },
	{ "counter-churn", SEVERITY_NOTE, "A changed attribute is written again in each index that carries it.",
	  "Leave the counter out of the projections that need not show it.", .entity = counter_churn },
	{ "projection-limit", SEVERITY_ERROR, "DynamoDB refuses the table.",
	  "Project fewer attributes or all; share indexes between entities.", .design = projection_limit },
	{ NULL },
};
