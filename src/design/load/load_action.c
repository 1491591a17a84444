/* The life of an entity: companions, actions, deletion, accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* ---- companions ---- */
static void read_each(struct load *l, struct companion *c, const struct yaml *y)
{
	struct load_span list;

	if (!load_loop(l, y, "a loop, as in tag in tags", &c->each_variable, &list))
		return;
	if (entity_attribute(l->entity, c->each_variable))
		load_error(l, yaml_place(l->source, y, 0, c->each_variable.n), "bad-name",
			   "'%.*s' is an attribute already", SLICE_ARG(c->each_variable));
	c->each_list = load_span_term(l, list, l->scope);
}

/* `for` is read before what uses its variable, wherever it stands. */
static void read_companion(struct load *l, const struct yaml *y, struct companion *c)
{
	struct load_scope *scope = load_scope_of(l, l->entity);
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a companion, as in {PK: …, SK: …}", &count);
	struct key_rule *rules = arena_array(l->a, struct key_rule, count);

	c->place = y->place;
	c->rules = rules;
	for (size_t i = 0; i < count; i++)
		if (slice_is(entries[i].key.text, "for"))
			read_each(l, c, &entries[i].value);
	scope->variable = c->each_variable;
	scope->each = load_elements_of(l->entity, c->each_list);
	for (size_t i = 0; i < count; i++) {
		struct slice word = entries[i].key.text;

		if (slice_is(word, "unique"))
			c->unique = load_name(l, &entries[i].value, "the name of an attribute", NAME_ATTRIBUTE);
		else if (slice_is(word, "when"))
			c->when = load_term(l, &entries[i].value, scope);
		else if (!slice_is(word, "for"))
			c->rule_count += load_rule(l, &entries[i], scope, &rules[c->rule_count]);
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

		read_companion(l, &items[i], &list[i]);
		if (findings_errors(l->f) == before)
			load_needs_keys(l, "a companion", NULL, list[i].rules, list[i].rule_count, list[i].place);
	}
	e->companions = list;
	e->companion_count = count;
}

static const struct load_shape companion_shape = { SHAPE_MAP, "another item, as in {PK: …, SK: …}",
						   .of = &load_any_shape };
const struct load_shape load_companions_shape = { SHAPE_LIST, "items that are written together with this one",
						  .of = &companion_shape };

/* ---- actions ---- */
static const struct load_word action_words[] = {
	{ "when", WORD_TERM, AT(action, when) },
	{ "otherwise", WORD_TEXT, AT(action, otherwise), "a sentence" },
	{ "allow", WORD_TERM, AT(action, allow) },
	{ "set", WORD_ASSIGNMENTS, LIST_AT(action, set, set_count) },
	{ "remove", WORD_TEXTS, LIST_AT(action, remove, remove_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "requires", WORD_REQUIREMENTS, LIST_AT(action, requires, require_count) },
	{ "input", WORD_TEXTS, LIST_AT(action, input, input_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "append", WORD_TEXTS, LIST_AT(action, append, append_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "remove at", WORD_TEXTS, LIST_AT(action, cut, cut_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "creates", WORD_BOOL, AT(action, creates) },
	{ "add", WORD_ASSIGNMENTS, LIST_AT(action, add, add_count) },
	{ "also", .read = load_also_of_action, .shape = &load_also_shape },
	{ "gather", WORD_DURATION, AT(action, gather_seconds) },
	{ "is", WORD_TEXTS, LIST_AT(action, patterns, pattern_count), "an id, or a list of ids" },
	{ 0 },
};

/* What is appended and removed is also input. */
static void join_inputs(struct load *l, struct action *a)
{
	size_t n = 0;
	struct slice *list = arena_array(l->a, struct slice, a->input_count + a->append_count + a->cut_count);

	for (size_t i = 0; i < a->input_count; i++)
		list[n++] = a->input[i];
	for (size_t i = 0; i < a->append_count + a->cut_count; i++) {
		struct slice name = i < a->append_count ? a->append[i] : a->cut[i - a->append_count];

		if (slice_among(list, n, name))
			load_error(l, a->place, "duplicate-key", "'%.*s' is changed twice", SLICE_ARG(name));
		list[n++] = name;
	}
	a->input = list;
	a->input_count = n;
}

static const struct load_shape action_shape = { SHAPE_WORDS, "an action", .words = action_words };
const struct load_shape load_actions_shape = { SHAPE_MAP, "actions by name", "[A-Za-z0-9_-]+", .of = &action_shape };

static void check_action(struct load *l, const struct action *a)
{
	if (!a->set_count && !a->remove_count && !a->input_count && !a->add_count && !a->also_count)
		load_error(l, a->place, "missing-word",
			   "an action changes something: 'set', 'remove', 'input', 'append', 'remove at', 'add' or 'also'")
			->repair = SLICE("as in set: {status: CLOSED}");
	if (a->otherwise.n && !a->when)
		load_error(l, a->place, "missing-word", "'otherwise' is for when 'when' does not hold");
	if (a->gather_seconds && (!a->add_count || a->set_count || a->remove_count || a->input_count || a->also_count))
		load_error(l, a->place, "wrong-clause", "'gather' is for actions that only 'add'")->repair =
			SLICE("leave 'gather' out");
}

void load_actions(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of actions by name", &count);
	struct action *list = arena_array(l->a, struct action, count);

	for (size_t i = 0; i < count; i++) {
		list[i].name = entries[i].key.text;
		list[i].place = entries[i].key.place;
		if (!load_consists_of(list[i].name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"))
			load_error(l, list[i].place, "bad-name",
				   "the name of an action has letters, digits, '_' and '-'");
		if (!load_words(l, &entries[i].value, "an action", action_words, &list[i], NULL))
			continue;
		join_inputs(l, &list[i]);
		check_action(l, &list[i]);
	}
	e->actions = list;
	e->action_count = count;
}

/* ---- deletion ---- */
static const struct load_word delete_words[] = {
	{ "set", WORD_ASSIGNMENTS, LIST_AT(delete_rule, set, set_count) },
	{ "remove", WORD_TEXTS, LIST_AT(delete_rule, remove, remove_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "refuse while", WORD_TEXTS, LIST_AT(delete_rule, refuse_while, refuse_count), "a list of access patterns",
	  NAME_ACCESS_BY, FOUND(delete_rule, refuse_access) },
	{ "then remove", WORD_TEXTS, LIST_AT(delete_rule, then_remove, then_count), "a list of access patterns",
	  NAME_ACCESS_BY, FOUND(delete_rule, then_access) },
	{ 0 },
};

const struct load_shape load_delete_shape = { SHAPE_WORDS, "'delete'", .words = delete_words };

void load_delete(struct load *l, void *into, const struct yaml *y)
{
	struct delete_rule *d = &((struct entity *)into)->delete_;

	d->place = y->place;
	d->soft = load_has_word(y, "set");
	(void)load_words(l, y, "'delete'", delete_words, d, NULL);
}

/* Why the attribute cannot be removed; NULL: it can. */
static const char *why_not_removed(const struct entity *e, const struct attribute *a)
{
	if (slice_among(e->params, e->param_count, a->name))
		return "is part of the identity, which cannot change";
	if (a->counter)
		return "moves with what it counts";
	if (a->derived || a->after.n || a->copy_entity.n)
		return "is derived, so it would come back";
	if (a->from_key)
		return "is in the key, which cannot change";
	return NULL;
}

/* A null in the `with` of an update removes the attribute. */
static void check_nulls(struct load *l, const struct processor *p)
{
	const struct entity *e = p->effect == EFFECT_UPDATE ? p->target_ref.to : NULL;

	load_subject(l, "processor", p->name);
	EACH (struct assignment, w, p->with, e ? p->with_count : 0) {
		const struct attribute *a = entity_attribute(e, w->attribute);
		const char *why = a ? why_not_removed(e, a) : NULL;

		if (!a || !w->term || w->term->kind != TERM_LITERAL || value_type(w->term->value) != VALUE_NULL)
			continue;
		if (!why && a->required)
			why = "is required and cannot be removed";
		if (why)
			load_error(l, w->place, "wrong-clause", "'%.*s' %s", SLICE_ARG(a->name), why);
	}
}

/* append, remove at */
static void check_lists(struct load *l, const struct entity *e, const struct action *x)
{
	for (size_t i = 0; i < x->append_count + x->cut_count; i++) {
		struct slice name = i < x->append_count ? x->append[i] : x->cut[i - x->append_count];
		const struct attribute *a = entity_attribute(e, name);

		if (a && (a->type != ATTR_LIST || a->compressed))
			load_error(l, x->place, "wrong-type", "'%.*s' is no list that elements can be %s",
				   SLICE_ARG(name), i < x->append_count ? "appended to" : "removed from");
		else if (a && (a->derived || a->copy_entity.n || a->fixed))
			load_error(l, x->place, "wrong-clause", "'%.*s' cannot be changed", SLICE_ARG(name));
	}
}

void load_check_removed(struct load *l)
{
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		const struct delete_rule *d = &e->delete_;

		load_subject(l, "entity", e->name);
		EACH (struct action, x, e->actions, e->action_count)
			check_lists(l, e, x);
		if (d->remove_count && !d->set_count)
			load_error(l, d->place, "missing-word", "'remove' needs 'set', which marks the item as deleted");
		EACH (struct slice, name, d->remove, d->remove_count) {
			const struct attribute *a = entity_attribute(e, *name);
			const char *why = a ? why_not_removed(e, a) : NULL;

			EACH (struct assignment, s, d->set, why ? 0 : d->set_count)
				if (slice_equal(s->attribute, *name))
					why = "is set and removed";
			if (why)
				load_error(l, d->place, "wrong-clause", "'%.*s' %s", SLICE_ARG(*name), why);
		}
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count)
		check_nulls(l, p);
	l->subject = SLICE("");
}

/* ---- accounts ---- */
static void read_password(struct load *l, void *into, const struct yaml *y)
{
	struct login *login = into;
	const struct attribute *a;

	login->password = load_name(l, y, "the name of an attribute", NAME_ATTRIBUTE);
	a = entity_attribute(l->entity, login->password);
	if (a && !a->hidden)
		load_error(l, y->place, "not-hidden", "'%.*s' holds passwords and must be 'hidden'", SLICE_ARG(a->name))
			->repair = SLICE("name an attribute for the hash alone, declared 'string, hidden'");
}

/* Nothing is being written, so there is no old and no input. */
static void read_login_when(struct load *l, void *into, const struct yaml *y)
{
	struct load_scope *scope = arena_new(l->a, struct load_scope);

	scope->entity = l->entity;
	((struct login *)into)->when = load_term(l, y, scope);
}

static const struct load_shape login_when_shape = { SHAPE_TYPE, .type = WORD_TERM };

static const struct load_word login_words[] = {
	{ "by", WORD_TEXTS, LIST_AT(login, by, by_count), "a list of attributes", NAME_ATTRIBUTE },
	{ "password", .read = read_password, .shape = &load_any_shape },
	{ "secret", WORD_RULES, LIST_AT(login, secret, secret_count), "the keys of an item, as in {PK: …, SK: …}" },
	{ "subject", WORD_TEXT, AT(login, subject), "the name of an attribute", NAME_ATTRIBUTE },
	{ "role", WORD_TEXT, AT(login, role), "the name of an attribute", NAME_ATTRIBUTE },
	{ "when", .read = read_login_when, .shape = &login_when_shape },
	{ "session", WORD_DURATION, AT(login, session_seconds) },
	{ "token", WORD_DURATION, AT(login, token_seconds) },
	{ "claims", .read = load_login_claims, .shape = &load_login_claims_shape },
	{ "mail", .read = load_mail, .shape = &load_mail_shape },
	{ "is", WORD_TEXTS, LIST_AT(login, patterns, pattern_count), "an id, or a list of ids" },
	{ 0 },
};

static const char *const login_needs[] = { "by", "subject", NULL };
const struct load_shape load_login_shape = { SHAPE_WORDS, "a login", .words = login_words, .needed = login_needs };

#define TOKEN_SECONDS       3600
#define SHORT_TOKEN_SECONDS 600 /* where it can be renewed */
#define TOKEN_MOST          (24 * 3600)
#define SESSION_MOST        (3660 * INT64_C(86400))

static void check_times(struct load *l, struct login *login)
{
	int64_t usual = login->session_seconds ? SHORT_TOKEN_SECONDS : TOKEN_SECONDS;

	if (login->session_seconds > SESSION_MOST)
		load_error(l, login->place, "bad-session", "a session has at most 3660 days");
	if (login->token_seconds > TOKEN_MOST)
		load_error(l, login->place, "bad-session",
			   "a token is valid for at most 1 day; 'session' says how long a caller stays logged in");
	if (login->session_seconds && login->token_seconds > login->session_seconds)
		load_error(l, login->place, "bad-session", "a token cannot be valid for longer than its session");
	if (login->session_seconds && usual > login->session_seconds)
		usual = login->session_seconds;
	if (!login->token_seconds)
		login->token_seconds = usual;
}

void load_login(struct load *l, void *into, const struct yaml *y)
{
	struct login *login = &((struct entity *)into)->login;

	login->present = true;
	login->place = y->place;
	if (!load_words(l, y, "a login", login_words, login, NULL))
		return;
	if (!login->by_count)
		load_error(l, y->place, "missing-word", "a login needs 'by': what callers identify themselves with")
			->repair = SLICE("as in by: [username, email]");
	if (!login->password.n == !login->secret_count)
		load_error(l, y->place, "missing-word", "a login needs either 'password' or 'secret'")->repair =
			SLICE("as in password: password_hash, an attribute declared 'string, hidden'");
	if (!login->subject.n)
		load_error(l, y->place, "missing-word", "a login needs 'subject': the attribute that becomes 'caller'")
			->repair = SLICE("as in subject: user_id");
	check_times(l, login);
}
