/* JSON as text, for printing it as it came: no number loses a digit. The text must be valid (json_parse() it first).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_JSON_TEXT_H
#define THORPE_CLI_JSON_TEXT_H

#include "base/buf.h"

/* Appends the value indented by two spaces a level, every further line after `margin` spaces. What is short and holds
 * no other lists stays on one line. */
void json_text_indent(struct buf *b, struct slice text, size_t margin);
/* The value of an object's member as it is written; empty when there is none. `name` has nothing to be escaped. */
struct slice json_text_member(struct slice object, const char *name);
/* The next element of an array, *at being 0 before the first; false after the last. */
bool json_text_next(struct slice array, size_t *at, struct slice *element);

#endif
