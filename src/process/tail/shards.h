/* The shards that a consumer reads: it has a seat for each. Seats come and go with the stream's list of shards.
 *
 * Invariants
 *   H1  A shard gets its seat when its parent has ended for this consumer: here, elsewhere (another server has read
 *       it), or because the stream no longer lists it. A consumer with several positions in a shard (`unordered`) gets
 *       all seats, and keeps the order for each position by itself.
 *   H2  A seat whose thread has finished is removed, unless its shard has ended and is still listed: its children wait
 *       for that.
 *   H3  Seats come and go on one thread. Other threads may walk the list under `lock`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_TAIL_SHARDS_H
#define THORPE_PROCESS_TAIL_SHARDS_H

#include <pthread.h>
#include <stdatomic.h>
#include "process/tail/change.h"

/* the first member of the consumer's struct for a shard */
struct seat {
	struct seat *next;
	const char *shard;    /* the consumer's; lives as long as the seat */
	atomic_bool finished; /* its thread has */
	atomic_bool ended;    /* the shard has */
};

struct seats {
	struct seat *first;
	pthread_mutex_t *lock; /* H3; NULL: no other thread looks */
	bool unordered;        /* H1 */
	void *ctx;
	/* Makes a seat and starts it. NULL: not now; the next list tries again. */
	struct seat *(*begin)(void *ctx, struct run *r, const struct shard_list *list, const struct shard *s);
	void (*free)(struct seat *s); /* waits for its thread */
	/* Where several servers share the shards; NULL: all are ours. */
	bool (*is_ours)(void *ctx, struct slice shard);
	bool (*has_ended_elsewhere)(void *ctx, struct run *r, struct slice shard);
};

/* Sorts the list: parents before their children. */
void shards_order(struct shard_list *list, struct arena *a);

struct seat *seats_find(const struct seats *s, struct slice shard); /* NULL: none */
/* Adds and removes seats by the list. Returns whether every shard of ours has one. */
bool seats_follow(struct seats *s, struct run *r, const struct shard_list *list);
/* Whether a thread has finished since: time to read the list again. */
bool seats_want_list(const struct seats *s);
/* Removes all, waiting for their threads. */
void seats_clear(struct seats *s);

#endif
