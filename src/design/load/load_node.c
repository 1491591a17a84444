/* Reads nodes of the tree as what they should be (maps by their words, lists, texts, numbers) and reports those that
 * are not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

#include "base/grow.h"
#include "design/load/load.h"

#define SHOWN_MOST 60 /* bytes of an offending text in a message */
#define KNOWN_MOST 20 /* words listed when none is near */

struct finding *load_error(struct load *l, struct place p, const char *rule, const char *fmt, ...)
{
	struct slice message;
	struct finding *f;
	va_list ap;

	va_start(ap, fmt);
	message = arena_vprintf(l->a, fmt, ap);
	va_end(ap);
	f = findings_add(l->f, SEVERITY_ERROR, rule, p, "%.*s", SLICE_ARG(message));
	f->subject = l->subject;
	return f;
}

void load_subject(struct load *l, const char *kind, struct slice name)
{
	l->subject = arena_printf(l->a, "%s%s%.*s", kind, name.n ? " " : "", SLICE_ARG(name));
}

void load_names_add(struct load_names *names, struct slice name)
{
	struct slice *list = OURS(struct slice, names->list);

	GROW_IN(names->a, list, names->n, names->room, 32);
	list[names->n++] = name;
	names->list = list;
}

static bool add_meaning(void *names, const struct load_meaning *x)
{
	load_names_add(names, x->name);
	return false;
}

void load_names_of(struct load *l, const struct load_scope *scope, struct load_names *names)
{
	load_each_name(l, scope, add_meaning, names);
}

static void suggest(struct load *l, struct finding *f, struct slice name, const struct load_names *known)
{
	struct slice meant = suggest_slice(name, known->list, known->n);
	struct buf b;

	if (meant.n) {
		f->repair = arena_printf(l->a, "did you mean '%.*s'?", SLICE_ARG(meant));
	} else if (known->n) {
		buf_init(&b, l->a);
		buf_lit(&b, "known: ");
		for (size_t i = 0, n = 0; i < known->n && n <= KNOWN_MOST; i++) {
			if (slice_among(known->list, i, known->list[i]))
				continue;
			buf_str(&b, n ? ", " : "");
			buf_put(&b, n == KNOWN_MOST ? SLICE("…") : known->list[i]);
			n++;
		}
		f->repair = buf_slice(&b);
	}
}

static int shown(struct slice s)
{
	return (int)slice_cut(s, SHOWN_MOST).n;
}

struct finding *load_unknown(struct load *l, struct place p, const char *rule, const char *what, struct slice name,
			     const struct load_names *known)
{
	struct finding *f = load_error(l, p, rule, "there is no %s '%.*s'", what, shown(name), name.p);

	suggest(l, f, name, known);
	return f;
}

size_t load_choice(struct load *l, struct slice text, struct place p, const char *what, const struct load_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (slice_equal(text, names->list[i]))
			return i;
	load_unknown(l, p, "unknown-word", what, text, names);
	return names->n;
}

/* Whether a comment follows in the rest of the line. */
static bool begins_comment(struct slice text, size_t at)
{
	while (at < text.n && (text.p[at] == ':' || text.p[at] == ' '))
		at++;
	return at < text.n && text.p[at] == '#' && at + 1 < text.n && text.p[at + 1] != ' ';
}

/* -name in place of - name */
static bool lacks_space(const struct yaml *y)
{
	return !y->quoted && y->text.n > 1 && y->text.p[0] == '-' && isalpha((unsigned char)y->text.p[1]);
}

void load_expected(struct load *l, const struct yaml *y, const char *expected)
{
	static const char *const kinds[] = { [YAML_MAP] = "a map", [YAML_LIST] = "a list" };

	if (y->kind == YAML_SCALAR)
		load_error(l, y->place, "wrong-value", "expected %s, not '%.*s'", expected, shown(y->text), y->text.p)
			->repair =
			lacks_space(y) ? SLICE("an element of a list begins with '- ', with a space") : SLICE("");
	else if (y->kind != YAML_NULL)
		load_error(l, y->place, "wrong-value", "expected %s, not %s", expected, kinds[y->kind])->repair =
			y->kind == YAML_LIST && !y->flow ? SLICE("leave out the '- ' of its lines") : SLICE("");
	else
		load_error(l, y->place, "missing-value", "expected %s, not nothing", expected)->repair =
			begins_comment(l->source->text, y->at) ? SLICE("' #' begins a comment: put the value in quotes")
							       : SLICE("");
}

/* ---- maps ---- */
const struct yaml_entry *load_map(struct load *l, const struct yaml *y, const char *expected, size_t *count)
{
	*count = 0;
	if (y->kind == YAML_MAP)
		return yaml_entries(l->a, l->source, y, YAML_JOIN_VALUES, count);
	load_expected(l, y, expected);
	return NULL;
}

const struct yaml *load_list(struct load *l, const struct yaml *y, const char *expected, size_t *count)
{
	*count = y->kind == YAML_LIST ? y->count : y->kind == YAML_SCALAR;
	if (y->kind == YAML_LIST)
		return y->items;
	if (y->kind != YAML_SCALAR)
		load_expected(l, y, expected);
	return y;
}

bool load_has_word(const struct yaml *map, const char *word)
{
	for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++)
		if (slice_is(map->entries[i].key.text, word))
			return true;
	return false;
}

size_t load_one_of(struct load *l, const struct yaml *map, const char *const *words, const char *sentence)
{
	size_t n = 0;

	for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++)
		if (load_is_one_of(map->entries[i].key.text, words) && ++n == 2)
			load_error(l, map->entries[i].key.place, "wrong-clause", "%s", sentence)->repair =
				SLICE("leave all but one of them out");
	return n;
}

/* ---- scalars ---- */
bool load_is_scalar(struct load *l, const struct yaml *y, const char *expected)
{
	if (y->kind == YAML_SCALAR)
		return true;
	load_expected(l, y, expected);
	return false;
}

struct slice load_text(struct load *l, const struct yaml *y, const char *expected)
{
	return load_is_scalar(l, y, expected) ? y->text : SLICE("");
}

size_t load_texts(struct load *l, const struct yaml *y, const char *expected, const struct slice **out)
{
	size_t count, n = 0;
	const struct yaml *items = load_list(l, y, expected, &count);
	struct slice *list = arena_array(l->a, struct slice, count);

	for (size_t i = 0; i < count; i++)
		if (load_is_scalar(l, &items[i], expected))
			list[n++] = items[i].text;
	*out = list;
	return n;
}

const struct term *load_term(struct load *l, const struct yaml *y, const struct load_scope *scope)
{
	return load_is_scalar(l, y, "a term, as in user_id = caller") ? load_span_term(l, load_whole(y), scope) : NULL;
}

bool load_is_one_of(struct slice s, const char *const *words)
{
	while (*words && !slice_is(s, *words))
		words++;
	return *words;
}

static const struct {
	const char *names[5];
	int64_t seconds;
} units[] = {
	{ { "s", "second", "seconds", "sec" }, 1 },
	{ { "min", "minute", "minutes", "m" }, 60 },
	{ { "h", "hour", "hours" }, 3600 },
	{ { "day", "days", "d" }, 86400 },
	{ { "week", "weeks" }, 604800 },
};

struct slice load_units_pattern(struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < LENGTH(units); i++)
		for (const char *const *name = units[i].names; *name; name++)
			buf_printf(&b, "%s%s", b.n ? "|" : "", *name);
	return buf_slice(&b);
}

int64_t load_seconds(struct slice unit)
{
	for (size_t i = 0; i < LENGTH(units); i++)
		if (load_is_one_of(unit, units[i].names))
			return units[i].seconds;
	return 0;
}

bool load_unquote(struct slice *s)
{
	if (s->n < 2 || s->p[0] != '\'' || s->p[s->n - 1] != '\'')
		return false;
	*s = slice_make(s->p + 1, s->n - 2);
	return true;
}

static bool read_bool(struct load *l, const struct yaml *y)
{
	if (y->kind == YAML_SCALAR && (slice_is(y->text, "true") || slice_is(y->text, "false")))
		return slice_is(y->text, "true");
	load_expected(l, y, "true or false");
	if (y->kind == YAML_SCALAR)
		l->f->list[l->f->count - 1].repair = load_hint(HINT_TERM, y->text);
	return false;
}

static int64_t read_integer(struct load *l, const struct yaml *y, int64_t most, const char *expected)
{
	int64_t v;

	if (y->kind == YAML_SCALAR && span_integer(load_whole(y), &v)) {
		if (v >= 1 && v <= most)
			return v;
		load_error(l, y->place, "out-of-range", "expected %s from 1 to %" PRId64 ", not %" PRId64, expected,
			   most, v);
		return 1;
	}
	load_expected(l, y, expected);
	return 1;
}

/* 30 s, 5 minutes */
static int64_t read_duration(struct load *l, const struct yaml *y)
{
	const char *expected = "a time, as in 30 s, 5 min, 1 h or 1 day";
	struct load_span s, number;
	int64_t n;

	if (!load_is_scalar(l, y, expected))
		return 0;
	s = load_whole(y);
	span_split(&s, ' ', &number);
	if (span_integer(number, &n) && n > 0 && n <= 1000000 && load_seconds(span_text(s)))
		return n * load_seconds(span_text(s));
	load_expected(l, y, expected);
	return 0;
}

static struct accepted read_accept(struct load *l, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of rules and reasons", &count);
	struct acceptance *list = arena_array(l->a, struct acceptance, count);

	for (size_t i = 0; i < count; i++)
		list[i] = (struct acceptance){ entries[i].key.text, load_text(l, &entries[i].value, "a reason"),
					       entries[i].key.place };
	return (struct accepted){ list, count };
}

/* ---- names ---- */
/* What names are names of: the entity or access pattern being read. */
static struct slice owner_of_names(const struct load *l, enum load_name names)
{
	if (names == NAME_ATTRIBUTE || names == NAME_ACCESS_BY)
		return l->entity->name;
	return names == NAME_ROW_ATTRIBUTE || names == NAME_ROW_ACTION ? l->access->name : SLICE("");
}

struct slice load_name(struct load *l, const struct yaml *y, const char *expected, enum load_name names)
{
	struct slice name = load_text(l, y, expected);

	if (name.n)
		load_later_name(l, names, name, y->place, owner_of_names(l, names));
	return name;
}

/* ---- maps by their words ---- */
/* One text, or each text of a list, is such a name. */
static void note_names(struct load *l, const struct load_word *w, void *into, const struct yaml *y)
{
	const struct yaml *items = y->kind == YAML_LIST ? y->items : y;
	size_t count = y->kind == YAML_LIST ? y->count : 1, n = 0;
	const void **found = w->found_at ? (const void **)(void *)((char *)into + w->found_at) : NULL, **list;

	if (found && w->type == WORD_TEXTS) {
		list = arena_array(l->a, const void *, count);
		memcpy(found, &list, sizeof(list));
		found = list;
	}
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == YAML_SCALAR && (w->type == WORD_TEXTS || items[i].text.n))
			load_later_found(l, w->names, items[i].text, items[i].place, owner_of_names(l, w->names),
					 found ? &found[n++] : NULL);
}

static void read_word(struct load *l, const struct load_word *w, void *into, const struct yaml *y)
{
	void *at = (char *)into + w->at;
	size_t *count = (size_t *)(void *)((char *)into + w->count_at);

	switch (w->type) {
	case WORD_OWN: w->read(l, into, y); break;
	case WORD_TEXT: *(struct slice *)at = load_text(l, y, w->expected); break;
	case WORD_TEXTS: *count = load_texts(l, y, w->expected, at); break;
	case WORD_BOOL: *(bool *)at = read_bool(l, y); break;
	case WORD_INTEGER: *(int64_t *)at = read_integer(l, y, w->most, w->expected); break;
	case WORD_DURATION: *(int64_t *)at = read_duration(l, y); break;
	case WORD_TERM: *(const struct term **)at = load_term(l, y, l->scope); break;
	case WORD_RULES: *count = load_rules(l, y, w->expected, l->scope, at); break;
	case WORD_REQUIREMENTS: *count = load_requirements(l, y, l->scope, at); break;
	case WORD_ASSIGNMENTS:
		*count = load_assignments(l, y, l->scope, l->entity ? l->entity->name : SLICE(""), at);
		break;
	case WORD_KEY: load_key(l, at, y); break;
	case WORD_ACCEPT: *(struct accepted *)at = read_accept(l, y); break;
	}
	if (w->names)
		note_names(l, w, into, y);
}

static bool is_word(const struct load_word *words, struct slice name)
{
	for (; words->name; words++)
		if (slice_is(name, words->name))
			return true;
	return false;
}

static bool is_word_of(const void *words, const char *word)
{
	return is_word(words, slice_str(word));
}

static void unknown_word(struct load *l, const struct yaml *key, const char *what, const struct load_word *words)
{
	struct finding *f = load_error(l, key->place, "unknown-word", "there is no word '%.*s' in %s", shown(key->text),
				       key->text.p, what);
	const char *synonym = load_synonym(key->text, is_word_of, words);
	struct load_names known = { .a = l->a };
	struct slice meant;

	for (; words->name; words++)
		load_names_add(&known, slice_str(words->name));
	suggest(l, f, key->text, &known);
	meant = suggest_slice(key->text, known.list, known.n);
	if (synonym)
		f->repair = arena_printf(l->a, "write '%s'", synonym);
	else if (!meant.n && slice_is(slice_str(what), "an entity") && key->text.n &&
		 isupper((unsigned char)key->text.p[0]))
		f->repair = SLICE("an entity begins in the same column as the other entities");
	if (!l->stray) {
		l->stray = arena_new(l->a, struct load_names);
		l->stray->a = l->a;
	}
	load_names_add(l->stray, synonym ? slice_str(synonym) : meant.n ? meant : key->text);
}

bool load_is_stray(const struct load *l, const char *part, struct slice name)
{
	return l->stray && (slice_among(l->stray->list, l->stray->n, slice_str(part)) ||
			    slice_among(l->stray->list, l->stray->n, name));
}

bool load_words(struct load *l, const struct yaml *map, const char *what, const struct load_word *words, void *into,
		bool (*other)(struct load *l, void *into, const struct yaml_entry *e))
{
	const char *expected = arena_printf(l->a, "a map of the words of %s", what).p;
	size_t n, before = findings_errors(l->f);
	const struct yaml_entry *entries = load_map(l, map, expected, &n);

	for (const struct load_word *w = words; w->name; w++) {
		const struct yaml_entry *first = NULL;

		for (size_t i = 0; i < n; i++) {
			if (!slice_is(entries[i].key.text, w->name))
				continue;
			if (first) /* one of them has no colon, else YAML would have reported it */
				load_error(l, entries[i].key.place, "duplicate-key", "'%s' is given twice", w->name)
					->repair = SLICE("leave one of them out");
			else
				read_word(l, w, into, &entries[i].value);
			first = &entries[i];
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!is_word(words, entries[i].key.text) && (!other || !other(l, into, &entries[i])))
			unknown_word(l, &entries[i].key, what, words);
	return findings_errors(l->f) == before;
}
