/* Arrays that grow by doubling. All code that grows an array uses these.
 *
 *     GROW_IN(arena, list->p, list->n, list->room, 16);
 *     list->p[list->n++] = x;
 *
 * The array moves when it grows, so pointers into it become invalid. `room` is a size_t that counts elements and
 * starts at 0.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_GROW_H
#define THORPE_BASE_GROW_H

#include "base/alloc.h"
#include "base/arena.h"

/* Makes room in an arena for one element more than `count`; `first`: the initial room. Running out of memory leaves
 * by arena.h A1 and does not change the array. */
#define GROW_IN(a, list, count, room, first) ((list) = grow_in((a), (list), (count), &(room), sizeof(*(list)), (first)))

static inline void *grow_in(struct arena *a, void *list, size_t count, size_t *room, size_t size, size_t first)
{
	size_t more = *room ? 2 * *room : first;

	if (__builtin_expect(count < *room, 1))
		return list;
	list = arena_grow(a, list, *room * size, arena_array_size(size, more));
	*room = more;
	return list;
}

/* Makes room for `need` elements, from malloc; free the array with mem_free(). False: out of memory, and the array
 * is unchanged. */
#define GROW(list, need, room, first) grow(&(list), (need), &(room), sizeof(*(list)), (first))

/* `list`: the address of the pointer, of any pointer type. */
static inline bool grow(void *list, size_t need, size_t *room, size_t size, size_t first)
{
	size_t more = *room ? *room : first;
	void *p;

	if (need <= *room)
		return true;
	while (more < need)
		more *= 2;
	memcpy(&p, list, sizeof(p));
	p = mem_realloc(p, more * size);
	if (!p)
		return false;
	memcpy(list, &p, sizeof(p));
	*room = more;
	return true;
}

#endif
