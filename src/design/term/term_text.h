/* Text in terms and templates: characters, case, words and slugs.
 *
 * Strings are UTF-8; a byte that is not counts as one character and is passed through. Case is mapped character by
 * character for Latin, Greek, Cyrillic and Armenian, independent of the locale.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_TEXT_H
#define THORPE_DESIGN_TERM_TERM_TEXT_H

#include "base/buf.h"

bool text_is_utf8(struct slice s);
/* The number of characters. */
size_t text_count(struct slice s);
/* The first `n` characters. */
struct slice text_first(struct slice s, size_t n);

struct slice text_lower(struct arena *a, struct slice s);
struct slice text_upper(struct arena *a, struct slice s);
/* For addresses: "Crème brûlée, twice!" becomes "creme-brulee-twice": letters and digits in lower case, Latin ones
 * without accents (also combining ones), with single hyphens between them. May be empty. */
struct slice text_slug(struct arena *a, struct slice s);

/* Whether it has only letters and digits of any alphabet, and characters of `also`. Combining accents are refused, so
 * that a text has one spelling (NFC) in alphabets with composed letters. */
bool text_is_letters(struct slice s, const char *also);
/* Whether it has invisible or misleading characters: controls, zero-width characters, direction marks, spaces other
 * than ' ', or bytes that are not UTF-8. */
bool text_has_unseen(struct slice s);

/* The next word of *rest, which moves past it: a run of letters and digits, in lower case, without apostrophes. False:
 * there is none. */
bool text_word(struct arena *a, struct slice *rest, struct slice *word);
/* Words that do not say what a text is about: the, of, and… */
bool text_is_stop_word(struct slice word);

#endif
