/* Markers of renames: their contents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/renaming.h"

#include "app/db/beside.h"
#include "app/entity/renamed.h"
#include "app/run/state.h"
#include "base/grow.h"
#include "base/timestamp.h"
#include "base/ulid.h"

/* ---- values ---- */

struct gathered {
	struct arena *arena;
	struct value_member *list;
	size_t count, capacity;
};

static void gather(struct gathered *g, const struct row *item, struct slice name)
{
	struct value v = row_find(item, name);

	for (size_t i = 0; i < g->count; i++)
		if (slice_equal(g->list[i].name, name))
			return;
	if (!value_present(v))
		return;
	GROW_IN(g->arena, g->list, g->count, g->capacity, 8);
	g->list[g->count++] = (struct value_member){ name, v };
}

/* What the patterns need of the item as it was. */
static struct value values_of(struct run *r, const struct entity *e, const struct row *old)
{
	struct gathered g = { .arena = r->arena };

	for (size_t i = 0; i < e->param_count; i++)
		gather(&g, old, e->params[i]);
	for (size_t i = 0; i < e->rename.then_count; i++) {
		const struct access *x = e->rename.then_access[i];

		for (size_t k = 0; x && k < x->param_count; k++)
			gather(&g, old, x->params[k]);
		for (size_t k = 0; x && k < x->query_param_count; k++)
			gather(&g, old, x->query_params[k].name);
	}
	return value_make_map(r->arena, g.list, g.count);
}

static struct value link_of(struct run *r, const struct renaming *m)
{
	const struct value_member list[] = {
		{ SLICE("entity"), value_make_s(r->arena, m->entity->name) },
		{ SLICE("from"), m->from },
		{ SLICE("to"), m->to },
	};

	return value_make_map(r->arena, list, 3);
}

/* The rename itself, and those it is part of. */
static struct value chain_of(struct run *r, const struct renaming *m)
{
	struct value_iter it;
	size_t n = 1, count = 1;
	struct value *list;

	for (it = value_iter(m->above); value_present(m->above) && value_next(&it);)
		n++;
	list = arena_array(r->arena, struct value, n);
	list[0] = link_of(r, m);
	for (it = value_iter(m->above); value_present(m->above) && value_next(&it);)
		list[count++] = it.value;
	return value_make_list(r->arena, list, count);
}

bool renaming_make(struct run *r, const struct plan *p, struct renaming *m)
{
	const struct entity *e = p->entity;
	char ulid[ULID_LENGTH];

	*m = (struct renaming){ .entity = e, .at_ms = r->now_ms, .above = VALUE_ABSENT };
	m->from = renamed_identity(r, e, entity_identity(r, &p->old_row));
	m->to = renamed_identity(r, e, entity_identity(r, p->item));
	if (!value_present(m->from) || !value_present(m->to))
		return true;
	m->values = values_of(r, e, &p->old_row);
	m->from_key = renamed_key(r, e, m->from);
	m->to_key = renamed_key(r, e, m->to);
	if (p->write->follows)
		m->above = chain_of(r, p->write->follows);
	if (!ulid_new(m->at_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "cannot get random bytes for an id");
	m->id = arena_copy(r->arena, slice_make(ulid, ULID_LENGTH));
	return true;
}

/* ---- items ---- */

struct value renaming_item(struct run *r, const struct renaming *m, struct value key)
{
	char time[TIME_TEXT_MAX];
	struct value_member list[9] = {
		{ SLICE("PK"), value_get(key, SLICE("PK")) },
		{ SLICE("SK"), value_get(key, SLICE("SK")) },
		{ SLICE("layout"), value_make_i64(r->arena, RENAMED_LAYOUT) },
		{ SLICE("id"), value_make_s(r->arena, m->id) },
		{ SLICE("at"), value_make_s(r->arena, time_format(m->at_ms, time)) },
		{ SLICE("from"), m->from },
		{ SLICE("to"), m->to },
		{ SLICE("values"), m->values },
	};
	size_t n = 8;

	if (value_present(m->above))
		list[n++] = (struct value_member){ SLICE("above"), m->above };
	return value_make_map(r->arena, list, n);
}

bool renaming_read(struct run *r, struct value item, struct renaming *m, bool *known)
{
	struct slice pk = beside_text(item, "PK"), prefix = SLICE(RENAMED_PREFIX);

	*m = (struct renaming){ .id = beside_text(item, "id"),
				.from = value_get(item, SLICE("from")),
				.to = value_get(item, SLICE("to")),
				.values = value_get(item, SLICE("values")),
				.above = value_get(item, SLICE("above")) };
	*known = value_equal(value_get(item, SLICE("layout")), value_make_i64(r->arena, RENAMED_LAYOUT)) && m->id.n &&
		 value_type(m->values) == VALUE_M && slice_starts(pk, prefix);
	if (!*known)
		return true;
	m->entity = design_entity(r->design, slice_make(pk.p + prefix.n, pk.n - prefix.n));
	*known = m->entity && renamed_args(r, m->entity, m->from) && renamed_args(r, m->entity, m->to);
	if (!*known)
		return true;
	m->from_key = renamed_key(r, m->entity, m->from);
	m->to_key = renamed_key(r, m->entity, m->to);
	if (!ulid_ms(m->id.p, m->id.n, &m->at_ms)) /* `at` has only seconds */
		(void)!time_parse(beside_text(item, "at"), &m->at_ms);
	return true;
}

void renaming_expect(struct run *r)
{
	if (r->app)
		r->app->renames_noted++;
}

struct value renaming_hidden(struct arena *a, struct value item)
{
	const struct slice marks[] = { RENAMING_LEAVES, RENAMING_CAME };

	for (size_t i = 0; i < 2; i++)
		if (value_present(item) && value_present(value_get(item, marks[i])))
			item = value_map_with(a, item, marks[i], VALUE_ABSENT);
	return item;
}
