/* Strict base64: padded, standard alphabet, no spaces, no stray bits after the last byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_BASE64_H
#define THORPE_VALUE_BASE64_H

#include "base/buf.h"
#include "base/error.h"

/* Decodes `s`, whose length is a multiple of four, into out[s.n / 4 * 3]. */
bool base64_decode(struct slice s, uint8_t *out, size_t *n) MUST_CHECK;

/* base64url: '-' and '_' for '+' and '/', no padding (RFC 4648, 5). Decodes into the arena. */
void base64url_put(struct buf *b, struct slice bytes);
bool base64url_decode(struct arena *a, struct slice text, struct slice *out) MUST_CHECK;

#endif
