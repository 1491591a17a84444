/* Rules about visibility: drafts and deleted items in public lists, secrets, missing `allow` rules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* An attribute that says whether an item is meant to be seen. */
#define HIDING_WORDS "draft private deleted archived blocked hidden pending suspended banned followers unlisted"

static bool is_hiding_text(const void *checker, const struct term *t)
{
	const struct checker *c = checker;

	return t->kind == TERM_LITERAL && value_type(t->value) == VALUE_S &&
	       name_is(c->arena, value_bytes(t->value), HIDING_WORDS);
}

static bool is_state(struct checker *c, const struct attribute *a)
{
	if (a->copy_entity.n || a->counter)
		return false;
	if (a->type == ATTR_BOOLEAN)
		return name_is(
			c->arena, a->name,
			"ispublished published isdeleted deleted isdraft draft ishidden hidden isarchived archived isprivate private ispublic public isblocked blocked");
	if (!name_is(c->arena, a->name, "status state visibility"))
		return false;
	if (a->derived)
		return term_any(a->derived, is_hiding_text, c);
	if (a->type == ATTR_STRING)
		return true;
	for (size_t i = 0; a->type == ATTR_ENUM && i < a->choice_count; i++)
		if (name_is(c->arena, a->choices[i], HIDING_WORDS))
			return true;
	return false;
}

/* Whether a soft deletion blanks the item's text: such items are shown on purpose. */
static bool is_blanked(const struct entity *e, struct slice state)
{
	bool sets = false, blanks = false;
	EACH (struct assignment, s, e->delete_.set, e->delete_.set_count) {
		const struct attribute *a = entity_attribute(e, s->attribute);
		sets |= slice_equal(s->attribute, state);
		blanks |= a && (a->type == ATTR_TEXT || a->type == ATTR_STRING) && s->term->kind == TERM_LITERAL;
	}
	return e->delete_.soft && sets && blanks;
}

static bool key_depends_on(const struct space *s, const struct entry *e, struct slice name)
{
	for (size_t i = 0; i < e->when_count; i++)
		if (term_mentions(e->when[i], name))
			return true;
	for (size_t i = 0; i < key_attr_count(s->key); i++)
		if (template_names(entry_key(s, e, i), name))
			return true;
	return false;
}

/* Whether the rows are public whatever their state. */
static bool shows(struct checker *c, const struct access *a, const struct entity *e, struct slice state)
{
	if (a->operators_only || !a->path.n || term_mentions(a->filter, state) || term_mentions(a->then.keep, state))
		return false;
	if (a->allow && !term_is_public(c->d, a->allow))
		return false;
	const struct term *rule = e->allow[ALLOW_LIST] ? e->allow[ALLOW_LIST] : e->allow[ALLOW_READ];
	return term_is_public(c->d, rule) && !term_mentions(rule, state);
}

static void shows_unpublished(struct checker *c, const struct reach *r)
{
	const struct entity *said = NULL;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct entity *e = x->shape->entity;
		if (x->shape->companion || e == said || r->access->count_only)
			continue;
		EACH (struct attribute, a, e->attributes, e->attribute_count) {
			if (e == said || !is_state(c, a) || is_blanked(e, a->name) ||
			    key_depends_on(r->space, x, a->name) || !shows(c, r->access, e, a->name))
				continue;
			check_say(c, AT_SUBJECT, "everyone gets every %.*s, whatever its %.*s", SLICE_ARG(e->name),
				  SLICE_ARG(a->name));
			check_repair(
				c,
				"Let `read` depend on %.*s, filter on it, or set the keys of %.*s only `when` it may be seen.",
				SLICE_ARG(a->name), SLICE_ARG(r->space->name));
			said = e;
		}
	}
}

/* ---- secrets ---- */

static bool is_secret(struct checker *c, const struct attribute *a)
{
	return name_contains(c->arena, a->name, "password passwd secret apikey privatekey salt") &&
	       a->type != ATTR_BOOLEAN && a->type != ATTR_TIMESTAMP;
}

static void secret_not_hidden(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (is_secret(c, a) && !a->hidden)
		check_say(c, a->place, "%.*s is shown to everyone who can read a %.*s", SLICE_ARG(a->name),
			  SLICE_ARG(e->name));
}

/* Reports the indexes that the attribute is copied into. */
static void say_projected(struct checker *c, const struct entity *e, const struct attribute *a)
{
	EACH_INDEX (s, c)
		if (space_entry(s, e) && index_carries(s->index, a->name))
			check_say(c, a->place, "%.*s is copied into %.*s", SLICE_ARG(a->name), SLICE_ARG(s->name));
}

static void secret_projected(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (a->hidden)
		say_projected(c, e, a);
}

static void private_projected(struct checker *c, const struct entity *e, const struct attribute *a)
{
	if (a->private_)
		say_projected(c, e, a);
}

/* ---- rights and flags ---- */

static bool writes(const void *entity, const struct entity *from, const struct also_rule *x)
{
	return x->to == entity && from != entity;
}

static bool is_put_by_processor(const struct checker *c, const struct entity *e)
{
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if (p->target_entity == e)
			return true;
	return design_any_also(c->d, writes, e);
}

static void rights_unsaid(struct checker *c, const struct entity *e)
{
	if (e->internal || is_put_by_processor(c, e) || e->allow[ALLOW_CREATE] || e->allow[ALLOW_UPDATE] ||
	    e->allow[ALLOW_DELETE])
		return;
	check_say(c, AT_SUBJECT, "no rule allows creating, updating or deleting a %.*s", SLICE_ARG(e->name));
}

static void draft_buried(struct checker *c, const struct entity *e)
{
	bool draft = false;
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		draft |= name_is(c->arena, a->name, "ispublished published isdraft draft");
		for (size_t i = 0; i < a->choice_count; i++)
			draft |= name_is(c->arena, a->choices[i], "draft");
	}
	EACH_INDEX (s, c)
		EACH (struct entry, x, s->entries, draft ? s->entry_count : 0) {
			const struct template_part *hole = s->key->range_count ? template_hole(x->range[0], 0) : NULL;
			const struct attribute *a = hole ? hole_attribute(c, e, hole) : NULL;
			if (x->shape->entity != e || x->shape->companion || !a ||
			    !(a->now || name_is(c->arena, a->name, "createdat")))
				continue;
			check_say(c, x->range[0]->place, "%.*s lists by %.*s, also what is published later",
				  SLICE_ARG(s->name), SLICE_ARG(a->name));
			return;
		}
}

static bool any_term_of_requirements(const struct requirement *list, size_t n, struct slice name)
{
	EACH (struct requirement, r, list, n)
		if (term_mentions(r->when, name) || term_mentions(r->if_, name))
			return true;
	return false;
}

static bool any_term_of_rules(const struct key_rule *list, size_t n, struct slice name)
{
	EACH (struct key_rule, r, list, n)
		if (term_mentions(r->when, name) || template_names(r->template, name))
			return true;
	return false;
}

static bool any_term_of_also(const struct also_rule *list, size_t n, struct slice name)
{
	EACH (struct also_rule, x, list, n)
		if (term_mentions(x->when, name) || term_mentions(x->each.list, name))
			return true;
	return false;
}

static bool any_term_of_entity(const struct entity *e, struct slice name)
{
	bool found = false;
	for (int i = 0; i < ALLOW_VERBS; i++)
		found |= term_mentions(e->allow[i], name);
	found |= any_term_of_rules(e->keys, e->key_count, name) || term_mentions(e->login.when, name);
	EACH (struct companion, k, e->companions, e->companion_count)
		found |= term_mentions(k->when, name) || term_mentions(k->each_list, name) ||
			 any_term_of_rules(k->rules, k->rule_count, name);
	EACH (struct count_rule, r, e->counts, e->count_count)
		found |= term_mentions(r->when, name) || term_mentions(r->by, name) || term_mentions(r->if_, name);
	found |= any_term_of_requirements(e->requires, e->require_count, name) ||
		 any_term_of_requirements(e->lives, e->lives_count, name);
	EACH (struct check_rule, r, e->checks, e->check_count)
		found |= term_mentions(r->term, name);
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		found |= term_mentions(a->derived, name) || term_mentions(a->when, name);
	EACH (struct action, x, e->actions, e->action_count)
		found |= term_mentions(x->when, name) || term_mentions(x->allow, name) ||
			 any_term_of_also(x->also, x->also_count, name);
	return found || any_term_of_also(e->also, e->also_count, name);
}

static bool is_fetch_of(const void *name, const struct term *t)
{
	return t->kind == TERM_FETCH && slice_equal(t->attribute, *(const struct slice *)name);
}

static bool fetched(const struct term *t, struct slice name)
{
	return term_any(t, is_fetch_of, &name);
}

bool attribute_is_looked_at(const struct checker *c, struct slice name)
{
	bool found = false;
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		found |= any_term_of_entity(e, name);
		for (int i = 0; i < ALLOW_VERBS; i++)
			found |= fetched(e->allow[i], name);
		EACH (struct check_rule, r, e->checks, e->check_count)
			found |= fetched(r->term, name);
		EACH (struct action, x, e->actions, e->action_count)
			found |= fetched(x->when, name);
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			found |= slice_equal(a->copy_attribute, name) || fetched(a->derived, name) ||
				 fetched(a->default_, name) || term_mentions(a->default_, name);
	}
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		EACH (struct attribute, s, e->show, e->show_count)
			found |= fetched(s->derived, name);
	EACH (struct access, a, c->d->accesses, c->d->access_count)
		EACH (struct attribute, s, a->show, a->show_count)
			found |= term_mentions(s->derived, name) || fetched(s->derived, name);
	EACH (struct access, a, c->d->accesses, c->d->access_count)
		found |= term_mentions(a->filter, name) || term_mentions(a->then.keep, name) ||
			 term_mentions(a->rank, name) || term_mentions(a->allow, name);
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		found |= term_mentions(p->when, name) || fetched(p->when, name) || term_mentions(p->only_when, name) ||
			 fetched(p->only_when, name);
	return found;
}

static void flag_without_effect(struct checker *c, const struct entity *e, const struct attribute *a)
{
	bool flag = a->type == ATTR_BOOLEAN || is_state(c, a) || name_ends(c->arena, a->name, "rank priority");
	if (!flag || a->derived || attribute_is_looked_at(c, a->name))
		return;
	check_say(c, a->place, "nothing looks at %.*s", SLICE_ARG(a->name));
}

/* ---- tokens ---- */

static void issuer_without_audience(struct checker *c)
{
	if (!c->d->callers.issuer.n || c->d->callers.audience_count)
		return;
	c->about.kind = "callers";
	check_say(c, c->d->callers.place, "every token of %.*s is accepted, for any application",
		  SLICE_ARG(c->d->callers.issuer));
}

/* ---- shows: all rows ---- */

/* An entity of the rows that not everyone may read. */
static const struct entity *guarded_row(const struct reach *r)
{
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct entity *e = x->shape->entity;
		const struct term *rule = e->allow[e->allow[ALLOW_LIST] ? ALLOW_LIST : ALLOW_READ];
		if (!x->shape->companion && (!rule || rule->kind != TERM_ALWAYS))
			return e;
	}
	return NULL;
}

static void past_rules(struct checker *c, const struct reach *r)
{
	const struct access *a = r->access;
	const struct entity *e = guarded_row(r);

	if (!a->shows_all)
		return;
	if (e)
		check_say(c, a->shows_place, "its callers see every %.*s, also those that `read` hides from them",
			  SLICE_ARG(e->name));
	else
		check_say(c, a->shows_place, "its callers see rows that `read` hides from them");
}

const struct rule check_rules_visible[] = {
	{ "past-rules", SEVERITY_WARNING,
	  "Callers that its `allow` admits see every row, whatever the rows' own rules say, also rules added later.",
	  "Remove it, or let `read` allow it; if it is intended, accept it and say why.", .access = past_rules },
	{ "shows-unpublished", SEVERITY_ERROR,
	  "The attribute is in no key, no filter and no read rule, so it hides nothing.",
	  "Let `read` depend on it, filter on it, or set the index's keys only `when` it may be seen.",
	  .access = shows_unpublished },
	{ "secret-not-hidden", SEVERITY_ERROR, "Every read and every list returns it.", "Declare it `hidden`.",
	  .attribute = secret_not_hidden },
	{ "secret-projected", SEVERITY_NOTE, "Thorpe never shows it, but other readers of the index see it.",
	  "Keep it in an item of its own without index keys (`login: {secret: …}`), or project fewer attributes.",
	  .attribute = secret_projected },
	{ "private-projected", SEVERITY_NOTE, "Thorpe hides it from others, but other readers of the index see it.",
	  "Leave it out of the projection.", .attribute = private_projected },
	{ "rights-unsaid", SEVERITY_NOTE, "Only operators may do what no rule allows, which may not be intended.",
	  "Say who may: `allow: {create: …, update, delete: …}`, or `internal: true`.", .entity = rights_unsaid },
	{ "draft-buried", SEVERITY_NOTE, "A draft that waited a month appears a month down the list.",
	  "Sort public lists by the time of publishing.", .entity = draft_buried },
	{ "flag-without-effect", SEVERITY_NOTE, "It is stored and changes nothing.",
	  "Use it in a rule, a filter or `keys when`; if only clients need it, that is fine.",
	  .attribute = flag_without_effect },
	{ "issuer-without-audience", SEVERITY_WARNING,
	  "An issuer serves many applications. The operator of another one has its users' tokens and can use them here.",
	  "Say for whom they must be: `audience: my-client-id`.", .design = issuer_without_audience },
	{ NULL },
};
