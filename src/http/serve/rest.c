/* Turns exchanges into requests of applications, and their replies back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/output.h"
#include "base/audit.h"
#include "http/connection/exchange.h"
#include "http/loop.h"
#include "http/serve/metrics.h"
#include "http/serve/rest.h"
#include "http/serve/rest_live.h"

#define RETRY_AFTER_S 1

/* ---- threads ---- */

/* A thread's backends: one for each database, opened when the first request needs it. */
struct rest_thread {
	size_t count;
	struct rest_backend {
		struct database *database; /* NULL: free */
		struct backend *backend;
	} list[];
};

static void *thread_make(void *ctx)
{
	const struct rest *r = ctx;
	struct rest_thread *t = mem_zalloc(sizeof(*t) + r->app_count * sizeof(*t->list));

	if (t)
		t->count = r->app_count;
	return t;
}

static void thread_drop(void *local)
{
	struct rest_thread *t = local;

	for (size_t i = 0; i < t->count; i++)
		backend_free(t->list[i].backend);
	mem_free(t);
}

struct thread_local_maker rest_threads(struct rest *r)
{
	return (struct thread_local_maker){ thread_make, thread_drop, r };
}

struct backend *rest_backend(void *local, struct database *d)
{
	struct rest_thread *t = local;
	struct rest_backend *b = t->list;

	while (b->database && b->database != d)
		b++; /* there are at most as many databases as apps */
	if (!b->backend)
		b->backend = database_open(d);
	b->database = b->backend ? d : NULL;
	return b->backend;
}

/* ---- replies ---- */

static void reply_problem(struct exchange *ex, const struct problem *p)
{
	struct slice headers = SLICE("Cache-Control: no-store\r\n");
	struct buf b;

	buf_init(&b, &ex->arena);
	output_problem(p, &b);
	buf_byte(&b, '\n');
	if (p->type == PROBLEM_METHOD)
		headers = SLICE("Cache-Control: no-store\r\nAllow: GET, HEAD\r\n");
	if (p->retry_after)
		headers = arena_printf(&ex->arena, "%.*sRetry-After: %d\r\n", SLICE_ARG(headers), p->retry_after);
	exchange_reply_with(ex, problem_status(p->type), SLICE("application/problem+json"), buf_slice(&b), headers);
}

static void reply_list(struct exchange *ex, const struct rest *r)
{
	struct buf b;

	buf_init(&b, &ex->arena);
	json_open(&b, '{');
	json_member_open(&b, "designs", '[');
	for (size_t i = 0; i < r->app_count; i++) {
		struct slice name = app_design(r->apps[i])->name;

		json_comma(&b);
		app_summary(r->apps[i], &b);
		b.n--; /* its '}': the address follows */
		json_member_string(&b, "base", arena_printf(&ex->arena, REST_BASE "/%.*s", SLICE_ARG(name)));
		json_member_string(&b, "openapi",
				   arena_printf(&ex->arena, REST_BASE "/%.*s/openapi.json", SLICE_ARG(name)));
		json_close(&b, '}');
	}
	json_close(&b, ']');
	json_close(&b, '}');
	buf_byte(&b, '\n');
	exchange_reply_with(ex, 200, SLICE("application/json"), buf_slice(&b), SLICE("Cache-Control: no-cache\r\n"));
}

/* ---- requests ---- */

static enum app_method method_of(enum http_method m)
{
	switch (m) {
	case HTTP_GET: return APP_GET;
	case HTTP_HEAD: return APP_HEAD;
	case HTTP_POST: return APP_POST;
	case HTTP_PUT: return APP_PUT;
	case HTTP_PATCH: return APP_PATCH;
	case HTTP_DELETE: return APP_DELETE;
	default: return APP_OTHER;
	}
}

/* The body, decompressed. False: it has replied. */
static bool body_or_reply(struct exchange *ex, struct slice *body)
{
	struct problem p = { .type = PROBLEM_MALFORMED };

	switch (exchange_body(ex, body)) {
	case BODY_OK: return true;
	case BODY_UNKNOWN_CODING:
		p.type = PROBLEM_MEDIA_TYPE;
		p.detail = SLICE("Content-Encoding must be gzip, deflate or identity");
		break;
	case BODY_TOO_LARGE:
		p.type = PROBLEM_TOO_LARGE;
		p.detail = SLICE("the body is too large");
		break;
	case BODY_BAD: p.detail = SLICE("the body does not match its Content-Encoding"); break;
	}
	reply_problem(ex, &p);
	return false;
}

/* Input of a worker, or of the loop itself. */
struct job {
	struct app *app;
	struct app_request request; /* with a watcher: watch a list */
};

static void fill_request(struct exchange *ex, struct slice base, struct app_request *q)
{
	const struct http_request *r = &ex->req;

	q->method = method_of(r->method);
	q->base = base;
	q->path = slice_make(r->path.p + base.n, r->path.n - base.n);
	if (slice_is(q->path, "/"))
		q->path.n = 0;
	q->query = r->query;
	q->authorization = request_header(r, SLICE("authorization"));
	q->if_match = request_header(r, SLICE("if-match"));
	q->if_none_match = request_header(r, SLICE("if-none-match"));
	q->idempotency_key = request_header(r, SLICE("idempotency-key"));
	q->content_type = request_header(r, SLICE("content-type"));
	q->accept = request_header(r, SLICE("accept"));
	if ((q->method != APP_GET && q->method != APP_HEAD) || audit_is_on())
		q->client = exchange_client(ex);
}

static void run_request(struct exchange_work *w, struct arena *a, void *local)
{
	const struct job *job = w->ctx;
	struct app_request request = job->request;
	struct app_reply reply = { 0 };
	struct backend *b;

	b = rest_backend(local, app_database(job->app));
	if (!b)
		arena_out_of_memory(a);
	request.no_hashing = !w->may_hash;
	app_handle(job->app, b, a, &request, &reply);
	w->hashes = reply.wants_hashing;
	w->status = reply.status;
	w->type = reply.type;
	w->body = reply.body;
	w->headers = reply.headers;
	w->streams = job->request.watcher && rest_live_is_stream(&reply);
}

static void answer(struct exchange *ex, struct job *job)
{
	static const struct problem busy = { .type = PROBLEM_BUSY,
					     .retry_after = RETRY_AFTER_S,
					     .detail = { "too many requests are waiting", 29 } };
	struct exchange_work at_once = { .ctx = job };

	if (app_database(job->app)->is_remote || !app_is_quick(job->app, &job->request)) {
		if (!exchange_work(ex, run_request, job))
			reply_problem(ex, &busy);
		else if (job->request.method != APP_GET && job->request.method != APP_HEAD)
			exchange_delay(ex, loop_write_delay(ex->loop, job->app));
		return;
	}
	run_request(&at_once, &ex->arena, ex->loop->local);
	exchange_reply_with(ex, at_once.status, at_once.type, at_once.body, at_once.headers);
}

/* ---- watching ---- */

/* NULL: memory. */
static struct live *hub_of(struct rest *r, struct app *app)
{
	struct live *live = NULL;

	pthread_mutex_lock(&r->lock);
	if (!r->live)
		r->live = mem_zalloc(r->app_count * sizeof(*r->live));
	for (size_t i = 0; r->live && i < r->app_count; i++)
		if (r->apps[i] == app) {
			if (!r->live[i])
				r->live[i] = live_new(app, r->relays ? r->relays[i] : NULL);
			live = r->live[i];
		}
	pthread_mutex_unlock(&r->lock);
	return live;
}

static struct slice last_event_id(const struct exchange *ex)
{
	struct slice id = request_header(&ex->req, SLICE("last-event-id"));

	return id.n ? id : request_query(&ex->req, SLICE("last_event_id"));
}

static void watch(struct exchange *ex, struct rest *r, struct job *job)
{
	static const struct problem full = { .type = PROBLEM_BUSY,
					     .retry_after = 10 * RETRY_AFTER_S,
					     .detail = { "too many are watching", 21 } };
	struct live *live = NULL;
	struct sse *s = NULL;

	if (metrics_watchers(ex->loop->server) < ex->loop->limits->watchers)
		live = hub_of(r, job->app);
	if (live)
		s = rest_live_new(live, ex->loop, last_event_id(ex));
	if (!s) {
		reply_problem(ex, &full);
		return;
	}
	job->request.watcher = rest_live_watcher(s);
	if (exchange_stream(ex, s, run_request, job))
		return;
	s->ops->drop(s);
	/* After a 503 an EventSource would give up; after this it reconnects and keeps its position. */
	exchange_reply_with(ex, 200, SLICE(LIVE_TYPE), SLICE("retry: 2000\n\n"), SLICE("Cache-Control: no-store\r\n"));
}

static bool is_watch(const struct job *job)
{
	return job->request.method == APP_GET && http_list_has(job->request.accept, SLICE(LIVE_TYPE));
}

/* ---- the handler ---- */

struct app *rest_app(const struct rest *r, struct slice name)
{
	for (size_t i = 0; i < r->app_count; i++)
		if (slice_equal(app_design(r->apps[i])->name, name))
			return r->apps[i];
	return NULL;
}

/* Up to the next '/'. */
static struct slice first_segment(struct slice path)
{
	struct slice segment = path;

	slice_next(&path, '/', &segment);
	return segment;
}

static void reply_unknown(struct exchange *ex, struct slice name)
{
	struct problem p = { .type = PROBLEM_NOT_FOUND };

	name = percent_decode(&ex->arena, name);
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] >= 0x80 || (unsigned char)name.p[i] < ' ')
			name = SLICE("of that name"); /* JSON is UTF-8; the name need not be */
	p.detail = arena_printf(&ex->arena, "there is no design %.*s; GET " REST_BASE " lists them", SLICE_ARG(name));
	reply_problem(ex, &p);
}

static void reply_root(struct exchange *ex, const struct rest *r)
{
	static const struct problem only_get = { .type = PROBLEM_METHOD,
						 .detail = { "designs can only be listed here", 31 } };

	if (ex->req.method == HTTP_GET || ex->req.method == HTTP_HEAD)
		reply_list(ex, r);
	else
		reply_problem(ex, &only_get);
}

/* The design's name in the path. */
static struct slice design_name(const struct exchange *ex)
{
	size_t root = sizeof(REST_BASE); /* with the '/' */

	if (root >= ex->req.path.n)
		return (struct slice){ 0 };
	return first_segment(slice_make(ex->req.path.p + root, ex->req.path.n - root));
}

static uint64_t body_limit(const struct exchange *ex, void *ctx)
{
	const struct app *app = rest_app(ctx, design_name(ex));
	uint64_t most = ex->loop->limits->rest_body_bytes, needs = app ? app_body_bytes(app) : 0;

	return needs > most ? needs : most;
}

static void handle(struct exchange *ex, void *ctx)
{
	struct rest *r = ctx;
	size_t root = sizeof(REST_BASE);
	struct slice name = design_name(ex);
	struct app *app = rest_app(r, name);
	struct job *job;

	if (!name.n) {
		reply_root(ex, r);
		return;
	}
	if (!app) {
		reply_unknown(ex, name);
		return;
	}
	job = arena_new(&ex->arena, struct job);
	job->app = app;
	fill_request(ex, slice_make(ex->req.path.p, root + name.n), &job->request);
	if (!body_or_reply(ex, &job->request.body))
		return;
	if (is_watch(job))
		watch(ex, r, job);
	else
		answer(ex, job);
}

void rest_init(struct rest *r)
{
	static const enum http_method methods[REST_METHODS] = { HTTP_GET,   HTTP_POST,   HTTP_PUT,
								HTTP_PATCH, HTTP_DELETE, HTTP_OPTIONS };

	*r = (struct rest){ 0 };
	pthread_mutex_init(&r->lock, NULL);
	for (size_t i = 0; i < REST_METHODS; i++)
		r->routes[i] = (struct http_route){ methods[i], REST_BASE, ROUTE_PREFIX | ROUTE_PROBLEMS,
						    handle,     r,         body_limit };
}

void rest_release(struct rest *r)
{
	for (size_t i = 0; r->live && i < r->app_count; i++)
		live_free(r->live[i]);
	mem_free(r->live);
	r->live = NULL;
}
