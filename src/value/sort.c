/* Insertion sort for the few attributes an item has, merge sort for large sets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/sort.h"

#define RUN 16

static inline bool after(const struct sort_entry *x, const struct sort_entry *y)
{
	return x->prefix != y->prefix ? x->prefix > y->prefix : slice_cmp(x->key, y->key) > 0;
}

static void insertion(struct sort_entry *e, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_entry moving = e[i];
		size_t at = i;

		for (; at > 0 && after(&e[at - 1], &moving); at--)
			e[at] = e[at - 1];
		e[at] = moving;
	}
}

static void merge(const struct sort_entry *from, size_t middle, size_t n, struct sort_entry *to)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool take_right = left == middle || (right < n && after(&from[left], &from[right]));

		to[i] = take_right ? from[right++] : from[left++];
	}
}

void sort_entries(struct arena *a, struct sort_entry *e, size_t n)
{
	struct sort_entry *from = e, *to;

	if (n <= SORT_ON_STACK) {
		insertion(e, n);
		return;
	}
	to = arena_alloc(a, arena_array_size(sizeof(*to), n));
	for (size_t i = 0; i < n; i += RUN)
		insertion(e + i, n - i < RUN ? n - i : RUN);
	for (size_t width = RUN; width < n; width *= 2) {
		struct sort_entry *swap = from;

		for (size_t i = 0; i < n; i += 2 * width) {
			size_t all = n - i < 2 * width ? n - i : 2 * width;

			merge(from + i, all < width ? all : width, all, to + i);
		}
		from = to;
		to = swap;
	}
	if (from != e)
		memcpy(e, from, n * sizeof(*e));
}
