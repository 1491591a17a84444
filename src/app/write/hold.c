/* Items that are held while they are asked whether they may go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/hold.h"

#include "base/log.h"
#include "base/ulid.h"

/* ---- the value: milliseconds, a dash, and what nobody else has ---- */

static bool make(struct run *r, struct value *out)
{
	char ulid[ULID_LENGTH];

	if (!ulid_new(r->now_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "there is no randomness for an id");
	*out = value_make_s(r->arena, arena_printf(r->arena, "%lld-%.*s", (long long)r->now_ms, ULID_LENGTH, ulid));
	return true;
}

static bool has_lapsed(const struct run *r, struct value hold)
{
	struct slice s = value_bytes(hold);
	int64_t ms = 0;

	for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && ms < INT64_MAX / 100; i++)
		ms = ms * 10 + (s.p[i] - '0');
	return r->now_ms - ms > HOLD_MS;
}

/* From one value to another, absent: none. */
static enum dyn_outcome move(struct run *r, struct value key, struct value from, struct value to)
{
	const struct value_member set = { HOLD_ATTRIBUTE, to }, equal = { HOLD_ATTRIBUTE, from };
	struct dyn_write w = {
		.kind = DYN_UPDATE,
		.key = key,
		.must_exist = true,
		.set = &set,
		.set_count = 1,
		.equal = &equal,
		.equal_count = 1,
	};
	struct dyn_refusal refusal;

	return dyn_write(r, &w, 1, SLICE(""), &refusal);
}

/* ---- holding ---- */

enum plan_end hold_take(struct write *w, struct value old)
{
	struct value is = value_get(old, HOLD_ATTRIBUTE), mine;
	struct value key = dyn_key_of(w->run, old);

	if (value_present(is) && !value_equal(is, w->hold) && !has_lapsed(w->run, is))
		return PLAN_AGAIN;
	if (value_present(is) && value_equal(is, w->hold))
		return PLAN_DONE;
	if (!make(w->run, &mine))
		return PLAN_FAILED;
	switch (move(w->run, key, is, mine)) {
	case DYN_DONE:
		w->hold = mine;
		w->held_key = key;
		return PLAN_DONE;
	case DYN_REFUSED:
	case DYN_CONFLICT: return PLAN_AGAIN;
	case DYN_MISMATCH:
	case DYN_FAILED: break;
	}
	return PLAN_FAILED;
}

void hold_release(struct write *w)
{
	struct run *b;

	if (!value_present(w->hold))
		return;
	b = branch_new(w->run); /* what is told of the write stays */
	if (move(b, w->held_key, w->hold, VALUE_ABSENT) == DYN_FAILED)
		log_warn("%.*s: a %.*s is held for some seconds more: %.*s", SLICE_ARG(b->design->name),
			 SLICE_ARG(w->entity->name), SLICE_ARG(b->problem.detail));
	w->hold = VALUE_ABSENT;
}

void plan_held_by(struct plan *p)
{
	struct plan_action *a = plan_find(p, p->old_key);

	if (!value_present(p->write->hold) || !a)
		return;
	fields_set(&a->equal, HOLD_ATTRIBUTE, p->write->hold);
	if (p->item && a->kind == DYN_UPDATE)
		fields_set(&a->set, HOLD_ATTRIBUTE, VALUE_ABSENT);
}

/* ---- meeting it ---- */

void plan_not_held(struct plan_action *target)
{
	if (target->entity && target->entity->delete_.refuse_count)
		fields_set(&target->equal, HOLD_ATTRIBUTE, VALUE_ABSENT);
}

bool hold_is_met(struct run *r, const struct plan_action *target, struct value stored)
{
	struct value hold = value_get(stored, HOLD_ATTRIBUTE);
	struct run *b;

	if (!value_present(hold) || !target->entity->delete_.refuse_count)
		return false;
	if (has_lapsed(r, hold)) {
		b = branch_new(r);
		b->riders = NULL;
		b->rider_count = 0;
		(void)move(b, target->key, hold, VALUE_ABSENT);
	}
	return true;
}

struct value hold_hidden(struct arena *a, struct value item)
{
	return value_present(value_get(item, HOLD_ATTRIBUTE)) ? value_map_with(a, item, HOLD_ATTRIBUTE, VALUE_ABSENT)
							      : item;
}
