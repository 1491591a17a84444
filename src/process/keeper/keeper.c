/* Follows a page of changes, looking at each item once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/deleting.h"
#include "app/db/late.h"
#include "app/entity/renamed.h"
#include "app/file/file.h"
#include "app/write/keep.h"
#include "app/run/passed_over.h"
#include "app/write/renaming/renaming.h"
#include "app/write/write_plan.h"
#include "base/log.h"
#include "base/map.h"
#include "process/keeper/keeper_move.h"

/* ---- whether a design needs it ---- */

static bool has_counters(const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].counter && keep_depends(e, e->attributes[i].at))
			return true;
	return false;
}

static bool has_copies(const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].kept_by.n)
			return true;
	return false;
}

/* Whether an item that the database removes leaves other things behind. */
static bool has_traces(const struct entity *e)
{
	return e->companion_count || e->count_count || (e->login.present && e->login.secret_count);
}

bool keeper_is_needed(const struct design *d)
{
	if (d->stream != STREAM_NEW_AND_OLD)
		return false; /* the stream lacks the images: requests do all of the work themselves */
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if (entity_has_files(e) || e->delete_.then_count || has_copies(e) || has_counters(e) ||
		    (e->may_expire && has_traces(e)))
			return true;
	}
	return false;
}

/* ---- by an index ---- */

/* Whether the item keeps its key and changes its identity. */
static bool is_renamed(const struct entity *e, const struct change *c)
{
	for (size_t i = 0; c->events == ON_UPDATED && i < e->param_count; i++)
		if (change_differs(c, e->param_at[i]))
			return true;
	return false;
}

/* Whether the change may be a deletion. (finish_deletion() finds out whether the item only moved.) */
static bool may_be_deletion(const struct entity *e, const struct change *c)
{
	if (c->events == ON_DELETED)
		return true;
	for (size_t i = 0; c->events == ON_UPDATED && e->delete_.soft && i < e->delete_.set_count; i++)
		if (change_differs(c, e->delete_.set[i].at))
			return true;
	return false;
}

/* Whether copies of the item may have to be found. */
static bool may_be_copied(const struct change *c, const struct attribute *copy)
{
	if (!copy->kept_by.n || copy->copy_of != c->entity || !late_reads_index(copy->kept_access))
		return false;
	return c->events != ON_UPDATED || copy->copy_if || change_differs(c, copy->copy_at) || is_renamed(c->entity, c);
}

/* Whether an index finds what the item copies. */
static bool finds_source(const struct attribute *copy)
{
	return copy->kept_by.n && copy->copy_of && late_reads_index(copy->copy_of->found_access);
}

bool keeper_asks_index(const struct design *d, const struct change *c)
{
	const struct entity *e = c->entity;

	if (!e)
		return false;
	if (e->delete_.then_count && may_be_deletion(e, c))
		return true;
	for (size_t i = 0; i < e->attribute_count; i++)
		if (finds_source(&e->attributes[i]))
			return true;
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++)
			if (may_be_copied(c, &d->entities[i].attributes[k]))
				return true;
	return false;
}

/* ---- what is known of an entity ---- */

struct role {
	const struct entity *entity;
	bool *counters; /* by attribute: a counter with something that depends on it */
	bool has_counters, has_copies;
	struct name_list copied;      /* attributes that others keep copies of */
	struct name_list copied_from; /* its own copies, and the attributes that lead to their sources */
};

struct keeper_roles {
	struct role *list; /* by entity */
};

static void add_own_copies(struct arena *a, struct role *x)
{
	const struct entity *e = x->entity;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *own = &e->attributes[i];

		if (!own->kept_by.n)
			continue;
		x->has_copies = true;
		names_add(a, &x->copied_from, own->at);
		for (size_t n = 0; n < own->copy_arg_count; n++)
			names_of_term(a, &x->copied_from, e, own->copy_args[n]);
	}
}

static void add_copied(struct arena *a, const struct design *d, struct role *x)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t n = 0; n < d->entities[i].attribute_count; n++) {
			const struct attribute *of = &d->entities[i].attributes[n];

			if (of->kept_by.n && of->copy_of == x->entity)
				names_of_copy(a, &x->copied, x->entity, of);
		}
}

const struct keeper_roles *keeper_roles_new(struct arena *a, const struct design *d)
{
	struct keeper_roles *roles = arena_new(a, struct keeper_roles);

	roles->list = arena_array(a, struct role, d->entity_count);
	for (size_t k = 0; k < d->entity_count; k++) {
		struct role *x = &roles->list[k];
		const struct entity *e = x->entity = &d->entities[k];

		x->counters = arena_array(a, bool, e->attribute_count);
		for (size_t i = 0; i < e->attribute_count; i++) {
			x->counters[i] = e->attributes[i].counter && keep_depends(e, e->attributes[i].at);
			x->has_counters = x->has_counters || x->counters[i];
		}
		add_own_copies(a, x);
		add_copied(a, d, x);
	}
	return roles;
}

/* ---- what is known of an item ---- */

struct kept {
	const struct role *role;
	struct value key;
	const struct row *now;    /* as the last record says; its `full` absent: gone */
	struct name_list changed; /* attributes that others copy */
	bool counted;             /* a counter moved that something depends on */
	bool copies;              /* a copy of it, or what leads to its source, changed */
};

struct keeper {
	struct run *run;
	struct slice seen;   /* up to and with this change it has followed them all before: a replay; empty: none */
	struct run *branch;  /* cleared from item to item */
	struct run *sources; /* remembers what copies are compared with */
	const struct keeper_roles *roles;
	struct map items; /* key -> struct kept, in order */
};

static const struct role *role_of(const struct keeper *k, const struct entity *e)
{
	return &k->roles->list[e - k->run->design->entities];
}

static struct kept *kept_of(struct keeper *k, const struct role *role, struct value key)
{
	struct slice bytes = value_slice(key);
	struct kept *x = map_get(&k->items, bytes);

	if (!x) {
		x = arena_new(k->run->arena, struct kept);
		x->key = key;
		map_set(&k->items, bytes, x);
	}
	x->role = role;
	return x;
}

/* ---- looking at a record ---- */

/* Whether the record changes a copy, or the attributes that lead to its source. */
static bool copies_anew(const struct role *role, const struct change *c)
{
	for (size_t i = 0; i < role->copied_from.count; i++)
		if (change_differs(c, role->copied_from.list[i]))
			return true;
	return false;
}

static void look_at(struct keeper *k, const struct change *c)
{
	const struct entity *e = c->entity;
	const struct role *role = role_of(k, e);
	struct kept *x;

	if (c->unfit.n && (role->has_counters || role->has_copies || role->copied.count || e->delete_.then_count)) {
		(void)change_is_passed_over(k->run, c);
		return;
	}
	if (!role->has_counters && !role->has_copies && !role->copied.count)
		return;
	x = kept_of(k, role, c->key);
	x->now = &c->now;
	if (c->events == ON_DELETED)
		return;
	for (size_t i = 0; role->has_counters && c->events == ON_UPDATED && i < e->attribute_count; i++)
		x->counted = x->counted || (role->counters[i] && change_differs(c, e->attributes[i].at));
	x->copies = x->copies || (role->has_copies && (c->events == ON_CREATED || copies_anew(role, c)));
	/* In a new item everything differs: copies may be older than the item, or than its move to this key. */
	for (size_t i = 0; i < role->copied.count; i++)
		if (is_renamed(e, c) || change_differs(c, role->copied.list[i]))
			names_add(k->run->arena, &x->changed, role->copied.list[i]);
}

/* ---- doing it ---- */

/* Work that can never succeed must not block the rest. */
static bool told(struct keeper *k, const struct run *inside, bool ok, const struct entity *e, const char *what)
{
	enum problem_type t = inside->problem.type;

	if (!ok && (t == PROBLEM_BUSY || t == PROBLEM_INTERNAL || t == PROBLEM_NONE)) {
		(void)run_fail(k->run, t ? t : PROBLEM_INTERNAL, "%.*s", SLICE_ARG(inside->problem.detail));
		return false;
	}
	if (!ok)
		run_pass_over(k->run, PASSED_OVER_REFUSED, "%s of a %.*s: %.*s", what, SLICE_ARG(e->name),
			      SLICE_ARG(inside->problem.detail));
	return true;
}

static bool finish(struct keeper *k, bool ok, const struct entity *e, const char *what)
{
	ok = told(k, k->branch, ok, e, what);
	branch_clear(k->branch, k->run);
	return ok;
}

/* Whether the record's derived attributes and keys are correct: the writer that moved the counter has updated them. */
static bool is_in_order(struct run *r, const struct row *stored)
{
	const struct entity *e = stored->entity;
	struct value full = entity_full(r, e, stored->full);
	struct row f;

	if (e->companion_count || e->count_count)
		return false; /* they are not in the record */
	row_from(&f, r->arena, e, full);
	return entity_complete(r, e, &f, full) && value_equal(row_item(&f), full);
}

static bool keep_counted(struct keeper *k, const struct kept *x)
{
	const struct entity *e = x->role->entity;
	bool ok = is_in_order(k->branch, x->now);

	k->branch->problem = (struct problem){ 0 };
	if (!ok)
		ok = keep_item(k->branch, e, x->key);
	return finish(k, ok, e, "what depends on a counter");
}

static bool keep_sources(struct keeper *k, const struct kept *x)
{
	const struct entity *e = x->role->entity;
	struct row full = entity_lay(k->branch, e, x->now->full), old;

	row_copy(&old, k->branch->arena, &full);
	for (size_t i = 0; i < x->changed.count; i++) {
		const struct name *n = x->changed.list[i];

		/* Any other value will do. */
		row_set(&old, n, value_present(row_get(&full, n)) ? VALUE_ABSENT : value_make_null(k->branch->arena));
	}
	return finish(k, keep_copies(k->branch, e, row_item(&old), full.full), e, "copies");
}

/* Whether the copy is stale: its source changed before the item was visible. */
static bool compare(struct keeper *k, const struct kept *x, const struct attribute *a, bool *differs_)
{
	struct run *r = k->sources;
	struct row item = entity_lay(r, x->role->entity, x->now->full), source;
	struct scope s = { .run = r, .item = &item };
	struct value *args, copy;

	*differs_ = false;
	if (!scope_args(&s, a->copy_args, a->copy_arg_count, &args) ||
	    !entity_fetch(r, a->copy_of, args, a->copy_arg_count, false, &source) ||
	    !entity_copied(r, a, &source, &copy))
		return false;
	*differs_ = !value_equal(copy, row_get(&item, a->at));
	return true;
}

static bool keep_own_copies(struct keeper *k, const struct kept *x)
{
	const struct entity *e = x->role->entity;
	const struct design *d = k->run->design;
	bool *done = arena_array(k->run->arena, bool, d->entity_count); /* by source */

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		bool stale, ok;

		if (!a->kept_by.n || !a->copy_of || done[a->copy_of - d->entities])
			continue;
		ok = compare(k, x, a, &stale);
		if (!told(k, k->sources, ok, e, "a copy"))
			return false;
		k->sources->problem = (struct problem){ 0 };
		if (!ok || !stale)
			continue;
		done[a->copy_of - d->entities] = true;
		if (!finish(k, write_refresh(k->branch, e, x->key, a->copy_of), e, "a copy"))
			return false;
	}
	return true;
}

/* Copies of an item that is gone; after its cascade, so that nothing is written that is about to be removed. */
static bool keep_left(struct keeper *k, const struct change *c)
{
	const struct entity *e = c->entity;

	if (!role_of(k, e)->copied.count || !value_present(c->old_image) || c->unfit.n ||
	    !(c->events == ON_DELETED || is_renamed(e, c)))
		return true;
	return finish(k, keep_copies(k->branch, e, entity_full(k->branch, e, c->old_image), VALUE_ABSENT), e,
		      "copies of a removed item");
}

static bool keep_one(struct keeper *k, const struct kept *x)
{
	if (!value_present(x->now->full))
		return true;
	if (x->counted && !keep_counted(k, x))
		return false;
	if (x->changed.count && !keep_sources(k, x))
		return false;
	return !x->copies || keep_own_copies(k, x);
}

/* Whether the record is a soft deletion: the attributes that `delete` sets have its values now, and had not before.
 * Values that depend on the item, such as a time, only have to be new. */
static bool is_soft_deletion(struct keeper *k, const struct change *c)
{
	const struct delete_rule *d = &c->entity->delete_;
	bool is_new = false;

	for (size_t i = 0; i < d->set_count; i++) {
		const struct assignment *s = &d->set[i];
		const struct attribute *a = slots_attribute(c->entity->slots, s->at);
		struct value now = row_get(&c->now, s->at);

		if (s->term->kind == TERM_LITERAL && a && !value_equal(now, write_fit(k->branch, a, s->term->value)))
			return false;
		if (s->term->kind != TERM_LITERAL && !value_present(now))
			return false;
		is_new = is_new || change_differs(c, s->at);
	}
	return is_new;
}

/* The attributes that the deletion has set, from the record. */
static struct fields set_by_deletion(struct keeper *k, const struct change *c)
{
	const struct delete_rule *d = &c->entity->delete_;
	struct fields f;

	fields_init(&f, k->branch->arena);
	for (size_t i = 0; i < d->set_count; i++)
		fields_set(&f, d->set[i].attribute, row_get(&c->now, d->set[i].at));
	return f;
}

/* A cascade seen before does not run again: items under that name now are newer. */
static bool is_seen_again(const struct keeper *k, const struct change *c)
{
	return sequence_compare(c->sequence, k->seen) <= 0;
}

static bool finish_soft_deletion(struct keeper *k, const struct change *c)
{
	struct value old = entity_full(k->branch, c->entity, c->old_image);
	struct fields still;
	bool marked = true;

	if (!c->entity->delete_.soft || !is_soft_deletion(k, c))
		return true;
	if (is_seen_again(k, c) && !deleting_is_marked(k->branch, c->entity, old, &marked))
		return false;
	still = set_by_deletion(k, c);
	return !marked || deleting_finish(k->branch, c->entity, old, &still);
}

static bool is_renamed_away(struct keeper *k, const struct change *c, bool *out)
{
	struct row was = entity_lay(k->branch, c->entity, c->old_image);

	return renamed_away(k->branch, c->entity, entity_identity(k->branch, &was), out);
}

/* A marker proves a deletion; without one the item may have moved, or be back. */
static bool finish_deletion(struct keeper *k, const struct change *c)
{
	struct value gone = entity_full(k->branch, c->entity, c->old_image);
	enum keeper_fate fate = KEEPER_GONE;
	bool marked, renamed = false;
	struct row was;

	if (!deleting_is_marked(k->branch, c->entity, gone, &marked))
		return false;
	if (!marked && is_seen_again(k, c))
		return true;
	if (!marked && !is_renamed_away(k, c, &renamed))
		return false;
	if (renamed)
		return true; /* and what hangs on it follows */
	if (!marked && !keeper_fate(k->branch, c, &fate))
		return false;
	if (fate == KEEPER_UNKNOWN)
		log_debug("%.*s: a %.*s is gone from its key, and may have moved: nothing is removed after it",
			  SLICE_ARG(k->run->design->name), SLICE_ARG(c->entity->name));
	if (fate != KEEPER_GONE)
		return true;
	was = entity_lay(k->branch, c->entity, c->old_image);
	return renaming_settle(k->branch, c->entity, entity_identity(k->branch, &was)) &&
	       deleting_finish(k->branch, c->entity, gone, NULL);
}

static bool follow_deletion(struct keeper *k, const struct change *c)
{
	const struct entity *e = c->entity;

	if (!e->delete_.then_count || !value_present(c->old_image) || c->unfit.n || c->follows)
		return true;
	return finish(k, c->events == ON_UPDATED ? finish_soft_deletion(k, c) : finish_deletion(k, c), e,
		      "what a deletion removes");
}

/* Files that the item no longer holds, also of an item that does not fit. */
static bool keep_files(struct keeper *k, const struct change *c)
{
	bool ok;

	if (c->events == ON_CREATED || !design_has_files(k->run->design))
		return true;
	ok = file_follow(k->branch, c->key, c->old_image, c->new_image);
	if (!ok)
		(void)run_fail(k->run, k->branch->problem.type ? k->branch->problem.type : PROBLEM_INTERNAL, "%.*s",
			       SLICE_ARG(k->branch->problem.detail));
	branch_clear(k->branch, k->run);
	return ok;
}

bool keeper_follow(struct run *r, const struct keeper_roles *roles, const struct change *list, size_t n,
		   struct slice seen)
{
	struct keeper k = { .run = r, .roles = roles, .seen = seen, .branch = branch_new(r), .sources = branch_new(r) };

	k.branch->depth = k.sources->depth = r->depth;
	map_init(&k.items, r->arena);
	for (size_t i = 0; i < n; i++)
		if (list[i].entity)
			look_at(&k, &list[i]);
	for (size_t i = 0; i < k.items.n; i++)
		if (!keep_one(&k, k.items.entries[i].value))
			return false;
	for (size_t i = 0; i < n; i++)
		if (list[i].entity && list[i].events != ON_CREATED && !follow_deletion(&k, &list[i]))
			return false;
	for (size_t i = 0; i < n; i++)
		if (list[i].entity && !keep_left(&k, &list[i]))
			return false;
	for (size_t i = 0; i < n; i++)
		if (!keep_files(&k, &list[i]))
			return false;
	return true;
}

bool keeper_has_traces(const struct change *c)
{
	return c->by_ttl && c->events == ON_DELETED && c->entity && !c->unfit.n && value_present(c->old_image) &&
	       has_traces(c->entity);
}

bool keeper_take_traces(struct run *r, const struct change *c, const struct position *was, bool *wrote)
{
	struct position now = *was;
	enum problem_type t;
	bool ok;

	now.sequence = c->sequence;
	now.progress = SLICE("");
	now.stored = true;
	now.time_ms = c->created_ms;
	r->riders = checkpoint_move(r, was, &now);
	r->rider_count = 1;
	ok = write_remove_traces(r, c->entity, entity_full(r, c->entity, c->old_image), wrote);
	r->riders = NULL;
	r->rider_count = 0;
	t = r->problem.type;
	if (ok || r->rider_lost || t == PROBLEM_BUSY || t == PROBLEM_INTERNAL || t == PROBLEM_NONE)
		return ok;
	run_pass_over(r, PASSED_OVER_REFUSED, "companions and counts of an expired %.*s: %.*s",
		      SLICE_ARG(c->entity->name), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
	return true;
}
