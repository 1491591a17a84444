/* Parts of a scalar: cuts the mini-languages inside texts, and gives terms and templates exact places.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "design/load/load.h"
#include "design/term/term_lex.h"
#include "design/term/term_text.h"

static struct load_span span_trim(struct load_span s)
{
	const char *p = s.y->text.p;

	while (s.n && lex_is_space(p[s.from])) {
		s.from++;
		s.n--;
	}
	while (s.n && lex_is_space(p[s.from + s.n - 1]))
		s.n--;
	return s;
}

struct load_span load_whole(const struct yaml *scalar)
{
	return span_trim((struct load_span){ scalar, 0, scalar->text.n });
}

struct slice span_text(struct load_span s)
{
	return slice_make(s.y->text.p + s.from, s.n);
}

struct place span_place(const struct load *l, struct load_span s)
{
	return yaml_place(l->source, s.y, s.from, s.n);
}

struct load_span span_cut(struct load_span s, size_t from, size_t n)
{
	return span_trim((struct load_span){ s.y, s.from + from, n });
}

/* Walks the characters outside 'text' and (…). */
struct outside {
	int depth;
	bool in_text;
};

static bool is_outside(struct outside *o, char c)
{
	if (c == '\'')
		o->in_text = !o->in_text;
	else if (!o->in_text && c == ')')
		o->depth--;
	if (o->in_text || o->depth > 0 || c == '\'') {
		o->depth += !o->in_text && c == '(';
		return false;
	}
	o->depth += c == '(';
	return true;
}

/* Cuts at byte `i`, where a separator of `n` bytes begins; at the end, where there is none. */
static bool cut_at(struct load_span *s, size_t i, size_t n, struct load_span *head)
{
	bool found = i < s->n;

	*head = span_cut(*s, 0, i);
	*s = found ? span_cut(*s, i + n, s->n - i - n) : span_cut(*s, s->n, 0);
	return found;
}

bool span_split(struct load_span *s, char c, struct load_span *head)
{
	struct slice t = span_text(*s);
	struct outside o = { 0 };
	size_t i = 0;

	while (i < t.n && !(is_outside(&o, t.p[i]) && t.p[i] == c))
		i++;
	return cut_at(s, i, 1, head);
}

static bool is_word_at(struct slice t, size_t i, struct slice word)
{
	return (i == 0 || lex_is_space(t.p[i - 1])) && slice_starts(slice_make(t.p + i, t.n - i), word) &&
	       (i + word.n == t.n || lex_is_space(t.p[i + word.n]));
}

bool span_split_word(struct load_span *s, const char *word, struct load_span *head)
{
	struct slice t = span_text(*s), w = slice_str(word);
	struct outside o = { 0 };
	size_t i = 0;

	while (i < t.n && !(is_outside(&o, t.p[i]) && is_word_at(t, i, w)))
		i++;
	return cut_at(s, i, w.n, head);
}

size_t span_parts(struct load_span s, char sign)
{
	struct slice t = span_text(s);
	size_t n = 1;

	for (size_t i = 0; i < t.n; i++)
		n += t.p[i] == sign;
	return n;
}

bool span_take(struct load_span *s, const char *words)
{
	struct slice t = span_text(*s), w = slice_str(words);

	if (!slice_starts(t, w) || (t.n > w.n && lex_is_name(t.p[w.n]) && lex_is_name(w.p[w.n - 1])))
		return false;
	*s = span_cut(*s, w.n, t.n - w.n);
	return true;
}

#define NUMBER_MOST 48

/* The text if it may be a number; empty: it is none. */
static const char *number_text(struct load_span s, char text[NUMBER_MOST])
{
	struct slice t = span_text(s);

	text[0] = '\0';
	if (t.n < NUMBER_MOST && load_consists_of(t, "+-.0123456789eE")) {
		memcpy(text, t.p, t.n);
		text[t.n] = '\0';
	}
	return text;
}

bool span_integer(struct load_span s, int64_t *out)
{
	char text[NUMBER_MOST], *end;

	errno = 0;
	*out = strtoll(number_text(s, text), &end, 10);
	return errno == 0 && end > text && !*end;
}

bool span_decimal(struct load_span s, double *out)
{
	char text[NUMBER_MOST], *end;

	*out = strtod(number_text(s, text), &end);
	return end > text && !*end && isfinite(*out);
}

bool load_is_name(struct slice s)
{
	if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!lex_is_name(s.p[i]))
			return false;
	return true;
}

bool span_is_name(struct load_span s)
{
	return load_is_name(span_text(s));
}

bool span_call(struct load_span *s, struct load_span *name, struct load_span *args)
{
	struct slice t = span_text(*s);
	const char *open = memchr(t.p, '(', t.n);
	size_t at = open ? (size_t)(open - t.p) : 0;
	struct outside o = { 0 };

	if (!at)
		return false;
	for (size_t i = at; i < t.n; i++) {
		is_outside(&o, t.p[i]);
		if (!o.in_text && o.depth == 0) {
			*name = span_cut(*s, 0, at);
			*args = span_cut(*s, at + 1, i - at - 1);
			*s = span_cut(*s, i + 1, t.n - i - 1);
			return name->n > 0;
		}
	}
	return false;
}

/* ---- places inside a text that differs from the file: folded, escaped or with variables ---- */
struct mover {
	const struct load *l;
	struct load_span s;
	struct place start;
};

static void move_place(const struct mover *m, struct place *p)
{
	struct slice t = span_text(m->s);
	int line = m->start.line, column = m->start.column;
	size_t from = 0, to;

	if (p->line < line || (p->line == line && p->column < column))
		return;
	while (from < t.n && (line < p->line || column < p->column)) {
		bool newline = t.p[from] == '\n';

		from += text_first(slice_make(t.p + from, t.n - from), 1).n;
		line += newline;
		column = newline ? 1 : column + 1;
	}
	to = from + text_first(slice_make(t.p + from, t.n - from), p->length > 0 ? (size_t)p->length : 0).n;
	*p = yaml_place(m->l->source, m->s.y, m->s.from + from, to - from);
}

static void move_term(void *ctx, const struct term *t)
{
	move_place(ctx, &OURS(struct term, t)->place);
}

/* Findings of the parser since `before` get their subject and their place in the file. */
static void adopt_findings(const struct mover *m, size_t before)
{
	for (size_t i = before; i < m->l->f->count; i++) {
		m->l->f->list[i].subject = m->l->subject;
		if (m->s.y->offsets)
			move_place(m, &m->l->f->list[i].place);
	}
}

const struct term *load_span_term(struct load *l, struct load_span s, const struct load_scope *scope)
{
	struct mover m = { l, s, span_place(l, s) };
	size_t before = l->f->count;
	const struct term *t = term_parse(l->a, span_text(s), m.start, l->f);

	adopt_findings(&m, before);
	if (!t)
		return NULL;
	if (s.y->offsets)
		term_walk(t, move_term, &m);
	load_names_of_term(l, t);
	load_later_term(l, t, scope);
	return t;
}

const struct template *load_span_template(struct load *l, struct load_span s, const struct load_scope *scope)
{
	struct mover m = { l, s, span_place(l, s) };
	size_t before = l->f->count;
	const struct template *t = template_parse(l->a, span_text(s), m.start, l->f);

	adopt_findings(&m, before);
	if (!t)
		return NULL;
	load_names_of_template(l, t);
	load_later_template(l, t, s, scope);
	return t;
}
