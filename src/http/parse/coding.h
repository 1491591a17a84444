/* Content codings: which of the supported ones a client prefers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_CODING_H
#define THORPE_HTTP_PARSE_CODING_H

#include "base/slice.h"

enum coding { CODING_NONE, CODING_GZIP, CODING_DEFLATE };

/* As in Content-Encoding; "identity" for CODING_NONE. */
struct slice coding_name(enum coding c);
/* Parses a Content-Encoding; absent: CODING_NONE. False: not supported. */
bool coding_parse(struct slice content_encoding, enum coding *out);
/* The best coding of an Accept-Encoding, as DynamoDB reads it: by weight; named ones before those matched by "*";
 * then in order. A weight that is not a number, or above 1, is 1. Identity is chosen only if no other coding is
 * acceptable. */
enum coding coding_chosen(struct slice accept_encoding);

#endif
