/* Concurrent writes: one of several for the same thing succeeds, the others get an error, and every counter equals
 * its recount. SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "write_helper.h"

#define THREADS 8
#define ROUNDS  150
#define POSTS   3

static const char design[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<user>\n"
	"    attributes:\n"
	"      user: string, required\n"
	"      email: string, required, lower, unique\n"
	"      followers: counter\n"
	"      following: counter\n"
	"    keys: {PK: USER#<user>, SK: PROFILE}\n"
	"    companions:\n"
	"      - {unique: email, PK: EMAIL#<email>, SK: EMAIL, user: <user>}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Follow:\n"
	"    path: /users/<from>/following/<to>\n"
	"    attributes:\n      from: string, required\n      to: string, required\n"
	"    keys: {PK: USER#<from>, SK: FOLLOWING#<to>}\n"
	"    companions:\n"
	"      - {PK: USER#<to>, SK: FOLLOWER#<from>}\n"
	"    counts: [User(from).following, User(to).followers]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Category:\n"
	"    path: /categories/<name>\n"
	"    attributes:\n      name: string, required\n      open_posts: counter\n"
	"    keys: {PK: CATEGORY#<name>, SK: CATEGORY}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    delete: {refuse while: [posts of category]}\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      category: string\n"
	"      title: string, default untitled\n"
	"      tags: list of string, lower\n"
	"      extra: map\n"
	"      state: draft | open | closed, default open\n"
	"      likes: counter\n"
	"      votes: counter\n"
	"      ups: counter\n"
	"      comments: counter\n"
	"      views: counter\n"
	"      score: = likes * 2 + votes\n"
	"      updated_at: timestamp, touched\n"
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: CATEGORY#<category>, GSI1SK: POST#<id>}\n"
	"    keys when state = 'open':\n"
	"      GSI2PK: TOP\n"
	"      GSI2SK: <score:+6>#<ups:04>#<id>\n"
	"    companions:\n"
	"      - {for: tag in tags, when: state = 'open', PK: POST#<id>, SK: TAG#<tag>, likes: <likes>}\n"
	"    counts: [Category(category).open_posts when state = 'open' and category is present]\n"
	"    requires: [{Category(category) when category is present: there is no such category}]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n"
	"      close: {when: state = 'open', otherwise: not open, set: {state: closed}}\n"
	"      view: {add: {views: 1}}\n"
	"  Like:\n"
	"    path: /posts/<id>/likes/<user>\n"
	"    attributes:\n      id: string, required\n      user: string, required\n"
	"      title: copy of Post(id).title, kept by likes of post\n"
	"    keys: {PK: POST#<id>, SK: LIKE#<user>}\n"
	"    counts: [Post(id).likes]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Vote:\n"
	"    path: /posts/<id>/votes/<user>\n"
	"    attributes:\n      id: string, required\n      user: string, required\n      value: integer -5..5, required\n"
	"    keys: {PK: POST#<id>, SK: VOTE#<user>}\n"
	"    counts:\n"
	"      - Post(id).votes by value\n"
	"      - Post(id).ups when value > 0\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Comment:\n"
	"    path: /posts/<id>/comments/<number>\n"
	"    attributes:\n      id: string, required\n      number: string, required\n      is_deleted: boolean, default false\n"
	"    keys: {PK: POST#<id>, SK: COMMENT#<number>}\n"
	"    counts: [Post(id).comments when not is_deleted]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    delete: {set: {is_deleted: true}}\n"
	"access:\n"
	"  likes of post: {query: table, where: {PK: POST#<id>, SK: begins with LIKE#}}\n"
	"  posts of category: {query: GSI1, where: {GSI1PK: CATEGORY#<name>, GSI1SK: begins with POST#}}\n";

struct worker {
	struct app_fixture *fixture;
	struct backend *backend;
	struct arena arena;
	void (*work)(struct worker *w);
	int number;
	uint32_t random;
	int done, told;  /* went through; was refused as it should be */
	char wrong[256]; /* anything else */
};

static struct run run_of(struct worker *w)
{
	return (struct run){
		.app = &w->fixture->app,
		.design = w->fixture->design,
		.backend = w->backend,
		.arena = &w->arena,
		.now_ms = APP_FIXTURE_NOW,
		.caller = { .subject = SLICE("someone") },
	};
}

static uint32_t any(struct worker *w, uint32_t n)
{
	w->random = w->random * 1664525u + 1013904223u;
	return (w->random >> 8) % n;
}

static void tally(struct worker *w, const struct run *r, bool done)
{
	enum problem_type t = r->problem.type;

	if (done)
		w->done++;
	else if (t == PROBLEM_EXISTS || t == PROBLEM_TAKEN || t == PROBLEM_CONFLICT || t == PROBLEM_NOT_FOUND ||
		 t == PROBLEM_INVALID)
		w->told++;
	else
		snprintf(w->wrong, sizeof(w->wrong), "%s: %.*s", problem_name(t), SLICE_ARG(r->problem.detail));
}

static void *start(void *ctx)
{
	struct worker *w = ctx;

	w->work(w);
	return NULL;
}

/* Runs them all; sums[0] of what was done, sums[1] of what was refused. */
static void at_once(struct app_fixture *f, void (*work)(struct worker *), int sums[2])
{
	struct worker workers[THREADS] = { { 0 } };
	pthread_t threads[THREADS];

	sums[0] = sums[1] = 0;
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .fixture = f, .work = work, .number = i, .random = 77u + (uint32_t)i };
		workers[i].backend = backend_local_new(f->api);
		arena_init(&workers[i].arena);
		assert_int_equal(pthread_create(&threads[i], NULL, start, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		arena_release(&workers[i].arena);
		backend_free(workers[i].backend);
		sums[0] += workers[i].done;
		sums[1] += workers[i].told;
	}
	for (int i = 0; i < THREADS; i++)
		if (workers[i].wrong[0])
			fail_msg("%s", workers[i].wrong);
}

static void open_with_posts(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "a", "Category", "c", NULL);
	created(f, "a", "Category", "d", NULL);
	created(f, "a", "User", "ann", "{\"email\":\"ann@x\"}");
	created(f, "a", "User", "ben", "{\"email\":\"ben@x\"}");
	for (int i = 0; i < POSTS; i++)
		created(f, "a", "Post", (const char *[]){ "p0", "p1", "p2" }[i],
			"{\"category\":\"c\",\"tags\":[\"x\",\"y\"]}");
}

/* ---- the same thing ---- */

static void follow(struct worker *w)
{
	struct run r = run_of(w);
	struct write_result out;

	tally(w, &r, try_create(&r, "Follow", "ann/ben", NULL, &out));
}

static void one_of_many_follows(void **state)
{
	struct app_fixture f;
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, follow, sums);
	assert_int_equal(sums[0], 1);
	assert_int_equal(sums[1], THREADS - 1);
	assert_int_equal(number(item(&f, "User", "ann"), "following"), 1);
	assert_int_equal(number(item(&f, "User", "ben"), "followers"), 1);
	app_fixture_close(&f);
}

static void sign_up(struct worker *w)
{
	struct run r = run_of(w);
	struct write_result out;
	char name[16];

	snprintf(name, sizeof(name), "u%d", w->number);
	tally(w, &r, try_create(&r, "User", name, "{\"email\":\"Same@x\"}", &out));
}

static void one_of_many_gets_the_email(void **state)
{
	struct app_fixture f;
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, sign_up, sums);
	assert_int_equal(sums[0], 1);
	assert_int_equal(sums[1], THREADS - 1);
	app_fixture_close(&f);
}

static void close_post(struct worker *w)
{
	struct run r = run_of(w);
	struct write_result out;

	tally(w, &r, try_action(&r, "Post", "p0", "close", NULL, &out));
}

static void one_of_many_closes(void **state)
{
	struct app_fixture f;
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, close_post, sums);
	assert_int_equal(sums[0], 1);
	assert_int_equal(sums[1], THREADS - 1);
	assert_int_equal(number(item(&f, "Category", "c"), "open_posts"), POSTS - 1);
	app_fixture_close(&f);
}

/* ---- everything ---- */

static void one_of_everything(struct worker *w)
{
	static const char *const states[] = { "{\"state\":\"draft\"}", "{\"state\":\"open\"}" };
	static const char *const bodies[] = { "{\"title\":\"a\",\"tags\":[\"x\"]}",
					      "{\"title\":\"b\",\"tags\":[\"y\",\"z\"]}", "{\"category\":\"d\"}",
					      "{\"category\":\"c\",\"tags\":[\"x\",\"y\",\"z\"]}" };
	struct run r = run_of(w);
	struct write_result out;
	char post[8], path[32], vote[32];

	snprintf(post, sizeof(post), "p%u", any(w, POSTS));
	snprintf(path, sizeof(path), "%s/u%u", post, any(w, 4));
	snprintf(vote, sizeof(vote), "{\"value\":%d}", (int)any(w, 11) - 5);
	switch (any(w, 10)) {
	case 0: tally(w, &r, try_create(&r, "Like", path, NULL, &out)); break;
	case 1: tally(w, &r, try_delete(&r, "Like", path, NULL)); break;
	case 2: tally(w, &r, try_create(&r, "Vote", path, vote, &out)); break;
	case 3: tally(w, &r, try_update(&r, "Vote", path, vote, NULL, &out)); break;
	case 4: tally(w, &r, try_delete(&r, "Vote", path, NULL)); break;
	case 5: tally(w, &r, try_create(&r, "Comment", path, NULL, &out)); break;
	case 6: tally(w, &r, try_delete(&r, "Comment", path, NULL)); break;
	case 7: tally(w, &r, try_update(&r, "Comment", path, "{\"is_deleted\":false}", NULL, &out)); break;
	case 8: tally(w, &r, try_update(&r, "Post", post, states[any(w, 2)], NULL, &out)); break;
	case 9: tally(w, &r, try_update(&r, "Post", post, bodies[any(w, 4)], NULL, &out)); break;
	}
	arena_clear(&w->arena);
}

static void everything(struct worker *w)
{
	for (int i = 0; i < ROUNDS; i++)
		one_of_everything(w);
}

struct recount {
	int64_t likes, votes, ups, comments;
};

static bool starts(struct value it, const char *name, const char *prefix)
{
	return slice_starts(value_bytes(value_get(it, slice_str(name))), slice_str(prefix));
}

static struct recount recount(struct value *items, size_t n, const char *pk)
{
	struct recount c = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!slice_is(value_bytes(value_get(items[i], SLICE("PK"))), pk))
			continue;
		c.likes += starts(items[i], "SK", "LIKE#");
		c.comments +=
			starts(items[i], "SK", "COMMENT#") && !value_bool(value_get(items[i], SLICE("is_deleted")));
		if (!starts(items[i], "SK", "VOTE#"))
			continue;
		c.votes += number(items[i], "value");
		c.ups += number(items[i], "value") > 0;
	}
	return c;
}

/* The companions of a post: for each of its tags while it is open, with the likes it has. */
static void assert_tags(struct app_fixture *f, struct value post, const char *pk, struct value *items, size_t n)
{
	struct value tags = value_get(post, SLICE("tags"));
	bool open = slice_is(value_bytes(value_get(post, SLICE("state"))), "open");
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		if (slice_is(value_bytes(value_get(items[i], SLICE("PK"))), pk) && starts(items[i], "SK", "TAG#")) {
			assert_int_equal(number(items[i], "likes"), number(post, "likes"));
			found++;
		}
	assert_int_equal(found, open ? value_count(tags) : 0);
	(void)f;
}

static void assert_recount(struct app_fixture *f, struct value *items, size_t n)
{
	int open[2] = { 0 };

	for (int i = 0; i < POSTS; i++) {
		char name[16], pk[32], key[64];
		struct recount c;
		struct value post;
		bool is_open;

		snprintf(name, sizeof(name), "p%d", i);
		snprintf(pk, sizeof(pk), "POST#%s", name);
		post = item(f, "Post", name);
		c = recount(items, n, pk);
		assert_int_equal(number(post, "likes"), c.likes);
		assert_int_equal(number(post, "votes"), c.votes);
		assert_int_equal(number(post, "ups"), c.ups);
		assert_int_equal(number(post, "comments"), c.comments);
		assert_int_equal(number(post, "score"), 2 * c.likes + c.votes);
		is_open = slice_is(value_bytes(value_get(post, SLICE("state"))), "open");
		snprintf(key, sizeof(key), "%06d#%04d#%s", (int)(500000 + 2 * c.likes + c.votes), (int)c.ups, name);
		if (is_open)
			assert_text(post, "GSI2SK", key);
		else
			assert_false(value_present(value_get(post, SLICE("GSI2SK"))));
		assert_tags(f, post, pk, items, n);
		open[slice_is(value_bytes(value_get(post, SLICE("category"))), "d")] += is_open;
		for (size_t k = 0; k < n; k++)
			if (slice_is(value_bytes(value_get(items[k], SLICE("PK"))), pk) &&
			    starts(items[k], "SK", "LIKE#"))
				assert_true(value_equal(value_get(items[k], SLICE("title")),
							value_get(post, SLICE("title"))));
	}
	assert_int_equal(number(item(f, "Category", "c"), "open_posts"), open[0]);
	assert_int_equal(number(item(f, "Category", "d"), "open_posts"), open[1]);
}

static void every_counter_is_what_a_recount_gives(void **state)
{
	struct app_fixture f;
	struct value items[400];
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, everything, sums);
	assert_true(sums[0] > THREADS * ROUNDS / 4);
	assert_recount(&f, items, scan(&f, items, 400));
	app_fixture_close(&f);
}

/* ---- a move among additions ---- */

static void rename_or_view(struct worker *w)
{
	bool moved = false; /* it is q0 now; one that others kept from moving stays where it is */

	for (int i = 0; i < ROUNDS; i++) {
		struct run r = run_of(w);
		struct write_result out;

		if (w->number) {
			bool done = try_action(&r, "Post", i % 2 ? "p0" : "q0", "view", NULL, &out);

			if (done || r.problem.type != PROBLEM_NOT_FOUND)
				tally(w, &r, done);
		} else if (try_update(&r, "Post", moved ? "q0" : "p0", moved ? "{\"id\":\"p0\"}" : "{\"id\":\"q0\"}",
				      NULL, &out)) {
			moved = !moved;
		} else if (r.problem.type != PROBLEM_BUSY) {
			snprintf(w->wrong, sizeof(w->wrong), "%.*s", SLICE_ARG(r.problem.detail));
		}
		arena_clear(&w->arena);
	}
}

static void no_addition_is_lost_in_a_move(void **state)
{
	struct app_fixture f;
	struct value post;
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, rename_or_view, sums);
	post = item(&f, "Post", "p0");
	if (!value_present(post))
		post = item(&f, "Post", "q0");
	assert_int_equal(number(post, "views"), sums[0]);
	app_fixture_close(&f);
}

/* ---- patches of one map ---- */

static void patch_own_members(struct worker *w)
{
	for (int i = 0; i < 60; i++) {
		struct run r = run_of(w);
		const struct entity *e = design_entity(r.design, SLICE("Post"));
		struct write_options o = { .merge = true };
		struct value id = value_make_s(r.arena, SLICE("p0"));
		struct write_result out;
		struct row changes;
		char body[128];

		snprintf(body, sizeof(body), "{\"extra\":{\"in\":{\"w%d-%d\":1}}}", w->number, i);
		if (!input_body(&r, e, INPUT_PATCH, NULL, json_parse(r.arena, slice_str(body)), &changes))
			snprintf(w->wrong, sizeof(w->wrong), "%.*s", SLICE_ARG(r.problem.detail));
		else if (write_update(&r, &(struct identity){ e, &id, 1 }, &changes, &o, &out))
			w->done++;
		else if (r.problem.type != PROBLEM_BUSY)
			snprintf(w->wrong, sizeof(w->wrong), "%.*s", SLICE_ARG(r.problem.detail));
		arena_clear(&w->arena);
	}
}

static void no_member_of_a_map_is_lost_when_many_patch_it(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;
	char body[3000];
	int sums[2];

	(void)state;
	open_with_posts(&f);
	r = app_fixture_run(&f, "!");
	snprintf(body, sizeof(body), "{\"extra\":{\"long\":\"%0*d\"}}", 2000,
		 0); /* longer than what is compared anyway */
	assert_true(try_update(r, "Post", "p0", body, NULL, &out));
	at_once(&f, patch_own_members, sums);
	assert_true(sums[0] > THREADS);
	assert_int_equal(value_count(value_get(value_get(item(&f, "Post", "p0"), SLICE("extra")), SLICE("in"))),
			 sums[0]);
	app_fixture_close(&f);
}

/* ---- refuse while ---- */

static void delete_or_add(struct worker *w)
{
	for (int i = 0; i < 40; i++) {
		struct run r = run_of(w);
		struct write_result out;
		char name[16];

		snprintf(name, sizeof(name), "x%d-%d", w->number, i);
		if (w->number == 0)
			tally(w, &r,
			      try_delete(&r, "Category", "d", NULL) || try_create(&r, "Category", "d", NULL, &out));
		else
			tally(w, &r,
			      try_create(&r, "Post", name, "{\"category\":\"d\"}", &out) &&
				      try_delete(&r, "Post", name, NULL));
		arena_clear(&w->arena);
	}
}

static void keep_one(struct worker *w)
{
	struct run r = run_of(w);
	struct write_result out;

	if (w->number)
		tally(w, &r, try_create(&r, "Post", "last", "{\"category\":\"d\"}", &out));
	else
		tally(w, &r, try_delete(&r, "Category", "d", NULL));
}

static void nothing_is_left_without_its_category(void **state)
{
	struct app_fixture f;
	int sums[2];

	(void)state;
	open_with_posts(&f);
	at_once(&f, delete_or_add, sums);
	for (int i = 0; i < 10; i++) {
		if (!value_present(item(&f, "Category", "d")))
			created(&f, "a", "Category", "d", NULL);
		at_once(&f, keep_one, sums);
		assert_true(value_present(item(&f, "Category", "d")) || !value_present(item(&f, "Post", "last")));
		if (value_present(item(&f, "Post", "last")))
			deleted(&f, "a", "Post", "last");
	}
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many_follows),
		cmocka_unit_test(one_of_many_gets_the_email),
		cmocka_unit_test(one_of_many_closes),
		cmocka_unit_test(every_counter_is_what_a_recount_gives),
		cmocka_unit_test(no_addition_is_lost_in_a_move),
		cmocka_unit_test(no_member_of_a_map_is_lost_when_many_patch_it),
		cmocka_unit_test(nothing_is_left_without_its_category),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
