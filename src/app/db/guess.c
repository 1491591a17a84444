/* A table of fixed size: one item a place, the latest wins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/guess.h"
#include <pthread.h>
#include "base/alloc.h"
#include "value/key.h"

#define PLACES    16384
#define LOCKS     64
#define ITEM_MOST 4096 /* bytes: with its key, at most so much memory a place */

struct place {
	uint8_t *bytes; /* the key and the item; NULL: nothing */
	uint32_t key_size, item_size;
};

struct guesses {
	pthread_mutex_t locks[LOCKS];
	struct place places[PLACES];
};

struct guesses *guesses_new(void)
{
	struct guesses *g = mem_zalloc(sizeof(*g));

	for (size_t i = 0; g && i < LOCKS; i++)
		pthread_mutex_init(&g->locks[i], NULL);
	return g;
}

void guesses_free(struct guesses *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < PLACES; i++)
		mem_free(g->places[i].bytes);
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&g->locks[i]);
	mem_free(g);
}

static size_t place_of(struct value key)
{
	return key_hash(slice_make(key.p, key.n)) % PLACES;
}

struct value guess_item(struct guesses *g, struct arena *a, struct value key, bool *known)
{
	size_t at = place_of(key);
	uint8_t bytes[ITEM_MOST];
	bool is_known = false;
	size_t n = 0;

	pthread_mutex_lock(&g->locks[at % LOCKS]);
	if (g->places[at].bytes && g->places[at].key_size == key.n && !memcmp(g->places[at].bytes, key.p, key.n)) {
		is_known = true;
		n = g->places[at].item_size;
		memcpy(bytes, g->places[at].bytes + key.n, n);
	}
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	if (known)
		*known = is_known;
	return n ? value_copy(a, (struct value){ bytes, n }) : VALUE_ABSENT;
}

void guess_learn(struct guesses *g, struct value key, struct value item)
{
	size_t at = place_of(key);
	uint8_t *bytes = key.n + item.n <= ITEM_MOST ? mem_alloc(key.n + item.n) : NULL, *old;

	if (bytes) {
		memcpy(bytes, key.p, key.n);
		if (item.n)
			memcpy(bytes + key.n, item.p, item.n);
	}
	pthread_mutex_lock(&g->locks[at % LOCKS]);
	old = g->places[at].bytes;
	g->places[at] = (struct place){ .bytes = bytes, .key_size = (uint32_t)key.n, .item_size = (uint32_t)item.n };
	pthread_mutex_unlock(&g->locks[at % LOCKS]);
	mem_free(old);
}
