/* A client: one request after the other, drawn from the design.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "app/read/read.h"
#include "ledger.h"
#include "session.h"
#include "split_stream.h"

#define SLEEP_MOST_US   3000000
#define JUMP_MOST_S     (3 * 86400)
#define SOFT_DELETES    25
#define BACK_MOST_S     3600
#define BATCH_MOST      4
#define CROWD_LEAST     20
#define CROWD_MOST      60
#define FOUNDING_ROUNDS 4
#define FOUNDING_TRIES  4
#define DRAWS           10 /* until a possible request is drawn */

struct asking {
	struct draw draw;
	struct app_request q;
	const struct entity *entity; /* NULL: of none */
	struct buf path, body;
	const char *etag;
	struct session session;
	bool has_session; /* otherwise the caller is trusted */
};

static struct random *dice(struct sim *s)
{
	return &s->random;
}

/* ---- requests ---- */

/* Whether callers other than operators may create it. */
static bool has_makers(const struct entity *e)
{
	const struct term *t = e->allow[ALLOW_CREATE];

	return !e->internal && t && t->kind != TERM_NEVER;
}

static const struct entity *draw_entity(struct sim *s, bool operator_)
{
	const struct design *d = s->design;

	for (int i = 0; i < 20; i++) {
		const struct entity *e = &d->entities[random_below(dice(s), d->entity_count)];

		if (!e->path.n || (!has_makers(e) && !(operator_ && sim_may(s, SIM_INTERNAL))))
			continue;
		if (random_below(dice(s), 10) <= pool_weight(s, e) * 3)
			return e;
	}
	return NULL;
}

/* Whether the server chooses its address. */
static bool has_managed_address(const struct entity *e)
{
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (a && a->managed)
			return true;
	}
	return false;
}

static bool ask_create(struct asking *k)
{
	bool put = random_percent(dice(k->draw.sim), 65) &&
		   (!has_managed_address(k->entity) || sim_may(k->draw.sim, SIM_MANAGED));

	k->q.method = put ? APP_PUT : APP_POST;
	if (!draw_path(&k->draw, k->entity->path_template, k->entity, !put, &k->path))
		return false;
	draw_body(&k->draw, k->entity, put ? BODY_CREATE : BODY_POST, NULL, &k->body);
	return true;
}

static bool ask_replace(struct asking *k)
{
	k->q.method = APP_PUT;
	k->q.if_match = SLICE("*");
	if (!draw_path(&k->draw, k->entity->path_template, k->entity, false, &k->path))
		return false;
	draw_body(&k->draw, k->entity, BODY_CREATE, NULL, &k->body);
	return true;
}

static bool ask_update(struct asking *k)
{
	k->q.method = APP_PATCH;
	if (random_percent(dice(k->draw.sim), 10))
		k->q.content_type = SLICE("application/merge-patch+json");
	if (!draw_path(&k->draw, k->entity->path_template, k->entity, false, &k->path))
		return false;
	/* What others follow often gets another identity than that of the path. */
	if (k->entity->rename.then_count && random_percent(dice(k->draw.sim), 70))
		k->draw.said_count = 0;
	draw_body(&k->draw, k->entity, BODY_UPDATE, NULL, &k->body);
	return true;
}

bool entity_leaves_orphans(const struct design *d, const struct entity *e)
{
	if (e->delete_.soft || e->delete_.then_count || e->delete_.refuse_count)
		return false;
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].count_count; k++)
			if (slice_equal(d->entities[i].counts[k].target.entity, e->name))
				return true;
	return false;
}

static bool ask_delete(struct asking *k)
{
	struct sim *s = k->draw.sim;

	k->q.method = APP_DELETE;
	if (k->entity->delete_.soft && !random_percent(dice(s), SOFT_DELETES))
		return false; /* irreversible: soon no items would be left */
	if (k->entity->delete_.refuse_count && !sim_may(s, SIM_REFUSALS))
		return false;
	if (!sim_may(s, SIM_DELETES) || (k->entity->delete_.then_count && !sim_may(s, SIM_CASCADES)) ||
	    (entity_leaves_orphans(s->design, k->entity) && !sim_may(s, SIM_ORPHANS)))
		return false;
	return draw_path(&k->draw, k->entity->path_template, k->entity, false, &k->path);
}

static bool ask_action(struct asking *k)
{
	const struct entity *e = k->entity;
	const struct action *a;

	if (!e->action_count || !sim_may(k->draw.sim, SIM_ACTIONS))
		return false;
	a = &e->actions[random_below(dice(k->draw.sim), e->action_count)];
	k->q.method = APP_POST;
	if (!draw_path(&k->draw, e->path_template, e, false, &k->path))
		return false;
	buf_printf(&k->path, "/%.*s", SLICE_ARG(a->name));
	draw_body(&k->draw, e, BODY_ACTION, a, &k->body);
	return true;
}

static bool ask_item(struct asking *k)
{
	k->q.method = APP_GET;
	return draw_path(&k->draw, k->entity->path_template, k->entity, false, &k->path);
}

static bool ask_list(struct asking *k)
{
	const struct design *d = k->draw.sim->design;
	const struct access *a = &d->accesses[random_below(dice(k->draw.sim), d->access_count)];

	if (!d->access_count)
		return false;
	k->q.method = APP_GET;
	k->entity = a->entity.n ? design_entity(d, a->entity) : NULL;
	if (!a->path.n || !draw_path(&k->draw, a->path_template, NULL, false, &k->path))
		return false;
	if (a->action_count && random_percent(dice(k->draw.sim), 50)) { /* an action on the whole list */
		k->q.method = APP_POST;
		buf_printf(&k->path, "/%.*s", SLICE_ARG(a->actions[random_below(dice(k->draw.sim), a->action_count)]));
	} else if (random_percent(dice(k->draw.sim), 30)) {
		k->q.query = SLICE("limit=2");
	}
	return true;
}

static const struct {
	unsigned first, later; /* weights: at first mostly creations, later all kinds of requests */
	bool (*ask)(struct asking *k);
} kinds[] = {
	{ 80, 34, ask_create }, { 0, 3, ask_replace }, { 4, 14, ask_update }, { 1, 17, ask_delete },
	{ 8, 14, ask_action },  { 1, 4, ask_item },    { 1, 7, ask_list },
};

static unsigned weight_of(const struct sim *s, size_t kind)
{
	return s->steps_left > s->steps - s->steps / 4 ? kinds[kind].first : kinds[kind].later;
}

static bool draw_request(struct sim *s, struct arena *a, struct asking *k)
{
	size_t total = 0, at;

	*k = (struct asking){ .draw = { .sim = s, .arena = a } };
	buf_init(&k->path, a);
	buf_init(&k->body, a);
	draw_caller(&k->draw);
	k->has_session = sim_may(s, SIM_SESSIONS) && session_draw(s, &k->session);
	if (k->has_session)
		k->draw.caller = (struct caller){ .subject = k->session.subject };
	k->draw.wrong = sim_may(s, SIM_WRONG) && random_percent(dice(s), 8);
	k->entity = draw_entity(s, k->draw.caller.operator_);
	if (!k->entity)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		total += weight_of(s, i);
	at = random_below(dice(s), total);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (at >= weight_of(s, i)) {
			at -= weight_of(s, i);
			continue;
		}
		if (!kinds[i].ask(k))
			return false;
		break;
	}
	k->q.path = buf_slice(&k->path);
	k->q.body = buf_slice(&k->body);
	if (random_percent(dice(s), 4) && k->q.method != APP_GET)
		k->q.idempotency_key = arena_printf(a, "key-%zu", random_below(dice(s), 5));
	return true;
}

/* ---- replies ---- */

static void learn_from(struct sim *s, struct arena *a, const struct entity *e, const struct app_reply *reply)
{
	const struct json *body = reply->body.n ? json_parse(a, reply->body) : NULL, *items = json_get(body, "items");

	if (!json_is(items, JSON_ARRAY)) {
		pool_learn(s, e, body);
		return;
	}
	for (size_t i = 0; i < items->count; i++) {
		const struct json *type = json_get(&items->items[i], "@type");

		pool_learn(s, json_is(type, JSON_STRING) ? design_entity(s->design, type->string) : e, &items->items[i]);
	}
}

static const char *method_name(enum app_method m)
{
	static const char *const names[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };

	return m < APP_OTHER ? names[m] : "?";
}

static void heard(struct sim *s, struct asking *k, const struct app_reply *reply)
{
	if (memory_is_dead()) /* the reply is lost */
		return;
	fiber_trace(&reply->status, sizeof(reply->status));
	fiber_trace(reply->body.p, reply->body.n);
	sim_note(s, "→ %d %.*s", reply->status, (int)(reply->body.n < 300 ? reply->body.n : 300), reply->body.p);
	s->acknowledged += reply->status < 300;
	s->busy += reply->status == 503;
	if (reply->status == 500)
		sim_problem(s, "%s %.*s %.*s was answered %.*s", method_name(k->q.method), SLICE_ARG(k->q.path),
			    SLICE_ARG(k->q.body), SLICE_ARG(reply->body));
	if (reply->status < 300)
		learn_from(s, k->draw.arena, k->entity, reply);
}

/* ---- the client ---- */

/* Sends the request; returns the status of the reply. */
static int send(struct sim *s, struct backend *b, struct asking *k)
{
	struct app_reply reply = { 0 };
	struct decision d = { .request = &k->q, .entity = k->entity, .date_us = fiber_date_us() };
	struct session_state before = { 0 };
	size_t entry = k->q.method == APP_GET ? 0 : ledger_ask(s, k->q.method, k->q.path, k->entity);

	s->requests++;
	if (k->has_session) {
		k->q.authorization = k->session.authorization;
		before = session_look(s, b, k->draw.arena, &k->session);
	} else {
		k->q.trusted = &k->draw.caller;
	}
	sim_note(s, "%s%s%.*s: %s %.*s%s%.*s %.*s",
		 k->has_session             ? "logged in, "
		 : k->draw.caller.operator_ ? "operator "
					    : "",
		 k->draw.caller.subject.n ? "" : "nobody", SLICE_ARG(k->draw.caller.subject), method_name(k->q.method),
		 SLICE_ARG(k->q.path), k->q.query.n ? "?" : "", SLICE_ARG(k->q.query), SLICE_ARG(k->q.body));
	/* For requests of a single write. A session that ends meanwhile ends with the next request. */
	if (k->entity && !k->has_session && k->q.method != APP_GET && !k->q.idempotency_key.n)
		fiber_set_work((uintptr_t)&d);
	world_ask(s, b, k->draw.arena, &k->q, &reply);
	fiber_set_work(0);
	/* With a key the reply may be an earlier one, even of the previous process. */
	if (!memory_is_dead() && k->q.method != APP_GET)
		ledger_answer(s, entry, k->q.idempotency_key.n ? 200 : reply.status);
	if (k->has_session && !memory_is_dead())
		session_judge(s, &k->session, before, session_look(s, b, k->draw.arena, &k->session), reply.status);
	heard(s, k, &reply);
	return reply.status;
}

static void put_part(struct buf *out, const struct asking *k)
{
	buf_printf(out, "%s{\"method\":\"%s\",\"path\":", out->p[out->n - 1] == '[' ? "" : ",",
		   method_name(k->q.method));
	json_string(out, k->q.path);
	if (k->q.body.n) {
		buf_lit(out, ",\"body\":");
		buf_put(out, k->q.body);
	}
	buf_lit(out, "}");
}

static bool draw_batch(struct sim *s, struct arena *a, struct asking *k)
{
	size_t n = 1 + random_below(dice(s), BATCH_MOST);
	struct asking part;
	struct buf body;

	buf_init(&body, a);
	buf_lit(&body, "{\"requests\":[");
	for (size_t i = 0; i < n; i++)
		if (draw_request(s, a, &part) && !part.q.query.n)
			put_part(&body, &part);
	buf_lit(&body, "]}");
	if (!draw_request(s, a, k))
		return false;
	k->q = (struct app_request){ .method = APP_POST, .path = SLICE("/batch"), .body = buf_slice(&body) };
	k->entity = NULL;
	return true;
}

static void idle(struct sim *s)
{
	if (random_percent(dice(s), 6))
		fiber_sleep((int64_t)random_below(dice(s), SLEEP_MOST_US));
	else
		fiber_yield();
	if (sim_may(s, SIM_JUMPS) && random_percent(dice(s), 1)) {
		int64_t seconds = (int64_t)random_below(dice(s), JUMP_MOST_S);

		sim_note(s, "the clock goes forward by %lld seconds", (long long)seconds);
		fiber_set_date(seconds * 1000000);
	}
	if (sim_may(s, SIM_BACKWARDS) && !random_below(dice(s), 300)) {
		int64_t seconds = (int64_t)random_below(dice(s), BACK_MOST_S);

		sim_note(s, "the clock goes back by %lld seconds", (long long)seconds);
		fiber_set_date(-seconds * 1000000);
	}
}

/* Whether it is removed with another deleted item. */
static bool is_below(const struct design *d, const struct entity *e)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].delete_.then_count; k++) {
			const struct access *x = design_access(d, d->entities[i].delete_.then_remove[k]);

			if (x && read_entity(d, x) == e)
				return true;
		}
	return false;
}

/* Creates many items of the same kind, with ids from the server: so many that removing them takes more than one
 * transaction. */
static void crowd(struct sim *s, struct backend *b, struct arena *a)
{
	struct asking k;
	size_t n = CROWD_LEAST + random_below(dice(s), CROWD_MOST);

	for (int i = 0; i < 30 * DRAWS; i++) {
		arena_clear(a);
		if (!draw_request(s, a, &k) || !is_below(s->design, k.entity) || k.q.method != APP_POST ||
		    k.has_session || k.q.idempotency_key.n || k.draw.wrong)
			continue;
		while (n && !memory_is_dead() && send(s, b, &k) == 201)
			n--;
		if (!n)
			return;
	}
}

/* As an operator. */
static bool draw_founding(struct sim *s, struct arena *a, const struct entity *e, bool acts, struct asking *k)
{
	*k = (struct asking){ .draw = { .sim = s, .arena = a, .sure = true }, .entity = e };
	buf_init(&k->path, a);
	buf_init(&k->body, a);
	draw_caller(&k->draw);
	k->draw.caller.operator_ = true;
	if (!(acts ? ask_action(k) : ask_create(k)))
		return false;
	k->q.path = buf_slice(&k->path);
	k->q.body = buf_slice(&k->body);
	return true;
}

/* Retries until one is created, then runs an action on it, or on another one. */
static void found_entity(struct sim *s, struct backend *b, struct arena *a, const struct entity *e)
{
	bool made = false;

	for (int i = 0; i < FOUNDING_TRIES; i++) {
		struct asking k;

		if (draw_founding(s, a, e, made, &k) && send(s, b, &k) == 201)
			made = true;
		arena_clear(a);
	}
}

void client_found(struct sim *s)
{
	const struct design *d = s->design;
	struct backend *b = backend_local_new(s->api);
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < FOUNDING_ROUNDS * d->entity_count; i++)
		if (d->entities[i % d->entity_count].path.n && has_makers(&d->entities[i % d->entity_count]))
			found_entity(s, b, &a, &d->entities[i % d->entity_count]);
	arena_release(&a);
	backend_free(b);
}

void *client_run(void *arg)
{
	struct sim *s = arg;
	struct backend *b = backend_local_new(s->api);
	struct arena a;

	arena_init(&a);
	while (s->steps_left && !memory_is_dead()) {
		struct asking k;
		bool batch = sim_may(s, SIM_BATCHES) && random_percent(dice(s), 4), drawn = false;

		s->steps_left--;
		if (sim_may(s, SIM_CROWDS) && !random_below(dice(s), 600)) {
			crowd(s, b, &a);
			arena_clear(&a);
		}
		if (sim_may(s, SIM_SESSIONS) && random_percent(dice(s), 5))
			session_login(s, b, &a);
		if (random_percent(dice(s), sim_may(s, SIM_UNFIT) ? 12 : 5))
			raw_write(s, b, &a);
		for (int i = 0; i < DRAWS && !drawn; i++)
			drawn = batch ? draw_batch(s, &a, &k) : draw_request(s, &a, &k);
		if (drawn)
			(void)send(s, b, &k);
		arena_clear(&a);
		idle(s);
	}
	arena_release(&a);
	backend_free(b);
	return NULL;
}

/* ---- an operator ---- */

void operator_control(struct sim *s, struct backend *b, struct arena *a, struct slice name, const char *verb,
		      const char *body)
{
	struct caller me = { .operator_ = true, .subject = SLICE("operator") };
	struct app_request q = { .method = APP_POST, .trusted = &me };
	struct app_reply reply = { 0 };
	struct buf path;

	buf_init(&path, a);
	buf_lit(&path, "/processors/");
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == ' ')
			buf_lit(&path, "%20");
		else
			buf_byte(&path, (uint8_t)name.p[i]);
	buf_printf(&path, "/%s", verb);
	q.path = buf_slice(&path);
	q.body = slice_str(body);
	sim_note(s, "operator: POST %.*s", SLICE_ARG(q.path));
	world_ask(s, b, a, &q, &reply);
	if (reply.status != 200 && !memory_is_dead())
		sim_problem(s, "POST %.*s was answered %d %.*s", SLICE_ARG(q.path), reply.status, SLICE_ARG(reply.body));
}

static void resume_all(struct sim *s, struct backend *b, struct arena *a)
{
	for (size_t i = 0; i < process_reading_count(s->process); i++) {
		struct process_reading r = process_reading(s->process, i);

		if (r.paused)
			operator_control(s, b, a, r.name, "resume", "");
	}
}

/* Whether repeating it would give a different result. */
bool operator_recounts(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->processor_count; i++)
		if (slice_equal(d->processors[i].name, name) &&
		    (d->processors[i].effect == EFFECT_COUNT || d->processors[i].add_count))
			return true;
	return false; /* also the keeper */
}

static void split_shards(struct sim *s)
{
	const char *table = arena_cstr(&s->arena, s->design->table);

	sim_note(s, "the shards of the stream end");
	if (!split_stream_now(s->db, table) && !memory_is_dead())
		sim_problem(s, "the shards of the stream do not end");
}

void *operator_run(void *arg)
{
	struct sim *s = arg;
	struct backend *b = backend_local_new(s->api);
	size_t count = process_reading_count(s->process);
	struct arena a;

	arena_init(&a);
	while (count && s->steps_left && !memory_is_dead()) {
		struct process_reading r = process_reading(s->process, random_below(dice(s), count));

		fiber_sleep((int64_t)random_below(dice(s), 60000));
		if (s->design->stream == STREAM_NONE)
			break; /* no processor is running */
		if (r.scheduled && !r.paused && random_percent(dice(s), 10))
			operator_control(s, b, &a, r.name, "run", "");
		else if (!r.scheduled && sim_may(s, SIM_REPLAYS) &&
			 (sim_may(s, SIM_RECOUNTS) || !operator_recounts(s->design, r.name)) &&
			 random_percent(dice(s), 5))
			operator_control(s, b, &a, r.name, "replay", "{\"from\": \"2026-01-01T00:00:00Z\"}");
		else if (sim_may(s, SIM_SPLITS) && random_percent(dice(s), 5))
			split_shards(s);
		else if (sim_may(s, SIM_PAUSES) && random_percent(dice(s), r.paused ? 70 : 25))
			operator_control(s, b, &a, r.name, r.paused ? "resume" : "pause", "");
		arena_clear(&a);
	}
	if (!memory_is_dead())
		resume_all(s, b, &a);
	arena_release(&a);
	backend_free(b);
	return NULL;
}
