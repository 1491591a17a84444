/* Creating: from the input to the whole item, and into the table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/renamed.h"
#include "app/write/deleting.h"
#include "app/entity/input.h"
#include "base/grow.h"
#include "base/ulid.h"

/* ---- ids ---- */

/* The same in every try: after a lost reply, a retry creates no second item. */
static bool id_of(struct write *w, const struct attribute *a, struct value *out)
{
	struct run *r = w->run;
	char ulid[ULID_LENGTH];

	if (!w->made.arena)
		row_init(&w->made, r->arena, w->entity);
	*out = row_get(&w->made, a->at);
	if (value_present(*out))
		return true;
	if (!ulid_new(r->now_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "cannot get random bytes for an id");
	*out = value_make_s(r->arena, arena_printf(r->arena, "%.*s%.*s", SLICE_ARG(a->id_prefix), ULID_LENGTH, ulid));
	row_set(&w->made, a->at, *out);
	return true;
}

/* ---- the caller ---- */

/* The caller comes from the token. A path that names another account belongs to that account. */
static bool set_caller(struct write *w, const struct attribute *a, struct row *f)
{
	struct run *r = w->run;
	struct value given = row_get(f, a->at), self;

	if (w->trusted || ((w->whole || r->caller.operator_) && value_present(given)))
		return true;
	if (w->whole && w->whole->trusted && !r->caller.subject.n)
		return true;
	if (!r->caller.subject.n) {
		const struct term *rule = w->entity->allow[ALLOW_CREATE];

		row_drop(f, a->at);
		if (r->caller.operator_ || (!w->action && rule && rule->kind == TERM_ALWAYS))
			return true;
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "log in to do this");
	}
	self = write_fit(r, a, value_make_s(r->arena, r->caller.subject));
	if (value_present(given) && !value_equal(write_fit(r, a, given), self))
		return run_fail(r, PROBLEM_FORBIDDEN, "this is for %.*s to do", SLICE_ARG(run_text(r, given)));
	row_set(f, a->at, self);
	return true;
}

/* ---- values from the server ---- */

static bool give_one(struct write *w, const struct attribute *a, struct row *f)
{
	struct value v = VALUE_ABSENT;

	if (a->the_caller && !set_caller(w, a, f))
		return false;
	if (value_present(row_get(f, a->at)))
		return true;
	if (a->id && !id_of(w, a, &v))
		return false;
	if (a->now || a->touched)
		v = write_now(w->run, a);
	if (a->last_writer)
		v = write_last_writer(w->run, a);
	if (a->counter)
		v = value_make_i64(w->run->arena, 0);
	if (value_present(v))
		row_set(f, a->at, v);
	return true;
}

/* ---- defaults and copies, in order of dependency ---- */

struct pending {
	struct write *write;
	struct row *fields;
	bool *waiting; /* by attribute */
};

static void names_of_source(struct pending *p, const struct attribute *a, struct name_list *names)
{
	struct arena *arena = p->write->run->arena;

	names_of_term(arena, names, p->write->entity, a->default_);
	for (size_t i = 0; i < a->copy_arg_count; i++)
		names_of_term(arena, names, p->write->entity, a->copy_args[i]);
	for (size_t i = 0; a->next && i < a->next->arg_count; i++)
		names_of_term(arena, names, p->write->entity, a->next->args[i]);
}

static bool must_wait(struct pending *p, size_t which)
{
	const struct entity *e = p->write->entity;
	struct name_list names = { 0 };

	names_of_source(p, &e->attributes[which], &names);
	for (size_t i = 0; i < e->attribute_count; i++)
		if (i != which && p->waiting[i] && names_have(&names, e->attributes[i].at))
			return true;
	return false;
}

static bool fill_one(struct pending *p, size_t which)
{
	struct write *w = p->write;
	const struct attribute *a = &w->entity->attributes[which];
	struct scope s = write_scope(w, p->fields, NULL);
	struct value v;

	p->waiting[which] = false;
	if (a->copy_entity.n && !write_copy(w, a, p->fields))
		return false;
	if (a->next && !write_take(w, a, p->fields))
		return false;
	if (!a->default_ || value_present(row_get(p->fields, a->at)))
		return true;
	if (!scope_value_for(&s, a->default_, a->name, &v))
		return false;
	if (value_present(v))
		row_set(p->fields, a->at, input_made(w->run, a, write_fit(w->run, a, v)));
	return true;
}

static bool fill_waiting(struct pending *p)
{
	const struct entity *e = p->write->entity;
	bool more = true, any = true, force = false;

	while (more) {
		more = any = false;
		for (size_t i = 0; i < e->attribute_count; i++) {
			if (!p->waiting[i])
				continue;
			more = true;
			if (!force && must_wait(p, i))
				continue;
			if (!fill_one(p, i))
				return false;
			any = true;
			force = false;
		}
		force = more && !any; /* a circle: starts anywhere */
	}
	return true;
}

static bool fill_in(struct write *w, struct row *f)
{
	const struct entity *e = w->entity;
	struct pending p = { .write = w, .fields = f, .waiting = arena_array(w->run->arena, bool, e->attribute_count) };

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		p.waiting[i] = a->copy_entity.n || a->next || (a->default_ && !value_present(row_get(f, a->at)));
	}
	return fill_waiting(&p);
}

bool write_defaults(struct write *w, struct row *f, bool *which)
{
	struct pending p = { .write = w, .fields = f, .waiting = which };

	return fill_waiting(&p);
}

/* Records the copied value and the condition for copying it. */
static void note_copied(struct run *r, const struct attribute *a, const struct entity *source,
			const struct entity_look *look)
{
	struct witness *seen = witness_item(r, source, look);
	struct name_list names = { 0 };

	names_of_copy(r->arena, &names, source, a);
	for (size_t i = 0; seen && i < names.count; i++)
		witness_reads(seen, names.list[i], row_get(&look->item, names.list[i]));
}

/* What the rule for everywhere keeps from the caller is not there. A copy that is kept would get the value later, so it is
 * refused. */
static bool hide_source(struct write *w, const struct attribute *a, struct value *args, struct entity_look *look,
			bool *hidden)
{
	struct reference source = attribute_source(a);
	struct witness *seen;
	bool keeps;

	*hidden = false;
	if (write_is_own(w) || !look->item.entity || !look->item.entity->everywhere)
		return true;
	seen = witness_item(w->run, look->item.entity, look);
	if (!entity_keeps(w->run, &look->item, seen, &keeps))
		return false;
	*hidden = !keeps && !run_explores(w->run);
	if (!*hidden)
		return true;
	look->item = (struct row){ 0 };
	return !a->kept_by.n || plan_tell_missing(w, &(struct plan_ask){ .reference = &source, .args = args });
}

/* Uses the source as read in this try: if it has changed since, the commit notices. Effects may run long after they
 * read it. A missing source may have another name now. */
static bool look_at_source(struct write *w, const struct attribute *a, const struct value *args, struct value *key,
			   struct entity_look *look)
{
	struct run *r = w->run;
	bool renamed = false;

	if (!entity_locate(r, a->copy_of, args, a->copy_arg_count, key) ||
	    !entity_look_at(r, a->copy_of, *key, w->trusted, look))
		return false;
	if (!look->item.entity && !renamed_look(r, a->copy_of, args, a->copy_arg_count, &renamed))
		return false;
	return !renamed || (entity_locate(r, a->copy_of, args, a->copy_arg_count, key) &&
			    entity_look_at(r, a->copy_of, *key, w->trusted, look));
}

bool write_copy(struct write *w, const struct attribute *a, struct row *f)
{
	struct run *r = w->run;
	const struct entity *source = a->copy_of;
	struct scope s = write_scope(w, f, NULL);
	struct copy_note note = { .attribute = a, .source = source };
	struct entity_look look;
	struct value *args, full;
	bool hidden;

	if (!scope_args(&s, a->copy_args, a->copy_arg_count, &args) || !look_at_source(w, a, args, &note.key, &look) ||
	    !hide_source(w, a, args, &look, &hidden))
		return false;
	note.from = full = look.item.full;
	if (!entity_copied(r, a, &look.item, &note.value))
		return false;
	/* A kept copy is compared after the commit, or held if its source is in the transaction anyway. */
	if (!a->kept_by.n && !hidden)
		note_copied(r, a, source, &look);
	/* A kept copy of a missing source is empty. Other copies keep a value that an operator gives. */
	if (value_present(note.value))
		row_set(f, a->at, note.value);
	else if (value_present(full) || a->kept_by.n || (!w->trusted && !r->caller.operator_))
		row_drop(f, a->at);
	GROW_IN(r->arena, w->copies, w->copy_count, w->copy_capacity, 4);
	w->copies[w->copy_count++] = note;
	return true;
}

static bool take_files(struct write *w, const struct attribute *a, struct row *f)
{
	struct value v;

	if (!attribute_file(a))
		return true;
	v = row_get(f, a->at);
	if (!value_present(v))
		return true;
	if (!write_take_files(w, a, VALUE_ABSENT, &v))
		return false;
	row_set(f, a->at, v);
	return true;
}

bool write_make(struct write *w, const struct row *given, struct row *f)
{
	const struct entity *e = w->entity;

	row_init(f, w->run->arena, e);
	for (struct row_iter it = row_iter(given); row_next(&it);) {
		if (!value_present(it.value) || write_is_password(e, it.name))
			continue;
		if (it.slot && given->slots == e->slots)
			row_set(f, it.slot->name, write_fit(w->run, it.slot->attribute, it.value));
		else
			row_put(f, it.name, write_fit(w->run, entity_attribute(e, it.name), it.value));
	}
	for (size_t i = 0; i < e->attribute_count; i++)
		if (!give_one(w, &e->attributes[i], f) || !take_files(w, &e->attributes[i], f))
			return false;
	return fill_in(w, f);
}

/* ---- rules ---- */

/* Reports first if an item that the new one refers to is missing, or hidden from this caller. */
static bool tell_hidden(struct write *w, const struct row *f, struct plan_ask ask, const struct term *when, bool *told)
{
	const struct reference *ref = ask.reference;
	const struct entity *e = ref->to;
	struct scope s = write_scope(w, f, NULL);
	struct value *args;
	struct row item;
	bool holds, readable = false;

	if (!scope_holds(&s, when, &holds))
		return false;
	if (!holds)
		return true;
	if (!scope_args(&s, ref->args, ref->arg_count, &args) ||
	    !entity_fetch(w->run, e, args, ref->arg_count, false, &item))
		return false;
	if (item.entity && !entity_allows_row(w->run, e, ALLOW_READ, &item, NULL, &readable))
		return false;
	ask.args = args;
	*told = !readable;
	return readable || plan_tell_missing(w, &ask);
}

static bool refuse_new(struct write *w, const struct row *f)
{
	const struct entity *e = w->entity;
	bool told = false;

	if (!w->run->caller.subject.n)
		return run_fail(w->run, PROBLEM_UNAUTHENTICATED, "log in to do this");
	for (size_t i = 0; i < e->count_count && !told; i++)
		if (!e->counts[i].each.list &&
		    !tell_hidden(w, f, (struct plan_ask){ .reference = &e->counts[i].target }, e->counts[i].when, &told))
			return false;
	for (size_t i = 0; i < e->require_count && !told; i++) {
		const struct requirement *q = &e->requires[i];
		struct plan_ask ask = { .reference = &q->target, .sentence = q->sentence, .of = q->of };

		if (!q->each.list && !tell_hidden(w, f, ask, q->when, &told))
			return false;
	}
	return run_fail(w->run, PROBLEM_FORBIDDEN, "you may not create this %.*s", SLICE_ARG(e->name));
}

/* What is written together with an item has no rule but that for everywhere, from which its creation may be exempt. */
static bool keeps_all(struct write *w, const struct row *f, bool *out)
{
	struct row item = *f;

	*out = true;
	if (!w->entity->everywhere_begins)
		return true;
	item.entity = w->entity;
	if (!entity_keeps(w->run, &item, NULL, out))
		return false;
	*out = *out || run_explores(w->run);
	return true;
}

static bool may_create(struct write *w, const struct row *f, bool *out)
{
	const struct term *rule = w->action && w->action->allow
					  ? w->action->allow
					  : w->entity->allow[w->action ? ALLOW_UPDATE : ALLOW_CREATE];
	struct scope s = write_scope(w, f, NULL);

	*out = w->trusted || w->whole || w->run->caller.operator_;
	if (w->whole && !write_is_own(w))
		return keeps_all(w, f, out);
	if (*out || !rule)
		return true;
	if (!scope_holds(&s, rule, out))
		return false;
	*out = *out || run_explores(w->run);
	return true;
}

static bool ask_to_create(struct write *w, const struct row *f)
{
	bool may;

	return may_create(w, f, &may) && (may || refuse_new(w, f));
}

bool write_plan_new(struct write *w, struct row *f, struct plan *p)
{
	struct run *r = w->run;
	bool taken;

	if (run_explores(r) && !w->whole) {
		(void)!may_create(w, f, &taken);
		write_explore(w, row_item(f));
	}
	/* Anonymous callers get 401 before body errors. */
	if (!r->caller.subject.n && !r->caller.operator_ && !ask_to_create(w, f))
		return false;
	if (!input_required(r, w->entity, f)) {
		if (r->problem.type == PROBLEM_INVALID && !w->trusted && !w->action && !w->whole)
			input_add_password(r, w->entity,
					   w->input ? row_find(w->input, SLICE("password")) : VALUE_ABSENT);
		return false;
	}
	if (!entity_complete(r, w->entity, f, VALUE_ABSENT) || !write_checks(w, f, NULL) || !ask_to_create(w, f) ||
	    (!w->whole && !write_password(w, f, VALUE_ABSENT)))
		return false;
	plan_init(p, w, VALUE_ABSENT, f);
	if (!plan_address_is_taken(p, &taken))
		return false;
	if (taken) {
		(void)plan_tell_exists(p);
		return false;
	}
	if (w->action && !write_adds(w, f, NULL, &p->self))
		return false;
	return plan_make(p) && plan_deleting(p) && plan_also(p);
}

enum plan_end write_put_new(struct write *w, struct row *f, struct write_result *out)
{
	struct plan p;
	enum plan_end end;

	if (!write_plan_new(w, f, &p))
		return PLAN_FAILED;
	end = plan_commit(&p);
	if (end != PLAN_DONE)
		return end;
	out->created = true;
	out->shown = p.shown;
	out->full = entity_full(w->run, w->entity, plan_main(&p)->item);
	plan_follow(&p);
	return PLAN_DONE;
}

static enum plan_end create_once(struct write *w, struct write_result *out)
{
	struct row f;

	return write_make(w, w->input, &f) ? write_put_new(w, &f, out) : PLAN_FAILED;
}

bool write_create(struct run *r, const struct entity *e, const struct row *given, const struct write_options *o,
		  struct write_result *out)
{
	struct write w = { .run = r, .entity = e, .input = given, .options = o };

	return write_try(&w, create_once, out);
}

bool write_put(struct run *r, const struct entity *e, const struct row *given, bool *made)
{
	struct write w = { .run = r, .entity = e, .input = given, .trusted = true };
	struct write_result out;

	*made = write_try(&w, create_once, &out);
	if (*made || r->problem.type != PROBLEM_EXISTS)
		return *made;
	r->problem = (struct problem){ 0 };
	return true;
}
