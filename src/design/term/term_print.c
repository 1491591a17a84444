/* Terms as text again, with no more parentheses than they need, and walking through them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_parts.h"
#include "design/term/term_lex.h"

/* How tightly an operator binds. A looser term than its place allows needs parentheses. */
enum tightness {
	TIGHT_OR,
	TIGHT_AND,
	TIGHT_NOT,
	TIGHT_COMPARE,
	TIGHT_SUM,
	TIGHT_PRODUCT,
	TIGHT_UNARY,
	TIGHT_PRIMARY,
};

static bool is_number(const struct term *t)
{
	return t->kind == TERM_LITERAL && value_type(t->value) == VALUE_N;
}

static bool is_negative(const struct term *t)
{
	return is_number(t) && value_number(t->value).negative;
}

/* clang-format off */
static const struct {
	enum tightness tightness;
	const char *sign; /* between two terms */
	const char *word; /* all of it */
} kinds[] = {
	[TERM_OR] = { TIGHT_OR, "or", NULL },              [TERM_AND] = { TIGHT_AND, "and", NULL },
	[TERM_NOT] = { TIGHT_NOT, NULL, NULL },            [TERM_NEGATE] = { TIGHT_UNARY, NULL, NULL },
	[TERM_EQ] = { TIGHT_COMPARE, "=", NULL },          [TERM_NE] = { TIGHT_COMPARE, "<>", NULL },
	[TERM_LT] = { TIGHT_COMPARE, "<", NULL },          [TERM_LE] = { TIGHT_COMPARE, "<=", NULL },
	[TERM_GT] = { TIGHT_COMPARE, ">", NULL },          [TERM_GE] = { TIGHT_COMPARE, ">=", NULL },
	[TERM_IN] = { TIGHT_COMPARE, NULL, NULL },         [TERM_BETWEEN] = { TIGHT_COMPARE, NULL, NULL },
	[TERM_PRESENT] = { TIGHT_COMPARE, NULL, NULL },    [TERM_ABSENT] = { TIGHT_COMPARE, NULL, NULL },
	[TERM_BEGINS] = { TIGHT_COMPARE, "begins with", NULL }, [TERM_CONTAINS] = { TIGHT_COMPARE, "contains", NULL },
	[TERM_MATCHES] = { TIGHT_COMPARE, "matches", NULL },
	[TERM_IS_ROLE] = { TIGHT_COMPARE, NULL, NULL },    [TERM_MAY] = { TIGHT_COMPARE, NULL, NULL },
	[TERM_ADD] = { TIGHT_SUM, "+", NULL },             [TERM_SUB] = { TIGHT_SUM, "-", NULL },
	[TERM_MUL] = { TIGHT_PRODUCT, "*", NULL },         [TERM_DIV] = { TIGHT_PRODUCT, "/", NULL },
	[TERM_LITERAL] = { TIGHT_PRIMARY, NULL, NULL },    [TERM_PATH] = { TIGHT_PRIMARY, NULL, NULL },
	[TERM_EXISTS] = { TIGHT_PRIMARY, NULL, NULL },     [TERM_VISIBLE] = { TIGHT_PRIMARY, NULL, NULL },
	[TERM_FETCH] = { TIGHT_PRIMARY, NULL, NULL },      [TERM_CALL] = { TIGHT_PRIMARY, NULL, NULL },
	[TERM_NOW] = { TIGHT_PRIMARY, NULL, "now" },       [TERM_TODAY] = { TIGHT_PRIMARY, NULL, "today" },
	[TERM_CALLER] = { TIGHT_PRIMARY, NULL, "caller" }, [TERM_ALWAYS] = { TIGHT_PRIMARY, NULL, "anyone" },
	[TERM_NEVER] = { TIGHT_PRIMARY, NULL, "nobody" },  [TERM_CLAIM] = { TIGHT_PRIMARY, NULL, NULL },
};
/* clang-format on */

static enum tightness tightness(const struct term *t)
{
	enum time_unit unit;
	int64_t n;

	if (term_is_duration(t, &n, &unit))
		return TIGHT_SUM;
	return is_negative(t) ? TIGHT_UNARY : kinds[t->kind].tightness;
}

static void print_in(struct buf *b, const struct term *t, enum tightness least)
{
	if (tightness(t) >= least) {
		term_print(b, t);
		return;
	}
	buf_byte(b, '(');
	term_print(b, t);
	buf_byte(b, ')');
}

/* Left to right: the right side of its own kind needs parentheses, the left side none. */
static void print_binary(struct buf *b, const struct term *t, const char *sign)
{
	enum tightness own = tightness(t);
	bool chains = own != TIGHT_COMPARE;

	print_in(b, t->args[0], chains ? own : TIGHT_SUM);
	buf_printf(b, " %s ", sign);
	print_in(b, t->args[1], own + 1);
}

static void print_string(struct buf *b, struct slice s)
{
	buf_byte(b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_byte(b, '\'');
		buf_byte(b, (uint8_t)s.p[i]);
	}
	buf_byte(b, '\'');
}

static void print_literal(struct buf *b, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: print_string(b, value_bytes(v)); break;
	case VALUE_BOOL: buf_str(b, value_bool(v) ? "true" : "false"); break;
	case VALUE_N:
		n = value_number(v);
		buf_add(b, text, number_format(&n, text));
		break;
	default: buf_lit(b, "null"); break;
	}
}

static void print_list(struct buf *b, const struct term *t, size_t from, enum tightness least)
{
	buf_byte(b, '(');
	for (size_t i = from; i < t->arg_count; i++) {
		if (i > from)
			buf_lit(b, ", ");
		print_in(b, t->args[i], least);
	}
	buf_byte(b, ')');
}

/* x + 30 days */
static bool print_duration(struct buf *b, const struct term *t)
{
	enum time_unit unit;
	int64_t n;

	if (!term_is_duration(t, &n, &unit))
		return false;
	print_in(b, t->args[0], TIGHT_SUM);
	buf_printf(b, " %c %llu %s%s", n < 0 ? '-' : '+', n < 0 ? -(unsigned long long)n : (unsigned long long)n,
		   time_unit_names[unit], n == 1 || n == -1 ? "" : "s");
	return true;
}

static void print_call(struct buf *b, const struct term *t)
{
	bool ends = t->function == CALL_FIRST || t->function == CALL_LAST;

	if (print_duration(b, t))
		return;
	if (ends && t->arg_count == 2 && is_number(t->args[0]) && !is_negative(t->args[0])) {
		buf_put(b, t->name);
		buf_byte(b, ' ');
		term_print(b, t->args[0]);
		buf_lit(b, " of ");
		print_in(b, t->args[1], TIGHT_PRIMARY);
		return;
	}
	buf_put(b, t->name);
	print_list(b, t, 0, TIGHT_OR);
}

void term_print_path(struct buf *b, const struct slice *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i && !term_is_element(names[i]))
			buf_byte(b, '.');
		buf_put(b, names[i]);
	}
}

static void print_role(struct buf *b, const struct term *t)
{
	static const char *const words[] = { "not", "present", "absent", "null", "true", "false" };
	struct term_token token = term_lex(t->name, 0);
	bool plain = token.type == TOK_NAME && token.at == 0 && token.end == t->name.n;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		plain = plain && !term_word_is(t->name, words[i]);
	buf_lit(b, "caller is ");
	if (plain)
		buf_put(b, t->name);
	else
		print_string(b, t->name);
}

static void print_compared(struct buf *b, const struct term *t)
{
	print_in(b, t->args[0], TIGHT_SUM);
	switch (t->kind) {
	case TERM_PRESENT: buf_lit(b, " is present"); break;
	case TERM_ABSENT: buf_lit(b, " is absent"); break;
	case TERM_IN:
		buf_lit(b, " in ");
		print_list(b, t, 1, TIGHT_SUM);
		break;
	default: /* TERM_BETWEEN */
		buf_lit(b, " between ");
		print_in(b, t->args[1], TIGHT_SUM);
		buf_lit(b, " and ");
		print_in(b, t->args[2], TIGHT_SUM);
		break;
	}
}

static void print_item(struct buf *b, const struct term *t)
{
	if (t->kind == TERM_EXISTS)
		buf_lit(b, "exists ");
	if (t->kind == TERM_VISIBLE)
		buf_lit(b, "visible ");
	buf_put(b, t->name);
	print_list(b, t, 0, TIGHT_OR);
	if (t->kind == TERM_FETCH) {
		buf_byte(b, '.');
		buf_put(b, t->attribute);
	}
}

void term_print(struct buf *b, const struct term *t)
{
	if (kinds[t->kind].sign || kinds[t->kind].word) {
		if (kinds[t->kind].sign)
			print_binary(b, t, kinds[t->kind].sign);
		else
			buf_str(b, kinds[t->kind].word);
		return;
	}
	switch (t->kind) {
	case TERM_LITERAL: print_literal(b, t->value); break;
	case TERM_PATH: term_print_path(b, t->names, t->name_count); break;
	case TERM_NOT:
		buf_lit(b, "not ");
		print_in(b, t->args[0], TIGHT_NOT);
		break;
	case TERM_NEGATE:
		buf_byte(b, '-');
		print_in(b, t->args[0], TIGHT_UNARY);
		break;
	case TERM_IS_ROLE: print_role(b, t); break;
	case TERM_MAY:
		buf_lit(b, "caller may ");
		print_in(b, t->args[0], TIGHT_SUM);
		break;
	case TERM_EXISTS:
	case TERM_VISIBLE:
	case TERM_FETCH: print_item(b, t); break;
	case TERM_CALL: print_call(b, t); break;
	case TERM_CLAIM: buf_printf(b, "caller.%.*s", SLICE_ARG(t->name)); break;
	default: print_compared(b, t); break;
	}
}

void term_walk(const struct term *t, void (*visit)(void *ctx, const struct term *t), void *ctx)
{
	visit(ctx, t);
	for (size_t i = 0; i < t->arg_count; i++)
		term_walk(t->args[i], visit, ctx);
}

bool term_any(const struct term *t, bool (*is)(const void *ctx, const struct term *t), const void *ctx)
{
	if (!t || is(ctx, t))
		return t;
	for (size_t i = 0; i < t->arg_count; i++)
		if (term_any(t->args[i], is, ctx))
			return true;
	return false;
}

static bool is_beyond_item(const void *ctx, const struct term *t)
{
	(void)ctx;
	switch (t->kind) {
	case TERM_NOW:
	case TERM_TODAY:
	case TERM_CALLER:
	case TERM_CLAIM:
	case TERM_IS_ROLE:
	case TERM_MAY:
	case TERM_EXISTS:
	case TERM_VISIBLE:
	case TERM_FETCH: return true;
	case TERM_CALL: return term_is_ago(t->function);
	case TERM_PATH: return t->of != TERM_OF_ITEM;
	default: return false;
	}
}

bool term_reads_more(const struct term *t)
{
	return term_any(t, is_beyond_item, NULL);
}
