/* Health checks: need no key, and read only memory.
 *
 *   /healthz  liveness: 200 while the process can do its work. 503 when only a restart or an operator helps: damaged data was found, or the disk failed.
 *   /readyz   readiness: 200 while requests of all kinds are taken. 503 also while it stops, and while a full disk refuses writes, which ends by itself.
 *
 * The body is "ok", or one line that says why not, without paths.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_HEALTH_H
#define THORPE_HTTP_SERVE_HEALTH_H

#include "http/connection/exchange.h"

void health_handle_live(struct exchange *ex, void *ctx);
void health_handle_ready(struct exchange *ex, void *ctx);

#endif
