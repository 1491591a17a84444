/* Plays demo data: each step is a request to app_handle().
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "app/demo.h"
#include "app/auth/caller.h"
#include "base/log.h"
#include "json/json.h"
#include "base/timestamp.h"

/* ---- times ---- */

static struct slice word(struct slice *text)
{
	struct slice w;

	while (text->n && *text->p == ' ')
		text->p++, text->n--;
	w = slice_make(text->p, 0);
	while (w.n < text->n && text->p[w.n] != ' ')
		w.n++;
	text->p += w.n;
	text->n -= w.n;
	return w;
}

static bool parse_count(struct slice w, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < w.n; i++) {
		if (w.p[i] < '0' || w.p[i] > '9' || *out > 1000000)
			return false;
		*out = *out * 10 + (w.p[i] - '0');
	}
	return w.n > 0;
}

/* Milliseconds of "day", "days". */
static int64_t unit_ms(struct slice w)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "second", 1000 },
		      { "minute", 60000 },
		      { "hour", 3600000 },
		      { "day", 86400000 },
		      { "week", 7 * 86400000 } };

	if (w.n && w.p[w.n - 1] == 's')
		w.n--;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (slice_is(w, units[i].name))
			return units[i].ms;
	return 0;
}

bool demo_time(struct slice text, int64_t now_ms, int64_t *ms)
{
	int64_t ago = 0;

	if (time_parse(text, ms))
		return true;
	if (slice_is(text, "now")) {
		*ms = now_ms;
		return true;
	}
	if (!text.n || text.p[0] != '-')
		return false;
	text.p++, text.n--;
	do {
		int64_t count, unit;

		if (!parse_count(word(&text), &count) || !(unit = unit_ms(word(&text))))
			return false;
		ago += count * unit;
	} while (text.n);
	*ms = now_ms - ago;
	return true;
}

/* ---- the table ---- */

bool demo_is_empty(struct app *app, struct backend *b, struct arena *a)
{
	struct backend_reply reply;
	const struct json *count;
	struct buf body;

	buf_init(&body, a);
	buf_lit(&body, "{\"Limit\":1,\"Select\":\"COUNT\",\"TableName\":");
	json_string(&body, app_design(app)->table);
	buf_byte(&body, '}');
	backend_call(b, a, "Scan", buf_slice(&body), &reply);
	count = json_get(reply.body, "Count");
	return reply.status == 200 && json_is(count, JSON_INT) && !count->integer;
}

/* ---- steps ---- */

static void read_claims(struct app *app, struct backend *b, struct arena *a, const struct json *claims, struct caller *c)
{
	struct run r = { .app = app, .design = app_design(app), .backend = b, .arena = a };

	caller_read_claims(&r, claims, false);
	c->claims = r.caller.claims;
	c->claim_count = r.caller.claim_count;
}

static void read_caller(struct arena *a, const struct json *step, struct caller *c)
{
	const struct json *roles = json_get(step, "roles");
	struct slice *list;

	c->subject = json_get_text(step, "as");
	c->operator_ = !c->subject.n;
	if (!json_is(roles, JSON_ARRAY))
		return;
	list = arena_array(a, struct slice, roles->count);
	for (uint32_t i = 0; i < roles->count; i++)
		if (json_is(&roles->items[i], JSON_STRING))
			list[c->role_count++] = roles->items[i].string;
	c->roles = list;
}

/* What is wrong with the step itself, or NULL. */
static const char *read_step(struct app *app, struct arena *a, const struct json *step, int64_t now_ms,
			     struct app_request *q)
{
	const struct json *body = json_get(step, "body"), *at = json_get(step, "at");
	struct buf b;

	q->method = app_method_parse(json_get_text(step, "method"));
	app_request_target(q, json_get_text(step, "path"));
	if (q->method == APP_OTHER)
		return "method must be GET, POST, PUT, PATCH or DELETE";
	if (!q->path.n || q->path.p[0] != '/')
		return "path must begin with /";
	if (at && (!json_is(at, JSON_STRING) || !demo_time(at->string, now_ms, &q->now_ms)))
		return "at must be a timestamp, or an age such as \"-2 hours 10 minutes\"";
	buf_init(&b, a);
	if (body)
		json_write(&b, body);
	q->body = buf_slice(&b);
	q->content_type = body ? SLICE("application/json") : (struct slice){ 0 };
	q->base = arena_printf(a, "/api/%.*s", SLICE_ARG(app_design(app)->name));
	return NULL;
}

static bool play_step(struct app *app, struct backend *b, struct arena *a, const struct json *step, unsigned number,
		      int64_t now_ms)
{
	struct caller caller = { 0 };
	struct app_request q = { .trusted = &caller };
	struct app_reply reply = { 0 };
	const char *wrong = read_step(app, a, step, now_ms, &q);
	struct slice name = app_design(app)->name, method = json_get_text(step, "method");

	if (wrong) {
		log_warn("demo data of %.*s, step %u: %s", SLICE_ARG(name), number, wrong);
		return false;
	}
	read_caller(a, step, &caller);
	read_claims(app, b, a, json_get(step, "claims"), &caller);
	app_handle(app, b, a, &q, &reply);
	if (reply.status < 400)
		return true;
	log_warn("demo data of %.*s, step %u (%.*s %.*s): %d %.*s", SLICE_ARG(name), number, SLICE_ARG(method),
		 SLICE_ARG(q.path), reply.status, SLICE_ARG(reply.body));
	return false;
}

bool demo_play(struct app *app, struct backend *b, struct arena *a, struct slice text, struct demo_report *report,
	       const char **why)
{
	const struct json *file = json_parse(a, text), *steps = json_get(file, "steps");
	int64_t now_ms = app_now_ms(app);
	struct arena own;

	if (!json_is(steps, JSON_ARRAY)) {
		*why = file ? "demo data needs a list of \"steps\"" : "the file is not JSON";
		return false;
	}
	report->accounts = json_get_text(file, "accounts");
	atomic_store(&report->total, steps->count);
	arena_init(&own);
	for (uint32_t i = 0; i < steps->count; i++) {
		volatile bool went = false;

		ARENA_TRY(&own, { went = play_step(app, b, &own, &steps->items[i], i + 1, now_ms); }, {});
		arena_clear(&own);
		atomic_fetch_add(went ? &report->done : &report->failed, 1);
	}
	arena_release(&own);
	return true;
}
