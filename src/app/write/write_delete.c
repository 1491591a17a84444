/* Deleting: permanently, with everything that belongs to the item; or softly, by setting attributes, as the design
 * says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/state.h"
#include "app/write/deleting.h"
#include "app/write/joined.h"
#include "app/write/renaming/renaming.h"
#include "app/db/rehearse.h"
#include "app/read/read.h"
#include "base/clock.h"
#include "base/log.h"

/* ---- refuse while ---- */

static bool any_row(void *ctx, const struct row *row, bool *stop)
{
	(void)row;
	*(bool *)ctx = true;
	*stop = true;
	return true;
}

struct asking {
	const struct entity *entity;
	struct value full;
	const struct access *which; /* the pattern that returns rows; NULL: none */
};

/* A rehearse_part: on a remote table, reads all patterns at once. */
static bool still_has(struct run *r, void *ctx)
{
	struct asking *q = ctx;
	const struct delete_rule *d = &q->entity->delete_;
	struct row f;
	struct scope s = { .run = r, .item = &f };

	q->which = NULL;
	row_from(&f, r->arena, q->entity, q->full);
	backend_together(r->backend, true);
	for (size_t i = 0; i < d->refuse_count && !q->which; i++) {
		const struct access *x = d->refuse_access[i];
		bool any = false;

		if (!x)
			return run_fail(r, PROBLEM_INTERNAL, "There is no access pattern '%.*s'",
					SLICE_ARG(d->refuse_while[i]));
		if (!read_each(x, &s, NULL, 0, any_row, &any))
			return false;
		q->which = any ? x : NULL;
	}
	backend_together(r->backend, false);
	return true;
}

static bool tell_still_has(struct write *w, const struct access *x)
{
	return run_fail(w->run, PROBLEM_CONFLICT, "this %.*s still has %.*s", SLICE_ARG(w->entity->name),
			SLICE_ARG(x->name));
}

/* `again`: the request as a whole is no longer rehearsed. */
static bool ask_patterns(struct write *w, struct value full, bool again)
{
	struct asking q = { .entity = w->entity, .full = full };
	struct guesses *g = again && w->run->app ? w->run->app->guesses : NULL;

	return (g ? rehearse_reads(w->run, g, still_has, &q) : still_has(w->run, &q)) &&
	       (!q.which || tell_still_has(w, q.which));
}

/* ---- permanently ---- */

static bool plan_removal(struct write *w, struct value old, struct plan *p)
{
	plan_init(p, w, old, NULL);
	if (!plan_make(p) || !plan_deleting(p) || !plan_also(p))
		return false;
	plan_joined_by(p);
	return true;
}

static enum plan_end remove_item(struct write *w, struct value old)
{
	struct plan p;
	enum plan_end end;

	if (!plan_removal(w, old, &p))
		return PLAN_FAILED;
	end = renaming_unmark(w, old);
	if (end == PLAN_DONE)
		end = plan_commit(&p);
	w->alone = true; /* in case of a retry: a smaller transaction */
	if (end != PLAN_DONE)
		return end;
	plan_follow(&p);
	deleting_follow(&p);
	plan_follow_removal(&p);
	return PLAN_DONE;
}

/* Asked twice only when the first answers may not show what joined last (joined.h). */
static bool nothing_hangs_on(struct write *w, struct value old)
{
	int64_t wait_ms;

	if (!w->entity->delete_.refuse_count)
		return true;
	if (!ask_patterns(w, old, false))
		return false;
	if (joined_before(w, old, &wait_ms))
		return true;
	backend_settle(w->run->backend);
	clock_pause_us(wait_ms * 1000);
	return ask_patterns(w, old, true);
}

bool write_plan_deletion(struct write *w, struct value old, struct row *f, struct plan *p)
{
	if (!nothing_hangs_on(w, old))
		return false;
	return w->entity->delete_.soft ? write_plan_alter(w, old, f, p) : plan_removal(w, old, p);
}

void write_deletes(struct write *w)
{
	const struct delete_rule *d = &w->entity->delete_;

	w->deletes = true;
	w->set = d->set;
	w->set_count = d->set_count;
	w->remove = d->remove;
	w->remove_count = d->remove_count;
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
	if (!may_delete(w, old) || !write_if_match(w, old) || !nothing_hangs_on(w, old))
		return PLAN_FAILED;
	if (!w->entity->delete_.soft)
		return remove_item(w, old);
	end = write_alter(w, old, out);
	out->full = VALUE_ABSENT;
	w->alone = true;
	return end;
}

bool write_delete(struct run *r, const struct identity *of, const struct write_options *o, struct write_result *out)
{
	struct write w = { .run = r, .entity = of->entity, .args = of->args, .arg_count = of->count, .options = o };

	write_deletes(&w);
	return write_try(&w, delete_once, out);
}

/* ---- by the runtime ---- */

/* What the item's entity also writes must not keep it for ever. */
static enum plan_end remove_alone(struct write *w, struct value full)
{
	struct run *r = w->run;
	enum plan_end end = remove_item(w, full);

	if (end != PLAN_FAILED || w->quiet || !w->entity->also_count || r->rider_lost || w->over ||
	    r->problem.type == PROBLEM_INTERNAL || r->problem.type == PROBLEM_BUSY)
		return end;
	log_warn("%.*s: a %.*s is removed without what is also written: %.*s", SLICE_ARG(r->design->name),
		 SLICE_ARG(w->entity->name), SLICE_ARG(r->problem.detail));
	w->quiet = true;
	return PLAN_AGAIN;
}

/* Also removes expired items: reads them as stored. */
static enum plan_end remove_once(struct write *w, struct write_result *out)
{
	struct value stored, full;

	(void)out;
	if (!dyn_get(w->run, w->key, true, &stored))
		return PLAN_FAILED;
	w->over = w->unless && !value_present(stored);
	if (!value_present(stored))
		return PLAN_DONE;
	full = entity_full(w->run, w->entity, stored);
	if (w->unless && !w->unless(w->unless_ctx, w, full, &w->over))
		return PLAN_FAILED;
	return w->over ? PLAN_DONE : remove_alone(w, full);
}

bool write_remove(struct run *r, const struct entity *e, struct value key)
{
	struct write w = { .run = r, .entity = e, .key = key, .trusted = true, .deletes = true };
	struct write_result out;

	return write_try(&w, remove_once, &out);
}

bool write_remove_under(struct run *r, const struct entity *e, struct value key, const struct marker *m, bool *over)
{
	struct write w = {
		.run = r, .entity = e, .key = key, .trusted = true, .deletes = true, .gone = m->gone, .under = m
	};
	struct write_result out;
	bool ok = write_try(&w, remove_once, &out);

	*over = w.over;
	return ok;
}

bool write_remove_unless(struct run *r, const struct entity *e, struct value key, write_unless *unless, void *ctx,
			 bool *stays)
{
	struct write w = {
		.run = r, .entity = e, .key = key, .trusted = true, .deletes = true, .unless = unless, .unless_ctx = ctx
	};
	struct write_result out;
	bool ok = write_try(&w, remove_once, &out);

	*stays = w.over;
	return ok;
}
