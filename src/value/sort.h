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
	size_t n = key.n;
	uint32_t head, tail;

	if (n >= 8) {
		memcpy(&e.prefix, key.p, 8);
		e.prefix = __builtin_bswap64(e.prefix);
	} else if (n >= 4) { /* two words that overlap */
		memcpy(&head, key.p, 4);
		memcpy(&tail, key.p + n - 4, 4);
		e.prefix = (uint64_t)__builtin_bswap32(head) << 32 | (uint64_t)__builtin_bswap32(tail) << (64 - 8 * n);
	} else if (n) { /* the first, the middle and the last: all that there are */
		e.prefix = (uint64_t)(uint8_t)key.p[0] << 56 | (uint64_t)(uint8_t)key.p[n / 2] << (56 - 8 * (n / 2)) |
			   (uint64_t)(uint8_t)key.p[n - 1] << (64 - 8 * n);
	}
	return e;
}

/* Equal keys keep their order, so the last of several stays the last. */
void sort_entries(struct arena *a, struct sort_entry *e, size_t n);

/* Whether x comes before y, and is not the same. */
static inline bool sort_precedes(const struct sort_entry *x, const struct sort_entry *y)
{
	return x->prefix != y->prefix ? x->prefix < y->prefix : slice_cmp(x->key, y->key) < 0;
}

/* Whether e[i] is followed by an entry with the same key. */
static inline bool sort_repeats(const struct sort_entry *e, size_t i, size_t n)
{
	return i + 1 < n && e[i].prefix == e[i + 1].prefix && slice_equal(e[i].key, e[i + 1].key);
}

#endif
