/* Arrays that grow by doubling: the one place that says how.
 *
 *     GROW_IN(arena, list->p, list->n, list->room, 16);
 *     list->p[list->n++] = x;
 *
 * The array moves when it grows: pointers into it do not last. `room` is a size_t, 0 at first, and counts elements.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_GROW_H
#define THORPE_BASE_GROW_H

#include "base/alloc.h"
#include "base/arena.h"

/* Room for one more element than `count`, in an arena; `first`: how many the first time. Memory that runs out leaves by arena.h A1, and
 * the array is as before. */
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

/* Room for `need` elements, from malloc; free it with mem_free(). False: there is no memory, and the array is as before. */
#define GROW(list, need, room, first) grow(&(list), (need), &(room), sizeof(*(list)), (first))

/* `list`: the address of the pointer, whatever it points to. */
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
