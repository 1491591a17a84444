/* `refuse while`: the attribute that references change, and the deletion's condition on it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/joined.h"

#include "app/db/late.h"
#include "app/db/rehearse.h"
#include "base/clock.h"
#include "base/ulid.h"

/* ---- joining ---- */

bool plan_joins(struct plan *p, struct plan_action *target)
{
	struct run *r = p->run;
	char ulid[ULID_LENGTH];

	if (!target->entity || !target->entity->delete_.refuse_count || fields_has(&target->set, JOINED_ATTRIBUTE))
		return true;
	if (!ulid_new(r->now_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "cannot get random bytes for an id");
	fields_set(&target->set, JOINED_ATTRIBUTE,
		   value_make_s(r->arena, arena_copy(r->arena, slice_make(ulid, ULID_LENGTH))));
	return true;
}

/* ---- ending ---- */

void plan_joined_by(struct plan *p)
{
	struct plan_action *a = plan_find(p, p->old_key);

	if (p->write->deletes && !p->write->trusted && p->entity->delete_.refuse_count && a)
		fields_set(&a->equal, JOINED_ATTRIBUTE, value_get(p->old, JOINED_ATTRIBUTE));
}

static int64_t lateness(const struct write *w)
{
	const struct delete_rule *d = &w->entity->delete_;

	for (size_t i = 0; i < d->refuse_count; i++)
		if (late_reads_index(d->refuse_access[i]))
			return late_ms(w->run->app);
	return 0;
}

bool joined_before(struct write *w, struct value old, int64_t *wait_ms)
{
	struct run *r = w->run;
	struct value by = value_get(old, JOINED_ATTRIBUTE);
	int64_t since_ms, now_ms, late;

	*wait_ms = 0;
	if (!run_is_remote(r) || !value_present(by))
		return true;
	late = lateness(w);
	now_ms = clock_steady_ms(r->app->clock);
	if (!r->app->guesses || !guess_joined(r->app->guesses, dyn_key_of(r, old), by, &since_ms))
		since_ms = now_ms;
	*wait_ms = since_ms + late > now_ms ? since_ms + late - now_ms : 0;
	return since_ms + late < rehearse_begun_ms(r->backend); /* that very millisecond may be after it */
}

struct value joined_hidden(struct arena *a, struct value item)
{
	return value_present(value_get(item, JOINED_ATTRIBUTE)) ? value_map_with(a, item, JOINED_ATTRIBUTE, VALUE_ABSENT)
								: item;
}
