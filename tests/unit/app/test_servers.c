/* Several servers on one table at an address: what they share holds as it would at one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app_client.h"
#include "app/auth/caller_internal.h"
#include "app/db/rehearse.h"
#include "base/alloc.h"
#include "base/log.h"

/* bcrypt of "correct horse", a cheap one. */
#define HORSE    "$2b$04$Yk4vQI7bEsi.9qUvP56MPeTnol6T0gVUJEjJtEECxGWnz3cKh47Dm"
#define MINUTE   60000
#define PATIENCE 10000 /* with a single write of a server that seems to be gone */
#define HOME     "192.0.2.7"
#define OFFICE   "198.51.100.9"

static const char design[] =
	"callers: {roles: [user, admin]}\n"
	"entities:\n"
	"  User:\n"
	"    path: /users/<name>\n"
	"    attributes:\n"
	"      name: string, required, lower\n"
	"      role: user | admin, default user, managed\n"
	"      status: active | suspended, default active, managed\n"
	"      notes_count: counter\n"
	"      hash: string, hidden\n"
	"    keys: {PK: USER#<name>, SK: PROFILE}\n"
	"    login: {by: name, password: hash, subject: name, role: role, when: status = 'active'}\n"
	"    allow: {create, read: anyone, update, delete: name = caller or caller is admin}\n"
	"    actions:\n"
	"      demote: {allow: caller is admin, set: {role: user}}\n"
	"      suspend: {allow: caller is admin, set: {status: suspended}}\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes:\n"
	"      id: string, id\n"
	"      owner: string, the caller\n"
	"      text: text 0..380000\n"
	"      views: counter\n"
	"      created_at: timestamp, now\n"
	"    keys: {PK: NOTE#<id>, SK: NOTE, GSI1PK: NOTES, GSI1SK: '<views:06>'}\n"
	"    requires: [User(owner)]\n"
	"    counts: [User(owner).notes_count]\n"
	"    allow: {create: caller is user or caller is admin, read: anyone, update, delete: owner = caller}\n"
	"    actions:\n"
	"      view: {allow: anyone, add: {views: 1}, gather: 60 s}\n";

#define SERVERS 3

static struct server { /* documents only, and counted */
	struct backend backend;
	struct app *app;
	unsigned batches, gets, writes;
	const char *fails;       /* the operation that is not done */
	const char *fails_after; /* the operation that is done nevertheless */
	const char *error;       /* of both */
	int dies_at;             /* the write before which the server is gone; 0: it lives */
	int meddled_at;          /* the write before which meddle() is called; 0: none, -1: each */
	void (*meddle)(void);
	const char *operation; /* the last write */
	struct slice body;
} servers[SERVERS];

static struct client c; /* of the table */
static int64_t now_ms;
static struct slice key; /* Idempotency-Key of the next request */
static const char *from; /* its address */
static struct app_reply reply;

/* ---- servers ---- */

static void refuse(const struct server *s, struct backend_reply *r)
{
	static const struct json empty = { .type = JSON_OBJECT };

	*r = (struct backend_reply){ .status = 500, .body = &empty, .error = slice_str(s->error), .message = SLICE("no") };
}

static void far_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *r)
{
	struct server *s = (struct server *)b;
	bool reads = !strcmp(operation, "GetItem") || !strcmp(operation, "BatchGetItem") || !strcmp(operation, "Query");

	s->batches += !strcmp(operation, "BatchGetItem");
	s->gets += !strcmp(operation, "GetItem");
	s->writes += !reads;
	if (!reads) {
		s->operation = operation;
		s->body = body;
	}
	if (!reads && (s->meddled_at < 0 || (s->meddled_at && !--s->meddled_at)))
		s->meddle();
	if (!reads && s->dies_at && !--s->dies_at)
		arena_out_of_memory(a);
	if (s->fails && !strcmp(operation, s->fails)) {
		refuse(s, r);
		return;
	}
	backend_call(c.f.backend, a, operation, body, r);
	if (s->fails_after && !strcmp(operation, s->fails_after) && r->status == 200)
		refuse(s, r);
}

static void far_free(struct backend *b)
{
	(void)b;
}

static struct backend *far_open(struct database *d)
{
	(void)d;
	return NULL;
}

static uint64_t far_latest(struct database *d)
{
	(void)d;
	return 0;
}

static int64_t clock_now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static struct database far = { .open = far_open, .latest = far_latest, .is_remote = true };
static struct clock steady = { .now_ms = clock_now };

static void raw(const char *operation, const char *body)
{
	struct backend_reply r;

	backend_call(c.f.backend, &c.f.arena, operation, slice_str(body), &r);
	if (r.status != 200)
		fail_msg("%.*s", SLICE_ARG(r.message));
}

static void put_user(const char *name, const char *role)
{
	raw("PutItem",
	    arena_printf(&c.f.arena,
			 "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"USER#%s\"},\"SK\":{\"S\":\"PROFILE\"},"
			 "\"name\":{\"S\":\"%s\"},\"role\":{\"S\":\"%s\"},\"status\":{\"S\":\"active\"},\"hash\":{\"S\":\"" HORSE
			 "\"}}}",
			 name, name, role)
		    .p);
}

static int setup(void **state)
{
	struct app_options o = { .clock = &steady, .database = &far };
	struct error e = { 0 };

	(void)state;
	now_ms = APP_FIXTURE_NOW;
	key = SLICE("");
	from = HOME;
	memset(&servers, 0, sizeof(servers));
	client_open_with(&c, design, &(struct db_options){ .clock = &steady });
	assert_true(provision_beside(c.f.backend, c.f.design, &c.f.arena, &e));
	put_user("ann", "admin");
	put_user("bob", "user");
	o.design = c.f.design;
	memset(o.secret, 9, sizeof(o.secret));
	for (int i = 0; i < SERVERS; i++) {
		servers[i].backend = (struct backend){ .call = far_call, .free = far_free };
		servers[i].app = app_new(&o);
		servers[i].error = "OutcomeUnknown";
		assert_non_null(servers[i].app);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_clear(&c.f.arena);
	for (int i = 0; i < SERVERS; i++)
		app_free(servers[i].app);
	app_free(c.app);
	app_fixture_close(&c.f);
	return 0;
}

/* ---- requests ---- */

static int ask(int server, struct slice who, enum app_method m, const char *path, const char *body)
{
	struct app_request q = { .method = m,
				 .path = slice_str(path),
				 .body = slice_str(body ? body : ""),
				 .authorization = who,
				 .base = SLICE("/api/test"),
				 .client = slice_str(from),
				 .idempotency_key = key };
	struct server *s = &servers[server];

	s->batches = s->gets = s->writes = 0;
	memset(&reply, 0, sizeof(reply));
	app_handle(s->app, &s->backend, &c.f.arena, &q, &reply);
	key = SLICE("");
	return reply.status;
}

static void says(const char *text)
{
	if (!client_has(reply.body, text) && !client_has(reply.headers, text))
		fail_msg("%s is not in %.*s %.*s", text, SLICE_ARG(reply.headers), SLICE_ARG(reply.body));
}

static int try_login(int server, const char *name, const char *password)
{
	return ask(server, SLICE(""), APP_POST, "/login",
		   arena_printf(&c.f.arena, "{\"name\":\"%s\",\"password\":\"%s\"}", name, password).p);
}

static struct slice log_in(int server, const char *name)
{
	const struct json *body;

	assert_int_equal(try_login(server, name, "correct horse"), 200);
	body = json_parse(&c.f.arena, reply.body);
	return arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(json_get(body, "token")->string));
}

static int post_note(int server, struct slice who, const char *with_key)
{
	key = slice_str(with_key);
	return ask(server, who, APP_POST, "/notes", "{\"text\":\"hello\"}");
}

static void notes_of(const char *user, const char *count)
{
	assert_int_equal(ask(2, SLICE(""), APP_GET, arena_printf(&c.f.arena, "/users/%s", user).p, NULL), 200);
	says(arena_printf(&c.f.arena, "\"notes_count\":%s", count).p);
}

static const struct json *beside(void)
{
	struct backend_reply r;

	backend_call(c.f.backend, &c.f.arena, "Scan", SLICE("{\"TableName\":\"Test.thorpe\"}"), &r);
	assert_int_equal(r.status, 200);
	return json_get(r.body, "Items");
}

static size_t count_beside(const char *prefix)
{
	const struct json *items = beside();
	size_t n = 0;

	for (size_t i = 0; i < items->count; i++)
		n += slice_starts(json_get(json_get(&items->items[i], "PK"), "S")->string, slice_str(prefix));
	return n;
}

/* ---- Idempotency-Key ---- */

static void a_request_is_done_once_whichever_server_is_asked(void **state)
{
	struct slice bob = log_in(0, "bob"), first;

	(void)state;
	assert_int_equal(post_note(0, bob, "k"), 201);
	first = arena_copy(&c.f.arena, reply.body);
	says("Location: /api/test/notes/");
	assert_false(client_has(reply.headers, "Idempotency-Replayed"));
	for (int i = 0; i < SERVERS; i++) {
		assert_int_equal(post_note(i, bob, "k"), 201);
		assert_true(slice_equal(reply.body, first));
		says("Location: /api/test/notes/");
		says("ETag: ");
		says("Idempotency-Replayed: true");
	}
	notes_of("bob", "1");
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_POST, "/notes", "{\"text\":\"another\"}"), 422);
	says("used for another request");
	assert_int_equal(post_note(1, log_in(1, "ann"), "k"), 201); /* someone else's key */
	assert_int_equal(post_note(1, bob, "k2"), 201);
	notes_of("bob", "2");
}

static int met;
static struct slice who;

static void ask_the_second_server(void)
{
	met = post_note(1, who, "k");
}

static void while_the_first_is_being_done_the_others_wait(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	servers[0].meddle = ask_the_second_server;
	servers[0].meddled_at = 2; /* the note; the first is the key */
	assert_int_equal(post_note(0, who, "k"), 201);
	assert_int_equal(met, 409);
	assert_int_equal(post_note(1, who, "k"), 201);
	notes_of("bob", "1");
}

static void of_two_that_begin_at_once_one_goes_on(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	servers[0].meddle = ask_the_second_server;
	servers[0].meddled_at = 1; /* the key */
	assert_int_equal(post_note(0, who, "k"), 201);
	says("Idempotency-Replayed: true");
	assert_int_equal(met, 201);
	notes_of("bob", "1");
}

/* The server is gone before its nth write. */
static void die(int server, int at, struct slice caller, const char *with_key)
{
	volatile bool died = false;

	servers[server].dies_at = at;
	ARENA_TRY(&c.f.arena, { (void)post_note(server, caller, with_key); }, { died = true; });
	assert_true(died);
	key = SLICE("");
}

static void delete_and_die(int server, int at, struct slice caller, const char *path)
{
	volatile bool died = false;

	servers[server].dies_at = at;
	key = SLICE("k");
	ARENA_TRY(&c.f.arena, { (void)ask(server, caller, APP_DELETE, path, NULL); }, { died = true; });
	assert_true(died);
	key = SLICE("");
}

static void work_begun_by_a_dead_server_is_taken_over(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	die(0, 2, bob, "k");
	assert_int_equal(post_note(1, bob, "k"), 409);
	says("Retry-After: 1");
	now_ms += PATIENCE - 1;
	assert_int_equal(post_note(1, bob, "k"), 409);
	now_ms += 1;
	assert_int_equal(post_note(1, bob, "k"), 201);
	assert_int_equal(post_note(2, bob, "k"), 201);
	says("Idempotency-Replayed: true");
	notes_of("bob", "1");
}

static void a_batch_of_a_dead_server_is_taken_over_after_a_minute(void **state)
{
	static const char batch[] =
		"{\"requests\":[{\"method\":\"POST\",\"path\":\"/notes\",\"body\":{\"text\":\"one\"}}]}";
	struct slice bob = log_in(0, "bob");
	volatile bool died = false;

	(void)state;
	servers[0].dies_at = 2;
	key = SLICE("k");
	ARENA_TRY(&c.f.arena, { (void)ask(0, bob, APP_POST, "/batch", batch); }, { died = true; });
	assert_true(died);
	now_ms += MINUTE - 1; /* it may take long, and has no receipt */
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_POST, "/batch", batch), 409);
	now_ms += 1;
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_POST, "/batch", batch), 200);
	notes_of("bob", "1");
}

static void a_dead_servers_write_is_not_repeated(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	die(0, 3, bob, "k"); /* the note is there, and its answer is not */
	for (int i = 0; i < 2; i++, now_ms += MINUTE) {
		assert_int_equal(post_note(1, bob, "k"), 201);
		says("\"text\":\"hello\"");
		says("Location: /api/test/notes/");
		says("Idempotency-Replayed: true");
	}
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_POST, "/notes", "{\"text\":\"another\"}"), 422);
	notes_of("bob", "1");
}

/* ---- a database that does not say whether it was done ---- */

static void a_write_whose_outcome_gets_lost_is_answered_if_it_was_done(void **state)
{
	struct slice bob = log_in(0, "bob"), note;
	const char *path;

	(void)state;
	servers[0].fails_after = "TransactWriteItems";
	assert_int_equal(post_note(0, bob, "k"), 201);
	says("\"text\":\"hello\"");
	note = arena_copy(&c.f.arena, json_get(json_parse(&c.f.arena, reply.body), "id")->string);
	path = arena_printf(&c.f.arena, "/notes/%.*s", SLICE_ARG(note)).p;
	key = SLICE("patch");
	assert_int_equal(ask(0, bob, APP_PATCH, path, "{\"text\":\"changed\"}"), 200);
	says("\"text\":\"changed\"");
	key = SLICE("delete");
	assert_int_equal(ask(0, bob, APP_DELETE, path, NULL), 204);
	servers[0].fails_after = NULL;
	assert_int_equal(post_note(1, bob, "k"), 201); /* the answer was kept */
	says("\"text\":\"hello\"");
	says("Idempotency-Replayed: true");
	notes_of("bob", "0");
}

/* Its route has no entity: the answer is of the account that the receipt names. */
static void a_role_whose_outcome_gets_lost_is_answered_as_the_first_time(void **state)
{
	struct slice operator_ = arena_printf(&c.f.arena, "Bearer %.*s",
					      SLICE_ARG(app_operator_token(servers[0].app, &c.f.arena, 3600)));
	const char *body = "{\"name\":\"bob\",\"role\":\"admin\"}";
	volatile bool died = false;

	(void)state;
	servers[0].fails_after = "TransactWriteItems";
	key = SLICE("k");
	assert_int_equal(ask(0, operator_, APP_POST, "/role", body), 200);
	says("{\"subject\":\"bob\",\"role\":\"admin\"}");
	servers[0].fails_after = NULL;

	servers[0].dies_at = 3; /* noted, written, and not answered */
	key = SLICE("l");
	ARENA_TRY(&c.f.arena, { (void)ask(0, operator_, APP_POST, "/role", "{\"name\":\"ann\",\"role\":\"user\"}"); }, { died = true;
	});
	assert_true(died);
	key = SLICE("l");
	assert_int_equal(ask(1, operator_, APP_POST, "/role", "{\"name\":\"ann\",\"role\":\"user\"}"), 200);
	says("{\"subject\":\"ann\",\"role\":\"user\"}");
	says("Idempotency-Replayed: true");
}

static void a_write_whose_outcome_gets_lost_is_busy_if_it_was_not_done(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].fails = "TransactWriteItems";
	assert_int_equal(post_note(0, bob, "k"), 503);
	says("Retry-After: 1");
	says("urn:thorpe:busy");
	assert_false(client_has(reply.body, "outcome"));
	assert_int_equal(count_beside("REPLY#"), 0);
	servers[0].fails = NULL;
	assert_int_equal(post_note(0, bob, "k"), 201);
	notes_of("bob", "1");
}

static void an_unknown_outcome_is_known_at_the_retry(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].fails_after = "TransactWriteItems";
	servers[0].fails = "DeleteItem";
	assert_int_equal(post_note(0, bob, "k"), 503);
	says("Retry-After: 1");
	says("\"outcome\":\"unknown\"");
	says("repeat it with the same Idempotency-Key");
	servers[1].error = "ServiceUnavailable";
	servers[1].fails = "GetItem";
	assert_int_equal(post_note(1, bob, "k"), 503);
	says("\"outcome\":\"done\"");
	servers[1].fails = NULL;
	assert_int_equal(post_note(1, bob, "k"), 201);
	says("\"text\":\"hello\"");
	notes_of("bob", "1");
}

static void a_lost_write_is_done_at_the_retry(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	die(0, 2, bob, "other"); /* reads are known from here on */
	servers[0].error = "OutcomeUnknown";
	servers[0].fails = "TransactWriteItems";
	servers[0].fails_after = "DeleteItem"; /* the note is taken away, and that is not said either */
	assert_int_equal(post_note(0, bob, "k"), 503);
	says("\"outcome\":\"unknown\"");
	servers[0].fails = servers[0].fails_after = NULL;
	assert_int_equal(post_note(0, bob, "k"), 201);
	notes_of("bob", "1");
}

static void without_a_key_the_outcome_is_reported_as_unknown(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].fails_after = "TransactWriteItems";
	assert_int_equal(post_note(0, bob, ""), 503);
	says("Retry-After: 1");
	says("\"outcome\":\"unknown\"");
	says("look before you repeat it");
	notes_of("bob", "1");
}

static void a_key_whose_noting_gets_lost_is_found_again(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].fails_after = "PutItem";
	assert_int_equal(post_note(0, bob, "k"), 201);
	servers[0].fails_after = NULL;
	assert_int_equal(post_note(1, bob, "k"), 201);
	says("Idempotency-Replayed: true");
	notes_of("bob", "1");
}

/* Another server takes the request over while this one is about to write: it writes nothing then. */
static void take_over_early(void)
{
	now_ms += PATIENCE;
	met = post_note(1, who, "k");
}

static void a_slow_server_does_not_repeat_anothers_write(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	servers[0].meddle = take_over_early;
	servers[0].meddled_at = 2; /* the note */
	assert_int_equal(post_note(0, who, "k"), 409);
	says("Retry-After: 1");
	assert_int_equal(met, 201);
	assert_int_equal(post_note(0, who, "k"), 201);
	says("Idempotency-Replayed: true");
	notes_of("bob", "1");
}

static void the_first_one_is_done_after_all(void)
{
	struct backend_reply r;

	backend_call(c.f.backend, &c.f.arena, servers[0].operation, servers[0].body, &r);
	assert_int_equal(r.status, 200);
}

/* The second server sees a dead one's request, and right before it takes that over the write arrives. */
static void take_over_too_late(void)
{
	now_ms += PATIENCE;
	servers[1].meddle = the_first_one_is_done_after_all;
	servers[1].meddled_at = 2;
	met = post_note(1, who, "k");
}

static void what_is_written_at_the_last_moment_is_not_taken_over(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	servers[0].meddle = take_over_too_late;
	servers[0].meddled_at = 2; /* the note, which is on its way for so long */
	assert_int_equal(post_note(0, who, "k"), 201);
	assert_int_equal(met, 201);
	notes_of("bob", "1");
	assert_int_equal(post_note(2, who, "k"), 201);
	says("Idempotency-Replayed: true");
}

static void one_of_two_takes_over(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	die(2, 2, who, "k");
	now_ms += MINUTE;
	servers[0].meddle = ask_the_second_server;
	servers[0].meddled_at = 2; /* it has seen that the other is dead, and another has, too */
	assert_int_equal(post_note(0, who, "k"), 201);
	says("Idempotency-Replayed: true");
	assert_int_equal(met, 201);
	notes_of("bob", "1");
}

/* A server that was only slow. */
static void take_over(void)
{
	now_ms += MINUTE;
	met = post_note(1, who, "k");
}

static void a_slow_server_whose_write_was_done_still_gives_the_answer(void **state)
{
	(void)state;
	who = log_in(0, "bob");
	servers[0].meddle = take_over;
	servers[0].meddled_at = 3; /* the answer */
	assert_int_equal(post_note(0, who, "k"), 201);
	assert_int_equal(met, 201); /* the note was there already */
	assert_int_equal(post_note(2, who, "k"), 201);
	says("Idempotency-Replayed: true");
	notes_of("bob", "1");
}

static bool is_replayed(int server, struct slice caller)
{
	key = SLICE("k");
	assert_int_equal(ask(server, caller, APP_POST, "/notes", "{\"text\":7}"), 422);
	return client_has(reply.headers, "Idempotency-Replayed");
}

/* The second server would find nothing to delete. */
static void a_dead_servers_outcome_is_not_guessed_from_the_item(void **state)
{
	struct slice bob = log_in(0, "bob");
	const struct json *note;
	char *path;

	(void)state;
	assert_int_equal(post_note(0, bob, ""), 201);
	note = json_parse(&c.f.arena, reply.body);
	path = (char *)arena_printf(&c.f.arena, "/notes/%.*s", SLICE_ARG(json_get(note, "id")->string)).p;
	delete_and_die(0, 3, bob, path); /* it is gone, and the answer is not there */
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_DELETE, path, NULL), 204);
	says("Idempotency-Replayed: true");
	notes_of("bob", "0");
}

static void ten_minutes_are_remembered(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	assert_false(is_replayed(0, bob));
	now_ms += 10 * MINUTE - 1000;
	assert_true(is_replayed(1, bob));
	now_ms += 1000;
	assert_false(is_replayed(1, bob)); /* also where the old one is still in the table */
	assert_true(is_replayed(2, bob));
}

static void replies_that_may_change_are_not_remembered(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].error = "InternalServerError";
	servers[0].fails = "TransactWriteItems";
	assert_int_equal(post_note(0, bob, "k"), 503);
	servers[0].fails = NULL;
	assert_int_equal(count_beside("REPLY#"), 0);
	assert_int_equal(post_note(1, bob, "k"), 201);
	key = SLICE("other");
	assert_int_equal(ask(0, bob, APP_POST, "/notes", "{\"text\":7}"), 422);
	key = SLICE("other");
	assert_int_equal(ask(1, bob, APP_POST, "/notes", "{\"text\":7}"), 422);
	says("Idempotency-Replayed: true");
}

static void too_long_an_answer_is_made_again(void **state)
{
	struct slice bob = log_in(0, "bob");
	char *text = arena_zalloc(&c.f.arena, 370001), *body;

	(void)state;
	memset(text, 'x', 370000);
	body = (char *)arena_printf(&c.f.arena, "{\"text\":\"%s\"}", text).p;
	key = SLICE("k");
	assert_int_equal(ask(0, bob, APP_POST, "/notes", body), 201);
	key = SLICE("k");
	assert_int_equal(ask(1, bob, APP_POST, "/notes", body), 201); /* but made again, of what was written */
	says("Idempotency-Replayed: true");
	assert_true(reply.body.n > 370000);
	notes_of("bob", "1");
}

static void a_key_that_cannot_be_noted_lets_nothing_happen(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	servers[0].error = "ServiceUnavailable";
	servers[0].fails = "PutItem";
	assert_int_equal(post_note(0, bob, "k"), 503);
	servers[0].fails = NULL;
	assert_int_equal(ask(2, SLICE(""), APP_GET, "/users/bob", NULL), 200);
	assert_false(client_has(reply.body, "\"notes_count\":1"));
	assert_int_equal(post_note(1, bob, "k"), 201);
}

static void a_key_costs_two_round_trips(void **state)
{
	struct slice bob = log_in(0, "bob");

	(void)state;
	assert_int_equal(post_note(0, bob, "k1"), 201);
	assert_int_equal(post_note(0, bob, ""), 201);
	assert_int_equal(servers[0].batches, 1);
	assert_int_equal(servers[0].gets, 0);
	assert_int_equal(servers[0].writes, 1);
	assert_int_equal(post_note(0, bob, "k2"), 201);
	assert_int_equal(servers[0].batches, 1);
	assert_int_equal(servers[0].gets, 0);
	assert_int_equal(servers[0].writes, 3); /* the key, the note, the answer */
	assert_int_equal(post_note(0, bob, "k2"), 201);
	assert_int_equal(servers[0].batches, 1);
	assert_int_equal(servers[0].gets, 0);
	assert_int_equal(servers[0].writes, 1);
	notes_of("bob", "3");
}

static void a_key_is_noted_also_where_nothing_is_read(void **state)
{
	(void)state;
	key = SLICE("k");
	assert_int_equal(ask(0, SLICE(""), APP_POST, "/users", "{\"name\":\"new\",\"password\":\"correct horse\"}"),
			 201);
	key = SLICE("k");
	assert_int_equal(ask(1, SLICE(""), APP_POST, "/users", "{\"name\":\"new\",\"password\":\"correct horse\"}"),
			 201);
	says("Idempotency-Replayed: true");
	assert_int_equal(servers[1].writes, 1);
	assert_int_equal(try_login(2, "new", "correct horse"), 200);
}

/* Hashing is not rehearsed: what is written is the password's. */
static void an_account_that_is_made_at_one_server_can_log_in_at_others(void **state)
{
	(void)state;
	assert_int_equal(ask(0, SLICE(""), APP_POST, "/users", "{\"name\":\"new\",\"password\":\"short\"}"), 422);
	assert_int_equal(ask(0, SLICE(""), APP_POST, "/users", "{\"name\":\"new\",\"password\":\"battery staple\"}"),
			 201);
	assert_int_equal(try_login(1, "new", "battery staple"), 200);
	assert_int_equal(try_login(1, "new", "-"), 401);
}

static void requests_of_a_batch_have_keys_of_their_own(void **state)
{
	static const char batch[] =
		"{\"requests\":[{\"method\":\"POST\",\"path\":\"/notes\",\"body\":{\"text\":\"a\"},\"idempotency_key\":\"a\"},"
		"{\"method\":\"POST\",\"path\":\"/notes\",\"body\":{\"text\":\"b\"},\"idempotency_key\":\"b\"}]}";
	struct slice bob = log_in(0, "bob");

	(void)state;
	for (int i = 0; i < SERVERS; i++) {
		assert_int_equal(ask(i, bob, APP_POST, "/batch", batch), 200);
		says("{\"status\":201");
		assert_false(client_has(reply.body, "{\"status\":4"));
	}
	notes_of("bob", "2");
	key = SLICE("all");
	assert_int_equal(ask(0, bob, APP_POST, "/batch", batch), 200);
	key = SLICE("all");
	assert_int_equal(ask(1, bob, APP_POST, "/batch", batch), 200);
	says("Idempotency-Replayed: true");
	notes_of("bob", "2");
}

static void without_memory_a_key_is_done_once_or_not_at_all(void **state)
{
	struct slice bob = log_in(0, "bob");
	volatile int done = 0;
	char with_key[16];

	(void)state;
	for (volatile long n = 0; !done; n += 1 + n / 20) {
		assert_true(n < 100000);
		snprintf(with_key, sizeof(with_key), "k%ld", n);
		ARENA_TRY(&c.f.arena, {
			alloc_fail_after(n);
			done = post_note(0, bob, with_key) == 201;
			alloc_fail_never();
		}, { alloc_fail_never(); });
	}
	/* The last key has its answer; it alone is certain. */
	assert_int_equal(post_note(1, bob, with_key), 201);
	says("Idempotency-Replayed: true");
}

/* ---- failed logins ---- */

static struct run run_at(int server)
{
	struct server *s = &servers[server];

	return (struct run){
		.app = s->app, .design = c.f.design, .backend = &s->backend, .arena = &c.f.arena, .now_ms = now_ms
	};
}

static struct throttle_attempt attempt(const char *name, const char *address)
{
	return (struct throttle_attempt){ .name = slice_str(name), .address = slice_str(address) };
}

static int begin(int server, const char *name, const char *address)
{
	struct throttle_attempt a = attempt(name, address);
	struct run r = run_at(server);
	int wait = caller_attempt_begin(&r, &a);

	assert_int_equal(r.problem.type, PROBLEM_NONE);
	return wait;
}

static int wait_at(int server, const char *name, const char *address)
{
	struct throttle_attempt a = attempt(name, address);
	struct run r = run_at(server);

	return caller_attempt_wait(&r, &a);
}

static void guesses_spread_over_servers_are_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(try_login(i % SERVERS, "ann", "wrong"), 401);
	for (int i = 0; i < SERVERS; i++) {
		assert_int_equal(try_login(i, "ann", "wrong"), 429);
		says("Retry-After: 1");
		assert_int_equal(try_login(i, "ann", "correct horse"), 429);
	}
	assert_int_equal(try_login(1, "bob", "correct horse"), 200);
	now_ms += 1000;
	assert_int_equal(try_login(2, "ann", "wrong"), 401);
	assert_int_equal(try_login(0, "ann", "wrong"), 429);
	says("Retry-After: 2");
	from = OFFICE;
	assert_int_equal(try_login(0, "ann", "correct horse"), 200); /* nobody is locked out by others */
}

static void a_success_at_one_server_clears_it_at_all(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(try_login(i % SERVERS, "ann", "wrong"), 401);
	assert_int_equal(try_login(1, "ann", "correct horse"), 200);
	for (int i = 0; i < 5; i++)
		assert_int_equal(try_login(i % SERVERS, "ann", "wrong"), 401);
	assert_int_equal(try_login(0, "ann", "wrong"), 429);
	/* The pair is known: it never waits for more than a quarter of a minute. */
	for (int i = 0; i < 12; i++) {
		now_ms += 15000;
		assert_int_equal(begin(i % SERVERS, "ann", HOME), 0);
	}
	assert_int_equal(wait_at(2, "ann", HOME), THROTTLE_KNOWN_LONGEST_S);
}

static void attempts_that_could_not_be_checked_do_not_count(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		servers[i % SERVERS].fails = "GetItem";
		assert_int_equal(try_login(i % SERVERS, "ann", "wrong"), 503);
		servers[i % SERVERS].fails = NULL;
	}
	assert_int_equal(wait_at(0, "ann", HOME), 0);
	assert_int_equal(count_beside("LOGIN#"), 0);
}

static void an_address_that_tries_many_names_is_slowed_at_all_servers(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		assert_int_equal(begin(i % SERVERS, name, HOME), 0);
	}
	for (int i = 0; i < SERVERS; i++)
		assert_true(begin(i, "another", HOME) > 0);
	assert_int_equal(begin(0, "another", OFFICE), 0);
	now_ms += 5001;
	assert_int_equal(begin(1, "another", HOME), 0);
	assert_true(begin(2, "more", HOME) > 0);
}

static void a_name_that_many_guess_at_is_under_attack_at_all_servers(void **state)
{
	char address[24];

	(void)state;
	for (int i = 0; i < 51; i++) {
		snprintf(address, sizeof(address), "10.0.%d.1", i);
		assert_int_equal(begin(i % SERVERS, "ann", address), 0);
	}
	assert_int_equal(begin(0, "ann", OFFICE), 0);
	assert_int_equal(wait_at(1, "ann", OFFICE), 60);
	assert_int_equal(wait_at(2, "ann", "198.51.100.10"), 60); /* its neighbour */
	assert_int_equal(begin(2, "bob", OFFICE), 0);
}

static int looked_at;

static void guess_at_the_second_server(void)
{
	looked_at += begin(1, "ann", HOME) == 0;
}

static void of_attempts_at_once_no_more_are_looked_at(void **state)
{
	(void)state;
	looked_at = 0;
	servers[0].meddle = guess_at_the_second_server;
	for (int i = 0; i < 10; i++) {
		servers[0].meddled_at = 1; /* between the reading and the writing */
		looked_at += begin(0, "ann", HOME) == 0;
	}
	assert_int_equal(looked_at, 5);
}

static void guess_from_elsewhere(void)
{
	static int n;
	char address[24];

	snprintf(address, sizeof(address), "10.%d.%d.1", n / 250 % 250, n % 250);
	n++;
	assert_int_equal(begin(1, "ann", address), 0);
}

static void faster_strangers_do_not_lock_the_owner_out(void **state)
{
	(void)state;
	servers[0].meddle = guess_from_elsewhere;
	for (int i = 0; i < 5; i++) {
		servers[0].meddled_at = -1;
		assert_int_equal(begin(0, "ann", HOME), 0);
		servers[0].meddled_at = 0;
		if (!i)
			assert_int_equal(try_login(2, "ann", "correct horse"), 200); /* known from here on */
	}
	assert_int_equal(begin(2, "ann", HOME), 0); /* four since: and each was counted */
	assert_int_equal(begin(2, "ann", HOME), 1);
}

static void while_the_table_cannot_be_reached_this_server_counts(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(begin(i, "ann", HOME), 0);
	assert_int_equal(wait_at(0, "ann", HOME), 0);
	servers[0].fails = "BatchGetItem"; /* which the account is not read with */
	assert_int_equal(try_login(0, "ann", "wrong"), 401);
	assert_int_equal(try_login(0, "ann", "wrong"), 401);
	assert_int_equal(try_login(0, "ann", "wrong"), 429); /* after what it had seen of the others */
	assert_int_equal(try_login(0, "bob", "correct horse"), 200);
	servers[0].fails = "TransactWriteItems";
	servers[1].fails = "TransactWriteItems";
	for (int i = 0; i < 3; i++) /* it has seen two */
		assert_int_equal(try_login(1, "ann", "wrong"), 401);
	assert_int_equal(try_login(1, "ann", "wrong"), 429);
}

static void neither_names_nor_addresses_are_in_the_table(void **state)
{
	const struct json *items;
	struct buf b;

	(void)state;
	assert_int_equal(try_login(0, "ann", "wrong"), 401);
	assert_int_equal(try_login(0, "bob", "correct horse"), 200);
	assert_int_equal(count_beside("LOGIN#"),
			 5); /* ann's pair, network and name, the address, and that bob is known */
	items = beside();
	for (size_t i = 0; i < items->count; i++)
		assert_non_null(json_get(&items->items[i], "expires"));
	buf_init(&b, &c.f.arena);
	json_write(&b, items);
	assert_false(client_has(buf_slice(&b), "ann"));
	assert_false(client_has(buf_slice(&b), "bob"));
	assert_false(client_has(buf_slice(&b), "192.0"));
}

static void guesses_at_the_current_password_are_counted_for_all(void **state)
{
	static const char body[] = "{\"password\":\"a new password\",\"current_password\":\"wrong\"}";
	struct slice bob = log_in(0, "bob");

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(ask(i % SERVERS, bob, APP_PATCH, "/users/bob", body), 422);
	for (int i = 0; i < SERVERS; i++)
		assert_int_equal(ask(i, bob, APP_PATCH, "/users/bob", body), 429);
}

/* ---- sessions ---- */

static void is_over(struct slice token)
{
	for (int i = 0; i < SERVERS; i++) {
		assert_int_equal(ask(i, token, APP_GET, "/me", NULL), 401);
		says("log in again");
		assert_int_equal(post_note(i, token, ""), 401);
		assert_int_equal(post_note(i, token, "k"), 401);
	}
}

/* At each server, so that each has seen it. */
static struct slice begin_session(void)
{
	struct slice bob = log_in(0, "bob");

	for (int i = 0; i < SERVERS; i++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(ask(i, bob, APP_GET, "/me", NULL), 200);
	return bob;
}

static void a_suspension_at_one_server_ends_the_session_at_all(void **state)
{
	struct slice ann = log_in(0, "ann"), bob = begin_session();

	(void)state;
	assert_int_equal(ask(0, ann, APP_POST, "/users/bob/suspend", NULL), 200);
	is_over(bob);
	assert_int_equal(try_login(1, "bob", "correct horse"), 401);
}

static void a_deletion_at_one_server_ends_the_session_at_all(void **state)
{
	struct slice ann = log_in(0, "ann"), bob = begin_session();

	(void)state;
	assert_int_equal(ask(1, ann, APP_DELETE, "/users/bob", NULL), 204);
	is_over(bob);
	/* A new account of the name is another one. */
	assert_int_equal(ask(2, SLICE(""), APP_POST, "/users", "{\"name\":\"bob\",\"password\":\"correct horse\"}"),
			 201);
	is_over(bob);
}

static void a_new_password_at_one_server_ends_the_session_at_all(void **state)
{
	struct slice bob = begin_session();

	(void)state;
	assert_int_equal(ask(1, bob, APP_PATCH, "/users/bob",
			     "{\"password\":\"a new password\",\"current_password\":\"correct horse\"}"),
			 200);
	is_over(bob);
	assert_int_equal(try_login(2, "bob", "a new password"), 200);
}

static void a_demotion_at_one_server_holds_at_all(void **state)
{
	struct slice ann, admin;

	(void)state;
	put_user("bob", "admin");
	ann = log_in(0, "ann");
	admin = begin_session();
	assert_int_equal(ask(0, ann, APP_POST, "/users/bob/demote", NULL), 200);
	for (int i = 0; i < SERVERS; i++) {
		assert_int_equal(ask(i, admin, APP_POST, "/users/ann/suspend", NULL), 403);
		assert_int_equal(ask(i, admin, APP_GET, "/me", NULL), 200);
		says("\"roles\":[\"user\"]");
	}
}

/* ---- what was gathered ---- */

static const char *note;

static void make_note(void)
{
	raw("PutItem",
	    "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"NOTE#n\"},\"SK\":{\"S\":\"NOTE\"},\"id\":{\"S\":\"n\"},\"owner\":{\"S\":\"bob\"}}}");
	note = "/notes/n";
}

static void view(int server, int times)
{
	while (times--)
		assert_int_equal(ask(server, SLICE(""), APP_POST, "/notes/n/view", NULL), 202);
}

static void views_are(const char *n)
{
	assert_int_equal(ask(2, SLICE(""), APP_GET, note, NULL), 200);
	says(arena_printf(&c.f.arena, "\"views\":%s", n).p);
}

/* The index goes by the number of views, and follows it. */
static void index_has(const char *sk)
{
	struct backend_reply r;
	struct buf b;

	backend_call(c.f.backend, &c.f.arena, "GetItem",
		     SLICE("{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"NOTE#n\"},\"SK\":{\"S\":\"NOTE\"}}}"), &r);
	assert_int_equal(r.status, 200);
	buf_init(&b, &c.f.arena);
	json_write(&b, r.body);
	assert_true(client_has(buf_slice(&b), arena_printf(&c.f.arena, "\"GSI1SK\":{\"S\":\"%s\"}", sk).p));
}

static void tick(int server, bool last)
{
	app_tick(servers[server].app, &servers[server].backend, last);
}

static void each_server_adds_what_it_has_gathered(void **state)
{
	(void)state;
	make_note();
	for (int i = 0; i < SERVERS; i++)
		view(i, i + 1);
	now_ms += MINUTE;
	for (int i = 0; i < SERVERS; i++)
		tick(i, false);
	views_are("6");
	index_has("000006");
}

static void an_addition_whose_reply_is_lost_counts_once(void **state)
{
	(void)state;
	make_note();
	view(0, 3);
	now_ms += MINUTE;
	servers[0].fails_after = "TransactWriteItems";
	tick(0, false);
	view(0, 2); /* to the same item, while it is not known */
	tick(0, false);
	servers[0].fails_after = NULL;
	tick(0, false);
	views_are("3");
	now_ms += MINUTE;
	tick(0, false);
	views_are("5");
	tick(0, true);
	views_are("5");
}

static void an_addition_that_was_not_done_is_sent_again(void **state)
{
	(void)state;
	make_note();
	view(0, 3);
	now_ms += MINUTE;
	servers[0].fails = "TransactWriteItems";
	tick(0, false);
	servers[0].fails = NULL;
	servers[0].fails_after = "TransactWriteItems";
	tick(0, false);
	tick(0, false);
	servers[0].fails_after = NULL;
	view(0, 1);
	tick(0, true);
	views_are("4");
}

static void at_the_end_it_is_tried_more_than_once(void **state)
{
	(void)state;
	make_note();
	view(0, 3);
	servers[0].fails_after = "TransactWriteItems";
	servers[0].writes = 0;
	tick(0, true);
	assert_int_equal(servers[0].writes, 3);
	views_are("3");
}

static void an_addition_with_an_unknowable_outcome_is_not_sent_again(void **state)
{
	(void)state;
	make_note();
	view(0, 3);
	now_ms += MINUTE;
	servers[0].fails = "TransactWriteItems"; /* it might have been done */
	tick(0, false);
	servers[0].fails = NULL;
	now_ms += 9 * MINUTE; /* a database forgets tokens */
	tick(0, false);
	view(0, 1);
	tick(0, true);
	views_are("1");
}

static void an_unsent_addition_waits_as_long_as_needed(void **state)
{
	(void)state;
	make_note();
	view(0, 3);
	now_ms += MINUTE;
	servers[0].fails = "TransactWriteItems";
	servers[0].error = "ServiceUnavailable";
	for (int i = 0; i < 20; i++) {
		tick(0, false);
		now_ms += MINUTE;
	}
	view(0, 1);
	servers[0].fails = NULL;
	tick(0, true);
	views_are("4");
}

static void without_memory_an_addition_counts_once(void **state)
{
	char expected[16];
	int viewed = 0;

	(void)state;
	make_note();
	for (long n = 0; n < 300; n += 1 + n / 60) {
		view(0, 1);
		viewed++;
		now_ms += MINUTE;
		alloc_fail_after(n);
		tick(0, false);
		alloc_fail_never();
		tick(0, false); /* before the token is forgotten */
	}
	tick(0, true);
	snprintf(expected, sizeof(expected), "%d", viewed);
	views_are(expected);
}

/* Where there is no token: memory that runs out in what follows from the write. */
static void without_memory_an_addition_counts_once_also_with_a_table_of_its_own(void **state)
{
	char expected[16];
	int viewed = 0;

	(void)state;
	make_note();
	for (long n = 0; n < 300; n += 1 + n / 60) {
		client_ask(&c, APP_POST, "/notes/n/view", NULL);
		client_is(&c, 202);
		viewed++;
		c.now_ms += MINUTE;
		alloc_fail_after(n);
		app_tick(c.app, c.f.backend, false);
		alloc_fail_never();
	}
	app_tick(c.app, c.f.backend, true);
	snprintf(expected, sizeof(expected), "%d", viewed);
	views_are(expected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_done_once_whichever_server_is_asked),
		TEST(while_the_first_is_being_done_the_others_wait),
		TEST(of_two_that_begin_at_once_one_goes_on),
		TEST(work_begun_by_a_dead_server_is_taken_over),
		TEST(a_batch_of_a_dead_server_is_taken_over_after_a_minute),
		TEST(a_dead_servers_write_is_not_repeated),
		TEST(a_write_whose_outcome_gets_lost_is_answered_if_it_was_done),
		TEST(a_role_whose_outcome_gets_lost_is_answered_as_the_first_time),
		TEST(a_write_whose_outcome_gets_lost_is_busy_if_it_was_not_done),
		TEST(an_unknown_outcome_is_known_at_the_retry),
		TEST(a_lost_write_is_done_at_the_retry),
		TEST(without_a_key_the_outcome_is_reported_as_unknown),
		TEST(a_key_whose_noting_gets_lost_is_found_again),
		TEST(a_slow_server_does_not_repeat_anothers_write),
		TEST(what_is_written_at_the_last_moment_is_not_taken_over),
		TEST(one_of_two_takes_over),
		TEST(a_slow_server_whose_write_was_done_still_gives_the_answer),
		TEST(a_dead_servers_outcome_is_not_guessed_from_the_item),
		TEST(ten_minutes_are_remembered),
		TEST(replies_that_may_change_are_not_remembered),
		TEST(too_long_an_answer_is_made_again),
		TEST(a_key_that_cannot_be_noted_lets_nothing_happen),
		TEST(a_key_costs_two_round_trips),
		TEST(a_key_is_noted_also_where_nothing_is_read),
		TEST(an_account_that_is_made_at_one_server_can_log_in_at_others),
		TEST(requests_of_a_batch_have_keys_of_their_own),
		TEST(without_memory_a_key_is_done_once_or_not_at_all),
		TEST(guesses_spread_over_servers_are_no_more),
		TEST(a_success_at_one_server_clears_it_at_all),
		TEST(attempts_that_could_not_be_checked_do_not_count),
		TEST(an_address_that_tries_many_names_is_slowed_at_all_servers),
		TEST(a_name_that_many_guess_at_is_under_attack_at_all_servers),
		TEST(of_attempts_at_once_no_more_are_looked_at),
		TEST(faster_strangers_do_not_lock_the_owner_out),
		TEST(while_the_table_cannot_be_reached_this_server_counts),
		TEST(neither_names_nor_addresses_are_in_the_table),
		TEST(guesses_at_the_current_password_are_counted_for_all),
		TEST(a_suspension_at_one_server_ends_the_session_at_all),
		TEST(a_deletion_at_one_server_ends_the_session_at_all),
		TEST(a_new_password_at_one_server_ends_the_session_at_all),
		TEST(a_demotion_at_one_server_holds_at_all),
		TEST(each_server_adds_what_it_has_gathered),
		TEST(an_addition_whose_reply_is_lost_counts_once),
		TEST(an_addition_that_was_not_done_is_sent_again),
		TEST(at_the_end_it_is_tried_more_than_once),
		TEST(an_addition_with_an_unknowable_outcome_is_not_sent_again),
		TEST(an_unsent_addition_waits_as_long_as_needed),
		TEST(without_memory_an_addition_counts_once),
		TEST(without_memory_an_addition_counts_once_also_with_a_table_of_its_own),
	};

	log_set_level(LOG_ERROR + 1); /* what fails here is meant to */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
