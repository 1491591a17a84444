/* `show`: what rows show besides their attributes, mostly parts of other items.
 *
 * All other items of a page are read together: one BatchGetItem (of 100 keys each) for the items that follow from the
 * rows, another one for those that follow from these. Then each term is evaluated with what has been read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/read/read_internal.h"
#include "base/grow.h"
#include "base/map.h"

struct shown {
	struct run *r;
	const struct pattern *p; /* NULL: an item by its path */
	const struct attribute *list;
	size_t count;
	bool consistent;
};

/* What the caller may not read is absent. */
static struct scope scope_of(const struct shown *x, const struct row *row)
{
	struct scope s = x->p ? pattern_scope(x->p, row) : (struct scope){ .run = x->r, .item = row };

	s.as_caller = true;
	return s;
}

/* ---- which items ---- */

struct wanted {
	const struct shown *x;
	int level;
	struct scope scope; /* of one row */
	struct value *keys; /* each once */
	size_t count, room;
	struct map seen;
};

static bool reads_item(const struct term *t)
{
	return (t->kind == TERM_FETCH || t->kind == TERM_EXISTS || t->kind == TERM_VISIBLE) && t->entity;
}

/* How many reads follow from one another: User(Post(post_id).author_id).name is of level 2. */
static int level_of(const struct term *t)
{
	int most = 0;

	for (size_t i = 0; i < t->arg_count; i++) {
		int inner = level_of(t->args[i]);

		most = inner > most ? inner : most;
	}
	return most + reads_item(t);
}

static void add_key(struct wanted *w, struct value key)
{
	struct run *r = w->x->r;
	struct slice bytes = slice_make(key.p, key.n);
	struct value stored;

	if (!value_present(key) || map_get(&w->seen, bytes) || entity_seen(r, key, &stored))
		return;
	map_set(&w->seen, bytes, w);
	GROW_IN(r->arena, w->keys, w->count, w->room, 32);
	w->keys[w->count++] = key;
}

/* Arguments that cannot be computed lead nowhere here; if they are needed, the evaluation says so. */
static bool want_item(struct wanted *w, const struct term *t)
{
	struct run *r = w->x->r;
	struct value *args, key;

	if (!scope_args(&w->scope, t->args, t->arg_count, &args) ||
	    !entity_locate(r, t->entity, args, t->arg_count, &key)) {
		if (r->problem.type != PROBLEM_INVALID)
			return false;
		r->problem = (struct problem){ 0 };
		return true;
	}
	add_key(w, key);
	return true;
}

static bool want(struct wanted *w, const struct term *t)
{
	for (size_t i = 0; i < t->arg_count; i++)
		if (!want(w, t->args[i]))
			return false;
	return !reads_item(t) || level_of(t) != w->level || want_item(w, t);
}

static bool want_all(struct wanted *w, const struct row *rows, size_t n)
{
	struct backend *b = w->x->r->backend;

	backend_together(b, true); /* `found by` makes queries */
	for (size_t i = 0; i < n; i++) {
		w->scope = scope_of(w->x, &rows[i]);
		for (size_t k = 0; k < w->x->count; k++)
			if (!want(w, w->x->list[k].derived))
				return false;
	}
	backend_together(b, false);
	return true;
}

static bool read_level(const struct shown *x, int level, const struct row *rows, size_t n)
{
	struct run *r = x->r;
	struct wanted w = { .x = x, .level = level };
	struct value *items;

	map_init(&w.seen, r->arena);
	if (!want_all(&w, rows, n))
		return false;
	if (!w.count)
		return true;
	items = arena_array(r->arena, struct value, w.count);
	if (!dyn_batch_get(r, w.keys, w.count, x->consistent, items))
		return false;
	for (size_t i = 0; i < w.count; i++)
		entity_foresee(r, w.keys[i], items[i]);
	return true;
}

/* ---- values ---- */

static bool evaluate(const struct shown *x, struct row *row)
{
	struct value *values = arena_array(x->r->arena, struct value, x->count);
	struct scope s = scope_of(x, row);

	for (size_t i = 0; i < x->count; i++)
		if (!scope_value_for(&s, x->list[i].derived, x->list[i].name, &values[i]))
			return false;
	row->shown = values;
	return true;
}

static bool add_shown(const struct shown *x, struct row *rows, size_t n)
{
	int levels = 0;

	if (!n)
		return true;
	for (size_t i = 0; i < x->count; i++) {
		int level = level_of(x->list[i].derived);

		levels = level > levels ? level : levels;
	}
	for (int level = 1; level <= levels; level++)
		if (!read_level(x, level, rows, n))
			return false;
	for (size_t i = 0; i < n; i++)
		if (!evaluate(x, &rows[i]))
			return false;
	return true;
}

bool shown_of_rows(struct pattern *p, struct row *rows, size_t n)
{
	const struct access *a = p->access;

	return !a->show_count ||
	       add_shown(&(struct shown){ p->g->r, p, a->show, a->show_count, a->consistent }, rows, n);
}

bool read_shown(struct run *r, struct row *item)
{
	const struct entity *e = item->entity;

	return !e || !e->show_count || add_shown(&(struct shown){ r, NULL, e->show, e->show_count, true }, item, 1);
}
