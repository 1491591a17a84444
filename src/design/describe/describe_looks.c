/* The other items that a write reads, as the conditions it puts on them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"

#define MOST 32 /* of one write */

struct looks {
	struct arena *arena;
	const struct entity *entity;
	struct slice list[MOST]; /* in words, once each */
	size_t count;
};

static void add_look(struct looks *l, struct slice text)
{
	if (l->count < MOST && !slice_among(l->list, l->count, text))
		l->list[l->count++] = text;
}

static struct slice reference_text(struct arena *a, const struct reference *r)
{
	struct buf b;

	buf_init(&b, a);
	describe_reference(&b, r);
	return buf_slice(&b);
}

/* Whether the item is counted on or required: then it is in the transaction anyway, with its condition. */
static bool is_written_anyway(struct looks *l, struct slice text)
{
	EACH (struct count_rule, c, l->entity->counts, l->entity->count_count)
		if (slice_equal(text, reference_text(l->arena, &c->target)))
			return true;
	EACH (struct requirement, r, l->entity->requires, l->entity->require_count)
		if (slice_equal(text, reference_text(l->arena, &r->target)))
			return true;
	return false;
}

static void add_reference(struct looks *l, const struct reference *r)
{
	struct slice text = reference_text(l->arena, r);

	if (!is_written_anyway(l, text))
		add_look(l, text);
}

static void visit_term(void *ctx, const struct term *t)
{
	struct looks *l = ctx;

	if (t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE || t->kind == TERM_FETCH)
		add_reference(l, &(struct reference){ .entity = t->name, .args = t->args, .arg_count = t->arg_count });
	if (t->kind == TERM_MAY)
		add_look(l, SLICE("the caller's permission"));
}

static void look_at(struct looks *l, const struct term *t)
{
	if (t)
		term_walk(t, visit_term, l);
}

static void look_at_values(struct looks *l)
{
	EACH (struct attribute, a, l->entity->attributes, l->entity->attribute_count) {
		struct reference source = attribute_source(a);

		look_at(l, a->default_);
		if (source.entity.n && !a->kept_by.n)
			add_reference(l, &source);
	}
}

static void look_at_also(struct looks *l, const struct also_rule *list, size_t n, int event)
{
	EACH (struct also_rule, x, list, n) {
		if (event && !(x->events & event))
			continue;
		look_at(l, x->when);
		for (size_t i = 0; i < x->with_count; i++)
			look_at(l, x->with[i].term);
	}
}

static void look_for(struct looks *l, enum allow_verb verb, const struct action *x)
{
	const struct entity *e = l->entity;

	look_at(l, x && x->allow ? x->allow : e->allow[x ? ALLOW_UPDATE : verb]);
	if (x) {
		look_at(l, x->when);
		for (size_t i = 0; i < x->set_count; i++)
			look_at(l, x->set[i].term);
		look_at_also(l, x->also, x->also_count, 0);
	}
	look_at_also(l, e->also, e->also_count,
		     verb == ALLOW_CREATE   ? ON_CREATED
		     : verb == ALLOW_DELETE ? ON_DELETED
					    : ON_UPDATED);
	if (verb == ALLOW_CREATE)
		look_at_values(l);
	for (size_t i = 0; verb != ALLOW_DELETE && i < e->check_count; i++)
		look_at(l, e->checks[i].term);
}

bool describe_looks(struct buf *b, const struct entity *e, enum allow_verb verb, const struct action *action)
{
	struct looks l = { .arena = b->arena, .entity = e };

	look_for(&l, verb, action);
	for (size_t i = 0; i < l.count; i++)
		buf_printf(b, " + ConditionCheck %.*s as read", SLICE_ARG(l.list[i]));
	return l.count > 0;
}
