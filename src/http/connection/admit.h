/* The checks before a request's body is read: its length, whether the connection may make this request, and every
 * part of the signature that does not need the body.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_ADMIT_H
#define THORPE_HTTP_CONNECTION_ADMIT_H

#include "http/parse/request.h"

struct conn;
struct exchange;

/* The gate of the connection's parser. */
struct request_gate admit_gate(struct conn *c);
/* Sent to a connection on the reserve (connection.h) that requests a row without ROUTE_RESERVED. */
#define ADMIT_FULL "The server has no connection left for this request."

/* The request draws on the budget of all requests from here on. False: refused, with the status and text of
 * admit_refusal(). */
bool admit_memory(struct exchange *ex) MUST_CHECK;
/* The status of a refusal by the budget, and *why; 0: not refused. */
int admit_refusal(const struct exchange *ex, const char **why);

#endif
