/* Entities: what an item is, how it is addressed, and what must hold of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static const char *const verbs[ALLOW_VERBS] = { "create", "read", "update", "delete", "list" };

/* ---- attributes ---- */
static bool is_reserved(struct slice name)
{
	static const char *const words[] = { "caller", "old",    "input",   "now",    "today", "true",
					     "false",  "null",   "anyone",  "nobody", "and",   "or",
					     "not",    "exists", "visible", "first",  NULL };

	for (size_t i = 0; words[i]; i++)
		if (slice_is(name, words[i]))
			return true;
	return false;
}

static void check_attribute_name(struct load *l, const struct yaml *key)
{
	if (!load_is_name(key->text))
		load_error(l, key->place, "bad-name",
			   "the name of an attribute has letters, digits and '_' and begins with "
			   "no digit");
	else if (is_reserved(key->text))
		load_error(l, key->place, "bad-name", "'%.*s' has a meaning in terms; an attribute needs another name",
			   SLICE_ARG(key->text));
}

static void read_attributes(struct load *l, struct entity *e, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of attributes", &count);
	struct attribute *list = arena_array(l->a, struct attribute, count);
	struct yaml siblings = { .kind = YAML_MAP, .entries = entries, .count = count };
	struct yaml *kept = arena_new(l->a, struct yaml);

	*kept = siblings;
	for (size_t i = 0; i < count; i++) {
		check_attribute_name(l, &entries[i].key);
		load_attribute(l, &entries[i], kept, e, &list[i]);
	}
	e->attributes = list;
	e->attribute_count = count;
}

static struct slice subject_of(struct load *l, const struct entity *e)
{
	return arena_printf(l->a, "entity %.*s", SLICE_ARG(e->name));
}

static void check_entity_name(struct load *l, const struct yaml *key)
{
	if (!load_is_name(key->text) || key->text.p[0] < 'A' || key->text.p[0] > 'Z')
		load_error(l, key->place, "bad-name",
			   "the name of an entity begins with a capital letter and has letters, "
			   "digits and '_'");
}

/* The first turn's first half: terms of one entity may need what another one's attributes are. */
void load_entity_names(struct load *l, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of entities by name", &count);

	l->entities = arena_array(l->a, struct entity, count);
	l->d->entities = l->entities;
	l->d->entity_count = count;
	for (size_t i = 0; i < count; i++) {
		l->entities[i].name = entries[i].key.text;
		l->entities[i].place = entries[i].key.place;
	}
	for (size_t i = 0; i < count; i++) {
		const struct yaml *value = &entries[i].value;

		l->subject = subject_of(l, &l->entities[i]);
		check_entity_name(l, &entries[i].key);
		for (size_t k = 0; value->kind == YAML_MAP && k < value->count; k++)
			if (slice_is(value->entries[k].key.text, "attributes"))
				read_attributes(l, &l->entities[i], &value->entries[k].value);
	}
	l->subject = SLICE("");
}

static void skip(struct load *l, void *into, const struct yaml *y)
{
	(void)l, (void)into, (void)y; /* read before */
}

/* ---- address and keys ---- */
static void read_path(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	load_path(l, y, load_scope_of(l, e), &e->path, &e->path_template, &e->params, &e->param_count);
}

static void add_keys(struct load *l, struct entity *e, const struct yaml *y, const struct term *when)
{
	const struct key_rule *more;
	size_t n = load_rules(l, y, "a map of attributes and templates", load_scope_of(l, e), &more);
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

static void read_keys(struct load *l, void *into, const struct yaml *y)
{
	add_keys(l, into, y, NULL);
}

/* keys when <term>: */
static bool read_keys_when(struct load *l, void *into, const struct yaml_entry *e)
{
	struct load_span s = load_whole(&e->key);
	const struct term *when;

	if (!span_take(&s, "keys when"))
		return false;
	if (!s.n) {
		load_error(l, e->key.place, "missing-value", "expected a term after 'keys when'");
		return true;
	}
	when = load_span_term(l, s, load_scope_of(l, into));
	if (when)
		add_keys(l, into, &e->value, when);
	return true;
}

/* ---- counts, requires, check ---- */
static bool read_count(struct load *l, struct entity *e, const struct yaml *y, struct count_rule *out)
{
	struct load_scope *scope = load_scope_of(l, e);
	struct load_span s, attribute;
	struct load_tail tail;

	if (!load_is_scalar(l, y, "a count, as in User(author_id).posts_count"))
		return false;
	s = load_whole(y);
	if (!load_reference(l, &s, scope, &out->target))
		return false;
	if (!span_take(&s, ".")) {
		load_error(l, y->place, "wrong-value", "expected the counter, as in User(author_id).posts_count");
		return false;
	}
	span_split(&s, ' ', &attribute);
	out->attribute = span_text(attribute);
	load_later_attribute(l, out->attribute, span_place(l, attribute), out->target.entity);
	tail = load_reference_tail(l, s, scope, out->target.entity, true);
	out->by = tail.by;
	out->when = tail.when;
	out->if_ = tail.if_;
	return true;
}

static void read_counts(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	size_t count;
	const struct yaml *items = load_list(l, y, "a list of counts", &count);
	struct count_rule *list = arena_array(l->a, struct count_rule, count);

	for (size_t i = 0; i < count; i++)
		e->count_count += read_count(l, e, &items[i], &list[e->count_count]);
	e->counts = list;
}

static void read_requires(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->require_count = load_requirements(l, y, load_scope_of(l, e), &e->requires);
}

static void read_lives_while(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const char *why;

	e->lives_count = load_requirements(l, y, load_scope_of(l, e), &e->lives);
	for (size_t i = 0; i < e->lives_count; i++)
		if (e->lives[i].if_ && !term_can_filter(e->lives[i].if_, &why))
			load_error(l, e->lives[i].if_->place, "not-a-condition",
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
		c->term = load_term(l, &entries[i].key, load_scope_of(l, e));
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
	unsigned found = 0;
	bool more = true;

	while (more) {
		size_t i = 0;

		more = span_split(&rest, ',', &one);
		while (i < ALLOW_VERBS && !slice_is(span_text(one), verbs[i]))
			i++;
		if (i < ALLOW_VERBS) {
			found |= 1u << i;
		} else {
			struct slice known[ALLOW_VERBS];

			for (size_t k = 0; k < ALLOW_VERBS; k++)
				known[k] = slice_str(verbs[k]);
			load_unknown(l, span_place(l, one), "unknown-word", "verb", span_text(one), known, ALLOW_VERBS);
		}
	}
	return found;
}

static void read_allow(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;
	const struct yaml_entry *entries;
	size_t count = 0;

	if (y->kind != YAML_MAP) {
		load_expected(l, y, "a map of who may create, read, update, delete and list");
		return;
	}
	entries = yaml_entries(l->a, l->source, y, YAML_JOIN_KEYS, &count);
	for (size_t i = 0; i < count; i++) {
		unsigned found = read_verbs(l, &entries[i].key);
		const struct term *t = load_term(l, &entries[i].value, load_scope_of(l, e));

		for (size_t k = 0; k < ALLOW_VERBS; k++) {
			if (!(found >> k & 1))
				continue;
			if (e->allow[k])
				load_error(l, entries[i].key.place, "duplicate-key", "'%s' stands here twice", verbs[k]);
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

/* ---- the rest ---- */
static void read_version(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->version = load_text(l, y, "the name of an attribute");
	if (e->version.n)
		load_later_attribute(l, e->version, y->place, e->name);
}

static void read_found_by(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->found_by = load_text(l, y, "the name of an access pattern");
	if (e->found_by.n)
		load_later_pattern_of(l, e->found_by, y->place, e->name);
}

static void read_internal(struct load *l, void *into, const struct yaml *y)
{
	((struct entity *)into)->internal = load_bool(l, y);
}

static void read_accept(struct load *l, void *into, const struct yaml *y)
{
	load_accept(l, &((struct entity *)into)->accepts, y);
}

static const struct load_word words[] = {
	{ "path", read_path },
	{ "attributes", skip },
	{ "keys", read_keys },
	{ "companions", load_companions },
	{ "counts", read_counts },
	{ "requires", read_requires },
	{ "lives while", read_lives_while },
	{ "check", read_check },
	{ "allow", read_allow },
	{ "actions", load_actions },
	{ "delete", load_delete },
	{ "login", load_login },
	{ "version", read_version },
	{ "found by", read_found_by },
	{ "internal", read_internal },
	{ "patterns", read_patterns },
	{ "accept", read_accept },
	{ 0 },
};

/* An attribute that the server makes, and that is a template as well, would be two things. */
static void check_made_twice(struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < e->key_count; i++) {
		const struct key_rule *k = &e->keys[i];
		const struct attribute *a = entity_attribute(e, k->attribute);

		if (a && (a->derived || a->copy_entity.n || a->counter || a->now || a->touched || a->the_caller ||
			  a->default_))
			load_error(l, k->place, "set-twice",
				   "'%.*s' is an attribute of its own in line %d, and set by this template",
				   SLICE_ARG(a->name), a->place.line)
				->repair = SLICE("give one of them another name");
	}
}

static void check_entity(struct load *l, struct entity *e)
{
	check_made_twice(l, e);

	if (!e->path.n)
		load_error(l, e->place, "missing-word", "an entity needs a 'path': how one item is addressed");
	else if (!e->param_count)
		load_error(l, e->place, "bad-path",
			   "the path of an entity has at least one <placeholder>: what tells its "
			   "items apart");
	if (!e->attribute_count)
		load_error(l, e->place, "missing-word", "an entity needs 'attributes'");
	if (!e->key_count)
		load_error(l, e->place, "missing-word", "an entity needs 'keys'");
	if (e->version.n)
		return;
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].touched) {
			e->version = e->attributes[i].name;
			break;
		}
}

void load_entities(struct load *l, void *into, const struct yaml *y)
{
	(void)into;
	for (size_t i = 0; i < l->d->entity_count; i++) {
		struct entity *e = &l->entities[i];
		size_t before = findings_errors(l->f);
		const struct yaml *value = NULL;
		size_t count;
		const struct yaml_entry *entries = yaml_entries(l->a, l->source, y, YAML_JOIN_VALUES, &count);

		value = &entries[i].value;
		l->subject = subject_of(l, e);
		load_words(l, value, "an entity", words, e, read_keys_when);
		if (findings_errors(l->f) == before)
			check_entity(l, e);
	}
	l->subject = SLICE("");
}
