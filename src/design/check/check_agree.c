/* Rules about what readers and writers of a key must write alike: shards, and units of time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* A placeholder of a query, and the one that stands there in the key of an item that the query finds. */
struct pair {
	const struct access *access;
	const struct entry *entry;
	const struct where_rule *where;
	const struct template_part *asked, *own;
};

/* The first pair of which it is so. */
static bool any_in_template(const struct template *t, const struct template *key, struct pair *p,
			    bool (*is)(struct checker *c, const struct pair *p), struct checker *c)
{
	for (size_t i = 0; t && key && i < template_holes(t); i++) {
		p->asked = template_hole(t, i);
		p->own = template_hole(key, i);
		if (p->own && is(c, p))
			return true;
	}
	return false;
}

static bool any_pair(struct checker *c, const struct reach *r, struct pair *p,
		     bool (*is)(struct checker *c, const struct pair *p))
{
	p->access = r->access;
	EACH (struct entry, e, r->entries, r->space ? r->entry_count : 0)
		for (size_t i = 0; i < key_attr_count(r->space->key); i++) {
			const struct template *key = entry_key(r->space, e, i);

			p->entry = e;
			p->where = check_where(r->access, key_attr_at(r->space->key, i)->name);
			if (p->where && (any_in_template(p->where->value, key, p, is, c) ||
					 any_in_template(p->where->upper, key, p, is, c)))
				return true;
		}
	return false;
}

/* ---- shards ---- */

static bool is_another_shard(struct checker *c, const struct pair *p)
{
	(void)c;
	return p->asked->format == FORMAT_SHARD && p->own->format == FORMAT_SHARD && p->asked->width != p->own->width;
}

/* The query computes another shard than the item has. */
static void shard_of_query(struct checker *c, const struct reach *r)
{
	struct pair p;

	if (any_pair(c, r, &p, is_another_shard))
		check_say(c, p.where->place, "asks for one of %d shards, and %.*s has %d", p.asked->width,
			  SLICE_ARG(p.entry->shape->name), p.own->width);
}

static bool is_sharded(struct checker *c, const struct pair *p)
{
	(void)c;
	return p->own->format == FORMAT_SHARD && p->asked->format == FORMAT_PLAIN;
}

/* Whether the merge gives its number to the parameter. */
static bool is_given(const struct access *a, struct slice parameter)
{
	EACH (struct assignment, with, a->merge_with, a->merge_with_count) {
		const struct slice *name = term_name(with->term);

		if (slice_equal(with->attribute, parameter))
			return name && slice_equal(*name, a->range_variable);
	}
	return false;
}

/* A merge over numbers leaves shards out, or two items that it finds have different numbers of them. */
static void shards_of_merge(struct checker *c, const struct reach *merge)
{
	const struct access *a = merge->access;
	const struct reach *r = a->merge_run ? check_reach(c, a->merge_run) : NULL;
	struct pair p;

	if (!r || !a->range_variable.n || a->range_list)
		return;
	for (size_t i = 0; i < (r->space ? r->entry_count : 0); i++) {
		struct reach one = *r;

		one.entries = &r->entries[i];
		one.entry_count = 1;
		if (!any_pair(c, &one, &p, is_sharded) || !is_given(a, p.asked->names[0]) ||
		    (a->range_from == 0 && a->range_to == p.own->width - 1))
			continue;
		check_say(c, AT_SUBJECT, "runs for %lld..%lld, and %.*s has shards 0..%d", (long long)a->range_from,
			  (long long)a->range_to, SLICE_ARG(p.entry->shape->name), p.own->width - 1);
		return;
	}
}

static void shards_differ(struct checker *c, const struct reach *r)
{
	shard_of_query(c, r);
	shards_of_merge(c, r);
}

/* ---- units of time ---- */

static const struct attribute *parameter(const struct access *a, struct slice name)
{
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		if (slice_equal(p->name, name))
			return p;
	return NULL;
}

static bool is_another_unit(struct checker *c, const struct pair *p)
{
	const struct attribute *asked = p->asked->name_count == 1 ? parameter(p->access, p->asked->names[0]) : NULL;
	const struct attribute *own = hole_attribute(c, p->entry->shape->entity, p->own);

	return p->asked->format == FORMAT_PLAIN && p->own->format == FORMAT_PLAIN && asked && own &&
	       asked->type == ATTR_TIMESTAMP && own->type == ATTR_TIMESTAMP && asked->fine != own->fine;
}

static void units_differ(struct checker *c, const struct reach *r)
{
	struct pair p;

	if (!any_pair(c, r, &p, is_another_unit))
		return;
	check_say(c, p.where->place, "'%.*s' has %s, and '%.*s' of %.*s has %s", SLICE_ARG(p.asked->names[0]),
		  parameter(r->access, p.asked->names[0])->fine ? "milliseconds" : "whole seconds",
		  SLICE_ARG(p.own->names[0]), SLICE_ARG(p.entry->shape->name),
		  parameter(r->access, p.asked->names[0])->fine ? "whole seconds" : "milliseconds");
	check_repair(c, "Write `with: {%.*s: %s}`.", SLICE_ARG(p.asked->names[0]),
		     parameter(r->access, p.asked->names[0])->fine ? "timestamp" : "timestamp ms");
}

const struct rule check_rules_agree[] = {
	{ "shards-differ", SEVERITY_ERROR, "Items in the other shards are never found.",
	  "Let the merge run `for: n in shards`, and give all keys that it reads the same number of shards.",
	  .access = shards_differ },
	{ "units-differ", SEVERITY_ERROR,
	  "Timestamps are compared as texts, and those with milliseconds sort before those without within a second.",
	  "Give both the same type.", .access = units_differ },
	{ NULL },
};
