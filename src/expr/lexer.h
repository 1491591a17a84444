/* Tokens of an expression's text, one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_LEXER_H
#define THORPE_EXPR_LEXER_H

#include "base/slice.h"

enum token_type {
	TOKEN_EOF,
	TOKEN_NAME,      /* letter, then letters, digits, _ */
	TOKEN_NAME_REF,  /* #… */
	TOKEN_VALUE_REF, /* :… */
	TOKEN_NUMBER,    /* without leading zeros */
	TOKEN_EQ,
	TOKEN_NE,
	TOKEN_LT,
	TOKEN_LE,
	TOKEN_GT,
	TOKEN_GE,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_DOT,
	TOKEN_LBRACKET,
	TOKEN_RBRACKET,
	TOKEN_PLUS,
	TOKEN_MINUS,
	/* Keywords, in any case, wherever a name is possible. */
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_BETWEEN,
	TOKEN_IN,
	TOKEN_SET,
	TOKEN_REMOVE,
	TOKEN_ADD,
	TOKEN_DELETE,
	TOKEN_OTHER, /* one character that starts no token */
};

struct token {
	enum token_type type;
	size_t at, end; /* in the text; both its length for EOF */
};

/* The token at or after `at`. */
struct token lexer_next(struct slice text, size_t at);

#endif
