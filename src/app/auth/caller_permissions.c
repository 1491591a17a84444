/* Permissions of the caller's groups: `caller may 'site:write'`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/caller.h"
#include "app/read/read.h"
#include "app/entity/upward.h"
#include "app/entity/witness.h"

/* a row of the pattern, and the item it leads to */
struct permission_source {
	const struct access *access;
	struct row row;
	const struct entity *entity;
	struct entity_look item;
};

struct gathering {
	struct run *run;
	const struct access *access;
	const struct entity *entity; /* whose items have the list of permissions */
	struct slice *list;
	struct permission_source *sources;
	size_t count, capacity;
};

static void add_permission(struct gathering *g, struct slice permission, const struct row *row,
			   const struct entity_look *item)
{
	struct arena *a = g->run->arena;
	size_t room;

	if (g->count == g->capacity) {
		room = g->capacity ? 2 * g->capacity : 16;
		g->list = arena_grow(a, g->list, g->capacity * sizeof(*g->list), room * sizeof(*g->list));
		g->sources = arena_grow(a, g->sources, g->capacity * sizeof(*g->sources), room * sizeof(*g->sources));
		g->capacity = room;
	}
	g->sources[g->count] = (struct permission_source){ g->access, *row, g->entity, *item };
	g->list[g->count++] = permission;
}

/* Adds the list of the item that a row leads to. */
static bool add_row(void *ctx, const struct row *row, bool *stop)
{
	struct gathering *g = ctx;
	const struct callers *c = &g->run->design->callers;
	struct value ref = row_get(row, c->permissions_ref_at);
	struct entity_look look;
	struct value_iter it;

	(void)stop;
	if (!value_present(ref) ||
	    (!row->entity && !entity_is_companion(g->run, row->full))) /* an item unknown to the design grants nothing */
		return true;
	if (!entity_look(g->run, g->entity, &ref, 1, &look))
		return false;
	it = value_iter(look.item.entity ? row_get(&look.item, c->permissions_at) : VALUE_ABSENT);
	while (value_next(&it)) {
		if (it.type == VALUE_SS)
			add_permission(g, it.element, row, &look);
		else if (it.type == VALUE_L && value_type(it.value) == VALUE_S)
			add_permission(g, value_bytes(it.value), row, &look);
	}
	return true;
}

static bool gather(struct run *r)
{
	const struct callers *c = &r->design->callers;
	const struct access *pattern = c->permissions_access;
	struct gathering g = { .run = r, .access = pattern, .entity = c->permissions_of };
	struct scope s = { .run = r };

	/* While permissions are gathered, `caller may` is false: a rule must not begin to gather again. */
	r->caller.permissions_known = true;
	g.list = arena_array(r->arena, struct slice, 0);
	if (!pattern || !g.entity)
		return true;
	if (!read_each(pattern, &s, c->permissions_with, c->permissions_with_count, add_row, &g)) {
		r->caller.permissions_known = false;
		return false;
	}
	r->caller.permissions = g.list;
	r->caller.permission_sources = g.sources;
	r->caller.permission_count = g.count;
	return true;
}

/* A write that depends on the permission depends on the row and the list that grant it. */
static void note_source(struct run *r, const struct permission_source *from)
{
	const struct callers *c = &r->design->callers;

	if (!r->witnesses)
		return;
	witness_reads(witness_row(r, from->access, &from->row), c->permissions_ref_at,
		      row_get(&from->row, c->permissions_ref_at));
	witness_reads(witness_item(r, from->entity, &from->item), c->permissions_at,
		      row_get(&from->item.item, c->permissions_at));
}

bool caller_may(struct run *r, struct slice permission, bool *out)
{
	*out = r->caller.operator_;
	if (*out || !r->caller.subject.n)
		return true;
	if (!r->caller.permissions_known && !gather(r))
		return false;
	for (size_t i = 0; i < r->caller.permission_count && !*out; i++) {
		*out = slice_equal(r->caller.permissions[i], permission);
		if (*out)
			note_source(r, &r->caller.permission_sources[i]);
	}
	return true;
}
