/* Counts the connections of each client, by address (ip_client()).
 *
 * Threads: any; one lock, taken when a connection opens and when it closes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_ADDRESSES_H
#define THORPE_HTTP_DOOR_ADDRESSES_H

#include <pthread.h>
#include <stdint.h>

#define ADDRESSES_BUCKETS 4096

struct address_entry;

struct addresses {
	pthread_mutex_t lock;
	struct address_entry *buckets[ADDRESSES_BUCKETS];
	uint64_t seed; /* so that outsiders cannot choose addresses that share a bucket */
};

void addresses_init(struct addresses *a);
/* Call after all connections have left. */
void addresses_release(struct addresses *a);

/* Counts one more connection of this client. NULL: it has `most` already (most > 0), or out of memory. */
struct address_entry *addresses_enter(struct addresses *a, uint64_t client, uint64_t most);
void addresses_leave(struct addresses *a, struct address_entry *e); /* NULL is fine */

#endif
