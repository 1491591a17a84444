/* Rules about counters: whether something moves them, on every way that an item comes and goes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static bool is_counted(const struct checker *c, const struct entity *e, struct slice attribute)
{
	EACH (struct entity, from, c->d->entities, c->d->entity_count) {
		EACH (struct count_rule, r, from->counts, from->count_count)
			if (r->target.to == e && slice_equal(r->attribute, attribute))
				return true;
		EACH (struct attribute, a, from->attributes, from->attribute_count)
			if (a->next && a->next->to == e && slice_equal(a->next_attribute, attribute))
				return true;
	}
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if ((p->effect == EFFECT_COUNT || p->effect == EFFECT_UPSERT) && p->target_entity == e &&
		    effect_sets(p, attribute))
			return true;
	EACH (struct action, x, e->actions, e->action_count)
		if (is_assigned(x->add, x->add_count, attribute))
			return true;
	return design_also_sets(c->d, e, attribute);
}

static void counter_never_moved(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (a->counter && !is_counted(c, e, a->name)) {
		check_say(c, a->place, "nothing moves %.*s", SLICE_ARG(a->name));
		check_repair(c,
			     a->sequence ? "Take numbers from it: `number: integer, next of %.*s(…).%.*s`."
					 : "Add `counts: [%.*s(…).%.*s]` to what it counts.",
			     SLICE_ARG(e->name), SLICE_ARG(a->name));
	}
}

static bool is_set_by_server(const struct checker *c, const struct entity *e, struct slice attribute)
{
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if (p->target_entity == e && effect_sets(p, attribute))
			return true;
	EACH (struct action, x, e->actions, e->action_count)
		if (is_assigned(x->set, x->set_count, attribute))
			return true;
	return design_also_sets(c->d, e, attribute);
}

static void number_nobody_keeps(struct checker *c, const struct entity *e, const struct attribute *a)
{
	bool number = a->type == ATTR_NUMBER || a->type == ATTR_INTEGER;
	if (!number || a->counter || a->derived || a->copy_entity.n || a->managed || e->internal ||
	    !name_ends(c->arena, a->name, "count score rank total average views votes likes") ||
	    name_is(c->arena, a->name, "discount account") || is_set_by_server(c, e, a->name))
		return;
	bool client = e->allow[ALLOW_CREATE] || e->allow[ALLOW_UPDATE];
	/* Operators set it, and a rule, key or filter uses it. */
	if (!client && attribute_is_looked_at(c, a->name))
		return;
	check_say(c, a->place, client ? "clients set %.*s to any value" : "nothing sets %.*s, and nothing uses it",
		  SLICE_ARG(a->name));
}

/* The attribute that marks items as deleted. */
static bool when_knows_delete(const struct entity *e, const struct term *when)
{
	EACH (struct assignment, s, e->delete_.set, e->delete_.set_count)
		if (term_mentions(when, s->attribute))
			return true;
	return false;
}

static void count_ignores_delete(struct checker *c, const struct entity *e)
{
	if (!e->delete_.soft)
		return;
	EACH (struct count_rule, r, e->counts, e->count_count)
		if (!when_knows_delete(e, r->when))
			check_say(c, r->target.place, "%.*s keeps counting what was deleted", SLICE_ARG(r->attribute));
}

static void count_on_deleted(struct checker *c, const struct entity *e)
{
	EACH (struct count_rule, r, e->counts, e->count_count)
		if (r->target.to->delete_.soft && !r->if_)
			check_say(c, r->target.place, "counts on a %.*s that may be deleted",
				  SLICE_ARG(r->target.entity));
}

static void count_in_processor(struct checker *c, const struct processor *p)
{
	if (p->effect == EFFECT_COUNT && !p->every_seconds)
		check_say(c, AT_SUBJECT, "counts %.*s from the stream", SLICE_ARG(p->target_attribute));
}

const struct rule check_rules_count[] = {
	{ "counter-never-moved", SEVERITY_ERROR, "It stays at 0 for ever.", "Add `counts` to what it counts.",
	  .attribute = counter_never_moved },
	{ "number-nobody-keeps", SEVERITY_WARNING, "Such a number is only right when the server keeps it.",
	  "Make it a `counter`, derive it (`= term`), or declare it `managed`.", .attribute = number_nobody_keeps },
	{ "count-ignores-delete", SEVERITY_ERROR, "A soft delete is an update; the item is still there to be counted.",
	  "Add `when not is_deleted`.", .entity = count_ignores_delete },
	{ "count-on-deleted", SEVERITY_NOTE, "A like or comment of something deleted is then accepted.",
	  "Add `if is_deleted = false`.", .entity = count_on_deleted },
	{ "count-in-processor", SEVERITY_NOTE,
	  "Streams deliver at least once; Thorpe's own table runs each exactly once.",
	  "Use `counts` where the number must be exact.", .processor = count_in_processor },
	{ NULL },
};
