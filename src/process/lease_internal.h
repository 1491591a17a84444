/* Inside of lease.h. For lease*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LEASE_INTERNAL_H
#define THORPE_PROCESS_LEASE_INTERNAL_H

#include <pthread.h>
#include "base/ulid.h"
#include "process/lease.h"

/* another server, as this one sees it */
struct seen {
	struct seen *next;
	char id[ULID_LENGTH + 1], beat[24];
	int64_t changed_us;
	bool listed;   /* in the last round */
	bool lives;    /* alive as of that round */
	size_t shards; /* that it owned then */
	char *told;    /* lease_tell(); NULL: nothing */
	char address[LEASE_ADDRESS_ROOM];
};

struct leases {
	char id[ULID_LENGTH + 1];
	uint64_t beats;
	char *told;                       /* what this server tells; NULL: nothing */
	char address[LEASE_ADDRESS_ROOM]; /* where it is reached; empty: nowhere */
	struct seen *servers;             /* the other ones */
	pthread_mutex_t lock;             /* of what follows */
	char **mine;                      /* ids of shards */
	size_t count, room;
	int64_t beat_us;         /* when the last beat was begun that was written; 0: none */
	struct lease_view *view; /* of the last round; NULL: there was none, or no memory */
};

/* ---- lease_view.c ---- */
/* Publishes a view of the last round. `owners`: of the shards, empty if unknown. Out of memory: no view until the
 * next round. */
void lease_keep_view(struct leases *l, const struct shard_list *shards, const struct slice *owners);

#endif
