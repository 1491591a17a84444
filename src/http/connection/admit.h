/* What is judged before a request's body is read: how long it may be, whether the connection may ask for that, and everything
 * of its signature that does not need the body.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_ADMIT_H
#define THORPE_HTTP_CONNECTION_ADMIT_H

#include "http/parse/request.h"

struct conn;
struct exchange;

/* The gate of the connection's parser. */
struct request_gate admit_gate(struct conn *c);
/* To a connection on the reserve (connection.h) that asks for a row without ROUTE_RESERVED. */
#define ADMIT_FULL "The server has no connection left for this."

/* The request draws on the budget of all requests from here on. False: refused, with the status and words of admit_refusal(). */
bool admit_memory(struct exchange *ex) MUST_CHECK;
/* Why the budget refused; 0: it did not. */
int admit_refusal(const struct exchange *ex, const char **why);

#endif
