/* Writing: one transaction for an item and all that goes with it, and a clear word when it cannot be.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "write_helper.h"

static const char design[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<user_id>\n"
	"    attributes:\n"
	"      user_id: string 1..40, id 'usr_'\n"
	"      email: string, required, lower, unique\n"
	"      name: string\n"
	"      is_private: boolean, default false\n"
	"      status: active | gone, default active, managed\n"
	"      followers_count: counter\n"
	"      following_count: counter\n"
	"      created_at: timestamp, now\n"
	"      updated_at: timestamp, touched\n"
	"    keys: {PK: USER#<user_id>, SK: PROFILE}\n"
	"    companions:\n"
	"      - {unique: email, PK: EMAIL#<email>, SK: EMAIL, user_id: <user_id>}\n"
	"    allow:\n"
	"      create, read: anyone\n"
	"      update, delete: user_id = caller\n"
	"  Follow:\n"
	"    path: /users/<follower_id>/following/<followed_id>\n"
	"    attributes:\n"
	"      follower_id: string, required\n"
	"      followed_id: string, required\n"
	"      followed_name: copy of User(followed_id).name\n"
	"      state: active | blocked | pending, default choose(User(followed_id).is_private, 'pending', 'active'), managed\n"
	"    keys: {PK: USER#<follower_id>, SK: FOLLOWING#<followed_id>}\n"
	"    companions:\n"
	"      - {when: state = 'active', PK: USER#<followed_id>, SK: FOLLOWER#<follower_id>, follower_id: <follower_id>}\n"
	"    counts:\n"
	"      - User(follower_id).following_count when state = 'active'\n"
	"      - User(followed_id).followers_count when state = 'active' if status = 'active'\n"
	"    requires:\n"
	"      - {User(followed_id) if status = 'active': there is no such user}\n"
	"    check:\n"
	"      follower_id <> followed_id: nobody can follow themselves\n"
	"    allow:\n"
	"      create: follower_id = caller\n"
	"      read: anyone\n"
	"      update, delete: follower_id = caller\n"
	"    actions:\n"
	"      block:\n"
	"        creates: true\n"
	"        when: state <> 'blocked'\n"
	"        otherwise: blocked already\n"
	"        allow: followed_id = caller\n"
	"        set: {state: blocked}\n"
	"      approve:\n"
	"        when: state = 'pending'\n"
	"        otherwise: there is no request\n"
	"        allow: followed_id = caller\n"
	"        set: {state: active}\n"
	"  Post:\n"
	"    path: /posts/<slug>\n"
	"    attributes:\n"
	"      slug: string 1..60, lower, default slug(title), unique\n"
	"      title: string, required\n"
	"      text: text\n"
	"      author: string, the caller, fixed\n"
	"      tags: list of string 0..120, lower\n"
	"      secret_note: string, hidden\n"
	"      likes: counter\n"
	"      views: counter\n"
	"      score: = likes * 2\n"
	"      created_at: timestamp, now\n"
	"      updated_at: timestamp, touched\n"
	"    keys: {PK: POST#<slug>, SK: POST, GSI1PK: POSTS, GSI1SK: '<score:06>#<slug>'}\n"
	"    companions:\n"
	"      - {unique: slug, PK: SLUG#<slug>, SK: SLUG, slug: <slug>}\n"
	"      - {for: tag in tags, PK: POST#<slug>, SK: TAG#<tag>, tag: <tag>}\n"
	"    allow:\n"
	"      create: caller is user\n"
	"      read: anyone\n"
	"      update, delete: author = caller\n"
	"    actions:\n"
	"      view: {allow: anyone, add: {views: 1}}\n"
	"      peek: {allow: anyone, add: {views: 1}, gather: 60 s}\n"
	"    delete: {then remove: [likes of post]}\n"
	"  Like:\n"
	"    path: /posts/<slug>/likes/<user>\n"
	"    attributes:\n"
	"      slug: string, required, fixed\n"
	"      user: string, the caller, fixed\n"
	"      kind: like | love, default like\n"
	"    keys: {PK: POST#<slug>, SK: LIKE#<user>}\n"
	"    counts: [Post(slug).likes]\n"
	"    allow:\n"
	"      create: caller is user\n"
	"      read: anyone\n"
	"      update, delete: user = caller\n"
	"access:\n"
	"  likes of post: {query: table, where: {PK: POST#<slug>, SK: begins with LIKE#}}\n";

static void users(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, NULL, "User", NULL, "{\"user_id\":\"alice\",\"email\":\"Alice@x.org\",\"name\":\"Alice\"}");
	created(f, NULL, "User", NULL, "{\"user_id\":\"bob\",\"email\":\"bob@x.org\",\"name\":\"Bob\"}");
}

static void assert_follows(struct app_fixture *f, int following, int followers)
{
	assert_int_equal(number(item(f, "User", "alice"), "following_count"), following);
	assert_int_equal(number(item(f, "User", "bob"), "followers_count"), followers);
	assert_int_equal(is_stored(f, "USER#bob", "FOLLOWER#alice"), followers);
}

/* ---- limits ---- */

static const char made_design[] = "entities:\n"
				  "  Thing:\n"
				  "    path: /things/<id>\n"
				  "    attributes:\n"
				  "      id: string 1..40, id\n"
				  "      title: string, required\n"
				  "      slug: = slug(title), 1..10\n"
				  "      label: string 0..4, default title\n"
				  "      tags: = words(title), 0..2\n"
				  "      sum: number, default 0\n"
				  "      votes: integer, default 0\n"
				  "      mean: = sum / votes, 0..5\n"
				  "      contact: email, default title + '@example.com'\n"
				  "    keys: {PK: T#<id>, SK: T}\n"
				  "    allow: {create, read, update: anyone}\n"
				  "    actions: {recount: {allow: anyone, set: {votes: sum / 2}}}\n";

static void what_the_design_makes_keeps_its_limits(void **state)
{
	struct app_fixture f;
	struct value v;

	(void)state;
	app_fixture_open(&f, made_design);
	v = created(&f, NULL, "Thing", "t1", "{\"title\":\"sssssssss s two\",\"contact\":\"ann@x.org\"}");
	assert_text(v, "slug", "sssssssss"); /* not with the hyphen that was the tenth */
	assert_text(v, "label", "ssss");
	assert_int_equal(value_count(value_get(v, SLICE("tags"))), 2);
	assert_false(value_present(value_get(v, SLICE("mean")))); /* of none */
	assert_int_equal(number(updated(&f, NULL, "Thing", "t1", "{\"sum\":6,\"votes\":2}"), "mean"), 3);
	update_fails(&f, NULL, "Thing", "t1", "{\"sum\":60}", PROBLEM_INVALID, "mean: between 0 and 5");
	acted(&f, NULL, "Thing", "t1", "recount", NULL);
	updated(&f, NULL, "Thing", "t1", "{\"sum\":7}");
	action_fails(&f, NULL, "Thing", "t1", "recount", PROBLEM_INVALID, "votes: a whole number");
	update_fails(&f, NULL, "Thing", "t1", "{\"sum\":1e125,\"votes\":1}", PROBLEM_INVALID, "mean");
	create_fails(&f, NULL, "Thing", "t2", "{\"title\":\"a b\"}", PROBLEM_INVALID, "contact: an e-mail address");
	assert_text(created(&f, NULL, "Thing", "t3", "{\"title\":\"ann\"}"), "contact", "ann@example.com");
	app_fixture_close(&f);
}

static void an_identity_fits_into_an_address(void **state)
{
	static const char *const bad[] = { ".", "..", "a/b", " a", "a ", "a\\\\b", "a\\n", "a\\u200b", "a\\u202eb" };
	char body[80];
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, made_design);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(body, sizeof(body), "{\"id\":\"%s\",\"title\":\"ann\"}", bad[i]);
		create_fails(&f, NULL, "Thing", NULL, body, PROBLEM_INVALID, "id: is part of the address");
	}
	created(&f, NULL, "Thing", "a b.c:d", "{\"title\":\"ann\"}");
	app_fixture_close(&f);
}

/* ---- creating ---- */

static void creating_fills_in_what_the_server_gives(void **state)
{
	struct app_fixture f;
	struct value u;

	(void)state;
	app_fixture_open(&f, design);
	u = created(&f, NULL, "User", NULL, "{\"email\":\" Ann@X.org \"}");
	assert_text(u, "email", "ann@x.org");
	assert_text(u, "created_at", "2026-01-15T10:30:00Z");
	assert_text(u, "status", "active");
	assert_int_equal(number(u, "followers_count"), 0);
	assert_int_equal(value_bytes(value_get(u, SLICE("user_id"))).n, 30);
	assert_true(is_stored(&f, "EMAIL#ann@x.org", "EMAIL"));
	app_fixture_close(&f);
}

static void creating_twice_says_so_and_changes_nothing(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	users(&f);
	create_fails(&f, NULL, "User", NULL, "{\"user_id\":\"alice\",\"email\":\"other@x.org\"}", PROBLEM_EXISTS,
		     "User alice");
	assert_false(is_stored(&f, "EMAIL#other@x.org", "EMAIL"));
	r = app_fixture_run(&f, NULL);
	assert_false(try_create(r, "User", NULL, "{\"user_id\":\"carol\",\"email\":\"BOB@x.org\"}", &out));
	assert_problem(r, PROBLEM_TAKEN, "bob@x.org");
	assert_true(slice_is(r->problem.attribute, "email"));
	assert_false(is_stored(&f, "USER#carol", "PROFILE"));
	app_fixture_close(&f);
}

static void the_caller_comes_from_the_token(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	create_fails(&f, NULL, "Post", NULL, "{\"title\":\"Hello\"}", PROBLEM_UNAUTHENTICATED, NULL);
	assert_text(created(&f, "alice", "Post", NULL, "{\"title\":\"Hello World\",\"author\":\"bob\"}"), "author",
		    "alice");
	assert_text(item(&f, "Post", "hello-world"), "author", "alice");
	create_fails(&f, "bob", "Like", "hello-world/alice", "{}", PROBLEM_FORBIDDEN, "alice");
	assert_text(created(&f, "!", "Post", NULL, "{\"title\":\"Other\",\"author\":\"bob\"}"), "author", "bob");
	app_fixture_close(&f);
}

/* ---- following: a mirror and two counters ---- */

static void following_is_one_transaction(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	assert_text(created(&f, "alice", "Follow", "alice/bob", NULL), "followed_name", "Bob");
	assert_follows(&f, 1, 1);
	create_fails(&f, "alice", "Follow", "alice/bob", NULL, PROBLEM_EXISTS, "Follow alice/bob");
	assert_follows(&f, 1, 1);
	deleted(&f, "alice", "Follow", "alice/bob");
	assert_follows(&f, 0, 0);
	delete_fails(&f, "alice", "Follow", "alice/bob", PROBLEM_NOT_FOUND, NULL);
	assert_follows(&f, 0, 0);
	app_fixture_close(&f);
}

static void following_oneself_or_a_missing_user_is_refused(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	create_fails(&f, "alice", "Follow", "alice/alice", NULL, PROBLEM_INVALID, "themselves");
	create_fails(&f, "alice", "Follow", "alice/nobody", NULL, PROBLEM_NOT_FOUND, "no such user");
	create_fails(&f, "bob", "Follow", "alice/bob", NULL, PROBLEM_FORBIDDEN, NULL);
	create_fails(&f, NULL, "Follow", "alice/bob", NULL, PROBLEM_UNAUTHENTICATED, NULL);
	updated(&f, "!", "User", "bob", "{\"status\":\"gone\"}");
	create_fails(&f, "alice", "Follow", "alice/bob", NULL, PROBLEM_CONFLICT, "no such user");
	assert_follows(&f, 0, 0);
	app_fixture_close(&f);
}

static void a_request_counts_once_it_is_approved(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	updated(&f, "bob", "User", "bob", "{\"is_private\":true}");
	assert_text(created(&f, "alice", "Follow", "alice/bob", NULL), "state", "pending");
	assert_follows(&f, 0, 0);
	action_fails(&f, "alice", "Follow", "alice/bob", "approve", PROBLEM_FORBIDDEN, NULL);
	acted(&f, "bob", "Follow", "alice/bob", "approve", NULL);
	assert_follows(&f, 1, 1);
	action_fails(&f, "bob", "Follow", "alice/bob", "approve", PROBLEM_CONFLICT, "no request");
	app_fixture_close(&f);
}

static void blocking_works_on_a_user_that_does_not_follow(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	action_fails(&f, "alice", "Follow", "alice/bob", "block", PROBLEM_FORBIDDEN, NULL);
	action_fails(&f, NULL, "Follow", "alice/bob", "block", PROBLEM_UNAUTHENTICATED, NULL);
	assert_text(acted(&f, "bob", "Follow", "alice/bob", "block", NULL), "state", "blocked");
	assert_follows(&f, 0, 0);
	action_fails(&f, "bob", "Follow", "alice/bob", "block", PROBLEM_CONFLICT, "blocked already");
	create_fails(&f, "alice", "Follow", "alice/bob", NULL, PROBLEM_EXISTS, NULL);
	deleted(&f, "!", "Follow", "alice/bob");
	created(&f, "alice", "Follow", "alice/bob", NULL);
	acted(&f, "bob", "Follow", "alice/bob", "block", NULL);
	assert_follows(&f, 0, 0);
	app_fixture_close(&f);
}

static void a_count_on_a_deleted_item_is_dropped(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	created(&f, "alice", "Follow", "alice/bob", NULL);
	deleted(&f, "bob", "User", "bob");
	deleted(&f, "alice", "Follow", "alice/bob");
	assert_int_equal(number(item(&f, "User", "alice"), "following_count"), 0);
	assert_false(is_stored(&f, "USER#bob", "PROFILE"));
	app_fixture_close(&f);
}

/* ---- moves and companions ---- */

static void a_slug_moves_with_its_counters_guard_and_tags(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\",\"tags\":[\"A\",\"b\",\"a\"]}");
	created(&f, "bob", "Post", NULL, "{\"title\":\"Two\"}");
	created(&f, "bob", "Like", "one/bob", NULL);
	assert_text(updated(&f, "alice", "Post", "one", "{\"slug\":\"Uno\"}"), "slug", "uno");
	assert_false(is_stored(&f, "POST#one", "POST"));
	assert_false(is_stored(&f, "SLUG#one", "SLUG"));
	assert_false(is_stored(&f, "POST#one", "TAG#a"));
	assert_true(is_stored(&f, "SLUG#uno", "SLUG"));
	assert_true(is_stored(&f, "POST#uno", "TAG#b"));
	assert_int_equal(number(stored(&f, "POST#uno", "POST"), "likes"), 1);
	assert_text(stored(&f, "POST#uno", "POST"), "GSI1SK", "000002#uno");
	r = app_fixture_run(&f, "alice");
	assert_false(try_update(r, "Post", "uno", "{\"slug\":\"two\"}", NULL, &out));
	assert_problem(r, PROBLEM_TAKEN, "two");
	assert_true(slice_is(r->problem.attribute, "slug"));
	assert_true(is_stored(&f, "POST#uno", "POST"));
	app_fixture_close(&f);
}

static void a_moved_email_frees_the_old_one(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	updated(&f, "alice", "User", "alice", "{\"email\":\"new@x.org\"}");
	assert_false(is_stored(&f, "EMAIL#alice@x.org", "EMAIL"));
	created(&f, NULL, "User", NULL, "{\"user_id\":\"carol\",\"email\":\"alice@x.org\"}");
	update_fails(&f, "alice", "User", "alice", "{\"email\":\"alice@x.org\"}", PROBLEM_TAKEN, "alice@x.org");
	assert_text(stored(&f, "EMAIL#alice@x.org", "EMAIL"), "user_id", "carol");
	update_fails(&f, "bob", "User", "alice", "{\"email\":\"b@x.org\"}", PROBLEM_FORBIDDEN, NULL);
	update_fails(&f, NULL, "User", "alice", "{\"email\":\"b@x.org\"}", PROBLEM_UNAUTHENTICATED, NULL);
	app_fixture_close(&f);
}

static void tags_are_compared(void **state)
{
	struct app_fixture f;
	char many[2048] = "{\"tags\":[";

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\",\"tags\":[\"a\",\"b\"]}");
	updated(&f, "alice", "Post", "one", "{\"tags\":[\"b\",\"c\"]}");
	assert_false(is_stored(&f, "POST#one", "TAG#a"));
	assert_true(is_stored(&f, "POST#one", "TAG#b"));
	assert_true(is_stored(&f, "POST#one", "TAG#c"));
	updated(&f, "alice", "Post", "one", "{\"tags\":null}");
	assert_false(is_stored(&f, "POST#one", "TAG#b"));
	for (int i = 0; i < 110; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%s\"t%d\"", i ? "," : "", i);
	snprintf(many + strlen(many), sizeof(many) - strlen(many), "]}");
	update_fails(&f, "alice", "Post", "one", many, PROBLEM_INVALID, "at most 100");
	assert_false(is_stored(&f, "POST#one", "TAG#t1"));
	app_fixture_close(&f);
}

/* ---- updating ---- */

static void what_is_fixed_may_be_repeated_and_not_changed(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\"}");
	created(&f, "bob", "Like", "one/bob", NULL);
	updated(&f, "bob", "Like", "one/bob", "{\"slug\":\"one\",\"kind\":\"love\"}");
	update_fails(&f, "bob", "Like", "one/bob", "{\"slug\":\"two\"}", PROBLEM_INVALID, "slug");
	update_fails(&f, "alice", "Post", "one", "{\"title\":null}", PROBLEM_INVALID, "title");
	update_fails(&f, "!", "Post", "one", "{\"likes\":7}", PROBLEM_INVALID, "likes");
	assert_int_equal(number(item(&f, "Post", "one"), "likes"), 1);
	app_fixture_close(&f);
}

static void an_update_that_changes_nothing_writes_nothing(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	users(&f);
	r = app_fixture_run(&f, "alice");
	r->now_ms += 5000;
	must(r, try_update(r, "User", "alice", "{\"name\":\"Alice\"}", NULL, &out), "update");
	assert_text(item(&f, "User", "alice"), "updated_at", "2026-01-15T10:30:00Z");
	must(r, try_update(r, "User", "alice", "{\"name\":\"Al\"}", NULL, &out), "update");
	assert_text(item(&f, "User", "alice"), "updated_at", "2026-01-15T10:30:05Z");
	assert_text(out.full, "updated_at", "2026-01-15T10:30:05Z");
	app_fixture_close(&f);
}

static void if_match_takes_version_etag_and_star(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_options o = { .if_match = SLICE("\"2026-01-15T10:30:00Z\"") };
	struct write_result out;
	struct row is;

	(void)state;
	users(&f);
	r = app_fixture_run(&f, "alice");
	r->now_ms += 5000;
	must(r, try_update(r, "User", "alice", "{\"name\":\"A\"}", &o, &out), "version");
	assert_false(try_update(r, "User", "alice", "{\"name\":\"B\"}", &o, &out));
	assert_problem(r, PROBLEM_CHANGED, NULL);
	is = row_lay(r->arena, entity_named(r, "User"), item(&f, "User", "alice"));
	o.if_match = arena_printf(r->arena, "\"other\", %.*s", SLICE_ARG(output_etag(r, &is)));
	must(r, try_update(r, "User", "alice", "{\"name\":\"C\"}", &o, &out), "etag");
	assert_false(try_update(r, "User", "alice", "{\"name\":\"D\"}", &o, &out));
	assert_problem(r, PROBLEM_CHANGED, NULL);
	assert_false(try_delete(r, "User", "alice", &o));
	assert_problem(r, PROBLEM_CHANGED, NULL);
	o.if_match = SLICE("*");
	must(r, try_update(r, "User", "alice", "{\"name\":\"E\"}", &o, &out), "star");
	must(r, try_delete(r, "User", "alice", &o), "star");
	app_fixture_close(&f);
}

static void a_follow_cannot_be_given_to_another_user(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	created(&f, NULL, "User", NULL, "{\"user_id\":\"carol\",\"email\":\"c@x.org\"}");
	created(&f, "alice", "Follow", "alice/bob", NULL);
	update_fails(&f, "alice", "Follow", "alice/bob", "{\"follower_id\":\"carol\"}", PROBLEM_FORBIDDEN, NULL);
	updated(&f, "alice", "Follow", "alice/bob", "{\"followed_id\":\"carol\"}");
	assert_follows(&f, 1, 0);
	assert_int_equal(number(item(&f, "User", "carol"), "followers_count"), 1);
	app_fixture_close(&f);
}

/* ---- counters, gathering, cascades ---- */

static void liking_twice_counts_once(void **state)
{
	struct app_fixture f;

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\"}");
	created(&f, "bob", "Like", "one/bob", NULL);
	create_fails(&f, "bob", "Like", "one/bob", NULL, PROBLEM_EXISTS, NULL);
	create_fails(&f, "bob", "Like", "none/bob", NULL, PROBLEM_NOT_FOUND, "there is no Post none");
	assert_int_equal(number(item(&f, "Post", "one"), "likes"), 1);
	assert_int_equal(number(item(&f, "Post", "one"), "score"), 2);
	assert_text(stored(&f, "POST#one", "POST"), "GSI1SK", "000002#one");
	deleted(&f, "bob", "Like", "one/bob");
	assert_text(stored(&f, "POST#one", "POST"), "GSI1SK", "000000#one");
	app_fixture_close(&f);
}

static void views_add_and_touch_nothing_else(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\"}");
	r = app_fixture_run(&f, NULL);
	r->now_ms += 5000;
	must(r, try_action(r, "Post", "one", "view", NULL, &out), "view");
	assert_int_equal(number(out.full, "views"), 1);
	assert_int_equal(number(item(&f, "Post", "one"), "views"), 1);
	assert_text(item(&f, "Post", "one"), "updated_at", "2026-01-15T10:30:00Z");
	action_fails(&f, NULL, "Post", "none", "view", PROBLEM_NOT_FOUND, NULL);
	app_fixture_close(&f);
}

static int64_t gather_wall_ms, gather_steady_ms;
static int64_t gather_wall(void *ctx)
{
	(void)ctx;
	return gather_wall_ms;
}
static int64_t gather_steady(void *ctx)
{
	(void)ctx;
	return gather_steady_ms;
}

/* A minute is a minute, also when the wall clock was set back by a day. */
static void gathered_views_are_written_together(void **state)
{
	static const struct clock clock = { .now_ms = gather_wall, .steady_ms = gather_steady };
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	users(&f);
	gather_wall_ms = APP_FIXTURE_NOW;
	f.app.clock = &clock;
	f.app.gather = gather_new();
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\"}");
	created(&f, "alice", "Post", NULL, "{\"title\":\"Two\"}");
	r = app_fixture_run(&f, "!");
	for (int i = 0; i < 5; i++) {
		must(r, try_action(r, "Post", i < 3 ? "one" : "two", "peek", NULL, &out), "peek");
		assert_true(out.gathered);
	}
	action_fails(&f, NULL, "Post", "none", "peek", PROBLEM_NOT_FOUND, NULL);
	assert_int_equal(number(item(&f, "Post", "one"), "views"), 0);
	assert_true(write_flush_gathered(r, false));
	assert_int_equal(number(item(&f, "Post", "one"), "views"), 0);
	deleted(&f, "alice", "Post", "two");
	gather_wall_ms -= 24 * 3600 * 1000;
	gather_steady_ms += 60000;
	r->now_ms = gather_wall_ms;
	assert_true(write_flush_gathered(r, false));
	assert_int_equal(number(item(&f, "Post", "one"), "views"), 3);
	assert_false(is_stored(&f, "POST#two", "POST"));
	must(r, try_action(r, "Post", "one", "peek", NULL, &out), "peek");
	assert_true(write_flush_gathered(r, true));
	assert_int_equal(number(item(&f, "Post", "one"), "views"), 4);
	gather_free(f.app.gather);
	app_fixture_close(&f);
}

static void dependents_of_a_deleted_item_are_removed_after_it(void **state)
{
	struct app_fixture f;
	struct value items[64];

	(void)state;
	users(&f);
	created(&f, "alice", "Post", NULL, "{\"title\":\"One\",\"tags\":[\"a\"]}");
	created(&f, "alice", "Like", "one/alice", NULL);
	created(&f, "bob", "Like", "one/bob", NULL);
	delete_fails(&f, "bob", "Post", "one", PROBLEM_FORBIDDEN, NULL);
	deleted(&f, "alice", "Post", "one");
	assert_int_equal(scan(&f, items, 64), 4); /* two users, two guards of their emails */
	app_fixture_close(&f);
}

/* ---- idempotency ---- */

static void a_token_does_a_write_once(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_options o = { .token = SLICE("token-1") };
	struct write_result out;
	struct row given;
	const struct entity *e;

	(void)state;
	users(&f);
	r = app_fixture_run(&f, NULL);
	e = entity_named(r, "User");
	assert_true(
		input_body(r, e, INPUT_CREATE, NULL, body(r, "{\"user_id\":\"dora\",\"email\":\"d@x.org\"}"), &given));
	must(r, write_create(r, e, &given, &o, &out), "first");
	must(r, write_create(r, e, &given, &o, &out), "the same again");
	row_put(&given, SLICE("user_id"), value_make_s(r->arena, SLICE("dora2")));
	assert_false(write_create(r, e, &given, &o, &out));
	assert_problem(r, PROBLEM_CONFLICT, "Idempotency-Key");
	assert_false(is_stored(&f, "USER#dora2", "PROFILE"));
	app_fixture_close(&f);
}

/* ---- keys that have more than the address ---- */

static const char remarks[] =
	"entities:\n"
	"  Remark:\n"
	"    path: /posts/<post>/remarks/<id>\n"
	"    found by: remark by id\n"
	"    attributes: {post: 'string, required', id: 'string, id', made: 'timestamp, now', text: string}\n"
	"    keys: {PK: 'POST#<post>', SK: 'REMARK#<made>#<id>', GSI1PK: 'REMARK#<id>', GSI1SK: '<post>'}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"access:\n"
	"  remark by id: {query: GSI1, where: {GSI1PK: 'REMARK#<id>'}}\n";

static bool remark_later(struct app_fixture *f, const char *path, int seconds)
{
	struct run *r = app_fixture_run(f, "ann");
	struct write_result out;
	bool ok;

	r->now_ms += seconds * 1000;
	ok = try_create(r, "Remark", path, NULL, &out);
	if (!ok)
		assert_problem(r, PROBLEM_EXISTS, "already");
	return ok;
}

static void an_address_has_one_item_though_the_time_is_in_the_key(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, remarks);
	assert_true(remark_later(&f, "p/1", 0));
	assert_false(remark_later(&f, "p/1", 0));
	assert_false(remark_later(&f, "p/1", 10));
	assert_true(remark_later(&f, "q/1", 20)); /* another address */
	deleted(&f, "ann", "Remark", "p/1");
	assert_true(remark_later(&f, "p/1", 40));
	app_fixture_close(&f);
}

/* ---- for the runtime ---- */

static void put_keeps_an_existing_item(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct row given;
	bool made;

	(void)state;
	users(&f);
	r = app_fixture_run(&f, NULL);
	row_init(&given, r->arena, NULL);
	row_put(&given, SLICE("user_id"), value_make_s(r->arena, SLICE("alice")));
	row_put(&given, SLICE("email"), value_make_s(r->arena, SLICE("z@x.org")));
	must(r, write_put(r, entity_named(r, "User"), &given, &made), "put");
	assert_false(made);
	row_put(&given, SLICE("user_id"), value_make_s(r->arena, SLICE("zoe")));
	must(r, write_put(r, entity_named(r, "User"), &given, &made), "put");
	assert_true(made);
	assert_true(is_stored(&f, "EMAIL#z@x.org", "EMAIL"));
	must(r, write_remove(r, entity_named(r, "User"), dyn_key_of(r, stored(&f, "USER#zoe", "PROFILE"))), "remove");
	assert_false(is_stored(&f, "EMAIL#z@x.org", "EMAIL"));
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_design_makes_keeps_its_limits),
		cmocka_unit_test(an_identity_fits_into_an_address),
		cmocka_unit_test(creating_fills_in_what_the_server_gives),
		cmocka_unit_test(creating_twice_says_so_and_changes_nothing),
		cmocka_unit_test(the_caller_comes_from_the_token),
		cmocka_unit_test(following_is_one_transaction),
		cmocka_unit_test(following_oneself_or_a_missing_user_is_refused),
		cmocka_unit_test(a_request_counts_once_it_is_approved),
		cmocka_unit_test(blocking_works_on_a_user_that_does_not_follow),
		cmocka_unit_test(a_count_on_a_deleted_item_is_dropped),
		cmocka_unit_test(a_slug_moves_with_its_counters_guard_and_tags),
		cmocka_unit_test(a_moved_email_frees_the_old_one),
		cmocka_unit_test(tags_are_compared),
		cmocka_unit_test(what_is_fixed_may_be_repeated_and_not_changed),
		cmocka_unit_test(an_update_that_changes_nothing_writes_nothing),
		cmocka_unit_test(if_match_takes_version_etag_and_star),
		cmocka_unit_test(a_follow_cannot_be_given_to_another_user),
		cmocka_unit_test(liking_twice_counts_once),
		cmocka_unit_test(views_add_and_touch_nothing_else),
		cmocka_unit_test(gathered_views_are_written_together),
		cmocka_unit_test(dependents_of_a_deleted_item_are_removed_after_it),
		cmocka_unit_test(a_token_does_a_write_once),
		cmocka_unit_test(an_address_has_one_item_though_the_time_is_in_the_key),
		cmocka_unit_test(put_keeps_an_existing_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
