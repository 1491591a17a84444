/* What a design offers: GET /api/<design>; and the caller: /me, /login, /renew, /logout.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/caller.h"
#include "app/db/moved.h"
#include "app/entity/output.h"
#include "app/read/read.h"
#include "app/rest/app_exchange.h"
#include "json/json.h"

/* ---- the index ---- */

static void write_entity(struct buf *b, const struct entity *e)
{
	static const struct {
		enum app_method method;
		enum allow_verb verb;
	} rows[] = { { APP_GET, ALLOW_READ },
		     { APP_PUT, ALLOW_CREATE },
		     { APP_PATCH, ALLOW_UPDATE },
		     { APP_DELETE, ALLOW_DELETE } };

	json_open(b, '{');
	json_member_string(b, "name", e->name);
	json_member_string(b, "path", e->path);
	json_member_string(b, "collection", entity_collection(e));
	json_member_open(b, "methods", '[');
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (e->allow[rows[i].verb] && e->allow[rows[i].verb]->kind != TERM_NEVER)
			json_string(b, slice_str(app_method_name(rows[i].method)));
	json_close(b, ']');
	json_member_open(b, "actions", '[');
	for (size_t i = 0; i < e->action_count; i++)
		json_string(b, e->actions[i].name);
	json_close(b, ']');
	json_close(b, '}');
}

static void write_access(struct buf *b, const struct design *d, const struct access *c)
{
	const struct entity *e = read_entity(d, c);

	json_open(b, '{');
	json_member_string(b, "name", c->name);
	json_member_string(b, "path", c->path);
	json_member_strings(b, "ids", c->ids, c->id_count);
	json_member_open(b, "parameters", '[');
	for (size_t i = 0; i < c->query_param_count; i++)
		json_string(b, c->query_params[i].name);
	json_close(b, ']');
	if (e)
		json_member_string(b, "returns", e->name);
	if (c->operators_only)
		json_member_bool(b, "operators", true);
	json_close(b, '}');
}

struct slice app_index_make(const struct design *d, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_member_string(&b, "design", d->name);
	json_member_string(&b, "title", d->title);
	json_member_string(&b, "table", d->table);
	json_member_open(&b, "entities", '[');
	for (size_t i = 0; i < d->entity_count; i++)
		if (!d->entities[i].internal)
			write_entity(&b, &d->entities[i]);
	json_close(&b, ']');
	json_member_open(&b, "access", '[');
	for (size_t i = 0; i < d->access_count; i++)
		if (d->accesses[i].path.n)
			write_access(&b, d, &d->accesses[i]);
	buf_lit(&b, "]}\n");
	return buf_slice(&b);
}

bool handle_index(struct app_exchange *x)
{
	answer_json(x, 200, x->app->index);
	answer_cacheable(x);
	return true;
}

/* ---- callers ---- */

static void write_claims(struct run *r, struct buf *b)
{
	json_member_open(b, "claims", '{');
	for (size_t i = 0; i < r->caller.claim_count; i++) {
		const struct attribute *a = &r->design->callers.claims[i].attribute;

		if (!value_present(r->caller.claims[i]))
			continue;
		json_name_string(b, a->name);
		output_value(b, r->caller.claims[i]);
	}
	json_close(b, '}');
}

bool handle_me(struct app_exchange *x)
{
	const struct caller *c = &x->run.caller;
	struct buf b;

	if (!c->subject.n && !c->operator_)
		return run_fail(&x->run, PROBLEM_UNAUTHENTICATED, "nobody is logged in");
	buf_init(&b, x->run.arena);
	json_open(&b, '{');
	json_member_string(&b, "subject", c->subject);
	json_member_strings(&b, "roles", c->roles, c->role_count);
	if (c->operator_)
		json_member_bool(&b, "operator", true);
	if (c->claim_count)
		write_claims(&x->run, &b);
	json_close(&b, '}');
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

bool handle_renew(struct app_exchange *x)
{
	struct buf b;

	buf_init(&b, x->run.arena);
	if (!moved_allows(&x->run) || !caller_renew(&x->run, x->body, x->q->idempotency_key, &b))
		return false;
	answer_buf(x, 200, &b);
	x->answer.cache = SLICE("no-store");
	return true;
}

/* A renewal token in the body says whose session it is: the other token may have ended. */
bool handle_logout(struct app_exchange *x)
{
	if (!json_get_present(x->body, "renewal") && !caller_read(&x->run, x->q->authorization))
		return false;
	if (!moved_allows(&x->run) || !caller_logout(&x->run, x->body))
		return false;
	x->answer.status = 204;
	x->answer.type = ANSWER_EMPTY;
	x->answer.cache = SLICE("no-store");
	return true;
}
