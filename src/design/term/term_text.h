/* Text as terms and templates see it: characters, case, words and slugs.
 *
 * Strings are UTF-8; what is not counts as one character a byte and comes out as it went in. Case
 * is known for the alphabets that have one (Latin, Greek, Cyrillic, Armenian), one character for
 * one, whatever the locale.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_TEXT_H
#define THORPE_DESIGN_TERM_TERM_TEXT_H

#include "base/buf.h"

bool text_is_utf8(struct slice s);
/* How many characters. */
size_t text_count(struct slice s);
/* The first `n` characters. */
struct slice text_first(struct slice s, size_t n);

struct slice text_lower(struct arena *a, struct slice s);
struct slice text_upper(struct arena *a, struct slice s);
/* For addresses: "Crème brûlée, twice!" gives "creme-brulee-twice". Letters and digits in lower
 * case, Latin ones without their accents (also those written as characters of their own), and single
 * hyphens between them; may be empty. */
struct slice text_slug(struct arena *a, struct slice s);

/* Letters and digits of any alphabet, and the characters of `also`, only. Accents as characters of their own are none, so
 * that what passes is written in one way (NFC) in the alphabets that have composed letters. */
bool text_is_letters(struct slice s, const char *also);
/* Whether there is something that nobody sees or that looks like something else: controls, characters of no width, those that
 * change the direction, spaces other than ' '. What is no UTF-8 counts, too. */
bool text_has_unseen(struct slice s);

/* The next word of *rest, which moves behind it: a run of letters and digits, in lower case,
 * without apostrophes. False: there is none. */
bool text_word(struct arena *a, struct slice *rest, struct slice *word);
/* Words that say nothing about what a text is about: the, of, and… */
bool text_is_stop_word(struct slice word);

#endif
