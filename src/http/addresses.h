/* How many connections each address has.
 *
 * An IPv6 address counts by its first 64 bits: a client has all of them, as it has one of IPv4. IPv4 inside IPv6 is IPv4.
 * Threads: any; one lock, taken when a connection comes and when it goes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_ADDRESSES_H
#define THORPE_HTTP_ADDRESSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define ADDRESSES_BUCKETS 4096

struct address_entry;

struct addresses {
	pthread_mutex_t lock;
	struct address_entry *buckets[ADDRESSES_BUCKETS];
	uint64_t seed; /* an outsider cannot choose addresses that share a bucket */
};

void addresses_init(struct addresses *a);
/* All connections have left. */
void addresses_release(struct addresses *a);

/* One connection more of this address. NULL: it has `most` already, or memory is out. */
struct address_entry *addresses_enter(struct addresses *a, const struct sockaddr *sa, uint64_t most);
void addresses_leave(struct addresses *a, struct address_entry *e); /* NULL is fine */

#endif
