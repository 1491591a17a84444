/* Which patterns read an index, and how late that may be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/late.h"

#include "app/db/lag.h"

#define DEEP 4 /* patterns that are made of patterns */

/* `marked`: NULL, or marks the indexes that the pattern reads. */
static bool reads_index(const struct design *d, struct slice pattern, int depth, bool *marked)
{
	const struct access *x = pattern.n && depth ? design_access(d, pattern) : NULL;
	const struct design_index *i = x && x->index.n ? design_index(d, x->index) : NULL;
	bool does;

	if (!x)
		return false;
	if (i && marked)
		marked[i - d->indexes] = true;
	does = x->index.n;
	does |= reads_index(d, x->merge_pattern, depth - 1, marked);
	does |= reads_index(d, x->merge_over, depth - 1, marked);
	return does;
}

bool late_reads_index(const struct design *d, struct slice pattern)
{
	return reads_index(d, pattern, DEEP, NULL);
}

static void mark_all(const struct design *d, const struct slice *patterns, size_t n, bool *marked)
{
	for (size_t i = 0; i < n; i++)
		(void)reads_index(d, patterns[i], DEEP, marked);
}

void late_indexes(const struct design *d, bool *marked)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		mark_all(d, e->delete_.then_remove, e->delete_.then_count, marked);
		mark_all(d, e->delete_.refuse_while, e->delete_.refuse_count, marked);
		for (size_t k = 0; k < e->attribute_count; k++)
			mark_all(d, &e->attributes[k].kept_by, 1, marked);
	}
	for (size_t i = 0; i < d->processor_count; i++) {
		mark_all(d, &d->processors[i].each_pattern, 1, marked);
		if (d->processors[i].effect == EFFECT_REMOVE_ALL)
			mark_all(d, &d->processors[i].target, 1, marked);
	}
}

int64_t late_ms(const struct app *app)
{
	return app && app->lag ? lag_ms(app->lag) : LAG_UNKNOWN_MS;
}
