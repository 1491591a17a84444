/* Tokens that are sent: of two uses one succeeds, whatever comes between two reads; and what a request for mail leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "app_client.h"
#include "app/auth/caller_internal.h"
#include "app/auth/mail.h"
#include "app/db/dyn.h"
#include "app/db/moved.h"
#include "app/db/provision.h"
#include "base/clock.h"
#include "base/waker.h"
#include "value/codec.h"

/* bcrypt of "correct horse", a cheap one. */
#define HORSE "$2b$04$Yk4vQI7bEsi.9qUvP56MPeTnol6T0gVUJEjJtEECxGWnz3cKh47Dm"

/* The hash is in an item of its own: the account can be read before a change of it, and the hash after. */
#define ACCOUNTS                                                                                                    \
	"entities:\n"                                                                                               \
	"  Member:\n"                                                                                               \
	"    path: /members/<id>\n"                                                                                 \
	"    attributes: {id: 'string, id', nick: 'string, required, unique', email: string, "                      \
	"proved: 'boolean, managed, default false'}\n"                                                              \
	"    keys: {PK: MEMBER#<id>, SK: MEMBER}\n"                                                                 \
	"    companions: [{unique: nick, PK: NICK#<nick>, SK: NICK, id: <id>}]\n"                                   \
	"    login: {by: nick, secret: {PK: SECRET#<id>, SK: AUTH}, subject: id, mail: {address: email, verified: " \
	"proved}}\n"                                                                                                \
	"    allow: {create, read: anyone, update: id = caller}\n"

static struct client c;
static struct waker waker;

static struct run run_of(void)
{
	return (struct run){
		.app = c.app, .design = c.f.design, .backend = c.f.backend, .arena = &c.f.arena, .now_ms = c.now_ms
	};
}

static void put(const char *text)
{
	struct dyn_write w = { .kind = DYN_PUT };
	struct dyn_refusal refusal;
	struct error e = { 0 };
	struct run r = run_of();

	assert_true(item_from_json(&c.f.arena, json_parse(&c.f.arena, slice_str(text)), &w.item, &e));
	assert_int_equal(dyn_write(&r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static int setup(void **state)
{
	struct error e = { 0 };

	(void)state;
	client_open(&c, ACCOUNTS);
	c.now_ms = clock_now_ms(&clock_system); /* the database removes what has expired by that clock */
	assert_true(provision_beside(c.f.backend, c.f.design, &c.f.arena, &e));
	put("{\"PK\":{\"S\":\"MEMBER#m1\"},\"SK\":{\"S\":\"MEMBER\"},\"id\":{\"S\":\"m1\"},\"nick\":{\"S\":\"mo\"},"
	    "\"email\":{\"S\":\"mo@example.com\"},\"proved\":{\"BOOL\":false}}");
	put("{\"PK\":{\"S\":\"NICK#mo\"},\"SK\":{\"S\":\"NICK\"},\"id\":{\"S\":\"m1\"}}");
	put("{\"PK\":{\"S\":\"SECRET#m1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"" HORSE "\"}}");
	waker_init(&waker);
	mail_post_open(c.app->mail, &waker);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	mail_post_open(c.app->mail, NULL);
	client_close(&c);
	waker_release(&waker);
	return 0;
}

static size_t notes(struct mail_note **list)
{
	struct run r = run_of();
	size_t n;

	assert_true(mail_notes_read(&r, list, &n));
	return n;
}

static int ask(const char *body)
{
	c.authorization = SLICE("");
	client_ask(&c, APP_POST, "/password/reset", body);
	return c.reply.status;
}

/* The token of the only note. */
static const char *token(void)
{
	struct mail_note *list;
	struct run r = run_of();
	struct mail mail;

	assert_int_equal(ask("{\"nick\":\"mo\"}"), 202);
	assert_true(waker.woken);
	assert_int_equal(notes(&list), 1);
	assert_true(mail_make(&r, &list[0], &mail));
	return arena_cstr(&c.f.arena, mail.token);
}

static int use(const char *with, const char *password)
{
	c.authorization = SLICE("");
	client_ask(&c, APP_POST, "/password",
		   arena_printf(&c.f.arena, "{\"token\":\"%s\",\"password\":\"%s\"}%c", with, password, 0).p);
	return c.reply.status;
}

static int log_in(const char *password)
{
	c.authorization = SLICE("");
	client_ask(&c, APP_POST, "/login",
		   arena_printf(&c.f.arena, "{\"nick\":\"mo\",\"password\":\"%s\"}%c", password, 0).p);
	return c.reply.status;
}

/* ---- two uses ---- */

static void (*real_execute)(struct backend *, struct arena *, const struct request *, struct reply *);
static const char *sent;
static int reads, meddled_at; /* of the hash */
static int first;             /* the status of the other use */

/* Before one of the reads of the hash, the token is used by another request. */
static void use_between(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (q->kind == REQUEST_GET && slice_is(value_bytes(value_get(q->get.key, SLICE("PK"))), "SECRET#m1") &&
	    ++reads == meddled_at) {
		struct app_request other = { .method = APP_POST, .path = SLICE("/password"), .base = SLICE("/api/test") };
		struct app_reply its;

		b->execute = real_execute;
		other.body = arena_printf(a, "{\"token\":\"%s\",\"password\":\"battery staple one\"}", sent);
		app_handle(c.app, b, a, &other, &its);
		first = its.status;
	}
	real_execute(b, a, q, reply);
}

static void a_token_is_used_once_whatever_comes_between_two_reads(void **state)
{
	int most = 1;

	for (meddled_at = 1; meddled_at <= most; meddled_at++) {
		struct slice saved;
		int second;

		if (meddled_at > 1) {
			assert_int_equal(teardown(state), 0);
			assert_int_equal(setup(state), 0);
		}
		sent = token();
		reads = first = 0;
		real_execute = c.f.backend->execute;
		c.f.backend->execute = use_between;
		second = use(sent, "battery staple two");
		saved = c.reply.body;
		c.f.backend->execute = real_execute;
		if (!first) /* that was one read more than there are */
			break;
		most = meddled_at + 1;
		assert_int_equal(first, 204);
		if (second != 401)
			fail_msg("read %d: %d %.*s", meddled_at, second, SLICE_ARG(saved));
		assert_int_equal(log_in("battery staple one"), 200);
		assert_int_equal(use(sent, "battery staple three"), 401);
	}
	assert_true(meddled_at > 2); /* the judgement, and the condition */
}

/* ---- requests ---- */

static void a_name_is_bounded(void **state)
{
	char body[1200];
	struct mail_note *list;

	(void)state;
	for (int n = 1024; n <= 1025; n++) {
		snprintf(body, sizeof(body), "{\"nick\":\"%0*d\"}", n, 0);
		assert_int_equal(ask(body), n == 1024 ? 202 : 422);
	}
	client_says(&c, "is too long");
	assert_int_equal(notes(&list), 1);
}

static void a_note_has_no_token_and_gives_the_same_one_each_time(void **state)
{
	const char *one = token(), *two;
	struct mail_note *list;
	struct run r = run_of();
	struct mail mail;

	(void)state;
	assert_int_equal(notes(&list), 1);
	r.now_ms += 60000;
	assert_true(mail_make(&r, &list[0], &mail));
	two = arena_cstr(&c.f.arena, mail.token);
	assert_string_equal(one, two);
	assert_true(slice_equal(mail.address, SLICE("mo@example.com")));
	r.now_ms = list[0].asked_ms + 3600 * 1000;
	assert_false(mail_make(&r, &list[0], &mail)); /* the token would have ended */
	assert_int_equal(r.problem.type, PROBLEM_NONE);
}

/* L3 */
static void of_two_senders_one_gets_the_note(void **state)
{
	struct mail_note *list, other;
	struct run r = run_of();

	(void)state;
	(void)token();
	assert_int_equal(notes(&list), 1);
	other = list[0];
	assert_int_equal(mail_note_claim(&r, &list[0], SLICE("one")), MAIL_CLAIMED);
	assert_int_equal(mail_note_claim(&r, &other, SLICE("two")), MAIL_TAKEN);
	assert_true(mail_note_again(&r, &list[0], c.now_ms + 1000));
	assert_int_equal(notes(&list), 1);
	assert_int_equal(list[0].tries, 1);
	assert_int_equal(list[0].claim.n, 0);
	assert_int_equal(list[0].due_ms, c.now_ms + 1000);
	other = list[0];
	assert_int_equal(mail_note_claim(&r, &list[0], SLICE("one")), MAIL_CLAIMED);
	other.claim = SLICE("one");
	other.tries = 1;
	assert_true(mail_note_done(&r, &other)); /* of an earlier try: changes nothing */
	assert_int_equal(notes(&list), 1);
	assert_true(mail_note_done(&r, &list[0]));
	assert_int_equal(notes(&list), 0);
}

static void more_than_a_thousand_do_not_wait(void **state)
{
	(void)state;
	mail_post_counted(c.app->mail, MAIL_NOTES_MOST);
	assert_int_equal(ask("{\"nick\":\"mo\"}"), 503);
	mail_post_counted(c.app->mail, MAIL_NOTES_MOST - 1);
	assert_int_equal(ask("{\"nick\":\"mo\"}"), 202);
	assert_int_equal(ask("{\"nick\":\"mo\"}"), 503);
}

/* A note that is left where nobody looks any more would be lost. */
static void where_the_table_has_moved_away_nothing_is_noted(void **state)
{
	struct run r = run_of();
	struct value_member marker[] = { { SLICE("PK"), value_make_s(&c.f.arena, SLICE(MOVED_PK)) },
					 { SLICE("SK"), value_make_s(&c.f.arena, SLICE(MOVED_SK)) } };
	struct dyn_write w = { .kind = DYN_PUT,
			       .table = SLICE("Test.thorpe"),
			       .item = value_make_map(&c.f.arena, marker, 2) };
	struct dyn_refusal refusal;
	struct mail_note *list;

	(void)state;
	assert_int_equal(dyn_write(&r, &w, 1, SLICE(""), &refusal), DYN_DONE);
	moved_look(&r);
	assert_int_equal(ask("{\"nick\":\"mo\"}"), 503);
	client_says(&c, "moves");
	assert_int_equal(notes(&list), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_token_is_used_once_whatever_comes_between_two_reads),
		TEST(a_name_is_bounded),
		TEST(a_note_has_no_token_and_gives_the_same_one_each_time),
		TEST(of_two_senders_one_gets_the_note),
		TEST(more_than_a_thousand_do_not_wait),
		TEST(where_the_table_has_moved_away_nothing_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
