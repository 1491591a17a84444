/* What a write looks at of other items, as the conditions that it has for that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/describe/describe.h"

#define MOST 32 /* that are told; nobody reads more */

struct looks {
	struct arena *arena;
	const struct entity *entity;
	struct slice list[MOST]; /* in words, once each */
	size_t count;
};

static void add(struct looks *l, struct slice text)
{
	for (size_t i = 0; i < l->count; i++)
		if (slice_equal(l->list[i], text))
			return;
	if (l->count < MOST)
		l->list[l->count++] = text;
}

static struct slice reference_text(struct arena *a, struct slice entity, const struct term *const *args, size_t n)
{
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "%.*s(", SLICE_ARG(entity));
	for (size_t i = 0; i < n; i++) {
		buf_str(&b, i ? ", " : "");
		term_print(&b, args[i]);
	}
	buf_byte(&b, ')');
	return buf_slice(&b);
}

static bool is_said_by(struct looks *l, struct slice text, const struct reference *r)
{
	return slice_equal(text, reference_text(l->arena, r->entity, r->args, r->arg_count));
}

/* What is counted on or required is in the transaction anyway, and has the condition there. */
static bool is_said(struct looks *l, struct slice text)
{
	for (size_t i = 0; i < l->entity->count_count; i++)
		if (is_said_by(l, text, &l->entity->counts[i].target))
			return true;
	for (size_t i = 0; i < l->entity->require_count; i++)
		if (is_said_by(l, text, &l->entity->requires[i].target))
			return true;
	return false;
}

static void add_reference(struct looks *l, struct slice entity, const struct term *const *args, size_t n)
{
	struct slice text = reference_text(l->arena, entity, args, n);

	if (!is_said(l, text))
		add(l, text);
}

static void visit(void *ctx, const struct term *t)
{
	struct looks *l = ctx;

	if (t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE || t->kind == TERM_FETCH)
		add_reference(l, t->name, t->args, t->arg_count);
	if (t->kind == TERM_MAY)
		add(l, SLICE("the caller's permission"));
}

static void look(struct looks *l, const struct term *t)
{
	if (t)
		term_walk(t, visit, l);
}

static void look_at_values(struct looks *l)
{
	for (size_t i = 0; i < l->entity->attribute_count; i++) {
		const struct attribute *a = &l->entity->attributes[i];

		look(l, a->default_);
		if (a->copy_entity.n && !a->kept_by.n)
			add_reference(l, a->copy_entity, a->copy_args, a->copy_arg_count);
	}
}

static void look_for(struct looks *l, enum allow_verb verb, const struct action *x)
{
	const struct entity *e = l->entity;

	look(l, x && x->allow ? x->allow : e->allow[x ? ALLOW_UPDATE : verb]);
	if (x) {
		look(l, x->when);
		for (size_t i = 0; i < x->set_count; i++)
			look(l, x->set[i].term);
	}
	if (verb == ALLOW_CREATE)
		look_at_values(l);
	for (size_t i = 0; verb != ALLOW_DELETE && i < e->check_count; i++)
		look(l, e->checks[i].term);
}

bool describe_looks(struct buf *b, const struct entity *e, enum allow_verb verb, const struct action *action)
{
	struct looks l = { .arena = b->arena, .entity = e };

	look_for(&l, verb, action);
	for (size_t i = 0; i < l.count; i++)
		buf_printf(b, " + ConditionCheck %.*s as read", SLICE_ARG(l.list[i]));
	return l.count > 0;
}
