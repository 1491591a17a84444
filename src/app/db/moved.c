/* The marker of a table that has moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/moved.h"
#include "app/run/state.h"
#include "app/db/beside.h"
#include "base/log.h"

/* A design without runtime data has no such table: that is not an error. */
static bool find_marker(struct run *r, struct value *item)
{
	struct request q = { .kind = REQUEST_GET,
			     .get = { .table = beside_table(r),
				      .key = beside_key(r, SLICE(MOVED_PK), SLICE(MOVED_SK)),
				      .consistent = true } };
	struct reply reply;

	backend_execute(r->backend, r->arena, &q, &reply);
	*item = reply.status == 200 ? reply.item : VALUE_ABSENT;
	return reply.status == 200 || slice_is(reply.error, "ResourceNotFoundException");
}

void moved_look(struct run *r)
{
	struct value item;
	bool now, was;

	if (!find_marker(r, &item))
		return;
	now = value_present(item);
	was = atomic_exchange(&r->app->moved, now);
	if (now && !was)
		log_warn("%.*s: its table is moving away: writes are refused here, reads continue",
			 SLICE_ARG(r->design->name));
	else if (was && !now)
		log_info("%.*s: writes are accepted again", SLICE_ARG(r->design->name));
}

bool moved_allows(struct run *r)
{
	struct value item;
	struct slice to;

	if (!atomic_load_explicit(&r->app->moved, memory_order_relaxed))
		return true;
	if (!find_marker(r, &item))
		return run_busy(r);
	if (!value_present(item))
		return true; /* the next look will find it too */
	to = beside_text(item, "to");
	run_fail(r, PROBLEM_BUSY,
		 "this table moves to %.*s, and writes are refused here: send them there once it is served",
		 SLICE_ARG(to.n ? to : SLICE("another place")));
	r->problem.retry_after = MOVED_RETRY_AFTER;
	return false;
}
