/* Passwords in writes: comparing the old one, hashing the new one, storing it where the login reads it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/auth/caller.h"
#include "app/auth/caller_attempt.h"
#include "app/write/write_plan.h"
#include "base/audit.h"

bool write_is_password(const struct entity *e, struct slice name)
{
	if (!e->login.present || (!slice_is(name, "password") && !slice_is(name, "current_password")))
		return false;
	return !entity_attribute(e, name) || slice_equal(e->login.password, name);
}

static struct value given(const struct write *w, struct slice name)
{
	struct value v = w->input ? row_find(w->input, name) : VALUE_ABSENT;

	return value_type(v) == VALUE_S ? v : VALUE_ABSENT;
}

static bool place_of(struct run *r, const struct entity *e, struct value full, struct value *key,
		     struct slice *attribute)
{
	struct row f;

	row_from(&f, r->arena, e, full);
	return caller_secret_place(r, e, &f, key, attribute);
}

static bool read_hash(struct write *w, struct value old, struct value *hash)
{
	struct slice attribute;
	struct value key, stored = old;

	if (!place_of(w->run, w->entity, old, &key, &attribute))
		return false;
	if (value_present(key) && !dyn_get(w->run, key, true, &stored))
		return false;
	*hash = value_get(stored, attribute);
	return true;
}

static bool is_right(struct write *w, struct value current)
{
	return caller_check_password(value_bytes(current), value_bytes(w->old_hash)) ||
	       run_invalid(w->run, SLICE("current_password"), "is not right");
}

static bool refuse_guess(const struct run *r, const char *outcome)
{
	backend_settle(r->backend);
	audit_write(&(struct audit_event){ .kind = "password",
					   .outcome = outcome,
					   .subject = r->caller.subject,
					   .design = r->design->name,
					   .status = problem_status(r->problem.type),
					   .why = r->problem.detail });
	return false;
}

/* A caller who changes a password must know the old one. Failures are slowed like those of logins, so that a stolen
 * token does not allow guessing. They are counted separately, or strangers could keep the owner from changing it. */
static bool knows_current(struct write *w)
{
	struct run *r = w->run;
	struct value current = given(w, SLICE("current_password"));
	struct throttle_attempt a = { 0 };
	int wait;

	if (r->caller.operator_)
		return true;
	if (!value_present(current))
		return run_invalid(r, SLICE("current_password"), "is needed to change the password");
	if (!r->app || !r->app->callers)
		return is_right(w, current);
	a.name = arena_printf(r->arena, "current password#%.*s", SLICE_ARG(r->caller.subject));
	wait = caller_attempt_begin(r, &a);
	if (wait) {
		(void)run_fail(r, PROBLEM_TOO_MANY, "too many failed attempts");
		r->problem.retry_after = wait;
		return refuse_guess(r, "throttled");
	}
	if (!is_right(w, current))
		return refuse_guess(r, "refused");
	caller_attempt_passed(r, &a);
	return true;
}

/* Hashing takes long. In a rehearsal (rehearse.h), which writes nothing, any text will do. */
static bool make_hash(struct write *w, struct slice password)
{
	if (backend_aside(w->run->backend))
		return caller_hash_password(w->run, password, &w->hash);
	w->hash = value_make_s(w->run->arena, SLICE("-"));
	return true;
}

bool write_password(struct write *w, struct row *f, struct value old)
{
	const struct entity *e = w->entity;
	struct run *r = w->run;
	struct value password;

	if (!e->login.present || w->trusted || w->deletes)
		return true;
	password = given(w, SLICE("password"));
	if (!value_present(password)) {
		if (value_present(old) || r->caller.operator_ || r->design->callers.issuer.n)
			return true;
		return run_invalid(r, SLICE("password"), "is required");
	}
	if (!run_may_hash(r))
		return false;
	/* A hash in an item of its own may have changed since the item was judged: the one that is read here becomes the
	 * condition, so it is judged again. */
	if (value_present(old) && (!read_hash(w, old, &w->old_hash) || !write_is_still(w, old) || !knows_current(w)))
		return false;
	if (e->login.password.n)
		names_add(r->arena, &w->looked_at, e->login.password_at);
	if (!value_present(w->hash) && !make_hash(w, value_bytes(password)))
		return false;
	if (e->login.password.n)
		row_set(f, e->login.password_at, w->hash);
	return true;
}

void write_tell_password(const struct write *w, struct value full)
{
	struct run *r = w->run;
	struct row account;

	if (!value_present(w->hash) || !audit_is_on())
		return;
	account = row_lay(r->arena, w->entity, full);
	audit_write(&(struct audit_event){
		.kind = "password",
		.outcome = "ok",
		.subject = r->caller.operator_ && !r->caller.subject.n ? SLICE("operator") : r->caller.subject,
		.design = r->design->name,
		.action = arena_printf(r->arena, "PATCH %.*s", SLICE_ARG(entity_path(r, &account))),
		.status = 200,
	});
}

/* ---- credentials as an item of their own ---- */

/* Completes it as the entity that describes credentials says, if there is one: times, further keys. */
static bool whole_secret(struct run *r, struct value item, struct value *out)
{
	const struct entity *e = entity_of(r, item);
	struct row f;

	*out = item;
	if (!e)
		return true;
	row_from(&f, r->arena, e, entity_full(r, e, item));
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (a->touched || (a->now && !value_present(row_get(&f, a->at))))
			row_set(&f, a->at, write_now(r, a));
	}
	if (!entity_complete(r, e, &f, VALUE_ABSENT))
		return false;
	*out = entity_stored(r, e, &f);
	return true;
}

static bool put_secret(struct plan *p, struct value key, struct slice attribute, struct value was)
{
	struct plan_action *a = plan_add(p, PLAN_SECRET, DYN_PUT, key);
	struct value_iter it = value_iter(key);
	struct row f;

	row_from(&f, p->run->arena, NULL, was);
	while (value_next(&it))
		row_put(&f, it.name, it.value);
	if (value_present(p->write->hash))
		row_put(&f, attribute, p->write->hash);
	/* If the password has changed since it was compared, starts again. */
	if (value_present(p->old) && value_equal(key, dyn_key_of(p->run, value_present(was) ? was : key)))
		fields_set(&a->equal, attribute,
			   value_present(p->write->old_hash) ? p->write->old_hash : value_get(was, attribute));
	return whole_secret(p->run, row_item(&f), &a->item);
}

bool plan_secret(struct plan *p)
{
	struct value was = VALUE_ABSENT, key, old_key = VALUE_ABSENT;
	struct slice attribute;
	bool moves;

	if (!p->entity->login.present || !p->entity->login.secret_count)
		return true;
	if (value_present(p->old) && !place_of(p->run, p->entity, p->old, &old_key, &attribute))
		return false;
	if (!p->item) {
		plan_add(p, PLAN_SECRET, DYN_DELETE, old_key);
		return true;
	}
	if (!caller_secret_place(p->run, p->entity, p->item, &key, &attribute))
		return false;
	moves = value_present(old_key) && !value_equal(key, old_key);
	if (!moves && !value_present(p->write->hash))
		return true;
	if (value_present(old_key) && !dyn_get(p->run, old_key, true, &was))
		return false;
	if (moves && value_present(was)) {
		struct plan_action *a = plan_add(p, PLAN_SECRET, DYN_DELETE, old_key);

		fields_set(&a->equal, attribute, value_get(was, attribute));
	}
	if (!value_present(was) && !value_present(p->write->hash))
		return true;
	return put_secret(p, key, attribute, was);
}
