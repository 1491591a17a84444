/* POST /call: runs an access pattern (or "get User") by its name, for operators, as the caller they name; returns the
 * result and the requests to the database.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/rehearse.h"
#include "app/rest/app_access.h"
#include "app/auth/caller.h"
#include "app/rest/app_exchange.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "json/json.h"

struct call {
	struct app_exchange *x;
	struct run *r;           /* the pattern's: another caller */
	const struct json *with; /* an object, or NULL */
	struct buf out;
	unsigned trips; /* round trips to a remote table; 0: the table is local */
};

/* ---- what to call ---- */

static const struct access *by_id(const struct design *d, struct slice id)
{
	for (size_t i = 0; i < d->access_count; i++)
		for (size_t k = 0; k < d->accesses[i].id_count; k++)
			if (slice_equal(d->accesses[i].ids[k], id))
				return &d->accesses[i];
	return NULL;
}

static const struct entity *entity_named(const struct design *d, struct slice name)
{
	if (slice_starts(name, SLICE("get ")))
		name = slice_make(name.p + 4, name.n - 4);
	return design_entity(d, name);
}

static bool no_such_pattern(struct run *r, struct slice name)
{
	const struct design *d = r->design;
	struct slice *words = arena_array(r->arena, struct slice, d->access_count + d->entity_count);
	struct slice near;
	size_t n = 0;

	for (size_t i = 0; i < d->access_count; i++)
		words[n++] = d->accesses[i].name;
	for (size_t i = 0; i < d->entity_count; i++)
		words[n++] = d->entities[i].name;
	near = suggest_slice(name, words, n);
	if (near.n)
		return run_fail(r, PROBLEM_NOT_FOUND, "there is no access pattern '%.*s'; did you mean '%.*s'?",
				SLICE_ARG(name), SLICE_ARG(near));
	return run_fail(r, PROBLEM_NOT_FOUND, "there is no access pattern '%.*s'", SLICE_ARG(name));
}

/* ---- parameters ---- */

static struct slice text_of(struct run *r, const struct json *j)
{
	struct buf b;

	if (j->type == JSON_STRING)
		return j->string;
	if (j->type == JSON_NULL)
		return SLICE("");
	buf_init(&b, r->arena);
	json_write(&b, j);
	return buf_slice(&b);
}

static bool give_ids(struct call *c, struct access_ask *q, const struct json *j)
{
	struct slice text, id;

	if (j->type == JSON_ARRAY) {
		for (uint32_t i = 0; i < j->count; i++)
			if (!access_give_id(c->r, q, text_of(c->r, &j->items[i])))
				return false;
		return true;
	}
	text = text_of(c->r, j);
	while (slice_next(&text, ',', &id))
		if (!access_give_id(c->r, q, id))
			return false;
	return true;
}

static bool call_access(struct call *c, const struct access *access)
{
	struct read_result result = { 0 };
	struct access_ask q;

	access_ask_init(&q, c->r->arena, access);
	for (uint32_t i = 0; c->with && i < c->with->count; i++) {
		const struct json_member *m = &c->with->members[i];

		if (!(access_takes_ids(&q, m->name) ? give_ids(c, &q, &m->value)
						    : access_give(c->r, &q, m->name, text_of(c->r, &m->value), true)))
			return false;
	}
	q.shows = true;
	return access_run(c->r, &q, &result) && read_output(c->r, access, &result, &c->out);
}

static bool call_entity(struct call *c, const struct entity *e)
{
	struct value *args = arena_array(c->r->arena, struct value, e->param_count);
	struct row item;

	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);
		const struct json *j = json_get_slice(c->with, e->params[i]);

		if (!j)
			return run_invalid(c->r, e->params[i], "is required: it is part of the identity of %.*s",
					   SLICE_ARG(e->name));
		if (!input_text(c->r, a, e->params[i], text_of(c->r, j), &args[i]))
			return false;
	}
	return read_item(c->r, e, args, e->param_count, &item) && read_shown(c->r, &item) &&
	       read_output_item(c->r, &item, &c->out);
}

/* ---- the caller ---- */

static bool read_as(struct call *c, const struct json *as)
{
	const struct json *subject = json_get(as, "subject"), *roles = json_get(as, "roles");
	const struct json *claims = json_get(as, "claims");
	struct caller *caller = &c->r->caller;
	struct slice *list;

	if (!as || as->type == JSON_NULL)
		return true; /* as the operator */
	if (as->type != JSON_OBJECT || (subject && subject->type != JSON_STRING) ||
	    (roles && roles->type != JSON_ARRAY) || (claims && claims->type != JSON_OBJECT))
		return run_fail(&c->x->run, PROBLEM_MALFORMED,
				"'as' must be {\"subject\": \"alice\", \"roles\": […], \"claims\": {…}}");
	*caller = (struct caller){ 0 };
	if (subject)
		caller->subject = subject->string;
	list = arena_array(c->r->arena, struct slice, roles ? roles->count : 0);
	for (uint32_t i = 0; roles && i < roles->count; i++)
		if (roles->items[i].type == JSON_STRING)
			list[caller->role_count++] = roles->items[i].string;
	caller->roles = list;
	caller_read_claims(c->r, claims, false);
	return true;
}

/* ---- the answer ---- */

static void write_requests(struct buf *b, const struct trace *t)
{
	json_member_open(b, "requests", '[');
	for (const struct trace_call *c = t->first; c; c = c->next) {
		json_open(b, '{');
		json_member_word(b, "operation", c->operation);
		json_name(b, "request");
		buf_put(b, c->request.n ? c->request : SLICE("{}"));
		if (c->error.n)
			json_member_string(b, "error", c->error);
		buf_printf(b, ",\"read_units\":%.10g,\"write_units\":%.10g,\"items\":%zu,\"us\":%lld}", c->read_units,
			   c->write_units, c->items, (long long)c->us);
	}
	json_close(b, ']');
}

static bool is_true(const struct json *j)
{
	return json_is(j, JSON_BOOL) && j->boolean;
}

static bool call_named(struct call *c, struct slice name)
{
	const struct design *d = c->r->design;
	const struct access *access = design_access(d, name);
	const struct entity *e;

	if (!access)
		access = by_id(d, name);
	if (access)
		return call_access(c, access);
	e = entity_named(d, name);
	return e ? call_entity(c, e) : no_such_pattern(c->r, name);
}

static bool may_call(struct run *r)
{
	if (r->caller.operator_)
		return true;
	if (!r->caller.subject.n)
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "this needs an operator's token");
	return run_fail(r, PROBLEM_FORBIDDEN, "this is for operators");
}

/* A traced run asks request by request, so the pattern runs once untraced first, as an unexplained request would. */
static void count_trips(struct call *c, struct slice name)
{
	struct run *r = c->r;
	struct caller caller = r->caller;

	if (!c->x->app->guesses)
		return;
	buf_init(&c->out, r->arena);
	(void)!call_named(c, name);
	backend_settle(r->backend); /* again, unless all of it was read for this */
	c->trips = rehearse_trips(r->backend);
	r->caller = caller;
	r->problem = (struct problem){ 0 };
	r->memo = NULL;
}

static void write_explained(struct buf *b, const struct call *c, const struct trace *t)
{
	write_requests(b, t);
	if (c->trips)
		buf_printf(b, ",\"round_trips\":%u", c->trips);
}

/* The problem with the requests as a further member: they say why, too. */
static bool explain_problem(const struct call *c, const struct trace *trace)
{
	struct app_exchange *x = c->x;
	struct slice bare;
	struct buf b;

	answer_problem(x);
	buf_init(&b, x->run.arena);
	bare = answer_bare(&x->answer);
	buf_put(&b, slice_make(bare.p, bare.n - 1));
	write_explained(&b, c, trace);
	buf_lit(&b, "}\n");
	x->answer.body = buf_slice(&b);
	return true;
}

bool handle_call(struct app_exchange *x)
{
	const struct json *name = json_get(x->body, "pattern");
	struct run inner = x->run;
	struct trace trace = { .last = &trace.first };
	struct call c = { .x = x, .r = &inner, .with = json_get(x->body, "with") };

	if (!may_call(&x->run))
		return false;
	if (!json_is(name, JSON_STRING) || (c.with && c.with->type != JSON_OBJECT))
		return run_fail(&x->run, PROBLEM_MALFORMED, "a call must be {\"pattern\": \"name\", \"with\": {…}}");
	if (!read_as(&c, json_get(x->body, "as")))
		return false;
	if (is_true(json_get(x->body, "explain"))) {
		count_trips(&c, name->string);
		inner.trace = &trace;
	}
	buf_init(&c.out, x->run.arena);
	buf_lit(&c.out, "{\"result\":");
	if (!call_named(&c, name->string)) {
		x->run.problem = inner.problem;
		return inner.trace ? explain_problem(&c, &trace) : false;
	}
	if (inner.trace)
		write_explained(&c.out, &c, &trace);
	buf_byte(&c.out, '}');
	answer_buf(x, 200, &c.out);
	x->answer.cache = SLICE("no-store");
	return true;
}
