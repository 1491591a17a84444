/* From a request to a reply: finds the route, enforces what its row says, calls the handler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"
#include "app/db/lag.h"
#include "app/db/late.h"
#include "app/db/moved.h"
#include "app/write/deleting.h"
#include "design/row.h"
#include "app/read/read.h"
#include "app/db/rehearse.h"
#include "app/write/write.h"
#include "base/alloc.h"
#include "base/audit.h"
#include "base/clock.h"
#include "base/log.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>

/* ---- an app ---- */

static bool make_cursor_key(struct app *app)
{
	static const char purpose[] = "cursor:";
	struct slice text = arena_printf(&app->arena, "%s%.*s", purpose, SLICE_ARG(app->design->name));
	unsigned n = 0;

	return HMAC(EVP_sha512(), app->secret, sizeof(app->secret), (const uint8_t *)text.p, text.n, app->cursor_key,
		    &n) &&
	       n == sizeof(app->cursor_key);
}

struct app *app_new(const struct app_options *o)
{
	struct app *app = mem_zalloc(sizeof(*app));
	volatile bool ok = false;

	if (!app)
		return NULL;
	arena_init(&app->arena);
	app->design = o->design;
	app->database = o->database;
	app->clock = o->clock ? o->clock : &clock_system;
	memcpy(app->secret, o->secret, sizeof(app->secret));
	app->callers = callers_new(o->design, o->secret);
	app->gather = gather_new();
	app->idempotency = idempotency_new();
	app->lag = o->database && o->database->is_remote ? lag_new(o->design) : NULL;
	app->guesses = o->database && o->database->is_remote ? guesses_new() : NULL; /* without, it is slower */
	ARENA_TRY(&app->arena, {
		app->routes = routes_new(&app->arena, app->design);
		app->index = app_index_make(app, &app->arena);
		app->body_bytes = app_body_needs(app->design);
		app->reads = reads_new(&app->arena, app->design);
		ok = make_cursor_key(app);
	}, {
		ok = false;
	});
	if (ok && app->callers && app->gather && app->idempotency)
		return app;
	app_free(app);
	return NULL;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	callers_free(app->callers);
	gather_free(app->gather);
	idempotency_free(app->idempotency);
	guesses_free(app->guesses);
	lag_free(app->lag);
	arena_release(&app->arena);
	OPENSSL_cleanse(app->secret, sizeof(app->secret));
	OPENSSL_cleanse(app->cursor_key, sizeof(app->cursor_key));
	mem_free(app);
}

const struct design *app_design(const struct app *app)
{
	return app->design;
}

struct database *app_database(const struct app *app)
{
	return app->database;
}

const uint8_t *app_secret(const struct app *app)
{
	return app->secret;
}

int64_t app_now_ms(const struct app *app)
{
	return clock_now_ms(app->clock);
}

struct slice app_operator_token(const struct app *app, struct arena *a, int64_t seconds)
{
	struct token_request q = { .operator_ = true, .now_ms = app_now_ms(app), .seconds = seconds };

	return caller_token(a, app->design->name, app->secret, &q);
}

void app_set_operators_handler(struct app *app, app_operators *fn, void *ctx)
{
	app->operators = fn;
	app->operators_ctx = ctx;
}

bool app_deletions_settled(const struct app *app)
{
	return atomic_load(&app->deletions_settled);
}

void app_set_keeper_runs(struct app *app, bool runs)
{
	app->keeper_runs = runs;
}

/* ---- what each kind of route asks for ---- */

enum { ROW_PUBLIC = 1, ROW_BODY = 2, ROW_WRITE = 4, ROW_ALONE = 8, ROW_ONE = 16 };

static const struct found {
	int flags; /* PUBLIC: whoever asks; BODY: takes one; WRITE: done once for an Idempotency-Key; ONE: is one write; ALONE: not in a batch */
	bool (*handle)(struct app_exchange *x);
} rows[ROUTE_KINDS] = {
	[ROUTE_ITEM] = { 0, handle_item },
	[ROUTE_CREATE] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_create },
	[ROUTE_PUT] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_put },
	[ROUTE_PATCH] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_patch },
	[ROUTE_DELETE] = { ROW_WRITE | ROW_ONE, handle_delete },
	[ROUTE_ACTION] = { ROW_BODY | ROW_WRITE | ROW_ONE, handle_action },
	[ROUTE_ACCESS] = { 0, handle_access },
	[ROUTE_EACH] = { ROW_BODY | ROW_WRITE | ROW_ALONE, handle_each },
	[ROUTE_LOGIN] = { ROW_PUBLIC | ROW_BODY | ROW_ALONE, handle_login },
	[ROUTE_ME] = { 0, handle_me },
	[ROUTE_BATCH] = { ROW_BODY | ROW_WRITE | ROW_ALONE, handle_batch },
	[ROUTE_CALL] = { ROW_BODY | ROW_ALONE, handle_call },
	[ROUTE_OPENAPI] = { ROW_PUBLIC | ROW_ALONE, handle_openapi },
	[ROUTE_INDEX] = { ROW_PUBLIC | ROW_ALONE, handle_index },
};

static bool is_json_type(struct slice type)
{
	const char *end = memchr(type.p, ';', type.n);
	size_t n = end ? (size_t)(end - type.p) : type.n;
	char lower[48];

	while (n && (type.p[n - 1] == ' ' || type.p[n - 1] == '\t'))
		n--;
	if (n >= sizeof(lower))
		return false;
	for (size_t i = 0; i < n; i++)
		lower[i] = (char)(type.p[i] >= 'A' && type.p[i] <= 'Z' ? type.p[i] | 0x20 : type.p[i]);
	return slice_equal(slice_make(lower, n), SLICE("application/json")) ||
	       slice_equal(slice_make(lower, n), SLICE("application/merge-patch+json"));
}

static bool read_body(struct app_exchange *x)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct slice text = x->q->body;

	if (x->body)
		return true;
	x->body = &empty;
	while (text.n && memchr(" \t\r\n", text.p[text.n - 1], 4))
		text.n--;
	if (!text.n)
		return true;
	if (x->q->content_type.n && !is_json_type(x->q->content_type))
		return run_fail(&x->run, PROBLEM_MEDIA_TYPE, "the body must be application/json");
	x->body = json_parse(x->run.arena, text);
	if (!x->body)
		return run_fail(&x->run, PROBLEM_MALFORMED, "the body is not JSON");
	if (x->body->type != JSON_OBJECT)
		return run_fail(&x->run, PROBLEM_MALFORMED, "the body must be a JSON object");
	return true;
}

/* ---- what is no part of the design ---- */

static bool is_for_operators(const struct app_exchange *x, const struct slice *segments, size_t n)
{
	return x->app->operators && n && slice_is(segments[0], "processors") && !x->in_batch;
}

/* True: answered. */
static bool ask_operators(struct app_exchange *x)
{
	struct app_reply reply = { 0 };

	if (!x->caller_known && !caller_read(&x->run, x->q->authorization))
		return false;
	if (!x->run.caller.operator_)
		return run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such address");
	backend_settle(x->run.backend);
	x->app->operators(x->app->operators_ctx, x->run.backend, x->run.arena, x->q, &reply);
	x->answer.ready = arena_new(x->run.arena, struct app_reply);
	*x->answer.ready = reply;
	return true;
}

/* The route, or with none the answer itself. */
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
		return run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such address");
	if (!(x->match.route && rows[x->match.route->kind].flags & ROW_PUBLIC) && !x->caller_known &&
	    !caller_read(&x->run, x->q->authorization))
		return false;
	if (!x->run.caller.operator_ && (!x->match.route || x->match.route->internal))
		routes_find(x->app->routes, segments, n, x->q->method, false, &x->match);
	if (x->match.route)
		return true;
	if (!x->match.allow)
		return run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such address");
	x->answer.allow = x->match.allow;
	return run_fail(&x->run, PROBLEM_METHOD, "the address does not take this method");
}

/* ---- once for an Idempotency-Key ---- */

static void add_part(struct buf *b, struct slice s)
{
	buf_be64(b, s.n);
	buf_put(b, s);
}

static bool hash(const struct buf *b, uint8_t out[IDEMPOTENCY_HASH])
{
	return EVP_Digest(b->p, b->n, out, NULL, EVP_sha256(), NULL) == 1;
}

static bool idempotency_hashes(struct app_exchange *x, struct idempotency_ask *ask)
{
	const struct app_request *q = x->q;
	struct buf b;

	buf_init(&b, x->run.arena);
	add_part(&b, x->app->design->name);
	add_part(&b, x->run.caller.subject);
	add_part(&b, x->run.caller.session.stamp); /* another account of the same name is someone else */
	buf_byte(&b, x->run.caller.operator_);
	add_part(&b, q->idempotency_key);
	if (!hash(&b, ask->key))
		return false;
	b.n = 0;
	buf_byte(&b, (uint8_t)q->method);
	add_part(&b, q->path);
	add_part(&b, q->query);
	add_part(&b, q->if_match);
	if (x->body)
		json_write(&b, x->body);
	return hash(&b, ask->digest);
}

static bool wait_a_second(struct run *r)
{
	r->problem.retry_after = 1;
	return false;
}

/* Where the answer is remembered: with all servers of the table, or in this one. */
struct once {
	bool is_shared;
	struct idempotency_shared *shared;
	struct idempotency_ticket *own;
};

static enum idempotency_state begin_once(struct app_exchange *x, const struct idempotency_ask *ask, struct once *o)
{
	*o = (struct once){ .is_shared = x->app->database && x->app->database->is_remote };
	if (o->is_shared)
		return idempotency_shared_begin(&x->run, ask, &x->answer, &o->shared);
	return idempotency_begin(x->app->idempotency, x->run.arena, ask, &x->answer, &o->own);
}

static void end_once(struct app_exchange *x, const struct once *o)
{
	backend_settle(x->run.backend);
	if (o->is_shared)
		idempotency_shared_end(&x->run, o->shared, &x->answer);
	else
		idempotency_end(o->own, &x->answer);
}

static bool tell_running(struct run *r)
{
	(void)run_fail(r, PROBLEM_CONFLICT, "the first request with this Idempotency-Key is still being done");
	return wait_a_second(r);
}

/* Whether it is not known what became of the write; or another request has its turn, or an earlier sending was done after all. */
static bool is_open(const struct run *r)
{
	return r->problem.outcome == OUTCOME_UNKNOWN || r->rider_lost;
}

/* The write was done, and so the answer is made of what it wrote. */
static bool answer_written(struct app_exchange *x, const struct idempotency_shared *s)
{
	x->receipt = &s->receipt;
	x->answer.replayed = true;
	return answer_receipt(x, s->item);
}

/* Finds out. True: done, and answered (or run.problem says why the answer has to wait). False: run.problem, and the note is as it
 * should be. */
static bool settle_open(struct app_exchange *x, struct idempotency_shared *s)
{
	struct run *r = &x->run;

	backend_settle(r->backend);
	switch (idempotency_shared_ask(r, s)) {
	case IDEMPOTENCY_WRITTEN:
		r->problem = (struct problem){ 0 };
		r->rider_lost = false;
		(void)!answer_receipt(x, s->item);
		return true;
	case IDEMPOTENCY_NEW: return run_busy(r);
	case IDEMPOTENCY_RUNNING: return tell_running(r);
	default: break;
	}
	(void)run_fail(
		r, PROBLEM_BUSY, "%s",
		"the database did not say whether this was done: repeat it with the same Idempotency-Key to find out");
	r->problem.outcome = OUTCOME_UNKNOWN;
	return wait_a_second(r);
}

static bool handle_once(struct app_exchange *x, const struct found *row)
{
	struct idempotency_ask ask = { .now_ms = clock_steady_ms(x->run.app->clock),
				       .has_receipt = row->flags & ROW_ONE };
	struct once once;
	struct buf token;

	if (x->q->idempotency_key.n > 255)
		return run_fail(&x->run, PROBLEM_MALFORMED, "an Idempotency-Key has at most 255 characters");
	if (!idempotency_hashes(x, &ask))
		return run_fail(&x->run, PROBLEM_INTERNAL, "no hash could be made");
	switch (begin_once(x, &ask, &once)) {
	case IDEMPOTENCY_DONE: x->answer.replayed = true; return true;
	case IDEMPOTENCY_OTHER:
		return run_fail(&x->run, PROBLEM_INVALID, "this Idempotency-Key was used for another request");
	case IDEMPOTENCY_RUNNING: return tell_running(&x->run);
	case IDEMPOTENCY_FULL:
		run_fail(&x->run, PROBLEM_BUSY, "there is no room to remember another Idempotency-Key");
		return wait_a_second(&x->run);
	case IDEMPOTENCY_WRITTEN: return answer_written(x, once.shared);
	case IDEMPOTENCY_FAILED: return false;
	case IDEMPOTENCY_NEW: break;
	}
	buf_init(&token, x->run.arena);
	buf_hex(&token, slice_make(ask.key, 18)); /* 36 characters, as many as a ClientRequestToken may have */
	x->token = buf_slice(&token);
	x->receipt = once.shared && ask.has_receipt ? &once.shared->receipt : NULL;
	if (!row->handle(x)) {
		if (x->receipt && is_open(&x->run) && !settle_open(x, once.shared))
			return false;
		if (x->run.problem.type != PROBLEM_NONE)
			answer_problem(x);
	}
	end_once(x, &once);
	return true;
}

static const char *method_name(enum app_method m)
{
	static const char *const names[] = {
		[APP_GET] = "GET",     [APP_HEAD] = "HEAD",     [APP_POST] = "POST", [APP_PUT] = "PUT",
		[APP_PATCH] = "PATCH", [APP_DELETE] = "DELETE", [APP_OTHER] = "?"
	};

	return names[m];
}

/* What requests to a database elsewhere are counted for: the access pattern, or the entity and what happens to it. */
static void label_calls(struct app_exchange *x)
{
	const struct route *r = x->match.route;

	if (!x->run.backend->label)
		return;
	if (r->access)
		backend_label(x->run.backend, r->access->name);
	else if (r->entity)
		backend_label(x->run.backend, arena_printf(x->run.arena, "%.*s %s%.*s", SLICE_ARG(r->entity->name),
							   r->action ? "" : method_name(x->q->method),
							   SLICE_ARG(r->action ? r->action->name : SLICE(""))));
	else
		backend_label(x->run.backend, SLICE("service"));
}

static bool dispatch(struct app_exchange *x)
{
	const struct found *row;

	if (!find_route(x))
		return false;
	if (x->answer.ready)
		return true;
	label_calls(x);
	row = &rows[x->match.route->kind];
	if (x->q->watcher && x->match.route->kind != ROUTE_ACCESS)
		return run_fail(&x->run, PROBLEM_INVALID, "only lists can be watched");
	if (x->in_batch && row->flags & ROW_ALONE)
		return run_fail(&x->run, PROBLEM_INVALID, "this cannot be done in a batch");
	if (row->flags & ROW_BODY && !read_body(x))
		return false;
	if (row->flags & ROW_WRITE && !moved_allows(&x->run))
		return false;
	if (row->flags & ROW_WRITE && x->q->idempotency_key.n)
		return handle_once(x, row);
	return row->handle(x);
}

/* ---- the audit log ---- */

/* Logins tell of themselves; a call reads. */
static bool tells_of_itself(const struct app_exchange *x)
{
	const struct route *route = x->match.route;

	return route && (route->kind == ROUTE_LOGIN || route->kind == ROUTE_CALL);
}

/* Refused callers, and what operators write. */
static void audit(const struct app_exchange *x)
{
	const struct caller *c = &x->run.caller;
	int status = x->answer.ready ? x->answer.ready->status : x->answer.status;
	bool refused = status == 401 || status == 403;
	bool writes = x->q->method != APP_GET && x->q->method != APP_HEAD;

	if (x->q->trusted || x->run.wants_hashing || !(refused || (c->operator_ && writes && !tells_of_itself(x))) ||
	    (status == 401 && tells_of_itself(x)))
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
		.action = arena_printf(x->run.arena, "%s %.*s", method_name(x->q->method), SLICE_ARG(x->q->path)),
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

static void handle_near(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
			struct app_reply *reply)
{
	struct app_exchange x;

	/* The match is large and filled when it is found. */
	memset(&x, 0, offsetof(struct app_exchange, match));
	memset(&x.token, 0, sizeof(x) - offsetof(struct app_exchange, token));
	x.app = app;
	x.q = q;
	x.run.backend = b;
	x.run.arena = a;
	x.run.now_ms = q->now_ms ? q->now_ms : app_now_ms(app);
	x.run.no_hashing = q->no_hashing;
	if (q->trusted) {
		x.run.caller = *q->trusted;
		x.caller_known = true;
	}
	app_exchange_handle(&x);
	answer_reply(&x, reply);
	reply->wants_hashing = x.run.wants_hashing;
}

static void release_arena(void *arena)
{
	arena_release(arena);
}

/* rehearse.h */
static void handle_far(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
		       struct app_reply *reply)
{
	struct run run = { .app = app,
			   .design = app->design,
			   .backend = b,
			   .arena = a,
			   .now_ms = q->now_ms ? q->now_ms : app_now_ms(app) };
	struct rehearsal *h = rehearse_begin(&run, app->guesses);
	struct arena *own = arena_new(a, struct arena);
	struct app_request once = *q;
	volatile bool ended;

	once.now_ms = run.now_ms;
	arena_init(own);
	arena_defer(a, release_arena, own);
	do {
		ended = false;
		arena_clear(own);
		*reply = (struct app_reply){ 0 };
		rehearse_next(h, own);
		ARENA_TRY(own, { handle_near(app, rehearse_backend(h), own, &once, reply); }, { ended = true; });
	} while (!rehearse_counts(h));
	if (ended)
		arena_out_of_memory(a);
}

void app_handle(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
		struct app_reply *reply)
{
	if (app->guesses && !q->watcher)
		handle_far(app, b, a, q, reply);
	else
		handle_near(app, b, a, q, reply);
}

/* ---- what can be answered at once ---- */

/* A limit of three digits at most, and no escapes that could hide another. */
static bool is_small_page(const struct access *c, struct slice query)
{
	static const char name[] = "limit=";
	int64_t limit = c->limit ? c->limit : 20;

	for (size_t i = 0; i + sizeof(name) - 1 <= query.n; i++) {
		if ((i && query.p[i - 1] != '&') || memcmp(query.p + i, name, sizeof(name) - 1))
			continue;
		limit = 0;
		for (size_t k = i + sizeof(name) - 1; k < query.n && query.p[k] != '&' && limit < 1000; k++)
			limit = limit * 10 + (query.p[k] >= '0' && query.p[k] <= '9' ? query.p[k] - '0' : 0);
	}
	return limit <= APP_QUICK_LIMIT && !(query.n && memchr(query.p, '%', query.n));
}

bool app_is_quick(struct app *app, const struct app_request *q)
{
	struct slice segments[ROUTE_MOST_SEGMENTS];
	struct route_match match;
	size_t n = 0, from = 1;

	if (q->method != APP_GET && q->method != APP_HEAD)
		return false;
	if (q->path.n && memchr(q->path.p, '%', q->path.n))
		return false;
	for (size_t i = 1; i <= q->path.n; i++) {
		if (i < q->path.n && q->path.p[i] != '/')
			continue;
		if (i == q->path.n && i == from)
			break;
		if (n == ROUTE_MOST_SEGMENTS)
			return false;
		segments[n++] = slice_make(q->path.p + from, i - from);
		from = i + 1;
	}
	routes_find(app->routes, segments, n, APP_GET, true, &match);
	if (!match.route || !match.route->quick)
		return false;
	if (match.route->access && !is_small_page(match.route->access, q->query))
		return false;
	return !caller_may_block(app, q->authorization);
}

/* ---- in the background ---- */

#define TICK_MS             1000
#define SWEEP_EVERY_MS      10000
#define SWEEP_LATE_EVERY_MS 1000 /* where indexes may be late, markers wait for it (deleting.h M4) */

/* Carries out cascades that nobody has finished: the server was killed, the keeper stands still, or an index was late. Returns after how long to
 * look again. */
static int64_t sweep_deletions(struct app *app, struct run *r)
{
	int64_t every_ms = late_is_possible(r) ? SWEEP_LATE_EVERY_MS : SWEEP_EVERY_MS, next_ms = INT64_MAX;

	if (app->deletions_settled)
		return every_ms;
	if (r->now_ms < app->sweep_ms && r->now_ms > app->sweep_ms - every_ms) /* the clock may have been set back */
		return app->sweep_ms - r->now_ms;
	r->problem = (struct problem){ 0 };
	if (!deleting_sweep(r, &next_ms))
		log_warn("what was deleted of %.*s waits: %.*s", SLICE_ARG(app->design->name),
			 SLICE_ARG(r->problem.detail));
	if (next_ms > every_ms)
		next_ms = every_ms;
	app->sweep_ms = r->now_ms + next_ms;
	return next_ms;
}

void app_look(struct app *app, struct backend *b)
{
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		struct run r = { .app = app };

		r.design = app->design;
		r.backend = b;
		r.arena = &a;
		moved_look(&r);
	}, {});
	arena_release(&a);
}

/* Ticks may come more often than a look is due: half of the time, so that a tick that is a little early does not skip one. The clock
 * may be set back. */
static void look_whether_moved(struct app *app, struct run *r)
{
	if (r->now_ms >= app->looked_ms && r->now_ms - app->looked_ms < MOVED_LOOK_MS / 2)
		return;
	app->looked_ms = r->now_ms;
	moved_look(r);
}

/* After how many milliseconds, at most TICK_MS. */
static int64_t next_tick(struct app *app, struct run *r)
{
	int64_t look_ms = lag_look(r), sweep_ms = sweep_deletions(app, r);
	int64_t ms = look_ms < sweep_ms ? look_ms : sweep_ms;

	return ms < TICK_MS ? ms : TICK_MS;
}

int64_t app_tick(struct app *app, struct backend *b, bool last)
{
	volatile int64_t next_ms = TICK_MS;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		struct run r = { .app = app };

		r.design = app->design;
		r.backend = b;
		r.arena = &a;
		r.now_ms = app_now_ms(app);
		r.caller.operator_ = true;
		if (!write_flush_gathered(&r, last))
			log_warn("gathered actions of %.*s wait: %.*s", SLICE_ARG(app->design->name),
				 SLICE_ARG(r.problem.detail));
		if (!last)
			next_ms = next_tick(app, &r);
		if (!last)
			look_whether_moved(app, &r);
	}, {
		log_warn("gathered actions of %.*s wait: out of memory", SLICE_ARG(app->design->name));
	});
	arena_release(&a);
	return next_ms;
}
