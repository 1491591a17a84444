/* Which shards a consumer reads: a seat for each, taken and given up as the stream's list of shards changes.
 *
 * Invariants
 *   H1  A shard gets its seat when the one it was made from has ended for this consumer: here, elsewhere (another server
 *       has read it), or because the stream lists it no longer.
 *   H2  A seat whose thread is through goes, unless its shard has ended and is still listed: those made from it wait for that.
 *   H3  Seats come and go on one thread. Others may walk the list under `lock`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_TAIL_SHARDS_H
#define THORPE_PROCESS_TAIL_SHARDS_H

#include <pthread.h>
#include <stdatomic.h>
#include "process/tail/change.h"

/* the first member of what the consumer keeps for a shard */
struct seat {
	struct seat *next;
	const char *shard;    /* the consumer's; as long as the seat */
	atomic_bool finished; /* its thread is through */
	atomic_bool ended;    /* so is the shard */
};

struct seats {
	struct seat *first;
	pthread_mutex_t *lock; /* H3; NULL: nobody else looks */
	void *ctx;
	/* Makes one and starts it. NULL: not now; it is tried again with the next list. */
	struct seat *(*begin)(void *ctx, struct run *r, const struct shard_list *list, const struct shard *s);
	void (*free)(struct seat *s); /* waits for its thread */
	/* Where several servers share the shards; NULL: all are ours. */
	bool (*is_ours)(void *ctx, struct slice shard);
	bool (*has_ended_elsewhere)(void *ctx, struct run *r, struct slice shard);
};

struct seat *seats_find(const struct seats *s, struct slice shard); /* NULL: none */
/* Takes and gives up seats by the list. Whether every shard that is ours has one. */
bool seats_follow(struct seats *s, struct run *r, const struct shard_list *list);
/* Whether a thread is through since: it is time to look at the list again. */
bool seats_want_list(const struct seats *s);
/* Gives up all, waiting for their threads. */
void seats_clear(struct seats *s);

#endif
