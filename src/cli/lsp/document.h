/* The files that are open in the editor, and places in them.
 *
 * An editor counts lines from 0, and in a line UTF-16 code units; the loader counts both from 1, and characters.
 *
 * Invariant D1: a document owns its memory; changing or closing it returns what it had.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_LSP_DOCUMENT_H
#define THORPE_CLI_LSP_DOCUMENT_H

#include "base/slice.h"
#include "design/source/source.h"

#define DOCUMENTS_MOST 256

struct document {
	struct slice uri, text; /* allocated */
	int64_t version;
	bool changed; /* its findings have not been sent */
};

struct documents {
	struct document list[DOCUMENTS_MOST];
	size_t count;
};

/* NULL: it is not open. */
struct document *documents_find(struct documents *d, struct slice uri);
/* Opens it, or gives it another text. False: there is no memory, or there are too many. */
bool documents_set(struct documents *d, struct slice uri, struct slice text, int64_t version);
void documents_close(struct documents *d, struct document *x);
void documents_release(struct documents *d);

/* as editors count */
struct position {
	int64_t line, character;
};

/* The byte at a position; one beyond the line or the text is its end. */
size_t position_to_byte(struct slice text, struct position p);
struct position position_of_byte(struct slice text, size_t at);
/* The bytes of a place; those of the first line when it is nowhere. */
void place_to_bytes(struct slice text, struct place p, size_t *from, size_t *to);

#endif
