/* Document paths: following, printing and comparing them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "expr/path.h"

struct value path_get(const struct path *p, struct value item)
{
	struct value v = item;

	for (size_t i = 0; i < p->count && value_present(v); i++)
		v = path_step_get(&p->steps[i], v);
	return v;
}

struct slice path_print(const struct path *p, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_byte(&b, '[');
	for (size_t i = 0; i < p->count; i++) {
		if (i)
			buf_lit(&b, ", ");
		if (p->steps[i].is_index)
			buf_printf(&b, "[%u]", (unsigned)p->steps[i].index);
		else
			buf_put(&b, p->steps[i].name);
	}
	buf_byte(&b, ']');
	return buf_slice(&b);
}

int path_step_cmp(const struct path_step *x, const struct path_step *y)
{
	if (x->is_index != y->is_index)
		return x->is_index ? -1 : 1;
	if (x->is_index)
		return (x->index > y->index) - (x->index < y->index);
	return slice_cmp(x->name, y->name);
}

int path_cmp(const struct path *x, const struct path *y)
{
	size_t n = x->count < y->count ? x->count : y->count;

	for (size_t i = 0; i < n; i++) {
		int c = path_step_cmp(&x->steps[i], &y->steps[i]);

		if (c)
			return c;
	}
	return (x->count > y->count) - (x->count < y->count);
}

static int by_path(const void *x, const void *y)
{
	return path_cmp(*(const struct path *const *)x, *(const struct path *const *)y);
}

const struct path **path_sorted(struct arena *a, const struct path *paths, size_t n)
{
	const struct path **sorted = arena_array(a, const struct path *, n);

	for (size_t i = 0; i < n; i++)
		sorted[i] = &paths[i];
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), by_path);
	return sorted;
}

enum relation { APART, OVERLAP, CONFLICT };

static enum relation relation(const struct path *x, const struct path *y)
{
	size_t n = x->count < y->count ? x->count : y->count;

	for (size_t i = 0; i < n; i++) {
		if (x->steps[i].is_index != y->steps[i].is_index)
			return CONFLICT;
		if (path_step_cmp(&x->steps[i], &y->steps[i]))
			return APART;
	}
	return OVERLAP;
}

static bool refuse_pair(struct arena *a, const char *label, enum relation r, const struct path *x, const struct path *y,
			struct error *e)
{
	struct slice one = path_print(x, a), two = path_print(y, a);

	return error_set(e, a, ERR_VALIDATION,
			 "Invalid %s: Two document paths %s with each other; must remove or rewrite "
			 "one of these paths; path one: %.*s, path two: %.*s",
			 label, r == OVERLAP ? "overlap" : "conflict", SLICE_ARG(one), SLICE_ARG(two));
}

/* In path order, if any paths overlap or conflict, two neighbours do. */
static bool all_apart(struct arena *a, const struct path *paths, size_t n)
{
	const struct path **sorted = path_sorted(a, paths, n);

	for (size_t i = 1; i < n; i++)
		if (relation(sorted[i - 1], sorted[i]) != APART)
			return false;
	return true;
}

bool path_check_apart(struct arena *a, const char *label, const struct path *paths, size_t n, struct error *e)
{
	if (n < 2 || all_apart(a, paths, n))
		return true;
	/* DynamoDB processes such lists from the end. */
	for (size_t i = n - 1; i-- > 0;) {
		for (size_t j = n - 1; j > i; j--) {
			enum relation r = relation(&paths[i], &paths[j]);

			if (r != APART)
				return refuse_pair(a, label, r, &paths[i], &paths[j], e);
		}
	}
	return true;
}
