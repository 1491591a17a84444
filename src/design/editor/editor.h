/* What an editor asks of a text that is to become a design: which words may stand somewhere, and what one is for.
 *
 * Nothing here parses YAML. A place is found by indentation and by the braces of its own line, so the answers are
 * right for a text that is half written, and only fewer for one that is written in an unusual way (a map in braces
 * over several lines). Never an error: a place of which nothing is known has no words.
 *
 * Places are bytes from the start of the text, from 0 to its length. What is returned lives in the arena, and points
 * into the text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_EDITOR_EDITOR_H
#define THORPE_DESIGN_EDITOR_EDITOR_H

#include "base/buf.h"

enum editor_kind {
	EDITOR_WORD,   /* of the language */
	EDITOR_CHOICE, /* a value that is one of several */
	EDITOR_NAME,   /* something that the text declares */
	EDITOR_CALL,   /* a function of terms */
};

struct editor_word {
	enum editor_kind kind;
	struct slice name;
	struct slice what; /* for people; may be empty */
};

struct editor_words {
	struct arena *arena;
	struct editor_word *list;
	size_t count, room;
	size_t from;   /* where the word begins that is being written at the place; the words are to replace it */
	bool are_keys; /* the words are followed by ':' */
};

/* The words that may stand at the place. */
struct editor_words editor_words(struct arena *a, struct slice text, size_t at);

/* What the word around the place is for; empty: nothing is known. *from and *to are its bytes. */
struct slice editor_what(struct arena *a, struct slice text, size_t at, size_t *from, size_t *to);

#endif
