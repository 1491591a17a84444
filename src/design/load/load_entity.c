/* Entities: what an item is, how it is addressed, and which rules hold for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* ---- attributes ---- */
static bool is_reserved(struct slice name)
{
	static const char *const words[] = { "caller", "old",    "input",   "now",    "today", "true",
					     "false",  "null",   "anyone",  "nobody", "and",   "or",
					     "not",    "exists", "visible", "first",  NULL };

	return load_is_one_of(name, words);
}

static void check_attribute_name(struct load *l, const struct yaml *key)
{
	if (!load_is_name(key->text))
		load_error(l, key->place, "bad-name",
			   "the name of an attribute has letters, digits and '_' and does not begin with a digit");
	else if (is_reserved(key->text))
		load_error(l, key->place, "bad-name", "'%.*s' has a meaning in terms; an attribute needs another name",
			   SLICE_ARG(key->text))
			->repair = arena_printf(l->a, "for example %.*s_id", SLICE_ARG(key->text));
}

static void read_attributes(struct load *l, struct entity *e, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of attributes", &count);
	struct yaml *siblings = arena_new(l->a, struct yaml);
	struct attribute *list;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		room += load_group_room(&entries[i]);
	list = arena_array(l->a, struct attribute, room);
	*siblings = (struct yaml){ .kind = YAML_MAP, .entries = entries, .count = count };
	l->scope = load_scope_of(l, e);
	for (size_t i = 0; i < count; i++) {
		check_attribute_name(l, &entries[i].key);
		n += load_group(l, &entries[i], siblings, e, &list[n]);
	}
	e->attributes = list;
	e->attribute_count = n;
}

static void check_entity_name(struct load *l, const struct yaml *key)
{
	if (!load_is_name(key->text) || key->text.p[0] < 'A' || key->text.p[0] > 'Z')
		load_error(l, key->place, "bad-name",
			   "the name of an entity begins with a capital letter and has letters, digits and '_'")
			->repair = SLICE("as in 'User' or 'LineItem'");
}

/* All attributes before anything else: terms of one entity may need another's. */
static void read_names(struct load *l, const struct yaml_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		l->entities[i].name = entries[i].key.text;
		l->entities[i].place = entries[i].key.place;
	}
	for (size_t i = 0; i < count; i++) {
		const struct yaml *value = &entries[i].value;

		load_subject(l, "entity", l->entities[i].name);
		check_entity_name(l, &entries[i].key);
		for (size_t k = 0; value->kind == YAML_MAP && k < value->count; k++)
			if (slice_is(value->entries[k].key.text, "attributes"))
				read_attributes(l, &l->entities[i], &value->entries[k].value);
	}
}

static void attributes_are_read(struct load *l, void *into, const struct yaml *y)
{
	(void)l, (void)into, (void)y; /* by read_names() */
}

/* ---- address and keys ---- */
static void read_path(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	struct load_path p = load_path(l, y, l->scope);

	e->path = p.text;
	e->path_template = p.template;
	e->params = p.params;
	e->param_count = p.count;
}

static void add_keys(struct load *l, struct entity *e, const struct yaml *y, const struct term *when)
{
	const struct key_rule *more;
	size_t n = load_rules(l, y, "a map of attributes and templates", l->scope, &more);
	struct key_rule *all = arena_array(l->a, struct key_rule, e->key_count + n);

	if (e->key_count)
		memcpy(all, e->keys, e->key_count * sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[e->key_count + i] = more[i];
		all[e->key_count + i].when = when;
	}
	e->keys = all;
	e->key_count += n;
}

#define KEYS_WHEN "keys when"

/* keys when <term>: */
static bool read_keys_when(struct load *l, void *into, const struct yaml_entry *e)
{
	struct load_span s = load_whole(&e->key);
	const struct term *when;

	if (!span_take(&s, KEYS_WHEN))
		return false;
	if (!s.n) {
		load_error(l, e->key.place, "missing-value", "expected a term after 'keys when'");
		return true;
	}
	when = load_span_term(l, s, l->scope);
	if (when)
		add_keys(l, into, &e->value, when);
	return true;
}

/* ---- counts, requires, check ---- */
static void read_counts(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml *items = load_list(l, y, "a list of counts", &count);
	struct count_rule *list = arena_array(l->a, struct count_rule, count * LOAD_GROUP_MOST);

	for (size_t i = 0; i < count; i++) {
		struct count_rule *c = &list[e->count_count];

		if (load_count(l, &items[i], l->scope, &c->target, c))
			e->count_count += load_group_counts(l, l->scope, c);
	}
	e->counts = list;
}

static void read_lives_while(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const char *why;

	e->lives_count = load_requirements(l, y, l->scope, &e->lives);
	EACH (struct requirement, r, e->lives, e->lives_count)
		if (r->each.list)
			load_error(l, r->target.place, "wrong-clause", "`lives while` has no 'for'");
		else if (r->if_ && !term_can_filter(r->if_, &why))
			load_error(l, r->if_->place, "not-a-condition",
				   "`lives while` must be possible as a condition in DynamoDB: %s", why);
}

static void read_check(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of terms and sentences", &count);
	struct check_rule *list = arena_array(l->a, struct check_rule, count);

	for (size_t i = 0; i < count; i++) {
		struct check_rule *c = &list[e->check_count];

		c->place = entries[i].key.place;
		c->term = load_term(l, &entries[i].key, l->scope);
		c->sentence = load_text(l, &entries[i].value, "a sentence for when it does not hold");
		e->check_count += c->term != NULL;
	}
	e->checks = list;
}

/* ---- create, read, update, delete, list ---- */
/* The verbs of `update, delete`, as bits. */
static unsigned read_verbs(struct load *l, const struct yaml *key)
{
	struct load_span rest = load_whole(key), one;
	struct slice verbs[ALLOW_VERBS];
	unsigned found = 0;
	size_t before;
	bool more = true;

	for (size_t i = 0; i < ALLOW_VERBS; i++)
		verbs[i] = slice_str(allow_verb_names[i]);
	while (more) {
		more = span_split(&rest, ',', &one);
		before = l->f->count;
		found |= 1u << load_choice(l, span_text(one), span_place(l, one), "verb", &NAMES(verbs));
		if (l->f->count > before && load_hint(HINT_VERB, span_text(one)).n)
			l->f->list[before].repair = load_hint(HINT_VERB, span_text(one));
	}
	return found;
}

static void read_allow(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const struct yaml_entry *entries;
	size_t count = 0;

	if (y->kind != YAML_MAP) {
		load_expected(l, y, "a map of who may create, read, update, delete and list, as in {create: anyone}");
		return;
	}
	entries = yaml_entries(l->a, l->source, y, YAML_JOIN_KEYS, &count);
	for (size_t i = 0; i < count; i++) {
		unsigned found = read_verbs(l, &entries[i].key);
		const struct term *t = load_term(l, &entries[i].value, l->scope);

		for (size_t k = 0; k < ALLOW_VERBS; k++) {
			if (!(found >> k & 1))
				continue;
			if (e->allow[k])
				load_error(l, entries[i].key.place, "duplicate-key", "'%s' is given twice",
					   allow_verb_names[k])
					->repair = SLICE("leave one of them out, or join the rules with 'or'");
			e->allow[k] = t;
		}
	}
}

static void read_patterns(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of create, read, update and delete", &count);

	for (size_t i = 0; i < count; i++) {
		unsigned found = read_verbs(l, &entries[i].key);

		for (size_t k = 0; k < ALLOW_VERBS; k++)
			if (found >> k & 1)
				e->pattern_count[k] =
					load_texts(l, &entries[i].value, "an id, or a list of ids", &e->patterns[k]);
	}
}

/* ---- whole entities ---- */
static void read_show(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	struct load_scope *s = load_scope_of(l, e);

	s->old = s->input = false;
	e->show_count = load_show(l, y, s, &e->show);
}

/* create, update: one verb or several */
static void write_verbs(struct buf *b)
{
	buf_lit(b, "[ ,]*(");
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		buf_printf(b, "%s%s", i ? "|" : "", allow_verb_names[i]);
	buf_lit(b, ")([ ,].*)?");
}

static const struct load_shape attributes_shape = { SHAPE_MAP, "attributes by name", "[A-Za-z_][A-Za-z0-9_]*",
						    .of = &load_attribute_shape };
static const struct load_shape for_count_shape = { SHAPE_MAP, "for each, as in {for: tag in tags, Tag(tag).posts}",
						   .of = &load_any_shape };
static const struct load_shape *const count_shapes[] = { &load_any_shape, &for_count_shape, NULL };
static const struct load_shape count_shape = { SHAPE_EITHER, .either = count_shapes };
static const struct load_shape counts_shape = { SHAPE_LIST, "counters that move, as in User(author_id).posts_count",
						.of = &count_shape };
static const struct load_shape lives_shape = { SHAPE_TYPE, .type = WORD_REQUIREMENTS };
static const struct load_shape check_shape = { SHAPE_MAP, "terms, and what to say when one does not hold",
					       .of = &load_any_shape };
static const struct load_shape allow_shape = { SHAPE_MAP,
					       "who may create, read, update, delete and list",
					       .write_pattern = write_verbs,
					       .of = &load_any_shape,
					       .names = allow_verb_names,
					       .name_count = ALLOW_VERBS };
static const struct load_shape ids_shape = { SHAPE_LIST, .of = &load_any_shape };
static const struct load_shape patterns_shape = { SHAPE_MAP,
						  "the access patterns that the verbs are",
						  .write_pattern = write_verbs,
						  .of = &ids_shape,
						  .names = allow_verb_names,
						  .name_count = ALLOW_VERBS };
static const struct load_shape keys_shape = { SHAPE_TYPE, .type = WORD_RULES };

static const struct load_word words[] = {
	{ "path", .read = read_path, .shape = &load_path_shape },
	{ "was", WORD_TEXT, AT(entity, was), "the entity's name in the design before" },
	{ "attributes", .read = attributes_are_read, .shape = &attributes_shape },
	{ "keys", WORD_RULES, LIST_AT(entity, keys, key_count), "a map of attributes and templates" },
	{ "companions", .read = load_companions, .shape = &load_companions_shape },
	{ "counts", .read = read_counts, .shape = &counts_shape },
	{ "requires", WORD_REQUIREMENTS, LIST_AT(entity, requires, require_count) },
	{ "lives while", .read = read_lives_while, .shape = &lives_shape },
	{ "check", .read = read_check, .shape = &check_shape },
	{ "also", .read = load_also, .shape = &load_also_shape },
	{ "allow", .read = read_allow, .shape = &allow_shape },
	{ "actions", .read = load_actions, .shape = &load_actions_shape },
	{ "delete", .read = load_delete, .shape = &load_delete_shape },
	{ "rename", .read = load_rename, .shape = &load_rename_shape },
	{ "login", .read = load_login, .shape = &load_login_shape },
	{ "version", WORD_TEXT, AT(entity, version), "the name of an attribute", NAME_ATTRIBUTE },
	{ "found by", WORD_TEXT, AT(entity, found_by), "the name of an access pattern", NAME_ACCESS_BY,
	  FOUND(entity, found_access) },
	{ "internal", WORD_BOOL, AT(entity, internal) },
	{ "show", .read = read_show, .shape = &load_show_shape },
	{ "patterns", .read = read_patterns, .shape = &patterns_shape },
	{ "accept", WORD_ACCEPT, AT(entity, accepts) },
	{ 0 },
};

static const char *const entity_needs[] = { "path", "attributes", "keys", NULL };
static const struct load_shape entity_shape = { SHAPE_WORDS,       "an entity",
						.words = words,    .prefix = KEYS_WHEN " ",
						.of = &keys_shape, .needed = entity_needs };
const struct load_shape load_entities_shape = { SHAPE_MAP, "entities by name", "[A-Z][A-Za-z0-9_]*",
						.of = &entity_shape };

/* An attribute whose value the server makes cannot be computed by a template as well. */
static void check_made_twice(struct load *l, const struct entity *e)
{
	EACH (struct key_rule, k, e->keys, e->key_count) {
		const struct attribute *a = entity_attribute(e, k->attribute);

		if (a && (a->derived || a->copy_entity.n || a->counter || a->now || a->touched || a->last_writer ||
			  a->the_caller || a->default_))
			load_error(l, k->place, "set-twice",
				   "'%.*s' is an attribute of its own in line %d, and set by this template",
				   SLICE_ARG(a->name), a->place.line)
				->repair = SLICE("give one of them another name");
	}
}

/* The rule whose name is nearly this, or an example. */
static struct slice like_key(struct load *l, struct slice name, const struct key_rule *rules, size_t n)
{
	struct load_names names = { .a = l->a };
	struct slice near;

	EACH (struct key_rule, r, rules, n)
		if (!is_key_attribute(&l->d->key, r->attribute))
			load_names_add(&names, r->attribute);
	near = suggest_slice(name, names.list, names.n);
	if (near.n)
		return arena_printf(l->a, "is '%.*s' meant as '%.*s'?", SLICE_ARG(near), SLICE_ARG(name));
	return arena_printf(l->a, "as in %.*s: USER#<user>", SLICE_ARG(name));
}

void load_needs_keys(struct load *l, const char *what, const struct entity *e, const struct key_rule *rules, size_t n,
		     struct place p)
{
	for (size_t i = 0; i < key_attr_count(&l->d->key); i++) {
		struct slice name = key_attr_at(&l->d->key, i)->name;
		bool there = e && entity_attribute(e, name);

		EACH (struct key_rule, r, rules, n)
			there = there || slice_equal(r->attribute, name);
		if (!there)
			load_error(l, p, "missing-word", "%s needs '%.*s', the table's %s key", what, SLICE_ARG(name),
				   i < l->d->key.hash_count ? "partition" : "sort")
				->repair = like_key(l, name, rules, n);
	}
}

/* A name that was given away can go to one attribute only. */
static void check_was(struct load *l, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		EACH (struct attribute, other, e->attributes, (size_t)(a - e->attributes))
			if (a->was.n && slice_equal(a->was, other->was))
				load_error(l, a->place, "name-in-use", "'%.*s' was called '%.*s', too",
					   SLICE_ARG(other->name), SLICE_ARG(a->was))
					->repair = SLICE("remove one of the two 'was'");
}

static void check_entity(struct load *l, struct entity *e)
{
	check_was(l, e);
	check_made_twice(l, e);
	if (!e->path.n)
		load_error(l, e->place, "missing-word", "an entity needs a 'path': how one item is addressed")->repair =
			SLICE("as in path: /users/<user>");
	else if (!e->param_count)
		load_error(l, e->place, "bad-path",
			   "the path of an entity has at least one <placeholder>: what tells its items apart")
			->repair = SLICE("as in path: /users/<user>");
	if (e->was.n && design_entity(l->d, e->was))
		load_error(l, e->place, "name-in-use",
			   "'%.*s' is an entity of this design, so '%.*s' cannot have been called so",
			   SLICE_ARG(e->was), SLICE_ARG(e->name))
			->repair = SLICE("remove 'was', or the other entity");
	if (!e->attribute_count)
		load_error(l, e->place, "missing-word", "an entity needs 'attributes'")->repair =
			SLICE("as in attributes: {user: string, name: 'string 1..50, required'}");
	if (!e->key_count)
		load_error(l, e->place, "missing-word", "an entity needs 'keys'")->repair =
			SLICE("as in keys: {PK: USER#<user>, SK: PROFILE}");
	else
		load_needs_keys(l, "'keys' of an entity", e, e->keys, e->key_count, e->place);
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (a->touched && !e->version.n)
			e->version = a->name;
}

void load_entities(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;
	const struct yaml_entry *entries = load_map(l, y, "a map of entities by name", &d->entity_count);

	l->entities = arena_array(l->a, struct entity, d->entity_count);
	d->entities = l->entities;
	read_names(l, entries, d->entity_count);
	for (size_t i = 0; i < d->entity_count; i++) {
		l->entity = &l->entities[i];
		l->scope = load_scope_of(l, l->entity);
		load_subject(l, "entity", l->entity->name);
		if (load_words(l, &entries[i].value, "an entity", words, l->entity, read_keys_when))
			check_entity(l, l->entity);
	}
	l->entity = NULL;
	l->subject = SLICE("");
}
