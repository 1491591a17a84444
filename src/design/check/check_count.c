/* Rules about counters: does something move them, and always.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static bool is_counted(const struct checker *c, const struct entity *e, struct slice attribute)
{
	EACH (struct entity, from, c->d->entities, c->d->entity_count)
		EACH (struct count_rule, r, from->counts, from->count_count)
			if (slice_equal(r->target.entity, e->name) && slice_equal(r->attribute, attribute))
				return true;
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if (p->effect == EFFECT_COUNT && slice_equal(p->target, e->name) &&
		    slice_equal(p->target_attribute, attribute))
			return true;
	EACH (struct action, x, e->actions, e->action_count)
		EACH (struct assignment, s, x->add, x->add_count)
			if (slice_equal(s->attribute, attribute))
				return true;
	EACH (struct entity, from, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, from->attributes, from->attribute_count)
			if (a->next && slice_equal(a->next->entity, e->name) && slice_equal(a->next_attribute, attribute))
				return true;
	return false;
}

static void counter_never_moved(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			if (a->counter && !is_counted(c, e, a->name)) {
				struct about about = about_entity(c, e);
				check_say(c, &about, a->place, "nothing moves %.*s", SLICE_ARG(a->name));
				check_repair(c,
					     a->sequence
						     ? "Take numbers from it: `number: integer, next of %.*s(…).%.*s`."
						     : "Add `counts: [%.*s(…).%.*s]` to what it counts.",
					     SLICE_ARG(e->name), SLICE_ARG(a->name));
			}
}

static bool assigns(const struct assignment *list, size_t n, struct slice attribute)
{
	EACH (struct assignment, s, list, n)
		if (slice_equal(s->attribute, attribute))
			return true;
	return false;
}

static bool is_set_by_server(const struct checker *c, const struct entity *e, struct slice attribute)
{
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if (slice_equal(p->target, e->name) && assigns(p->with, p->with_count, attribute))
			return true;
	EACH (struct action, x, e->actions, e->action_count)
		if (assigns(x->set, x->set_count, attribute))
			return true;
	return false;
}

static void number_nobody_keeps(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count) {
			bool number = a->type == ATTR_NUMBER || a->type == ATTR_INTEGER;
			if (!number || a->counter || a->derived || a->copy_entity.n || a->managed || e->internal ||
			    !name_ends(c->arena, a->name, "count score rank total average views votes likes") ||
			    name_is(c->arena, a->name, "discount account") || is_set_by_server(c, e, a->name))
				continue;
			bool client = e->allow[ALLOW_CREATE] || e->allow[ALLOW_UPDATE];
			/* Operators set it, and something uses it. */
			if (!client && attribute_is_looked_at(c, a->name))
				continue;
			struct about about = about_entity(c, e);
			check_say(c, &about, a->place,
				  client ? "%.*s is whatever the client says"
					 : "%.*s is set by nobody and changes nothing",
				  SLICE_ARG(a->name));
		}
}

/* The attribute by which a soft delete can be told. */
static bool when_knows_delete(const struct entity *e, const struct term *when)
{
	EACH (struct assignment, s, e->delete_.set, e->delete_.set_count)
		if (term_mentions(when, s->attribute))
			return true;
	return false;
}

static void count_ignores_delete(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		if (!e->delete_.soft)
			continue;
		EACH (struct count_rule, r, e->counts, e->count_count) {
			if (when_knows_delete(e, r->when))
				continue;
			struct about about = about_entity(c, e);
			check_say(c, &about, r->target.place, "%.*s keeps counting what was deleted",
				  SLICE_ARG(r->attribute));
		}
	}
}

static void count_on_deleted(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct count_rule, r, e->counts, e->count_count) {
			const struct entity *to = design_entity(c->d, r->target.entity);
			if (!to || !to->delete_.soft || r->if_)
				continue;
			struct about about = about_entity(c, e);
			check_say(c, &about, r->target.place, "counts on a %.*s that may be deleted",
				  SLICE_ARG(to->name));
		}
}

static void count_in_processor(struct checker *c)
{
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if (p->effect == EFFECT_COUNT) {
			struct about about = about_processor(c, p);
			check_say(c, &about, (struct place){ 0 }, "counts %.*s from the stream",
				  SLICE_ARG(p->target_attribute));
		}
}

const struct rule check_rules_count[] = {
	{ "counter-never-moved", SEVERITY_ERROR, counter_never_moved,
	  "A counter that no `counts` or processor moves, a sequence that nothing takes from.",
	  "It stays at 0 for ever.", "Add `counts` to what it counts." },
	{ "number-nobody-keeps", SEVERITY_WARNING, number_nobody_keeps,
	  "A count, score or rank that is a plain number: clients set it or nobody does.",
	  "Such a number is only right when the server keeps it.",
	  "Make it a `counter`, derive it (`= term`), or declare it `managed`." },
	{ "count-ignores-delete", SEVERITY_ERROR, count_ignores_delete,
	  "It is deleted softly, and its `counts` have no `when`: the number never goes down.",
	  "A soft delete is an update; the item is still there to be counted.", "Add `when not is_deleted`." },
	{ "count-on-deleted", SEVERITY_NOTE, count_on_deleted,
	  "Counts on something that can be softly deleted, without `if`.",
	  "A like or comment of something deleted is then accepted.", "Add `if is_deleted = false`." },
	{ "count-in-processor", SEVERITY_NOTE, count_in_processor,
	  "A processor may run twice for one change: the number drifts on a remote table.",
	  "Streams deliver at least once; Thorpe's own table runs each exactly once.",
	  "Use `counts` where the number must be exact." },
	{ NULL },
};
