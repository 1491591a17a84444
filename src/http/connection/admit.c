/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget.h"
#include "http/connection/admit.h"
#include "http/connection/connection.h"
#include "http/loop.h"
#include "http/connection/route.h"

/* ---- the head ---- */

static uint64_t most(void *ctx, const struct http_request *r)
{
	const struct conn *c = ctx;

	(void)r;
	return route_body_limit(c->reading);
}

static bool opens(void *ctx, struct http_request *r)
{
	struct conn *c = ctx;
	struct exchange *ex = c->reading;
	struct error *e = arena_new(r->arena, struct error);
	int status;

	if (c->on_reserve && !route_is_reserved(c->loop, r->path)) {
		r->refused = 503;
		r->why = ADMIT_FULL;
		return false;
	}
	status = route_judge_head(ex, e);
	if (!status)
		return route_open_body(ex);
	ex->denial = e;
	r->refused = status;
	r->why = "";
	return false;
}

struct request_gate admit_gate(struct conn *c)
{
	return (struct request_gate){ most, opens, c };
}

/* ---- memory ---- */

bool admit_memory(struct exchange *ex)
{
	return ex->arena.budget || arena_join(&ex->arena, ex->loop->budget);
}

int admit_refusal(const struct exchange *ex, const char **why)
{
	switch ((enum budget_answer)ex->arena.refusal) {
	case BUDGET_GIVEN: return 0;
	case BUDGET_BUSY: *why = "Requests in flight use all the memory available for them; try again."; return 503;
	case BUDGET_NEVER:
		*why = "The request needs more memory than the limit for requests (request_memory).";
		return 413;
	}
	return 0;
}
