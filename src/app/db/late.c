/* Which patterns read an index, and how late that may be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/late.h"

#include "app/db/lag.h"

#define DEEP 4 /* nesting of patterns made of patterns */

/* `marked`: NULL, or marks the indexes that the pattern reads. */
static bool reads_index(const struct design *d, const struct access *x, int depth, bool *marked)
{
	bool does;

	if (!x || !depth)
		return false;
	if (x->from && marked)
		marked[x->from - d->indexes] = true;
	does = x->from != NULL;
	does |= reads_index(d, x->merge_run, depth - 1, marked);
	does |= reads_index(d, x->merge_rows, depth - 1, marked);
	for (size_t i = 0; i < x->merge_of_count; i++)
		does |= reads_index(d, x->merge_parts[i], depth - 1, marked);
	return does;
}

bool late_reads_index(const struct access *pattern)
{
	return reads_index(NULL, pattern, DEEP, NULL);
}

static void mark_all(const struct design *d, const struct access *const *patterns, size_t n, bool *marked)
{
	for (size_t i = 0; i < n; i++)
		(void)reads_index(d, patterns[i], DEEP, marked);
}

void late_indexes(const struct design *d, bool *marked)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		mark_all(d, e->delete_.then_access, e->delete_.then_count, marked);
		mark_all(d, e->rename.then_access, e->rename.then_count, marked);
		mark_all(d, e->delete_.refuse_access, e->delete_.refuse_count, marked);
		for (size_t k = 0; k < e->attribute_count; k++)
			mark_all(d, &e->attributes[k].kept_access, 1, marked);
	}
	for (size_t i = 0; i < d->processor_count; i++) {
		mark_all(d, &d->processors[i].rows_access, 1, marked);
		mark_all(d, &d->processors[i].target_access, 1, marked);
	}
}

int64_t late_ms(const struct app *app)
{
	return app && app->lag ? lag_ms(app->lag) : LAG_UNKNOWN_MS;
}
