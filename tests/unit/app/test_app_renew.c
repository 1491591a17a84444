/* Sessions that are renewed: for how long, how often, and what ends them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app_client.h"
#include "app/auth/caller_internal.h"
#include "app/auth/sessions.h"
#include "app/db/dyn.h"
#include "base/clock.h"
#include "value/codec.h"

/* bcrypt of "correct horse" and "battery staple", cheap ones. */
#define HORSE  "$2b$04$Yk4vQI7bEsi.9qUvP56MPeTnol6T0gVUJEjJtEECxGWnz3cKh47Dm"
#define STAPLE "$2a$04$YLwXbz5k9I7v2KwNpzFj6uFw71jHxvbjliE4U3XTCqHmJV28T9Fsi"
#define MINUTE (60 * INT64_C(1000))
#define DAY    (24 * 60 * MINUTE)

#define ACCOUNTS                                                                                                   \
	"callers: {roles: [user, admin]}\n"                                                                        \
	"entities:\n"                                                                                              \
	"  User:\n"                                                                                                \
	"    path: /users/<name>\n"                                                                                \
	"    attributes: {name: 'string, required', role: 'user | admin, default user', hash: 'string, hidden'}\n" \
	"    keys: {PK: USER#<name>, SK: PROFILE}\n"                                                               \
	"    login: {by: name, password: hash, subject: name, role: role, session: 2 days, token: 10 min}\n"       \
	"    allow: {create, read: anyone, update, delete: name = caller}\n"                                       \
	"  Staff:\n"                                                                                               \
	"    path: /staff/<house>/<nick>\n"                                                                        \
	"    attributes: {house: string, nick: string, hash: 'string, hidden'}\n"                                  \
	"    keys: {PK: STAFF#<house>, SK: <nick>}\n"                                                              \
	"    login: {by: nick, password: hash, subject: nick}\n"                                                   \
	"    allow: {read: anyone}\n"                                                                              \
	"access:\n"                                                                                                \
	"  staff of nick: {query: GSI1, where: {GSI1PK: <nick>}}\n"

static struct client c;

static void put_user(const char *name, const char *hash)
{
	struct run r = {
		.app = c.app, .design = c.f.design, .backend = c.f.backend, .arena = &c.f.arena, .now_ms = c.now_ms
	};
	struct dyn_write w = { .kind = DYN_PUT };
	struct dyn_refusal refusal;
	struct error e = { 0 };
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"PK\":{\"S\":\"USER#%s\"},\"SK\":{\"S\":\"PROFILE\"},\"name\":{\"S\":\"%s\"},\"hash\":{\"S\":\"%s\"}}",
		 name, name, hash);
	assert_true(item_from_json(&c.f.arena, json_parse(&c.f.arena, slice_str(text)), &w.item, &e));
	assert_int_equal(dyn_write(&r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static int setup(void **state)
{
	(void)state;
	client_open(&c, ACCOUNTS);
	c.now_ms = clock_now_ms(&clock_system); /* the database removes what has expired by that clock */
	put_user("ann", HORSE);
	put_user("bob", HORSE);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	client_close(&c);
	return 0;
}

struct pair {
	struct slice token, renewal; /* the Authorization header; the renewal token */
};

static struct slice member(const char *name)
{
	return json_get_text(json_parse(&c.f.arena, c.reply.body), name);
}

static struct pair reply_pair(void)
{
	client_is(&c, 200);
	return (struct pair){ arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(member("token"))), member("renewal") };
}

static struct pair log_in(const char *name, const char *password)
{
	char body[256];

	c.authorization = SLICE("");
	snprintf(body, sizeof(body), "{\"name\":\"%s\",\"password\":\"%s\"}", name, password);
	client_ask(&c, APP_POST, "/login", body);
	return reply_pair();
}

static int renew(struct slice renewal, const char *key)
{
	struct slice body = arena_printf(&c.f.arena, "{\"renewal\":\"%.*s\"}%c", SLICE_ARG(renewal), 0);

	c.authorization = SLICE("");
	c.q.idempotency_key = key ? slice_str(key) : SLICE("");
	client_ask(&c, APP_POST, "/renew", body.p);
	return c.reply.status;
}

static int me(struct pair p)
{
	c.authorization = p.token;
	client_ask(&c, APP_GET, "/me", NULL);
	return c.reply.status;
}

static int log_out(struct slice token, const char *body)
{
	c.authorization = token;
	client_ask(&c, APP_POST, "/logout", body);
	return c.reply.status;
}

static void a_token_ends_after_its_minutes_and_a_session_goes_on_by_renewal(void **state)
{
	struct pair p = log_in("ann", "correct horse");

	(void)state;
	client_says(&c, "\"expires_in\":600");
	client_says(&c, "\"renewal_expires_in\":172800");
	for (int i = 0; i < 4; i++) { /* each renewal begins the two days again */
		assert_int_equal(me(p), 200);
		c.now_ms += DAY;
		assert_int_equal(me(p), 401);
		assert_int_equal(renew(p.renewal, NULL), 200);
		p = reply_pair();
	}
	assert_int_equal(me(p), 200);
	c.now_ms += 2 * DAY;
	assert_int_equal(renew(p.renewal, NULL), 401);
	client_says(&c, "log in again");
}

/* ---- a login that is overtaken ---- */

static void (*real_execute)(struct backend *, struct arena *, const struct request *, struct reply *);
static struct pair newer;

/* Before a login reads the list of sessions, the password changes, and another login has the new one. */
static void change_then_get(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct app_request other = { .method = APP_POST, .path = SLICE("/login"), .base = SLICE("/api/test") };
	struct app_reply its;
	const struct json *body;

	if (q->kind == REQUEST_GET && slice_starts(value_bytes(value_get(q->get.key, SLICE("PK"))), SLICE("SESSIONS#"))) {
		b->execute = real_execute;
		put_user("ann", STAPLE);
		c.now_ms++;
		other.body = SLICE("{\"name\":\"ann\",\"password\":\"battery staple\"}");
		app_handle(c.app, b, a, &other, &its);
		assert_int_equal(its.status, 200);
		body = json_parse(a, its.body);
		newer = (struct pair){ arena_printf(a, "Bearer %.*s", SLICE_ARG(json_get_text(body, "token"))),
				       json_get_text(body, "renewal") };
	}
	real_execute(b, a, q, reply);
}

static void a_login_begun_before_a_change_of_the_password_has_no_session_and_ends_none(void **state)
{
	struct pair older;

	(void)state;
	real_execute = c.f.backend->execute;
	c.f.backend->execute = change_then_get;
	older = log_in("ann", "correct horse");
	assert_ptr_equal(c.f.backend->execute, real_execute);
	assert_int_equal(me(older), 401);
	assert_int_equal(renew(older.renewal, NULL), 401);
	assert_int_equal(me(newer), 200);
	assert_int_equal(renew(newer.renewal, NULL), 200);
}

static void a_token_whose_session_has_ended_is_refused_however_long_it_would_be_valid(void **state)
{
	struct pair p = log_in("ann", "correct horse"), q = log_in("ann", "correct horse");

	(void)state;
	assert_int_equal(me(p), 200); /* known from now on */
	assert_int_equal(log_out(p.token, NULL), 204);
	assert_int_equal(me(p), 401);
	assert_int_equal(renew(p.renewal, NULL), 401);
	assert_int_equal(me(q), 200);
	assert_int_equal(log_out(q.token, "{\"everywhere\":true}"), 204);
	assert_int_equal(me(q), 401);
	assert_int_equal(log_out(q.token, NULL), 401);
}

/* As with a remote table: the process does not see all writes. */
static void a_backend_without_versions_reads_the_session_each_time(void **state)
{
	uint64_t (*version)(struct backend *, struct arena *, struct slice, struct value) = c.f.backend->version;

	c.f.backend->version = NULL;
	a_token_whose_session_has_ended_is_refused_however_long_it_would_be_valid(state);
	c.f.backend->version = version;
}

static void a_renewal_token_is_good_once(void **state)
{
	struct pair first = log_in("ann", "correct horse"), second, bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(renew(first.renewal, NULL), 200);
	second = reply_pair();
	assert_int_equal(renew(second.renewal, NULL), 200);
	second = reply_pair();
	assert_int_equal(renew(first.renewal, NULL), 401); /* two renewals later */
	client_says(&c, "used before");
	assert_int_equal(me(second), 401);
	assert_int_equal(renew(second.renewal, NULL), 401);
	assert_int_equal(me(bob), 200);
}

static void the_same_key_repeats_a_renewal_for_ten_minutes(void **state)
{
	struct pair p = log_in("ann", "correct horse"), q;

	(void)state;
	assert_int_equal(renew(p.renewal, "k"), 200);
	assert_int_equal(renew(p.renewal, "k"), 200);
	q = reply_pair();
	assert_int_equal(renew(q.renewal, "k"), 200); /* the key belongs to the token it was used with */
	assert_int_equal(renew(q.renewal, "k"), 200);
	q = reply_pair();
	assert_int_equal(renew(q.renewal, "l"), 200);
	c.now_ms += 10 * MINUTE;
	assert_int_equal(renew(q.renewal, "l"), 401);
	p = log_in("ann", "correct horse");
	assert_int_equal(renew(p.renewal, "k"), 200);
	assert_int_equal(renew(p.renewal, "l"), 401); /* another key */
	p = log_in("ann", "correct horse");
	assert_int_equal(renew(p.renewal, NULL), 200);
	assert_int_equal(renew(p.renewal, NULL), 401); /* none */
}

static void (*real_execute)(struct backend *, struct arena *, const struct request *, struct reply *);
static struct slice other;
static struct slice other_body;

/* Another renewal with the same token comes between this one's read and its write. */
static void overtake(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct app_request ask = { .method = APP_POST, .path = SLICE("/renew"), .base = SLICE("/api/x") };
	struct app_reply overtaken = { 0 };

	if (q->kind == REQUEST_WRITE) {
		b->execute = real_execute;
		ask.body = other_body;
		app_handle(c.app, b, &c.f.arena, &ask, &overtaken);
		assert_int_equal(overtaken.status, 200);
		other = json_get_text(json_parse(&c.f.arena, overtaken.body), "renewal");
	}
	real_execute(b, a, q, reply);
}

static void of_two_renewals_at_once_one_wins_and_the_session_ends(void **state)
{
	struct pair p = log_in("ann", "correct horse");

	(void)state;
	other_body = arena_printf(&c.f.arena, "{\"renewal\":\"%.*s\"}", SLICE_ARG(p.renewal));
	real_execute = c.f.backend->execute;
	c.f.backend->execute = overtake;
	assert_int_equal(renew(p.renewal, NULL), 401);
	assert_ptr_equal(c.f.backend->execute, real_execute);
	assert_int_equal(renew(other, NULL), 401);
}

/* A logout comes between the read and the write of a renewal. */
static void log_out_first(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct app_request ask = { .method = APP_POST, .path = SLICE("/logout") };
	struct app_reply done = { 0 };

	if (q->kind == REQUEST_WRITE) {
		b->execute = real_execute;
		ask.body = arena_printf(&c.f.arena, "{\"everywhere\":true,\"renewal\":\"%.*s\"}", SLICE_ARG(other));
		app_handle(c.app, b, &c.f.arena, &ask, &done);
		assert_int_equal(done.status, 204);
	}
	real_execute(b, a, q, reply);
}

static void a_logout_during_a_renewal_wins(void **state)
{
	struct pair p = log_in("ann", "correct horse");

	(void)state;
	other = p.renewal;
	real_execute = c.f.backend->execute;
	c.f.backend->execute = log_out_first;
	assert_int_equal(renew(p.renewal, NULL), 401);
	assert_int_equal(me(p), 401);
}

static void a_new_password_ends_what_could_be_renewed(void **state)
{
	struct pair p = log_in("ann", "correct horse");

	(void)state;
	put_user("ann", STAPLE);
	assert_int_equal(renew(p.renewal, NULL), 401);
	assert_int_equal(me(p), 401);
	put_user("ann", HORSE); /* an operator takes it back: the session was not lost by asking */
	assert_int_equal(renew(p.renewal, NULL), 200);
	put_user("ann", STAPLE);
	log_in("ann", "battery staple");
	put_user("ann", HORSE);
	assert_int_equal(renew(p.renewal, NULL), 401); /* a login with the new password swept it */
}

/* Signed with the right key, but not what a renewal token has. */
static void a_forged_renewal_token_harms_nobody(void **state)
{
	static const char *const claims[] = {
		"{}",
		"{\"iss\":\"thorpe\",\"aud\":\"other\",\"sub\":\"ann\",\"acc\":\"User:\",\"exp\":99999999999,\"n\":1}",
		"{\"iss\":\"thorpe\",\"aud\":\"%s\",\"sub\":\"ann\",\"acc\":\"User:\",\"n\":1}",
		"{\"iss\":\"thorpe\",\"aud\":\"%s\",\"sub\":\"ann\",\"acc\":\"Nobody:\",\"exp\":99999999999,\"n\":1}",
		"{\"iss\":\"thorpe\",\"aud\":\"%s\",\"sub\":\"ann\",\"acc\":\"Staff:\",\"exp\":99999999999,\"n\":1}",
		"{\"iss\":\"thorpe\",\"aud\":\"%s\",\"sub\":\"ann\",\"acc\":\"User:\",\"exp\":99999999999,\"n\":1}",
		"{\"iss\":\"thorpe\",\"aud\":\"%s\",\"sub\":7,\"acc\":8,\"sid\":9,\"exp\":99999999999,\"n\":\"1\"}",
	};
	struct pair p = log_in("ann", "correct horse");
	uint8_t secret[CALLER_SECRET_BYTES], key[JWT_KEY_BYTES], token_key[JWT_KEY_BYTES];
	char name[64];

	(void)state;
	memset(secret, 9, sizeof(secret));
	snprintf(name, sizeof(name), "%.*s", SLICE_ARG(c.f.design->name));
	assert_true(caller_renewal_key(c.f.design->name, secret, key));
	assert_true(caller_token_key(c.f.design->name, secret, token_key));
	assert_memory_not_equal(key, token_key, sizeof(key));
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		char text[256];
		const char *at = strstr(claims[i], "%s");

		snprintf(text, sizeof(text), "%.*s%s%s", at ? (int)(at - claims[i]) : (int)strlen(claims[i]), claims[i],
			 at ? name : "", at ? at + 2 : "");
		assert_int_equal(renew(jwt_make(&c.f.arena, slice_str(text), key), NULL), 401);
		assert_int_equal(renew(jwt_make(&c.f.arena, slice_str(text), token_key), NULL), 401);
	}
	assert_int_equal(renew(p.renewal, NULL), 200);
	assert_int_equal(renew(SLICE("a.b"), NULL), 401);
	assert_int_equal(log_out(SLICE(""), "{\"renewal\":\"a.b\"}"), 401);
	client_ask(&c, APP_POST, "/renew", "{\"renewal\":7}");
	client_is(&c, 422);
	client_ask(&c, APP_POST, "/renew", "{}");
	client_is(&c, 422);
}

/* From before the design had sessions: one could not end it. */
static void a_token_without_a_session_is_refused_where_sessions_are_renewed(void **state)
{
	struct pair p = log_in("ann", "correct horse");
	struct jwt t;
	struct token_request q = { .subject = SLICE("ann"), .now_ms = c.now_ms, .seconds = 60 };
	uint8_t secret[CALLER_SECRET_BYTES];
	struct pair made;

	(void)state;
	memset(secret, 9, sizeof(secret));
	assert_true(jwt_parse(&c.f.arena, slice_make(p.token.p + 7, p.token.n - 7), &t));
	q.account = json_get_text(t.claims, "acc");
	q.stamp = json_get_text(t.claims, "ses");
	made.token = arena_printf(&c.f.arena, "Bearer %.*s",
				  SLICE_ARG(caller_token(&c.f.arena, c.f.design->name, secret, &q)));
	assert_int_equal(me(made), 401);
	q.session = json_get_text(t.claims, "sid");
	made.token = arena_printf(&c.f.arena, "Bearer %.*s",
				  SLICE_ARG(caller_token(&c.f.arena, c.f.design->name, secret, &q)));
	assert_int_equal(me(made), 200);
}

static void the_oldest_of_too_many_sessions_goes(void **state)
{
	struct pair p[SESSIONS_MOST + 2];

	(void)state;
	for (size_t i = 0; i < SESSIONS_MOST; i++) {
		p[i] = log_in("ann", "correct horse");
		c.now_ms += 1000;
	}
	assert_int_equal(renew(p[0].renewal, NULL), 200); /* now the youngest */
	p[0] = reply_pair();
	p[SESSIONS_MOST] = log_in("ann", "correct horse");
	assert_int_equal(me(p[1]), 401);
	assert_int_equal(me(p[0]), 200);
	assert_int_equal(me(p[SESSIONS_MOST]), 200);
	c.now_ms += 3 * DAY; /* all have expired */
	p[0] = log_in("ann", "correct horse");
	assert_int_equal(me(p[0]), 200);
}

static void without_sessions_there_are_no_such_addresses(void **state)
{
	(void)state;
	client_open(&c, "entities:\n"
			"  User:\n"
			"    path: /users/<name>\n"
			"    attributes: {name: string, hash: 'string, hidden'}\n"
			"    keys: {PK: USER#<name>, SK: PROFILE}\n"
			"    login: {by: name, password: hash, subject: name, token: 2 min}\n"
			"    allow: {read: anyone}\n");
	put_user("ann", HORSE);
	assert_int_equal(log_in("ann", "correct horse").renewal.n, 0);
	client_says(&c, "\"expires_in\":120");
	assert_int_equal(renew(SLICE("x"), NULL), 404);
	assert_int_equal(log_out(SLICE(""), NULL), 404);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(a_token_ends_after_its_minutes_and_a_session_goes_on_by_renewal),
		T(a_login_begun_before_a_change_of_the_password_has_no_session_and_ends_none),
		T(a_token_whose_session_has_ended_is_refused_however_long_it_would_be_valid),
		T(a_backend_without_versions_reads_the_session_each_time),
		T(a_renewal_token_is_good_once),
		T(the_same_key_repeats_a_renewal_for_ten_minutes),
		T(of_two_renewals_at_once_one_wins_and_the_session_ends),
		T(a_logout_during_a_renewal_wins),
		T(a_new_password_ends_what_could_be_renewed),
		T(a_forged_renewal_token_harms_nobody),
		T(a_token_without_a_session_is_refused_where_sessions_are_renewed),
		T(the_oldest_of_too_many_sessions_goes),
		cmocka_unit_test(without_sessions_there_are_no_such_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
