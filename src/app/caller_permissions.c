/* What the caller's groups permit: `caller may 'site:write'`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/caller.h"
#include "app/read.h"

struct gathering {
	struct run *run;
	const struct entity *entity; /* that has the list */
	struct slice *list;
	size_t count, capacity;
};

static void add(struct gathering *g, struct slice permission)
{
	size_t room;

	if (g->count == g->capacity) {
		room = g->capacity ? 2 * g->capacity : 16;
		g->list = arena_grow(g->run->arena, g->list, g->capacity * sizeof(*g->list), room * sizeof(*g->list));
		g->capacity = room;
	}
	g->list[g->count++] = permission;
}

/* One row leads to one item whose list is added. */
static bool add_row(void *ctx, const struct read_row *row, bool *stop)
{
	struct gathering *g = ctx;
	const struct callers *c = &g->run->design->callers;
	struct value ref = value_get(row->full, c->permissions_ref), full;
	struct value_iter it;

	(void)stop;
	if (!value_present(ref) || (!row->entity && !entity_is_companion(g->run, row->full))) /* what fits nothing gives no rights */
		return true;
	if (!entity_fetch(g->run, g->entity, &ref, 1, false, &full))
		return false;
	it = value_iter(value_get(full, c->permissions_attribute));
	while (value_next(&it)) {
		if (it.type == VALUE_SS)
			add(g, it.element);
		else if (it.type == VALUE_L && value_type(it.value) == VALUE_S)
			add(g, value_bytes(it.value));
	}
	return true;
}

static bool gather(struct run *r)
{
	const struct callers *c = &r->design->callers;
	const struct access *pattern = design_access(r->design, c->permissions_pattern);
	struct gathering g = { .run = r, .entity = design_entity(r->design, c->permissions_entity) };
	struct scope s = { .run = r };

	/* Known from here on as none: a rule on the way that asks for a permission is told no instead of asking again. */
	r->caller.permissions_known = true;
	g.list = arena_array(r->arena, struct slice, 0);
	if (!pattern || !g.entity)
		return true;
	if (!read_each(r, pattern, &s, c->permissions_with, c->permissions_with_count, add_row, &g)) {
		r->caller.permissions_known = false;
		return false;
	}
	r->caller.permissions = g.list;
	r->caller.permission_count = g.count;
	return true;
}

bool caller_may(struct run *r, struct slice permission, bool *out)
{
	*out = r->caller.operator_;
	if (*out || !r->caller.subject.n)
		return true;
	if (!r->caller.permissions_known && !gather(r))
		return false;
	for (size_t i = 0; i < r->caller.permission_count && !*out; i++)
		*out = slice_equal(r->caller.permissions[i], permission);
	return true;
}
