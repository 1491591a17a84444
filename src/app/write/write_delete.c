/* Deleting: for good, with all that belongs to the item; or as the design says, by setting something.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "app/write/deleting.h"
#include "app/write/hold.h"
#include "app/db/late.h"
#include "app/read/read.h"

/* ---- refuse while ---- */

static bool any_row(void *ctx, const struct row *row, bool *stop)
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
	struct row f;
	struct scope s = { .run = w->run, .item = &f };

	*which = NULL;
	row_from(&f, w->run->arena, w->entity, full);
	for (size_t i = 0; i < d->refuse_count && !*which; i++) {
		const struct access *x = design_access(w->run->design, d->refuse_while[i]);
		bool any = false;

		if (!x)
			return run_fail(w->run, PROBLEM_INTERNAL, "There is no access pattern '%.*s'",
					SLICE_ARG(d->refuse_while[i]));
		if (!read_each(x, &s, NULL, 0, any_row, &any))
			return false;
		*which = any ? x : NULL;
	}
	return true;
}

static bool tell_still_has(struct write *w, const struct access *x)
{
	return run_fail(w->run, PROBLEM_CONFLICT, "this %.*s still has %.*s", SLICE_ARG(w->entity->name),
			SLICE_ARG(x->name));
}

static bool ask_patterns(struct write *w, struct value full)
{
	const struct access *x;

	return still_has(w, full, &x) && (!x || tell_still_has(w, x));
}

/* ---- for good ---- */

static enum plan_end remove_item(struct write *w, struct value old)
{
	struct plan p;
	enum plan_end end;

	plan_init(&p, w, old, NULL);
	if (!plan_make(&p) || !plan_deleting(&p))
		return PLAN_FAILED;
	plan_held_by(&p);
	end = plan_commit(&p);
	w->alone = true; /* should there be another try: fewer to wait for */
	if (end != PLAN_DONE)
		return end;
	w->hold = VALUE_ABSENT;
	plan_follow(&p);
	deleting_follow(&p);
	plan_follow_removal(&p);
	return PLAN_DONE;
}

/* What was written before the item was held is in the indexes then. */
static void wait_for_indexes(const struct write *w)
{
	const struct delete_rule *d = &w->entity->delete_;
	int64_t ms = late_ms(w->run->app);
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	for (size_t i = 0; late_is_possible(w->run) && i < d->refuse_count; i++)
		if (late_reads_index(w->run->design, d->refuse_while[i])) {
			(void)nanosleep(&t, NULL);
			return;
		}
}

/* Asked twice: what is refused for something that has long been there need not be held for it. */
static enum plan_end hold_and_ask(struct write *w, struct value old)
{
	enum plan_end end;

	if (!ask_patterns(w, old))
		return PLAN_FAILED;
	if (!w->entity->delete_.refuse_count)
		return PLAN_DONE;
	end = hold_take(w, old);
	if (end == PLAN_DONE)
		wait_for_indexes(w);
	return end != PLAN_DONE || ask_patterns(w, old) ? end : PLAN_FAILED;
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
	if (!may_delete(w, old) || !write_if_match(w, old))
		return PLAN_FAILED;
	end = hold_and_ask(w, old);
	if (end != PLAN_DONE)
		return end;
	if (!w->entity->delete_.soft)
		return remove_item(w, old);
	end = write_alter(w, old, out);
	out->full = VALUE_ABSENT;
	w->alone = true;
	return end;
}

bool write_delete(struct run *r, const struct identity *of, const struct write_options *o, struct write_result *out)
{
	const struct entity *e = of->entity;
	struct write w = {
		.run = r,
		.entity = e,
		.args = of->args,
		.arg_count = of->count,
		.options = o,
		.deletes = true,
		.set = e->delete_.set,
		.set_count = e->delete_.set_count,
		.remove = e->delete_.remove,
		.remove_count = e->delete_.remove_count,
	};
	bool done = write_try(&w, delete_once, out);

	hold_release(&w); /* also of one that was deleted softly without anything to change */
	return done;
}

/* ---- by the runtime ---- */

/* Also what has expired: read as it is stored. */
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
	return w->over ? PLAN_DONE : remove_item(w, full);
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
