/* The head of a reply, and gzip and checksum of its body. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_REPLY_H
#define THORPE_HTTP_CONNECTION_REPLY_H

#include "http/connection/exchange.h"

#define REPLY_JSON SLICE("application/x-amz-json-1.0")

/* Sets head and body of the exchange. `headers`: further lines, each ended by CRLF, or empty. */
void reply_make(struct exchange *ex, int status, struct slice type, struct slice body, struct slice headers);
/* The head of a stream, which lasts as long as the connection. */
void reply_make_stream(struct exchange *ex, struct slice type, struct slice body, struct slice headers);
/* The reply to an invalid request. */
void reply_refusal(struct exchange *ex, int status, const char *why);
/* An error in the form of the request's route: problem+json, or DynamoDB's. `headers` as in reply_make(). */
void reply_denial(struct exchange *ex, int status, const char *why, struct slice headers);

#endif
