/* A hash table from byte strings to pointers, in an arena. Keys are borrowed: they must live as
 * long as the map. No removal (a request does not need it).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_MAP_H
#define THORPE_BASE_MAP_H

#include "base/arena.h"

struct map_entry {
	struct slice key;
	void *value;
};

struct map {
	struct arena *arena;
	struct map_entry *entries; /* in insertion order: iterate 0..n-1 */
	size_t n, cap;
	uint32_t *slots; /* index + 1 into entries */
	size_t slot_mask;
};

void map_init(struct map *m, struct arena *a);
/* NULL when absent. */
void *map_get(const struct map *m, struct slice key);
struct map_entry *map_find(const struct map *m, struct slice key);
/* Adds or replaces; returns the previous value, or NULL. */
void *map_set(struct map *m, struct slice key, void *value);

#endif
