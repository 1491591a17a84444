/* What a design offers: GET /api/<design>, /me, /login, /openapi.json.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"
#include "app/read/read.h"

/* ---- the index ---- */

static void member(struct buf *b, const char *name, struct slice value)
{
	buf_printf(b, "\"%s\":", name);
	json_string(b, value);
}

static void write_names(struct buf *b, const char *name, const struct slice *list, size_t n)
{
	buf_printf(b, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_byte(b, ',');
		json_string(b, list[i]);
	}
	buf_byte(b, ']');
}

/* Where its items are created: the path without the placeholders at its end. */
static struct slice collection(const struct entity *e)
{
	struct slice s = e->path;

	while (s.n && s.p[s.n - 1] == '>') {
		size_t at = s.n;

		while (at && s.p[at - 1] != '/')
			at--;
		if (at == s.n || s.p[at] != '<' || memchr(s.p + at, '>', s.n - at) != s.p + s.n - 1)
			break;
		s.n = at ? at - 1 : 0;
	}
	return s.n ? s : SLICE("/");
}

static void write_entity(struct buf *b, const struct entity *e)
{
	static const struct slice methods[] = { { "GET", 3 }, { "PUT", 3 }, { "PATCH", 5 }, { "DELETE", 6 } };
	struct slice offered[4];
	size_t n = 0;
	static const enum allow_verb verbs[] = { ALLOW_READ, ALLOW_CREATE, ALLOW_UPDATE, ALLOW_DELETE };

	for (size_t i = 0; i < 4; i++)
		if (e->allow[verbs[i]] && e->allow[verbs[i]]->kind != TERM_NEVER)
			offered[n++] = methods[i];
	buf_byte(b, '{');
	member(b, "name", e->name);
	buf_byte(b, ',');
	member(b, "path", e->path);
	buf_byte(b, ',');
	member(b, "collection", collection(e));
	write_names(b, "methods", offered, n);
	buf_lit(b, ",\"actions\":[");
	for (size_t i = 0; i < e->action_count; i++) {
		if (i)
			buf_byte(b, ',');
		json_string(b, e->actions[i].name);
	}
	buf_lit(b, "]}");
}

static void write_access(struct buf *b, const struct design *d, const struct access *c)
{
	const struct entity *e = read_entity(d, c);

	buf_byte(b, '{');
	member(b, "name", c->name);
	buf_byte(b, ',');
	member(b, "path", c->path);
	write_names(b, "ids", c->ids, c->id_count);
	buf_lit(b, ",\"parameters\":[");
	for (size_t i = 0; i < c->query_param_count; i++) {
		if (i)
			buf_byte(b, ',');
		json_string(b, c->query_params[i].name);
	}
	buf_byte(b, ']');
	if (e) {
		buf_byte(b, ',');
		member(b, "returns", e->name);
	}
	if (c->operators_only)
		buf_lit(b, ",\"operators\":true");
	buf_byte(b, '}');
}

static void write_head(struct buf *b, const struct design *d)
{
	buf_byte(b, '{');
	member(b, "design", d->name);
	buf_byte(b, ',');
	member(b, "title", d->title);
	buf_byte(b, ',');
	member(b, "table", d->table);
}

struct slice app_index_make(const struct app *app, struct arena *a)
{
	const struct design *d = app->design;
	const char *between = "";
	struct buf b;

	buf_init(&b, a);
	write_head(&b, d);
	buf_lit(&b, ",\"entities\":[");
	for (size_t i = 0; i < d->entity_count; i++) {
		if (d->entities[i].internal)
			continue;
		buf_str(&b, between);
		between = ",";
		write_entity(&b, &d->entities[i]);
	}
	buf_lit(&b, "],\"access\":[");
	between = "";
	for (size_t i = 0; i < d->access_count; i++) {
		if (!d->accesses[i].path.n)
			continue;
		buf_str(&b, between);
		between = ",";
		write_access(&b, d, &d->accesses[i]);
	}
	buf_lit(&b, "]}\n");
	return buf_slice(&b);
}

void app_summary(const struct app *app, struct buf *out)
{
	const struct design *d = app->design;

	write_head(out, d);
	buf_printf(out, ",\"entities\":%zu,\"access\":%zu}", d->entity_count, d->access_count);
}

static void cacheable(struct app_exchange *x)
{
	x->answer.etag = answer_etag(x->run.arena, SLICE(""), x->answer.body);
	x->answer.cache = SLICE("public, max-age=60");
	answer_if_changed(x);
}

bool handle_index(struct app_exchange *x)
{
	answer_json(x, 200, x->app->index);
	cacheable(x);
	return true;
}

bool handle_openapi(struct app_exchange *x)
{
	struct buf b;

	buf_init(&b, x->run.arena);
	app_openapi(x->app, x->run.arena, x->q->base, &b);
	answer_buf(x, 200, &b);
	cacheable(x);
	return true;
}

/* ---- callers ---- */

bool handle_me(struct app_exchange *x)
{
	const struct caller *c = &x->run.caller;
	struct buf b;

	if (!c->subject.n && !c->operator_)
		return run_fail(&x->run, PROBLEM_UNAUTHENTICATED, "nobody is logged in");
	buf_init(&b, x->run.arena);
	buf_byte(&b, '{');
	member(&b, "subject", c->subject);
	write_names(&b, "roles", c->roles, c->role_count);
	if (c->operator_)
		buf_lit(&b, ",\"operator\":true");
	buf_byte(&b, '}');
	answer_buf(x, 200, &b);
	x->answer.cache = SLICE("no-store");
	return true;
}

bool handle_login(struct app_exchange *x)
{
	struct buf b;

	buf_init(&b, x->run.arena);
	if (!caller_login(&x->run, x->body, x->q->client, &b))
		return false;
	answer_buf(x, 200, &b);
	x->answer.cache = SLICE("no-store");
	return true;
}
