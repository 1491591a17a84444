/* The present token, findings and nodes of a term's parser.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "design/term/term_parser.h"

/* Our own limits: functions that walk terms recurse. */
#define TERM_DEPTH_MAX 100
#define TERM_NODES_MAX 2000

/* ---- tokens ---- */

struct slice tp_token_text(const struct term_parser *p)
{
	return slice_make(p->text.p + p->now.at, p->now.end - p->now.at);
}

void tp_advance(struct term_parser *p)
{
	p->last_end = p->now.end;
	p->now = term_lex(p->text, p->now.end);
}

bool tp_is_token(const struct term_parser *p, enum term_token_type type)
{
	return p->now.type == type;
}

bool tp_is_word(const struct term_parser *p, const char *word)
{
	return p->now.type == TOK_NAME && term_word_is(tp_token_text(p), word);
}

bool tp_skip_word(struct term_parser *p, const char *word)
{
	if (!tp_is_word(p, word))
		return false;
	tp_advance(p);
	return true;
}

bool tp_skip(struct term_parser *p, enum term_token_type type)
{
	if (p->now.type != type)
		return false;
	tp_advance(p);
	return true;
}

struct term_token tp_peek(const struct term_parser *p)
{
	return term_lex(p->text, p->now.end);
}

/* ---- findings ---- */

static struct finding *find_at(struct term_parser *p, const char *rule, size_t at, size_t end, struct slice message)
{
	struct place place = term_place(p->text, p->place, at, end);

	return findings_add(p->findings, SEVERITY_ERROR, rule, place, "%.*s", SLICE_ARG(message));
}

const struct term *tp_refuse(struct term_parser *p, const char *wanted, const char *repair)
{
	struct slice found = tp_token_text(p), message;
	struct finding *f;

	if (p->now.type == TOK_BAD) {
		message = arena_printf(p->arena, "%s: %.*s", p->now.wrong, SLICE_ARG(found));
		repair = p->now.repair;
	} else if (p->now.type == TOK_END) {
		message = arena_printf(p->arena, "the term ends where %s is expected", wanted);
	} else {
		message = arena_printf(p->arena, "expected %s, found %.*s", wanted, SLICE_ARG(found));
	}
	f = find_at(p, "bad-term", p->now.at, p->now.end, message);
	if (repair)
		f->repair = slice_str(repair);
	return NULL;
}

const struct term *tp_refuse_from(struct term_parser *p, const char *rule, size_t at, struct slice message,
				  struct slice repair)
{
	find_at(p, rule, at, p->last_end, message)->repair = repair;
	return NULL;
}

/* ---- nodes ---- */

bool tp_enter(struct term_parser *p)
{
	if (++p->depth <= TERM_DEPTH_MAX)
		return true;
	find_at(p, "bad-term", p->now.at, p->now.end, SLICE("this term is nested too deeply"));
	return false;
}

struct term *tp_make(struct term_parser *p, enum term_kind kind, size_t at)
{
	struct term *t = arena_new(p->arena, struct term);

	t->kind = kind;
	t->place = term_place(p->text, p->place, at, p->last_end);
	p->nodes++;
	return t;
}

const struct term *tp_join(struct term_parser *p, enum term_kind kind, size_t at, const struct term *const *args,
			   size_t n)
{
	const struct term **copy = arena_array(p->arena, const struct term *, n);
	struct term *t;

	for (size_t i = 0; i < n; i++) {
		if (!args[i])
			return NULL;
		copy[i] = args[i];
	}
	t = tp_make(p, kind, at);
	t->args = copy;
	t->arg_count = n;
	if (p->nodes > TERM_NODES_MAX)
		return tp_refuse_from(p, "bad-term", at, SLICE("this term is too long"), SLICE(""));
	return t;
}

bool tp_parse_list(struct term_parser *p, const struct term *(*parse)(struct term_parser *), bool empty,
		   const struct term *first, const struct term ***out, size_t *count)
{
	size_t n = 0, room = 4;
	const struct term **list = arena_array(p->arena, const struct term *, room);

	if (first)
		list[n++] = first;
	while (!(n == (first != NULL) && empty && tp_is_token(p, TOK_CLOSE))) {
		GROW_IN(p->arena, list, n, room, 4);
		list[n] = parse(p);
		if (!list[n++])
			return false;
		if (!tp_skip(p, TOK_COMMA))
			break;
	}
	if (!tp_skip(p, TOK_CLOSE))
		return tp_refuse(p, ", or )", NULL);
	*out = list;
	*count = n;
	return true;
}
