/* Cuts a term's text into tokens and knows the spellings of other languages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_lex.h"
#include "design/term/term_text.h"

bool term_word_is(struct slice s, const char *word)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 32);
		if (word[i] == '\0' || c != word[i])
			return false;
	}
	return word[s.n] == '\0';
}

struct place term_place(struct slice text, struct place p, size_t at, size_t end)
{
	size_t line = 0;

	if (p.line == 0)
		return p;
	for (size_t i = 0; i < at; i++) {
		if (text.p[i] != '\n')
			continue;
		p.line++;
		p.column = 1;
		line = i + 1;
	}
	p.column += (int)text_count(slice_make(text.p + line, at - line));
	p.length = (int)text_count(slice_make(text.p + at, end - at));
	if (p.length == 0)
		p.length = 1;
	return p;
}

static struct term_token bad_token(size_t at, size_t end, const char *wrong, const char *repair)
{
	return (struct term_token){ TOK_BAD, at, end, wrong, repair };
}

static struct term_token lex_string(struct slice text, size_t at)
{
	size_t end = at + 1;

	for (; end < text.n; end++) {
		if (text.p[end] != '\'')
			continue;
		if (end + 1 < text.n && text.p[end + 1] == '\'')
			end++;
		else
			return (struct term_token){ .type = TOK_STRING, .at = at, .end = end + 1 };
	}
	return bad_token(at, text.n, "this text has no end", "close it with a single quote");
}

static size_t skip_digits(struct slice text, size_t at)
{
	while (at < text.n && lex_is_digit(text.p[at]))
		at++;
	return at;
}

static struct term_token lex_number(struct slice text, size_t at)
{
	size_t end = skip_digits(text, at), more;

	if (end + 1 < text.n && text.p[end] == '.' && lex_is_digit(text.p[end + 1]))
		end = skip_digits(text, end + 1);
	if (end < text.n && (text.p[end] == 'e' || text.p[end] == 'E')) {
		more = end + 1;
		if (more < text.n && (text.p[more] == '+' || text.p[more] == '-'))
			more++;
		if (more < text.n && lex_is_digit(text.p[more]))
			end = skip_digits(text, more);
	}
	if (end >= text.n || !lex_is_name_start(text.p[end]))
		return (struct term_token){ .type = TOK_NUMBER, .at = at, .end = end };
	while (end < text.n && lex_is_name(text.p[end]))
		end++;
	return bad_token(at, end, "this is neither a number nor a name",
			 "names begin with a letter; put texts in single quotes");
}

/* Longest first: the signs of the language, and those of other languages. */
static const struct {
	const char *text;
	enum term_token_type type;
	const char *repair;
} signs[] = {
	{ "===", TOK_BAD, "equality is a single =" },
	{ "!==", TOK_BAD, "unequal is <>" },
	{ "==", TOK_BAD, "equality is a single =" },
	{ "!=", TOK_BAD, "unequal is <>" },
	{ "=>", TOK_BAD, "greater or equal is >=" },
	{ "=<", TOK_BAD, "less or equal is <=" },
	{ "&&", TOK_BAD, "write the word and" },
	{ "||", TOK_BAD, "write the word or" },
	{ "<>", TOK_NE, NULL },
	{ "<=", TOK_LE, NULL },
	{ ">=", TOK_GE, NULL },
	{ "<", TOK_LT, NULL },
	{ ">", TOK_GT, NULL },
	{ "=", TOK_EQ, NULL },
	{ "+", TOK_PLUS, NULL },
	{ "-", TOK_MINUS, NULL },
	{ "*", TOK_STAR, NULL },
	{ "/", TOK_SLASH, NULL },
	{ "(", TOK_OPEN, NULL },
	{ ")", TOK_CLOSE, NULL },
	{ ",", TOK_COMMA, NULL },
	{ ".", TOK_DOT, NULL },
	{ "!", TOK_BAD, "write the word not" },
	{ "&", TOK_BAD, "write the word and" },
	{ "|", TOK_BAD, "write the word or" },
	{ "\"", TOK_BAD, "put texts in single quotes" },
	{ "`", TOK_BAD, "write names without quotes, texts in single quotes" },
	{ "#", TOK_BAD, "write attribute names as they are, texts in single quotes" },
	{ ":", TOK_BAD, "write values in place: 'text', 12.5, true" },
	{ "$", TOK_BAD, "names of attributes are written as they are" },
	{ "[", TOK_BAD, "put lists in parentheses: in ('a', 'b'); an element of a list is x[0]" },
	{ "]", TOK_BAD, "put lists in parentheses: in ('a', 'b')" },
	{ "%", TOK_BAD, "there are + - * and /" },
};

static struct term_token lex_sign(struct slice text, size_t at)
{
	struct slice rest = slice_make(text.p + at, text.n - at);
	size_t end = at + 1;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!slice_starts(rest, slice_str(signs[i].text)))
			continue;
		end = at + strlen(signs[i].text);
		if (signs[i].type == TOK_BAD)
			return bad_token(at, end, "this character has no meaning here", signs[i].repair);
		return (struct term_token){ .type = signs[i].type, .at = at, .end = end };
	}
	return bad_token(at, end, "this character has no meaning here", NULL);
}

size_t lex_element(struct slice text, size_t at)
{
	size_t end = at + 1;

	while (end < text.n && end <= at + LEX_ELEMENT_DIGITS && lex_is_digit(text.p[end]))
		end++;
	return text.p[at] == '[' && at && (lex_is_name(text.p[at - 1]) || text.p[at - 1] == ']') && end > at + 1 &&
			       end < text.n && text.p[end] == ']'
		       ? end + 1
		       : 0;
}

struct term_token term_lex(struct slice text, size_t at)
{
	size_t end;

	while (at < text.n && lex_is_space(text.p[at]))
		at++;
	if (at == text.n)
		return (struct term_token){ .type = TOK_END, .at = at, .end = at };
	if (text.p[at] == '\'')
		return lex_string(text, at);
	if (lex_is_digit(text.p[at]))
		return lex_number(text, at);
	if (lex_element(text, at))
		return (struct term_token){ .type = TOK_ELEMENT, .at = at, .end = lex_element(text, at) };
	if (!lex_is_name_start(text.p[at]))
		return lex_sign(text, at);
	end = at + 1;
	while (end < text.n && lex_is_name(text.p[end]))
		end++;
	return (struct term_token){ .type = TOK_NAME, .at = at, .end = end };
}
