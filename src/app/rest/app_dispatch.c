/* From a path to an answer: finds the route, enforces what the row of its kind says, calls the handler.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>
#include "app/auth/caller.h"
#include "app/db/moved.h"
#include "app/rest/app_exchange.h"
#include "base/audit.h"
#include "json/json.h"

/* ---- the kinds of routes ---- */

enum {
	ROW_PUBLIC = 1, /* the token is not looked at */
	ROW_BODY = 2,   /* takes a body */
	ROW_WRITE = 4,  /* carried out once for an Idempotency-Key */
	ROW_ONE = 8,    /* is a single write, which can leave a receipt */
	ROW_ALONE = 16, /* not in a batch */
	ROW_ANY = 32,   /* its body is any JSON, not only an object */
};

static const struct row_of_kind {
	int flags;
	bool (*handle)(struct app_exchange *x);
} rows[ROUTE_KINDS] = {
	[ROUTE_ITEM] = { 0, handle_item },
	[ROUTE_CREATE] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_create },
	[ROUTE_PUT] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_put },
	[ROUTE_PATCH] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_patch },
	[ROUTE_DELETE] = { ROW_WRITE | ROW_ONE, handle_delete },
	[ROUTE_ACTION] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_action },
	[ROUTE_PUT_ENTRY] = { ROW_BODY | ROW_ANY | ROW_WRITE | ROW_ONE, handle_put_entry },
	[ROUTE_DELETE_ENTRY] = { ROW_WRITE | ROW_ONE, handle_delete_entry },
	[ROUTE_FILE] = { ROW_BODY | ROW_WRITE, handle_file },
	[ROUTE_FILE_NEW] = { ROW_BODY | ROW_WRITE, handle_file },
	[ROUTE_ACCESS] = { 0, handle_access },
	[ROUTE_EACH] = { ROW_BODY | ROW_WRITE | ROW_ALONE, handle_each },
	[ROUTE_LOGIN] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_login },
	[ROUTE_RENEW] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_renew },
	[ROUTE_LOGOUT] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_logout },
	[ROUTE_ROLE] = { ROW_BODY | ROW_WRITE | ROW_ONE | ROW_ALONE, handle_role },
	[ROUTE_RESET_SEND] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_reset_send },
	[ROUTE_RESET] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_reset },
	[ROUTE_PROOF_SEND] = { ROW_BODY | ROW_ALONE, handle_proof_send },
	[ROUTE_PROOF] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_proof },
	[ROUTE_ME] = { 0, handle_me },
	[ROUTE_BATCH] = { ROW_BODY | ROW_WRITE | ROW_ALONE, handle_batch },
	[ROUTE_CALL] = { ROW_BODY | ROW_ALONE, handle_call },
	[ROUTE_OPENAPI] = { ROW_PUBLIC | ROW_ALONE, handle_openapi },
	[ROUTE_INDEX] = { ROW_PUBLIC | ROW_ALONE, handle_index },
};

static bool is_json_type(struct slice type)
{
	struct slice name;

	slice_next(&type, ';', &name);
	name = slice_trim(name, " \t");
	return slice_equal_any_case(name, SLICE("application/json")) ||
	       slice_equal_any_case(name, SLICE("application/merge-patch+json"));
}

static bool read_body(struct app_exchange *x, bool any)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct slice text = slice_trim(x->q->body, SLICE_BLANKS);

	if (x->body)
		return true;
	x->body = &empty;
	if (!text.n)
		return true;
	if (x->q->content_type.n && !is_json_type(x->q->content_type))
		return run_fail(&x->run, PROBLEM_MEDIA_TYPE, "the body must be application/json");
	x->body = json_parse(x->run.arena, text);
	if (!x->body)
		return run_fail(&x->run, PROBLEM_MALFORMED, "the body is not JSON");
	if (x->body->type != JSON_OBJECT && !any)
		return run_fail(&x->run, PROBLEM_MALFORMED, "the body must be a JSON object");
	return true;
}

/* ---- finding the route ---- */

static bool no_such_address(struct app_exchange *x)
{
	return run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such address");
}

static bool is_for_operators(const struct app_exchange *x, const struct slice *segments, size_t n)
{
	return x->app->operators && n && slice_is(segments[0], "processors") && !x->in_batch;
}

/* True: answered. */
static bool ask_operators(struct app_exchange *x)
{
	if (!x->caller_known && !caller_read(&x->run, x->q->authorization))
		return false;
	if (!x->run.caller.operator_)
		return no_such_address(x);
	backend_settle(x->run.backend);
	x->answer.ready = arena_new(x->run.arena, struct app_reply);
	x->app->operators(x->app->operators_ctx, x->run.backend, x->run.arena, x->q, x->answer.ready);
	return true;
}

/* Sets x->match.route, or makes the whole answer (x->answer.ready). */
static bool find_route(struct app_exchange *x)
{
	struct slice segments[ROUTE_MOST_SEGMENTS];
	size_t n;

	if (!target_segments(&x->run, x->q->path, segments, &n))
		return false;
	routes_find(x->app->routes, segments, n, x->q->method, true, &x->match);
	if (!x->match.allow && !x->match.route && is_for_operators(x, segments, n))
		return ask_operators(x);
	if (!x->match.allow && !x->match.route)
		return no_such_address(x);
	if (!(x->match.route && rows[x->match.route->kind].flags & ROW_PUBLIC) && !x->caller_known &&
	    !caller_read(&x->run, x->q->authorization))
		return false;
	if (!x->run.caller.operator_ && (!x->match.route || x->match.route->internal))
		routes_find(x->app->routes, segments, n, x->q->method, false, &x->match);
	if (x->match.route)
		return true;
	if (!x->match.allow)
		return no_such_address(x);
	x->answer.allow = x->match.allow;
	return run_fail(&x->run, PROBLEM_METHOD, "this address does not allow the method");
}

/* Names what the calls of a remote database are counted for: the access pattern, or the entity and the operation. */
static void label_calls(struct app_exchange *x)
{
	const struct route *r = x->match.route;

	if (!x->run.backend->label)
		return;
	if (r->access)
		backend_label(x->run.backend, r->access->name);
	else if (r->entity)
		backend_label(x->run.backend, arena_printf(x->run.arena, "%.*s %s%.*s", SLICE_ARG(r->entity->name),
							   r->action ? "" : app_method_name(x->q->method),
							   SLICE_ARG(r->action ? r->action->name : SLICE(""))));
	else
		backend_label(x->run.backend, SLICE("service"));
}

static bool dispatch(struct app_exchange *x)
{
	const struct row_of_kind *row;

	if (!find_route(x))
		return false;
	if (x->answer.ready)
		return true;
	label_calls(x);
	row = &rows[x->match.route->kind];
	if (x->q->watcher && x->match.route->kind != ROUTE_ACCESS)
		return run_fail(&x->run, PROBLEM_INVALID, "only lists can be watched");
	if (x->in_batch && row->flags & ROW_ALONE)
		return run_fail(&x->run, PROBLEM_INVALID, "this is not possible in a batch");
	if (row->flags & ROW_BODY && !read_body(x, row->flags & ROW_ANY))
		return false;
	if (row->flags & ROW_WRITE && !moved_allows(&x->run))
		return false;
	if (row->flags & ROW_WRITE && x->q->idempotency_key.n)
		return handle_once(x, row->flags & ROW_ONE, row->handle);
	return row->handle(x);
}

/* ---- the audit log ---- */

/* Logins write their own record; a call only reads. */
static bool has_own_record(const struct app_exchange *x)
{
	const struct route *route = x->match.route;

	return route && (route->kind == ROUTE_LOGIN || route->kind == ROUTE_CALL);
}

/* Records refused callers and the writes of operators. */
static void audit(const struct app_exchange *x)
{
	const struct caller *c = &x->run.caller;
	int status = x->answer.ready ? x->answer.ready->status : x->answer.status;
	bool refused = status == 401 || status == 403;
	bool writes = x->q->method != APP_GET && x->q->method != APP_HEAD;

	if (x->q->trusted || x->run.wants_hashing || !(refused || (c->operator_ && writes && !has_own_record(x))) ||
	    (status == 401 && has_own_record(x)))
		return;
	backend_settle(x->run.backend);
	audit_write(&(struct audit_event){
		.kind = refused ? "refused" : "operator",
		.outcome = refused        ? "refused"
			   : status < 400 ? "ok"
					  : "failed",
		.subject = c->operator_ && !c->subject.n ? SLICE("operator") : c->subject,
		.address = x->q->client,
		.design = x->app->design->name,
		.action = arena_printf(x->run.arena, "%s %.*s", app_method_name(x->q->method), SLICE_ARG(x->q->path)),
		.status = status,
		.why = x->run.problem.detail,
	});
}

void app_exchange_handle(struct app_exchange *x)
{
	x->run.app = x->app;
	x->run.design = x->app->design;
	if (!dispatch(x))
		answer_problem(x);
	if (audit_is_on())
		audit(x);
}
