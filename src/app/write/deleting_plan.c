/* Unfinished deletions in the plan of a write: it starts one, or must not meet one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/entity/renamed.h"
#include "app/write/deleting_internal.h"
#include "app/write/renaming/renaming.h"
#include "base/log.h"

#define TOGETHER_MOST 25  /* children removed in the deletion's own transaction */
#define HELP_MOST     500 /* rows that a creation removes before it tells its caller to retry in a second */

/* ---- a deletion ---- */

static bool is_soft_deletion(const struct plan *p)
{
	const struct write *w = p->write;

	return p->item && w->deletes && !w->trusted && p->entity->delete_.soft;
}

static bool put_markers(struct plan *p)
{
	deleting_expect(p->run);
	markers_of(p->run, p->entity, p->old, &p->markers, &p->marker_count);
	for (size_t i = 0; i < p->marker_count; i++) {
		struct plan_action *a = plan_add(p, PLAN_MARKER, DYN_PUT, p->markers[i].key);

		a->table = beside_table(p->run);
		if (!marker_make(p->run, &p->markers[i], &a->item))
			return false;
	}
	return true;
}

static bool add_children(struct plan *p)
{
	size_t own = p->marker_count, found;
	struct doomed_list rows;
	bool fits;

	/* They would take the room of what is also written, which must be in this transaction. */
	if (plan_has_also(p))
		return true;
	/* On a remote table each pattern is a round trip, and its index may be late: the keeper does it. */
	if (run_is_remote(p->run) && p->run->app->keeper_runs && !p->write->under)
		return true;
	for (size_t i = 0; i < own && !p->write->alone; i++) {
		struct marker m = p->markers[i];

		if (!deleting_rows(p->run, &m, TOGETHER_MOST + 1, &rows))
			return false;
		if (rows.count && rows.count <= TOGETHER_MOST && !plan_doom(p, &m, rows.list, rows.count, &fits, &found))
			return false;
	}
	return true;
}

/* ---- anything else ---- */

/* Whether the server has just made one of the marker's values: no earlier item had it. */
static bool is_new_to_the_world(const struct plan *p, const struct marker *m)
{
	struct value_iter it = value_iter(m->values);

	while (p->write->made.arena && value_next(&it))
		if (value_present(it.value) && value_equal(row_find(&p->write->made, it.name), it.value))
			return true;
	return false;
}

/* Whether the write undoes a soft deletion. */
static bool restores(const struct plan *p)
{
	const struct delete_rule *d = &p->entity->delete_;

	for (size_t i = 0; d->soft && i < d->set_count; i++)
		if (names_have(&p->changed, d->set[i].at))
			return true;
	return false;
}

static bool has_marker(const struct marker *list, size_t n, struct value key)
{
	for (size_t i = 0; i < n; i++)
		if (value_equal(list[i].key, key))
			return true;
	return false;
}

static void ask_for_none(struct plan *p)
{
	struct marker *now, *was = NULL;
	size_t n, was_count = 0;
	struct plan_action *a;

	if (value_present(p->old) && !restores(p))
		markers_of(p->run, p->entity, p->old, &was, &was_count);
	markers_of(p->run, p->entity, row_item(p->item), &now, &n);
	for (size_t i = 0; i < n; i++) {
		if (has_marker(was, was_count, now[i].key) ||
		    (!value_present(p->old) && is_new_to_the_world(p, &now[i])))
			continue;
		a = plan_add(p, PLAN_MARKER, DYN_CHECK, now[i].key);
		a->table = beside_table(p->run);
		a->must_not_exist = true;
	}
}

/* Whether the change may give the item other markers, decided without computing them. */
static bool may_meet_one(const struct plan *p)
{
	const struct delete_rule *d = &p->entity->delete_;

	if (!value_present(p->old) || restores(p))
		return true;
	for (size_t i = 0; i < d->then_count; i++) {
		const struct access *x = d->then_access[i];

		for (size_t k = 0; x && k < x->param_count; k++)
			if (names_have(&p->changed, x->param_at[k]))
				return true;
		for (size_t k = 0; x && k < x->query_param_count; k++)
			if (names_have(&p->changed, x->query_params[k].at))
				return true;
	}
	return false;
}

bool plan_deleting(struct plan *p)
{
	if (p->write->under)
		plan_under(p, p->write->under);
	if (!plan_renaming(p))
		return false;
	if (!p->entity->delete_.then_count)
		return true;
	if (!p->item || (is_soft_deletion(p) && !plan_is_empty(p)))
		return put_markers(p) && add_children(p);
	if (p->item && !is_soft_deletion(p) && may_meet_one(p))
		ask_for_none(p);
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
		       "what belonged to the %.*s that was deleted is still being removed; try again in a moment",
		       SLICE_ARG(e->name));
	r->problem.retry_after = 1;
	return PLAN_FAILED;
}

static enum plan_end help(struct plan *p, struct value item)
{
	struct run *b = aside(p->run);
	struct marker m;
	bool known;

	if (!marker_read(b, item, &m, &known))
		return PLAN_FAILED;
	if (!known)
		return tell_busy(p->run, p->entity);
	switch (deleting_carry(b, &m, HELP_MOST)) {
	case CARRIED: return PLAN_AGAIN;
	case CARRIED_IN_PART:
	case CARRIED_EARLY: return tell_busy(p->run, p->entity);
	case CARRIED_NOT: break;
	}
	if (b->problem.type == PROBLEM_BUSY)
		return tell_busy(p->run, p->entity);
	(void)run_fail(p->run, PROBLEM_INTERNAL, "%.*s", SLICE_ARG(b->problem.detail));
	return PLAN_FAILED;
}

enum plan_end deleting_refused(struct plan *p, const struct plan_action *a, const struct dyn_refusal *f)
{
	if (slice_starts(value_bytes(value_get(a->key, SLICE("PK"))), SLICE(RENAMED_PREFIX)))
		return renaming_refused(p, a, f);
	if (a->must_not_exist)
		return value_present(f->item) ? help(p, f->item) : PLAN_AGAIN;
	p->write->over = true;
	return PLAN_FAILED;
}

/* ---- afterwards ---- */

/* Does not recurse into dependents' cascades, because a tree may be deep: the process that carries out the parent
 * does them. */
static enum carried follow_one(struct plan *p, struct run *b, const struct marker *m)
{
	struct app *app = p->run->app;
	bool keeper = app && app->keeper_runs;
	enum carried end;

	deleting_note(b, m);
	if (keeper && run_is_remote(p->run)) /* looking would be round trips for the caller to wait for */
		return CARRIED_EARLY;
	end = deleting_carry(b, m, keeper || p->write->under ? 0 : DELETING_ALL);

	if (end != CARRIED || keeper || p->write->under)
		return end;
	return deleting_settle(b, m->entity);
}

void deleting_follow(struct plan *p)
{
	bool left = false;
	struct run *b;

	if (!p->marker_count)
		return;
	b = aside(p->run);
	for (size_t i = p->marker_count; i-- > 0;) { /* children's before their parent's: M4 */
		enum carried end = follow_one(p, b, &p->markers[i]);

		left = left || end != CARRIED;
		if (end == CARRIED_NOT)
			log_warn("%.*s: not everything of a deleted %.*s is gone: %.*s", SLICE_ARG(p->run->design->name),
				 SLICE_ARG(p->markers[i].entity->name), SLICE_ARG(b->problem.detail));
		branch_clear(b, p->run);
	}
	if (left)
		deleting_expect(p->run);
}
