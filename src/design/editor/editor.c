/* From a place in the text to the rows of words of the loader, and from these to what an editor shows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "design/editor/editor.h"
#include "design/editor/place.h"
#include "design/load/load.h"
#include "design/term/term_parts.h"

/* What may stand somewhere: a shape, or a row without one. */
struct meant {
	const struct load_shape *shape;
	const struct load_word *word;
};

/* ---- from names to rows ---- */
static struct meant of_word(const struct load_word *w)
{
	return (struct meant){ w->type == WORD_OWN ? w->shape : w->type == WORD_KEY ? &load_key_shape : NULL, w };
}

/* What `name` is in a map of this shape. */
static struct meant inside(const struct load_shape *s, struct slice name)
{
	struct meant m = { 0 };

	if (!s)
		return m;
	switch (s->is) {
	case SHAPE_WORDS:
		for (const struct load_word *w = s->words; w->name; w++)
			if (slice_is(name, w->name))
				return of_word(w);
		if (s->prefix && slice_starts(name, slice_str(s->prefix)))
			m.shape = s->of;
		return m;
	case SHAPE_MAP: m.shape = s->of; return m;
	case SHAPE_LIST: return inside(s->of, name);
	case SHAPE_EITHER:
		for (const struct load_shape *const *one = s->either; *one && !m.shape && !m.word; one++)
			m = inside(*one, name);
		return m;
	default: return m;
	}
}

static struct meant meant_by(const struct slice *path, size_t depth)
{
	struct meant m = { .shape = &load_design_shape };

	for (size_t i = 0; i < depth; i++)
		m = inside(m.shape, path[i]);
	return m;
}

/* ---- what a row is for ---- */
static struct slice what_of_type(enum word_type type)
{
	switch (type) {
	case WORD_BOOL: return SLICE("true or false");
	case WORD_DURATION: return SLICE("a time, as in 30 s, 5 min, 1 h or 1 day");
	case WORD_TERM: return SLICE("a term, as in user_id = caller");
	case WORD_RULES: return SLICE("attributes and templates, as in PK: USER#<user_id>");
	case WORD_ASSIGNMENTS: return SLICE("attributes and terms, as in {status: CLOSED}");
	case WORD_REQUIREMENTS: return SLICE("items that must exist, as in Category(category)");
	case WORD_ACCEPT: return SLICE("rules of thorpe check, and why they are right here");
	default: return SLICE("");
	}
}

static struct slice what_of_shape(struct arena *a, const struct load_shape *s)
{
	struct slice what = SLICE("");
	struct buf b;

	if (!s)
		return what;
	if (s->write_what) {
		buf_init(&b, a);
		s->write_what(&b);
		return buf_slice(&b);
	}
	if (s->what)
		return slice_str(s->what);
	if (s->is == SHAPE_TYPE)
		return what_of_type((enum word_type)s->type);
	for (const struct load_shape *const *one = s->is == SHAPE_EITHER ? s->either : NULL; one && *one && !what.n;
	     one++)
		what = what_of_shape(a, *one);
	return what;
}

static struct slice what_of(struct arena *a, struct meant m)
{
	struct slice what = what_of_shape(a, m.shape);

	if (!what.n && m.word && m.word->expected)
		what = slice_str(m.word->expected);
	return what.n || !m.word ? what : what_of_type(m.word->type);
}

/* ---- lists of words ---- */
static void add(struct editor_words *l, enum editor_kind kind, struct slice name, struct slice what)
{
	for (size_t i = 0; i < l->count; i++)
		if (slice_equal(l->list[i].name, name))
			return;
	GROW_IN(l->arena, l->list, l->count, l->room, 32);
	l->list[l->count++] = (struct editor_word){ kind, name, what };
}

static void add_texts(struct editor_words *l, enum editor_kind kind, const char *const *texts)
{
	for (; *texts; texts++)
		add(l, kind, slice_str(*texts), SLICE(""));
}

/* The names of such a map. */
static void add_keys(struct editor_words *l, const struct load_shape *s)
{
	if (!s)
		return;
	for (const struct load_word *w = s->is == SHAPE_WORDS ? s->words : NULL; w && w->name; w++)
		add(l, EDITOR_WORD, slice_str(w->name), what_of(l->arena, of_word(w)));
	if (s->is == SHAPE_WORDS && s->prefix)
		add(l, EDITOR_WORD, slice_str(s->prefix), what_of_shape(l->arena, s->of));
	for (size_t i = 0; s->is == SHAPE_MAP && i < s->name_count; i++)
		add(l, EDITOR_WORD, slice_str(s->names[i]), SLICE(""));
	if (s->is == SHAPE_LIST)
		add_keys(l, s->of);
	for (const struct load_shape *const *one = s->is == SHAPE_EITHER ? s->either : NULL; one && *one; one++)
		add_keys(l, *one);
}

/* The values of such a shape that are known words. */
static void add_values(struct editor_words *l, const struct load_shape *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->choice_count; i++)
		add(l, EDITOR_CHOICE, s->choices[i], SLICE(""));
	if (s->is == SHAPE_LIST)
		add_values(l, s->of);
	for (const struct load_shape *const *one = s->is == SHAPE_EITHER ? s->either : NULL; one && *one; one++)
		add_values(l, *one);
}

/* ---- names that the text declares ---- */
struct declared {
	struct editor_words *words;
	const char *part;   /* "entities" */
	struct slice owner; /* whose attributes; empty: those of all */
	bool attributes;
};

static bool add_declared(void *ctx, const struct slice *path, size_t depth, struct slice value)
{
	struct declared *d = ctx;
	bool one = !d->attributes && depth == 2;
	bool inner = d->attributes && depth == 4 && slice_is(path[2], "attributes") &&
		     (!d->owner.n || slice_equal(path[1], d->owner));

	if (slice_is(path[0], d->part) && (one || inner))
		add(d->words, EDITOR_NAME, path[depth - 1], inner ? value : SLICE(""));
	return true;
}

static void add_names(struct editor_words *l, struct slice text, const char *part)
{
	editor_each_name(text, add_declared, &(struct declared){ .words = l, .part = part });
}

static void add_attributes(struct editor_words *l, struct slice text, struct slice owner)
{
	editor_each_name(text, add_declared,
			 &(struct declared){ .words = l, .part = "entities", .owner = owner, .attributes = true });
}

/* ---- terms and templates ---- */
static bool is_named(const struct editor_place *p, const char *const *names)
{
	for (size_t i = 0; i < p->depth; i++)
		if (load_is_one_of(p->path[i], names))
			return true;
	return false;
}

static struct slice owner_of(const struct editor_place *p)
{
	return p->depth > 1 && slice_is(p->path[0], "entities") ? p->path[1] : SLICE("");
}

static void add_term(struct editor_words *l, struct slice text, const struct editor_place *p)
{
	static const char *const words[] = { "caller",  "now",         "today",    "anyone",  "nobody",     "exists",
					     "visible", "and",         "or",       "not",     "is present", "is absent",
					     "in",      "begins with", "contains", "matches", "between",    NULL };

	add_attributes(l, text, owner_of(p));
	add_texts(l, EDITOR_WORD, words);
	for (size_t i = 0; i < CALLS; i++)
		add(l, EDITOR_CALL, slice_str(term_functions[i].name), slice_str(term_functions[i].usage));
	add_names(l, text, "entities");
}

static void add_choice(void *words, struct slice word)
{
	add(words, EDITOR_CHOICE, word, SLICE(""));
}

/* Types at the beginning, clauses after a comma, terms after '='. */
static void add_attribute(struct editor_words *l, struct slice text, const struct editor_place *p, size_t at)
{
	struct slice before = slice_make(text.p + p->value_from, at - p->value_from);
	bool first = !before.n || !memchr(before.p, ',', before.n);

	if (before.n && memchr(before.p, '=', before.n)) {
		add_term(l, text, p);
		return;
	}
	load_attribute_words(first, add_choice, l);
	if (first)
		add_names(l, text, "types");
}

/* ---- values ---- */
static bool is_of_type(struct meant m, enum word_type type)
{
	return (m.word && m.word->type == type) || (m.shape && m.shape->is == SHAPE_TYPE && m.shape->type == (int)type);
}

/* Names of entities, patterns, indexes and attributes, by the word whose value it is. */
static void add_names_for(struct editor_words *l, struct slice text, const struct editor_place *p, struct meant m)
{
	static const char *const entities[] = { "get",     "put",   "update", "upsert", "delete", "on",
						"returns", "count", "except", "batch",  NULL };
	static const char *const patterns[] = { "run",         "of",           "for each", "remove all", "found by",
						"then remove", "refuse while", "each",     NULL };
	static const char *const references[] = { "counts", "requires", "lives while", NULL };
	struct slice name = p->depth ? p->path[p->depth - 1] : SLICE("");
	enum load_name names = m.word ? m.word->names : NAME_NONE;

	if (slice_is(name, "query")) {
		add(l, EDITOR_NAME, SLICE("table"), SLICE("the table itself"));
		add_names(l, text, "indexes");
	}
	if (names == NAME_ENTITY || load_is_one_of(name, entities) || is_named(p, references))
		add_names(l, text, "entities");
	if (names == NAME_ACCESS || names == NAME_ACCESS_BY || load_is_one_of(name, patterns))
		add_names(l, text, "access");
	if (names == NAME_ATTRIBUTE || names == NAME_ROW_ATTRIBUTE || names == NAME_ITEM_ATTRIBUTE ||
	    is_named(p, references))
		add_attributes(l, text, owner_of(p));
}

/* Whether terms stand there, also where the reader of the word is its own. */
static bool is_term(const struct editor_place *p, struct meant m)
{
	static const char *const names[] = { "allow", "check", "filter", "when", "set", "with",
					     "let",   "show",  "keep",   "add",  "by",  NULL };

	return is_of_type(m, WORD_TERM) || is_of_type(m, WORD_ASSIGNMENTS) || is_named(p, names);
}

/* Whether the word at the place is a placeholder of a template: USER#<us */
static bool is_placeholder(struct slice text, size_t from)
{
	return from && text.p[from - 1] == '<';
}

static void add_value(struct editor_words *l, struct slice text, const struct editor_place *p, size_t at)
{
	struct meant m = meant_by(p->path, p->depth);
	size_t from, to, start = p->value_from;

	editor_word_around(text, at, &from, &to);
	while (start < at && (text.p[start] == ' ' || text.p[start] == '\n'))
		start++;
	l->from = start < from ? start : from;
	add_values(l, m.shape);
	if (is_of_type(m, WORD_BOOL))
		add_texts(l, EDITOR_CHOICE, (const char *const[]){ "true", "false", NULL });
	if (l->count)
		return;
	l->from = from;
	if (is_placeholder(text, from))
		add_attributes(l, text, owner_of(p));
	else if (m.shape == &load_attribute_shape)
		add_attribute(l, text, p, at);
	else if (is_term(p, m))
		add_term(l, text, p);
	else
		add_names_for(l, text, p, m);
}

struct editor_words editor_words(struct arena *a, struct slice text, size_t at)
{
	struct editor_words l = { .arena = a, .from = at < text.n ? at : text.n };
	struct editor_place p;
	struct meant m;

	at = l.from;
	p = editor_place(text, at);
	if (p.is_comment)
		return l;
	if (p.is_value) {
		add_value(&l, text, &p, at);
		return l;
	}
	m = meant_by(p.path, p.depth);
	for (l.from = p.value_from; l.from < at && text.p[l.from] == ' ';)
		l.from++;
	add_keys(&l, m.shape);
	l.are_keys = l.count > 0;
	if (m.shape && m.shape->is == SHAPE_MAP && m.shape->of == &load_attribute_shape)
		load_attribute_words(false, add_choice, &l); /* {a: string, req */
	if (!l.count)
		add_value(&l, text, &p, at); /* an element of a list */
	return l;
}

/* ---- what a word is for ---- */
struct search {
	struct slice name, owner, found;
	bool is_entity;
};

static bool look_for(void *ctx, const struct slice *path, size_t depth, struct slice value)
{
	struct search *s = ctx;
	bool attribute = depth == 4 && slice_is(path[0], "entities") && slice_is(path[2], "attributes") &&
			 (!s->owner.n || slice_equal(path[1], s->owner));
	bool address = depth == 3 && slice_is(path[0], "entities") && slice_is(path[2], "path");

	if (attribute && slice_equal(path[3], s->name))
		s->found = value;
	s->is_entity = address && slice_equal(path[1], s->name);
	if (s->is_entity)
		s->found = value;
	return !s->found.n;
}

static struct slice what_of_name(struct arena *a, struct slice text, const struct editor_place *p, struct slice name)
{
	struct search s = { .name = name, .owner = owner_of(p) };
	enum term_function f = term_function_find(name);

	if (!name.n)
		return SLICE("");
	editor_each_name(text, look_for, &s);
	if (!s.found.n && s.owner.n) {
		s.owner = SLICE("");
		editor_each_name(text, look_for, &s);
	}
	if (s.found.n)
		return arena_printf(a, "%s: %.*s", s.is_entity ? "an entity" : "an attribute", SLICE_ARG(s.found));
	return f != CALLS ? arena_printf(a, "a function: %s", term_functions[f].usage) : SLICE("");
}

/* The name around the place, with the spaces in it, when it is one: what stands before ':'. */
static bool name_around(struct slice text, const struct editor_place *p, size_t at, size_t *from, size_t *to)
{
	if (p->is_value || p->is_comment)
		return false;
	for (*from = p->value_from; *from < at && text.p[*from] == ' ';)
		++*from;
	for (*to = at; *to < text.n && !memchr(":,{}[]\n", text.p[*to], 7);)
		++*to;
	return *to < text.n && text.p[*to] == ':' && *from <= at;
}

struct slice editor_what(struct arena *a, struct slice text, size_t at, size_t *from, size_t *to)
{
	struct editor_place p;
	struct slice name, what;

	at = at < text.n ? at : text.n;
	p = editor_place(text, at);
	if (name_around(text, &p, at, from, to)) {
		name = slice_make(text.p + *from, *to - *from);
		if (p.depth == PLACE_DEPTH_MOST)
			return SLICE("");
		p.path[p.depth++] = name;
		what = what_of(a, meant_by(p.path, p.depth));
		return what.n ? what : what_of_name(a, text, &p, name);
	}
	editor_word_around(text, at, from, to);
	if (p.is_comment || *from == *to)
		return SLICE("");
	what = what_of_name(a, text, &p, slice_make(text.p + *from, *to - *from));
	return what.n || !p.is_value ? what : what_of(a, meant_by(p.path, p.depth));
}
