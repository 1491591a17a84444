/* POST /batch: many requests in order, each by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"
#include "app/auth/caller.h"
#include "json/json.h"

#define BATCH_MOST  100
#define BATCH_BYTES ((size_t)16 << 20) /* of replies; after that no further request is started */

static bool read_text(struct run *r, const struct json *entry, const char *name, struct slice *out)
{
	const struct json *j = json_get(entry, name);

	*out = SLICE("");
	if (!j || j->type == JSON_NULL)
		return true;
	if (j->type != JSON_STRING)
		return run_fail(r, PROBLEM_MALFORMED, "'%s' must be a string", name);
	*out = j->string;
	return true;
}

static bool check_members(struct run *r, const struct json *entry)
{
	static const char *const known[] = { "method", "path", "body", "if_match", "idempotency_key", NULL };

	if (entry->type != JSON_OBJECT)
		return run_fail(r, PROBLEM_MALFORMED, "each of 'requests' must be an object");
	for (uint32_t i = 0; i < entry->count; i++) {
		size_t k = 0;

		while (known[k] && !slice_is(entry->members[i].name, known[k]))
			k++;
		if (!known[k])
			return run_fail(r, PROBLEM_MALFORMED,
					"'%.*s' is not a member of a request; there are method, path, body, "
					"if_match and idempotency_key",
					SLICE_ARG(entry->members[i].name));
	}
	return true;
}

static bool read_entry(struct app_exchange *x, const struct json *entry, struct app_request *q)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct run *r = &x->run;
	struct slice method, target;

	if (!check_members(r, entry) || !read_text(r, entry, "method", &method) ||
	    !read_text(r, entry, "path", &target) || !read_text(r, entry, "if_match", &q->if_match) ||
	    !read_text(r, entry, "idempotency_key", &q->idempotency_key))
		return false;
	q->method = app_method_parse(method);
	if (q->method == APP_OTHER)
		return run_fail(r, PROBLEM_MALFORMED, "'method' must be GET, POST, PUT, PATCH or DELETE");
	if (!target.n || target.p[0] != '/')
		return run_fail(r, PROBLEM_MALFORMED, "'path' must begin with '/': /users/alice");
	app_request_target(q, target);
	x->body = json_get(entry, "body");
	if (!x->body || x->body->type == JSON_NULL)
		x->body = &empty;
	if (x->body->type != JSON_OBJECT)
		return run_fail(r, PROBLEM_MALFORMED, "'body' must be an object");
	return true;
}

/* In its own memory, released before the next: a hundred long lists would be too much for one arena. */
static void handle_entry(const struct app_exchange *outer, struct run *own, const struct json *entry, struct buf *b)
{
	struct app_request *q = arena_new(own->arena, struct app_request);
	struct app_exchange *x = arena_new(own->arena, struct app_exchange);

	q->client = outer->q->client;
	q->base = outer->q->base;
	x->app = outer->app;
	x->q = q;
	x->run = (struct run){ .app = outer->app,
			       .design = outer->run.design,
			       .backend = outer->run.backend,
			       .arena = own->arena,
			       .caller = outer->run.caller,
			       .now_ms = outer->run.now_ms };
	x->caller_known = true;
	x->in_batch = true;
	if (b->n > BATCH_BYTES)
		(void)run_fail(&x->run, PROBLEM_TOO_LARGE,
			       "the replies are too long for one batch; this request was not started");
	else if (read_entry(x, entry, q) && caller_stands(&x->run)) /* an earlier request may have ended the session */
		app_exchange_handle(x);
	if (!x->answer.status)
		answer_problem(x);
	json_open(b, '{');
	json_member_int(b, "status", x->answer.status);
	if (x->answer.location.n)
		json_member_string(b, "location", x->answer.location);
	if (x->answer.etag.n)
		json_member_string(b, "etag", x->answer.etag);
	if (x->answer.type != ANSWER_EMPTY) {
		json_name(b, "body");
		buf_put(b, answer_bare(&x->answer));
	}
	json_close(b, '}');
	branch_clear(own, &outer->run);
}

/* Asked before the first request runs: after it, the batch cannot start again on another thread. */
static bool has_password(const struct json *requests)
{
	for (uint32_t i = 0; i < requests->count; i++)
		if (json_get(json_get(&requests->items[i], "body"), "password"))
			return true;
	return false;
}

bool handle_batch(struct app_exchange *x)
{
	const struct json *requests = json_get(x->body, "requests");
	struct run *own;
	struct buf b;

	if (!json_is(requests, JSON_ARRAY))
		return run_fail(&x->run, PROBLEM_MALFORMED, "a batch must be {\"requests\": […]}");
	if (requests->count > BATCH_MOST)
		return run_invalid(&x->run, SLICE("requests"), "at most %d", BATCH_MOST);
	if (has_password(requests) && !run_may_hash(&x->run))
		return false;
	own = branch_new(&x->run);
	buf_init(&b, x->run.arena);
	buf_lit(&b, "{\"responses\":[");
	for (uint32_t i = 0; i < requests->count; i++)
		handle_entry(x, own, &requests->items[i], &b);
	buf_lit(&b, "]}");
	answer_buf(x, 200, &b);
	x->answer.cache = SLICE("no-store");
	return true;
}
