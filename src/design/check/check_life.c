/* Rules about lifetimes: items that expire, items that a deletion leaves behind, references to missing items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* ---- TTL ---- */

static bool is_expiry(struct checker *c, const struct attribute *a)
{
	return a->after.n || (a->type == ATTR_EPOCH && name_contains(c->arena, a->name, "expire ttl")) ||
	       name_is(c->arena, a->name, "expiresat expiry expirydate expireat ttl");
}

static void ttl_missing(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (c->d->ttl.n || !is_expiry(c, a))
		return;
	check_say(c, a->place, "%.*s has an expiry time, but the table has no ttl", SLICE_ARG(e->name));
	check_repair(c, "Add `ttl: %.*s`.", SLICE_ARG(a->name));
}

static void ttl_nowhere(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		if (entity_attribute(e, c->d->ttl))
			return;
	if (!c->d->ttl.n)
		return;
	check_say(c, c->d->ttl_place, "ttl is %.*s, which no entity has", SLICE_ARG(c->d->ttl));
	check_repair(c, "Add it to what expires: `%.*s: epoch, 30 days after created_at`.", SLICE_ARG(c->d->ttl));
}

static void ttl_type(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (c->d->ttl.n && slice_equal(a->name, c->d->ttl) && a->type != ATTR_EPOCH && !a->copy_entity.n && !a->derived)
		check_say(c, a->place, "%.*s is not an epoch, so nothing expires by it", SLICE_ARG(a->name));
}

static bool is_removed_by_action(const struct entity *e, struct slice attribute)
{
	EACH (struct action, x, e->actions, e->action_count)
		if (slice_among(x->remove, x->remove_count, attribute))
			return true;
	return false;
}

static void ttl_always(struct checker *c, const struct entity *e)
{
	const struct attribute *expiry = c->d->ttl.n ? entity_attribute(e, c->d->ttl) : NULL;
	bool drafts = false;
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		for (size_t i = 0; i < a->choice_count; i++)
			drafts |= name_is(c->arena, a->choices[i], "draft");
	if (!expiry || !drafts || expiry->when || is_removed_by_action(e, expiry->name))
		return;
	check_say(c, expiry->place, "%.*s also deletes what was published", SLICE_ARG(expiry->name));
}

/* ---- what a deletion leaves behind ---- */

static bool covers(const struct checker *c, const struct access *const *patterns, size_t n, const struct entity *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct access *a = patterns[i];
		/* A `then remove` of a merge removes the rows of the patterns it runs. */
		if (a->of == e || reach_has_entity(check_reach(c, a), e) ||
		    (a->merge_run && covers(c, &a->merge_run, 1, e)) || covers(c, a->merge_parts, a->merge_of_count, e))
			return true;
	}
	return false;
}

/* Whether a processor reacts to the deletion and removes the other item. */
static bool removed_by_processor(const struct checker *c, const struct entity *e, const struct entity *other)
{
	EACH (struct processor, p, c->d->processors, c->d->processor_count) {
		if (p->of != e || !(p->events & ON_DELETED))
			continue;
		if (p->effect == EFFECT_DELETE && p->target_entity == other)
			return true;
		if (p->effect == EFFECT_REMOVE_ALL && covers(c, &p->target_access, 1, other))
			return true;
	}
	return false;
}

/* Whether the deletion's own transaction removes the other item, or puts such items: a trail is meant to stay. */
static bool also_decided(const struct entity *e, const struct entity *other)
{
	EACH (struct also_rule, x, e->also, e->also_count)
		if (x->kind != ALSO_UPDATE && x->to == other && (x->events & ON_DELETED))
			return true;
	return false;
}

/* Stored in the partition of the other. */
static bool lives_under(const struct checker *c, const struct entity *e, const struct entity *root)
{
	const struct template *pk = entity_key(c, root, true);
	return pk && template_holes(pk) && root->param_count == 1 && template_alike(pk, entity_key(c, e, true)) &&
	       entity_key(c, e, false) && !template_alike(entity_key(c, root, false), entity_key(c, e, false));
}

static bool expires(const struct checker *c, const struct entity *e)
{
	const struct attribute *a = c->d->ttl.n ? entity_attribute(e, c->d->ttl) : NULL;
	return a && !a->when;
}

static void orphans(struct checker *c, const struct entity *e)
{
	const struct term *may = e->allow[ALLOW_DELETE];
	if (!may || may->kind == TERM_NEVER || e->delete_.soft)
		return;
	struct buf left;
	buf_init(&left, c->arena);
	EACH (struct entity, other, c->d->entities, c->d->entity_count) {
		const struct attribute *through;
		if (other == e || expires(c, other) ||
		    (!lives_under(c, other, e) && entity_refers(c, other, e, &through) == REFERS_NOT))
			continue;
		if (covers(c, e->delete_.then_access, e->delete_.then_count, other) ||
		    covers(c, e->delete_.refuse_access, e->delete_.refuse_count, other) ||
		    removed_by_processor(c, e, other) || also_decided(e, other))
			continue;
		buf_str(&left, left.n ? ", " : "");
		buf_put(&left, other->name);
	}
	if (left.n)
		check_say(c, e->delete_.place, "deleting a %.*s leaves behind: %.*s", SLICE_ARG(e->name),
			  SLICE_ARG(buf_slice(&left)));
}

/* ---- what points to nothing ---- */

static bool is_caller(const struct entity *e, const struct attribute *a)
{
	return a->the_caller || term_binds_caller(e->allow[ALLOW_CREATE], a->name) ||
	       term_binds_caller(e->allow[ALLOW_UPDATE], a->name);
}

/* create: … visible Post(post_id) asks for the item, too. */
static bool asks_for(const void *entity, const struct term *t)
{
	return (t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE) && t->entity == entity;
}

/* A reference by an id to one of several kinds of items, without a check that the item exists. */
static void dangling_target(struct checker *c, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		if (!name_is(c->arena, a->name, "targetid subjectid objectid resourceid itemid") || a->id ||
		    e->count_count || e->require_count)
			continue;
		check_say(c, a->place, "the design does not say what %.*s identifies, nor require it to exist",
			  SLICE_ARG(a->name));
	}
}

/* Whether the named item of `to` must exist because another required item implies it: an item that counts on
 * Channel(ws, channel) needs no separate Workspace(ws). */
static bool there_with_another(const struct entity *e, struct slice name, const struct entity *to, int depth);

static bool asked_with(const struct reference *f, struct slice name, const struct entity *to, int depth)
{
	for (size_t i = 0; i < f->arg_count; i++) {
		const struct slice *arg = term_name(f->args[i]);
		if (arg && slice_equal(*arg, name) &&
		    (f->to == to || there_with_another(f->to, f->to->params[i], to, depth + 1)))
			return true;
	}
	return false;
}

static bool there_with_another(const struct entity *e, struct slice name, const struct entity *to, int depth)
{
	if (depth > 4)
		return false;
	EACH (struct requirement, r, e->requires, e->require_count)
		if ((!r->when || (r->of && r->of->required)) && asked_with(&r->target, name, to, depth))
			return true;
	EACH (struct count_rule, r, e->counts, e->count_count)
		if (!r->when && asked_with(&r->target, name, to, depth))
			return true;
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		bool there = a->refers && !a->may_be_missing && (a->required || a->in_address);

		if ((a->next && asked_with(a->next, name, to, depth)) ||
		    (there && asked_with(a->refers, name, to, depth)))
			return true;
	}
	return false;
}

static void repair_reference(struct checker *c, const struct entity *to, struct slice name)
{
	struct buf b;
	buf_init(&b, c->arena);
	for (size_t i = 0; to->param_count > 1 && i < to->param_count; i++) {
		buf_str(&b, i ? ", " : "");
		buf_put(&b, to->params[i]);
	}
	check_repair(c, "Add `requires: [%.*s(%.*s)]`.", SLICE_ARG(to->name), SLICE_ARG(b.n ? buf_slice(&b) : name));
}

static void dangling_reference(struct checker *c, const struct entity *e)
{
	if (e->internal || !e->allow[ALLOW_CREATE])
		return;
	dangling_target(c, e);
	EACH (struct entity, to, c->d->entities, c->d->entity_count) {
		const struct attribute *a;
		enum refers how = entity_refers(c, e, to, &a);
		if ((how != REFERS_BY_KEY && how != REFERS_BY_NAME) || is_caller(e, a) || a->derived ||
		    a->copy_entity.n || to->internal || term_any(e->allow[ALLOW_CREATE], asks_for, to) ||
		    there_with_another(e, a->name, to, 0))
			continue;
		check_say(c, a->place, "nothing requires the %.*s of %.*s to exist", SLICE_ARG(to->name),
			  SLICE_ARG(a->name));
		repair_reference(c, to, a->name);
	}
}

/* ---- what `also` does not see ---- */

/* Those of an item's changes that are not requests: nothing is written together with them. */
static void also_unseen(struct checker *c, const struct entity *e)
{
	const struct also_rule *changed = NULL, *gone = NULL;

	EACH (struct also_rule, x, e->also, e->also_count) {
		if (x->events & ON_UPDATED && !changed)
			changed = x;
		if (x->events & ON_DELETED && !gone)
			gone = x;
	}
	if (gone && e->may_expire)
		check_say(c, gone->place, "a %.*s that expires writes no %.*s", SLICE_ARG(e->name),
			  SLICE_ARG(gone->target));
	EACH (struct action, a, e->actions, changed ? e->action_count : 0)
		if (a->gather_seconds)
			check_say(c, a->place, "what '%.*s' gathers writes no %.*s", SLICE_ARG(a->name),
				  SLICE_ARG(changed->target));
	EACH (struct attribute, a, e->attributes, changed ? e->attribute_count : 0)
		if (a->kept_by.n) {
			check_say(c, a->place, "a new %.*s from its source writes no %.*s", SLICE_ARG(a->name),
				  SLICE_ARG(changed->target));
			check_severity(c, SEVERITY_NOTE);
		}
}

const struct rule check_rules_life[] = {
	{ "ttl-missing", SEVERITY_ERROR, "Nothing ever expires.",
	  "Declare `ttl`, and an epoch attribute of that name on what expires.", .attribute = ttl_missing,
	  .design = ttl_nowhere },
	{ "ttl-type", SEVERITY_ERROR, "TTL reads a number of seconds since 1970; anything else is ignored.",
	  "Declare it `epoch`, for example `epoch, 30 days after created_at`.", .attribute = ttl_type },
	{ "ttl-always", SEVERITY_WARNING, "The published item is deleted when the draft's time is over.",
	  "Add `when status = 'DRAFT'` to it, or remove it in the action that publishes.", .entity = ttl_always },
	{ "orphans", SEVERITY_WARNING, "What stays is found by lists, counted and paid for, and points to nothing.",
	  "Say what goes with it (`delete: {then remove: […]}`), or that it stays while there is any (`refuse while`).",
	  .entity = orphans },
	{ "dangling-reference", SEVERITY_WARNING,
	  "DynamoDB has no foreign keys: a wrong or deleted id is stored like any other.",
	  "Declare it `reference to …`: a ConditionCheck in the same transaction.", .entity = dangling_reference },
	{ "also-unseen", SEVERITY_WARNING,
	  "The database removes it, or the server writes it later: there is no request, and no transaction of one, to join.",
	  "A processor sees such changes in the stream; or accept it.", .entity = also_unseen },
	{ NULL },
};
