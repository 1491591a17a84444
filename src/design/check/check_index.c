/* Rules about indexes: is it filled, is it used, where does everything pile up, what does it cost.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

#define FEW_VALUES       10   /* partitions that are still a handful */
#define PARTITION_WRITES 1000 /* write units a second of one partition */
#define INCLUDE_MAX      100  /* projected attributes of all indexes of a table */
#define GLOBAL_MAX       20
#define LARGE_TEXT       1024 /* a list of these is worth a thought */

static void index_never_set(struct checker *c)
{
	for (size_t i = 1; i < c->space_count; i++)
		if (c->spaces[i].entry_count == 0) {
			struct about about = about_space(c, &c->spaces[i]);
			check_say(c, &about, (struct place){ 0 }, "no item has all keys of %.*s",
				  SLICE_ARG(c->spaces[i].name));
		}
}

static void index_never_used(struct checker *c)
{
	for (size_t i = 1; i < c->space_count; i++) {
		bool used = false;
		EACH (struct access, a, c->d->accesses, c->d->access_count)
			used |= a->kind == ACCESS_QUERY && slice_equal(a->index, c->spaces[i].name);
		if (used)
			continue;
		struct about about = about_space(c, &c->spaces[i]);
		check_say(c, &about, (struct place){ 0 }, "no access pattern asks %.*s", SLICE_ARG(c->spaces[i].name));
	}
}

/* ---- half a key ---- */

static bool in_space(const struct space *s, const struct shape *shape)
{
	for (size_t i = 0; i < s->entry_count; i++)
		if (s->entries[i].shape == shape)
			return true;
	return false;
}

static void half_an_index_key(struct checker *c)
{
	for (size_t i = 0; i < c->shape_count; i++) {
		const struct shape *s = &c->shapes[i];
		size_t n;
		const struct key_rule *rules = shape_rules(s, &n);
		EACH (struct key_rule, r, rules, n) {
			const struct space *half = NULL;
			bool whole = key_has(&c->d->key, r->attribute);
			for (size_t k = 1; k < c->space_count; k++)
				if (key_has(c->spaces[k].key, r->attribute)) {
					whole |= in_space(&c->spaces[k], s);
					half = &c->spaces[k];
				}
			if (!half || whole)
				continue;
			/* Everything has a type, and may hold somebody's id, without meaning to be
			 * listed by it. */
			if (template_holes(r->template) == 0 || r->template->part_count == 1)
				continue;
			struct about about = about_entity(c, s->entity);
			check_say(c, &about, r->place, "%.*s sets %.*s and lacks the other key of %.*s",
				  SLICE_ARG(s->name), SLICE_ARG(r->attribute), SLICE_ARG(half->name));
		}
	}
}

/* ---- entries nobody reads ---- */

static bool is_read(const struct checker *c, const struct entry *e)
{
	for (size_t i = 0; i < c->d->access_count; i++)
		for (size_t j = 0; j < c->reaches[i].entry_count; j++)
			if (c->reaches[i].entries[j] == e)
				return true;
	return false;
}

static bool said_before(const struct space *s, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (s->entries[j].shape == s->entries[i].shape)
			return true;
	return false;
}

static void index_entry_unread(struct checker *c)
{
	for (size_t k = 1; k < c->space_count; k++) {
		const struct space *s = &c->spaces[k];
		for (size_t i = 0; i < s->entry_count; i++) {
			const struct entry *e = &s->entries[i];
			if (is_read(c, e) || said_before(s, i))
				continue;
			struct about about = about_entity(c, e->shape->entity);
			check_say(c, &about, e->hash[0]->place, "%.*s is in %.*s, where no access pattern looks for it",
				  SLICE_ARG(e->shape->name), SLICE_ARG(s->name));
		}
	}
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

static void index_repeats_table(struct checker *c)
{
	for (size_t k = 1; k < c->space_count; k++) {
		const struct space *s = &c->spaces[k];
		for (size_t i = 0; i < s->entry_count; i++) {
			const struct entry *e = &s->entries[i];
			if (s->key->hash_count != 1 || s->key->range_count != 1 || e->shape->companion ||
			    said_before(s, i))
				continue;
			const struct template *pk = entity_key(c, e->shape->entity, true);
			const struct template *sk = entity_key(c, e->shape->entity, false);
			if (!pk || !sk || !template_holes(pk) || !same_holes(e->hash[0], pk, false) ||
			    !same_holes(e->range[0], sk, true))
				continue;
			struct about about = about_entity(c, e->shape->entity);
			check_say(c, &about, e->hash[0]->place, "%.*s is in %.*s as it is in the table",
				  SLICE_ARG(e->shape->name), SLICE_ARG(s->name));
		}
	}
}

/* ---- siblings ---- */

static void missing_from_index(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		const struct template *pk = entity_key(c, e, true), *sk = entity_key(c, e, false);
		if (!pk || !sk || !template_prefix(sk).n)
			continue;
		EACH (struct entity, other, c->d->entities, c->d->entity_count) {
			if (other == e || !template_alike(pk, entity_key(c, other, true)) ||
			    !entity_key(c, other, false) ||
			    !slice_equal(template_prefix(sk), template_prefix(entity_key(c, other, false))))
				continue;
			for (size_t k = 1; k < c->space_count; k++) {
				bool mine = false, its = false;
				for (size_t i = 0; i < c->spaces[k].entry_count; i++) {
					const struct shape *s = c->spaces[k].entries[i].shape;
					mine |= s->entity == e;
					its |= s->entity == other;
				}
				if (mine || !its)
					continue;
				struct about about = about_entity(c, e);
				check_say(c, &about, (struct place){ 0 },
					  "%.*s is in %.*s, and %.*s, stored beside it, is not", SLICE_ARG(other->name),
					  SLICE_ARG(c->spaces[k].name), SLICE_ARG(e->name));
			}
		}
	}
}

/* ---- hot partitions ---- */

/* How many values the partition key can have: 0 for one per day, a large number for many. */
static size_t values_of_hole(struct checker *c, const struct entry *e, const struct template_part *p)
{
	if (p->format == FORMAT_DATE || p->format == FORMAT_MONTH)
		return 0;
	const struct attribute *a = hole_attribute(c, e->shape->entity, p);
	if (!a)
		return SIZE_MAX;
	if (a->type == ATTR_ENUM)
		return a->choice_count;
	if (a->type == ATTR_BOOLEAN)
		return 2;
	if (a->has_min && a->has_max && attribute_is_number(c, e->shape->entity, a) && a->max >= a->min &&
	    a->max - a->min < 1000)
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
			if (n == 0 || count == 0)
				count = 0;
			else
				count = count * n;
		}
	return count;
}

/* Written by a few: only roles beyond the ordinary one may create it. */
static bool seldom_written(const struct checker *c, const struct entity *e)
{
	const struct term *t = e->allow[ALLOW_CREATE];
	return t && t->kind == TERM_IS_ROLE && !term_is_public(c->d, t);
}

static void hot_partition(struct checker *c)
{
	for (size_t k = 0; k < c->space_count; k++) {
		const struct space *s = &c->spaces[k];
		for (size_t i = 0; i < s->entry_count; i++) {
			const struct entry *e = &s->entries[i];
			size_t n = partitions(c, s, e);
			bool repeated = false;
			for (size_t j = 0; j < i; j++)
				repeated |= s->entries[j].shape == e->shape &&
					    slice_equal(s->entries[j].hash[0]->text, e->hash[0]->text);
			if (n > FEW_VALUES || repeated)
				continue;
			struct about about = about_space(c, s);
			about.accepts[2] = about.accepts[1];
			about.accepts[1] = &e->shape->entity->accepts;
			struct slice who = e->shape->name, key = e->hash[0]->text;
			if (n == 0)
				check_say(c, &about, e->hash[0]->place,
					  "every %.*s of a day goes into one partition, %.*s", SLICE_ARG(who),
					  SLICE_ARG(key));
			else if (n == 1)
				check_say(c, &about, e->hash[0]->place, "every %.*s goes into one partition, %.*s",
					  SLICE_ARG(who), SLICE_ARG(key));
			else
				check_say(c, &about, e->hash[0]->place, "all %.*s go into %zu partitions, %.*s",
					  SLICE_ARG(who), n, SLICE_ARG(key));
			if (seldom_written(c, e->shape->entity))
				check_severity(c, SEVERITY_NOTE);
		}
	}
}

static double traffic_of(const struct checker *c, const struct entity *e)
{
	double sum = 0;
	EACH (struct traffic_rule, t, c->d->traffic, c->d->traffic_count)
		if (t->pattern.n == e->name.n + 7 && memcmp(t->pattern.p, "create ", 7) == 0 &&
		    memcmp(t->pattern.p + 7, e->name.p, e->name.n) == 0)
			sum += t->per_second;
	return sum;
}

static void partition_ceiling(struct checker *c)
{
	for (size_t k = 0; k < c->space_count; k++) {
		const struct space *s = &c->spaces[k];
		for (size_t i = 0; i < s->entry_count; i++) {
			const struct entry *e = &s->entries[i];
			size_t n = partitions(c, s, e);
			double rate = traffic_of(c, e->shape->entity) / (n && n != SIZE_MAX ? (double)n : 1);
			if (n > FEW_VALUES || rate <= PARTITION_WRITES)
				continue;
			struct about about = about_space(c, s);
			check_say(c, &about, e->hash[0]->place, "%.0f writes a second to one partition, %.*s", rate,
				  SLICE_ARG(e->hash[0]->text));
		}
	}
}

/* ---- size and cost ---- */

static bool is_large(const struct attribute *a)
{
	return !a->compressed && a->type == ATTR_TEXT && (!a->has_max || a->max > LARGE_TEXT);
}

static void large_projection(struct checker *c)
{
	for (size_t k = 1; k < c->space_count; k++) {
		const struct space *s = &c->spaces[k];
		for (size_t i = 0; i < s->entry_count; i++) {
			const struct shape *shape = s->entries[i].shape;
			if (shape->companion || said_before(s, i))
				continue;
			EACH (struct attribute, a, shape->entity->attributes, shape->entity->attribute_count) {
				if (!is_large(a) || !index_carries(s->index, a->name))
					continue;
				struct about about = about_space(c, s);
				check_say(c, &about, (struct place){ 0 }, "copies the %.*s of each %.*s",
					  SLICE_ARG(a->name), SLICE_ARG(shape->name));
				break;
			}
		}
	}
}

static void counter_churn(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		const struct attribute *counter = NULL;
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->counter && !counter)
				counter = a;
		size_t n = 0;
		for (size_t k = 1; counter && k < c->space_count; k++)
			for (size_t i = 0; i < c->spaces[k].entry_count; i++) {
				const struct shape *s = c->spaces[k].entries[i].shape;
				if (s->entity == e && !s->companion && index_carries(c->spaces[k].index, counter->name)) {
					n++;
					break;
				}
			}
		if (n < 2)
			continue;
		struct about about = about_entity(c, e);
		check_say(c, &about, counter->place,
			  "each change of %.*s is written %zu times: the item and %zu indexes",
			  SLICE_ARG(counter->name), n + 1, n);
	}
}

static void projection_limit(struct checker *c)
{
	size_t included = 0;
	EACH (struct design_index, x, c->d->indexes, c->d->index_count)
		if (x->projection == PROJECT_INCLUDE)
			included += x->include_count;
	struct about about = about_table(c);
	if (included > INCLUDE_MAX)
		check_say(c, &about, (struct place){ 0 }, "%zu attributes are projected, %d are allowed", included,
			  INCLUDE_MAX);
	if (c->d->index_count > GLOBAL_MAX)
		check_say(c, &about, (struct place){ 0 }, "%zu indexes, %d are allowed", c->d->index_count, GLOBAL_MAX);
}

const struct rule check_rules_index[] = {
	{ "index-never-set", SEVERITY_ERROR, index_never_set, "No item sets the index's keys: it stays empty.",
	  "An item without both key attributes is not in the index.",
	  "Set its keys on the entities it is for, or remove the index." },
	{ "index-never-used", SEVERITY_WARNING, index_never_used, "No access pattern queries it.",
	  "Every write to it is paid for.", "Declare the access pattern it is for, or remove the index." },
	{ "half-an-index-key", SEVERITY_WARNING, half_an_index_key,
	  "Sets one key attribute of an index and not the other, so it is in no index.",
	  "An item without both key attributes is not in the index.", "Set the other key attribute, too." },
	{ "index-entry-unread", SEVERITY_NOTE, index_entry_unread, "In an index for which no access pattern asks.",
	  "The copy is written and stored for nothing.", "Leave these keys off, or declare the pattern." },
	{ "index-repeats-table", SEVERITY_NOTE, index_repeats_table,
	  "The index entry has the table's own partition and order.",
	  "The same query on the table costs no second write and can be consistent.", "Leave these keys off." },
	{ "missing-from-index", SEVERITY_NOTE, missing_from_index,
	  "Shares a collection with another kind of item that is in an index, and is not in it.",
	  "Whoever lists or looks up the one through the index misses the other.", "Give it the same index keys." },
	{ "hot-partition", SEVERITY_WARNING, hot_partition,
	  "Everything, or a day's everything, goes into one partition or a handful of them.",
	  "A partition takes about 1000 writes and 3000 reads a second, and a throttled index "
	  "throttles the table.",
	  "Spread it over suffixes (#0…#9) and merge, or accept it with the expected rate." },
	{ "partition-ceiling", SEVERITY_ERROR, partition_ceiling,
	  "The declared traffic to one partition is above 1000 writes a second.",
	  "Beyond 1000 write units a second a partition is throttled, however much capacity the "
	  "table has.",
	  "Spread it over suffixes (#0…#9) and merge." },
	{ "large-projection", SEVERITY_NOTE, large_projection,
	  "Long text is copied into the index and read with every list.",
	  "A page of a list reads, and pays for, everything the index carries.",
	  "List the attributes a list shows in `projection`, without the text." },
	{ "counter-churn", SEVERITY_NOTE, counter_churn, "Each count rewrites the item in several indexes.",
	  "A changed attribute is written again in each index that carries it.",
	  "Leave the counter out of the projections that need not show it." },
	{ "projection-limit", SEVERITY_ERROR, projection_limit, "More than 100 projected attributes or 20 indexes.",
	  "DynamoDB refuses the table.", "Project fewer attributes or all; share indexes between entities." },
	{ NULL },
};
