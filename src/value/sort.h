/* Sorting of names and set elements by their bytes, stable; for the files of this folder only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_SORT_H
#define THORPE_VALUE_SORT_H

#include "base/arena.h"

/* Up to this many entries are cheaper on the stack than in the arena. */
#define SORT_ON_STACK 32

struct sort_entry {
	uint64_t prefix; /* the first eight bytes of `key`: settles most comparisons at once */
	struct slice key;
	const void *data;
};

static inline struct sort_entry sort_entry(struct slice key, const void *data)
{
	struct sort_entry e = { .key = key, .data = data };

	if (key.n >= 8) {
		memcpy(&e.prefix, key.p, 8);
		e.prefix = __builtin_bswap64(e.prefix);
	} else {
		for (size_t i = 0; i < 8; i++)
			e.prefix = e.prefix << 8 | (i < key.n ? (uint8_t)key.p[i] : 0);
	}
	return e;
}

/* Equal keys keep their order, so the last of several stays the last. */
void sort_entries(struct arena *a, struct sort_entry *e, size_t n);

/* Whether e[i] is followed by an entry with the same key. */
static inline bool sort_repeats(const struct sort_entry *e, size_t i, size_t n)
{
	return i + 1 < n && e[i].prefix == e[i + 1].prefix && slice_equal(e[i].key, e[i + 1].key);
}

#endif
