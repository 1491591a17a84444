/* Sends changes to receivers: webhooks and OpenSearch. docs/webhooks.md is the manual for receivers.
 *
 * Each `send` processor has its own threads and positions (send_run.h), so a slow or broken receiver delays nothing
 * else. Changes of an item arrive in order (a shard's changes go out one after the other, several shards in parallel),
 * at least once: a receiver recognises repetitions by Thorpe-Id.
 *
 * Webhook: POST of {"id","design","processor","event","entity","time","key","old","new"} (items as plain JSON; hidden and
 * private attributes are left out), headers Thorpe-Id, Thorpe-Timestamp and Thorpe-Signature: v1=<hex HMAC-SHA256 of
 * "timestamp.body"> under the processor's `secret`, else the design's webhook secret (derived from the app's; `thorpe
 * token --webhook-secret` prints it). 2xx is taken; 410 parks at once; anything else is tried again: 1, 2, 4 … 300 s,
 * 12 times, then parked.
 *
 * OpenSearch: _bulk with stable ids (the item's path, else its key) and the change's sequence as external version, so
 * a late retry never overwrites newer data; index/delete by event; per-item errors 429/5xx are tried again, others
 * parked. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_H
#define THORPE_PROCESS_SEND_H

#include <stdatomic.h>
#include "process/checkpoint.h"

enum send_end { SEND_TAKEN, SEND_AGAIN, SEND_REFUSED /* parks */ };

/* Whether the processor sends: it has an address. */
bool send_is_needed(const struct processor *p);

struct sender; /* a connection and its secret; one thread */
/* `stop` may be NULL; once it is true requests are given up after a second. NULL: memory, or a bad address. */
struct sender *sender_new(const struct processor *p, const struct app *app, const atomic_bool *stop);
void sender_free(struct sender *s);
/* How many changes one request can take: 1, or for OpenSearch SEND_BULK_MOST. */
size_t sender_most(const struct sender *s);
#define SEND_BULK_MOST  500
#define SEND_BULK_BYTES (5 * 1024 * 1024)
/* Sends one request with as many of the changes as fit; returns how many, at least 1. Sets ends[i] and why[i] (empty
 * when taken; for the log and for parking) for each of them. Blocks for at most 10 s. Leaves the run's problem
 * alone. */
size_t sender_send(struct sender *s, struct run *r, const struct change *const *list, size_t n, enum send_end *ends,
		   struct slice *why);
/* The last reply's Retry-After in seconds, at most 300; 0: it had none. */
int64_t sender_retry_after(const struct sender *s);

/* Sends one parked change again, now. True: taken. False: BUSY, with the reason. */
bool send_parked(struct run *r, const struct processor *p, const struct parked *parked) MUST_CHECK;

/* The design's webhook secret; the bytes of the text are the key. */
#define SEND_SECRET_PREFIX "whsec_"
struct slice send_secret(struct arena *a, struct slice design, const uint8_t secret[CALLER_SECRET_BYTES]);

#endif
