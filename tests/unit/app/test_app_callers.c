/* Callers: logins, tokens, operators' calls; and the replies when the database or memory fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"
#include "base/alloc.h"

static void open_notes(struct client *c)
{
	client_open(c, CLIENT_NOTES);
	client_ask(c, APP_POST, "/users",
		   "{\"user\":\"alice\",\"email\":\"alice@example.org\",\"password\":\"long enough\"}");
	client_is(c, 201);
}

static void a_login_gives_a_token_that_is_taken(void **state)
{
	struct client c;
	const struct json *token;

	(void)state;
	open_notes(&c);
	c.authorization = SLICE("Bearer of.an.old-token"); /* does not keep anyone from logging in */
	client_ask(&c, APP_POST, "/login", "{\"user\":\"alice\",\"password\":\"long enough\"}");
	client_is(&c, 200);
	client_header(&c, "Cache-Control: no-store\r\n");
	token = json_get(json_parse(&c.f.arena, c.reply.body), "token");
	c.authorization = arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(token->string));
	client_ask(&c, APP_GET, "/me", NULL);
	client_is(&c, 200);
	client_says(&c, "\"subject\":\"alice\"");
	client_ask(&c, APP_PATCH, "/users/alice", "{\"name\":\"A\"}");
	client_is(&c, 200);
	c.authorization = SLICE("");
	client_ask(&c, APP_GET, "/me", NULL);
	client_is(&c, 401);
	client_close(&c);
}

static void failures_are_refused_and_then_slowed(void **state)
{
	struct client c;
	int tries = 0;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_POST, "/login", "{\"user\":\"alice\",\"password\":\"wrong one\"}");
	client_is(&c, 401);
	client_says(&c, "urn:thorpe:unauthenticated");
	while (c.reply.status == 401 && tries++ < 40)
		client_ask(&c, APP_POST, "/login", "{\"user\":\"alice\",\"password\":\"wrong one\"}");
	client_is(&c, 429);
	client_says(&c, "urn:thorpe:too-many-attempts");
	assert_true(client_value(&c, "Retry-After").n > 0);
	client_close(&c);
}

static void a_bad_token_is_no_caller(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	c.authorization = SLICE("Bearer nonsense");
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 401);
	client_header(&c, "WWW-Authenticate: Bearer\r\n");
	client_ask(&c, APP_GET, "", NULL); /* what is for everyone does not ask */
	client_is(&c, 200);
	client_as(&c, "alice");
	c.now_ms += 2 * 3600 * 1000;
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 401);
	client_close(&c);
}

static void operators_call_patterns_by_name(void **state)
{
	struct client c;
	const struct json *reply, *requests;

	(void)state;
	open_notes(&c);
	client_as(&c, "alice");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\"}");
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"notes of user\",\"with\":{\"user\":\"alice\"}}");
	client_is(&c, 403);
	client_as(&c, NULL);
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"notes of user\"}");
	client_is(&c, 401);
	client_as(&c, "!");
	client_ask(&c, APP_POST, "/call",
		   "{\"pattern\":\"notes of user\",\"with\":{\"user\":\"alice\",\"limit\":5},"
		   "\"explain\":true}");
	client_is(&c, 200);
	reply = json_parse(&c.f.arena, c.reply.body);
	assert_int_equal(json_get(json_get(reply, "result"), "items")->count, 1);
	requests = json_get(reply, "requests");
	assert_true(requests->count >= 1);
	assert_true(slice_is(json_get(&requests->items[0], "operation")->string, "Query"));
	assert_true(json_is(json_get(&requests->items[0], "request"), JSON_OBJECT));
	client_ask(&c, APP_POST, "/call",
		   "{\"pattern\":\"N-1\",\"with\":{\"user\":\"alice\"},"
		   "\"as\":{\"subject\":\"bob\",\"roles\":[]}}");
	client_is(&c, 200);
	assert_int_equal(json_get(json_get(json_parse(&c.f.arena, c.reply.body), "result"), "items")->count, 0);
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"get User\",\"with\":{\"user\":\"alice\"}}");
	client_is(&c, 200);
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"some users\",\"with\":{\"id\":[\"alice\",\"bob\"]}}");
	client_is(&c, 200);
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"notes of users\"}");
	client_is(&c, 404);
	client_says(&c, "did you mean 'notes of user'?");
	client_ask(&c, APP_POST, "/call", "{\"pattern\":\"notes of user\",\"with\":{\"usr\":\"alice\"}}");
	client_is(&c, 422);
	client_close(&c);
}

/* ---- a database that fails ---- */
struct broken {
	struct backend backend;
	const char *error;
	int status;
};

static void fail_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		      struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct broken *x = (struct broken *)b;

	(void)a;
	(void)operation;
	(void)body;
	*reply = (struct backend_reply){ .status = x->status,
					 .body = &empty,
					 .error = slice_str(x->error),
					 .message = SLICE("secret words of the database") };
}

static void a_failing_database_is_reported_without_its_message(void **state)
{
	struct broken busy = { { fail_call }, "ThrottlingException", 400 };
	struct broken broken = { { fail_call }, "InternalServerError", 500 };
	struct backend *good;
	struct client c;

	(void)state;
	open_notes(&c);
	good = c.f.backend;
	c.f.backend = &busy.backend;
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 503);
	client_says(&c, "urn:thorpe:busy");
	assert_true(client_value(&c, "Retry-After").n > 0);
	c.f.backend = &broken.backend;
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 500);
	client_says(&c, "urn:thorpe:internal");
	assert_false(client_has(c.reply.body, "secret words"));
	c.f.backend = good;
	client_close(&c);
}

static void an_app_without_memory_is_none(void **state)
{
	struct app_options o = { 0 };
	struct app *app = NULL;
	struct client c;

	(void)state;
	open_notes(&c);
	o.design = c.f.design;
	for (long n = 0; !app; n++) {
		alloc_fail_after(n);
		app = app_new(&o);
		alloc_fail_never();
		assert_true(n < 1000);
	}
	app_free(app);
	client_close(&c);
}

static void memory_that_runs_out_in_a_request_harms_nothing(void **state)
{
	volatile bool done = false;
	struct client c;

	(void)state;
	open_notes(&c);
	client_as(&c, "alice");
	for (volatile long n = 0; !done; n++) {
		struct app_request q = { .method = APP_POST,
					 .path = SLICE("/users/alice/notes"),
					 .idempotency_key = SLICE("k"),
					 .body = SLICE("{\"title\":\"x\"}"),
					 .authorization = c.authorization };
		struct app_reply reply;
		struct arena a;

		arena_init(&a);
		alloc_fail_after(n);
		ARENA_TRY(&a, {
			app_handle(c.app, c.f.backend, &a, &q, &reply);
			done = reply.status == 201 || reply.status == 409; /* 409: it was done, and the answer got lost */
		}, {
			done = false;
		});
		alloc_fail_never();
		arena_release(&a);
		assert_true(n < 5000);
	}
	client_ask(&c, APP_GET, "/users/alice/notes", NULL);
	client_is(&c, 200);
	assert_int_equal(json_get(json_parse(&c.f.arena, c.reply.body), "items")->count, 1); /* once */
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_login_gives_a_token_that_is_taken),
		cmocka_unit_test(failures_are_refused_and_then_slowed),
		cmocka_unit_test(a_bad_token_is_no_caller),
		cmocka_unit_test(operators_call_patterns_by_name),
		cmocka_unit_test(a_failing_database_is_reported_without_its_message),
		cmocka_unit_test(an_app_without_memory_is_none),
		cmocka_unit_test(memory_that_runs_out_in_a_request_harms_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
