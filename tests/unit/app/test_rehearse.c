/* Requests to a database that is a round trip away: how many there are, and that a guess is never an answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"
#include "app/app.h"
#include "app/run/state.h"
#include "app/db/rehearse.h"
#include "base/alloc.h"

static struct client c;
static struct backend *near;

/* A database that is far away: documents only, and counted. */
static struct far {
	struct backend backend;
	unsigned gets, batches, queries, writes;
	unsigned rounds; /* trips, one after the other */
	bool is_together;
	const char *fails; /* the operation that does; NULL: none */
	void (*before_write)(void);
} far;

static void far_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };

	(void)b;
	far.rounds += !far.is_together;
	if (!strcmp(operation, "GetItem"))
		far.gets++;
	else if (!strcmp(operation, "BatchGetItem"))
		far.batches++;
	else if (!strcmp(operation, "Query"))
		far.queries++;
	else
		far.writes++;
	if (far.before_write && strcmp(operation, "BatchGetItem") && strcmp(operation, "GetItem") &&
	    strcmp(operation, "Query")) {
		void (*meddle)(void) = far.before_write;

		far.before_write = NULL;
		meddle();
	}
	if (far.fails && !strcmp(operation, far.fails)) {
		*reply = (struct backend_reply){
			.status = 500, .body = &empty, .error = SLICE("InternalServerError"), .message = SLICE("no")
		};
		return;
	}
	backend_call(near, a, operation, body, reply);
}

static void far_execute_all(struct backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n)
{
	far.rounds++;
	far.is_together = true;
	for (size_t i = 0; i < n; i++)
		backend_execute(b, a, &q[i], &replies[i]);
	far.is_together = false;
}

static void far_free(struct backend *b)
{
	(void)b;
}

static const char notes[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<user>\n"
	"    attributes:\n"
	"      user: string, required, fixed\n"
	"      name: string\n"
	"      friend: string\n"
	"      notes_count: counter\n"
	"    keys: {PK: 'USER#<user>', SK: PROFILE}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', user: 'string, required', text: string, views: counter}\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
	"    requires: [User(user)]\n"
	"    counts: [User(user).notes_count]\n"
	"    allow:\n"
	"      read, create, delete: anyone\n"
	"      update: User(User(user).friend).name = 'Ben'\n"
	"    actions:\n"
	"      view: {allow: anyone, add: {views: 1}, gather: 60 s}\n"
	"  Card:\n"
	"    path: /cards/<user>\n"
	"    attributes: {user: 'string, required, fixed', text: string}\n"
	"    keys: {PK: 'CARD#<user>', SK: CARD, kind: card}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Draft:\n" /* whose key does not say that it is not a card */
	"    path: /drafts/<user>\n"
	"    attributes: {user: 'string, required, fixed', text: string}\n"
	"    keys: {PK: 'CARD#<user>', SK: CARD, kind: draft}\n"
	"    allow: {read, create, delete: anyone, update: User(user).name = 'Ben'}\n"
	"access:\n"
	"  users who lead on:\n"
	"    path: /friends/<user>\n"
	"    query: table\n"
	"    where: {PK: 'USER#<user>'}\n"
	"    then: {get: User, keys: {PK: 'USER#<friend>', SK: PROFILE}}\n"
	"  users by card:\n"
	"    query: table\n"
	"    where: {PK: 'CARD#<user>'}\n"
	"  everyone:\n"
	"    path: /everyone/<user>\n"
	"    merge: {of: [notes of user, users by card], by: user}\n"
	"    then: {get: User, keys: {PK: 'USER#<friend>', SK: PROFILE}}\n"
	"  notes of user:\n"
	"    path: /users/<user>/notes\n"
	"    query: table\n"
	"    where: {PK: 'USER#<user>'}\n";

static void ask(enum app_method m, const char *path, const char *body)
{
	client_as(&c, "zoe");
	far.gets = far.batches = far.queries = far.writes = far.rounds = 0;
	client_ask(&c, m, path, body);
}

static void trips(unsigned batches, unsigned gets, unsigned writes)
{
	assert_int_equal(far.batches, batches);
	assert_int_equal(far.gets, gets);
	assert_int_equal(far.writes, writes);
}

static int setup(void **state)
{
	(void)state;
	memset(&far, 0, sizeof(far));
	far.backend = (struct backend){ .call = far_call, .execute_all = far_execute_all, .free = far_free };
	client_open(&c, notes);
	c.app->guesses = guesses_new(&clock_system);
	near = c.f.backend;
	c.f.backend = &far.backend;
	ask(APP_PUT, "/users/ann", "{\"friend\":\"ben\"}");
	client_is(&c, 201);
	ask(APP_PUT, "/users/ben", "{\"name\":\"Ben\"}");
	client_is(&c, 201);
	ask(APP_PUT, "/notes/n", "{\"user\":\"ann\",\"text\":\"one\"}");
	client_is(&c, 201);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	far.fails = NULL;
	client_close(&c);
	backend_free(near);
	return 0;
}

/* ---- how many round trips ---- */

static void what_a_write_reads_is_read_at_once(void **state)
{
	(void)state;
	ask(APP_PATCH, "/notes/n", "{\"text\":\"two\"}"); /* may not know yet who the friend is */
	client_is(&c, 200);
	ask(APP_PATCH, "/notes/n", "{\"text\":\"three\"}");
	client_is(&c, 200);
	trips(1, 0, 1); /* the note, its user and the user's friend: three items, one of which says which the next is */
}

static void raw(const char *operation, const char *body);

/* Nothing is known of it but the address; its key is that of other items as well. */
static void what_an_unknown_item_leads_to_is_read_with_it(void **state)
{
	(void)state;
	raw("PutItem", "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"CARD#ben\"},\"SK\":{\"S\":\"CARD\"},"
		       "\"kind\":{\"S\":\"draft\"},\"user\":{\"S\":\"ben\"}}}");
	guesses_free(c.app->guesses);
	c.app->guesses = guesses_new(&clock_system);
	ask(APP_PATCH, "/drafts/ben", "{\"text\":\"two\"}");
	client_is(&c, 200);
	trips(1, 0, 1); /* the draft, and the user that its rule asks for */
}

static void an_item_is_one_round_trip(void **state)
{
	(void)state;
	ask(APP_GET, "/users/ann", NULL);
	client_is(&c, 200);
	trips(1, 0, 0);
	ask(APP_GET, "/users/nobody", NULL);
	client_is(&c, 404);
	trips(1, 0, 0);
}

static void a_list_is_read_once(void **state)
{
	(void)state;
	ask(APP_GET, "/users/ann/notes", NULL);
	client_is(&c, 200);
	assert_int_equal(far.queries, 1);
}

static void a_list_with_then_is_read_once(void **state)
{
	(void)state;
	ask(APP_GET, "/friends/ann", NULL);
	client_is(&c, 200);
	client_says(&c, "\"Ben\"");
	assert_int_equal(far.queries, 1);
	trips(1, 0, 0); /* the friends of all rows */
}

static void what_rows_led_to_the_last_time_is_read_with_them(void **state)
{
	(void)state;
	for (unsigned rounds = 2; rounds; rounds--) {
		ask(APP_GET, "/friends/ann", NULL);
		client_says(&c, "\"Ben\"");
		assert_int_equal(far.queries, 1);
		assert_int_equal(far.rounds, rounds);
	}
}

/* ---- a guess is not an answer ---- */

static void raw(const char *operation, const char *body)
{
	struct backend_reply reply;

	backend_call(near, &c.f.arena, operation, slice_str(body), &reply);
	assert_int_equal(reply.status, 200);
}

static void changes_of_other_servers_are_seen(void **state)
{
	(void)state;
	ask(APP_GET, "/users/ben", NULL);
	raw("UpdateItem", "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#ben\"},\"SK\":{\"S\":\"PROFILE\"}},"
			  "\"UpdateExpression\":\"SET #n = :n\",\"ExpressionAttributeNames\":{\"#n\":\"name\"},"
			  "\"ExpressionAttributeValues\":{\":n\":{\"S\":\"Bob\"}}}");
	ask(APP_GET, "/users/ben", NULL);
	client_says(&c, "\"Bob\"");
	ask(APP_PATCH, "/notes/n", "{\"text\":\"x\"}"); /* the friend's name is another now */
	client_is(&c, 403);
}

/* The parts of a merge are asked together, and what their rows lead to with them. */
static void what_parts_led_to_the_last_time_is_read_with_them(void **state)
{
	(void)state;
	for (unsigned rounds = 2; rounds; rounds--) {
		ask(APP_GET, "/everyone/ann", NULL);
		client_says(&c, "\"Ben\"");
		assert_int_equal(far.queries, 2);
		assert_int_equal(far.rounds, rounds);
	}
}

static void a_page_that_has_changed_is_seen(void **state)
{
	(void)state;
	raw("PutItem", "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"USER#carl\"},\"SK\":{\"S\":\"PROFILE\"},"
		       "\"user\":{\"S\":\"carl\"},\"name\":{\"S\":\"Carl\"}}}");
	for (int i = 0; i < 2; i++)
		ask(APP_GET, "/friends/ann", NULL);
	client_says(&c, "\"Ben\"");
	raw("UpdateItem",
	    "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"PROFILE\"}},"
	    "\"UpdateExpression\":\"SET friend = :f\",\"ExpressionAttributeValues\":{\":f\":{\"S\":\"carl\"}}}");
	ask(APP_GET, "/friends/ann", NULL);
	client_says(&c, "\"Carl\"");
	assert_false(client_has(c.reply.body, "\"Ben\""));
	assert_int_equal(far.rounds, 2);
	assert_int_equal(far.queries, 1);
	ask(APP_GET, "/friends/ann", NULL); /* and is the next guess */
	client_says(&c, "\"Carl\"");
	assert_int_equal(far.rounds, 1);
	raw("DeleteItem", "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"PROFILE\"}}}");
	ask(APP_GET, "/friends/ann", NULL);
	assert_false(client_has(c.reply.body, "\"Carl\""));
	ask(APP_GET, "/friends/ann", NULL);
	assert_int_equal(far.rounds, 1);
	assert_int_equal(far.batches, 0); /* he is not read any more */
}

static void a_wrong_guess_is_noticed(void **state)
{
	(void)state;
	ask(APP_PATCH, "/notes/n", "{\"text\":\"two\"}");
	client_is(&c, 200);
	raw("UpdateItem",
	    "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"PROFILE\"}},"
	    "\"UpdateExpression\":\"SET friend = :f\",\"ExpressionAttributeValues\":{\":f\":{\"S\":\"carl\"}}}");
	ask(APP_PATCH, "/notes/n", "{\"text\":\"three\"}");
	client_is(&c, 403);
	trips(2, 0, 0); /* the second for carl, who was not thought of */
	ask(APP_PUT, "/users/carl", "{\"name\":\"Ben\"}");
	ask(APP_PATCH, "/notes/n", "{\"text\":\"three\"}");
	client_is(&c, 200);
}

static void delete_the_user(void)
{
	raw("DeleteItem", "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#ann\"},\"SK\":{\"S\":\"PROFILE\"}}}");
}

static void what_changes_between_the_reading_and_the_write_is_read_again(void **state)
{
	(void)state;
	ask(APP_PATCH, "/notes/n", "{\"text\":\"two\"}");
	far.before_write = delete_the_user;
	ask(APP_PATCH, "/notes/n", "{\"text\":\"three\"}");
	client_is(&c, 403);
	assert_int_equal(far.writes, 1);
}

/* ---- what is noted beside ---- */

static struct value key_of(const char *pk)
{
	struct value_member members[] = { { SLICE("PK"), value_make_s(&c.f.arena, slice_str(pk)) },
					  { SLICE("SK"), value_make_s(&c.f.arena, SLICE("PROFILE")) } };

	return value_make_map(&c.f.arena, members, 2);
}

/* Whether items are known or guessed: the database is not asked. */
static bool knows(struct backend *b, const struct value *keys, size_t n)
{
	struct request one = { .kind = REQUEST_GET, .get = { .table = c.f.design->table, .key = keys[0] } };
	struct request many = { .kind = REQUEST_BATCH_GET,
				.batch = { .table = c.f.design->table, .keys = keys, .count = n } };
	unsigned before = far.gets + far.batches;
	struct reply reply;

	backend_execute(b, &c.f.arena, n == 1 ? &one : &many, &reply);
	assert_int_equal(reply.status, 200);
	return far.gets + far.batches == before;
}

static void a_note_is_made_when_nothing_more_is_wanted_and_nothing_is_guessed_after_it(void **state)
{
	struct run r = {
		.app = c.app, .design = c.f.design, .backend = &far.backend, .arena = &c.f.arena, .now_ms = c.now_ms
	};
	struct rehearsal *h = rehearse_begin(&r, c.app->guesses, true);
	struct backend *b = rehearse_backend(h);
	struct value ann = key_of("USER#ann"), ben = key_of("USER#ben"), keys[2] = { ann, ben };
	volatile bool wrote = false;

	(void)state;
	rehearse_next(h, &c.f.arena);
	assert_null(backend_aside(b));
	assert_true(knows(b, &ann, 1));
	assert_false(rehearse_counts(h)); /* nothing is known of her: it explores first */
	assert_true(b->explores);
	rehearse_next(h, &c.f.arena);
	assert_true(knows(b, &ann, 1));
	assert_false(rehearse_counts(h)); /* reads her */
	assert_false(b->explores);
	for (int i = 0; i < 2; i++) {
		rehearse_next(h, &c.f.arena);
		assert_true((backend_aside(b) == NULL) == (i == 0)); /* not before it is known that she was all */
		assert_true(knows(b, &ann, 1));
		if (!i)
			ARENA_TRY(&c.f.arena, { backend_settle(b); wrote = true; }, { });
		if (!i)
			assert_false(rehearse_counts(h));
	}
	assert_false(wrote);
	assert_false(knows(b, &ben, 1)); /* to be read */
	assert_false(knows(b, keys, 2));
	assert_true(knows(b, keys, 1));
	assert_ptr_equal(backend_aside(b), &far.backend);
	assert_true(rehearse_counts(h));
	backend_settle(b);
	assert_false(knows(b, &ann, 1));
	assert_ptr_equal(backend_aside(b), &far.backend);
}

/* ---- what cannot be taken back happens once ---- */

static void an_addition_is_gathered_once(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		ask(APP_POST, "/notes/n/view", NULL);
		assert_true(c.reply.status < 300);
	}
	app_tick(c.app, near, true);
	ask(APP_GET, "/notes/n", NULL);
	client_says(&c, "\"views\":3");
}

static void an_answer_that_was_guessed_is_not_remembered(void **state)
{
	(void)state;
	raw("PutItem",
	    "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"USER#new\"},\"SK\":{\"S\":\"PROFILE\"},\"user\":{\"S\":\"new\"}}}");
	c.q.idempotency_key = SLICE("k1"); /* of a user that this server has never read */
	ask(APP_PUT, "/notes/m", "{\"user\":\"new\",\"text\":\"one\"}");
	client_is(&c, 201);
	c.q.idempotency_key = SLICE("k1");
	ask(APP_PUT, "/notes/m", "{\"user\":\"new\",\"text\":\"one\"}");
	client_is(&c, 201);
	trips(0, 0, 0);
	ask(APP_GET, "/users/new", NULL);
	client_says(&c, "\"notes_count\":1");
}

static void a_count_moves_once(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		char path[20];

		snprintf(path, sizeof(path), "/notes/x%d", i);
		ask(APP_PUT, path, "{\"user\":\"ann\"}");
		client_is(&c, 201);
	}
	ask(APP_GET, "/users/ann", NULL);
	client_says(&c, "\"notes_count\":6");
}

/* ---- trouble ---- */

static void a_failing_database_is_reported(void **state)
{
	(void)state;
	far.fails = "BatchGetItem";
	ask(APP_GET, "/users/ann", NULL);
	client_is(&c, 200); /* one by one, then */
	trips(1, 1, 0);
	far.fails = "GetItem";
	ask(APP_GET, "/users/ann", NULL);
	client_is(&c, 200);
}

static void without_memory_it_fails_and_leaves_nothing(void **state)
{
	volatile bool done = false;

	(void)state;
	for (volatile long n = 0; !done; n += 1 + n / 100) {
		assert_true(n < 30000);
		ARENA_TRY(&c.f.arena, {
			client_as(&c, "zoe");
			alloc_fail_after(n);
			ask(APP_PATCH, "/notes/n", "{\"text\":\"two\"}");
			alloc_fail_never();
			done = c.reply.status == 200;
		}, { alloc_fail_never(); });
	}
}

static void guesses_are_bounded_and_may_be_dropped(void **state)
{
	struct guesses *g = guesses_new(&clock_system);
	struct value key, item;
	struct arena a;

	(void)state;
	arena_init(&a);
	key = value_make_s(&a, SLICE("one"));
	item = value_make_s(&a, SLICE("an item"));
	assert_false(value_present(guess_item(g, &a, key, NULL)));
	guess_learn(g, key, item);
	assert_true(value_equal(guess_item(g, &a, key, NULL), item));
	guess_learn(g, key, VALUE_ABSENT);
	assert_false(value_present(guess_item(g, &a, key, NULL)));
	for (int i = 0; i < 100000; i++)
		guess_learn(g, value_make_s(&a, arena_printf(&a, "key %d", i)), item);
	guess_learn(g, key, value_make_s(&a, slice_make(arena_zalloc(&a, 100000), 100000)));
	assert_false(value_present(guess_item(g, &a, key, NULL)));
	arena_release(&a);
	guesses_free(g);
}

#define far_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static struct value page_name(struct arena *a, const char *index, const char *value, bool backwards)
{
	static int64_t time = 1; /* another each time, as in a Query for what is younger than a month */
	struct key_term *t = arena_zalloc(a, 2 * sizeof(*t));
	struct request q = { .kind = REQUEST_QUERY,
			     .query = { .table = SLICE("T"),
					.index = slice_str(index),
					.terms = t,
					.term_count = 2,
					.backwards = backwards } };

	t[0] = (struct key_term){ .name = SLICE("PK"), .op = KEY_EQ, .value = value_make_s(a, slice_str(value)) };
	t[1] = (struct key_term){ .name = SLICE("SK"), .op = KEY_GT, .value = value_make_i64(a, time++) };
	return guess_page_name(a, &q);
}

static void pages_are_bounded_and_told_apart(void **state)
{
	struct guesses *g = guesses_new(&clock_system);
	struct value rows[3], last, name, *large;
	struct reply page = { .status = 200, .items = rows, .count = 3 }, got;
	struct request counting = { .kind = REQUEST_QUERY, .query = { .table = SLICE("T"), .count_only = true } };
	struct request measured = { .kind = REQUEST_QUERY, .measured = true, .query = { .table = SLICE("T") } };
	struct arena a;

	(void)state;
	arena_init(&a);
	last = value_make_map(&a, &(struct value_member){ SLICE("PK"), value_make_s(&a, SLICE("x")) }, 1);
	for (int i = 0; i < 3; i++)
		rows[i] = value_make_map(&a, &(struct value_member){ SLICE("n"), value_make_i64(&a, i) }, 1);
	name = page_name(&a, "", "one", false);
	assert_false(guess_page(g, &a, name, &got));
	guess_learn_page(g, &a, name, &page);
	assert_true(guess_page(g, &a, page_name(&a, "", "one", false), &got));
	assert_int_equal(got.status, 200);
	assert_int_equal(got.count, 3);
	assert_true(value_equal(got.items[2], rows[2]));
	assert_false(value_present(got.last));
	page.last = last;
	page.count = 0; /* a filter may leave nothing of a page */
	guess_learn_page(g, &a, name, &page);
	assert_true(guess_page(g, &a, name, &got));
	assert_int_equal(got.count, 0);
	assert_true(value_equal(got.last, last));
	assert_false(guess_page(g, &a, page_name(&a, "", "two", false), &got));
	assert_false(guess_page(g, &a, page_name(&a, "GSI1", "one", false), &got));
	assert_false(guess_page(g, &a, page_name(&a, "", "one", true), &got));
	assert_false(value_present(guess_page_name(&a, &counting)));
	assert_false(value_present(guess_page_name(&a, &measured)));
	large = arena_array(&a, struct value, 1);
	large[0] = value_make_s(&a, slice_make(arena_zalloc(&a, GUESS_PAGE_MOST), GUESS_PAGE_MOST));
	page = (struct reply){ .status = 200, .items = large, .count = 1 };
	guess_learn_page(g, &a, name, &page);
	assert_false(guess_page(g, &a, name, &got));
	arena_release(&a);
	guesses_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		far_test(what_a_write_reads_is_read_at_once),
		far_test(what_an_unknown_item_leads_to_is_read_with_it),
		far_test(what_rows_led_to_the_last_time_is_read_with_them),
		far_test(what_parts_led_to_the_last_time_is_read_with_them),
		far_test(a_page_that_has_changed_is_seen),
		cmocka_unit_test(pages_are_bounded_and_told_apart),
		far_test(an_item_is_one_round_trip),
		far_test(a_list_is_read_once),
		far_test(a_list_with_then_is_read_once),
		far_test(changes_of_other_servers_are_seen),
		far_test(a_wrong_guess_is_noticed),
		far_test(what_changes_between_the_reading_and_the_write_is_read_again),
		far_test(a_note_is_made_when_nothing_more_is_wanted_and_nothing_is_guessed_after_it),
		far_test(an_addition_is_gathered_once),
		far_test(an_answer_that_was_guessed_is_not_remembered),
		far_test(a_count_moves_once),
		far_test(a_failing_database_is_reported),
		far_test(without_memory_it_fails_and_leaves_nothing),
		cmocka_unit_test(guesses_are_bounded_and_may_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
