/* Cuts an expression's text into tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "expr/lexer.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static enum token_type keyword(const char *p, size_t n)
{
	/* clang-format off */
	static const struct {
		const char *word;
		size_t n;
		enum token_type type;
	} words[] = {
		{ "AND", 3, TOKEN_AND },       { "OR", 2, TOKEN_OR },
		{ "NOT", 3, TOKEN_NOT },       { "BETWEEN", 7, TOKEN_BETWEEN },
		{ "IN", 2, TOKEN_IN },         { "SET", 3, TOKEN_SET },
		{ "REMOVE", 6, TOKEN_REMOVE }, { "ADD", 3, TOKEN_ADD },
		{ "DELETE", 6, TOKEN_DELETE },
	};
	/* clang-format on */

	if (n < 2 || n > 7)
		return TOKEN_NAME;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].n == n && strncasecmp(words[i].word, p, n) == 0)
			return words[i].type;
	return TOKEN_NAME;
}

/* The end of a whole UTF-8 character, so that messages never quote half of one. */
static size_t character_end(struct slice text, size_t at)
{
	at++;
	while (at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80)
		at++;
	return at;
}

static size_t word_end(struct slice text, size_t at)
{
	while (at < text.n && is_word(text.p[at]))
		at++;
	return at;
}

static struct token reference(struct slice text, size_t at, enum token_type type)
{
	size_t end = word_end(text, at + 1);

	return (struct token){ end == at + 1 ? TOKEN_OTHER : type, at, end };
}

static struct token number(struct slice text, size_t at)
{
	size_t end = at + 1;

	if (text.p[at] != '0')
		while (end < text.n && is_digit(text.p[end]))
			end++;
	return (struct token){ TOKEN_NUMBER, at, end };
}

static struct token comparison(struct slice text, size_t at)
{
	char second = at + 1 < text.n ? text.p[at + 1] : '\0';

	if (text.p[at] == '<' && second == '>')
		return (struct token){ TOKEN_NE, at, at + 2 };
	if (text.p[at] == '<' && second == '=')
		return (struct token){ TOKEN_LE, at, at + 2 };
	if (text.p[at] == '>' && second == '=')
		return (struct token){ TOKEN_GE, at, at + 2 };
	return (struct token){ text.p[at] == '<' ? TOKEN_LT : TOKEN_GT, at, at + 1 };
}

static enum token_type punctuation(char c)
{
	switch (c) {
	case '(': return TOKEN_OPEN;
	case ')': return TOKEN_CLOSE;
	case ',': return TOKEN_COMMA;
	case '.': return TOKEN_DOT;
	case '[': return TOKEN_LBRACKET;
	case ']': return TOKEN_RBRACKET;
	case '+': return TOKEN_PLUS;
	case '-': return TOKEN_MINUS;
	case '=': return TOKEN_EQ;
	default: return TOKEN_OTHER;
	}
}

struct token lexer_next(struct slice text, size_t at)
{
	char c;

	while (at < text.n && is_space(text.p[at]))
		at++;
	if (at >= text.n)
		return (struct token){ TOKEN_EOF, text.n, text.n };
	c = text.p[at];
	if (is_letter(c)) {
		size_t end = word_end(text, at);

		return (struct token){ keyword(text.p + at, end - at), at, end };
	}
	if (c == '#')
		return reference(text, at, TOKEN_NAME_REF);
	if (c == ':')
		return reference(text, at, TOKEN_VALUE_REF);
	if (is_digit(c))
		return number(text, at);
	if (c == '<' || c == '>')
		return comparison(text, at);
	return (struct token){ punctuation(c), at, character_end(text, at) };
}
