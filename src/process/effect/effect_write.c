/* update, delete, count, remove all; and which effects are a single action.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/run/passed_over.h"
#include "design/slots.h"
#include "process/effect/effect_internal.h"

/* ---- how much there is to it ---- */

/* Whether writing an item of the entity is a single action. Of one that others follow, or that follows, a rename may be
 * unfinished: that is asked beside. */
static bool effect_is_plain(const struct entity *e)
{
	return !e->is_renamed && !e->companion_count && !e->also_count && !e->count_count && !e->login.present &&
	       !e->delete_.then_count && !entity_takes(e) && effect_can_check(e);
}

/* The same for removing one. The keeper runs cascades too, but right away is better. */
static bool effect_is_plain_to_remove(const struct entity *e)
{
	return !e->is_renamed && !e->companion_count && !e->also_count && !e->count_count && !e->login.present &&
	       !e->delete_.then_count;
}

/* ---- the target ---- */

static bool locate(struct effect *x, struct value **args, struct value *key)
{
	const struct reference *ref = &x->rule->target_ref;
	struct run *r = x->run;
	struct scope s = effect_scope(x, r);
	int64_t was = effect_time_enter(x, r);
	bool ok = scope_args(&s, ref->args, ref->arg_count, args);

	effect_time_leave(r, was);
	return ok && entity_locate(r, x->target, *args, ref->arg_count, key);
}

/* ---- update ---- */

static void tell_gone(struct run *r, const struct entity *e, struct value key)
{
	run_pass_over(r, PASSED_OVER_GONE, "there is no %.*s to update at %.*s", SLICE_ARG(e->name),
		      SLICE_ARG(entity_key_text(r, key)));
}

static enum plan_end alter_once(struct write *w, struct write_result *out)
{
	struct value old;

	if (!write_read(w, &old))
		return PLAN_FAILED;
	if (value_present(old))
		return write_alter(w, old, out);
	tell_gone(w->run, w->entity, w->key);
	return PLAN_DONE;
}

bool effect_alter(struct effect *x, const struct entity *e, struct value key, const struct row *changes)
{
	struct write w = { .run = x->run, .entity = e, .key = key, .input = changes };
	struct write_result out;

	return write_try(&w, alter_once, &out);
}

/* Null removes, as in a request: the attribute reverts to its default, or goes. Null is stored where it is the
 * default. */
static struct value given_value(const struct entity *e, const struct name *n, struct value v)
{
	const struct attribute *a = slots_attribute(e->slots, n);

	return value_type(v) == VALUE_NULL && !(a && input_default_is_null(a)) ? VALUE_ABSENT : v;
}

static bool update(struct effect *x)
{
	const struct processor *p = x->rule;
	struct run *r = x->run;
	struct scope s = effect_scope(x, r);
	struct row changes;
	struct value *args, key;
	int64_t was;
	bool ok = true;

	if (!locate(x, &args, &key))
		return false;
	if (!value_present(key)) {
		run_pass_over(r, PASSED_OVER_GONE, "there is no %.*s to update: part of its identity is absent",
			      SLICE_ARG(x->target->name));
		return true;
	}
	row_init(&changes, r->arena, NULL);
	was = effect_time_enter(x, r);
	for (size_t i = 0; ok && i < p->with_count; i++) {
		struct value v;

		ok = scope_value(&s, p->with[i].term, &v);
		if (ok)
			row_set(&changes, p->with[i].at, given_value(x->target, p->with[i].at, v));
	}
	effect_time_leave(r, was);
	return ok && effect_alter(x, x->target, key, &changes);
}

/* ---- upsert ---- */

static bool upsert(struct effect *x)
{
	struct value *args, key;

	if (!locate(x, &args, &key))
		return false;
	if (value_present(key))
		return effect_upsert(x, args, key);
	run_pass_over(x->run, PASSED_OVER_INCOMPLETE,
		      "there is no %.*s to create or change: part of its identity is absent",
		      SLICE_ARG(x->target->name));
	return true;
}

/* ---- delete ---- */

/* Whether it is there, and goes, is decided when the batch is full (effect_settle()). */
static void gather_removal(struct effect *x, const struct entity *e, struct value key)
{
	size_t at, later = e ? e->lives_count : 0;
	struct dyn_write *w;

	w = effect_batch_add(x, key, &at);
	if (later > x->batch.later)
		x->batch.later = later;
	if (!w)
		return; /* two rows lead to the same item */
	w->kind = DYN_DELETE;
	w->key = key;
}

static bool remove_one(struct effect *x, const struct entity *e, struct value key)
{
	bool go;

	return effect_settle_one(x, e, key, &go) && (!go || write_remove(x->run, e, key));
}

/* Removes the target: in the batch, or by itself. */
static bool remove_target(struct effect *x, bool gathers)
{
	struct value *args, key;

	if (!locate(x, &args, &key))
		return false;
	if (!value_present(key)) {
		run_pass_over(x->run, PASSED_OVER_NOTHING, "%s", "");
		return true;
	}
	if (!gathers)
		return remove_one(x, x->target, key);
	gather_removal(x, x->target, key);
	return true;
}

/* ---- count ---- */

static struct value_member *one_add(struct effect *x, struct dyn_write *w)
{
	struct value_member *m = arena_new(x->run->arena, struct value_member);

	m->name = x->rule->target_attribute;
	m->value = value_make_i64(x->run->arena, 0);
	w->add = m;
	w->add_count = 1;
	return m;
}

static bool amount(struct effect *x, struct number *n, bool *any)
{
	struct run *r = x->run;
	struct scope s = effect_scope(x, r);
	const struct number zero = number_from_i64(0);
	int64_t was;
	struct value v;
	bool ok;

	*n = number_from_i64(1);
	*any = true;
	if (!x->rule->by)
		return true;
	was = effect_time_enter(x, r);
	ok = scope_value(&s, x->rule->by, &v);
	effect_time_leave(r, was);
	*any = ok && value_type(v) == VALUE_N;
	if (*any) {
		*n = value_number(v);
		*any = number_cmp(n, &zero) != 0;
	}
	return ok;
}

static bool count(struct effect *x)
{
	struct run *r = x->run;
	struct value_member *m;
	struct value *args, key;
	struct dyn_write *w;
	struct error e = { 0 };
	struct number n, sum;
	size_t at;
	bool any;

	if (!amount(x, &n, &any) || (any && !locate(x, &args, &key)))
		return false;
	if (!any) {
		run_pass_over(r, PASSED_OVER_NOTHING, "%s", "");
		return true;
	}
	if (!value_present(key)) {
		run_pass_over(r, PASSED_OVER_GONE, "there is no %.*s to count on: part of its identity is absent",
			      SLICE_ARG(x->target->name));
		return true;
	}
	w = effect_batch_add(x, key, &at);
	if (w) {
		w->kind = DYN_UPDATE;
		w->key = key;
		w->must_exist = true;
		if (x->target->may_expire)
			w->also = dyn_not_expired(r, r->design->ttl);
		x->batch.args[at] = args;
		m = one_add(x, w);
	} else if (x->collides) {
		return true;
	} else {
		m = (struct value_member *)x->batch.list[at].add;
	}
	sum = value_number(m->value);
	if (!number_add(&sum, &n, &sum, r->arena, &e))
		return run_error(r, &e);
	m->value = value_make_n(r->arena, &sum);
	return true;
}

/* Creates the target with nothing counted yet, which may be repeated. */
static bool make_target(struct effect *x, const struct value *args, bool *again)
{
	struct run *r = x->run;
	struct row given;

	row_init(&given, r->arena, NULL);
	for (size_t i = 0; i < x->target->param_count; i++)
		row_set(&given, x->target->param_at[i], args[i]);
	if (write_put(r, x->target, &given, again)) {
		*again = true;
		return true;
	}
	*again = false;
	if (r->problem.type == PROBLEM_INTERNAL || r->problem.type == PROBLEM_BUSY)
		return false;
	run_pass_over(r, PASSED_OVER_GONE, "there is no %.*s to count on, and counting alone cannot create one: %.*s",
		      SLICE_ARG(x->target->name), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
	return true;
}

/* ---- remove all ---- */

/* Removes all rows for one row of `each`, which may be repeated; then the position moves past that row. */
static bool remove_rows(void *ctx, const struct row *row, bool *stop)
{
	struct effect *x = ctx;
	struct run *r = x->run;
	struct value key = dyn_key_of(r, row->full);
	struct dyn_write w = { .kind = DYN_DELETE, .key = key };
	struct dyn_refusal refusal;
	bool ok;

	(void)stop;
	if (row->entity)
		WITHOUT_RIDERS(r, ok = remove_one(x, row->entity, key));
	else
		WITHOUT_RIDERS(r, ok = dyn_write(r, &w, 1, SLICE(""), &refusal) == DYN_DONE);
	return ok || (r->problem.type == PROBLEM_NONE && run_busy(r));
}

static bool remove_for_row(struct effect *x)
{
	const struct processor *p = x->rule;
	struct scope s = effect_scope(x, x->run);

	return read_each(p->target_access, &s, p->with, p->with_count, remove_rows, x);
}

/* ---- all of them ---- */

bool effect_is_wanted(struct effect *x, bool *out)
{
	struct run *r = x->run;
	struct scope s = effect_scope(x, r);
	int64_t was;
	bool ok;

	*out = true;
	if (!x->rule->only_when)
		return true;
	was = effect_time_enter(x, r);
	ok = scope_holds(&s, x->rule->only_when, out);
	effect_time_leave(r, was);
	if (ok && !*out)
		run_pass_over(r, PASSED_OVER_WHEN, "%s", "");
	return ok;
}

/* `remove all` of the rows themselves, not of a pattern for each row. */
static bool removes_rows(const struct effect *x)
{
	const struct processor *p = x->processor;

	return p->parts == 1 && !p->each_pattern.n && !p->each_list;
}

bool effect_batches(struct effect *x, const struct row *row)
{
	bool alone = x->processor->parts == 1;

	switch (x->rule->effect) {
	case EFFECT_PUT: return effect_is_plain(x->target);
	case EFFECT_DELETE: /* checks of `lives while` could meet other effects on the same item */
		return effect_is_plain_to_remove(x->target) && (alone || !x->target->lives_count);
	case EFFECT_COUNT: return true;
	case EFFECT_REMOVE_ALL: return removes_rows(x) && (!row->entity || effect_is_plain_to_remove(row->entity));
	case EFFECT_UPDATE:
	case EFFECT_UPSERT:
	case EFFECT_SEND: break;
	}
	return false;
}

bool effect_gather(struct effect *x, const struct row *row)
{
	switch (x->rule->effect) {
	case EFFECT_PUT: return effect_put_gather(x);
	case EFFECT_DELETE: return remove_target(x, true);
	case EFFECT_COUNT: return count(x);
	case EFFECT_REMOVE_ALL: gather_removal(x, row->entity, dyn_key_of(x->run, row->full)); return true;
	case EFFECT_UPDATE:
	case EFFECT_UPSERT:
	case EFFECT_SEND: break;
	}
	return true;
}

bool effect_single(struct effect *x, const struct row *row)
{
	switch (x->rule->effect) {
	case EFFECT_PUT: return effect_put_single(x);
	case EFFECT_UPDATE: return update(x);
	case EFFECT_UPSERT: return upsert(x);
	case EFFECT_DELETE: return remove_target(x, false);
	case EFFECT_REMOVE_ALL:
		if (!removes_rows(x))
			return remove_for_row(x);
		return remove_one(x, row->entity, dyn_key_of(x->run, row->full));
	case EFFECT_COUNT:
	case EFFECT_SEND: break;
	}
	return true;
}

bool effect_refused(struct effect *x, size_t i, const struct dyn_refusal *refusal, bool *again)
{
	*again = false;
	switch (x->rule->effect) {
	case EFFECT_PUT: return effect_put_over(x, refusal->item, &x->batch.given[i]);
	case EFFECT_COUNT: return make_target(x, x->batch.args[i], again);
	case EFFECT_DELETE:
	case EFFECT_REMOVE_ALL:
	case EFFECT_UPDATE:
	case EFFECT_UPSERT:
	case EFFECT_SEND: break;
	}
	return true;
}
