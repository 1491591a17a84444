/* Checks decisions: when a request is about to write, runs the same request again at that moment, up to its first
 * write. If it would now be refused, the first decision is outdated, so the conditions of the write must fail too. A
 * write that still succeeds has violated a rule. The date is that of the request: it decides by one date, whatever the
 * clock says when it writes. SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read.h"
#include "sim.h"

/* a backend that reads, and notices that it is to write */
struct dry {
	struct backend backend;
	struct backend *real;
	bool writes;
};

static void dry_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct dry *d = (struct dry *)b;

	if (!machine_is_write(slice_str(operation))) {
		d->real->call(d->real, a, operation, body, reply);
		return;
	}
	d->writes = true;
	*reply = (struct backend_reply){
		.status = 500, .body = &empty, .error = SLICE("InternalServerError"), .message = SLICE("dry")
	};
}

static void dry_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct dry *d = (struct dry *)b;

	if (request_is_read(q)) {
		backend_execute(d->real, a, q, reply);
		return;
	}
	d->writes = true;
	*reply = (struct reply){ .status = 500, .error = SLICE("InternalServerError"), .message = SLICE("dry") };
}

/* The status the request would get now, without writing; 0: it would write. */
static int ask_again(struct sim *s, struct decision *d)
{
	struct dry b = { .real = s->backend };
	struct app_reply reply = { 0 };
	int64_t since_us = fiber_date_us() - d->date_us;
	struct arena a;

	b.backend = (struct backend){ .call = dry_call, .execute = dry_execute };
	arena_init(&a);
	fiber_set_alone(true);
	fiber_set_date(-since_us);
	world_ask(s, &b.backend, &a, d->request, &reply);
	fiber_set_date(since_us);
	fiber_set_alone(false);
	if (!b.writes && reply.status >= 400 && reply.status < 500)
		d->why = arena_copy(&s->arena, reply.body);
	arena_release(&a);
	return b.writes || reply.status < 400 || reply.status >= 500 ? 0 : reply.status;
}

static bool refers(const struct entity *e, const struct entity *to)
{
	for (size_t i = 0; i < e->require_count; i++)
		if (e->requires[i].target.to == to)
			return true;
	for (size_t i = 0; i < e->count_count; i++)
		if (e->counts[i].target.to == to)
			return true;
	return false;
}

/* Whether rows for which the deletion is refused may come between its reading and its write: they neither require the
 * item nor count on it (app/write/joined.h). */
static bool may_be_late(const struct sim *s, const struct decision *d)
{
	const struct delete_rule *rule = d->entity ? &d->entity->delete_ : NULL;

	for (size_t i = 0; rule && d->request->method == APP_DELETE && i < rule->refuse_count; i++) {
		const struct access *x = rule->refuse_access[i];
		const struct entity *of = x ? read_entity(s->design, x) : NULL;

		if (!of || !refers(of, d->entity))
			return true;
	}
	return false;
}

static void before(struct sim *s, struct decision *d)
{
	struct random kept = *fiber_random();

	fiber_set_work(0); /* not part of the request's work */
	d->status = ask_again(s, d);
	fiber_set_work((uintptr_t)d);
	*fiber_random() = kept;
}

void decide_watch(struct sim *s, const struct machine_write *w)
{
	struct decision *d = (struct decision *)(uintptr_t)fiber_work();

	if (!d || d->is_over || memory_is_dead())
		return;
	if (!w->is_done) {
		before(s, d);
		return;
	}
	d->is_over = slice_is(w->outcome, "done");
	if (d->is_over && d->status && !(d->status == 409 && may_be_late(s, d)))
		sim_problem(s, "%.*s %.*s was done, though at that moment it was to be refused: %.*s",
			    SLICE_ARG(d->request->path), SLICE_ARG(d->request->body), SLICE_ARG(d->why));
}
