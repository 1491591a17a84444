/* Watched lists over HTTP: a stream for each watcher, fed by its application's hub (process/live/live.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_REST_LIVE_H
#define THORPE_HTTP_SERVE_REST_LIVE_H

#include "app/app.h"
#include "http/connection/sse.h"

struct live;

/* On the loop's thread. `last_event_id` is copied. NULL: memory. */
struct sse *rest_live_new(struct live *live, struct loop *l, struct slice last_event_id);
/* For app_request.watcher: makes the stream watch the requested list. On a worker, while an exchange owns the stream.
 * */
struct app_watcher *rest_live_watcher(struct sse *s);
/* Whether the reply to that request is the beginning of a stream. */
bool rest_live_is_stream(const struct app_reply *reply);

#endif
