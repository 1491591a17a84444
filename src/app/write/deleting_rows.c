/* The dependents of a deleted item, and their removal as part of a transaction.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/deleting_internal.h"

#include "app/read/read.h"
#include "app/write/renaming/renaming.h"

#define ACTIONS_MOST (DYN_MOST_ACTIONS - 10) /* leaves room for riders and a marker's condition */

/* ---- finding rows ---- */

struct gathering {
	struct run *run;
	const struct marker *marker;
	struct doomed_list *list;
	size_t most;
};

/* Whether the row refers to another, existing item of the same kind. */
static bool leads_elsewhere(struct gathering *f, struct scope *s, const struct reference *to, bool *out)
{
	const struct entity *e = f->marker->entity;
	struct value *args, key, full;

	if (*out || to->to != e)
		return true;
	if (!scope_args(s, to->args, to->arg_count, &args) || !entity_locate(f->run, e, args, to->arg_count, &key))
		return false;
	if (!value_present(key) || value_equal(key, f->marker->gone))
		return true;
	if (!entity_fetch_key(f->run, e, key, false, &full))
		return false;
	*out = value_present(full);
	return true;
}

/* M6 */
static bool is_another_ones(struct gathering *f, const struct row *row, bool *out)
{
	const struct entity *e = row->entity;
	struct row item;
	struct scope s = { .run = f->run, .item = &item };

	*out = false;
	if (!e || !value_present(f->marker->gone))
		return true;
	row_from(&item, f->run->arena, NULL, row->full);
	for (size_t i = 0; i < e->count_count; i++)
		if (!e->counts[i].each.list && !leads_elsewhere(f, &s, &e->counts[i].target, out))
			return false;
	for (size_t i = 0; i < e->require_count; i++)
		if (!e->requires[i].each.list && !leads_elsewhere(f, &s, &e->requires[i].target, out))
			return false;
	return true;
}

static bool find_row(void *ctx, const struct row *row, bool *stop)
{
	struct gathering *f = ctx;
	struct value key = dyn_key_of(f->run, row->full);
	bool other;

	if (!is_another_ones(f, row, &other))
		return false;
	if (other)
		return true;
	for (size_t i = 0; i < f->list->count; i++)
		if (value_equal(f->list->list[i].key, key))
			return true;
	f->list->list[f->list->count++] = (struct doomed){ row->entity, value_copy(f->run->arena, key) };
	*stop = f->list->count == f->most;
	return true;
}

bool deleting_rows(struct run *r, const struct marker *m, size_t most, struct doomed_list *out)
{
	const struct delete_rule *d = &m->entity->delete_;
	struct gathering f = { .run = r, .marker = m, .list = out, .most = most };
	int64_t now = r->now_ms;
	struct row values;
	struct scope s = { .run = r, .item = &values };
	bool ok = true;

	*out = (struct doomed_list){ .list = arena_array(r->arena, struct doomed, most) };
	row_from(&values, r->arena, NULL, m->values);
	/* Expired rows that still exist also count: at time 0 nothing has expired. */
	r->now_ms = 0;
	for (size_t i = 0; ok && i < d->then_count && out->count < most; i++) {
		const struct access *x = d->then_access[i];

		if (!x)
			ok = run_fail(r, PROBLEM_INTERNAL, "There is no access pattern '%.*s'",
				      SLICE_ARG(d->then_remove[i]));
		else if (value_equal(marker_values(r, x, m->values), m->values))
			ok = read_each(x, &s, NULL, 0, find_row, &f);
	}
	r->now_ms = now;
	return ok;
}

/* ---- into the plan ---- */

void plan_under(struct plan *p, const struct marker *m)
{
	struct plan_action *a = plan_add(p, PLAN_MARKER, DYN_CHECK, m->key);

	a->table = beside_table(p->run);
	a->must_exist = true;
	fields_set(&a->equal, SLICE("id"), value_make_s(p->run->arena, m->id));
}

static bool move_all(struct run *r, struct fields *to, const struct fields *adds)
{
	for (size_t i = 0; i < adds->count; i++) {
		struct number n = value_number(adds->list[i].value);

		if (!fields_move(r, to, adds->list[i].name, &n))
			return false;
	}
	return true;
}

/* Takes over one action of a child's own plan. *fits false: the plan has a conflicting action on the same item. */
static bool absorb_one(struct plan *p, const struct plan_action *a, bool *fits)
{
	struct plan_action *is = a->table.n ? NULL : plan_find(p, a->key);
	bool counts = a->role == PLAN_TARGET;

	if (!is) {
		struct plan_action *x = plan_add(p, a->role, a->kind, a->key);

		*x = *a;
		x->of = p;
		if (a->role != PLAN_TARGET && a->role != PLAN_MARKER)
			x->role = PLAN_CHILD;
		return true;
	}
	if (is->kind == DYN_DELETE)
		*fits = counts || a->kind == DYN_DELETE; /* it is deleted, so its counters do not matter */
	else if (is->role == PLAN_TARGET && is->kind == DYN_UPDATE && counts)
		return move_all(p->run, &is->add, &a->add);
	else if (is->role == PLAN_MAIN && is->kind == DYN_UPDATE && counts)
		return move_all(p->run, &is->add, &a->add) && move_all(p->run, &p->self, &a->add);
	else if (is->role == PLAN_TARGET && !is->ask_count && a->kind == DYN_DELETE) {
		*is = *a;
		is->role = PLAN_CHILD;
	} else {
		*fits = false;
	}
	return true;
}

static void add_markers(struct plan *p, const struct plan *child)
{
	struct marker *list = arena_array(p->run->arena, struct marker, p->marker_count + child->marker_count);

	for (size_t i = 0; i < p->marker_count + child->marker_count; i++)
		list[i] = i < p->marker_count ? p->markers[i] : child->markers[i - p->marker_count];
	p->markers = list;
	p->marker_count += child->marker_count;
}

static bool absorb(struct plan *p, const struct plan *child, bool *fits)
{
	for (size_t i = 0; i < child->count && *fits; i++)
		if (!child->actions[i].left_out && !absorb_one(p, &child->actions[i], fits))
			return false;
	*fits = *fits && p->count <= ACTIONS_MOST;
	if (*fits && child->marker_count)
		add_markers(p, child);
	return true;
}

/* A copy of the plan on which counts can be tried without changing it. */
static struct plan copy_of(const struct plan *p)
{
	struct plan copy = *p;
	struct arena *a = p->run->arena;

	copy.actions = arena_array(a, struct plan_action, p->capacity);
	for (size_t i = 0; i < p->count; i++) {
		const struct fields *adds = &p->actions[i].add;

		copy.actions[i] = p->actions[i];
		fields_init(&copy.actions[i].add, a);
		for (size_t k = 0; k < adds->count; k++)
			fields_set(&copy.actions[i].add, adds->list[k].name, adds->list[k].value);
	}
	fields_init(&copy.self, a);
	for (size_t k = 0; k < p->self.count; k++)
		fields_set(&copy.self, p->self.list[k].name, p->self.list[k].value);
	return copy;
}

bool doomed_fits(struct run *r, const struct doomed *row, struct value stored)
{
	const struct entity *e = row->entity;
	struct value full;

	if (!e)
		return false;
	full = entity_full(r, e, stored);
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (!a->from_key && value_present(value_get(full, a->name)) && !value_present(value_get(stored, a->name)))
			return false;
	}
	return true;
}

static bool doom_one(struct plan *p, const struct marker *m, const struct doomed *row, struct value stored, bool *fits)
{
	static const struct write_options none = { 0 };
	struct write *w = arena_new(p->run->arena, struct write);
	struct plan child;

	if (renaming_leaves(stored)) { /* renaming_unmark() */
		*fits = false;
		return true;
	}
	for (size_t i = 0; row->entity && i < row->entity->also_count; i++)
		if (row->entity->also[i].events & ON_DELETED) { /* in a transaction of its own */
			*fits = false;
			return true;
		}
	if (!doomed_fits(p->run, row, stored)) {
		const struct plan_action alone = { .role = PLAN_CHILD, .kind = DYN_DELETE, .key = row->key };

		return absorb_one(p, &alone, fits);
	}
	*w = (struct write){
		.run = p->run,
		.entity = row->entity,
		.key = row->key,
		.options = &none,
		.trusted = true,
		.deletes = true,
		.gone = m->gone,
		.alone = true,
	};
	plan_init(&child, w, entity_full(p->run, row->entity, stored), NULL);
	return plan_make(&child) && plan_deleting(&child) && absorb(p, &child, fits);
}

bool plan_doom(struct plan *p, const struct marker *m, const struct doomed *list, size_t n, bool *fits, size_t *found)
{
	struct run *r = p->run;
	struct value *keys = arena_array(r->arena, struct value, n), *items = arena_array(r->arena, struct value, n);
	struct plan with = copy_of(p);
	bool ok = true;

	for (size_t i = 0; i < n; i++)
		keys[i] = list[i].key;
	*found = 0;
	*fits = true;
	if (!dyn_batch_get(r, keys, n, true, items))
		return false;
	for (size_t i = 0; ok && *fits && i < n; i++) {
		if (!value_present(items[i]))
			continue;
		++*found;
		ok = doom_one(&with, m, &list[i], items[i], fits);
	}
	/* The cascade handles a row that does not fit the design. */
	if (!ok && r->problem.type != PROBLEM_INTERNAL && r->problem.type != PROBLEM_BUSY) {
		r->problem = (struct problem){ 0 };
		ok = true;
		*fits = false;
	}
	if (ok && *fits) {
		*p = with;
		for (size_t i = 0; i < p->count; i++)
			p->actions[i].of = p;
	}
	return ok;
}
