/* Patterns of texts: PCRE2, bounded.
 *
 * A pattern is compiled once, when the design is loaded, and covers the whole text: 'a+' does not match 'xa'. Texts
 * are UTF-8. \d, \w and \s are ASCII, as in JSON Schema; \p{L} is any letter. Matching takes a bounded number of steps
 * and bytes, whatever the pattern and the text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_REGEX_H
#define THORPE_DESIGN_TERM_REGEX_H

#include "base/arena.h"

#define REGEX_MOST 1000 /* bytes of a pattern */

struct regex;

/* Compiles it; lives as long as the arena. NULL: *why says what is wrong, at byte *at. */
const struct regex *regex_compile(struct arena *a, struct slice text, const char **why, size_t *at);
struct slice regex_text(const struct regex *x);

enum regex_result { REGEX_NO, REGEX_YES, REGEX_UNDECIDED /* it took too many steps, or too much memory */ };
/* Any thread. */
enum regex_result regex_match(const struct regex *x, struct slice text);

/* Whether JavaScript, and so JSON Schema, reads the pattern in the same way. */
bool regex_is_portable(const struct regex *x);

#endif
