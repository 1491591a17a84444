/* Nodes of the tree as what they should be: maps by their words, lists, texts, numbers; and saying
 * so when not. SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdarg.h>

#include "design/load/load.h"

#define SHOWN_MOST 60 /* bytes of an offending text in a message */
#define KNOWN_MOST 12 /* words that are listed when none is near */

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

static void suggest(struct load *l, struct finding *f, struct slice name, const struct slice *known, size_t count)
{
	struct slice meant = suggest_slice(name, known, count);
	struct buf b;

	if (meant.n) {
		f->repair = arena_printf(l->a, "did you mean '%.*s'?", SLICE_ARG(meant));
	} else if (count && count <= KNOWN_MOST) {
		buf_init(&b, l->a);
		buf_lit(&b, "known: ");
		for (size_t i = 0; i < count; i++) {
			buf_str(&b, i ? ", " : "");
			buf_put(&b, known[i]);
		}
		f->repair = buf_slice(&b);
	}
}

static int shown(struct slice s)
{
	size_t n = s.n < SHOWN_MOST ? s.n : SHOWN_MOST;

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--; /* not in the middle of a character */
	return (int)n;
}

struct finding *load_unknown(struct load *l, struct place p, const char *rule, const char *what, struct slice name,
			     const struct slice *known, size_t count)
{
	struct finding *f = load_error(l, p, rule, "there is no %s '%.*s'", what, shown(name), name.p);

	suggest(l, f, name, known, count);
	return f;
}

void load_expected(struct load *l, const struct yaml *y, const char *expected)
{
	static const char *const kinds[] = { "nothing", "a text", "a map", "a list" };

	if (y->kind == YAML_SCALAR)
		load_error(l, y->place, "wrong-value", "expected %s, not '%.*s'", expected, shown(y->text), y->text.p);
	else
		load_error(l, y->place, y->kind == YAML_NULL ? "missing-value" : "wrong-value", "expected %s, not %s",
			   expected, kinds[y->kind]);
}

/* ---- maps ---- */
static const struct load_word *find_word(const struct load_word *words, struct slice name)
{
	for (; words->name; words++)
		if (slice_is(name, words->name))
			return words;
	return NULL;
}

static void unknown_word(struct load *l, const struct yaml *key, const char *what, const struct load_word *words)
{
	struct slice *known;
	size_t n = 0;

	while (words[n].name)
		n++;
	known = arena_array(l->a, struct slice, n + 1);
	for (size_t i = 0; i < n; i++)
		known[i] = slice_str(words[i].name);
	suggest(l,
		load_error(l, key->place, "unknown-word", "there is no word '%.*s' in %s", shown(key->text),
			   key->text.p, what),
		key->text, known, n);
}

void load_words(struct load *l, const struct yaml *map, const char *what, const struct load_word *words, void *into,
		bool (*other)(struct load *l, void *into, const struct yaml_entry *e))
{
	const char *expected = arena_printf(l->a, "a map of the words of %s", what).p;
	const struct yaml_entry *entries;
	size_t n;

	entries = load_map(l, map, expected, &n);
	for (const struct load_word *w = words; w->name; w++) {
		const struct yaml_entry *first = NULL;

		for (size_t i = 0; i < n; i++) {
			if (!slice_is(entries[i].key.text, w->name))
				continue;
			if (first) /* one of them without a colon, else YAML would have said so */
				load_error(l, entries[i].key.place, "duplicate-key", "'%s' stands here twice", w->name);
			else
				w->read(l, into, &entries[i].value);
			first = &entries[i];
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!find_word(words, entries[i].key.text) && (!other || !other(l, into, &entries[i])))
			unknown_word(l, &entries[i].key, what, words);
}

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

bool load_bool(struct load *l, const struct yaml *y)
{
	if (y->kind == YAML_SCALAR && (slice_is(y->text, "true") || slice_is(y->text, "false")))
		return slice_is(y->text, "true");
	load_expected(l, y, "true or false");
	return false;
}

int64_t load_integer(struct load *l, const struct yaml *y, int64_t least, int64_t most, const char *expected)
{
	int64_t v;

	if (y->kind == YAML_SCALAR && span_integer(load_whole(y), &v)) {
		if (v >= least && v <= most)
			return v;
		load_error(l, y->place, "out-of-range", "expected %s from %" PRId64 " to %" PRId64 ", not %" PRId64,
			   expected, least, most, v);
		return least;
	}
	load_expected(l, y, expected);
	return least;
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
	return load_is_scalar(l, y, "a term") ? load_span_term(l, load_whole(y), scope) : NULL;
}
