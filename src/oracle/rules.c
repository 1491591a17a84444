/* Decides, before any item is read, what can be judged of a design's items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"

/* ---- counters ---- */

static size_t attribute_index(const struct entity *e, const struct name *n)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].at == n)
			return i;
	return SIZE_MAX;
}

static struct rule_entity *rule_of(struct rules *x, const struct entity *e)
{
	return e ? &x->entities[entity_index(x->design, e)] : NULL;
}

static bool sets(const struct assignment *list, size_t n, const struct name *at)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].at == at)
			return true;
	return false;
}

static bool is_moved_by_actions(const struct entity *e, const struct name *at)
{
	if (sets(e->delete_.set, e->delete_.set_count, at) ||
	    names_among(e->delete_.remove_at, e->delete_.remove_count, at))
		return true;
	for (size_t i = 0; i < e->action_count; i++) {
		const struct action *a = &e->actions[i];

		if (sets(a->add, a->add_count, at) || sets(a->set, a->set_count, at) ||
		    names_among(a->remove_at, a->remove_count, at) || names_among(a->input_at, a->input_count, at))
			return true;
	}
	return false;
}

static bool is_moved_by_processors(const struct design *d, const struct entity *e, const struct name *at)
{
	for (size_t i = 0; i < d->processor_count; i++) {
		const struct processor *p = &d->processors[i];

		if (p->target_entity == e && p->effect != EFFECT_REMOVE_ALL && effect_sets(p, at->text))
			return true;
	}
	return false;
}

enum counter_fate { COUNTER_ALONE, COUNTER_COUNTED, COUNTER_ADDED, COUNTER_PROCESSED, COUNTER_IMPURE };

static enum counter_fate fate_of(const struct rules *x, const struct entity *e, const struct attribute *a)
{
	const struct design *d = x->design;
	enum counter_fate fate = COUNTER_ALONE;

	if (is_moved_by_actions(e, a->at) || design_also_sets(d, e, a->name))
		return COUNTER_ADDED;
	if (is_moved_by_processors(d, e, a->at))
		return COUNTER_PROCESSED;
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].count_count; k++) {
			const struct count_rule *c = &d->entities[i].counts[k];

			if (c->target.to != e || c->at != a->at)
				continue;
			if (x->entities[i].count_impure[k])
				return COUNTER_IMPURE;
			fate = COUNTER_COUNTED;
		}
	return fate;
}

/* ---- targets: what other items count on or copy ---- */

static void carry(struct arena *a, struct rule_entity *x, const struct name *n)
{
	if (x) {
		names_add(a, &x->carried, n);
		x->is_target = true;
	}
}

static void carry_copied(struct arena *a, struct rule_entity *source, const struct attribute *copy)
{
	struct name_list names = { 0 };

	if (source)
		names_of_copy(a, &names, source->entity, copy);
	for (size_t i = 0; i < names.count; i++)
		carry(a, source, names.list[i]);
}

static void mark_targets(struct rules *x, const struct entity *e, struct arena *a)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].kept_by.n)
			carry_copied(a, rule_of(x, e->attributes[i].copy_of), &e->attributes[i]);
	for (size_t i = 0; i < e->count_count; i++) {
		struct rule_entity *t = rule_of(x, e->counts[i].target.to);
		size_t at = t ? attribute_index(t->entity, e->counts[i].at) : SIZE_MAX;

		if (at != SIZE_MAX && t->counted[at])
			carry(a, t, e->counts[i].at);
	}
}

/* An entity whose items are companions of others, and that nothing else writes. */
static bool is_only_companion(const struct design *d, const struct entity *e)
{
	bool any = false;

	if (!e->internal || e->allow[ALLOW_CREATE])
		return false;
	for (size_t i = 0; i < e->action_count; i++)
		if (e->actions[i].creates)
			return false;
	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].target_entity == e)
			return false;
	if (design_also_puts(d, e))
		return false;
	for (size_t i = 0; i < d->entity_count; i++)
		any = any || d->entities[i].companion_count;
	return any;
}

/* ---- all of it ---- */

static void rule_init(struct rule_entity *x, const struct entity *e, struct arena *a)
{
	x->entity = e;
	x->impure = arena_array(a, bool, e->attribute_count);
	x->counted = arena_array(a, bool, e->attribute_count);
	x->key_impure = arena_array(a, bool, e->key_count);
	x->companion_impure = arena_array(a, bool, e->companion_count);
	x->count_impure = arena_array(a, bool, e->count_count);
	x->check_impure = arena_array(a, bool, e->check_count);
	pure_mark(x);
}

void rules_make(struct rules *x, const struct design *d, struct arena *a)
{
	*x = (struct rules){ .design = d, .entities = arena_array(a, struct rule_entity, d->entity_count) };
	for (size_t i = 0; i < d->entity_count; i++)
		rule_init(&x->entities[i], &d->entities[i], a);
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		for (size_t k = 0; k < e->attribute_count; k++)
			x->entities[i].counted[k] =
				e->attributes[k].counter && fate_of(x, e, &e->attributes[k]) == COUNTER_COUNTED;
		x->entities[i].is_target = e->found_by.n > 0;
		x->entities[i].only_companion = is_only_companion(d, e);
		x->has_companions =
			x->has_companions || e->companion_count || (e->login.present && e->login.secret_count);
	}
	for (size_t i = 0; i < d->entity_count; i++)
		mark_targets(x, &d->entities[i], a);
	for (size_t i = 0; i < d->entity_count; i++)
		lives_mark(x, &x->entities[i], a);
	refers_mark(x);
	bonds_make(x, a);
}

/* ---- what cannot be judged ---- */

static void note(struct oracle *o, const struct entity *e, struct slice attribute, const char *why)
{
	struct oracle_finding f = {
		.kind = ORACLE_NOT_JUDGED, .weight = ORACLE_NOTE, .entity = e, .attribute = attribute
	};

	tell(o, &f, "%.*s.%.*s %s", SLICE_ARG(e->name), SLICE_ARG(attribute), why);
}

static void tell_attribute(struct oracle *o, const struct rule_entity *x, size_t i)
{
	const struct attribute *a = &x->entity->attributes[i];

	if (x->impure[i])
		note(o, x->entity, a->name,
		     "reads more than its item (the time, the caller, other items): it is taken as it is");
	if (!a->counter)
		return;
	switch (fate_of(&o->rules, x->entity, a)) {
	case COUNTER_ADDED: note(o, x->entity, a->name, "is also moved by actions: it cannot be counted again"); break;
	case COUNTER_PROCESSED:
		note(o, x->entity, a->name, "is moved by processors: it cannot be counted again");
		break;
	case COUNTER_IMPURE:
		note(o, x->entity, a->name,
		     "is counted by a rule that reads more than the item that counts: it cannot be counted again");
		break;
	case COUNTER_ALONE:
	case COUNTER_COUNTED: break;
	}
}

void rules_tell(struct oracle *o)
{
	for (size_t i = 0; i < o->rules.design->entity_count; i++) {
		const struct rule_entity *x = &o->rules.entities[i];
		struct name_list done = { 0 };

		for (size_t k = 0; k < x->entity->attribute_count; k++)
			tell_attribute(o, x, k);
		for (size_t k = 0; k < x->entity->key_count; k++) {
			size_t before = done.count;

			if (!x->key_impure[k])
				continue;
			names_add(o->run.arena, &done, x->entity->keys[k].at);
			if (done.count > before)
				note(o, x->entity, x->entity->keys[k].attribute,
				     "depends on more than its item (the time, the caller, other items): it may be there or not");
		}
		for (size_t k = 0; k < x->entity->companion_count; k++)
			if (x->companion_impure[k])
				note(o, x->entity, SLICE("companions"),
				     "depend on more than their item (the time, the caller, other items): they may be there or not");
	}
	bonds_tell(o);
}
