/* Changing an existing item: updates, actions, soft deletions, and refreshing it after its sources.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/deleting.h"
#include "app/write/joined.h"
#include "app/entity/input.h"
#include "app/run/passed_over.h"
#include "app/write/renaming/renaming.h"

/* ---- rules ---- */

bool write_is_still(struct write *w, struct value full)
{
	const struct write_options *o = w->options;
	struct row f;

	if (!o->still)
		return true;
	f = row_lay(w->run->arena, w->entity, full);
	for (size_t i = 0; i < o->still_count; i++)
		if (o->still_reads[i])
			names_add(w->run->arena, &w->looked_at, o->still_reads[i]);
	return o->still(o->still_ctx, w->run, &f);
}

static bool may_alter(struct write *w, struct value full, bool *out)
{
	struct run *r = w->run;
	const struct term *rule = w->action && w->action->allow
					  ? w->action->allow
					  : w->entity->allow[w->deletes ? ALLOW_DELETE : ALLOW_UPDATE];
	struct row f;
	struct scope s;

	if (!write_is_still(w, full))
		return false;
	*out = w->trusted || w->whole || r->caller.operator_;
	if (*out || !rule)
		return true;
	write_looks_at(w, rule);
	row_from(&f, r->arena, w->entity, full);
	s = write_scope(w, &f, NULL);
	if (!scope_holds(&s, rule, out))
		return false;
	*out = *out || run_explores(r);
	return true;
}

/* An item with a new identity must be allowed there too; except an account that is renamed, which is a new caller
 * from then on. */
static bool may_move(struct write *w, const struct row *f, const struct row *before)
{
	bool moves = false, may = true;

	if (!write_is_own(w) && w->entity->everywhere_moves && !entity_keeps(w->run, f, NULL, &may))
		return false;
	if (!may)
		return run_fail(w->run, PROBLEM_FORBIDDEN, "you may not make this someone else's");
	for (size_t i = 0; i < w->entity->param_count; i++)
		if (!value_equal(row_get(f, w->entity->param_at[i]), row_get(before, w->entity->param_at[i])))
			moves = true;
	if (!moves || w->trusted || w->whole || w->action || w->deletes || w->entity->login.present)
		return true;
	if (!entity_allows_row(w->run, w->entity, ALLOW_UPDATE, f, before, &may))
		return false;
	return may || run_fail(w->run, PROBLEM_FORBIDDEN, "you may not make this someone else's");
}

bool write_not_fit(struct write *w)
{
	const struct action *x = w->action;

	if (x->otherwise.n)
		return run_fail(w->run, PROBLEM_CONFLICT, "%.*s", SLICE_ARG(x->otherwise));
	return run_fail(w->run, PROBLEM_CONFLICT, "this %.*s is not in a state for %.*s", SLICE_ARG(w->entity->name),
			SLICE_ARG(x->name));
}

/* Evaluates the action's own condition; the plan's condition includes the attributes it reads. */
static bool action_fits(struct write *w, struct value full)
{
	const struct action *x = w->action;
	struct row f;
	struct scope s;
	bool holds;

	if (!x || !x->when)
		return true;
	row_from(&f, w->run->arena, w->entity, full);
	s = write_scope(w, &f, NULL);
	write_looks_at(w, x->when);
	if (!scope_holds(&s, x->when, &holds))
		return false;
	return holds || run_explores(w->run) || write_not_fit(w);
}

/* ---- applying ---- */

/* What a patch or an action makes of a map or list. If what is stored changes, it is made again. */
static bool apply_part(struct write *w, const struct attribute *a, struct value was, struct value *v)
{
	const struct action *x = w->action;
	bool append = x && names_among(x->append_at, x->append_count, a->at);
	bool merge = a->type == ATTR_MAP && !a->file && w->options->merge && value_type(*v) == VALUE_M;
	bool cut = x && names_among(x->cut_at, x->cut_count, a->at);

	if (!append && !cut && !merge)
		return true;
	names_add(w->run->arena, &w->looked_at, a->at);
	if (merge && w->options->entry.n && !value_present(value_get(was, w->options->entry)) &&
	    value_type(value_get(*v, w->options->entry)) == VALUE_NULL)
		return run_fail(w->run, PROBLEM_NOT_FOUND, "%.*s has no '%.*s'", SLICE_ARG(a->name),
				SLICE_ARG(w->options->entry));
	return append ? input_append(w->run, a, was, *v, v)
	       : cut  ? input_remove_at(w->run, a, was, *v, v)
		      : input_merge(w->run, a, was, *v, w->options->entry.n > 0, v);
}

static bool apply_one(struct write *w, struct row *f, const struct row_iter *m)
{
	const struct attribute *a = entity_attribute(w->entity, m->name);
	struct value v = write_fit(w->run, a, m->value), was = row_find(f, m->name);

	if (a && (!apply_part(w, a, was, &v) || !write_take_files(w, a, was, &v)))
		return false;
	if (!a || write_is_password(w->entity, m->name) || value_equal(v, was))
		return true;
	if (!value_present(v) && a->default_ && !a->required)
		return true; /* put_defaults_back() */
	if (a->fixed)
		return run_invalid(w->run, a->name, "cannot change");
	if (a->counter)
		return run_invalid(w->run, a->name, "moves with what it counts and cannot be set");
	if (!value_present(v) && (a->required || a->id))
		return run_invalid(w->run, a->name, "is required");
	if (value_present(v))
		row_set(f, a->at, v);
	else
		row_drop(f, a->at);
	return true;
}

static bool takes_away(const struct write *w, const struct attribute *a)
{
	return a->default_ && row_has(w->input, a->at) && !value_present(row_get(w->input, a->at)) &&
	       !write_is_password(w->entity, a->name);
}

/* Omitted attributes revert to their defaults, if any, after everything else is set. */
static bool put_defaults_back(struct write *w, struct row *f, const struct row *before)
{
	const struct entity *e = w->entity;
	bool *which = arena_array(w->run->arena, bool, e->attribute_count), any = false, good = true;

	for (size_t i = 0; i < e->attribute_count; i++) {
		which[i] = takes_away(w, &e->attributes[i]);
		if (!which[i])
			continue;
		any = true;
		write_looks_at(w, e->attributes[i].default_);
		row_drop(f, e->attributes[i].at);
	}
	if (!any)
		return true;
	if (!write_defaults(w, f, which))
		return false;
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (a->fixed && takes_away(w, a) && !value_equal(row_get(f, a->at), row_get(before, a->at)))
			good = run_invalid(w->run, a->name, "cannot change");
	}
	return good;
}

static bool apply_input(struct write *w, struct row *f, const struct row *before)
{
	struct row_iter it = row_iter(w->input);
	bool good = true;

	while (w->input && row_next(&it))
		good = apply_one(w, f, &it) && good;
	return good && (!w->input || put_defaults_back(w, f, before));
}

bool write_assign(struct write *w, struct row *f, const struct row *before)
{
	struct value *values = arena_array(w->run->arena, struct value, w->set_count);
	struct scope s = write_scope(w, f, before);

	for (size_t i = 0; i < w->set_count; i++) {
		write_looks_at(w, w->set[i].term);
		if (!scope_value_for(&s, w->set[i].term, w->set[i].attribute, &values[i]))
			return false;
	}
	for (size_t i = 0; i < w->set_count; i++) {
		const struct name *at = w->set[i].at;
		struct value v = write_fit(w->run, slots_attribute(w->entity->slots, at), values[i]);

		if (value_present(v))
			row_set(f, at, v);
		else
			row_drop(f, at);
	}
	for (size_t i = 0; w->action && i < w->action->remove_count; i++)
		row_drop(f, w->action->remove_at[i]);
	for (size_t i = 0; i < w->remove_count; i++)
		row_take(f, w->remove[i]);
	return true;
}

bool write_adds(struct write *w, const struct row *f, const struct row *before, struct fields *adds)
{
	struct scope s = write_scope(w, f, before);

	for (size_t i = 0; i < w->action->add_count; i++) {
		const struct assignment *x = &w->action->add[i];
		struct number n;
		struct value v;

		write_looks_at(w, x->term);
		if (!scope_value_for(&s, x->term, x->attribute, &v))
			return false;
		if (value_type(v) != VALUE_N)
			return run_invalid(w->run, x->attribute, "can only be changed by a number");
		n = value_number(v);
		if (!fields_move(w->run, adds, x->attribute, &n))
			return false;
	}
	return true;
}

/* Copies whose source is another one now, or is known to have changed. */
bool write_copy_again(struct write *w, struct row *f, const struct row *before)
{
	struct scope was = { .run = w->run, .item = before }, is = write_scope(w, f, before);

	for (size_t i = 0; i < w->entity->attribute_count; i++) {
		const struct attribute *a = &w->entity->attributes[i];
		struct value *x, *y;
		bool again = a->copy_of && a->copy_of == w->copies_of;

		if (!a->copy_entity.n)
			continue;
		/* What follows keeps what it copied once; and the sources that follow, too, have not changed. */
		if (w->follows && (!a->kept_by.n || !a->copy_of ||
				   (a->copy_of != w->follows->entity && renaming_takes(w->run, w->follows, a->copy_of))))
			continue;
		if (!scope_args(&was, a->copy_args, a->copy_arg_count, &x) ||
		    !scope_args(&is, a->copy_args, a->copy_arg_count, &y))
			return false;
		for (size_t k = 0; k < a->copy_arg_count; k++)
			again = again || !value_equal(x[k], y[k]);
		if (again && !write_copy(w, a, f))
			return false;
	}
	return true;
}

/* A new address is not proved yet. */
static void forget_proof(struct write *w, struct row *f, const struct row *before)
{
	const struct login_mail *m = &w->entity->login.mail;

	if (w->trusted || !m->verified_at || (w->input && row_has(w->input, m->verified_at)) ||
	    value_equal(row_get(f, m->address_at), row_get(before, m->address_at)))
		return;
	names_add(w->run->arena, &w->looked_at, m->address_at);
	row_set(f, m->verified_at, value_make_bool(w->run->arena, false));
}

/* ---- the whole ---- */

static bool differs(const struct row *f, struct value old)
{
	return !value_equal(row_item(f), old);
}

static void touch(struct write *w, struct row *f, const struct row *before)
{
	for (size_t i = 0; i < w->entity->attribute_count; i++) {
		const struct attribute *a = &w->entity->attributes[i];
		struct value v;

		if (!(a->touched || a->last_writer) || (w->input && row_has(w->input, a->at)))
			continue;
		v = a->touched ? write_touched(w->run, a, row_get(before, a->at)) : write_last_writer(w->run, a);
		if (value_present(v))
			row_set(f, a->at, v);
		else
			row_drop(f, a->at);
	}
}

/* Computes the new item. */
static bool make_altered(struct write *w, struct value old, struct row *f)
{
	struct run *r = w->run;
	const struct entity *e = w->entity;
	struct row before = row_lay(r->arena, e, old);

	row_from(f, r->arena, e, old);
	if (!apply_input(w, f, &before) || !write_assign(w, f, &before) || !write_copy_again(w, f, &before))
		return false;
	forget_proof(w, f, &before);
	if (!write_password(w, f, old) || !entity_complete(r, e, f, old))
		return false;
	if (w->trusted)
		return true;
	if (differs(f, old) || value_present(w->hash) || (w->action && w->action->add_count) || w->moves.count) {
		touch(w, f, &before);
		if (!entity_complete(r, e, f, old))
			return false;
	}
	return may_move(w, f, &before) && write_checks(w, f, &before);
}

bool write_plan_alter(struct write *w, struct value old, struct row *f, struct plan *p)
{
	bool may;

	if (!may_alter(w, old, &may) || (!may && !write_refuse(w, old)) || !write_if_match(w, old) ||
	    !action_fits(w, old) || !make_altered(w, old, f))
		return false;
	plan_init(p, w, old, f);
	if ((w->action && !write_adds(w, f, &p->old_row, &p->self)) || !plan_make(p) || !plan_deleting(p) ||
	    !plan_also(p))
		return false;
	plan_joined_by(p);
	return true;
}

enum plan_end write_alter(struct write *w, struct value old, struct write_result *out)
{
	struct run *r = w->run;
	struct row f, result;
	enum plan_end end;
	struct plan p;

	if (!write_plan_alter(w, old, &f, &p))
		return PLAN_FAILED;
	out->full = row_item(&f);
	if (plan_is_empty(&p))
		return PLAN_DONE;
	end = write_is_move(&p) ? renaming_unmark(w, old) : PLAN_DONE;
	if (end == PLAN_DONE)
		end = plan_commit(&p);
	if (end != PLAN_DONE)
		return end;
	row_from(&result, r->arena, w->entity, out->full);
	for (size_t i = 0; i < p.self.count; i++) {
		struct number n = value_number(p.self.list[i].value);

		if (!row_move(r, &result, p.self.list[i].name, &n))
			return PLAN_FAILED;
	}
	out->full = row_item(&result);
	out->shown = p.shown;
	plan_follow(&p);
	deleting_follow(&p);
	renaming_follow(&p);
	return PLAN_DONE;
}

static enum plan_end update_once(struct write *w, struct write_result *out)
{
	struct value old;

	if (!write_read(w, &old))
		return PLAN_FAILED;
	if (value_present(old))
		return write_alter(w, old, out);
	(void)write_not_found(w);
	return PLAN_FAILED;
}

bool write_update(struct run *r, const struct identity *of, const struct row *changes, const struct write_options *o,
		  struct write_result *out)
{
	struct write w = {
		.run = r, .entity = of->entity, .args = of->args, .arg_count = of->count, .input = changes, .options = o
	};

	if (!write_try(&w, update_once, out))
		return false;
	write_tell_password(&w, out->full);
	return true;
}

/* A missing item is fine. One that does not fit the design stays as it is: the condition of its plan would never
 * hold. */
static enum plan_end refresh_once(struct write *w, struct write_result *out)
{
	struct row item, as_stored;
	struct value stored;
	struct slice why;

	if (!dyn_get(w->run, w->key, true, &stored))
		return PLAN_FAILED;
	if (!value_present(stored))
		return PLAN_DONE;
	item = entity_recognise(w->run, stored, w->entity);
	if (item.entity != w->entity)
		return PLAN_DONE;
	as_stored = row_lay(w->run->arena, w->entity, stored);
	if (entity_fits(w->run, &as_stored, &why))
		return write_alter(w, item.full, out);
	run_pass_over(w->run, PASSED_OVER_UNFIT, "%.*s does not fit %.*s: %.*s",
		      SLICE_ARG(entity_key_text(w->run, w->key)), SLICE_ARG(w->entity->name), SLICE_ARG(why));
	return PLAN_DONE;
}

bool write_refresh(struct run *r, const struct entity *e, struct value key, const struct entity *copies_of)
{
	struct write w = { .run = r, .entity = e, .key = key, .trusted = true, .quiet = true, .copies_of = copies_of };
	struct write_result out;

	return write_try(&w, refresh_once, &out);
}
