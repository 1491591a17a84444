/* Deleting: for good, with all that belongs to the item; or as the design says, by setting something.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/deleting.h"
#include "app/read.h"

/* ---- refuse while ---- */

static bool any_row(void *ctx, const struct read_row *row, bool *stop)
{
	(void)row;
	*(bool *)ctx = true;
	*stop = true;
	return true;
}

/* Which of the patterns returns something; NULL: none. */
static bool still_has(struct write *w, struct value full, const struct access **which)
{
	const struct delete_rule *d = &w->entity->delete_;
	struct fields f;
	struct scope s = { .run = w->run, .item = &f };

	*which = NULL;
	fields_from_item(&f, w->run->arena, full);
	for (size_t i = 0; i < d->refuse_count && !*which; i++) {
		const struct access *x = design_access(w->run->design, d->refuse_while[i]);
		bool any = false;

		if (!x)
			return run_fail(w->run, PROBLEM_INTERNAL, "There is no access pattern '%.*s'", SLICE_ARG(d->refuse_while[i]));
		if (!read_each(w->run, x, &s, NULL, 0, any_row, &any))
			return false;
		*which = any ? x : NULL;
	}
	return true;
}

static bool tell_still_has(struct write *w, const struct access *x)
{
	return run_fail(w->run, PROBLEM_CONFLICT, "this %.*s still has %.*s", SLICE_ARG(w->entity->name), SLICE_ARG(x->name));
}

static bool ask_patterns(struct write *w, struct value full)
{
	const struct access *x;

	return still_has(w, full, &x) && (!x || tell_still_has(w, x));
}

/* ---- for good ---- */

/* What the item counted on is not asked anything: it counted before. */
static void ask_nothing(struct plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		struct plan_action *a = &p->actions[i];

		if (a->role != PLAN_TARGET)
			continue;
		a->ask_count = a->also_count = a->equal.count = 0;
		a->left_out = a->kind == DYN_CHECK;
	}
}

/* Someone has added to what must be empty between the question and the deletion. Nobody can any more, so the answer is
 * final now: the item comes back as it was. */
static enum plan_end come_back(struct write *w, struct value old, struct value secret, const struct access *x)
{
	static const struct write_options none = { 0 };
	struct write back = { .run = w->run, .entity = w->entity, .options = &none, .trusted = true };
	struct fields f;
	struct plan p;
	enum plan_end end = PLAN_AGAIN;

	fields_from_item(&f, w->run->arena, old);
	plan_init(&p, &back, VALUE_ABSENT, &f);
	if (!plan_make(&p))
		return PLAN_FAILED;
	if (value_present(secret))
		plan_add(&p, PLAN_SECRET, DYN_PUT, dyn_key_of(w->run, secret))->item = secret;
	ask_nothing(&p);
	for (int i = 0; i < WRITE_TRIES && end == PLAN_AGAIN; i++)
		end = plan_commit(&p);
	if (end != PLAN_DONE)
		return PLAN_FAILED;
	plan_follow(&p);
	(void)tell_still_has(w, x);
	return PLAN_FAILED;
}

static enum plan_end remove_item(struct write *w, struct value old)
{
	bool asks = !w->trusted && w->entity->delete_.refuse_count;
	struct value secret = VALUE_ABSENT;
	const struct access *x = NULL;
	struct plan p;
	enum plan_end end;

	plan_init(&p, w, old, NULL);
	if (!plan_make(&p) || !plan_deleting(&p) || (asks && !write_secret(w->run, w->entity, old, &secret)))
		return PLAN_FAILED;
	end = plan_commit(&p);
	w->alone = true; /* should there be another try: fewer to wait for */
	if (end != PLAN_DONE)
		return end;
	if (asks && !still_has(w, old, &x))
		return PLAN_FAILED;
	if (x)
		return come_back(w, old, secret, x);
	plan_follow(&p);
	deleting_follow(&p);
	return PLAN_DONE;
}

static bool may_delete(struct write *w, struct value full)
{
	bool may;

	write_looks_at(w, w->entity->allow[ALLOW_DELETE]);
	if (!entity_allows(w->run, w->entity, ALLOW_DELETE, full, VALUE_ABSENT, &may))
		return false;
	return may || write_refuse(w, full);
}

static enum plan_end delete_once(struct write *w, struct write_result *out)
{
	struct value old;
	enum plan_end end;

	if (!write_read(w, &old))
		return PLAN_FAILED;
	if (!value_present(old)) {
		(void)write_not_found(w);
		return PLAN_FAILED;
	}
	if (!may_delete(w, old) || !write_if_match(w, old) || !ask_patterns(w, old))
		return PLAN_FAILED;
	if (!w->entity->delete_.soft)
		return remove_item(w, old);
	end = write_alter(w, old, out);
	out->full = VALUE_ABSENT;
	w->alone = true;
	return end;
}

bool write_delete(struct run *r, const struct entity *e, const struct value *args, size_t n, const struct write_options *o,
		  struct write_result *out)
{
	struct write w = {
		.run = r, .entity = e, .args = args, .arg_count = n, .options = o, .deletes = true,
		.set = e->delete_.set, .set_count = e->delete_.set_count,
	};

	return write_try(&w, delete_once, out);
}

/* ---- by the runtime ---- */

/* Also what has expired: read as it is stored. */
static enum plan_end remove_once(struct write *w, struct write_result *out)
{
	struct value stored;

	(void)out;
	if (!dyn_get(w->run, w->key, true, &stored))
		return PLAN_FAILED;
	return value_present(stored) ? remove_item(w, entity_full(w->run, w->entity, stored)) : PLAN_DONE;
}

bool write_remove(struct run *r, const struct entity *e, struct value key)
{
	struct write w = { .run = r, .entity = e, .key = key, .trusted = true, .deletes = true };
	struct write_result out;

	return write_try(&w, remove_once, &out);
}

bool write_remove_under(struct run *r, const struct entity *e, struct value key, const struct marker *m, bool *over)
{
	struct write w = { .run = r, .entity = e, .key = key, .trusted = true, .deletes = true, .gone = m->gone, .under = m };
	struct write_result out;
	bool ok = write_try(&w, remove_once, &out);

	*over = w.over;
	return ok;
}
