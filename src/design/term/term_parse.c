/* The grammar of terms, by recursive descent, one function a rule.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/regex.h"
#include "design/term/term_parser.h"
#include "design/term/term_text.h"

#define TERM_BYTES_MAX 16384

static const struct term *join2(struct term_parser *p, enum term_kind kind, size_t at, const struct term *x,
				const struct term *y)
{
	const struct term *args[] = { x, y };

	return tp_join(p, kind, at, args, 2);
}

/* ---- arithmetic ---- */

static const struct term *parse_unary(struct term_parser *p)
{
	const struct term *inner;
	size_t at = p->now.at;
	struct number n;
	struct term *t;

	if (!tp_skip(p, TOK_MINUS))
		return tp_parse_primary(p);
	inner = tp_enter(p) ? parse_unary(p) : NULL;
	p->depth--;
	if (!inner || inner->kind != TERM_LITERAL || value_type(inner->value) != VALUE_N)
		return tp_join(p, TERM_NEGATE, at, &inner, 1);
	n = value_number(inner->value);
	n.negative = n.digits != 0 && !n.negative;
	t = tp_make(p, TERM_LITERAL, at);
	t->value = value_make_n(p->arena, &n);
	return t;
}

static const struct term *parse_product(struct term_parser *p)
{
	size_t at = p->now.at;
	const struct term *t = parse_unary(p);

	while (t && (tp_is_token(p, TOK_STAR) || tp_is_token(p, TOK_SLASH))) {
		enum term_kind kind = tp_is_token(p, TOK_STAR) ? TERM_MUL : TERM_DIV;

		tp_advance(p);
		t = join2(p, kind, at, t, parse_unary(p));
	}
	return t;
}

/* 30 days: a number and a unit of time. */
static bool is_duration(const struct term_parser *p)
{
	struct term_token next = tp_peek(p);

	return tp_is_token(p, TOK_NUMBER) && next.type == TOK_NAME &&
	       time_unit_named(slice_make(p->text.p + next.at, next.end - next.at)) != TIME_UNITS;
}

/* x and a duration, which comes next: later(x, 30, 'day'). */
static const struct term *parse_later(struct term_parser *p, const struct term *x, size_t at, bool minus)
{
	size_t from = p->now.at;
	const struct term *args[] = { x, tp_parse_primary(p), NULL };
	struct term *unit, *t;
	struct slice word;
	struct number n;

	if (!args[1])
		return NULL;
	n = value_number(args[1]->value);
	if (n.exponent < 0)
		return tp_refuse_from(p, "bad-term", from, SLICE("this is not a whole number"),
				      SLICE("write 90 minutes, not 1.5 hours"));
	n.negative = minus && n.digits;
	((struct term *)(uintptr_t)args[1])->value = value_make_n(p->arena, &n);
	word = tp_token_text(p);
	from = p->now.at;
	tp_advance(p);
	unit = tp_make(p, TERM_LITERAL, from);
	unit->value = value_make_s(p->arena, slice_str(time_unit_names[time_unit_named(word)]));
	args[2] = unit;
	t = (struct term *)(uintptr_t)tp_join(p, TERM_CALL, at, args, 3);
	if (!t)
		return NULL;
	t->name = slice_str(term_functions[CALL_LATER].name);
	t->function = CALL_LATER;
	return t;
}

static const struct term *tp_parse_sum(struct term_parser *p)
{
	size_t at = p->now.at;
	const struct term *t = parse_product(p);

	while (t && (tp_is_token(p, TOK_PLUS) || tp_is_token(p, TOK_MINUS))) {
		enum term_kind kind = tp_is_token(p, TOK_PLUS) ? TERM_ADD : TERM_SUB;

		tp_advance(p);
		t = is_duration(p) ? parse_later(p, t, at, kind == TERM_SUB) : join2(p, kind, at, t, parse_product(p));
	}
	return t;
}

/* ---- comparisons ---- */

static const struct term *parse_in(struct term_parser *p, const struct term *x, size_t at)
{
	const struct term **args;
	size_t n;

	if (!tp_skip(p, TOK_OPEN))
		return tp_refuse(p, "( and a list of values",
				 "for an attribute that holds a list write: list contains value");
	if (!tp_parse_list(p, tp_parse_sum, false, x, &args, &n))
		return NULL;
	return tp_join(p, TERM_IN, at, args, n);
}

static const struct term *parse_between(struct term_parser *p, const struct term *x, size_t at)
{
	const struct term *args[3] = { x, tp_parse_sum(p), NULL };

	if (!args[1])
		return NULL;
	if (!tp_skip_word(p, "and"))
		return tp_refuse(p, "and", "as in: between 1 and 5");
	args[2] = tp_parse_sum(p);
	return tp_join(p, TERM_BETWEEN, at, args, 3);
}

static const struct term *parse_role(struct term_parser *p, const struct term *x, size_t at)
{
	struct slice name;
	struct term *t;

	if (tp_is_token(p, TOK_STRING)) {
		const struct term *text = tp_parse_string(p);

		name = value_bytes(text->value);
	} else {
		name = arena_copy(p->arena, tp_token_text(p));
		tp_advance(p);
	}
	t = (struct term *)tp_join(p, TERM_IS_ROLE, at, &x, 1);
	if (t)
		t->name = name;
	return t;
}

static const char *const caller_word[] = { "caller", NULL };

static const struct term *parse_is(struct term_parser *p, const struct term *x, size_t at)
{
	bool not = tp_skip_word(p, "not");
	const struct term *t;

	if (tp_is_word(p, "present") || tp_is_word(p, "absent")) {
		bool present = tp_is_word(p, "present") != not ;

		tp_advance(p);
		return tp_join(p, present ? TERM_PRESENT : TERM_ABSENT, at, &x, 1);
	}
	if (tp_is_word(p, "null") || tp_is_word(p, "true") || tp_is_word(p, "false"))
		return tp_refuse(p, "present or absent", "values are compared with = and <>");
	if (!tp_is_token(p, TOK_NAME) && !tp_is_token(p, TOK_STRING))
		return tp_refuse(p, "present, absent or a role", NULL);
	if (x->kind == TERM_PATH && x->name_count == 1 && suggest_word(x->names[0], caller_word))
		return tp_refuse(p, "present or absent", "did you mean 'caller'?");
	if (x->kind != TERM_CALLER)
		return tp_refuse(p, "present or absent", "only the caller can be something; values are compared with =");
	t = parse_role(p, x, at);
	return t && not ? tp_join(p, TERM_NOT, at, &t, 1) : t;
}

static const struct term *parse_may(struct term_parser *p, const struct term *x, size_t at)
{
	const struct term *permission;

	if (x->kind != TERM_CALLER)
		return tp_refuse_from(p, "bad-term", at, SLICE("only the caller may do something"),
				      SLICE("as in: caller may 'site:write'"));
	permission = tp_parse_sum(p);
	return tp_join(p, TERM_MAY, at, &permission, 1);
}

/* x matches 'pattern' */
static const struct term *parse_matches(struct term_parser *p, const struct term *x, size_t at)
{
	size_t from = p->now.at, wrong;
	const struct term *args[2] = { x, NULL };
	const struct regex *regex;
	const char *why;
	struct term *t;

	if (!tp_is_token(p, TOK_STRING))
		return tp_refuse(p, "a pattern in quotes", "as in: code matches '[A-Z]{3}-[0-9]+'");
	args[1] = tp_parse_string(p);
	regex = regex_compile(p->arena, value_bytes(args[1]->value), &why, &wrong);
	if (!regex)
		return tp_refuse_from(p, "bad-pattern", from,
				      arena_printf(p->arena, "this is not a pattern: %s, at character %zu", why,
						   wrong + 1),
				      SLICE(""));
	t = (struct term *)(uintptr_t)tp_join(p, TERM_MATCHES, at, args, 2);
	if (t)
		t->regex = regex;
	return t;
}

static bool sign_kind(enum term_token_type type, enum term_kind *out)
{
	if (type < TOK_EQ || type > TOK_GE)
		return false;
	*out = (enum term_kind)(TERM_EQ + (type - TOK_EQ));
	return true;
}

static const struct term *parse_compared(struct term_parser *p, const struct term *x, size_t at)
{
	enum term_kind kind;

	if (sign_kind(p->now.type, &kind)) {
		tp_advance(p);
		return join2(p, kind, at, x, tp_parse_sum(p));
	}
	if (tp_skip_word(p, "in"))
		return parse_in(p, x, at);
	if (tp_skip_word(p, "between"))
		return parse_between(p, x, at);
	if (tp_skip_word(p, "is"))
		return parse_is(p, x, at);
	if (tp_skip_word(p, "may"))
		return parse_may(p, x, at);
	if (tp_skip_word(p, "contains"))
		return join2(p, TERM_CONTAINS, at, x, tp_parse_sum(p));
	if (tp_skip_word(p, "matches"))
		return parse_matches(p, x, at);
	if (!tp_skip_word(p, "begins"))
		return x;
	if (!tp_skip_word(p, "with"))
		return tp_refuse(p, "with", "as in: name begins with 'a'");
	return join2(p, TERM_BEGINS, at, x, tp_parse_sum(p));
}

static const struct term *parse_compare(struct term_parser *p)
{
	size_t at = p->now.at;
	const struct term *x = tp_parse_sum(p);
	const struct term *t = x ? parse_compared(p, x, at) : NULL;
	enum term_kind kind;

	if (t && t != x && sign_kind(p->now.type, &kind))
		return tp_refuse(p, "and, or, or the end", "comparisons do not chain; write: 1 < x and x < 5");
	return t;
}

/* ---- logic ---- */

static const struct term *parse_not(struct term_parser *p)
{
	const struct term *inner;
	size_t at = p->now.at;

	if (!tp_skip_word(p, "not"))
		return parse_compare(p);
	inner = tp_enter(p) ? parse_not(p) : NULL;
	p->depth--;
	return tp_join(p, TERM_NOT, at, &inner, 1);
}

static const struct term *parse_and(struct term_parser *p)
{
	size_t at = p->now.at;
	const struct term *t = parse_not(p);

	while (t && tp_skip_word(p, "and"))
		t = join2(p, TERM_AND, at, t, parse_not(p));
	return t;
}

const struct term *tp_parse_or(struct term_parser *p)
{
	size_t at = p->now.at;
	const struct term *t = parse_and(p);

	while (t && tp_skip_word(p, "or"))
		t = join2(p, TERM_OR, at, t, parse_and(p));
	return t;
}

/* A whole term stands before something that cannot follow one. */
static const struct term *refuse_rest(struct term_parser *p)
{
	static const struct {
		const char *word, *repair;
	} words[] = {
		{ "not", "not comes first, as in: not x in ('a', 'b')" },
		{ "starts", "write: begins with" },
		{ "equals", "equality is =" },
		{ "like", "there are begins with, contains and matches" },
		{ "has", "write: contains" },
		{ "includes", "write: contains" },
		{ "xor", "there are and, or and not" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (tp_is_word(p, words[i].word))
			return tp_refuse(p, "and, or, a comparison or the end", words[i].repair);
	if (tp_is_token(p, TOK_CLOSE))
		return tp_refuse(p, "the end", "no parenthesis is open here");
	return tp_refuse(p, "and, or, a comparison or the end", NULL);
}

const struct term *term_parse(struct arena *a, struct slice text, struct place place, struct findings *f)
{
	struct term_parser p = { .arena = a, .findings = f, .text = text, .place = place };
	const struct term *t;

	if (text.n > TERM_BYTES_MAX || !text_is_utf8(text)) {
		findings_add(f, SEVERITY_ERROR, "bad-term", place, "%s",
			     text.n > TERM_BYTES_MAX ? "this term is too long" : "this term is not UTF-8");
		return NULL;
	}
	p.now = term_lex(text, 0);
	t = tp_is_token(&p, TOK_END) ? tp_refuse(&p, "a value", NULL) : tp_parse_or(&p);
	if (t && !tp_is_token(&p, TOK_END))
		return refuse_rest(&p);
	return t;
}
