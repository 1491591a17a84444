/* Rebuilds an item with many changes in one pass.
 *
 * Edits sorted by path form groups that go through the same element. Containers are walked once, and only those
 * that an edit reaches are rebuilt.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "expr/path.h"
#include "expr/update.h"

static bool has_place_for(struct value parent, const struct path_step *s)
{
	return value_type(parent) == (s->is_index ? VALUE_L : VALUE_M);
}

bool edit_is_possible(const struct path *p, struct value item)
{
	struct value v = item;

	for (size_t i = 0; i + 1 < p->count; i++)
		v = path_step_get(&p->steps[i], v);
	return p->count == 1 || has_place_for(v, &p->steps[p->count - 1]);
}

static int by_path(const void *x, const void *y)
{
	return path_cmp(((const struct edit *)x)->path, ((const struct edit *)y)->path);
}

static const struct path_step *step_at(const struct edit *e, size_t depth)
{
	return &e->path->steps[depth];
}

static size_t group_size(const struct edit *edits, size_t n, size_t depth)
{
	size_t i = 1;

	while (i < n && path_step_cmp(step_at(&edits[0], depth), step_at(&edits[i], depth)) == 0)
		i++;
	return i;
}

static struct value rebuild(struct arena *a, struct value v, const struct edit *edits, size_t n, size_t depth);

/* The new form of the element that a group of edits leads to. */
static struct value rebuilt_element(struct arena *a, struct value old, const struct edit *group, size_t n, size_t depth)
{
	if (group->path->count == depth + 1)
		return group->value;
	return rebuild(a, old, group, n, depth + 1);
}

static struct value rebuild_map(struct arena *a, struct value map, const struct edit *edits, size_t n, size_t depth)
{
	struct value_member *members = arena_array(a, struct value_member, value_count(map) + n);
	struct value_iter it = value_iter(map);
	bool more = value_next(&it);
	size_t count = 0, i = 0;

	while (more || i < n) {
		/* Both in ascending order of names. */
		int c = !more ? 1 : i == n ? -1 : slice_cmp(it.name, step_at(&edits[i], depth)->name);
		struct value_member m;
		size_t size;

		if (c < 0) {
			members[count++] = (struct value_member){ it.name, it.value };
			more = value_next(&it);
			continue;
		}
		size = group_size(edits + i, n - i, depth);
		m.name = step_at(&edits[i], depth)->name;
		m.value = rebuilt_element(a, c == 0 ? it.value : VALUE_ABSENT, edits + i, size, depth);
		if (value_present(m.value))
			members[count++] = m;
		if (c == 0)
			more = value_next(&it);
		i += size;
	}
	return value_make_map(a, members, count);
}

static struct value rebuild_list(struct arena *a, struct value list, const struct edit *edits, size_t n, size_t depth)
{
	size_t length = value_count(list), count = 0, i = 0;
	struct value *elements = arena_array(a, struct value, length + n);
	struct value_iter it = value_iter(list);

	for (size_t at = 0; value_next(&it); at++) {
		struct value v = it.value;

		if (i < n && step_at(&edits[i], depth)->index == at) {
			size_t size = group_size(edits + i, n - i, depth);

			v = rebuilt_element(a, v, edits + i, size, depth);
			i += size;
		}
		if (value_present(v))
			elements[count++] = v;
	}
	for (; i < n; i++) /* beyond the end */
		if (value_present(edits[i].value))
			elements[count++] = edits[i].value;
	return value_make_list(a, elements, count);
}

static struct value rebuild(struct arena *a, struct value v, const struct edit *edits, size_t n, size_t depth)
{
	if (step_at(&edits[0], depth)->is_index)
		return rebuild_list(a, v, edits, n, depth);
	return rebuild_map(a, v, edits, n, depth);
}

struct value edit_apply(struct arena *a, struct value item, struct edit *edits, size_t n)
{
	if (n == 0)
		return item;
	if (n > 1)
		qsort(edits, n, sizeof(*edits), by_path);
	return rebuild(a, item, edits, n, 0);
}
