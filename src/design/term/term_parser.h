/* Shared by the files of the grammar: the current token, findings and nodes. tp: term parser.
 *
 * A parsing function returns NULL, with a finding, after an error. Only the first error of a term is reported, since
 * later ones are often its consequence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_PARSER_H
#define THORPE_DESIGN_TERM_TERM_PARSER_H

#include "design/term/term_parts.h"
#include "design/term/term_lex.h"

struct term_parser {
	struct arena *arena;
	struct findings *findings;
	struct slice text;
	struct place place;
	struct term_token now;
	size_t last_end; /* where the previous token ends */
	int depth, nodes;
};

/* ---- tokens ---- */
struct slice tp_token_text(const struct term_parser *p);
void tp_advance(struct term_parser *p);
bool tp_is_token(const struct term_parser *p, enum term_token_type type);
bool tp_is_word(const struct term_parser *p, const char *word);
/* Each skips the current token when it is this one. */
bool tp_skip(struct term_parser *p, enum term_token_type type);
bool tp_skip_word(struct term_parser *p, const char *word);
/* The token after the current one. */
struct term_token tp_peek(const struct term_parser *p);

/* ---- findings ---- */
/* `wanted` was expected instead of the current token. `repair` may be NULL. Returns NULL. */
const struct term *tp_refuse(struct term_parser *p, const char *wanted, const char *repair);
/* Something is wrong between `at` and the current token. Returns NULL. */
const struct term *tp_refuse_from(struct term_parser *p, const char *rule, size_t at, struct slice message,
				  struct slice repair);

/* ---- nodes ---- */
/* Goes one level deeper; false, with a finding, when there are too many. p->depth-- goes back. */
bool tp_enter(struct term_parser *p);
/* A node that covers the text from `at` to the current token. */
struct term *tp_make(struct term_parser *p, enum term_kind kind, size_t at);
/* The same with arguments. NULL when one of `args` is (it has been reported), or when there are too many terms. */
const struct term *tp_join(struct term_parser *p, enum term_kind kind, size_t at, const struct term *const *args,
			   size_t n);
/* term { "," term } ")", after the opening parenthesis. `empty`: the list may be empty; `first` (or NULL) becomes its
 * first term. */
bool tp_parse_list(struct term_parser *p, const struct term *(*parse)(struct term_parser *), bool empty,
		   const struct term *first, const struct term ***out, size_t *count);

/* ---- rules ---- */
const struct term *tp_parse_or(struct term_parser *p);
const struct term *tp_parse_primary(struct term_parser *p);
const struct term *tp_parse_string(struct term_parser *p);

#endif
