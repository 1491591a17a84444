/* Compares an item with itself: its attributes, what is derived from them, its keys, its checks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/write/joined.h"
#include "app/write/renaming/renaming.h"
#include "oracle/oracle_internal.h"

struct judging {
	struct oracle *o;
	const struct rule_entity *rule;
	const struct entity *entity;
	const struct row *stored;
	struct value key;
};

static struct oracle_finding finding(const struct judging *j, enum oracle_kind kind, struct slice attribute)
{
	return (struct oracle_finding){ .kind = kind, .entity = j->entity, .key = j->key, .attribute = attribute };
}

static bool is_nothing(struct value v)
{
	return !value_present(v) || value_type(v) == VALUE_NULL;
}

/* ---- attributes ---- */

static bool assigns(const struct assignment *list, size_t n, const struct name *at, struct value v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].at == at && list[i].term->kind == TERM_LITERAL && value_equal(list[i].term->value, v))
			return true;
	return false;
}

struct given {
	const struct entity *entity;
	const struct name *at;
	struct value value;
};

static bool also_gives(const void *ctx, const struct entity *from, const struct also_rule *x)
{
	const struct given *g = ctx;

	(void)from;
	return x->to == g->entity && assigns(x->with, x->with_count, g->at, g->value);
}

/* A value that the design itself sets is valid, even if no body could give it: delete: {set: {body: ''}}. */
static bool is_of_design(const struct judging *j, const struct name *at, struct value v)
{
	const struct design *d = j->o->run.design;
	const struct entity *e = j->entity;

	if (assigns(e->delete_.set, e->delete_.set_count, at, v))
		return true;
	for (size_t i = 0; i < e->action_count; i++)
		if (assigns(e->actions[i].set, e->actions[i].set_count, at, v))
			return true;
	for (size_t i = 0; i < d->processor_count; i++) {
		const struct processor *p = &d->processors[i];

		if ((p->target_entity == e || p->target_ref.to == e) && assigns(p->with, p->with_count, at, v))
			return true;
	}
	return design_any_also(d, also_gives, &(struct given){ e, at, v });
}

static bool judge_values(const struct judging *j, const struct row *full)
{
	struct run *r = &j->o->run;
	bool good = true;

	for (size_t i = 0; i < j->entity->attribute_count; i++) {
		const struct attribute *a = &j->entity->attributes[i];
		struct value v = row_get(full, a->at);
		const char *wanted = is_nothing(v) || a->derived || a->copy_entity.n ? NULL : fit_value(r, a, v);
		struct oracle_finding f;

		if (!wanted || is_of_design(j, a->at, v))
			continue;
		f = finding(j, ORACLE_ATTRIBUTE_UNFIT, a->name);
		f.found = v;
		tell(j->o, &f, "%.*s: %.*s is %.*s and must be %s", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(a->name), SLICE_ARG(say_value(r, v)), wanted);
		good = false;
	}
	return good;
}

/* An attribute that the design itself removes may be missing. */
static bool goes_by_design(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->action_count; i++)
		if (slice_among(e->actions[i].remove, e->actions[i].remove_count, name))
			return true;
	return slice_among(e->delete_.remove, e->delete_.remove_count, name);
}

static bool judge_required(const struct judging *j, const struct row *full)
{
	struct run *r = &j->o->run;
	bool good = true;

	if (input_required(r, j->entity, full))
		return true;
	for (size_t i = 0; i < r->problem.part_count; i++) {
		struct slice name = r->problem.parts[i].attribute;
		struct oracle_finding f = finding(j, ORACLE_ATTRIBUTE_MISSING, name);

		if (goes_by_design(j->entity, name))
			continue;
		good = false;
		tell(j->o, &f, "%.*s has no %.*s, which is required", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(name));
	}
	r->problem = (struct problem){ 0 };
	return good;
}

static bool is_known(const struct judging *j, struct slice name)
{
	const struct design *d = j->o->run.design;
	const struct name *n = design_named(d, name);

	return entity_attribute(j->entity, name) ||
	       (n && (n->key || key_has_rule(j->entity->keys, j->entity->key_count, n))) || slice_equal(name, d->ttl) ||
	       (j->entity->login.present && slice_equal(name, j->entity->login.password)) ||
	       (j->entity->delete_.refuse_count && slice_equal(name, JOINED_ATTRIBUTE)) ||
	       slice_equal(name, RENAMING_CAME) || slice_equal(name, RENAMING_LEAVES);
}

/* Credentials that are an entity have the attribute of the login. */
static bool is_secret_of_login(const struct judging *j, struct slice name)
{
	return slice_is(name, "password_hash") && j->o->rules.has_companions;
}

static void judge_names(const struct judging *j)
{
	struct run *r = &j->o->run;

	for (struct value_iter it = value_iter(j->stored->full); value_next(&it);) {
		struct oracle_finding f = finding(j, ORACLE_ATTRIBUTE_UNKNOWN, it.name);

		if (is_known(j, it.name) || is_secret_of_login(j, it.name))
			continue;
		f.weight = ORACLE_NOTE;
		f.found = it.value;
		tell(j->o, &f, "%.*s has an attribute %.*s, which the design does not know",
		     SLICE_ARG(say_item(r, j->entity, j->key)), SLICE_ARG(it.name));
	}
}

/* ---- what is derived ---- */

static void differ(const struct judging *j, enum oracle_kind kind, struct slice name, struct value found,
		   struct value expected)
{
	struct run *r = &j->o->run;
	struct oracle_finding f = finding(j, kind, name);

	f.found = found;
	f.expected = expected;
	if (!value_present(expected))
		tell(j->o, &f, "%.*s has %.*s = %.*s and should have none", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(name), SLICE_ARG(say_value(r, found)));
	else if (!value_present(found))
		tell(j->o, &f, "%.*s has no %.*s and should have %.*s", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(name), SLICE_ARG(say_value(r, expected)));
	else
		tell(j->o, &f, "%.*s has %.*s = %.*s and should have %.*s", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(name), SLICE_ARG(say_value(r, found)), SLICE_ARG(say_value(r, expected)));
}

static bool follows(const struct attribute *a)
{
	return a->derived || a->after.n || a->when;
}

static void judge_derived(const struct judging *j, const struct row *should)
{
	for (size_t i = 0; i < j->entity->attribute_count; i++) {
		const struct attribute *a = &j->entity->attributes[i];
		struct value found = row_get(j->stored, a->at), expected = row_get(should, a->at);

		if (follows(a) && !j->rule->impure[i] && !value_equal(found, expected))
			differ(j, ORACLE_DERIVED_DIFFERS, a->name, found, expected);
	}
}

/* ---- keys ---- */

/* Whether the condition could hold at some time: a part that reads more than the item might. */
static bool could_hold(struct scope *s, const struct term *t)
{
	bool holds = false;

	if (!t)
		return true;
	if (t->kind == TERM_AND)
		return could_hold(s, t->args[0]) && could_hold(s, t->args[1]);
	if (t->kind == TERM_OR)
		return could_hold(s, t->args[0]) || could_hold(s, t->args[1]);
	if (term_reads_more(t))
		return true;
	if (!scope_holds(s, t, &holds)) {
		s->run->problem = (struct problem){ 0 };
		return true;
	}
	return holds;
}

/* A key under a condition that reads more than the item: absent, or what one of its templates makes. */
static void judge_impure_key(const struct judging *j, const struct name *at, const struct row *full)
{
	struct run *r = &j->o->run;
	struct scope s = { .run = r, .item = full };
	struct value found = row_get(j->stored, at), first = VALUE_ABSENT, v;

	if (!value_present(found))
		return;
	for (size_t i = 0; i < j->entity->key_count; i++) {
		const struct key_rule *rule = &j->entity->keys[i];

		if (rule->at != at || !could_hold(&s, rule->when) ||
		    scope_try_fill(&s, rule->template, at->key != NULL, &v) != TEMPLATE_OK)
			continue;
		if (value_equal(v, found))
			return;
		first = value_present(first) ? first : v;
	}
	differ(j, ORACLE_KEY_DIFFERS, at->text, found, first);
}

static void judge_keys(const struct judging *j, const struct row *should, const struct row *full)
{
	for (size_t i = 0; i < j->entity->key_count; i++) {
		const struct name *at = j->entity->keys[i].at;
		struct value found = row_get(j->stored, at), expected = row_get(should, at);

		if (key_has_rule(j->entity->keys, i, at)) /* not its first rule */
			continue;
		if (j->rule->key_impure[i])
			judge_impure_key(j, at, full);
		else if (!value_equal(found, expected))
			differ(j, ORACLE_KEY_DIFFERS, at->text, found, expected);
	}
}

/* ---- checks ---- */

static void judge_checks(const struct judging *j, const struct row *full)
{
	struct run *r = &j->o->run;
	struct scope s = { .run = r, .item = full };

	for (size_t i = 0; i < j->entity->check_count; i++) {
		const struct check_rule *c = &j->entity->checks[i];
		struct oracle_finding f = finding(j, ORACLE_CHECK_BROKEN, SLICE(""));
		struct buf b;
		bool holds;

		if (j->rule->check_impure[i])
			continue;
		if (!scope_holds(&s, c->term, &holds)) {
			r->problem = (struct problem){ 0 };
			holds = false;
		}
		if (holds)
			continue;
		buf_init(&b, r->arena);
		term_print(&b, c->term);
		tell(j->o, &f, "%.*s breaks a check, %.*s: %.*s", SLICE_ARG(say_item(r, j->entity, j->key)),
		     SLICE_ARG(buf_slice(&b)), SLICE_ARG(c->sentence));
	}
}

/* ---- all of it ---- */

/* Attributes made by terms that read more than the item are taken as they are stored. */
static void take_as_is(const struct judging *j, const struct row *full, struct row *f)
{
	for (size_t i = 0; i < j->entity->attribute_count + j->entity->key_count; i++) {
		bool is_key = i >= j->entity->attribute_count;
		size_t k = is_key ? i - j->entity->attribute_count : i;
		const struct name *at = is_key ? j->entity->keys[k].at : j->entity->attributes[k].at;
		struct value was = row_get(full, at);

		if (!(is_key ? j->rule->key_impure[k] : j->rule->impure[k]))
			continue;
		if (value_present(was))
			row_set(f, at, was);
		else
			row_drop(f, at);
	}
}

/* Reports why the item cannot be completed, unless invalid attributes, reported before, are the reason. */
static void tell_incomplete(const struct judging *j, const struct problem *p)
{
	struct run *r = &j->o->run;
	struct oracle_finding f = finding(j, ORACLE_INCOMPLETE, p->part_count ? p->parts[0].attribute : SLICE(""));

	tell(j->o, &f, "%.*s does not fit together: %.*s%s%.*s", SLICE_ARG(say_item(r, j->entity, j->key)),
	     SLICE_ARG(f.attribute), f.attribute.n ? " " : "", SLICE_ARG(p->detail));
}

void judge_item(struct oracle *o, const struct row *stored, bool silent, struct row *out)
{
	struct run *r = &o->run;
	const struct entity *e = stored->entity;
	struct judging j = {
		.o = o, .rule = rules_of(o, e), .entity = e, .stored = stored, .key = dyn_key_of(r, stored->full)
	};
	struct row full = entity_lay(r, e, stored->full), should;
	struct problem before = r->problem, incomplete = { 0 };
	bool complete, good;

	row_copy(out, r->arena, &full);
	complete = entity_complete(r, e, out, full.full);
	if (!complete) {
		incomplete = r->problem;
		r->problem = before;
		row_copy(out, r->arena, &full);
	}
	take_as_is(&j, &full, out);
	if (silent)
		return;
	good = judge_values(&j, &full);
	good = judge_required(&j, out) && good;
	judge_names(&j);
	if (!complete && good)
		tell_incomplete(&j, &incomplete);
	if (complete) {
		should = row_lay(r->arena, e, entity_stored(r, e, out));
		judge_derived(&j, &should);
		judge_keys(&j, &should, out);
	}
	judge_checks(&j, out);
}
