/* What belongs to an entity's life: companions, actions, deletion, accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* something of an entity that is being read */
struct within {
	struct entity *entity;
	void *thing;
	const struct yaml *map;
};

/* ---- companions ---- */
static void read_each(struct load *l, struct within *w, const struct yaml *y)
{
	struct companion *c = w->thing;
	struct load_span s, variable;

	if (!load_is_scalar(l, y, "a loop, as in tag in tags"))
		return;
	s = load_whole(y);
	if (!span_split_word(&s, "in", &variable) || !span_is_name(variable) || !s.n) {
		load_expected(l, y, "a loop, as in tag in tags");
		return;
	}
	c->each_variable = span_text(variable);
	if (entity_attribute(w->entity, c->each_variable))
		load_error(l, span_place(l, variable), "bad-name", "'%.*s' is an attribute already",
			   SLICE_ARG(c->each_variable));
	c->each_list = load_span_term(l, s, load_scope_of(l, w->entity));
}

static void read_unique(struct load *l, struct within *w, const struct yaml *y)
{
	struct companion *c = w->thing;

	c->unique = load_text(l, y, "the name of an attribute");
	if (c->unique.n)
		load_later_attribute(l, c->unique, y->place, w->entity->name);
}

/* `for` comes before what uses its variable, wherever it stands. */
static void read_companion(struct load *l, struct entity *e, const struct yaml *y, struct companion *c)
{
	struct within w = { e, c, y };
	struct load_scope *scope = load_scope_of(l, e);
	const struct yaml_entry *entries;
	struct key_rule *rules;
	size_t count, n = 0;

	c->place = y->place;
	entries = load_map(l, y, "a companion, as in {PK: …, SK: …}", &count);
	rules = arena_array(l->a, struct key_rule, count);
	for (size_t i = 0; i < count; i++)
		if (slice_is(entries[i].key.text, "for"))
			read_each(l, &w, &entries[i].value);
	scope->variable = c->each_variable;
	for (size_t i = 0; i < count; i++) {
		const struct yaml *key = &entries[i].key, *v = &entries[i].value;

		if (slice_is(key->text, "for"))
			continue;
		if (slice_is(key->text, "unique")) {
			read_unique(l, &w, v);
		} else if (slice_is(key->text, "when")) {
			c->when = load_term(l, v, scope);
		} else if (load_is_scalar(l, v, "a template, as in USER#<user_id>")) {
			rules[n] = (struct key_rule){ .attribute = key->text, .place = key->place };
			rules[n].template = load_span_template(l, (struct load_span){ v, 0, v->text.n }, scope);
			n += rules[n].template != NULL;
		}
	}
	c->rules = rules;
	c->rule_count = n;
}

static void check_companion(struct load *l, const struct companion *c)
{
	const struct key_attr *needed[] = { l->d->key.hash, l->d->key.range };
	size_t sides[] = { l->d->key.hash_count, l->d->key.range_count };

	for (size_t i = 0; i < 2; i++) {
		bool has = !sides[i];

		for (size_t k = 0; k < c->rule_count; k++)
			has = has || slice_equal(c->rules[k].attribute, needed[i][0].name);
		if (!has)
			load_error(l, c->place, "missing-word", "a companion needs '%.*s'",
				   SLICE_ARG(needed[i][0].name));
	}
}

void load_companions(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const struct yaml *items = y;
	size_t count = 1;
	struct companion *list;

	if (y->kind != YAML_MAP)
		items = load_list(l, y, "a list of companions", &count);
	list = arena_array(l->a, struct companion, count);
	for (size_t i = 0; i < count; i++) {
		size_t before = findings_errors(l->f);

		read_companion(l, e, &items[i], &list[i]);
		if (findings_errors(l->f) == before)
			check_companion(l, &list[i]);
	}
	e->companions = list;
	e->companion_count = count;
}

/* ---- names of attributes ---- */
static size_t attribute_names(struct load *l, const struct yaml *y, const struct entity *e, const struct slice **out)
{
	const char *expected = "a list of attributes";
	size_t count, n = load_texts(l, y, expected, out);
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;

	count = y->kind == YAML_LIST ? y->count : n;
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR)
			load_later_attribute(l, items[i].text, items[i].place, e->name);
	return n;
}

/* ---- actions ---- */
#define ACTION(into) ((struct action *)((struct within *)(into))->thing)
#define ENTITY(into) (((struct within *)(into))->entity)

static void read_when(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->when = load_term(l, y, load_scope_of(l, ENTITY(into)));
}

static void read_otherwise(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->otherwise = load_text(l, y, "a sentence");
}

static void read_allow(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->allow = load_term(l, y, load_scope_of(l, ENTITY(into)));
}

static void read_set(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->set_count =
		load_assignments(l, y, load_scope_of(l, ENTITY(into)), ENTITY(into)->name, &ACTION(into)->set);
}

static void read_add(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->add_count =
		load_assignments(l, y, load_scope_of(l, ENTITY(into)), ENTITY(into)->name, &ACTION(into)->add);
}

static void read_gather(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->gather_seconds = load_duration(l, y);
}

static void read_remove(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->remove_count = attribute_names(l, y, ENTITY(into), &ACTION(into)->remove);
}

static void read_input(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->input_count = attribute_names(l, y, ENTITY(into), &ACTION(into)->input);
}

static void read_requires(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->require_count = load_requirements(l, y, load_scope_of(l, ENTITY(into)), &ACTION(into)->requires);
}

static void read_creates(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->creates = load_bool(l, y);
}

static void read_is(struct load *l, void *into, const struct yaml *y)
{
	ACTION(into)->pattern_count = load_texts(l, y, "an id, or a list of ids", &ACTION(into)->patterns);
}

static const struct load_word action_words[] = {
	{ "when", read_when },     { "otherwise", read_otherwise },
	{ "allow", read_allow },   { "set", read_set },
	{ "remove", read_remove }, { "requires", read_requires },
	{ "input", read_input },   { "creates", read_creates },
	{ "add", read_add },       { "gather", read_gather },
	{ "is", read_is },         { 0 },
};

static void check_action(struct load *l, const struct action *a)
{
	if (!a->set_count && !a->remove_count && !a->input_count && !a->add_count)
		load_error(l, a->place, "missing-word",
			   "an action changes something: 'set', 'remove', 'input' or 'add'");
	if (a->otherwise.n && !a->when)
		load_error(l, a->place, "missing-word", "'otherwise' is for when 'when' does not hold");
	if (a->gather_seconds && (!a->add_count || a->set_count || a->remove_count || a->input_count))
		load_error(l, a->place, "wrong-clause", "'gather' is for actions that only 'add'");
}

static bool is_action_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", s.p[i], 64))
			return false;
	return s.n > 0;
}

void load_actions(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of actions by name", &count);
	struct action *list = arena_array(l->a, struct action, count);

	for (size_t i = 0; i < count; i++) {
		struct within w = { e, &list[i], &entries[i].value };
		size_t before = findings_errors(l->f);

		list[i].name = entries[i].key.text;
		list[i].place = entries[i].key.place;
		if (!is_action_name(list[i].name))
			load_error(l, list[i].place, "bad-name",
				   "the name of an action has letters, digits, '_' and '-'");
		load_words(l, &entries[i].value, "an action", action_words, &w, NULL);
		if (findings_errors(l->f) == before)
			check_action(l, &list[i]);
	}
	e->actions = list;
	e->action_count = count;
}

/* ---- deletion ---- */
static void read_delete_set(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->delete_.soft = true;
	e->delete_.set_count = load_assignments(l, y, load_scope_of(l, e), e->name, &e->delete_.set);
}

static void read_delete_remove(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->delete_.remove_count = attribute_names(l, y, e, &e->delete_.remove);
}

static bool is_identity(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->param_count; i++)
		if (slice_equal(e->params[i], name))
			return true;
	return false;
}

/* What an attribute that goes would make impossible, or what would be there again at once. */
static const char *why_not_removed(const struct entity *e, const struct attribute *a)
{
	if (is_identity(e, a->name))
		return "is part of the identity, which stays";
	if (a->counter)
		return "moves with what it counts";
	if (a->derived || a->after.n || a->copy_entity.n)
		return "follows from something else, and would be there again";
	if (a->from_key)
		return "is in the key, which stays";
	return NULL;
}

/* A null in the `with` of an update takes away. */
static void check_taken_away(struct load *l, const struct processor *p)
{
	const struct entity *e = p->effect == EFFECT_UPDATE ? design_entity(l->d, p->target_ref.entity) : NULL;

	l->subject = arena_printf(l->a, "processor %.*s", SLICE_ARG(p->name));
	for (size_t i = 0; e && i < p->with_count; i++) {
		const struct assignment *w = &p->with[i];
		const struct attribute *a = entity_attribute(e, w->attribute);
		const char *why = a ? why_not_removed(e, a) : NULL;

		if (!a || !w->term || w->term->kind != TERM_LITERAL || value_type(w->term->value) != VALUE_NULL)
			continue;
		if (!why && a->required)
			why = "is required, and cannot be taken away";
		if (why)
			load_error(l, w->place, "wrong-clause", "'%.*s' %s", SLICE_ARG(a->name), why);
	}
}

void load_check_removed(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++) {
		const struct entity *e = &l->entities[i];
		const struct delete_rule *d = &e->delete_;

		l->subject = arena_printf(l->a, "entity %.*s", SLICE_ARG(e->name));
		if (d->remove_count && !d->set_count)
			load_error(l, d->place, "missing-word",
				   "'remove' goes with 'set': something has to say that the item is deleted");
		for (size_t k = 0; k < d->remove_count; k++) {
			const struct attribute *a = entity_attribute(e, d->remove[k]);
			const char *why = a ? why_not_removed(e, a) : NULL;

			for (size_t n = 0; !why && n < d->set_count; n++)
				if (slice_equal(d->set[n].attribute, d->remove[k]))
					why = "is set and removed";
			if (why)
				load_error(l, d->place, "wrong-clause", "'%.*s' %s", SLICE_ARG(d->remove[k]), why);
		}
	}
	for (size_t i = 0; i < l->d->processor_count; i++)
		check_taken_away(l, &l->d->processors[i]);
	l->subject = SLICE("");
}

static size_t pattern_names(struct load *l, const struct yaml *y, struct entity *e, const struct slice **out)
{
	size_t n = load_texts(l, y, "a list of access patterns", out);
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;
	size_t count = y->kind == YAML_LIST ? y->count : n;

	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR)
			load_later_pattern_of(l, items[i].text, items[i].place, e->name);
	return n;
}

static void read_refuse(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->delete_.refuse_count = pattern_names(l, y, e, &e->delete_.refuse_while);
}

static void read_then_remove(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->delete_.then_count = pattern_names(l, y, e, &e->delete_.then_remove);
}

static const struct load_word delete_words[] = {
	{ "set", read_delete_set },
	{ "remove", read_delete_remove },
	{ "refuse while", read_refuse },
	{ "then remove", read_then_remove },
	{ 0 },
};

void load_delete(struct load *l, void *into, const struct yaml *y)
{
	((struct entity *)into)->delete_.place = y->place;
	load_words(l, y, "'delete'", delete_words, into, NULL);
}

/* ---- accounts ---- */
static void read_by(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->login.by_count = attribute_names(l, y, e, &e->login.by);
}

static struct slice attribute_name(struct load *l, const struct entity *e, const struct yaml *y)
{
	struct slice name = load_text(l, y, "the name of an attribute");

	if (name.n)
		load_later_attribute(l, name, y->place, e->name);
	return name;
}

static void read_password(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const struct attribute *a;

	e->login.password = attribute_name(l, e, y);
	a = entity_attribute(e, e->login.password);
	if (a && !a->hidden)
		load_error(l, y->place, "not-hidden", "'%.*s' holds passwords and must be 'hidden'", SLICE_ARG(a->name));
}

static void read_secret(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->login.secret_count =
		load_rules(l, y, "the keys of an item, as in {PK: …, SK: …}", load_scope_of(l, e), &e->login.secret);
}

static void read_subject(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->login.subject = attribute_name(l, e, y);
}

static void read_role(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->login.role = attribute_name(l, e, y);
}

static void read_login_when(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	struct load_scope *scope = arena_new(l->a, struct load_scope);

	scope->entity = e; /* nothing is being written, so there is no old and no input */
	e->login.when = load_term(l, y, scope);
}

static void read_login_is(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->login.pattern_count = load_texts(l, y, "an id, or a list of ids", &e->login.patterns);
}

/* clang-format off */
static const struct load_word login_words[] = {
	{ "by", read_by },
	{ "password", read_password },
	{ "secret", read_secret },
	{ "subject", read_subject },
	{ "role", read_role },
	{ "when", read_login_when },
	{ "is", read_login_is },
	{ 0 },
};
/* clang-format on */

void load_login(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t before = findings_errors(l->f);

	e->login.present = true;
	e->login.place = y->place;
	load_words(l, y, "a login", login_words, e, NULL);
	if (findings_errors(l->f) != before)
		return;
	if (!e->login.by_count)
		load_error(l, y->place, "missing-word", "a login needs 'by': what a caller names himself with");
	if (!e->login.password.n == !e->login.secret_count)
		load_error(l, y->place, "missing-word", "a login needs either 'password' or 'secret'");
	if (!e->login.subject.n)
		load_error(l, y->place, "missing-word", "a login needs 'subject': who the caller then is");
}
