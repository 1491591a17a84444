/* Whether a change wakes a processor, and what its terms see.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/passed_over.h"
#include "process/effect/effect_internal.h"
#include "process/keeper/keeper_move.h"

/* ---- what terms see ---- */

int64_t effect_time_enter(struct effect *x, struct run *r)
{
	int64_t was = r->now_ms;

	if (x->change->created_ms)
		r->now_ms = x->change->created_ms;
	return was;
}

void effect_time_leave(struct run *r, int64_t was)
{
	r->now_ms = was;
}

struct scope effect_scope(struct effect *x, struct run *r)
{
	bool row = x->processor->each_variable.n && value_present(x->variables[x->variable_count].value);

	return (struct scope){
		.run = r,
		.item = &x->item,
		.before = x->old.entity ? &x->old : NULL,
		.variables = x->variables,
		.variable_count = x->variable_count + row,
	};
}

/* Each may use those before it. */
static bool evaluate_let(struct effect *x)
{
	const struct processor *p = x->processor;

	x->variables = arena_array(x->caller->arena, struct term_variable, p->let_count + 1);
	x->variables[p->let_count].name = p->each_variable;
	x->variables[p->let_count].at = p->each_at;
	for (size_t i = 0; i < p->let_count; i++) {
		struct scope s = {
			.run = x->caller,
			.item = &x->item,
			.before = x->old.entity ? &x->old : NULL,
			.variables = x->variables,
			.variable_count = i,
		};
		struct value v;

		if (!scope_value(&s, p->let[i].term, &v))
			return false;
		x->variables[i] = (struct term_variable){ p->let[i].at, p->let[i].attribute, v };
	}
	x->variable_count = p->let_count;
	return true;
}

/* Sets the item and evaluates `let`. */
static bool effect_prepare(struct effect *x)
{
	const struct change *c = x->change;
	struct run *r = x->caller;
	struct value image = value_present(c->new_image) ? c->new_image : c->old_image;
	int64_t was = effect_time_enter(x, r);
	bool ok;

	r->memo = NULL; /* it belongs to another change */
	r->witnesses = NULL;
	if (c->entity)
		row_from(&x->item, r->arena, c->entity, entity_full(r, c->entity, image));
	else
		row_init(&x->item, r->arena, NULL); /* a run of a schedule */
	x->old = value_present(c->old_image) ? entity_lay(r, c->entity, c->old_image) : (struct row){ 0 };
	ok = evaluate_let(x);
	effect_time_leave(r, was);
	return ok;
}

bool effect_params(struct effect *x, struct run *r, const struct access *access, const struct assignment *with,
		   size_t n, struct row *out)
{
	struct scope s = effect_scope(x, r);

	return read_given(&s, access, with, n, out);
}

/* ---- whether ---- */

bool effect_concerns(const struct processor *p, const struct change *c)
{
	/* What follows a rename is neither new nor gone; but receivers of documents know items by their keys. */
	if (c->follows && !p->send_opensearch)
		return false;
	return p->every_seconds ? !c->entity : c->entity == p->of && (p->events & c->events);
}

static bool asks(struct effect *x, bool *out)
{
	struct run *r = x->caller;
	struct scope s = effect_scope(x, r);
	int64_t was = effect_time_enter(x, r);
	bool ok = scope_holds(&s, x->processor->when, out);

	effect_time_leave(r, was);
	return ok;
}

bool effect_wakes_prepared(struct effect *x, bool *out)
{
	enum keeper_fate fate = KEEPER_GONE;

	*out = false;
	if (!effect_concerns(x->processor, x->change))
		return true;
	/* A document goes with its item even if `when` no longer holds: an archived card that is deleted. */
	if (x->processor->send_opensearch && x->change->events == ON_DELETED) {
		*out = true;
		return true;
	}
	if (!effect_prepare(x) || !asks(x, out))
		return false;
	if (!*out)
		run_pass_over(x->caller, PASSED_OVER_WHEN, "%s", "");
	/* Receivers know items by their keys: for them a moved item is deleted. */
	if (!*out || x->change->events != ON_DELETED || x->processor->effect == EFFECT_SEND ||
	    !keeper_can_move(x->caller, x->change->entity))
		return true;
	if (!keeper_fate(x->caller, x->change, &fate))
		return false;
	*out = fate != KEEPER_MOVED;
	return true;
}

bool effect_wakes(struct run *r, const struct processor *p, const struct change *c, bool *out)
{
	struct effect x = { .caller = r, .processor = p, .change = c };

	return effect_wakes_prepared(&x, out);
}
