/* Tokens of a term's text, one at a time, and the characters of names. For term/ and load/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_LEX_H
#define THORPE_DESIGN_TERM_TERM_LEX_H

#include "design/source/source.h"

enum term_token_type {
	TOK_END,
	TOK_NAME,   /* letter or _, then also digits */
	TOK_NUMBER, /* 12, 12.5, 1e9 */
	TOK_STRING, /* with its quotes */
	TOK_EQ,
	TOK_NE,
	TOK_LT,
	TOK_LE,
	TOK_GT,
	TOK_GE,
	TOK_PLUS,
	TOK_MINUS,
	TOK_STAR,
	TOK_SLASH,
	TOK_OPEN,
	TOK_CLOSE,
	TOK_COMMA,
	TOK_DOT,
	TOK_ELEMENT, /* [0], right after a name or another one */
	TOK_BAD,     /* `wrong` says what it is, `repair` what to write instead (or NULL) */
};

struct term_token {
	enum term_token_type type;
	size_t at, end; /* in the text */
	const char *wrong, *repair;
};

static inline bool lex_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static inline bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool lex_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
/* A letter of any alphabet, or _. */
static inline bool lex_is_name_start(char c)
{
	return lex_is_letter(c) || c == '_' || (c & 0x80);
}
static inline bool lex_is_name(char c)
{
	return lex_is_name_start(c) || lex_is_digit(c);
}

/* The token at or after `at`. */
struct term_token term_lex(struct slice text, size_t at);
/* Whether it is the word, in any case (ASCII). */
bool term_word_is(struct slice s, const char *word);
/* The place of bytes [at, end) of a text that begins at `p`; lines and columns count characters. */
struct place term_place(struct slice text, struct place p, size_t at, size_t end);

/* The end of [0] at `at`, right after a name or another one; 0: it is none. */
size_t lex_element(struct slice text, size_t at);
#define LEX_ELEMENT_DIGITS 5

#endif
