/* A design's runtime from its making to its end: requests, near and rehearsed, and the work of the background.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/app.h"
#include "app/auth/mail.h"
#include "app/db/lag.h"
#include "app/db/moved.h"
#include "app/db/rehearse.h"
#include "app/file/file.h"
#include "app/read/read.h"
#include "app/rest/app_exchange.h"
#include "app/rest/idempotency.h"
#include "app/write/deleting.h"
#include "app/write/renaming/renaming.h"
#include "app/write/write.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "json/json.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>

/* ---- an app ---- */

static bool make_cursor_key(struct app *app)
{
	struct slice text = arena_printf(&app->arena, "cursor:%.*s", SLICE_ARG(app->design->name));
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
	app->media = o->media;
	app->file_hold_ms = 1000 * (o->media_hold_s ? o->media_hold_s : FILE_HOLD_S);
	app->file_caller_most = o->media_caller_most ? o->media_caller_most : FILE_CALLER_MOST;
	memcpy(app->secret, o->secret, sizeof(app->secret));
	app->callers = callers_new(o->design, o->secret);
	app->gather = gather_new();
	app->mail = mail_post_new();
	app->idempotency = idempotency_new();
	app->lag = o->database && o->database->is_remote ? lag_new(o->design) : NULL;
	app->guesses = o->database && o->database->is_remote ? guesses_new(app->clock)
							     : NULL; /* NULL if memory is out: slower */
	ARENA_TRY(&app->arena, {
		app->routes = routes_new(&app->arena, app->design);
		app->index = app_index_make(app->design, &app->arena);
		app->body_bytes = app_body_needs(app->design);
		app->reads = reads_new(&app->arena, app->design);
		ok = make_cursor_key(app) && file_make_key(app);
	}, {
		ok = false;
	});
	if (ok && app->callers && app->mail && app->gather && app->idempotency)
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
	mail_post_free(app->mail);
	idempotency_free(app->idempotency);
	guesses_free(app->guesses);
	lag_free(app->lag);
	arena_release(&app->arena);
	OPENSSL_cleanse(app->secret, sizeof(app->secret));
	OPENSSL_cleanse(app->cursor_key, sizeof(app->cursor_key));
	OPENSSL_cleanse(app->file_key, sizeof(app->file_key));
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
	return atomic_load(&app->deletions_swept) == atomic_load(&app->deletions_noted) + 1;
}

void app_set_keeper_runs(struct app *app, bool runs)
{
	app->keeper_runs = runs;
}

size_t app_body_bytes(const struct app *app)
{
	return app->body_bytes;
}

void app_summary(const struct app *app, struct buf *out)
{
	const struct design *d = app->design;

	json_open(out, '{');
	json_member_string(out, "design", d->name);
	json_member_string(out, "title", d->title);
	json_member_string(out, "table", d->table);
	json_member_int(out, "entities", (int64_t)d->entity_count);
	json_member_int(out, "access", (int64_t)d->access_count);
	json_close(out, '}');
}

/* ---- requests ---- */

static struct run run_of(struct app *app, struct backend *b, struct arena *a, int64_t now_ms)
{
	return (struct run){ .app = app, .design = app->design, .backend = b, .arena = a, .now_ms = now_ms };
}

static void handle_near(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
			struct app_reply *reply)
{
	struct app_exchange x;

	/* The match is large, and routes_find() fills it. */
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

/* Runs the request until it has read nothing but known items: rehearse.h. */
static void handle_far(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
		       struct app_reply *reply)
{
	struct run run = run_of(app, b, a, q->now_ms ? q->now_ms : app_now_ms(app));
	struct rehearsal *h = rehearse_begin(&run, app->guesses, q->method != APP_GET && q->method != APP_HEAD);
	struct arena *own = arena_new(a, struct arena);
	struct app_request once = *q;
	volatile bool ended;

	once.now_ms = run.now_ms;
	arena_init(own);
	arena_defer(a, release_arena, own);
	do {
		ended = false;
		*reply = (struct app_reply){ 0 };
		if (!rehearse_backend(h)->explores)
			arena_clear(own);
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

/* ---- quick requests ---- */

/* The limit is at most APP_QUICK_LIMIT, and no escape in the query can hide another one. */
static bool is_small_page(const struct access *c, struct slice query)
{
	static const char name[] = "limit=";
	int64_t limit = read_page_size(c);

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
	size_t n;

	if (q->method != APP_GET && q->method != APP_HEAD)
		return false;
	if (app->media && media_is_bucket(app->media)) /* its addresses may need new credentials */
		return false;
	if ((q->path.n && memchr(q->path.p, '%', q->path.n)) || !target_split(q->path, segments, &n))
		return false;
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
#define FILES_EVERY_MS      10000
#define SWEEP_LATE_EVERY_MS 1000 /* where markers wait for late indexes (deleting.h M4) */

/* Finishes cascades that a killed server, a stopped keeper or a late index has left. Returns when to look again, in
 * milliseconds. */
static int64_t sweep_deletions(struct app *app, struct run *r)
{
	int64_t every_ms = run_is_remote(r) ? SWEEP_LATE_EVERY_MS : SWEEP_EVERY_MS, next_ms = INT64_MAX;

	if (app_deletions_settled(app))
		return every_ms;
	if (r->now_ms < app->sweep_ms && r->now_ms > app->sweep_ms - every_ms) /* the clock may have been set back */
		return app->sweep_ms - r->now_ms;
	r->problem = (struct problem){ 0 };
	if (!deleting_sweep(r, &next_ms))
		log_warn("%.*s: a deletion is not complete yet: %.*s", SLICE_ARG(app->design->name),
			 SLICE_ARG(r->problem.detail));
	if (next_ms > every_ms)
		next_ms = every_ms;
	app->sweep_ms = r->now_ms + next_ms;
	return next_ms;
}

/* Removes files that no item has. */
static void sweep_files(struct app *app, struct run *r)
{
	int64_t every_ms = app->file_hold_ms / 8 < FILES_EVERY_MS ? app->file_hold_ms / 8 : FILES_EVERY_MS;

	if (!app->media || !design_has_files(app->design) ||
	    (r->now_ms < app->file_sweep_ms && r->now_ms > app->file_sweep_ms - every_ms))
		return;
	app->file_sweep_ms = r->now_ms + every_ms;
	r->problem = (struct problem){ 0 };
	if (!file_sweep(r))
		log_warn("%.*s: files that no item has are not all removed yet: %.*s", SLICE_ARG(app->design->name),
			 SLICE_ARG(r->problem.detail));
}

void app_look(struct app *app, struct backend *b)
{
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		struct run r = run_of(app, b, &a, app_now_ms(app));

		moved_look(&r);
	}, {});
	arena_release(&a);
}

/* Ticks may come more often than a look is due. Half the time, so that a tick that is a little early skips none. The
 * clock may be set back. */
static void look_whether_moved(struct app *app, struct run *r)
{
	if (r->now_ms >= app->looked_ms && r->now_ms - app->looked_ms < MOVED_LOOK_MS / 2)
		return;
	app->looked_ms = r->now_ms;
	moved_look(r);
}

/* The same for renames whose children still follow. */
static int64_t sweep_renames(struct app *app, struct run *r)
{
	int64_t next_ms = INT64_MAX;

	if (atomic_load(&app->renames_swept) == atomic_load(&app->renames_noted) + 1)
		return INT64_MAX;
	if (r->now_ms < app->rename_ms &&
	    r->now_ms > app->rename_ms - SWEEP_EVERY_MS) /* the clock may have been set back */
		return app->rename_ms - r->now_ms;
	r->problem = (struct problem){ 0 };
	if (!renaming_sweep(r, &next_ms))
		log_warn("%.*s: a rename is not complete yet: %.*s", SLICE_ARG(app->design->name),
			 SLICE_ARG(r->problem.detail));
	app->rename_ms = r->now_ms + (next_ms > SWEEP_EVERY_MS ? SWEEP_EVERY_MS : next_ms);
	return next_ms;
}

/* When the next tick is due, in milliseconds: at most TICK_MS. */
static int64_t next_tick(struct app *app, struct run *r)
{
	int64_t look_ms = lag_look(r), sweep_ms = sweep_deletions(app, r);
	int64_t rename_ms = sweep_renames(app, r);
	int64_t ms = look_ms < sweep_ms ? look_ms : sweep_ms;

	ms = ms < rename_ms ? ms : rename_ms;
	return ms < TICK_MS ? ms : TICK_MS;
}

int64_t app_tick(struct app *app, struct backend *b, bool last)
{
	volatile int64_t next_ms = TICK_MS;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		struct run r = run_of(app, b, &a, app_now_ms(app));

		r.caller.operator_ = true;
		if (!write_flush_gathered(&r, last))
			log_warn("%.*s: gathered actions are not written yet: %.*s", SLICE_ARG(app->design->name),
				 SLICE_ARG(r.problem.detail));
		app->ticks = !last;
		if (!last)
			next_ms = next_tick(app, &r);
		if (!last)
			look_whether_moved(app, &r);
		if (!last && !app->moved)
			sweep_files(app, &r);
	}, {
		log_warn("%.*s: gathered actions are not written yet: out of memory", SLICE_ARG(app->design->name));
	});
	arena_release(&a);
	return next_ms;
}
