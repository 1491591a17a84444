/* What the HTTP server itself tells the audit log (base/audit.h); events of applications are app/'s. On the loop's
 * thread, while the exchange has its request. Without an audit log each is one comparison.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_AUDIT_HTTP_H
#define THORPE_HTTP_CONNECTION_AUDIT_HTTP_H

#include "base/audit.h"
#include "http/connection/exchange.h"

/* A request that was refused before a handler saw it: a missing or wrong signature, a page of another origin. */
void audit_refused_request(struct exchange *ex, int status, struct slice why);
/* An operator begins to use the console. */
void audit_console_session(struct exchange *ex);
/* An operator has changed something of the server by a request that is not DynamoDB's. */
void audit_operator_request(struct exchange *ex, int status);
/* The api has answered: operations that change tables, not items, are operators' actions. */
void audit_api_call(struct exchange *ex);

#endif
