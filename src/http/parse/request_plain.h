/* A request that is plain, taken in one go (request.c uses it before it asks http-parser).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_REQUEST_PLAIN_H
#define THORPE_HTTP_PARSE_REQUEST_PLAIN_H

#include "http/parse/request.h"

#define REQUEST_PLAIN_HEADERS 32          /* SDKs send some twelve */
#define REQUEST_PLAIN_BYTES   (16 * 1024) /* of input: more is left to http-parser, which does not copy it first */

/* True: `req`, just begun, is complete, and *used of the bytes are. False: it is as it was, and nothing has been used. */
bool request_take_plain(struct http_request *req, const struct http_limits *l, const char *bytes, size_t n,
			size_t *used);

#endif
