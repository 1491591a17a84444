/* Unfinished renames: their markers, and their part in the plan of a write, which begins one or must not meet one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/renaming/renaming.h"

#include "app/db/beside.h"
#include "app/entity/renamed.h"
#include "app/run/state.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "base/ulid.h"

#define HELP_MOST   500 /* children that a waiting write moves before it tells its caller to retry in a second */
#define OWN_MOST    100 /* that the request itself moves after the rename, if the tick carries out the rest */
#define REMOTE_MOST 10  /* the same for a remote table: each is several round trips */

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

static bool make_marker(struct run *r, const struct plan *p, struct renaming *m)
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

static struct value item_of(struct run *r, const struct renaming *m, struct value key)
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

/* A marker may have been put: app_tick() looks for it. */
static void expect_marker(struct run *r)
{
	if (r->app)
		r->app->renames_noted++;
}

bool renaming_leaves(struct value item)
{
	return value_present(item) && value_present(value_get(item, RENAMING_LEAVES));
}

bool renaming_came(struct value item)
{
	return value_present(item) && value_present(value_get(item, RENAMING_CAME));
}

struct value renaming_hidden(struct arena *a, struct value item)
{
	if (renaming_leaves(item))
		item = value_map_with(a, item, RENAMING_LEAVES, VALUE_ABSENT);
	if (renaming_came(item))
		item = value_map_with(a, item, RENAMING_CAME, VALUE_ABSENT);
	return item;
}

/* ---- into the plan ---- */

static struct plan_action *add_marker(struct plan *p, enum dyn_write_kind kind, struct value key)
{
	struct plan_action *a = plan_add(p, PLAN_MARKER, kind, key);

	a->table = beside_table(p->run);
	return a;
}

static void add_condition(struct plan *p, const struct renaming *m)
{
	struct plan_action *a = add_marker(p, DYN_CHECK, m->from_key);

	a->must_exist = true;
	fields_set(&a->equal, SLICE("id"), value_make_s(p->run->arena, m->id));
}

/* N1 */
static bool put_markers(struct plan *p)
{
	struct run *r = p->run;
	struct renaming *m = arena_new(r->arena, struct renaming);

	if (!make_marker(r, p, m))
		return false;
	if (!m->id.n)
		return true;
	for (int i = 0; i < 2; i++) {
		struct plan_action *a = add_marker(p, DYN_PUT, i ? m->to_key : m->from_key);

		a->must_not_exist = true;
		a->item = item_of(r, m, a->key);
	}
	p->renaming = m;
	expect_marker(r);
	return true;
}

/* Whether the server has just made a part of the name: it never was another item's. */
static bool is_new_to_the_world(const struct plan *p, const struct row *item)
{
	const struct row *made = &p->write->made;

	for (size_t i = 0; made->arena && i < p->entity->param_count; i++) {
		struct value v = row_get(item, p->entity->param_at[i]);

		if (value_present(v) && value_equal(row_find(made, p->entity->params[i]), v))
			return true;
	}
	return false;
}

/* N2 */
static void ask_for_none(struct plan *p, const struct row *item)
{
	struct value identity = renamed_identity(p->run, p->entity, entity_identity(p->run, item));

	if (value_present(identity))
		add_marker(p, DYN_CHECK, renamed_key(p->run, p->entity, identity))->must_not_exist = true;
}

static bool gets_another_name(const struct plan *p)
{
	const struct entity *e = p->entity;

	for (size_t i = 0; i < e->param_count; i++)
		if (!value_equal(row_get(&p->old_row, e->param_at[i]), row_get(p->item, e->param_at[i])))
			return true;
	return false;
}

static bool has_guards(const struct entity *e)
{
	for (size_t i = 0; i < e->companion_count; i++)
		if (e->companions[i].unique.n)
			return true;
	return false;
}

static bool is_asked(const struct plan *p, struct value key)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->actions[i].table.n && value_equal(p->actions[i].key, key))
			return true;
	return false;
}

/* N9, for one item that the new one refers to. */
static bool ask_for_no_arrivals(struct plan *p, const struct entity *of)
{
	struct scope s = { .run = p->run, .item = p->item };
	const struct reference *x;

	for (size_t k = 0; (x = entity_follows(p->entity, of, k)); k++) {
		struct value *args, identity, key;

		if (!scope_args(&s, x->args, x->arg_count, &args))
			return false;
		identity = renamed_identity(p->run, of, args);
		if (!value_present(identity))
			continue;
		key = renamed_key(p->run, of, identity);
		if (!is_asked(p, key))
			add_marker(p, DYN_CHECK, key)->must_not_exist = true;
	}
	return true;
}

/* N9. An address that the server has just made is no other's. */
static bool begin(struct plan *p)
{
	const struct design *d = p->run->design;
	const struct write *w = p->write;
	bool begins = p->item && (!value_present(p->old) || write_is_move(p));

	if (!p->entity->is_renamed || !begins || w->follows || w->met)
		return true;
	if (!has_guards(p->entity) && (is_new_to_the_world(p, p->item) || w->take_count))
		return true;
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].rename.then_count && &d->entities[i] != p->entity &&
		    !ask_for_no_arrivals(p, &d->entities[i]))
			return false;
	return true;
}

bool plan_renaming(struct plan *p)
{
	const struct write *w = p->write;

	if (w->follows)
		add_condition(p, w->follows);
	if (!begin(p))
		return false;
	if (!p->entity->rename.then_count)
		return true;
	if (!value_present(p->old)) {
		if (p->item && !is_new_to_the_world(p, p->item))
			ask_for_none(p, p->item);
		return true;
	}
	if (p->item && gets_another_name(p))
		return put_markers(p);
	if (!p->item || (w->deletes && !plan_is_empty(p)))
		ask_for_none(p, &p->old_row);
	return true;
}

/* ---- refused ---- */

/* A branch without the riders: they belong to another write. */
static struct run *aside(struct run *r)
{
	struct run *b = branch_new(r);

	b->depth = r->depth;
	b->riders = NULL;
	b->rider_count = 0;
	return b;
}

static enum plan_end tell_busy(struct run *r, const struct entity *e)
{
	(void)run_fail(r, PROBLEM_BUSY,
		       "what belongs to the %.*s that was renamed still has to follow; try again in a moment",
		       SLICE_ARG(e->name));
	r->problem.retry_after = 1;
	return PLAN_FAILED;
}

static enum plan_end help(struct plan *p, struct run *b, const struct renaming *m)
{
	expect_marker(p->run);
	switch (renaming_carry(b, m, HELP_MOST)) {
	case RENAMING_DONE: return PLAN_AGAIN;
	case RENAMING_IN_PART:
	case RENAMING_STUCK:
	case RENAMING_WAITS: break;
	case RENAMING_FAILED:
		if (b->problem.type == PROBLEM_BUSY)
			break;
		(void)run_fail(p->run, PROBLEM_INTERNAL, "%.*s", SLICE_ARG(b->problem.detail));
		return PLAN_FAILED;
	}
	return tell_busy(p->run, m->entity);
}

/* N9: looks for the item's counterpart under the old name, which follows first; and for its unique values. */
static enum plan_end meet(struct plan *p, struct run *b, const struct renaming *m)
{
	struct renaming back = *m;
	struct companion_item *list;
	struct value key, now;
	struct row f;
	bool names, followed, over;
	size_t n;

	back.from = m->to;
	back.to = m->from;
	row_copy(&f, b->arena, p->item);
	if (!renaming_apply(b, &back, p->entity, &f, &names) || !names ||
	    !entity_complete(b, p->entity, &f, VALUE_ABSENT) || !entity_companions(b, p->entity, &f, &list, &n))
		return tell_busy(p->run, m->entity);
	key = entity_key_of(b, &f);
	if (!dyn_get(b, key, true, &now))
		return tell_busy(p->run, m->entity);
	if (value_present(now))
		return write_follow(b, p->entity, key, m, &followed, &over) ? PLAN_AGAIN : tell_busy(p->run, m->entity);
	for (size_t i = 0; i < n; i++) {
		if (!list[i].rule->unique.n)
			continue;
		if (!dyn_get(b, list[i].key, true, &now))
			return tell_busy(p->run, m->entity);
		if (value_present(now))
			return help(p, b, m);
	}
	p->write->met = true;
	return PLAN_AGAIN;
}

enum plan_end renaming_refused(struct plan *p, const struct plan_action *a, const struct dyn_refusal *f)
{
	struct run *b;
	struct renaming m;
	bool known;

	if (!a->must_not_exist) {
		p->write->over = true;
		return PLAN_FAILED;
	}
	if (!value_present(f->item))
		return PLAN_AGAIN;
	b = aside(p->run);
	if (!renaming_read(b, f->item, &m, &known) || !known)
		return tell_busy(p->run, p->entity);
	return p->entity == m.entity ? help(p, b, &m) : meet(p, b, &m);
}

/* ---- afterwards ---- */

void renaming_follow(struct plan *p)
{
	struct app *app = p->run->app;
	bool ticks = app && app->ticks;
	struct run *b;

	/* What is below another rename is carried out with that one. */
	if (!p->renaming || p->write->follows)
		return;
	b = aside(p->run);
	if (renaming_carry(b, p->renaming, ticks ? (run_is_remote(p->run) ? REMOTE_MOST : OWN_MOST) : INT64_MAX) ==
	    RENAMING_FAILED)
		log_warn("%.*s: not everything of a renamed %.*s has followed: %.*s", SLICE_ARG(p->run->design->name),
			 SLICE_ARG(p->entity->name), SLICE_ARG(b->problem.detail));
	expect_marker(p->run);
	branch_clear(b, p->run);
}

enum plan_end renaming_unmark(struct write *w, struct value old)
{
	struct run *r = aside(w->run);
	const struct value_member none = { RENAMING_LEAVES, VALUE_ABSENT };
	const struct value_member is = { RENAMING_LEAVES, value_get(old, RENAMING_LEAVES) };
	struct dyn_write unmark = {
		.kind = DYN_UPDATE, .must_exist = true, .set = &none, .set_count = 1, .equal = &is, .equal_count = 1
	};
	struct dyn_refusal refusal;

	if (w->follows || !value_present(is.value))
		return PLAN_DONE;
	unmark.key = dyn_key_of(r, old);
	if (dyn_write(r, &unmark, 1, SLICE(""), &refusal) != DYN_FAILED)
		return PLAN_AGAIN;
	(void)run_fail(w->run, r->problem.type, "%.*s", SLICE_ARG(r->problem.detail));
	return PLAN_FAILED;
}
