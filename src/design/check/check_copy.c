/* Rules about data that is stored twice: copies, mirrors, lists whose elements are also items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static void copy_not_kept(struct checker *c, const struct entity *e, const struct attribute *a)
{
	const struct entity *from = a->copy_of;
	const struct attribute *source = from ? entity_attribute(from, a->copy_attribute) : NULL;
	if (!source || a->kept_by.n || !(attribute_can_change(source) || source->derived))
		return;
	/* The source never changes, or the copy is meant to keep the value of that moment. */
	if (a->fixed || (!from->allow[ALLOW_UPDATE] && !from->action_count))
		return;
	check_say(c, a->place, "%.*s stays as it was when %.*s.%.*s changes", SLICE_ARG(a->name), SLICE_ARG(from->name),
		  SLICE_ARG(source->name));
}

/* ---- mirrors ---- */

static void mirror_in_index(struct checker *c, const struct space *s, const struct entry *mirror)
{
	if (!s->index || !mirror->shape->companion)
		return;
	EACH (struct entry, item, s->entries, s->entry_count)
		if (!item->shape->companion && item->shape->entity == mirror->shape->entity &&
		    slice_equal(item->hash[0]->text, mirror->hash[0]->text) &&
		    (!item->range[0] || template_alike(item->range[0], mirror->range[0])))
			check_say(c, mirror->hash[0]->place, "%.*s is in %.*s twice, as itself and as its companion",
				  SLICE_ARG(item->shape->entity->name), SLICE_ARG(s->name));
}

/* ---- lists ---- */

static bool is_singular_of(struct checker *c, struct slice word, struct slice list)
{
	struct slice one = plain_name(c->arena, word), many = plain_name(c->arena, list);
	if (many.n && many.p[many.n - 1] == 's')
		many.n--;
	return slice_equal(one, many);
}

static bool has_companion_for(const struct entity *e, struct slice list)
{
	EACH (struct companion, k, e->companions, e->companion_count)
		if (k->each_list && term_mentions(k->each_list, list))
			return true;
	return false;
}

static bool is_list(const struct attribute *a)
{
	return a->type == ATTR_LIST || a->type == ATTR_SET;
}

/* Whether the list's owner puts the items in its own transaction: {on: created, for: line in lines, put: OrderLine}. */
static bool also_puts(const struct entity *e, struct slice list, const struct entity *other)
{
	EACH (struct also_rule, x, e->also, e->also_count)
		if (x->kind == ALSO_PUT && x->to == other && x->each.list && term_mentions(x->each.list, list))
			return true;
	return false;
}

static void list_in_two_places(struct checker *c, const struct entity *e, const struct attribute *list)
{
	if (!is_list(list) || has_companion_for(e, list->name))
		return;
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		const struct template *sk = entity_key(c, other, false);
		const struct template_part *hole = sk ? template_hole(sk, 0) : NULL;
		if (other == e || !hole || !is_singular_of(c, hole->names[0], list->name) ||
		    also_puts(e, list->name, other) ||
		    !template_alike(entity_key(c, e, true), entity_key(c, other, true)))
			continue;
		c->about = about_entity(c, other);
		check_say(c, AT_SUBJECT, "%.*s repeats %.*s.%.*s and is written separately", SLICE_ARG(other->name),
			  SLICE_ARG(e->name), SLICE_ARG(list->name));
		check_repair(c, "Make it a companion of %.*s: {for: %.*s in %.*s, …}.", SLICE_ARG(e->name),
			     SLICE_ARG(hole->names[0]), SLICE_ARG(list->name));
	}
}

static void list_not_searchable(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (!is_list(a) || !name_is(c->arena, a->name, "tags hashtags mentions keywords labels topics") ||
	    has_companion_for(e, a->name))
		return;
	check_say(c, a->place, "nothing can be found by its %.*s", SLICE_ARG(a->name));
}

/* ---- the same relation twice ---- */

#define STEM_LEAST 4

/* Whether two names share a stem: Follow and Follower, FOLLOWING# and FOLLOWER#. Such names mean one relation, from
 * two sides. */
static bool share_stem(struct arena *a, struct slice x, struct slice y)
{
	size_t n = 0;
	x = plain_name(a, x);
	y = plain_name(a, y);
	while (n < x.n && n < y.n && x.p[n] == y.p[n] && x.p[n] != '#')
		n++;
	return n >= STEM_LEAST || (n && (n == x.n || n == y.n));
}

static bool share_sort_key(const struct checker *c, const struct entity *x, const struct entity *y)
{
	const struct template *a = entity_key(c, x, false), *b = entity_key(c, y, false);
	return a && b && share_stem(c->arena, template_prefix(a), template_prefix(b));
}

/* Whether `e` has no information besides `to`'s, except times. */
static bool adds_nothing(const struct entity *e, const struct entity *to)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (!is_parameter(e, a->name) && !attribute_is_time(a) && !entity_attribute(to, a->name))
			return false;
	return true;
}

/* The same two names, each once first: USER#<a> with FOLLOWING#<b>, and USER#<b> with FOLLOWER#<a>. */
static bool is_reverse_of(const struct checker *c, const struct entity *x, const struct entity *y)
{
	const struct template *pk = entity_key(c, x, true), *sk = entity_key(c, x, false);
	const struct template *other = entity_key(c, y, true);
	if (x->param_count != 2 || y->param_count != 2 || !pk || !sk || !template_alike(pk, other))
		return false;
	EACH (struct slice, p, x->params, x->param_count)
		if (!is_parameter(y, *p))
			return false;
	const struct template_part *mine = template_hole(pk, 0), *its = template_hole(other, 0);
	return mine && !slice_equal(mine->names[0], its->names[0]) && template_names(sk, its->names[0]);
}

/* The link says under the parent what the child's own index entry says: CATEGORY#<parentId>. */
static bool repeats_index_entry(struct checker *c, const struct entity *link, const struct entity *e)
{
	const struct template *pk = entity_key(c, link, true);
	if (!pk || !template_holes(pk) || !template_alike(pk, entity_key(c, e, true)))
		return false;
	/* An index entry under the item's own identity tells nothing about another item. */
	if (!adds_nothing(link, e) || is_parameter(e, template_hole(pk, 0)->names[0]))
		return false;
	EACH_INDEX (s, c)
		EACH (struct entry, x, s->entries, s->entry_count)
			if (x->shape->entity == e && !x->shape->companion && slice_equal(x->hash[0]->text, pk->text))
				return true;
	return false;
}

static void stored_twice(struct checker *c, const struct entity *e)
{
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		if (other == e || e->internal || other->internal)
			continue;
		bool mirror = other < e && is_reverse_of(c, e, other) && adds_nothing(e, other) &&
			      (share_stem(c->arena, e->name, other->name) || share_sort_key(c, e, other));
		if (!mirror && !repeats_index_entry(c, e, other))
			continue;
		check_say(c, AT_SUBJECT, "%.*s repeats %.*s and is written separately", SLICE_ARG(e->name),
			  SLICE_ARG(other->name));
		check_repair(c, "Make it a companion of %.*s.", SLICE_ARG(other->name));
	}
}

const struct rule check_rules_copy[] = {
	{ "copy-not-kept", SEVERITY_WARNING, "After a change the copies and the source disagree.",
	  "Name the pattern that finds them (`kept by …`), make the source `fixed`, or the copy, if it is meant as it was.",
	  .attribute = copy_not_kept },
	{ "mirror-in-index", SEVERITY_ERROR, "Both items are in the index under the same key, and a query returns both.",
	  "Leave the index keys off the companion.", .entry = mirror_in_index },
	{ "list-in-two-places", SEVERITY_WARNING,
	  "Two requests can fail or overtake each other, and then the list and the items disagree.",
	  "Make the items companions (`for: tag in tags`): written and diffed in the same transaction.",
	  .attribute = list_in_two_places },
	{ "stored-twice", SEVERITY_WARNING, "One can be written without the other; then the two sides disagree.",
	  "Make one a companion of the other.", .entity = stored_twice },
	{ "list-not-searchable", SEVERITY_NOTE, "An item is in an index once; a list in it is not indexed.",
	  "Add a companion per element: {for: tag in tags, …}, if they are meant for finding.",
	  .attribute = list_not_searchable },
	{ NULL },
};
