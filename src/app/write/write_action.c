/* Actions: a named update; or a pure addition, which touches nothing else and may be gathered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/run/state.h"
#include "app/write/keep.h"
#include "app/write/write_plan.h"
#include "base/clock.h"

/* ---- on an item that does not exist yet ---- */

/* What the body appends is all that a new item's list has, and there is nothing to remove. */
static bool input_to_lists(struct write *w, struct row *given)
{
	const struct action *x = w->action;

	for (size_t i = 0; i < x->append_count + x->cut_count; i++) {
		bool append = i < x->append_count;
		const struct name *at = append ? x->append_at[i] : x->cut_at[i - x->append_count];
		const struct attribute *a = slots_attribute(w->entity->slots, at);
		struct value v = row_get(given, at);

		if (!value_present(v))
			continue;
		if (!(append ? input_append : input_remove_at)(w->run, a, VALUE_ABSENT, v, &v))
			return false;
		row_set(given, at, v);
	}
	return true;
}

static bool identity_and_input(struct write *w, struct row *given)
{
	const struct entity *e = w->entity;

	if (w->input)
		row_copy(given, w->run->arena, w->input);
	else
		row_init(given, w->run->arena, e);
	for (size_t i = 0; i < e->param_count && i < w->arg_count; i++)
		row_set(given, e->param_at[i], w->args[i]);
	return input_to_lists(w, given);
}

static enum plan_end create_by_action(struct write *w, struct write_result *out)
{
	struct row given, f;

	if (w->options->if_match.n) {
		(void)run_fail(w->run, PROBLEM_CHANGED, "there is no %.*s yet", SLICE_ARG(w->entity->name));
		return PLAN_FAILED;
	}
	if (!identity_and_input(w, &given) || !write_make(w, &given, &f) || !write_assign(w, &f, NULL))
		return PLAN_FAILED;
	return write_put_new(w, &f, out);
}

static enum plan_end action_once(struct write *w, struct write_result *out)
{
	struct value old;

	if (!write_read(w, &old))
		return PLAN_FAILED;
	if (value_present(old))
		return write_alter(w, old, out);
	if (w->action->creates)
		return create_by_action(w, out);
	(void)write_not_found(w);
	return PLAN_FAILED;
}

/* ---- only adding ---- */

static bool only_adds(const struct entity *e, const struct action *x)
{
	for (size_t i = 0; i < e->also_count && !x->gather_seconds; i++)
		if (e->also[i].events & ON_UPDATED)
			return false;
	return x->add_count && !x->set_count && !x->remove_count && !x->input_count && !x->require_count &&
	       !x->also_count && !x->creates;
}

/* Checks rules and state on the current item. */
static bool may_add(struct write *w, const struct row *f, struct value full)
{
	const struct action *x = w->action;
	struct scope s = write_scope(w, f, NULL);
	bool may = true, holds;

	if (!w->run->caller.operator_) {
		write_looks_at(w, x->allow ? x->allow : w->entity->allow[ALLOW_UPDATE]);
		if (x->allow ? !scope_holds(&s, x->allow, &may)
			     : !entity_allows(w->run, w->entity, ALLOW_UPDATE, full, VALUE_ABSENT, &may))
			return false;
	}
	if (!may)
		return write_refuse(w, full);
	if (!write_if_match(w, full) || !scope_holds(&s, x->when, &holds))
		return false;
	return holds || write_not_fit(w);
}

static bool wait_for_more(struct write *w, struct value key, const struct fields *adds)
{
	struct gather *g = w->run->app->gather;
	int64_t due = clock_steady_ms(w->run->app->clock) + w->action->gather_seconds * 1000;

	backend_settle(w->run->backend);
	for (size_t i = 0; i < adds->count; i++) {
		struct number n = value_number(adds->list[i].value);

		/* If the second of two additions finds no room, the first one cannot be undone: the second is lost, as
		 * in a crash. */
		if (!gather_add(g, w->entity, key, adds->list[i].name, &n, due))
			return i > 0;
	}
	return true;
}

/* The action's `when` as a condition, or else a condition on everything that it reads. */
static bool ask_when(struct plan *p, struct plan_action *a)
{
	const struct term *when = p->write->action->when;
	bool cannot;

	if (!when || plan_filter(p, a, when, &cannot))
		return true;
	if (!cannot)
		return false;
	write_looks_at(p->write, when);
	plan_watch(p, a);
	return true;
}

static enum plan_end add_now(struct write *w, struct row *f, struct value full, const struct fields *adds,
			     struct write_result *out)
{
	struct plan p;
	struct plan_action *a;
	enum plan_end end;

	plan_init(&p, w, full, f);
	a = plan_add(&p, PLAN_MAIN, DYN_UPDATE, p.key);
	a->must_exist = true;
	for (size_t i = 0; i < adds->count; i++)
		fields_set(&a->add, adds->list[i].name, adds->list[i].value);
	if (!ask_when(&p, a) || !plan_held(&p))
		return PLAN_FAILED;
	plan_watch(&p, a);
	plan_witnesses(&p);
	end = plan_commit(&p);
	if (end != PLAN_DONE)
		return end;
	for (size_t i = 0; i < adds->count; i++) {
		struct number n = value_number(adds->list[i].value);

		if (!fields_move(w->run, &p.self, adds->list[i].name, &n) ||
		    !row_move(w->run, f, adds->list[i].name, &n))
			return PLAN_FAILED;
	}
	out->full = row_item(f);
	out->shown = p.shown;
	plan_follow(&p);
	return PLAN_DONE;
}

static enum plan_end add_once(struct write *w, struct write_result *out)
{
	struct fields adds;
	struct row f;
	struct value full;

	if (!write_read(w, &full))
		return PLAN_FAILED;
	if (!value_present(full)) {
		(void)write_not_found(w);
		return PLAN_FAILED;
	}
	row_from(&f, w->run->arena, w->entity, full);
	fields_init(&adds, w->run->arena);
	if (!may_add(w, &f, full) || !write_adds(w, &f, NULL, &adds))
		return PLAN_FAILED;
	if (w->action->gather_seconds && wait_for_more(w, dyn_key_of(w->run, full), &adds)) {
		out->gathered = true;
		return PLAN_DONE;
	}
	return add_now(w, &f, full, &adds, out);
}

bool write_action(struct run *r, const struct identity *of, const struct action *action, const struct row *given,
		  const struct write_options *o, struct write_result *out)
{
	struct write w = {
		.run = r,
		.entity = of->entity,
		.args = of->args,
		.arg_count = of->count,
		.input = given,
		.options = o,
		.action = action,
		.set = action->set,
		.set_count = action->set_count,
	};

	return write_try(&w, only_adds(of->entity, action) ? add_once : action_once, out);
}
