/* The stored form of a `compressed` attribute: a binary with its JSON in gzip, so that any reader of the stream can
 * inflate it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_PACKED_H
#define THORPE_APP_ENTITY_PACKED_H

#include "value/value.h"

/* Limits of the JSON text. A list may show a thousand of them, so writes are limited to less than reads accept. */
#define PACKED_MOST_IN  (1 << 20)
#define PACKED_MOST_OUT (4 << 20)

/* Returns a B. The same text always gives the same bytes. */
struct value packed_make(struct arena *a, struct slice json);
/* Appends the JSON that a B was made from. False, with nothing appended: it is not gzip, too large, or no JSON. */
bool packed_write(struct buf *b, struct value v) MUST_CHECK;

#endif
