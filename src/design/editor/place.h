/* Where in a design a byte of its text is: the names of the maps around it. Private to design/editor.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_EDITOR_PLACE_H
#define THORPE_DESIGN_EDITOR_PLACE_H

#include "base/buf.h"

#define PLACE_DEPTH_MOST 32

struct editor_place {
	struct slice path[PLACE_DEPTH_MOST]; /* the names of the maps around it, outermost first; lists have none */
	size_t depth;
	bool is_value;     /* it is in the value of a name, which is the last of the path */
	bool is_comment;   /* nothing can stand there */
	size_t value_from; /* where that value begins */
};

struct editor_place editor_place(struct slice text, size_t at);

/* Calls `fn` for each name in the text that stands in a map of its own line's or of an outer block, with what stands
 * after its ':' in the line and its path, itself last. Stops when `fn` returns false. */
typedef bool editor_name_fn(void *ctx, const struct slice *path, size_t depth, struct slice value);
void editor_each_name(struct slice text, editor_name_fn *fn, void *ctx);

/* The letters, digits and '_' around a byte; *from == *to: there are none. `spaces`: single spaces belong to it. */
void editor_word_around(struct slice text, size_t at, size_t *from, size_t *to);

#endif
