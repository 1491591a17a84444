/* What the three grammars share: tokens, nodes, paths, operands and calls. Recursive descent.
 *
 * Each function returns the number of its node, or 0 after an error. Only the first error is kept.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PARSER_H
#define THORPE_EXPR_PARSER_H

#include "expr/lexer.h"
#include "expr/tree.h"

struct parser {
	struct arena *arena;
	struct error *e;
	const char *label;
	struct slice text;
	struct token before, now, after;
	struct node *nodes;
	size_t count, room;
	unsigned operators;
	int depth;
	bool failed;
};

void parser_advance(struct parser *p);
/* Skips a token of this type; otherwise a syntax error. */
bool parser_expect(struct parser *p, enum token_type type);
/* "Syntax error" at the current token. Returns 0. */
unsigned parser_syntax_error(struct parser *p);
/* For parentheses around nothing but parentheses. Takes precedence over later errors. Returns 0. */
unsigned parser_redundant(struct parser *p);
/* Enters one more level of nesting: false, with an error, if there are too many. */
bool parser_enter(struct parser *p);
void parser_leave(struct parser *p);

/* A node for the current token; does not advance. */
unsigned parser_node(struct parser *p, enum node_kind kind);
/* Appends to the list that starts at *first and ends at *last (both 0 when empty). */
void parser_append(struct parser *p, uint16_t *first, uint16_t *last, unsigned node);
/* `child` followed by `next` (0: nothing) under a new node of `kind`. */
unsigned parser_join(struct parser *p, enum node_kind kind, unsigned child, unsigned next);

unsigned parser_path(struct parser *p);
/* A path, value or call. */
unsigned parser_operand(struct parser *p);
/* The same, optionally in parentheses; sets *parens accordingly. */
unsigned parser_operand_parens(struct parser *p, bool *parens);
/* operand, operand, … ): the first of them, linked; skips the closing parenthesis. */
unsigned parser_operands(struct parser *p);

unsigned parse_condition(struct parser *p);
unsigned parse_update(struct parser *p);
unsigned parse_projection(struct parser *p);

#endif
