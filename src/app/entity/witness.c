/* Notes about the items that a write has read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/witness.h"
#include "app/db/dyn.h"

static struct witness *find_witness(const struct witnesses *all, struct value key)
{
	for (struct witness *w = all->first; w; w = w->next)
		if (value_equal(w->key, key))
			return w;
	return NULL;
}

static struct witness *add_witness(struct run *r, const struct entity *e, struct value key)
{
	struct witnesses *all = r->witnesses;
	struct witness *w = arena_new(r->arena, struct witness);

	*w = (struct witness){ .entity = e, .key = value_copy(r->arena, key) };
	row_init(&w->seen, r->arena, NULL);
	if (!all->first)
		all->last = &all->first;
	*all->last = w;
	all->last = &w->next;
	return w;
}

/* Two identities share the key, and the item there has one of them, so it does not have the other. */
static bool is_of_another_identity(struct run *r, const struct entity *e, struct value stored)
{
	return value_present(stored) && !entity_expired(r, stored) && entity_of_likely(r, stored, e) == e;
}

struct witness *witness_item(struct run *r, const struct entity *e, const struct entity_look *look)
{
	struct witness *w;

	if (!r->witnesses || look->promised || !value_present(look->key))
		return NULL;
	w = find_witness(r->witnesses, look->key);
	if (!w) {
		w = add_witness(r, e, look->key);
		w->there = look->item.entity != NULL;
		w->stored = look->stored;
	} else if (w->entity == e && w->there != (look->item.entity != NULL)) {
		w->torn = w->torn || !is_of_another_identity(r, e, w->there ? look->stored : w->stored);
		w->there = true;
	} else if (w->entity != e && !w->there && look->item.entity) {
		/* A rule has looked for two entities at this key. The item is of this one, so not of the other. */
		w->entity = e;
		w->there = true;
	}
	return w;
}

void witness_reads(struct witness *w, const struct name *n, struct value v)
{
	if (!w)
		return;
	if (!row_has(&w->seen, n))
		row_set(&w->seen, n, v);
	else if (!value_equal(row_get(&w->seen, n), v))
		w->torn = true;
}

/* Notes what the pattern's conditions read of the row. They did not find rows of `then` and of merges. */
static void note_conditions(struct run *r, struct witness *w, const struct access *x, const struct row *row)
{
	struct name_list names = { 0 };

	if (x->kind != ACCESS_QUERY || x->has_then)
		return;
	for (size_t i = 0; i < x->where_count; i++)
		names_add(r->arena, &names, x->where[i].at);
	if (row->entity)
		names_of_term(r->arena, &names, row->entity, x->filter);
	for (size_t i = 0; i < names.count; i++)
		witness_reads(w, names.list[i], row_get(row, names.list[i]));
}

struct witness *witness_row(struct run *r, const struct access *access, const struct row *row)
{
	struct value key;
	struct witness *w;

	if (!r->witnesses)
		return NULL;
	key = dyn_key_of(r, row->full);
	w = find_witness(r->witnesses, key);
	if (!w) {
		w = add_witness(r, row->entity, key);
		w->there = true;
		w->stored = row->full;
	}
	note_conditions(r, w, access, row);
	return w;
}
