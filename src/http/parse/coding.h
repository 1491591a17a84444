/* Content codings: which of those we speak a client would like best.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_CODING_H
#define THORPE_HTTP_PARSE_CODING_H

#include "base/slice.h"

enum coding { CODING_NONE, CODING_GZIP, CODING_DEFLATE };

/* As in Content-Encoding; "identity" for CODING_NONE. */
struct slice coding_name(enum coding c);
/* A Content-Encoding; none is CODING_NONE. False: one we do not speak. */
bool coding_parse(struct slice content_encoding, enum coding *out);
/* The best of an Accept-Encoding as DynamoDB reads it: by weight, what is named before what "*"
 * stands for, then in their order; a weight that is no number is 1, and above 1 too. Identity is
 * taken only when nothing else is. */
enum coding coding_chosen(struct slice accept_encoding);

#endif
