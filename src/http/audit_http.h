/* What the HTTP server itself tells the audit log (base/audit.h); what applications tell is app/'s. On the loop's thread, while
 * the exchange has its request; each is quick to do nothing when there is no audit log.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_AUDIT_HTTP_H
#define THORPE_HTTP_AUDIT_HTTP_H

#include "base/audit.h"
#include "http/exchange.h"

/* A request that was refused before a handler saw it: a signature that is missing or wrong, a page of another origin. */
void audit_refused_request(struct exchange *ex, int status, struct slice why);
/* An operator begins to use the console. */
void audit_console_session(struct exchange *ex);
/* The api has answered: operations that change tables, not items, are operators' actions. */
void audit_api_call(struct exchange *ex);

#endif
