/* What both designs say, as texts that can be compared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evolve/diff_internal.h"

const struct yaml *diff_word(const struct yaml *map, struct slice word)
{
	for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++)
		if (slice_equal(map->entries[i].key.text, word))
			return &map->entries[i].value;
	return NULL;
}

static void put_flat(struct buf *b, const struct yaml *y)
{
	switch (y->kind) {
	case YAML_NULL: break;
	case YAML_SCALAR: buf_put(b, y->text); break;
	case YAML_LIST:
		buf_byte(b, '[');
		for (size_t i = 0; i < y->count; i++) {
			buf_str(b, i ? ", " : "");
			put_flat(b, &y->items[i]);
		}
		buf_byte(b, ']');
		break;
	case YAML_MAP:
		buf_byte(b, '{');
		for (size_t i = 0; i < y->count; i++) {
			buf_str(b, i ? ", " : "");
			buf_put(b, y->entries[i].key.text);
			if (!y->entries[i].bare) {
				buf_lit(b, ": ");
				put_flat(b, &y->entries[i].value);
			}
		}
		buf_byte(b, '}');
	}
}

struct slice diff_flat(struct arena *a, const struct yaml *y)
{
	struct buf b;

	if (!y)
		return SLICE("");
	buf_init(&b, a);
	put_flat(&b, y);
	return buf_slice(&b);
}

static bool same_maps(const struct yaml *a, const struct yaml *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct yaml_entry *e = &a->entries[i];

		/* A bare entry belongs to the one before it: {a: string, required}. */
		if (e->bare || (i + 1 < a->count && a->entries[i + 1].bare)) {
			if (!slice_equal(e->key.text, b->entries[i].key.text) || e->bare != b->entries[i].bare ||
			    (!e->bare && !diff_same(&e->value, &b->entries[i].value)))
				return false;
		} else {
			const struct yaml *other = diff_word(b, e->key.text);

			if (!other || !diff_same(&e->value, other))
				return false;
		}
	}
	return true;
}

bool diff_same(const struct yaml *a, const struct yaml *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->count != b->count)
		return false;
	switch (a->kind) {
	case YAML_NULL: return true;
	case YAML_SCALAR: return slice_equal(a->text, b->text);
	case YAML_MAP: return same_maps(a, b);
	case YAML_LIST:
		for (size_t i = 0; i < a->count; i++)
			if (!diff_same(&a->items[i], &b->items[i]))
				return false;
		return true;
	}
	return false;
}

/* ---- names that were changed ---- */
#define NESTED 16 /* parentheses in one another; deeper ones are read without their entities */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

static const struct entity *entity_now(const struct differ *x, struct slice name)
{
	EACH (struct entity, e, x->after->entities, x->after->entity_count)
		if (slice_equal(e->was.n ? e->was : e->name, name))
			return e;
	return NULL;
}

static struct slice attribute_now(const struct entity *e, struct slice name)
{
	for (size_t i = 0; e && i < e->attribute_count; i++)
		if (e->attributes[i].was.n && slice_equal(e->attributes[i].was, name))
			return e->attributes[i].name;
	return name;
}

/* reading a text from left to right */
struct renaming {
	const struct differ *x;
	const struct entity *of;             /* whose text it is; NULL: none */
	const struct entity *inside[NESTED]; /* E in E(…, for each parenthesis that is open */
	const struct entity *closed;         /* the one that was closed last */
	const struct entity *word;           /* the entity that was named last */
	struct slice last;                   /* the word before */
	size_t depth;
	struct buf *out;
};

static void put_word(struct renaming *r, struct slice word, char before)
{
	const struct entity *e = entity_now(r->x, word);
	struct slice now = word;

	if (before == '.' && (slice_is(r->last, "old") || slice_is(r->last, "input")))
		now = attribute_now(r->of, word);
	else if (before == '.' && !r->last.n)
		now = attribute_now(r->closed, word);
	else if (before != '.')
		now = e ? e->name : attribute_now(r->of, word);
	r->word = before == '.' ? NULL : e;
	r->last = word;
	buf_put(r->out, now);
}

static void put_sign(struct renaming *r, char c)
{
	if (c == '(') {
		if (r->depth < NESTED)
			r->inside[r->depth] = r->word;
		r->depth++;
	} else if (c == ')' && r->depth) {
		r->depth--;
		r->closed = r->depth < NESTED ? r->inside[r->depth] : NULL;
		r->last = SLICE("");
	}
	if (c != '.')
		r->word = NULL;
	buf_byte(r->out, (uint8_t)c);
}

struct slice diff_renamed(const struct differ *x, const struct diff_pair *p, struct slice text)
{
	struct renaming r = { .x = x, .of = p ? p->to : NULL };
	bool quoted = false;
	struct buf b;

	buf_init(&b, x->a);
	r.out = &b;
	for (size_t i = 0; i < text.n;) {
		size_t n = 0;

		while (!quoted && i + n < text.n && is_letter(text.p[i + n]))
			n++;
		if (n) {
			put_word(&r, slice_make(text.p + i, n), i ? text.p[i - 1] : ' ');
			i += n;
			continue;
		}
		quoted = quoted != (text.p[i] == '\'');
		put_sign(&r, text.p[i++]);
	}
	return buf_slice(&b);
}

/* The term, normalised; NULL: empty. */
static struct slice printed(struct arena *a, const struct term *t)
{
	struct buf b;

	if (!t)
		return SLICE("");
	buf_init(&b, a);
	term_print(&b, t);
	return buf_slice(&b);
}

bool diff_same_term(const struct differ *x, const struct diff_pair *p, const struct term *was, const struct term *is)
{
	return slice_equal(diff_renamed(x, p, printed(x->a, was)), printed(x->a, is));
}

bool diff_same_now(const struct differ *x, const struct diff_pair *p, const struct yaml *was, const struct yaml *is)
{
	if (diff_same(was, is))
		return true;
	return was && is && slice_equal(diff_renamed(x, p, diff_flat(x->a, was)), diff_flat(x->a, is));
}
