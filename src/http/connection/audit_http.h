/* The HTTP server's own events for the audit log (base/audit.h); app/ writes those of applications. Called on the
 * loop's thread, while the exchange has its request. Without an audit log each costs one comparison.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_AUDIT_HTTP_H
#define THORPE_HTTP_CONNECTION_AUDIT_HTTP_H

#include "base/audit.h"
#include "http/connection/exchange.h"

/* A request refused before reaching a handler: a missing or wrong signature, a page of another origin. */
void audit_refused_request(struct exchange *ex, int status, struct slice why);
/* An operator starts a console session. */
void audit_console_session(struct exchange *ex);
/* An operator has changed the server by a request outside DynamoDB's API. */
void audit_operator_request(struct exchange *ex, int status);
/* After the api's reply: operations that change tables, not items, are operators' actions. */
void audit_api_call(struct exchange *ex);

#endif
