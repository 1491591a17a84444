/* Parses a plain request in one pass (request.c tries it before http-parser). SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_PARSE_REQUEST_PLAIN_H
#define THORPE_HTTP_PARSE_REQUEST_PLAIN_H

#include "http/parse/request.h"

#define REQUEST_PLAIN_HEADERS 32          /* SDKs send some twelve */
#define REQUEST_PLAIN_BYTES   (16 * 1024) /* of input: http-parser takes longer ones, without copying first */

/* True: `req`, just begun, is complete, and *used bytes were used. False: nothing was used or changed. */
bool request_take_plain(struct http_request *req, const struct http_limits *l, const char *bytes, size_t n,
			size_t *used);

#endif
