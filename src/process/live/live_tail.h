/* The end of a stream that is elsewhere: its changes from now on.
 *
 * Sequence numbers of DynamoDB say nothing across shards, and nobody says which was committed last. So each shard is read from
 * its end on, and a change gets a number of this server's own when it is read: changes of one item stay in their order, those of
 * different items may change places. The numbers mean nothing to another server, nor after a restart: a watcher that comes with
 * one reads its list again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_TAIL_H
#define THORPE_PROCESS_LIVE_TAIL_H

#include "process/live/live_internal.h"

struct live_tail; /* of one thread */
struct live_tail *live_tail_new(void); /* NULL: memory */
void live_tail_free(struct live_tail *t); /* NULL is fine */

/* From the end of every shard on; what was known is forgotten. */
bool live_tail_start(struct live_tail *t, struct run *r) MUST_CHECK;
/* What has come since, numbered from `from` + 1 on; out->upto is the number of the last. False: run->problem; start again, for
 * something may have been missed. */
bool live_tail_read(struct live_tail *t, struct run *r, uint64_t from, struct live_round *out) MUST_CHECK;
/* A number to begin with: higher than those of servers before this one. */
uint64_t live_tail_first(int64_t now_ms);

#endif
