/* The plan: what both sides have, and what a copy would do. Reads only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "copy/copy_internal.h"

static bool look_at_target(struct copier *c, const struct json *from, struct copy_plan *plan)
{
	const struct json *to, *on;
	struct job *j = c->job;
	struct slice ttl;

	if (!copy_table_describe(c, COPY_TO, j->table, &to))
		return false;
	plan->target_exists = to != NULL;
	if (!to)
		return true;
	on = json_get(json_get(to, "StreamSpecification"), "StreamEnabled");
	plan->target_has_stream = json_is(on, JSON_BOOL) && on->boolean;
	if (!copy_table_differs(c, from, to, &plan->differs) || !copy_table_ttl(c, COPY_TO, j->table, &ttl) ||
	    !copy_table_has_items(c, COPY_TO, j->table, &plan->target_has_items))
		return false;
	plan->target_has_ttl = ttl.n > 0;
	return true;
}

static bool look_at_copy(struct copier *c, struct copy_plan *plan)
{
	struct job *j = c->job;
	enum state_found found;
	const struct json *from;
	struct slice owner;
	uint64_t beat;

	*plan = (struct copy_plan){ .phase = COPY_BEGINNING };
	if (!copy_table_read_source(c, &from) || !look_at_target(c, from, plan) ||
	    !copy_state_load(c, &found, &owner, &beat))
		return false;
	plan->source_has_stream = j->stream[0] != 0;
	plan->view = arena_copy(&c->arena, slice_str(j->view));
	plan->items = json_get_int(from, "ItemCount");
	plan->bytes = json_get_int(from, "TableSizeBytes");
	plan->is_ours = found == STATE_OURS;
	plan->phase = found == STATE_NONE ? COPY_BEGINNING : j->phase;
	return true;
}

enum copy_end copy_look(const struct copy_options *o, struct arena *a, struct copy_plan *plan, struct copy_report *out)
{
	struct job j = { .o = o, .table = o->table };
	volatile bool ok = false;
	struct copier c;

	pthread_mutex_init(&j.lock, NULL);
	*out = (struct copy_report){ .last = { .table = o->table } };
	if (copier_init(&c, &j)) {
		ARENA_TRY(&c.arena, { ok = look_at_copy(&c, plan); }, { copy_job_fail(&j, "not enough memory"); });
		if (ok) {
			plan->view = arena_copy(a, plan->view);
			plan->differs = arena_copy(a, plan->differs);
		}
		copier_release(&c);
	}
	memcpy(out->why, j.why, sizeof(out->why));
	copy_job_release(&j);
	return ok ? COPY_DONE : COPY_FAILED;
}
