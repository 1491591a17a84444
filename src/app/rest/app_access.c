/* Access patterns: parameters from the address, the page, how long it may be cached; and actions on all rows of a
 * list. SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_access.h"
#include "app/rest/app_exchange.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "app/write/write.h"

/* ---- parameters ---- */

void access_ask_init(struct access_ask *q, struct arena *a, const struct access *access)
{
	*q = (struct access_ask){ .access = access };
	row_init(&q->params, a, NULL);
}

static const struct attribute *declared(const struct access *c, struct slice name)
{
	for (size_t i = 0; i < c->query_param_count; i++)
		if (slice_equal(c->query_params[i].name, name))
			return &c->query_params[i];
	return NULL;
}

/* A parameter of the path by its text; NULL: none. */
static const struct name *path_param(const struct access *c, struct slice name)
{
	for (size_t i = 0; i < c->param_count; i++)
		if (slice_equal(c->params[i], name))
			return c->param_at[i];
	return NULL;
}

static bool read_limit(struct run *r, struct slice text, int64_t *limit)
{
	int64_t v = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || v > READ_MOST_LIMIT)
			return run_invalid(r, SLICE("limit"), "must be a number from 1 to %d", READ_MOST_LIMIT);
		v = v * 10 + text.p[i] - '0';
	}
	if (v < 1 || v > READ_MOST_LIMIT)
		return run_invalid(r, SLICE("limit"), "must be a number from 1 to %d", READ_MOST_LIMIT);
	*limit = v;
	return true;
}

static bool unknown(struct run *r, const struct access *c, struct slice name)
{
	struct slice *words = arena_array(r->arena, struct slice, c->query_param_count + 2);
	struct slice near;
	size_t n = 0;

	for (size_t i = 0; i < c->query_param_count; i++)
		words[n++] = c->query_params[i].name;
	words[n++] = SLICE("limit");
	words[n++] = SLICE("after");
	near = suggest_slice(name, words, n);
	if (near.n)
		return run_invalid(r, name, "no such parameter; did you mean %.*s?", SLICE_ARG(near));
	return run_invalid(r, name, "no such parameter");
}

static bool given_twice(struct run *r, struct slice name)
{
	return run_invalid(r, name, "given twice");
}

static bool give_param(struct run *r, struct access_ask *q, const struct name *param, const struct attribute *type,
		       struct slice text)
{
	struct value v;

	if (!text.n)
		return true;
	if (row_has(&q->params, param))
		return given_twice(r, param->text);
	if (!input_text(r, type, param->text, text, &v))
		return false;
	row_set(&q->params, param, v);
	return true;
}

bool access_give(struct run *r, struct access_ask *q, struct slice name, struct slice text, bool any)
{
	const struct attribute *a = declared(q->access, name);
	const struct name *param = any && !a ? path_param(q->access, name) : NULL;

	if (a)
		return give_param(r, q, a->at, a, text);
	if (param)
		return give_param(r, q, param, route_param(r->arena, r->design, q->access, param), text);
	if (slice_is(name, "limit")) {
		if (!text.n)
			return true;
		return q->limit ? given_twice(r, name) : read_limit(r, text, &q->limit);
	}
	if (!slice_is(name, "after"))
		return unknown(r, q->access, name);
	if (q->cursor.n)
		return given_twice(r, name);
	q->cursor = text;
	return true;
}

bool access_takes_ids(const struct access_ask *q, struct slice name)
{
	return q->access->kind == ACCESS_BATCH && slice_is(name, "id") && !declared(q->access, name);
}

bool access_give_id(struct run *r, struct access_ask *q, struct slice id)
{
	if (!id.n)
		return true;
	if (q->id_count == ACCESS_MOST_IDS)
		return run_invalid(r, SLICE("id"), "at most %d", ACCESS_MOST_IDS);
	if (!q->ids)
		q->ids = arena_array(r->arena, struct slice, ACCESS_MOST_IDS);
	q->ids[q->id_count++] = id;
	return true;
}

bool access_run(struct run *r, struct access_ask *q, struct read_result *out)
{
	struct read_request request = {
		.access = q->access,
		.params = &q->params,
		.ids = q->ids,
		.id_count = q->id_count,
		.limit = q->limit,
		.cursor = q->cursor,
		.shows = q->shows,
	};

	return read_access(r, &request, out);
}

/* ---- from the address ---- */

/* id=a,b: split before decoding, so that an id may contain a comma. */
static bool give_ids(struct run *r, struct access_ask *q, struct slice raw)
{
	struct slice part, id;

	while (slice_next(&raw, ',', &part))
		if (!target_decode(r, part, true, &id) || !access_give_id(r, q, id))
			return false;
	return true;
}

static bool give_query(struct app_exchange *x, struct access_ask *q)
{
	struct target_pair *pairs;
	bool ok = true;
	size_t n;

	if (!target_query(&x->run, x->q->query, &pairs, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		bool good;

		if (x->q->watcher && slice_is(pairs[i].name, "last_event_id"))
			continue;
		good = access_takes_ids(q, pairs[i].name)
			       ? give_ids(&x->run, q, pairs[i].raw)
			       : access_give(&x->run, q, pairs[i].name, pairs[i].value, false);
		if (!good && x->run.problem.type != PROBLEM_INVALID)
			return false;
		ok &= good; /* reports all errors at once */
	}
	return ok;
}

static bool give_path(struct app_exchange *x, struct access_ask *q)
{
	struct value v;

	for (size_t i = 0; i < x->match.count; i++) {
		if (!path_value_of_item(x, i, &v))
			return false;
		row_set(&q->params, x->match.route->at[i], v);
	}
	return true;
}

/* ---- the answer ---- */

static void set_caching(struct app_exchange *x, const struct read_result *result)
{
	const struct access *c = x->match.route->access;
	bool known = x->run.caller.subject.n || x->run.caller.operator_;
	bool differs = x->run.caller.operator_ || read_depends_on_caller(&x->run, c); /* from the answer to others */
	const struct row *one = result->shape == READ_ONE && result->row_count ? &result->rows[0] : NULL;
	struct slice validator = SLICE("");
	struct answer *w = &x->answer;

	if (c->cache_seconds) {
		w->cache = arena_printf(x->run.arena, "%s, max-age=%lld", known && differs ? "private" : "public",
					(long long)c->cache_seconds);
		w->vary = differs;
	} else {
		w->cache = SLICE("private, no-cache");
		if (one && one->entity && !c->without_count)
			validator = output_etag(&x->run, one);
	}
	w->etag = answer_etag(x->run.arena, validator, w->body);
}

static bool watch(struct app_exchange *x, const struct access_ask *q)
{
	struct app_reply *reply = arena_new(x->run.arena, struct app_reply);

	if (q->cursor.n || q->limit)
		return run_invalid(&x->run, q->limit ? SLICE("limit") : SLICE("after"), "a watched list has no pages");
	if (!x->q->watcher->watch(x->q->watcher, &x->run, q->access, &q->params, reply))
		return false;
	x->answer.ready = reply;
	return true;
}

bool handle_access(struct app_exchange *x)
{
	const struct access *c = x->match.route->access;
	struct read_result result = { 0 };
	struct access_ask q;
	struct buf b;

	access_ask_init(&q, x->run.arena, c);
	if (!give_path(x, &q) || !give_query(x, &q))
		return false;
	if (x->q->watcher)
		return watch(x, &q);
	q.shows = true;
	if (!access_run(&x->run, &q, &result))
		return false;
	buf_init(&b, x->run.arena);
	if (!read_output(&x->run, c, &result, &b))
		return false;
	answer_buf(x, 200, &b);
	set_caching(x, &result);
	answer_if_changed(x);
	return true;
}

/* ---- an action on all rows ---- */

#define EACH_MOST  1000 /* rows of one request */
#define EACH_PAGE  100
#define EACH_PAGES (EACH_MOST / EACH_PAGE + 1) /* filters leave some short */

/* Rows whose state does not allow the action, or that the caller may not change, are skipped. */
static bool is_skipped(enum problem_type t)
{
	return t == PROBLEM_CONFLICT || t == PROBLEM_NOT_FOUND || t == PROBLEM_FORBIDDEN || t == PROBLEM_CHANGED;
}

static bool act(struct app_exchange *x, struct run *b, const struct row *row, const struct row *given, size_t *done)
{
	static const struct write_options none = { 0 };
	const struct action *action = row->entity ? x->match.route->each[row->entity - x->run.design->entities] : NULL;
	struct write_result made;
	struct identity of;
	bool ok;

	if (!action)
		return true;
	of = (struct identity){ row->entity, entity_identity(b, row), row->entity->param_count };
	ok = write_action(b, &of, action, given, &none, &made);
	*done += ok;
	if (!ok && !is_skipped(b->problem.type))
		return run_fail(&x->run, b->problem.type, "%.*s", SLICE_ARG(b->problem.detail));
	branch_clear(b, &x->run);
	return true;
}

/* Reads up to EACH_MOST rows; q->cursor: where the rest begins, empty if there is none. */
static bool read_pages(struct run *r, struct access_ask *q, struct read_result pages[EACH_PAGES], size_t *count)
{
	size_t rows = 0;

	*count = 0;
	do {
		struct read_result *page = &pages[(*count)++];

		q->limit = EACH_PAGE;
		if (!access_run(r, q, page))
			return false;
		q->cursor = page->next;
		rows += page->row_count;
	} while (q->cursor.n && rows < EACH_MOST && *count < EACH_PAGES);
	return true;
}

/* Reads all rows first: the action may take a row out of the list. */
bool handle_each(struct app_exchange *x)
{
	struct read_result pages[EACH_PAGES] = { 0 };
	struct run *b = branch_new(&x->run);
	size_t count, done = 0;
	struct access_ask q;
	struct row given;

	if (x->body->count)
		return run_fail(&x->run, PROBLEM_INVALID, "an action on a whole list takes no body");
	row_init(&given, x->run.arena, NULL);
	access_ask_init(&q, x->run.arena, x->match.route->access);
	if (!give_path(x, &q) || !give_query(x, &q))
		return false;
	if (q.limit || q.cursor.n)
		return run_invalid(&x->run, q.limit ? SLICE("limit") : SLICE("after"),
				   "the action is on the whole list");
	if (!read_pages(&x->run, &q, pages, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < pages[i].row_count; k++)
			if (!act(x, b, &pages[i].rows[k], &given, &done))
				return false;
	answer_json(x, 200, arena_printf(x->run.arena, "{\"done\":%zu%s}\n", done, q.cursor.n ? ",\"more\":true" : ""));
	return true;
}
