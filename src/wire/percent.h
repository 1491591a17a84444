/* Percent-encoding (RFC 3986) of parts of addresses and of forms.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_PERCENT_H
#define THORPE_WIRE_PERCENT_H

#include "base/buf.h"

/* Escapes everything except letters, digits and -_.~ */
void percent_encode(struct buf *b, struct slice s);
/* Malformed escapes are left unchanged. Returns `s` itself if it has no escape. */
struct slice percent_decode(struct arena *a, struct slice s);
/* Whether each % has two hexadecimal digits after it. */
bool percent_is_valid(struct slice s);
/* The value of a hexadecimal digit; -1: it is none. */
int percent_digit(char c);

#endif
