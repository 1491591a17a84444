/* Turns a plan into a request, and a refusal into a problem or a retry.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/entity/renamed.h"
#include "app/write/deleting.h"
#include "app/write/keep.h"
#include "app/write/receipt.h"
#include "app/write/renaming/renaming.h"
#include "app/write/turn.h"
#include "app/write/write_plan.h"
#include "base/log.h"

/* ---- messages ---- */

/* Whether an argument is in the path of the written item: then the address is wrong, not the body. */
static bool in_path(const struct write *w, const struct reference *f)
{
	for (size_t i = 0; i < f->arg_count; i++)
		for (size_t k = 0; k < w->entity->param_count; k++)
			if (f->args[i]->kind == TERM_PATH && f->args[i]->name_count == 1 &&
			    f->args[i]->at == w->entity->param_at[k])
				return true;
	return false;
}

static struct slice first_name(const struct reference *f)
{
	for (size_t i = 0; i < f->arg_count; i++)
		if (f->args[i]->kind == TERM_PATH)
			return f->args[i]->names[0];
	return SLICE("");
}

/* An argument from the body, not the path: then the body is wrong, not the address. */
static struct slice in_body(const struct write *w, const struct reference *f)
{
	for (size_t i = 0; w->input && i < f->arg_count; i++) {
		const struct term *t = f->args[i];
		bool path = false;

		if (t->kind != TERM_PATH || t->name_count != 1 || !row_has_text(w->input, t->names[0]))
			continue;
		for (size_t k = 0; k < w->entity->param_count; k++)
			path = path || t->at == w->entity->param_at[k];
		if (!path)
			return t->names[0];
	}
	return SLICE("");
}

/* A sentence that is about one of several items says about which. */
static struct slice sentence_of(struct write *w, const struct plan_ask *ask)
{
	if (!ask->each || !ask->each->list)
		return ask->sentence;
	return arena_printf(w->run->arena, "%.*s %.*s: %.*s", SLICE_ARG(ask->reference->entity),
			    SLICE_ARG(write_identity_text(w->run, ask->args, ask->reference->arg_count)),
			    SLICE_ARG(ask->sentence));
}

/* The attribute with the list that a loop goes through. */
static struct slice list_name(const struct plan_ask *ask)
{
	const struct term *list = ask->each ? ask->each->list : NULL;

	return list && list->kind == TERM_PATH ? list->names[0] : SLICE("");
}

bool plan_tell_missing(struct write *w, const struct plan_ask *ask)
{
	const struct reference *f = ask->reference;
	struct slice text, name = in_body(w, f);

	if (list_name(ask).n)
		name = list_name(ask);
	else if (ask->of && (name.n || !names_among(w->entity->param_at, w->entity->param_count, ask->of->at)))
		name = ask->of->name;
	if (ask->sentence.n)
		text = sentence_of(w, ask);
	else
		text = arena_printf(w->run->arena, "there is no %.*s %.*s", SLICE_ARG(f->entity),
				    SLICE_ARG(write_identity_text(w->run, ask->args, f->arg_count)));
	if (!name.n && !w->whole && in_path(w, f))
		return run_fail(w->run, PROBLEM_NOT_FOUND, "%.*s", SLICE_ARG(text));
	w->run->problem = (struct problem){ 0 };
	return run_invalid(w->run, name.n ? name : first_name(f), "%.*s", SLICE_ARG(text));
}

bool plan_tell_unfit(struct write *w, const struct plan_ask *ask)
{
	const struct reference *f = ask->reference;

	if (ask->sentence.n)
		return run_fail(w->run, PROBLEM_CONFLICT, "%.*s", SLICE_ARG(sentence_of(w, ask)));
	return run_fail(w->run, PROBLEM_CONFLICT, "%.*s %.*s is not in a state for this", SLICE_ARG(f->entity),
			SLICE_ARG(write_identity_text(w->run, ask->args, f->arg_count)));
}

static struct slice identity_of(const struct plan *p)
{
	const struct value *args = entity_identity(p->run, p->item);

	return write_identity_text(p->run, args, p->entity->param_count);
}

enum plan_end plan_tell_exists(struct plan *p)
{
	bool vowel = strchr("AEIO", p->entity->name.p[0]) != NULL;

	(void)run_fail(p->run, PROBLEM_EXISTS, "there is %s %.*s %.*s already", vowel ? "an" : "a",
		       SLICE_ARG(p->entity->name), SLICE_ARG(identity_of(p)));
	return PLAN_FAILED;
}

static enum plan_end tell_taken(struct plan *p, struct slice attribute, struct slice value)
{
	(void)run_fail(p->run, PROBLEM_TAKEN, "%.*s '%.*s' is taken", SLICE_ARG(attribute), SLICE_ARG(value));
	p->run->problem.attribute = attribute;
	return PLAN_FAILED;
}

static enum plan_end tell_value_taken(struct plan *p, struct slice attribute)
{
	return tell_taken(p, attribute, run_text(p->run, row_find(p->item, attribute)));
}

/* An element of a list; of a structure what its members are. */
static struct slice element_text(struct run *r, struct value element)
{
	struct value_iter it;
	struct buf b;

	if (value_type(element) != VALUE_M)
		return run_text(r, element);
	buf_init(&b, r->arena);
	it = value_iter(element);
	while (value_next(&it)) {
		buf_str(&b, b.n ? " " : "");
		buf_put(&b, run_text(r, it.value));
	}
	return buf_slice(&b);
}

/* Of a companion for each element of a list: which of them. */
static enum plan_end tell_guard_taken(const struct plan_action *a)
{
	struct plan *p = a->of;
	struct companion_item *made;
	size_t n;

	if (!a->companion->each_list || !entity_companions(p->run, p->entity, p->item, &made, &n))
		return tell_value_taken(p, a->companion->unique);
	for (size_t i = 0; i < n; i++)
		if (made[i].rule == a->companion && value_equal(made[i].key, a->key))
			return tell_taken(p, a->companion->unique, element_text(p->run, made[i].element));
	return tell_value_taken(p, a->companion->unique);
}

/* ---- refusals ---- */

/* Whether the guard's key is the identity in another form: then a clash means that the item exists. */
static bool guards_identity(struct plan *p, const struct companion *c)
{
	const struct entity *e = p->entity;
	const struct attribute *a = entity_attribute(e, c->unique);
	struct name_list names = { 0 };

	if (a && a->unique)
		return false;
	for (size_t i = 0; i < c->rule_count; i++)
		if (c->rules[i].at->of_table)
			names_of_template(p->run->arena, &names, e, c->rules[i].template);
	for (size_t i = 0; i < e->param_count; i++)
		if (!names_have(&names, e->param_at[i]))
			return false;
	return true;
}

bool plan_address_is_taken(struct plan *p, bool *out)
{
	const struct entity *e = p->entity;
	const struct write *w = p->write;
	struct row found;

	*out = false;
	if (!e->found_by.n || w->trusted || w->action)
		return true;
	for (size_t i = 0; w->made.arena && i < e->param_count; i++)
		if (row_has(&w->made, e->param_at[i]))
			return true;
	for (size_t i = 0; i < e->companion_count; i++)
		if (e->companions[i].unique.n && guards_identity(p, &e->companions[i]))
			return true;
	/* Usually there is none: a rehearsal continues on that assumption, up to its write. */
	backend_together(p->run->backend, true);
	if (!entity_fetch(p->run, e, entity_identity(p->run, p->item), e->param_count, true, &found))
		return false;
	*out = found.entity != NULL;
	return true;
}

static bool is_fetch(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_FETCH;
}

/* Whether part of the new item's identity was read from another item (the next number): then a concurrent write took
 * it, and the next try gets another one. The same value twice is not a race. */
static bool chosen_here(struct plan *p)
{
	struct write *w = p->write;
	bool read = false;

	for (size_t i = 0; i < p->entity->param_count; i++) {
		const struct attribute *a = slots_attribute(p->entity->slots, p->entity->param_at[i]);

		read = read || (a && !(w->input && row_has(w->input, a->at)) && term_any(a->default_, is_fetch, NULL));
	}
	if (!read || value_equal(w->clash, p->key))
		return false;
	w->clash = p->key;
	return true;
}

/* The riders stay with the write that is refused: what they say has not happened yet. */
static bool remove_expired(struct run *r, const struct entity *e, struct value item)
{
	const struct dyn_write *riders = r->riders;
	size_t n = r->rider_count;
	bool removed;

	r->riders = NULL;
	r->rider_count = 0;
	removed = write_remove(r, e, dyn_key_of(r, item));
	r->riders = riders;
	r->rider_count = n;
	return removed;
}

/* The target key is occupied. */
static enum plan_end refused_place(struct plan *p, const struct dyn_refusal *f)
{
	const struct entity *e = p->entity;

	struct write *w = p->write;

	/* A rule has read the previous item, which is gone by now (write_witness.c). */
	if (plan_main(p)->must_exist && !value_present(f->item))
		return PLAN_AGAIN;
	/* An expired item counts as absent. Removes it now, with its companions. */
	if (value_present(f->item) && entity_expired(p->run, f->item)) {
		const struct entity *of = entity_of(p->run, f->item);

		if (of)
			return remove_expired(p->run, of, f->item) ? PLAN_AGAIN : PLAN_FAILED;
	}
	if (!value_present(p->old) && (write_skips(p) || w->action || chosen_here(p)))
		return PLAN_AGAIN;
	for (size_t i = 0; value_present(p->old) && i < e->param_count; i++)
		if (names_have(&p->changed, e->param_at[i]))
			return tell_value_taken(p, e->params[i]);
	return plan_tell_exists(p);
}

/* The target is gone, which is fine; but if a rule has read it, it must have been gone then too. */
static enum plan_end leave_out(struct plan_action *a)
{
	if (!a->witnessed) {
		a->left_out = true;
		return PLAN_DONE;
	}
	if (!a->must_not_exist || !a->must_exist)
		return PLAN_AGAIN;
	a->kind = DYN_CHECK;
	a->must_exist = false;
	a->add.count = a->set.count = a->equal.count = 0;
	a->also = NULL;
	return PLAN_DONE;
}

/* The condition of a target; its asks may be those of several parts. */
static enum plan_end refused_target(struct plan_action *a, const struct dyn_refusal *f)
{
	struct plan *p = a->of;
	const struct plan_ask *unfit = NULL;
	struct row target;
	struct scope s = { .run = p->run, .item = &target };

	if (!value_present(f->item) || entity_expired(p->run, f->item)) {
		bool renamed = false;

		if (a->args && !renamed_look(p->run, a->entity, a->args, a->entity->param_count, &renamed))
			return PLAN_FAILED;
		if (renamed)
			return PLAN_AGAIN; /* under its new name (N8) */
		if (a->ask_count) {
			const struct plan_ask *ask = &a->asks[0];

			for (size_t i = 0; i < a->ask_count && !ask->sentence.n; i++)
				ask = a->asks[i].sentence.n ? &a->asks[i] : ask;
			(void)plan_tell_missing(ask->by, ask);
			return PLAN_FAILED;
		}
		return leave_out(a);
	}
	row_from(&target, p->run->arena, a->entity, entity_full(p->run, a->entity, f->item));
	if (a->ask_count && !write_is_own(p->write)) {
		bool keeps;

		if (!entity_keeps(p->run, &target, NULL, &keeps))
			return PLAN_FAILED;
		if (!keeps) { /* another tenant's: as if it were not there */
			(void)plan_tell_missing(p->write, &a->asks[0]);
			return PLAN_FAILED;
		}
	}
	for (size_t i = 0; i < a->ask_count; i++) {
		bool holds;

		if (!scope_holds(&s, a->asks[i].if_, &holds))
			return PLAN_FAILED;
		if (!holds && (!unfit || !unfit->sentence.n))
			unfit = &a->asks[i];
	}
	if (!unfit)
		return PLAN_AGAIN; /* a copy was out of date, or the condition holds by now */
	(void)plan_tell_unfit(unfit->by, unfit);
	return PLAN_FAILED;
}

/* The item itself: other parts may ask something of it. */
static enum plan_end refused_main(struct plan_action *a, const struct dyn_refusal *f)
{
	if (a->kind == DYN_PUT)
		return refused_place(a->of, f);
	return a->ask_count ? refused_target(a, f) : PLAN_AGAIN;
}

/* DONE: left the action out. */
static enum plan_end refused_one(struct plan_action *a, const struct dyn_refusal *f)
{
	struct plan *p = a->of;

	switch (a->role) {
	case PLAN_MAIN: return refused_main(a, f);
	case PLAN_COMPANION:
		if (!guards_identity(p, a->companion))
			return tell_guard_taken(a);
		return !value_present(p->old) && p->write->action ? PLAN_AGAIN : plan_tell_exists(p);
	case PLAN_TARGET: return refused_target(a, f);
	case PLAN_MARKER: return deleting_refused(p, a, f);
	case PLAN_FILE: write_forget_files(p->write); return PLAN_AGAIN;
	case PLAN_OLD:
	case PLAN_CHILD:
	case PLAN_SECRET:
	case PLAN_WITNESS: break;
	}
	return PLAN_AGAIN;
}

struct commit_request {
	struct dyn_write *writes;
	struct plan_action **actions; /* of each */
	struct dyn_refusal *refusals;
	size_t count;
};

/* A required target is missing: a wrong address takes precedence over conflicts there. */
static bool is_missing(const struct plan_action *a, const struct dyn_refusal *f)
{
	struct plan *p = a->of;

	return a->role == PLAN_TARGET && a->ask_count && (!value_present(f->item) || entity_expired(p->run, f->item));
}

/* A companion that a rule has read has changed: not a taken value. */
static bool is_other_companion(const struct plan_action *a, const struct dyn_refusal *f)
{
	return a->role == PLAN_COMPANION && a->witnessed && !(a->companion->unique.n && value_present(f->item));
}

/* What is refused in a transaction: the first of each kind. */
struct refused {
	struct plan_action *taken, *missing, *place;
	const struct dyn_refusal *at; /* the refusal of `place` */
};

/* False: start again. */
static bool sort_refusal(struct refused *x, struct plan_action *a, const struct dyn_refusal *f)
{
	if (a->role == PLAN_OLD || a->role == PLAN_SECRET || a->role == PLAN_WITNESS ||
	    (a->role == PLAN_MAIN && a->kind != DYN_PUT && !a->ask_count) || is_other_companion(a, f) ||
	    (a->takes && value_present(f->item)))
		return false;
	if (a->role == PLAN_MAIN && a->kind == DYN_PUT && !x->place) {
		x->place = a;
		x->at = f;
	}
	if (a->role == PLAN_COMPANION && !guards_identity(a->of, a->companion) && !x->taken)
		x->taken = a;
	if (is_missing(a, f) && !x->missing)
		x->missing = a;
	return true;
}

/* Says which part the problem is about. */
static enum plan_end of_part(const struct plan_action *a, enum plan_end end)
{
	if (end == PLAN_FAILED && a->of->write->whole)
		(void)plan_tell_part(a->of);
	return end;
}

/* Priority: first a changed item that no longer is as read; and a taken value before "the item exists". */
static enum plan_end refused(const struct commit_request *q)
{
	struct refused x = { 0 };
	const struct plan *of;
	enum plan_end end;

	for (size_t i = 0; i < q->count; i++)
		if (q->refusals[i].failed && !sort_refusal(&x, q->actions[i], &q->refusals[i]))
			return PLAN_AGAIN;
	of = x.place ? x.place->of : NULL;
	if (of && !value_present(of->old) && of->write->action)
		return refused_place(x.place->of, x.at);
	if (x.missing)
		return of_part(x.missing, refused_target(x.missing, &(struct dyn_refusal){ .failed = true }));
	if (x.taken && !(of && value_present(x.at->item) && entity_expired(of->run, x.at->item)))
		return of_part(x.taken, tell_guard_taken(x.taken));
	if (x.place)
		return of_part(x.place, refused_place(x.place->of, x.at));
	for (size_t i = 0; i < q->count; i++) {
		if (!q->refusals[i].failed)
			continue;
		end = of_part(q->actions[i], refused_one(q->actions[i], &q->refusals[i]));
		if (end != PLAN_DONE)
			return end;
	}
	return PLAN_DONE;
}

/* ---- the request ---- */

static struct dyn_write written(const struct plan_action *a)
{
	return (struct dyn_write){
		.kind = a->kind,
		.table = a->table,
		.key = a->key,
		.item = a->item,
		.set = a->set.list,
		.set_count = a->set.count,
		.add = a->add.list,
		.add_count = a->add.count,
		.must_exist = a->must_exist,
		.must_not_exist = a->must_not_exist,
		.or_expired = a->or_expired,
		.equal = a->equal.list,
		.equal_count = a->equal.count,
		.also = a->also,
	};
}

static void make_request(struct plan *p, struct commit_request *q)
{
	struct arena *a = p->run->arena;

	q->writes = arena_array(a, struct dyn_write, p->count);
	q->actions = arena_array(a, struct plan_action *, p->count);
	q->refusals = arena_array(a, struct dyn_refusal, p->count);
	q->count = 0;
	for (size_t i = 0; i < p->count; i++) {
		if (p->actions[i].left_out)
			continue;
		q->actions[q->count] = &p->actions[i];
		q->writes[q->count++] = written(&p->actions[i]);
	}
}

static enum plan_end too_many(struct plan *p, size_t n)
{
	bool looks = p->count && p->actions[p->count - 1].role == PLAN_WITNESS;

	(void)run_fail(p->run, PROBLEM_INVALID, "this would change %s%zu items at once; it may be at most %d",
		       looks ? "or rest on " : "", n, DYN_MOST_ACTIONS);
	return PLAN_FAILED;
}

/* If there is no room for the receipt, the token, made from the same key, prevents a second write. */
static enum dyn_outcome send_request(struct plan *p, struct commit_request *q)
{
	const struct write_options *o = p->write->options;
	struct run *r = p->run;
	enum dyn_outcome end;

	if (!o->receipt || q->count + 1 > DYN_MOST_ACTIONS)
		return dyn_write(r, q->writes, q->count, o->token, q->refusals);
	r->riders = receipt_rider(r, o->receipt, p->key);
	r->rider_count = 1;
	end = dyn_write(r, q->writes, q->count, SLICE(""), q->refusals);
	r->riders = NULL;
	r->rider_count = 0;
	return end;
}

static void remember_places(struct plan *p)
{
	if (p->item)
		entity_remember_place(p->run, p->entity, p->item, p->key);
	for (size_t i = 0; i < p->part_count; i++)
		if (p->parts[i]->item)
			entity_remember_place(p->run, p->parts[i]->entity, p->parts[i]->item, p->parts[i]->key);
}

/* What is also deleted, or also moves, is not on its way after another item that was renamed. */
static enum plan_end unmark_parts(struct plan *p)
{
	enum plan_end end = PLAN_DONE;

	for (size_t i = 0; i < p->part_count && end == PLAN_DONE; i++) {
		struct plan *part = p->parts[i];

		if (value_present(part->old) && (!part->item || write_is_move(part)))
			end = renaming_unmark(part->write, part->old);
	}
	return end;
}

enum plan_end plan_commit(struct plan *p)
{
	struct run *r = p->run;
	struct commit_request q;
	enum dyn_outcome done;
	enum plan_end end;

	end = p->outdated ? PLAN_AGAIN : unmark_parts(p);
	if (end != PLAN_DONE)
		return end;
	p->shown = plan_shown(p);
	for (;;) {
		make_request(p, &q);
		if (q.count > DYN_MOST_ACTIONS)
			return too_many(p, q.count);
		done = send_request(p, &q);
		if (p->marker_count) /* also after a lost reply; a sweep may have looked before the markers were there */
			deleting_expect(r);
		switch (done) {
		case DYN_DONE:
			r->memo = NULL; /* items read by rules may be outdated */
			remember_places(p);
			turn_give(p->write->turn);
			return PLAN_DONE;
		case DYN_CONFLICT: return PLAN_AGAIN;
		case DYN_FAILED: return PLAN_FAILED;
		case DYN_MISMATCH:
			(void)run_fail(r, PROBLEM_CONFLICT,
				       "this Idempotency-Key has been used: the first request went through");
			return PLAN_FAILED;
		case DYN_REFUSED:
			end = refused(&q);
			if (end != PLAN_DONE)
				return end;
			break;
		}
	}
}

/* ---- afterwards ---- */

static void complain(struct run *r, const char *what)
{
	log_warn("%.*s: %s: %.*s", SLICE_ARG(r->design->name), what, SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
}

static bool moves_keys(const struct entity *e, const struct fields *adds)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (fields_has(adds, e->attributes[i].name) && keep_depends(e, e->attributes[i].at))
			return true;
	return false;
}

static bool is_copied(struct arena *arena, const struct design *d, const struct entity *e, const struct fields *adds)
{
	struct name_list names = { 0 };

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++) {
			const struct attribute *a = &d->entities[i].attributes[k];

			if (a->kept_by.n && a->copy_of == e)
				names_of_copy(arena, &names, e, a);
		}
	for (size_t i = 0; i < names.count; i++)
		if (fields_has(adds, names.list[i]->text))
			return true;
	return false;
}

/* Copies of a counter: the rest of the item is unchanged. */
static bool follow_copied(struct run *b, const struct entity *e, struct value key, const struct fields *adds)
{
	struct value full, old;

	if (!is_copied(b->arena, b->design, e, adds))
		return true;
	if (!entity_fetch_key(b, e, key, true, &full))
		return false;
	old = full;
	for (size_t i = 0; i < adds->count; i++)
		old = value_present(old) ? value_map_with(b->arena, old, adds->list[i].name, VALUE_ABSENT) : old;
	return !value_present(full) || keep_copies(b, e, old, full);
}

static void follow_adds(struct run *b, const struct run *r, const struct entity *e, struct value key,
			const struct fields *adds)
{
	if (moves_keys(e, adds) && !keep_item(b, e, key))
		complain(b, "a key that depends on a counter was not updated");
	if (!follow_copied(b, e, key, adds))
		complain(b, "copies of a counter were not updated");
	branch_clear(b, r);
}

static void follow_self(struct plan *p, struct run *b)
{
	if (p->item && p->self.count)
		follow_adds(b, p->run, p->entity, p->key, &p->self);
}

static void follow_counters(struct plan *p, struct run *b)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct plan_action *a = &p->actions[i];

		if (a->role == PLAN_TARGET && !a->left_out && a->add.count)
			follow_adds(b, p->run, a->entity, a->key, &a->add);
	}
	follow_self(p, b);
	for (size_t i = 0; i < p->part_count; i++)
		follow_self(p->parts[i], b);
}

/* The source of a copy may have changed between the reading and the commit, by a write that could not see this item. */
static void follow_copies(struct plan *p, struct run *b)
{
	const struct write *w = p->write;

	for (size_t i = 0; i < w->copy_count; i++) {
		const struct copy_note *c = &w->copies[i];
		struct value now = VALUE_ABSENT, copy;

		if (c->held || !c->attribute->kept_by.n || !value_present(c->key))
			continue;
		if (!entity_fetch_key(b, c->source, c->key, true, &now) ||
		    !entity_copied(b, c->attribute, &(struct row){ .full = now }, &copy))
			complain(b, "a copy could not be compared with its source");
		else if (!value_equal(copy, c->value) && !write_refresh(b, p->entity, p->key, c->source))
			complain(b, "a copy was not updated");
		branch_clear(b, p->run);
	}
}

#define FOLLOW_MOST 8 /* a counter moves a key, which moves a counter…: the rest is the keeper's */

static void follow_item(struct plan *p, struct run *b, bool keeper)
{
	follow_copies(p, b);
	if (!keeper && write_is_move(p) && !keep_copies(b, p->entity, p->old, VALUE_ABSENT))
		complain(b, "copies of a moved item were not updated");
	if (!keeper && !keep_copies(b, p->entity, write_is_move(p) ? VALUE_ABSENT : p->old, row_item(p->item)))
		complain(b, "copies were not updated");
	branch_clear(b, p->run);
}

static void follow_part(struct plan *part, struct run *b, bool keeper)
{
	if (part->item)
		follow_item(part, b, keeper);
	deleting_follow(part);
	renaming_follow(part);
	if (!part->item && value_present(part->old))
		plan_follow_removal(part);
}

void plan_follow(struct plan *p)
{
	bool keeper = p->run->app && p->run->app->keeper_runs; /* the keeper sees the change in the stream */
	struct run *b;

	if (p->run->depth >= FOLLOW_MOST) {
		log_warn("%.*s: updates that follow from a %.*s do not end", SLICE_ARG(p->run->design->name),
			 SLICE_ARG(p->entity->name));
		return;
	}
	b = branch_new(p->run);
	if (!keeper)
		follow_counters(p, b);
	if (p->item)
		follow_item(p, b, keeper);
	for (size_t i = 0; i < p->part_count; i++)
		follow_part(p->parts[i], b, keeper);
	branch_clear(b, p->run);
}

void plan_follow_removal(struct plan *p)
{
	struct run *b;

	if ((p->run->app && p->run->app->keeper_runs) || p->run->depth >= FOLLOW_MOST)
		return;
	b = branch_new(p->run);
	if (!keep_copies(b, p->entity, p->old, VALUE_ABSENT))
		complain(b, "copies of a deleted item were not updated");
	branch_clear(b, p->run);
}
