/* The condition of a change (P2 of write_plan.h): the attributes that must be unchanged.
 *
 * If a rule is affected by this change (an attribute it reads or computes changes), everything it reads is watched,
 * including counters: afterwards they may move without the rule being evaluated. Unaffected rules add nothing, so
 * that an edit of a text does not conflict with a like.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

#define LARGE 1024 /* bytes: longer values are not sent twice just because they change */

struct watch {
	struct plan *plan;
	struct arena *arena;
	struct name_list all;
};

static void watch_names(struct watch *w, const struct name_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		names_add(w->arena, &w->all, names->list[i]);
}

/* `makes`: the attribute that the rule is for; NULL: none. */
static void take_if_touched(struct watch *w, const struct name_list *names, const struct name *makes)
{
	if (names_meet(names, &w->plan->changed) || names_have(&w->plan->changed, makes))
		watch_names(w, names);
}

static void watch_attributes(struct watch *w)
{
	const struct entity *e = w->plan->entity;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct name_list names = { 0 };

		names_of_term(w->arena, &names, e, a->derived);
		names_of_term(w->arena, &names, e, a->when);
		if (a->after.n)
			names_add(w->arena, &names, a->after_at);
		for (size_t k = 0; k < a->copy_arg_count; k++)
			names_of_term(w->arena, &names, e, a->copy_args[k]);
		take_if_touched(w, &names, a->at);
	}
}

static void watch_keys(struct watch *w)
{
	const struct entity *e = w->plan->entity;

	for (size_t i = 0; i < e->key_count; i++) {
		struct name_list names = { 0 };

		/* The choice among several rules for one attribute depends on all of them. */
		for (size_t k = 0; k < e->key_count; k++) {
			if (e->keys[k].at != e->keys[i].at)
				continue;
			names_of_template(w->arena, &names, e, e->keys[k].template);
			names_of_term(w->arena, &names, e, e->keys[k].when);
		}
		take_if_touched(w, &names, e->keys[i].at);
	}
}

static bool companion_changes(const struct plan *p, const struct companion *c)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->actions[i].companion == c)
			return true;
	return false;
}

static void watch_companions(struct watch *w)
{
	const struct entity *e = w->plan->entity;

	for (size_t i = 0; i < e->companion_count; i++) {
		const struct companion *c = &e->companions[i];
		struct name_list names = { 0 };

		names_of_term(w->arena, &names, e, c->when);
		names_of_term(w->arena, &names, e, c->each_list);
		for (size_t k = 0; k < c->rule_count; k++) {
			names_of_template(w->arena, &names, e, c->rules[k].template);
			names_of_term(w->arena, &names, e, c->rules[k].when);
		}
		if (!w->plan->item || companion_changes(w->plan, c) || names_meet(&names, &w->plan->changed))
			watch_names(w, &names);
	}
}

static void names_of_reference(struct watch *w, struct name_list *names, const struct reference *f)
{
	for (size_t i = 0; i < f->arg_count; i++)
		names_of_term(w->arena, names, w->plan->entity, f->args[i]);
}

static void watch_counts(struct watch *w)
{
	const struct entity *e = w->plan->entity;

	for (size_t i = 0; i < e->count_count; i++) {
		struct name_list names = { 0 };

		names_of_reference(w, &names, &e->counts[i].target);
		names_of_term(w->arena, &names, e, e->counts[i].by);
		names_of_term(w->arena, &names, e, e->counts[i].when);
		names_of_term(w->arena, &names, e, e->counts[i].each.list);
		if (!w->plan->item || names_meet(&names, &w->plan->changed))
			watch_names(w, &names);
	}
}

static void watch_requirements(struct watch *w, const struct requirement *list, size_t n, bool always)
{
	for (size_t i = 0; i < n; i++) {
		struct name_list names = { 0 };

		names_of_reference(w, &names, &list[i].target);
		names_of_term(w->arena, &names, w->plan->entity, list[i].when);
		names_of_term(w->arena, &names, w->plan->entity, list[i].each.list);
		if (always || names_meet(&names, &w->plan->changed))
			watch_names(w, &names);
	}
}

static bool is_old(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_PATH && t->of == TERM_OF_OLD;
}

static void watch_checks(struct watch *w)
{
	const struct entity *e = w->plan->entity;

	for (size_t i = 0; i < e->check_count; i++) {
		struct name_list names = { 0 };

		names_of_term(w->arena, &names, e, e->checks[i].term);
		if (term_any(e->checks[i].term, is_old, NULL)) /* applies to every change */
			watch_names(w, &names);
		else
			take_if_touched(w, &names, NULL);
	}
}

/* What is given and what changes is compared for good measure, unless that means sending a long text twice. */
static void watch_short(struct watch *w, const struct name *n)
{
	if (row_get(&w->plan->old_row, n).n <= LARGE)
		names_add(w->arena, &w->all, n);
}

static void watch_given(struct watch *w)
{
	struct plan *p = w->plan;
	const struct row *input = p->write->input;

	for (size_t i = 0; i < p->changed.count; i++)
		watch_short(w, p->changed.list[i]);
	for (struct row_iter it = row_iter(input); input && row_next(&it);)
		if (it.slot && it.slot->attribute)
			watch_short(w, it.slot->name);
}

static void watch_match(struct watch *w)
{
	const struct plan *p = w->plan;

	if (p->write->match == MATCH_VERSION)
		names_add(w->arena, &w->all, p->entity->version_at);
	for (size_t i = 0; p->write->match == MATCH_ETAG && i < p->entity->attribute_count; i++)
		if (!p->entity->attributes[i].counter)
			names_add(w->arena, &w->all, p->entity->attributes[i].at);
}

static bool can_change(const struct plan *p, const struct name *n)
{
	const struct attribute *a = slots_attribute(p->entity->slots, n);

	return !(a && a->from_key) && !n->of_table;
}

void plan_watch(struct plan *p, struct plan_action *a)
{
	struct watch w = { .plan = p, .arena = p->run->arena };
	const struct action *action = p->write->action;

	watch_names(&w, &p->write->looked_at);
	watch_companions(&w);
	watch_counts(&w);
	watch_match(&w);
	if (p->item) {
		watch_attributes(&w);
		watch_keys(&w);
		watch_checks(&w);
		watch_requirements(&w, p->entity->requires, p->entity->require_count, false);
		if (action)
			watch_requirements(&w, action->requires, action->require_count, true);
		watch_given(&w);
	}
	for (size_t i = 0; i < w.all.count; i++)
		if (can_change(p, w.all.list[i]))
			fields_set(&a->equal, w.all.list[i]->text, row_get(&p->old_row, w.all.list[i]));
}
