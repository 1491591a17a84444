/* Logging in: by whatever the design says, told the same whatever is wrong, slowed when it is wrong too often.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "caller_helper.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "app/entity/upward.h"
#include "value/codec.h"

/* Accounts of every kind: by their identity, through a guard, through a pattern; the hash inside and beside. */
#define ACCOUNTS                                                                                                \
	"entities:\n"                                                                                           \
	"  User:\n"                                                                                             \
	"    path: /users/<user_id>\n"                                                                          \
	"    attributes:\n"                                                                                     \
	"      user_id: string, id\n"                                                                           \
	"      username: string, required, lower, unique\n"                                                     \
	"      email: string, lower, private, unique\n"                                                         \
	"      phone: string\n"                                                                                 \
	"      status: active | suspended, default active\n"                                                    \
	"      secret_note: string, hidden\n"                                                                   \
	"    keys: {PK: USER#<user_id>, SK: PROFILE, GSI1PK: PHONE#<phone>, GSI1SK: USER#<user_id>}\n"          \
	"    companions:\n"                                                                                     \
	"      - {unique: username, PK: NAME#<username>, SK: NAME, user_id: <user_id>}\n"                       \
	"      - {unique: email, PK: EMAIL#<email>, SK: EMAIL, of: USER#<user_id>}\n"                           \
	"    login: {by: [username, email, phone], secret: {PK: USER#<user_id>, SK: AUTH}, subject: user_id,\n" \
	"            when: status = 'active'}\n"                                                                \
	"    allow: {read: anyone, update: user_id = caller}\n"                                                 \
	"  Staff:\n"                                                                                            \
	"    path: /staff/<handle>\n"                                                                           \
	"    attributes: {handle: string, hash: string, hidden, role: clerk | boss, number: number}\n"          \
	"    keys: {PK: STAFF#<handle>, SK: STAFF}\n"                                                           \
	"    login: {by: handle, password: hash, subject: handle, role: role}\n"                                \
	"    allow: {read: anyone}\n"                                                                           \
	"access:\n"                                                                                             \
	"  user by phone:\n"                                                                                    \
	"    path: /phones/<phone>\n"                                                                           \
	"    query: GSI1\n"                                                                                     \
	"    where: {GSI1PK: PHONE#<phone>}\n"                                                                  \
	"    one: true\n"

/* bcrypt of "correct horse" and "battery staple", cheap ones. */
#define HORSE  "$2b$04$Yk4vQI7bEsi.9qUvP56MPeTnol6T0gVUJEjJtEECxGWnz3cKh47Dm"
#define STAPLE "$2a$04$YLwXbz5k9I7v2KwNpzFj6uFw71jHxvbjliE4U3XTCqHmJV28T9Fsi"

static struct callers_fixture f;

static void put(const char *text)
{
	struct run *r = callers_run(&f);
	struct dyn_write w = { .kind = DYN_PUT };
	struct dyn_refusal refusal;
	struct error e = { 0 };

	assert_true(item_from_json(&f.app.arena, json_parse(&f.app.arena, slice_str(text)), &w.item, &e));
	assert_int_equal(dyn_write(r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static void put_accounts(void)
{
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"PROFILE\"},\"user_id\":{\"S\":\"u1\"},\"username\":{\"S\":\"alice\"},"
	    "\"email\":{\"S\":\"a@x.org\"},\"phone\":{\"S\":\"555\"},\"status\":{\"S\":\"active\"},\"secret_note\":{\"S\":\"psst\"},"
	    "\"GSI1PK\":{\"S\":\"PHONE#555\"},\"GSI1SK\":{\"S\":\"USER#u1\"}}");
	put("{\"PK\":{\"S\":\"NAME#alice\"},\"SK\":{\"S\":\"NAME\"},\"user_id\":{\"S\":\"u1\"}}");
	put("{\"PK\":{\"S\":\"EMAIL#a@x.org\"},\"SK\":{\"S\":\"EMAIL\"},\"of\":{\"S\":\"USER#u1\"}}");
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"" HORSE "\"}}");
	put("{\"PK\":{\"S\":\"STAFF#bob\"},\"SK\":{\"S\":\"STAFF\"},\"handle\":{\"S\":\"bob\"},\"hash\":{\"S\":\"" STAPLE
	    "\"},"
	    "\"role\":{\"S\":\"boss\"}}");
}

static int setup(void **state)
{
	(void)state;
	callers_open(&f, ACCOUNTS);
	put_accounts();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	callers_close(&f);
	return 0;
}

static struct run *login_from(const char *body, const char *address, bool *ok, const struct json **reply)
{
	struct run *r = callers_run(&f);
	struct buf b;

	buf_init(&b, r->arena);
	*ok = caller_login(r, json_parse(r->arena, slice_str(body)), slice_str(address), &b);
	*reply = *ok ? json_parse(r->arena, buf_slice(&b)) : NULL;
	return r;
}

static const struct json *pass(const char *body)
{
	const struct json *reply;
	bool ok;
	struct run *r = login_from(body, "", &ok, &reply);

	if (!ok)
		fail_msg("%s: %.*s", body, SLICE_ARG(r->problem.detail));
	assert_non_null(reply);
	return reply;
}

static struct run *refuse_as_type(const char *body, enum problem_type type)
{
	const struct json *reply;
	bool ok;
	struct run *r = login_from(body, "192.0.2.1", &ok, &reply);

	assert_false(ok);
	assert_int_equal(r->problem.type, type);
	return r;
}

static void refuse(const char *body)
{
	SLICE_IS(refuse_as_type(body, PROBLEM_UNAUTHENTICATED)->problem.detail, "wrong name or password");
}

static void expect_subject(const struct json *reply, const char *subject)
{
	SLICE_IS(json_get(reply, "subject")->string, subject);
	SLICE_IS(accept_token(&f, json_get(reply, "token")->string)->caller.subject, subject);
}

static void an_account_is_found_by_each_of_its_names(void **state)
{
	(void)state;
	expect_subject(pass("{\"username\":\"alice\",\"password\":\"correct horse\"}"), "u1");
	expect_subject(pass("{\"email\":\"a@x.org\",\"password\":\"correct horse\"}"), "u1");
	expect_subject(pass("{\"phone\":\"555\",\"password\":\"correct horse\"}"), "u1");
	expect_subject(pass("{\"handle\":\"bob\",\"password\":\"battery staple\"}"), "bob");
	expect_subject(pass("{\"name\":\"alice\",\"password\":\"correct horse\"}"), "u1");
	expect_subject(pass("{\"name\":\"a@x.org\",\"password\":\"correct horse\"}"), "u1");
	expect_subject(pass("{\"name\":\"bob\",\"password\":\"battery staple\"}"), "bob");
	expect_subject(pass("{\"username\":\" ALICE \",\"password\":\"correct horse\"}"), "u1"); /* `lower` */
	refuse("{\"handle\":\"BOB\",\"password\":\"battery staple\"}");
}

static void the_reply_has_a_token_and_the_account(void **state)
{
	const struct json *reply = pass("{\"handle\":\"bob\",\"password\":\"battery staple\"}"), *item;
	struct run *r = accept_token(&f, json_get(reply, "token")->string);

	(void)state;
	SLICE_IS(json_get(reply, "token_type")->string, "Bearer");
	assert_int_equal(json_get(reply, "expires_in")->integer, 3600);
	assert_int_equal(json_get(reply, "roles")->count, 1);
	SLICE_IS(json_get(reply, "roles")->items[0].string, "boss");
	assert_true(run_has_role(r, SLICE("boss")));
	assert_false(r->caller.operator_);
	item = json_get(reply, "staff");
	SLICE_IS(json_get(item, "handle")->string, "bob");
	assert_null(json_get(item, "hash"));
	reply = pass("{\"username\":\"alice\",\"password\":\"correct horse\"}");
	assert_int_equal(json_get(reply, "roles")->count, 0);
	item = json_get(reply, "user");
	SLICE_IS(json_get(item, "email")->string, "a@x.org"); /* private: to its owner */
	assert_null(json_get(item, "secret_note"));
	f.now_ms += 3660000;
	refuse_token(&f, json_get(reply, "token")->string, "expired");
}

static void every_failed_login_gets_the_same_reply(void **state)
{
	(void)state;
	refuse("{\"username\":\"alice\",\"password\":\"correct hors\"}");
	refuse("{\"username\":\"nobody\",\"password\":\"correct horse\"}");
	refuse("{\"username\":\"al#ce\",\"password\":\"correct horse\"}"); /* cannot be in a key */
	refuse("{\"email\":\"alice\",\"password\":\"correct horse\"}");
	refuse("{\"phone\":\"556\",\"password\":\"correct horse\"}");
	refuse("{\"handle\":\"alice\",\"password\":\"correct horse\"}");
	refuse("{\"handle\":\"bob\",\"password\":\"correct horse\"}");
	refuse("{\"name\":\"zoe\",\"password\":\"correct horse\"}");
}

static void an_account_that_may_not_log_in_gets_the_same_reply(void **state)
{
	(void)state;
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"PROFILE\"},\"user_id\":{\"S\":\"u1\"},\"username\":{\"S\":\"alice\"},"
	    "\"status\":{\"S\":\"suspended\"}}");
	refuse("{\"username\":\"alice\",\"password\":\"correct horse\"}");
}

static void an_account_without_a_hash_cannot_log_in(void **state)
{
	(void)state;
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"AUTH\"}}");
	refuse("{\"username\":\"alice\",\"password\":\"correct horse\"}");
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"correct horse\"}}");
	refuse("{\"username\":\"alice\",\"password\":\"correct horse\"}");
	put("{\"PK\":{\"S\":\"USER#u1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"N\":\"1\"}}");
	refuse("{\"username\":\"alice\",\"password\":\"1\"}");
}

static void a_guard_of_another_name_leads_nowhere(void **state)
{
	(void)state;
	put("{\"PK\":{\"S\":\"NAME#mallory\"},\"SK\":{\"S\":\"NAME\"},\"user_id\":{\"S\":\"u1\"}}");
	refuse("{\"username\":\"mallory\",\"password\":\"correct horse\"}");
	put("{\"PK\":{\"S\":\"NAME#eve\"},\"SK\":{\"S\":\"NAME\"}}");
	refuse("{\"username\":\"eve\",\"password\":\"correct horse\"}");
}

static void incomplete_bodies_are_explained(void **state)
{
	struct run *r = refuse_as_type("{}", PROBLEM_INVALID);

	(void)state;
	assert_int_equal(r->problem.part_count, 2);
	SLICE_IS(r->problem.parts[0].attribute, "username");
	SLICE_IS(r->problem.parts[1].attribute, "password");
	refuse_as_type("{\"username\":\"alice\"}", PROBLEM_INVALID);
	refuse_as_type("{\"username\":7,\"password\":\"x\"}", PROBLEM_INVALID);
	refuse_as_type("{\"username\":\"alice\",\"password\":[\"x\"]}", PROBLEM_INVALID);
	refuse_as_type("[]", PROBLEM_MALFORMED);
	refuse_as_type("no JSON", PROBLEM_MALFORMED);
}

static void failures_slow_a_name_down(void **state)
{
	const struct json *reply;
	struct run *r;
	bool ok;

	(void)state;
	for (int i = 0; i < 5; i++)
		refuse(i % 2 ? "{\"username\":\"alice\",\"password\":\"wrong one\"}"
			     : "{\"name\":\" Alice\",\"password\":\"wrong one\"}");
	/* Also with the right password, which is not even looked at. */
	r = refuse_as_type("{\"username\":\"alice\",\"password\":\"correct horse\"}", PROBLEM_TOO_MANY);
	assert_int_equal(r->problem.retry_after, 1);
	pass("{\"handle\":\"bob\",\"password\":\"battery staple\"}");
	f.now_ms += 1000;
	refuse("{\"username\":\"alice\",\"password\":\"wrong one\"}");
	r = refuse_as_type("{\"username\":\"alice\",\"password\":\"correct horse\"}", PROBLEM_TOO_MANY);
	assert_int_equal(r->problem.retry_after, 2);
	f.now_ms += 2000;
	r = login_from("{\"username\":\"alice\",\"password\":\"correct horse\"}", "192.0.2.1", &ok, &reply);
	assert_true(ok);
	for (int i = 0; i < 5; i++)
		refuse("{\"username\":\"alice\",\"password\":\"wrong one\"}");
}

static void an_unknown_name_is_slowed_the_same(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		refuse("{\"username\":\"nobody\",\"password\":\"wrong one\"}");
	assert_int_equal(
		refuse_as_type("{\"username\":\"nobody\",\"password\":\"x\"}", PROBLEM_TOO_MANY)->problem.retry_after,
		1);
}

static void failures_slow_an_address_down(void **state)
{
	const struct json *reply;
	char body[80];
	bool ok;

	(void)state;
	login_from("{\"username\":\"alice\",\"password\":\"correct horse\"}", "192.0.2.1", &ok, &reply);
	assert_true(ok);
	for (int i = 0; i < 100; i++) {
		snprintf(body, sizeof(body), "{\"handle\":\"bob\",\"password\":\"x%d\"}", i);
		if (i >= 5)
			snprintf(body, sizeof(body), "{\"username\":\"name%d\",\"password\":\"x\"}", i);
		refuse(body);
	}
	refuse_as_type("{\"name\":\"u2\",\"password\":\"battery staple\"}", PROBLEM_TOO_MANY);
	login_from("{\"username\":\"alice\",\"password\":\"correct horse\"}", "192.0.2.1", &ok, &reply);
	assert_true(ok); /* known there */
	login_from("{\"handle\":\"bob\",\"password\":\"battery staple\"}", "192.0.2.2", &ok, &reply);
	assert_true(ok);
	f.now_ms += 5001;
	refuse("{\"name\":\"u2\",\"password\":\"battery staple\"}");
}

static void a_thread_that_does_not_hash_gives_a_login_up(void **state)
{
	struct run *r = callers_run(&f);
	struct buf b;

	(void)state;
	buf_init(&b, r->arena);
	r->no_hashing = true;
	assert_false(caller_login(r, json_parse(r->arena, SLICE("{\"name\":\"bob\",\"password\":\"x\"}")),
				  SLICE("192.0.2.1"), &b));
	assert_true(r->wants_hashing);
	assert_int_equal(r->problem.type, PROBLEM_BUSY);
	assert_true(r->problem.retry_after > 0);
	assert_int_equal(throttle_count(f.app.app.callers->throttle), 0); /* not an attempt yet */
	for (int i = 0; i < 5; i++)
		refuse("{\"name\":\"bob\",\"password\":\"x\"}");
	r = callers_run(&f);
	r->no_hashing = true;
	assert_false(caller_login(r, json_parse(r->arena, SLICE("{\"name\":\"bob\",\"password\":\"x\"}")),
				  SLICE("192.0.2.1"), &b));
	assert_int_equal(r->problem.type, PROBLEM_TOO_MANY);
	assert_false(r->wants_hashing); /* whoever has to wait takes no place among those who hash */
}

/* An entity that describes the credentials says what the hash is called. */
#define DESCRIBED                                                                               \
	"entities:\n"                                                                           \
	"  User:\n"                                                                             \
	"    path: /users/<name>\n"                                                             \
	"    attributes: {name: string, required}\n"                                            \
	"    keys: {PK: U#<name>, SK: U}\n"                                                     \
	"    login: {by: name, secret: {PK: U#<name>, SK: KEY}, subject: name}\n"               \
	"  Key:\n"                                                                              \
	"    internal: true\n"                                                                  \
	"    path: /keys/<owner>\n"                                                             \
	"    attributes: {owner: string, from the key, made: string, bcrypt: string, hidden}\n" \
	"    keys: {PK: U#<owner>, SK: KEY}\n"

static void the_credentials_entity_names_the_attribute(void **state)
{
	struct value key;
	struct slice attribute;
	struct row full;
	struct run *r;

	callers_close(&f);
	callers_open(&f, DESCRIBED);
	(void)state;
	r = callers_run(&f);
	row_init(&full, r->arena, NULL);
	row_put(&full, SLICE("name"), value_make_s(r->arena, SLICE("ann")));
	assert_true(caller_secret_place(r, &f.app.design->entities[0], &full, &key, &attribute));
	SLICE_IS(attribute, "bcrypt");
	SLICE_IS(value_bytes(value_get(key, SLICE("PK"))), "U#ann");
	SLICE_IS(value_bytes(value_get(key, SLICE("SK"))), "KEY");
	assert_int_equal(value_count(key), 2);
	put("{\"PK\":{\"S\":\"U#ann\"},\"SK\":{\"S\":\"U\"},\"name\":{\"S\":\"ann\"}}");
	put("{\"PK\":{\"S\":\"U#ann\"},\"SK\":{\"S\":\"KEY\"},\"bcrypt\":{\"S\":\"" HORSE "\"}}");
	expect_subject(pass("{\"name\":\"ann\",\"password\":\"correct horse\"}"), "ann");
}

static void without_accounts_there_is_no_login(void **state)
{
	callers_close(&f);
	callers_open(
		&f,
		"entities:\n  N:\n    path: /n/<id>\n    attributes: {id: 'string, id'}\n    keys: {PK: N#<id>, SK: N}\n");
	(void)state;
	refuse_as_type("{\"name\":\"alice\",\"password\":\"correct horse\"}", PROBLEM_NOT_FOUND);
	callers_close(&f);
	callers_open(&f, "callers: {issuer: 'https://issuer.example'}\n" ACCOUNTS);
	put_accounts();
	refuse_as_type("{\"username\":\"alice\",\"password\":\"correct horse\"}", PROBLEM_NOT_FOUND);
}

/* ---- permissions ---- */
#define GROUPS                                                                                       \
	"callers: {permissions: Group.permissions through groups of user(user = caller) by group}\n" \
	"entities:\n"                                                                                \
	"  Member:\n"                                                                                \
	"    path: /users/<user>/groups/<group>\n"                                                   \
	"    attributes: {user: string, required, group: string, required}\n"                        \
	"    keys: {PK: USER#<user>, SK: GROUP#<group>}\n"                                           \
	"  Group:\n"                                                                                 \
	"    path: /groups/<name>\n"                                                                 \
	"    attributes: {name: string, required, permissions: list of string}\n"                    \
	"    keys: {PK: GROUP#<name>, SK: GROUP}\n"                                                  \
	"access:\n"                                                                                  \
	"  groups of user: {path: /users/<user>/groups, query: table, where: {PK: USER#<user>, SK: begins with GROUP#}}\n"

static bool may(const char *subject, const char *permission)
{
	struct run *r = callers_run(&f);
	bool out = false;

	r->caller.subject = slice_str(subject);
	if (!caller_may(r, slice_str(permission), &out))
		fail_msg("%.*s", SLICE_ARG(r->problem.detail));
	assert_true(r->caller.permissions_known || !*subject);
	return out;
}

static void permissions_are_those_of_all_groups(void **state)
{
	callers_close(&f);
	callers_open(&f, GROUPS);
	(void)state;
	put("{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"GROUP#a\"},\"user\":{\"S\":\"ann\"},\"group\":{\"S\":\"a\"}}");
	put("{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"GROUP#b\"},\"user\":{\"S\":\"ann\"},\"group\":{\"S\":\"b\"}}");
	put("{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"GROUP#gone\"},\"user\":{\"S\":\"ann\"},\"group\":{\"S\":\"gone\"}}");
	put("{\"PK\":{\"S\":\"GROUP#a\"},\"SK\":{\"S\":\"GROUP\"},\"name\":{\"S\":\"a\"},"
	    "\"permissions\":{\"L\":[{\"S\":\"site:read\"},{\"N\":\"1\"}]}}");
	put("{\"PK\":{\"S\":\"GROUP#b\"},\"SK\":{\"S\":\"GROUP\"},\"name\":{\"S\":\"b\"},"
	    "\"permissions\":{\"SS\":[\"site:write\",\"x\"]}}");
	assert_true(may("ann", "site:read"));
	assert_true(may("ann", "site:write"));
	assert_false(may("ann", "site"));
	assert_false(may("ann", ""));
	assert_false(may("bob", "site:read"));
	assert_false(may("", "site:read"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_account_is_found_by_each_of_its_names),
		TEST(the_reply_has_a_token_and_the_account),
		TEST(every_failed_login_gets_the_same_reply),
		TEST(an_account_that_may_not_log_in_gets_the_same_reply),
		TEST(an_account_without_a_hash_cannot_log_in),
		TEST(a_guard_of_another_name_leads_nowhere),
		TEST(incomplete_bodies_are_explained),
		TEST(failures_slow_a_name_down),
		TEST(an_unknown_name_is_slowed_the_same),
		TEST(failures_slow_an_address_down),
		TEST(a_thread_that_does_not_hash_gives_a_login_up),
		TEST(the_credentials_entity_names_the_attribute),
		TEST(without_accounts_there_is_no_login),
		TEST(permissions_are_those_of_all_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
