/* Rules about uniqueness: only the table's key enforces it, so what must be unique needs a marker item.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* ---- markers ---- */

static bool is_guarded(const struct entity *e, struct slice attribute)
{
	EACH (struct companion, k, e->companions, e->companion_count)
		if (slice_equal(k->unique, attribute))
			return true;
	return false;
}

/* Whether the table key consists of the attribute alone, which makes it unique. */
static bool is_whole_key(const struct checker *c, const struct entity *e, struct slice attribute)
{
	const struct template *keys[2] = { entity_key(c, e, true), entity_key(c, e, false) };
	size_t holes = 0;
	for (size_t i = 0; i < 2; i++)
		EACH (struct template_part, p, keys[i] ? keys[i]->parts : NULL, keys[i] ? keys[i]->part_count : 0) {
			if (!p->names)
				continue;
			if (!slice_equal(p->names[0], attribute))
				return false;
			holes++;
		}
	return holes > 0;
}

static bool logs_in_with(const struct entity *e, struct slice attribute)
{
	return e->login.present && slice_among(e->login.by, e->login.by_count, attribute);
}

/* Whether other items require it, count on it or copy from it: then it is more than a marker. */
static bool is_referred_to(const struct checker *c, const struct entity *e)
{
	const struct attribute *through;
	EACH (struct entity, from, c->d->entities, c->d->entity_count)
		if (entity_refers(c, from, e, &through) == REFERS_CHECKED)
			return true;
	return false;
}

/* Whether its other attributes only tell the owner of the value, or since when. An entity with a name or a number of
 * its own is not a marker. */
static bool points_to_owner(const struct checker *c, const struct entity *e, const struct attribute *value)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		bool owners = a == value || attribute_is_time(a);
		if (a->counter)
			return false;
		EACH (struct entity, other, c->d->entities, c->d->entity_count)
			owners |= other != e &&
				  (is_parameter(other, a->name) ||
				   (entity_attribute(other, value->name) && entity_attribute(other, a->name)));
		if (!owners)
			return false;
	}
	return true;
}

/* The attribute that the entity marks as taken, if it is only a marker: one value is its hash and its range key. */
static const struct attribute *marks(const struct checker *c, const struct entity *e)
{
	const struct template *pk = entity_key(c, e, true), *sk = entity_key(c, e, false);
	if (!pk || !sk || e->attribute_count > 3 || !slice_equal(pk->text, sk->text) || template_holes(pk) != 1 ||
	    is_referred_to(c, e))
		return NULL;
	const struct attribute *a = entity_attribute(e, template_hole(pk, 0)->names[0]);
	return a && points_to_owner(c, e, a) ? a : NULL;
}

static bool is_marked_by_entity(const struct checker *c, struct slice attribute)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		const struct attribute *a = marks(c, e);
		if (a && slice_equal(plain_name(c->arena, a->name), plain_name(c->arena, attribute)))
			return true;
	}
	return false;
}

/* Whether an outside issuer keeps the accounts: they are unique there. */
static bool accounts_are_elsewhere(const struct checker *c)
{
	return c->d->callers.groups_claim.n || c->d->callers.issuer.n || c->d->callers.jwks.n;
}

static void say_unguarded(struct checker *c, const struct entity *e, const struct attribute *a)
{
	bool account = name_is(c->arena, a->name, "username email emailaddress login handle");
	bool claimed = a->unique || logs_in_with(e, a->name);
	check_say(c, a->place, "nothing keeps two %.*s items from having the same %.*s", SLICE_ARG(e->name),
		  SLICE_ARG(a->name));
	check_severity(c, claimed                                 ? SEVERITY_ERROR
			  : account && !accounts_are_elsewhere(c) ? SEVERITY_WARNING
								  : SEVERITY_NOTE);
	check_repair(c, "Add a companion: {unique: %.*s, PK: %.*s#<%.*s>, SK: %.*s#<%.*s>}.", SLICE_ARG(a->name),
		     SLICE_ARG(a->name), SLICE_ARG(a->name), SLICE_ARG(a->name), SLICE_ARG(a->name));
}

static void unique_without_guard(struct checker *c, const struct entity *e)
{
	if (e->internal || marks(c, e))
		return;
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		bool should = a->unique || logs_in_with(e, a->name) ||
			      name_is(c->arena, a->name, "username email emailaddress login handle slug url");
		/* The name of a referenced item, beside the reference, is a copy. */
		bool own = a->unique || logs_in_with(e, a->name) || e->param_count == 1;
		if (!should || !own || a->copy_entity.n || a->derived || is_guarded(e, a->name) ||
		    is_whole_key(c, e, a->name) || is_marked_by_entity(c, a->name))
			continue;
		say_unguarded(c, e, a);
	}
}

/* ---- two ways to log in ---- */

/* Whether a value of one could be a value of the other. E-mail addresses have an @, names and slugs have none. */
static bool can_be_mistaken(const struct attribute *x, const struct attribute *y)
{
	bool plain_x = x->form == FORM_NAME || x->form == FORM_SLUG;
	bool plain_y = y->form == FORM_NAME || y->form == FORM_SLUG;
	bool text = (x->type == ATTR_STRING || x->type == ATTR_TEXT) && (y->type == ATTR_STRING || y->type == ATTR_TEXT);
	return text && !(x->form == FORM_EMAIL && plain_y) && !(y->form == FORM_EMAIL && plain_x);
}

static void login_ambiguous(struct checker *c, const struct entity *e)
{
	for (size_t i = 0; e->login.present && i < e->login.by_count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct attribute *x = entity_attribute(e, e->login.by[k]);
			const struct attribute *y = entity_attribute(e, e->login.by[i]);
			if (!x || !y || x->id || y->id || !can_be_mistaken(x, y))
				continue;
			check_say(c, e->login.place, "one account's %.*s can be another's %.*s", SLICE_ARG(x->name),
				  SLICE_ARG(y->name));
		}
}

/* ---- one item from an index ---- */

static void unique_by_index(struct checker *c, const struct reach *r)
{
	/* With an order, the pattern returns the first of several rows, such as the latest. */
	if (!r->space || !r->space->index || !r->access->single || r->access->order.n)
		return;
	EACH (struct entry, x, r->entries, r->entry_count) {
		const struct entity *e = x->shape->entity;
		const struct template_part *hole = template_hole(x->hash[0], 0);
		const struct attribute *a = hole ? entity_attribute(e, hole->names[0]) : NULL;
		/* A part of the identity is unique if the pattern gives the whole identity. */
		if (!a || a->id || a->the_caller || is_parameter(e, a->name) || is_guarded(e, a->name))
			continue;
		check_say(c, AT_SUBJECT, "expects one %.*s for a %.*s; %.*s admits several", SLICE_ARG(e->name),
			  SLICE_ARG(a->name), SLICE_ARG(r->space->name));
		break;
	}
}

/* ---- markers that are entities ---- */

static size_t others_with(struct checker *c, const struct entity * not, struct slice attribute)
{
	size_t n = 0;
	struct slice plain = plain_name(c->arena, attribute);
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		bool has = false;
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			has |= slice_equal(plain_name(c->arena, a->name), plain);
		n += e != not &&has;
	}
	return n;
}

static void guard_as_entity(struct checker *c, const struct entity *e)
{
	const struct attribute *a = marks(c, e);
	if (!a || !others_with(c, e, a->name))
		return;
	check_say(c, AT_SUBJECT, "%.*s marks its %.*s as taken, but is written separately", SLICE_ARG(e->name),
		  SLICE_ARG(a->name));
	const struct template *pk = entity_key(c, e, true);
	check_repair(c, "Make it a companion of what has the %.*s: {unique: %.*s, PK: %.*s, SK: %.*s}.",
		     SLICE_ARG(a->name), SLICE_ARG(a->name), SLICE_ARG(pk->text), SLICE_ARG(pk->text));
}

static void guard_ambiguous(struct checker *c, const struct entity *e)
{
	const struct attribute *a = marks(c, e);
	size_t n = a ? others_with(c, e, a->name) : 0;
	if (n > 1)
		check_say(c, AT_SUBJECT, "%zu entities have a %.*s; whose does it mark?", n, SLICE_ARG(a->name));
}

static void guard_repeats_key(struct checker *c, const struct entity *e)
{
	EACH (struct companion, k, e->companions, e->companion_count)
		if (k->unique.n && is_whole_key(c, e, k->unique))
			check_say(c, k->place, "%.*s is unique by the table's key already", SLICE_ARG(k->unique));
}

/* ---- spelling ---- */

/* Whether people type the value: no id, no word from a list, no reference. */
static bool is_typed(const struct attribute *a)
{
	return (a->type == ATTR_STRING || a->type == ATTR_TEXT) && !a->id && !a->the_caller && !a->derived &&
	       !a->copy_entity.n && !a->choice_count;
}

static bool marks_only(const struct companion *k)
{
	EACH (struct key_rule, r, k->rules, k->rule_count)
		if (template_holes(r->template) && slice_is(r->attribute, "PK"))
			return template_holes(r->template) == 1 &&
			       slice_equal(template_hole(r->template, 0)->names[0], k->unique) &&
			       template_hole(r->template, 0)->format == FORMAT_PLAIN;
	return true;
}

static void case_in_unique(struct checker *c, const struct entity *e)
{
	const struct attribute *marked = marks(c, e);
	if (marked && is_typed(marked) && !marked->lower &&
	    template_hole(entity_key(c, e, true), 0)->format == FORMAT_PLAIN)
		check_say(c, marked->place, "%.*s is unique only in this spelling", SLICE_ARG(marked->name));
	EACH (struct companion, k, e->companions, e->companion_count) {
		const struct attribute *a = k->unique.n ? entity_attribute(e, k->unique) : NULL;
		if (!a || !is_typed(a) || a->lower || !marks_only(k))
			continue;
		check_say(c, a->place, "%.*s is unique only in this spelling", SLICE_ARG(a->name));
	}
}

static void letter_never_sent(struct checker *c, const struct entity *e)
{
	const struct login_mail *m = &e->login.mail;
	bool reset = m->reset_letter.subject.count || m->reset_letter.text.count,
	     proof = m->proof_letter.subject.count || m->proof_letter.text.count;

	if (m->to.n && (reset || proof))
		check_say(c, m->place, "the webhook gets the token alone, and %.*s's letters are never sent",
			  SLICE_ARG(e->name));
	else if (proof && !m->verified.n)
		check_say(c, m->place, "without 'verified' there are no proofs, and the letter of one is never sent");
}

const struct rule check_rules_unique[] = {
	{ "unique-without-guard", SEVERITY_WARNING,
	  "Only the table's key is unique; two writers who both looked first can both write.",
	  "Add a companion: {unique: email, PK: EMAIL#<email>, SK: EMAIL#<email>}.", .entity = unique_without_guard },
	{ "login-ambiguous", SEVERITY_WARNING,
	  "An account named like another's e-mail address keeps that one from logging in with it.",
	  "Declare them `email` and `name`: a name has no @.", .entity = login_ambiguous },
	{ "letter-never-sent", SEVERITY_WARNING, "A webhook words its mail itself.",
	  "Leave `to` out, so that the mail server of `--smtp` is used, or leave the letter out.",
	  .entity = letter_never_sent },
	{ "unique-by-index", SEVERITY_ERROR, "An index keeps all items with the same key and returns them all.",
	  "Guard the value with a companion (`unique`); then the index has one.", .access = unique_by_index },
	{ "guard-as-entity", SEVERITY_WARNING,
	  "Two can check at once and both find it free; and a changed or deleted item leaves its marker.",
	  "Make it a companion (`unique`): written, moved and deleted in the same transaction.",
	  .entity = guard_as_entity },
	{ "guard-ambiguous", SEVERITY_WARNING, "Things of different kinds would take each other's names.",
	  "Let each entity guard its own, with a prefix of its own.", .entity = guard_ambiguous },
	{ "guard-repeats-key", SEVERITY_NOTE, "The marker costs a write and adds nothing, unless it outlives the item.",
	  "Leave it out, or keep it for values that stay reserved.", .entity = guard_repeats_key },
	{ "case-in-unique", SEVERITY_WARNING, "Keys are compared byte by byte.", "Declare it `lower`.",
	  .entity = case_in_unique },
	{ NULL },
};
