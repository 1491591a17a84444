/* Sessions: a change of the account, by any writer, ends them with the next request; nothing else does.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>
#include "app_client.h"
#include "app/auth/caller_internal.h"
#include "app/db/dyn.h"
#include "base/audit.h"
#include "value/codec.h"

/* bcrypt of "correct horse" and "battery staple", cheap ones. */
#define HORSE  "$2b$04$Yk4vQI7bEsi.9qUvP56MPeTnol6T0gVUJEjJtEECxGWnz3cKh47Dm"
#define STAPLE "$2a$04$YLwXbz5k9I7v2KwNpzFj6uFw71jHxvbjliE4U3XTCqHmJV28T9Fsi"

#define ACCOUNTS                                                                                                  \
	"callers: {roles: [user, admin]}\n"                                                                       \
	"entities:\n"                                                                                             \
	"  User:\n"                                                                                               \
	"    path: /users/<name>\n"                                                                               \
	"    attributes:\n"                                                                                       \
	"      name: string, required, lower\n"                                                                   \
	"      role: user | admin, default user, managed\n"                                                       \
	"      status: active | suspended, default active, managed\n"                                             \
	"      bio: string\n"                                                                                     \
	"      created_at: timestamp, now\n"                                                                      \
	"      hash: string, hidden\n"                                                                            \
	"    keys: {PK: USER#<name>, SK: PROFILE}\n"                                                              \
	"    login: {by: name, password: hash, subject: name, role: role, when: status = 'active'}\n"             \
	"    allow: {create, read: anyone, update, delete: name = caller or caller is admin}\n"                   \
	"    actions:\n"                                                                                          \
	"      promote: {allow: caller is admin, set: {role: admin}}\n"                                           \
	"      demote: {allow: caller is admin, set: {role: user}}\n"                                             \
	"      suspend: {allow: caller is admin, set: {status: suspended}}\n"                                     \
	"  Member:\n"                                                                                             \
	"    path: /members/<id>\n"                                                                               \
	"    attributes: {id: 'string, id', nick: 'string, required, unique', club: string}\n"                    \
	"    keys: {PK: MEMBER#<id>, SK: MEMBER}\n"                                                               \
	"    companions: [{unique: nick, PK: NICK#<nick>, SK: NICK, id: <id>}]\n"                                 \
	"    login: {by: nick, secret: {PK: SECRET#<id>, SK: AUTH}, subject: id, when: Club(club).open = true}\n" \
	"    allow: {create, read: anyone, update: id = caller}\n"                                                \
	"  Club:\n"                                                                                               \
	"    path: /clubs/<club>\n"                                                                               \
	"    attributes: {club: string, open: 'boolean, default true'}\n"                                         \
	"    keys: {PK: CLUB#<club>, SK: CLUB}\n"                                                                 \
	"    allow: {read: anyone}\n"                                                                             \
	"  Note:\n"                                                                                               \
	"    path: /notes/<id>\n"                                                                                 \
	"    attributes: {id: 'string, id', owner: 'string, the caller', text: string}\n"                         \
	"    keys: {PK: NOTE#<id>, SK: NOTE}\n"                                                                   \
	"    allow: {create: caller is user, read: owner = caller or caller is admin}\n"

static struct client c;

static struct run run_of(void)
{
	return (struct run){
		.app = c.app, .design = c.f.design, .backend = c.f.backend, .arena = &c.f.arena, .now_ms = c.now_ms
	};
}

/* As any SDK would: past the app. */
static void put(const char *text)
{
	struct dyn_write w = { .kind = DYN_PUT };
	struct dyn_refusal refusal;
	struct error e = { 0 };
	struct run r = run_of();

	assert_true(item_from_json(&c.f.arena, json_parse(&c.f.arena, slice_str(text)), &w.item, &e));
	assert_int_equal(dyn_write(&r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static void remove_item(const char *pk, const char *sk)
{
	struct value_member key[] = { { SLICE("PK"), value_make_s(&c.f.arena, slice_str(pk)) },
				      { SLICE("SK"), value_make_s(&c.f.arena, slice_str(sk)) } };
	struct dyn_write w = { .kind = DYN_DELETE, .key = value_make_map(&c.f.arena, key, 2) };
	struct dyn_refusal refusal;
	struct run r = run_of();

	assert_int_equal(dyn_write(&r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static void put_user(const char *name, const char *role, const char *status, const char *hash, const char *created)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"PK\":{\"S\":\"USER#%s\"},\"SK\":{\"S\":\"PROFILE\"},\"name\":{\"S\":\"%s\"},\"role\":{\"S\":\"%s\"},"
		 "\"status\":{\"S\":\"%s\"},\"hash\":{\"S\":\"%s\"},\"created_at\":{\"S\":\"%s\"}}",
		 name, name, role, status, hash, created);
	put(text);
}

#define LONG_AGO "2026-01-01T00:00:00Z"

static int setup(void **state)
{
	(void)state;
	client_open(&c, ACCOUNTS);
	put_user("ann", "admin", "active", HORSE, LONG_AGO);
	put_user("bob", "admin", "active", HORSE, LONG_AGO);
	put("{\"PK\":{\"S\":\"CLUB#x\"},\"SK\":{\"S\":\"CLUB\"},\"club\":{\"S\":\"x\"},\"open\":{\"BOOL\":true}}");
	put("{\"PK\":{\"S\":\"MEMBER#m1\"},\"SK\":{\"S\":\"MEMBER\"},\"id\":{\"S\":\"m1\"},\"nick\":{\"S\":\"mo\"},\"club\":{\"S\":\"x\"}}");
	put("{\"PK\":{\"S\":\"NICK#mo\"},\"SK\":{\"S\":\"NICK\"},\"id\":{\"S\":\"m1\"}}");
	put("{\"PK\":{\"S\":\"SECRET#m1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"" HORSE "\"}}");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	client_close(&c);
	return 0;
}

/* The Authorization header after this login. */
static struct slice log_in(const char *name, const char *password)
{
	char body[256];
	const struct json *reply;

	c.authorization = SLICE("");
	snprintf(body, sizeof(body), "{\"%s\":\"%s\",\"password\":\"%s\"}", strcmp(name, "mo") ? "name" : "nick", name,
		 password);
	client_ask(&c, APP_POST, "/login", body);
	client_is(&c, 200);
	reply = json_parse(&c.f.arena, c.reply.body);
	return arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(json_get(reply, "token")->string));
}

static int ask(struct slice who, enum app_method m, const char *target, const char *body)
{
	c.authorization = who;
	client_ask(&c, m, target, body);
	return c.reply.status;
}

static void is_over(struct slice who)
{
	assert_int_equal(ask(who, APP_GET, "/me", NULL), 401);
	client_says(&c, "log in again");
	assert_int_equal(ask(who, APP_POST, "/notes", "{\"text\":\"x\"}"), 401);
}

static void a_session_goes_on_while_nothing_is_changed(void **state)
{
	struct slice ann = log_in("ann", "correct horse");

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask(ann, APP_GET, "/me", NULL), 200);
	client_says(&c, "\"roles\":[\"admin\"]");
	/* what it does not hang on */
	assert_int_equal(ask(ann, APP_PATCH, "/users/ann", "{\"bio\":\"hello\"}"), 200);
	assert_int_equal(ask(ann, APP_GET, "/me", NULL), 200);
}

static void a_demoted_admin_cannot_promote_himself_back(void **state)
{
	struct slice ann = log_in("ann", "correct horse"), bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	assert_int_equal(ask(ann, APP_POST, "/users/bob/demote", NULL), 200);
	assert_int_equal(ask(bob, APP_POST, "/users/bob/promote", NULL), 403);
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200); /* he is still himself */
	client_says(&c, "\"roles\":[\"user\"]");
	/* and the other way: a promotion needs no new login */
	assert_int_equal(ask(ann, APP_POST, "/users/bob/promote", NULL), 200);
	assert_int_equal(ask(bob, APP_POST, "/users/ann/demote", NULL), 200);
	assert_int_equal(ask(ann, APP_POST, "/users/ann/promote", NULL), 403);
}

static void a_raw_write_of_the_role_counts(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	put_user("bob", "user", "active", HORSE, LONG_AGO);
	assert_int_equal(ask(bob, APP_POST, "/users/bob/promote", NULL), 403);
}

static void suspension_ends_it_and_lifting_it_brings_it_back(void **state)
{
	struct slice ann = log_in("ann", "correct horse"), bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(ann, APP_POST, "/users/bob/suspend", NULL), 200);
	is_over(bob);
	put_user("bob", "admin", "active", HORSE, LONG_AGO);
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
}

static void deletion_ends_it_and_a_new_account_of_the_name_is_another_one(void **state)
{
	struct slice ann = log_in("ann", "correct horse"), bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	assert_int_equal(ask(ann, APP_DELETE, "/users/bob", NULL), 204);
	is_over(bob);
	c.authorization = SLICE("");
	client_ask(&c, APP_POST, "/users", "{\"name\":\"bob\",\"password\":\"correct horse\"}");
	client_is(&c, 201);
	is_over(bob);
	assert_int_equal(ask(log_in("bob", "correct horse"), APP_GET, "/me", NULL), 200);
}

static void an_account_put_back_with_the_same_hash_is_another_one(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	remove_item("USER#bob", "PROFILE");
	is_over(bob);
	put_user("bob", "admin", "active", HORSE, "2026-02-02T00:00:00Z");
	is_over(bob);
}

static void a_new_password_ends_every_session_also_the_own(void **state)
{
	struct slice one = log_in("bob", "correct horse"), two = log_in("bob", "correct horse"), now;

	(void)state;
	assert_int_equal(ask(two, APP_GET, "/me", NULL), 200);
	assert_int_equal(ask(one, APP_PATCH, "/users/bob",
			     "{\"password\":\"another horse\",\"current_password\":\"correct horse\"}"),
			 200);
	is_over(one);
	is_over(two);
	now = log_in("bob", "another horse");
	assert_int_equal(ask(now, APP_GET, "/me", NULL), 200);
	put_user("bob", "admin", "active", STAPLE, LONG_AGO); /* as an operator does with an SDK */
	is_over(now);
}

static void credentials_of_their_own_and_a_rule_that_reads_another_item_count(void **state)
{
	struct slice mo = log_in("mo", "correct horse");

	(void)state;
	assert_int_equal(ask(mo, APP_GET, "/me", NULL), 200);
	assert_int_equal(ask(mo, APP_GET, "/me", NULL), 200);
	put("{\"PK\":{\"S\":\"CLUB#x\"},\"SK\":{\"S\":\"CLUB\"},\"club\":{\"S\":\"x\"},\"open\":{\"BOOL\":false}}");
	is_over(mo);
	put("{\"PK\":{\"S\":\"CLUB#x\"},\"SK\":{\"S\":\"CLUB\"},\"club\":{\"S\":\"x\"},\"open\":{\"BOOL\":true}}");
	assert_int_equal(ask(mo, APP_GET, "/me", NULL), 200);
	put("{\"PK\":{\"S\":\"SECRET#m1\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"" STAPLE "\"}}");
	is_over(mo);
	mo = log_in("mo", "battery staple");
	assert_int_equal(ask(mo, APP_GET, "/me", NULL), 200);
	remove_item("SECRET#m1", "AUTH");
	is_over(mo);
}

static void (*real_execute)(struct backend *, struct arena *, const struct request *, struct reply *);

/* A concurrent write comes first, once. */
static void demote_then_get(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (q->kind == REQUEST_GET) {
		b->execute = real_execute;
		put_user("bob", "user", "active", HORSE, LONG_AGO);
	}
	real_execute(b, a, q, reply);
}

static void a_demotion_between_a_request_and_its_write_counts(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	real_execute = c.f.backend->execute;
	c.f.backend->execute = demote_then_get;
	assert_int_equal(ask(bob, APP_POST, "/users/bob/promote", NULL), 403);
	assert_ptr_equal(c.f.backend->execute, real_execute);
}

static void get_then_demote(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	real_execute(b, a, q, reply);
	if (q->kind != REQUEST_GET)
		return;
	b->execute = real_execute;
	put_user("bob", "user", "active", HORSE, LONG_AGO);
}

/* C1: the account was read as it was before, and that is not remembered as what it is now. */
static void a_demotion_right_after_the_account_was_read_counts_from_the_next_request(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	real_execute = c.f.backend->execute;
	c.f.backend->execute = get_then_demote;
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	assert_ptr_equal(c.f.backend->execute, real_execute);
	client_says(&c, "\"roles\":[\"admin\"]");
	assert_int_equal(ask(bob, APP_GET, "/me", NULL), 200);
	client_says(&c, "\"roles\":[\"user\"]");
}

/* As with a remote table: the process does not see all writes. */
static void a_backend_without_versions_is_read_each_time(void **state)
{
	uint64_t (*version)(struct backend *, struct arena *, struct slice, struct value) = c.f.backend->version;

	c.f.backend->version = NULL;
	a_demoted_admin_cannot_promote_himself_back(state);
	c.f.backend->version = version;
}

/* Each request of a batch is one. */
static void a_batch_that_ends_its_own_session_goes_no_further(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	assert_int_equal(ask(bob, APP_POST, "/batch",
			     "{\"requests\":[{\"method\":\"DELETE\",\"path\":\"/users/bob\"},"
			     "{\"method\":\"POST\",\"path\":\"/notes\",\"body\":{\"text\":\"after\"}}]}"),
			 200);
	client_says(&c, "{\"status\":204}");
	client_says(&c, "{\"status\":401");
}

static void an_answer_kept_for_an_idempotency_key_is_not_given_to_the_next_of_the_name(void **state)
{
	struct slice bob = log_in("bob", "correct horse");

	(void)state;
	c.q.idempotency_key = SLICE("k1");
	assert_int_equal(ask(bob, APP_POST, "/notes", "{\"text\":\"secret\"}"), 201);
	remove_item("USER#bob", "PROFILE");
	put_user("bob", "user", "active", STAPLE, LONG_AGO);
	bob = log_in("bob", "battery staple");
	c.q.idempotency_key = SLICE("k1");
	assert_int_equal(ask(bob, APP_POST, "/notes", "{\"text\":\"secret\"}"), 201);
	assert_false(client_has(c.reply.headers, "Idempotency-Replayed"));
}

/* A login's, as they were made before sessions ended: without a stamp, and not by `thorpe token`. */
static void a_token_without_a_stamp_is_refused_and_one_of_the_command_is_not(void **state)
{
	struct slice claims, token;
	uint8_t secret[CALLER_SECRET_BYTES], key[32];

	(void)state;
	memset(secret, 9, sizeof(secret));
	assert_true(caller_token_key(c.f.design->name, secret, key));
	claims = arena_printf(&c.f.arena,
			      "{\"iss\":\"thorpe\",\"aud\":\"%.*s\",\"sub\":\"bob\",\"roles\":[\"admin\"],\"exp\":%lld}",
			      SLICE_ARG(c.f.design->name), (long long)(c.now_ms / 1000 + 60));
	token = jwt_make(&c.f.arena, claims, key);
	assert_int_equal(ask(arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(token)), APP_GET, "/me", NULL), 401);
	client_says(&c, "log in again");
	client_as(&c, "nobody-in-the-table"); /* as `thorpe token` makes them */
	client_ask(&c, APP_GET, "/me", NULL);
	client_is(&c, 200);
}

/* A token with a valid signature (from another server of the design) cannot misstate its account. */
static void a_token_must_match_its_account(void **state)
{
	static const char *const accounts[] = { "!",        "User",  ":",     "User:!",  "User:AAAA",
						"User:CQE", "Note:", "Club:", "Member:", "User:x:" };
	uint8_t secret[CALLER_SECRET_BYTES];

	(void)state;
	memset(secret, 9, sizeof(secret));
	for (size_t i = 0; i < sizeof(accounts) / sizeof(*accounts); i++) {
		struct token_request q = { .subject = SLICE("bob"),
					   .now_ms = c.now_ms,
					   .seconds = 60,
					   .account = slice_str(accounts[i]),
					   .stamp = SLICE("AAAA") };
		struct slice token = caller_token(&c.f.arena, c.f.design->name, secret, &q);

		assert_int_equal(ask(arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(token)), APP_GET, "/me", NULL),
				 401);
	}
}

static void a_changed_password_is_a_line_of_the_audit_log(void **state)
{
	char path[] = "/tmp/thorpe-audit-XXXXXX", why[256], text[8192];
	struct slice bob = log_in("bob", "correct horse");
	int fd = mkstemp(path);
	FILE *file;
	size_t n;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_true(audit_open(path, why, sizeof(why)));
	assert_int_equal(ask(bob, APP_PATCH, "/users/bob",
			     "{\"password\":\"another horse\",\"current_password\":\"correct horse\"}"),
			 200);
	audit_close();
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	unlink(path);
	text[n] = 0;
	assert_non_null(strstr(text, "\"kind\":\"password\",\"outcome\":\"ok\",\"subject\":\"bob\""));
	assert_non_null(strstr(text, "PATCH /users/bob"));
	assert_null(strstr(text, "horse"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_session_goes_on_while_nothing_is_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_demoted_admin_cannot_promote_himself_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_raw_write_of_the_role_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(suspension_ends_it_and_lifting_it_brings_it_back, setup, teardown),
		cmocka_unit_test_setup_teardown(deletion_ends_it_and_a_new_account_of_the_name_is_another_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_account_put_back_with_the_same_hash_is_another_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_password_ends_every_session_also_the_own, setup, teardown),
		cmocka_unit_test_setup_teardown(credentials_of_their_own_and_a_rule_that_reads_another_item_count,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_demotion_between_a_request_and_its_write_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_demotion_right_after_the_account_was_read_counts_from_the_next_request,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_backend_without_versions_is_read_each_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_batch_that_ends_its_own_session_goes_no_further, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_answer_kept_for_an_idempotency_key_is_not_given_to_the_next_of_the_name, setup, teardown),
		cmocka_unit_test_setup_teardown(a_token_without_a_stamp_is_refused_and_one_of_the_command_is_not, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_token_must_match_its_account, setup, teardown),
		cmocka_unit_test_setup_teardown(a_changed_password_is_a_line_of_the_audit_log, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
