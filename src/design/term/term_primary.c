/* The grammar's innermost rules: literals, paths, calls, other items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "design/term/term_parser.h"

const struct term *tp_parse_string(struct term_parser *p)
{
	struct slice raw = tp_token_text(p);
	size_t at = p->now.at;
	struct term *t;
	struct buf b;

	buf_init(&b, p->arena);
	for (size_t i = 1; i + 1 < raw.n; i++) {
		buf_byte(&b, (uint8_t)raw.p[i]);
		i += raw.p[i] == '\'';
	}
	tp_advance(p);
	t = tp_make(p, TERM_LITERAL, at);
	t->value = value_make_s(p->arena, buf_slice(&b));
	return t;
}

static const struct term *parse_number(struct term_parser *p)
{
	struct slice raw = tp_token_text(p);
	size_t at = p->now.at;
	struct number n;
	struct error e;
	struct term *t;

	tp_advance(p);
	if (!number_parse(raw, &n, p->arena, &e))
		return tp_refuse_from(p, "bad-term", at, SLICE("this number cannot be stored"),
				      SLICE("numbers have 38 digits and lie between 1E-130 and 1E+126"));
	t = tp_make(p, TERM_LITERAL, at);
	t->value = value_make_n(p->arena, &n);
	return t;
}

static const struct term *parse_literal(struct term_parser *p, enum term_kind kind, struct value v)
{
	size_t at = p->now.at;
	struct term *t;

	tp_advance(p);
	t = tp_make(p, kind, at);
	t->value = v;
	return t;
}

static const struct term *parse_path(struct term_parser *p)
{
	size_t at = p->now.at, n = 0, room = 2;
	struct slice *names = arena_array(p->arena, struct slice, room);
	struct term *t;

	do {
		if (!tp_is_token(p, TOK_NAME))
			return tp_refuse(p, "a name after the dot", NULL);
		do {
			GROW_IN(p->arena, names, n, room, 2);
			names[n++] = arena_copy(p->arena, tp_token_text(p));
			tp_advance(p);
		} while (tp_is_token(p, TOK_ELEMENT));
	} while (tp_skip(p, TOK_DOT));
	t = tp_make(p, TERM_PATH, at);
	t->names = names;
	t->name_count = n;
	t->of = term_path_of(names, n);
	return t;
}

/* Entity "(" args ")", the name being the present token. */
static struct term *parse_reference(struct term_parser *p, enum term_kind kind, size_t at)
{
	struct slice name = arena_copy(p->arena, tp_token_text(p));
	const struct term **args = NULL;
	size_t n = 0;
	struct term *t;

	if (!tp_is_token(p, TOK_NAME)) {
		tp_refuse(p, "the name of an entity", "as in: exists Follow(caller, author_id)");
		return NULL;
	}
	tp_advance(p);
	if (!tp_skip(p, TOK_OPEN)) {
		tp_refuse(p, "( and the identity of an item", "as in: exists Follow(caller, author_id)");
		return NULL;
	}
	if (!tp_enter(p) || !tp_parse_list(p, tp_parse_or, true, NULL, &args, &n))
		return NULL;
	p->depth--;
	t = tp_make(p, kind, at);
	t->name = name;
	t->args = args;
	t->arg_count = n;
	return t;
}

/* exists E(…), visible E(…) */
static const struct term *parse_exists(struct term_parser *p, enum term_kind kind)
{
	size_t at = p->now.at;

	tp_advance(p);
	return parse_reference(p, kind, at);
}

/* What other languages call what this one has. */
static const struct {
	const char *name, *instead;
} others[] = {
	{ "maximum", "write max(a, b)" },
	{ "minimum", "write min(a, b)" },
	{ "length", "write size(x)" },
	{ "len", "write size(x)" },
	{ "concat", "texts are joined with +, lists with join(list, ', ')" },
	{ "substring", "write first 80 of x" },
	{ "substr", "write first 80 of x" },
	{ "left", "write first 80 of x" },
	{ "right", "write last 4 of x" },
	{ "if", "write choose(condition, a, b)" },
	{ "coalesce", "write choose(x is present, x, y)" },
	{ "ifnull", "write choose(x is present, x, y)" },
	{ "if_not_exists", "write choose(x is present, x, y)" },
	{ "contains", "write x contains 'a'" },
	{ "includes", "write x contains 'a'" },
	{ "begins_with", "write x begins with 'a'" },
	{ "startsWith", "write x begins with 'a'" },
	{ "starts_with", "write x begins with 'a'" },
	{ "attribute_exists", "write x is present" },
	{ "attribute_not_exists", "write x is absent" },
	{ "uppercase", "write upper(x)" },
	{ "lowercase", "write lower(x)" },
	{ "avg", "write sum(x) / size(x)" },
	{ "average", "write sum(x) / size(x)" },
};

static struct slice known_functions(struct term_parser *p)
{
	struct buf b;

	buf_init(&b, p->arena);
	buf_lit(&b, "known: ");
	for (size_t i = 0; term_function_names[i]; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", term_function_names[i]);
	return buf_slice(&b);
}

static const struct term *unknown_function(struct term_parser *p, struct slice name, size_t at)
{
	const char *meant = suggest_word(name, term_function_names);
	struct slice message, repair = SLICE("");
	bool entity = name.p[0] >= 'A' && name.p[0] <= 'Z';

	/* The functions are many, and an entity's name may be like one of them. */
	if (entity && meant && (name.p[0] | 0x20) != meant[0])
		meant = NULL;
	p->last_end = at + name.n;
	if (slice_is(name, "now") || slice_is(name, "today") || slice_is(name, "caller"))
		return tp_refuse_from(p, "unknown-function", at,
				      arena_printf(p->arena, "%.*s is not a function", SLICE_ARG(name)),
				      SLICE("write it without parentheses"));
	if (entity && !meant) {
		message = arena_printf(p->arena, "%.*s(…) is an item, and an item is not a value", SLICE_ARG(name));
		repair = arena_printf(p->arena, "write exists %.*s(…), or %.*s(…).attribute", SLICE_ARG(name),
				      SLICE_ARG(name));
		return tp_refuse_from(p, "bad-term", at, message, repair);
	}
	message = arena_printf(p->arena, "there is no function %.*s", SLICE_ARG(name));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (slice_is(name, others[i].name))
			repair = slice_str(others[i].instead);
	if (!repair.n)
		repair = meant ? arena_printf(p->arena, "did you mean %s?", meant) : known_functions(p);
	return tp_refuse_from(p, "unknown-function", at, message, repair);
}

static const struct term *check_call(struct term_parser *p, struct term *t, size_t at)
{
	enum term_function f = term_function_find(t->name);
	const struct term_function_info *info;

	if (f == CALLS)
		return unknown_function(p, t->name, at);
	info = &term_functions[f];
	t->name = slice_str(info->name);
	t->function = f;
	if (t->arg_count >= info->least && t->arg_count <= info->most)
		return t;
	return tp_refuse_from(p, "wrong-arguments", at,
			      arena_printf(p->arena, "%s does not take %zu arguments", info->name, t->arg_count),
			      arena_printf(p->arena, "write %s", info->usage));
}

/* name "(": a function, or an item whose attribute is read. */
static const struct term *parse_call(struct term_parser *p)
{
	size_t at = p->now.at;
	struct term *t = parse_reference(p, TERM_CALL, at);

	if (!t)
		return NULL;
	if (!tp_is_token(p, TOK_DOT))
		return check_call(p, t, at);
	tp_advance(p);
	if (!tp_is_token(p, TOK_NAME))
		return tp_refuse(p, "the name of an attribute", NULL);
	t->kind = TERM_FETCH;
	t->attribute = arena_copy(p->arena, tp_token_text(p));
	tp_advance(p);
	t->place = term_place(p->text, p->place, at, p->last_end);
	if (tp_is_token(p, TOK_DOT))
		return tp_refuse(p, "the end of the attribute", "only whole attributes of other items can be read");
	return t;
}

/* ("first" | "last") number "of" primary */
static const struct term *parse_ends(struct term_parser *p, enum term_function f)
{
	const struct term *args[2];
	size_t at = p->now.at;
	struct term *t;

	tp_advance(p);
	args[0] = parse_number(p);
	if (!args[0])
		return NULL;
	if (!tp_skip_word(p, "of"))
		return tp_refuse(p, "of", f == CALL_FIRST ? "as in: first 80 of content" : "as in: last 4 of number");
	args[1] = tp_enter(p) ? tp_parse_primary(p) : NULL;
	p->depth--;
	t = (struct term *)tp_join(p, TERM_CALL, at, args, 2);
	if (!t)
		return NULL;
	t->name = slice_str(term_functions[f].name);
	t->function = f;
	return t;
}

/* caller.tenant */
static const struct term *parse_claim(struct term_parser *p)
{
	size_t at = p->now.at;
	struct term *t;
	struct slice name;

	tp_advance(p);
	tp_advance(p);
	if (!tp_is_token(p, TOK_NAME))
		return tp_refuse(p, "the name of a claim", "as in: tenant = caller.tenant");
	name = arena_copy(p->arena, tp_token_text(p));
	tp_advance(p);
	if (tp_is_token(p, TOK_DOT))
		return tp_refuse(p, "the end of the claim", "only whole claims can be read");
	t = tp_make(p, TERM_CLAIM, at);
	t->name = name;
	return t;
}

static const struct term *parse_name(struct term_parser *p)
{
	static const struct {
		const char *word;
		enum term_kind kind;
	} words[] = {
		{ "now", TERM_NOW },       { "today", TERM_TODAY },  { "caller", TERM_CALLER },
		{ "anyone", TERM_ALWAYS }, { "nobody", TERM_NEVER },
	};
	static const char *const reserved[] = { "and", "or", "in", "between", "is", "not" };
	enum term_token_type next = tp_peek(p).type;

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (tp_is_word(p, reserved[i]))
			return tp_refuse(p, "a value", NULL);
	if (next == TOK_DOT)
		return tp_is_word(p, "caller") ? parse_claim(p) : parse_path(p);
	if (next == TOK_OPEN)
		return parse_call(p);
	if (next == TOK_NAME && tp_is_word(p, "exists"))
		return parse_exists(p, TERM_EXISTS);
	if (next == TOK_NAME && tp_is_word(p, "visible"))
		return parse_exists(p, TERM_VISIBLE);
	if (next == TOK_NUMBER && tp_is_word(p, "first"))
		return parse_ends(p, CALL_FIRST);
	if (next == TOK_NUMBER && tp_is_word(p, "last"))
		return parse_ends(p, CALL_LAST);
	if (tp_is_word(p, "true") || tp_is_word(p, "false"))
		return parse_literal(p, TERM_LITERAL, value_make_bool(p->arena, tp_is_word(p, "true")));
	if (tp_is_word(p, "null"))
		return parse_literal(p, TERM_LITERAL, value_make_null(p->arena));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (tp_is_word(p, words[i].word))
			return parse_literal(p, words[i].kind, VALUE_ABSENT);
	return parse_path(p);
}

const struct term *tp_parse_primary(struct term_parser *p)
{
	const struct term *t;

	switch (p->now.type) {
	case TOK_STRING: return tp_parse_string(p);
	case TOK_NUMBER: return parse_number(p);
	case TOK_NAME: return parse_name(p);
	case TOK_OPEN: break;
	default: return tp_refuse(p, "a value", NULL);
	}
	tp_advance(p);
	t = tp_enter(p) ? tp_parse_or(p) : NULL;
	p->depth--;
	if (t && !tp_skip(p, TOK_CLOSE))
		return tp_refuse(p, ")", NULL);
	return t;
}
