/* Rules about the order of lists: whether the sort key has the promised order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

enum order_kind { ORDER_NONE, ORDER_TIME, ORDER_NUMBER, ORDER_FREE };

static bool has_word(struct slice text, const char *word)
{
	return memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static enum order_kind promised(const struct access *a)
{
	if (!a->order.n)
		return ORDER_NONE;
	if (has_word(a->order, "newest") || has_word(a->order, "oldest"))
		return ORDER_TIME;
	if (has_word(a->order, "highest") || has_word(a->order, "lowest"))
		return ORDER_NUMBER;
	return ORDER_FREE;
}

/* The first placeholder of the sort key that is not the same in all rows: what the list is ordered by. */
static const struct template_part *ordered_by(const struct reach *r, const struct entry *e)
{
	const struct key_schema *k = r->space->key;
	for (size_t i = 0; i < k->range_count; i++) {
		const struct where_rule *w = check_where(r->access, k->range[i].name);
		if (w && w->op == WHERE_EQ && !w->optional)
			continue;
		size_t fixed = w && w->op == WHERE_BEGINS ? template_holes(w->value) : 0;
		/* A prefix that ends in a placeholder leaves that one open. */
		if (fixed && w->value->parts[w->value->part_count - 1].names)
			fixed--;
		const struct template_part *hole = template_hole(e->range[i], fixed);
		if (hole)
			return hole;
	}
	return NULL;
}

/* Whether the value counts up: taken from a sequence, or from a counter, when the item was created. */
static bool is_numbered(const struct attribute *a)
{
	const struct term *t = a ? a->default_ : NULL;
	return (a && a->next) ||
	       (t && t->kind == TERM_ADD && (t->args[0]->kind == TERM_FETCH || t->args[1]->kind == TERM_FETCH));
}

static bool hole_has_order(struct checker *c, const struct entry *e, const struct template_part *hole,
			   enum order_kind kind)
{
	const struct attribute *a = hole_attribute(c, e->shape->entity, hole);
	if (kind == ORDER_TIME) {
		if (format_is_time(hole->format))
			return true;
		const struct attribute *own = entity_attribute(e->shape->entity, hole->names[0]);
		/* The item's own id is a ULID, in order of creation; another item's id has the order of that item.
		 * Times that are free strings are rule time-not-sortable. */
		return !a || attribute_is_time(a) || (own && own->id) || is_numbered(own) ||
		       (a->type == ATTR_STRING && name_says_time(c->arena, a->name));
	}
	return !a || attribute_is_number(a);
}

/* Whether the order does not matter: the rows are ordered in memory, or there is only one. */
static bool order_is_moot(const struct access *a)
{
	return a->rank || a->single || a->count_only || a->tree_parent.n;
}

static void wrong_order(struct checker *c, const struct reach *r)
{
	enum order_kind kind = promised(r->access);
	if (!r->space || order_is_moot(r->access) || (kind != ORDER_TIME && kind != ORDER_NUMBER))
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct template_part *hole = ordered_by(r, x);
		if (hole && hole_has_order(c, x, hole, kind))
			continue;
		check_say(c, AT_SUBJECT,
			  hole ? "%.*s is promised, and %.*s is sorted by %.*s"
			       : "%.*s is promised, and %.*s has no order in %.*s",
			  SLICE_ARG(r->access->order), SLICE_ARG(x->shape->name),
			  SLICE_ARG(hole ? hole->names[0] : r->space->name));
		break;
	}
}

static void no_order(struct checker *c, const struct reach *r)
{
	if (!r->space || order_is_moot(r->access) || r->access->order.n || !r->access->path.n)
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct template_part *hole = ordered_by(r, x);
		const struct attribute *a = hole ? hole_attribute(c, x->shape->entity, hole) : NULL;
		if (!a || !attribute_is_time(a))
			continue;
		check_say(c, AT_SUBJECT, "sorted by %.*s, oldest first, because no order is given",
			  SLICE_ARG(hole->names[0]));
		break;
	}
}

/* Whether the partition is a day or a month of what it holds. */
static bool is_dated(const struct reach *r)
{
	EACH (struct entry, x, r->entries, r->entry_count)
		for (size_t i = 0; i < r->space->key->hash_count; i++)
			EACH (struct template_part, p, x->hash[i]->parts, x->hash[i]->part_count)
				if (p->names && format_is_time(p->format))
					return true;
	return false;
}

static bool walks_elsewhere(const struct checker *c, const struct access *a)
{
	EACH (struct access, other, c->d->accesses, c->d->access_count)
		if (other->merge_run == a)
			return true;
	return false;
}

static void stops_at_midnight(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	if (r->space && !a->walk_times && !a->count_only && (a->descending || a->rank) && is_dated(r) &&
	    !walks_elsewhere(c, a))
		check_say(c, AT_SUBJECT, "the list ends where the day does");
}

const struct rule check_rules_order[] = {
	{ "wrong-order", SEVERITY_WARNING,
	  "A Query returns items by their sort key and by nothing else; a page in another order cannot be cut out of it.",
	  "Put the time or number first in the sort key, make the id a ULID (`id`), or order a bounded set with `rank`.",
	  .access = wrong_order },
	{ "no-order", SEVERITY_NOTE, "ScanIndexForward defaults to true: the first page of a long list is the oldest.",
	  "Say `order: newest first` or `order: oldest first`.", .access = no_order },
	{ "stops-at-midnight", SEVERITY_WARNING,
	  "Just after midnight the list is empty, and no page ever reaches yesterday.",
	  "Add `walk: {date: one day back, 7 times}`.", .access = stops_at_midnight },
	{ NULL },
};
