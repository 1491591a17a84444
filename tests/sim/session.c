/* Clients that log in as accounts of the design, and keep using their tokens while the accounts are suspended,
 * deleted and recreated. A session ends with its account: if the account is missing, or may not log in, no request
 * with the token has an effect. SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "value/codec.h"

#define SCAN_MOST 60

static struct run run_of(struct sim *s, struct backend *b, struct arena *a)
{
	struct run r = { .app = s->app, .design = s->design, .backend = b, .arena = a, .now_ms = app_now_ms(s->app) };

	r.caller.operator_ = true;
	return r;
}

static bool has_accounts(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.present)
			return !d->callers.issuer.n;
	return false;
}

/* Its creation time: a recreated account is another one. */
static struct value born(struct run *r, const struct entity *e, struct value account)
{
	struct value full = entity_full(r, e, account);
	struct value_member *m = arena_array(r->arena, struct value_member, e->attribute_count);
	size_t n = 0;

	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].now && value_present(value_get(full, e->attributes[i].name)))
			m[n++] = (struct value_member){ e->attributes[i].name, value_get(full, e->attributes[i].name) };
	return value_make_map(r->arena, m, n);
}

/* Whether the login was this account's: another one may have its name by the time of the reply. */
static bool is_account(struct run *r, const struct entity *e, struct value account, struct slice subject)
{
	struct value v = value_get(entity_full(r, e, account), e->login.subject);

	return value_type(v) == VALUE_S && slice_equal(value_bytes(v), subject);
}

/* ---- logging in ---- */

/* Some account of the table; absent: none. */
static struct value pick_account(struct sim *s, struct run *r)
{
	struct backend_reply reply;
	const struct json *items;
	struct value found = VALUE_ABSENT, item;
	struct error e = { 0 };
	size_t seen = 0;

	backend_call(r->backend, r->arena, "Scan",
		     arena_printf(r->arena, "{\"TableName\":\"%.*s\",\"Limit\":%d}", SLICE_ARG(s->design->table),
				  SCAN_MOST),
		     &reply);
	items = json_get(reply.body, "Items");
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		const struct entity *of;

		if (!item_from_json(r->arena, &items->items[i], &item, &e))
			continue;
		of = entity_of(r, item);
		if (of && of->login.present && !random_below(&s->random, ++seen))
			found = item;
	}
	return found;
}

void session_login(struct sim *s, struct backend *b, struct arena *a)
{
	struct run r = run_of(s, b, a);
	struct app_request q = { .method = APP_POST, .path = SLICE("/login") };
	struct app_reply reply = { 0 };
	const struct json *body, *token, *subject;
	const struct entity *e;
	struct value account, name;
	struct session *x;
	struct buf text;

	if (!has_accounts(s->design) || !value_present(account = pick_account(s, &r)) || memory_is_dead())
		return;
	e = entity_of(&r, account);
	name = value_get(entity_full(&r, e, account), e->login.by[0]);
	if (value_type(name) != VALUE_S)
		return;
	buf_init(&text, a);
	buf_lit(&text, "{\"name\":");
	json_string(&text, value_bytes(name));
	buf_lit(&text, ",\"password\":\"secret-1\"}");
	q.body = buf_slice(&text);
	world_ask(s, b, a, &q, &reply);
	sim_note(s, "%.*s logs in → %d", SLICE_ARG(value_bytes(name)), reply.status);
	if (reply.status != 200 || memory_is_dead())
		return;
	body = json_parse(a, reply.body);
	token = json_get(body, "token");
	subject = json_get(body, "subject");
	if (!json_is(token, JSON_STRING) || !json_is(subject, JSON_STRING) ||
	    !is_account(&r, e, account, subject->string))
		return;
	if (!dyn_get(&r, dyn_key_of(&r, account), true, &account) ||
	    !value_present(account)) /* as at the login, or later */
		return;
	x = &s->sessions[s->session_count < SESSIONS_MOST ? s->session_count++ : random_below(&s->random, SESSIONS_MOST)];
	*x = (struct session){ .entity = e, .subject = arena_copy(&s->arena, subject->string) };
	x->authorization = arena_printf(&s->arena, "Bearer %.*s", SLICE_ARG(token->string));
	x->key = value_copy(&s->arena, dyn_key_of(&r, account));
	x->born = value_copy(&s->arena, born(&r, e, account));
}

bool session_draw(struct sim *s, struct session *out)
{
	if (!s->session_count || !random_percent(&s->random, 25))
		return false;
	*out = s->sessions[random_below(&s->random, s->session_count)];
	return true;
}

/* ---- the session afterwards ---- */

struct session_state session_look(struct sim *s, struct backend *b, struct arena *a, const struct session *x)
{
	struct session_state state = { 0 };
	struct run r = run_of(s, b, a);
	struct value stored;
	struct row full;
	struct scope scope = { .run = &r, .item = &full };

	fiber_set_alone(true);
	if (dyn_get(&r, x->key, true, &stored) && value_present(stored)) {
		state.account = stored;
		state.stands = !entity_expired(&r, stored) && entity_of(&r, stored) == x->entity &&
			       value_equal(born(&r, x->entity, stored), x->born);
		full = entity_lay(&r, x->entity, stored);
		if (state.stands && x->entity->login.when && !scope_holds(&scope, x->entity->login.when, &state.stands))
			state.stands = false;
	}
	fiber_set_alone(false);
	return state;
}

/* Drops ended sessions after a while. */
static void forget(struct sim *s, const struct session *x)
{
	for (size_t i = 0; i < s->session_count; i++)
		if (slice_equal(s->sessions[i].authorization, x->authorization)) {
			s->sessions[i] = s->sessions[--s->session_count];
			return;
		}
}

void session_judge(struct sim *s, const struct session *x, struct session_state before, struct session_state after,
		   int status)
{
	if (status == 401 && (before.stands || random_percent(&s->random, 30)))
		forget(s, x);
	if (before.stands || after.stands || !value_equal(before.account, after.account) || status == 401 ||
	    status >= 500)
		return;
	sim_problem(s, "a request of %.*s was answered %d, though its account is %s", SLICE_ARG(x->subject), status,
		    value_present(before.account) ? "another one, or may not log in" : "not there");
}
