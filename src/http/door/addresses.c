/* A hash table with chains; an entry lives while its client has connections.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "http/door/addresses.h"

struct address_entry {
	struct address_entry *next;
	uint64_t client, count;
};

void addresses_init(struct addresses *a)
{
	pthread_mutex_init(&a->lock, NULL);
	if (getrandom(&a->seed, sizeof(a->seed), GRND_NONBLOCK) != sizeof(a->seed))
		a->seed = (uint64_t)(uintptr_t)a;
}

void addresses_release(struct addresses *a)
{
	pthread_mutex_destroy(&a->lock);
}

static struct address_entry **bucket_of(struct addresses *a, uint64_t client)
{
	return &a->buckets[XXH3_64bits_withSeed(&client, sizeof(client), a->seed) % ADDRESSES_BUCKETS];
}

struct address_entry *addresses_enter(struct addresses *a, uint64_t client, uint64_t most)
{
	struct address_entry **bucket = bucket_of(a, client), *e;

	pthread_mutex_lock(&a->lock);
	for (e = *bucket; e && e->client != client;)
		e = e->next;
	if (!e && (e = mem_zalloc(sizeof(*e)))) {
		e->client = client;
		e->next = *bucket;
		*bucket = e;
	}
	if (e && e->count < most)
		e->count++;
	else
		e = NULL;
	pthread_mutex_unlock(&a->lock);
	return e;
}

void addresses_leave(struct addresses *a, struct address_entry *e)
{
	struct address_entry **at;

	if (!e)
		return;
	pthread_mutex_lock(&a->lock);
	if (!--e->count) {
		for (at = bucket_of(a, e->client); *at != e;)
			at = &(*at)->next;
		*at = e->next;
		mem_free(e);
	}
	pthread_mutex_unlock(&a->lock);
}
