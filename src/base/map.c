/* Open addressing over a dense array of entries; small maps are searched linearly.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/map.h"

#define SMALL 8 /* up to here comparing is cheaper than hashing, and there are no slots */

/* Keys come from clients: a seed keeps them from choosing keys that collide. */
static uint64_t hash(struct slice key)
{
	static _Atomic uint64_t seed;
	uint64_t s = atomic_load_explicit(&seed, memory_order_relaxed);

	if (!s) {
		uint64_t fresh, none = 0;

		if (getrandom(&fresh, sizeof(fresh), GRND_NONBLOCK) != (ssize_t)sizeof(fresh))
			fresh = (uint64_t)clock_monotonic_us() * 0x9e3779b97f4a7c15u;
		fresh |= 1;
		s = atomic_compare_exchange_strong(&seed, &none, fresh) ? fresh : none;
	}
	return XXH3_64bits_withSeed(key.n ? key.p : "", key.n, s);
}

void map_init(struct map *m, struct arena *a)
{
	*m = (struct map){ .arena = a };
}

static struct map_entry *find_small(const struct map *m, struct slice key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (slice_equal(m->entries[i].key, key))
			return &m->entries[i];
	return NULL;
}

/* The slot that holds `key`, or the free one where it would go. */
static uint32_t *find_slot(const struct map *m, struct slice key)
{
	size_t i = hash(key) & m->slot_mask;

	while (m->slots[i] && !slice_equal(m->entries[m->slots[i] - 1].key, key))
		i = (i + 1) & m->slot_mask;
	return &m->slots[i];
}

struct map_entry *map_find(const struct map *m, struct slice key)
{
	uint32_t at;

	if (!m->slots)
		return find_small(m, key);
	at = *find_slot(m, key);
	return at ? &m->entries[at - 1] : NULL;
}

void *map_get(const struct map *m, struct slice key)
{
	struct map_entry *e = map_find(m, key);

	return e ? e->value : NULL;
}

/* Makes room for one more entry. If the arena runs out here, the map is still intact. */
static void grow(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : SMALL, i;

	if (cap >= UINT32_MAX)
		arena_out_of_memory(m->arena);
	m->entries = arena_grow(m->arena, m->entries, m->cap * sizeof(*m->entries),
				arena_array_size(sizeof(*m->entries), cap));
	if (cap > SMALL) {
		m->slots = arena_array(m->arena, uint32_t, cap * 2); /* at most half full */
		m->slot_mask = cap * 2 - 1;
		for (i = 0; i < m->n; i++)
			*find_slot(m, m->entries[i].key) = (uint32_t)i + 1;
	}
	m->cap = cap;
}

void *map_set(struct map *m, struct slice key, void *value)
{
	struct map_entry *e = map_find(m, key);

	if (e) {
		void *was = e->value;

		e->value = value;
		return was;
	}
	if (m->n == m->cap)
		grow(m);
	if (m->slots)
		*find_slot(m, key) = (uint32_t)m->n + 1;
	m->entries[m->n++] = (struct map_entry){ key, value };
	return NULL;
}
