/* Sets of 64 bit hashes, outside of any arena.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "base/alloc.h"
#include "oracle/oracle_internal.h"

uint64_t hash_bytes(struct slice s)
{
	uint64_t h = XXH3_64bits(s.n ? s.p : "", s.n);

	return h ? h : 1;
}

static size_t place_of(const struct hash_set *s, uint64_t h)
{
	size_t i = (size_t)h & (s->room - 1);

	while (s->slots[i] && s->slots[i] != h)
		i = (i + 1) & (s->room - 1);
	return i;
}

bool hash_set_has(const struct hash_set *s, uint64_t h)
{
	return s->room && s->slots[place_of(s, h)] == h;
}

static bool make_room(struct hash_set *s)
{
	struct hash_set more = { .count = s->count, .room = s->room ? 2 * s->room : 1024 };

	if (2 * (s->count + 1) <= s->room)
		return true;
	more.slots = mem_zalloc(more.room * sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (size_t i = 0; i < s->room; i++)
		if (s->slots[i])
			more.slots[place_of(&more, s->slots[i])] = s->slots[i];
	mem_free(s->slots);
	*s = more;
	return true;
}

bool hash_set_add(struct hash_set *s, uint64_t h)
{
	size_t i;

	if (!make_room(s))
		return false;
	i = place_of(s, h);
	s->count += !s->slots[i];
	s->slots[i] = h;
	return true;
}

void hash_set_free(struct hash_set *s)
{
	mem_free(s->slots);
	*s = (struct hash_set){ 0 };
}
