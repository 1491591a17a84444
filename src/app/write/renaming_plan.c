/* Unfinished renames in the plan of a write: it begins one, or must not meet one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"
#include "app/entity/renamed.h"
#include "app/run/state.h"
#include "app/write/renaming.h"
#include "base/log.h"

#define HELP_MOST   500 /* children that a waiting write moves before it tells its caller to retry in a second */
#define OWN_MOST    100 /* that the request itself moves after the rename, if the tick carries out the rest */
#define REMOTE_MOST 10  /* the same for a remote table: each is several round trips */

/* ---- into the plan ---- */

static struct plan_action *add_marker(struct plan *p, enum dyn_write_kind kind, struct value key)
{
	struct plan_action *a = plan_add(p, PLAN_MARKER, kind, key);

	a->table = beside_table(p->run);
	return a;
}

void plan_renaming_under(struct plan *p, const struct renaming *m)
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

	if (!renaming_make(r, p, m))
		return false;
	if (!m->id.n)
		return true;
	for (int i = 0; i < 2; i++) {
		struct plan_action *a = add_marker(p, DYN_PUT, i ? m->to_key : m->from_key);

		a->must_not_exist = true;
		a->item = renaming_item(r, m, a->key);
	}
	p->renaming = m;
	renaming_expect(r);
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

bool plan_renaming(struct plan *p)
{
	const struct write *w = p->write;

	if (w->follows)
		plan_renaming_under(p, w->follows);
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
	renaming_expect(p->run);
	switch (renaming_carry(b, &m, HELP_MOST)) {
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
	return tell_busy(p->run, p->entity);
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
	renaming_expect(p->run);
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
