/* A table of chains; an entry is there while its address has connections.
 * SPDX-License-Identifier: Apache-2.0 */
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "http/addresses.h"

struct address_key {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[8];
};

struct address_entry {
	struct address_entry *next;
	struct address_key key;
	uint64_t count;
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

static struct address_key key_of(const struct sockaddr *sa)
{
	struct address_key key = { 0 };

	if (sa->sa_family == AF_INET) {
		key.family = 4;
		memcpy(key.bytes, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		const struct in6_addr *in = &((const struct sockaddr_in6 *)sa)->sin6_addr;

		key.family = IN6_IS_ADDR_V4MAPPED(in) ? 4 : 6;
		memcpy(key.bytes, in->s6_addr + (key.family == 4 ? 12 : 0), key.family == 4 ? 4 : 8);
	}
	return key;
}

static struct address_entry **bucket_of(struct addresses *a, const struct address_key *key)
{
	return &a->buckets[XXH3_64bits_withSeed(key, sizeof(*key), a->seed) % ADDRESSES_BUCKETS];
}

struct address_entry *addresses_enter(struct addresses *a, const struct sockaddr *sa, uint64_t most)
{
	struct address_key key = key_of(sa);
	struct address_entry **bucket = bucket_of(a, &key), *e;

	pthread_mutex_lock(&a->lock);
	for (e = *bucket; e && memcmp(&e->key, &key, sizeof(key)) != 0;)
		e = e->next;
	if (!e && (e = mem_zalloc(sizeof(*e)))) {
		e->key = key;
		e->next = *bucket;
		*bucket = e;
	}
	if (e && e->count < most)
		e->count++;
	else
		e = NULL; /* one that has just been made has a place: most > 0 */
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
		for (at = bucket_of(a, &e->key); *at != e;)
			at = &(*at)->next;
		*at = e->next;
		mem_free(e);
	}
	pthread_mutex_unlock(&a->lock);
}
