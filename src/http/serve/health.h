/* Health checks: need no key and read only memory.
 *
 *   /healthz  liveness: 200 while the process can work. 503 if only a restart or an operator helps: damaged data, or a
 *             failed disk.
 *   /readyz   readiness: 200 while all kinds of requests are accepted. 503 also while it stops, and while a full disk
 *             refuses writes (which can end without a restart), or a remote database does not answer.
 *
 * The body is "ok", or one line that says why not, without paths.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_HEALTH_H
#define THORPE_HTTP_SERVE_HEALTH_H

#include "http/connection/exchange.h"

void health_handle_live(struct exchange *ex, void *ctx);
void health_handle_ready(struct exchange *ex, void *ctx);

#endif
