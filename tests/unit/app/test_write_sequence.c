/* Sequences: each taker its own number, never back, shared by several entities.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <time.h>

#include "write_helper.h"

#define AT_ONCE 40

static const char design[] = "entities:\n"
			     "  Board:\n"
			     "    path: /boards/<board>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      numbers: sequence\n"
			     "      cards: counter\n"
			     "    keys: {PK: BOARD#<board>, SK: BOARD}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Card:\n" /* the number is its key, and it is counted, too */
			     "    path: /boards/<board>/cards/<number>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      number: integer, next of Board(board).numbers\n"
			     "      title: string\n"
			     "    keys: {PK: BOARD#<board>, SK: CARD#<number:06>}\n"
			     "    counts: [Board(board).cards]\n"
			     "    allow: {create: caller is user, read, update, delete: anyone}\n"
			     "    actions: {mark: {set: {title: '''marked'''}}}\n"
			     "  Issue:\n" /* the number is something it has */
			     "    path: /boards/<board>/issues/<id>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      id: string, required\n"
			     "      number: integer 1.., next of Board(board).numbers\n"
			     "      title: string\n"
			     "    keys: {PK: BOARD#<board>, SK: ISSUE#<id>}\n"
			     "    check: {title <> 'bad': not such a title}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "    actions: {open: {set: {title: '''opened'''}, creates: true}}\n"
			     "  Pair:\n"
			     "    path: /boards/<board>/pairs/<id>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      id: string, required\n"
			     "      one: integer, next of Board(board).numbers\n"
			     "      two: integer ..9, next of Board(board).numbers\n"
			     "    keys: {PK: BOARD#<board>, SK: PAIR#<id>}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Desk:\n" /* comes with two issues */
			     "    path: /boards/<board>/desks/<id>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      id: string, required\n"
			     "      number: integer, next of Board(board).numbers\n"
			     "    keys: {PK: BOARD#<board>, SK: DESK#<id>}\n"
			     "    also:\n"
			     "      - {on: created, put: Issue, with: {board: board, id: '''one'''}}\n"
			     "      - {on: created, put: Issue, with: {board: board, id: '''two'''}}\n"
			     "    allow: {create, read, update, delete: anyone}\n";

static void boards(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "ann", "Board", "b", NULL);
	assert_int_equal(number(item(f, "Board", "b"), "numbers"), 0);
}

static int64_t next_card(struct app_fixture *f)
{
	struct run *r = app_fixture_run(f, "ann");
	struct write_result out = { 0 };

	must(r, try_create(r, "Card", NULL, "{\"board\":\"b\"}", &out), "Card");
	return number(out.full, "number");
}

static void numbers_go_up_and_are_shared(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	assert_int_equal(next_card(&f), 1);
	assert_int_equal(next_card(&f), 2);
	assert_int_equal(number(created(&f, "ann", "Issue", "b/x", NULL), "number"), 3);
	assert_int_equal(number(acted(&f, "ann", "Issue", "b/y", "open", NULL), "number"), 4);
	assert_int_equal(number(acted(&f, "ann", "Issue", "b/y", "open", NULL), "number"), 4);
	assert_int_equal(next_card(&f), 5);
	assert_int_equal(number(updated(&f, "ann", "Issue", "b/x", "{\"title\":\"t\"}"), "number"), 3);
	assert_int_equal(number(item(&f, "Board", "b"), "numbers"), 5);
	assert_int_equal(number(item(&f, "Board", "b"), "cards"), 3);
	app_fixture_close(&f);
}

static void a_deletion_gives_nothing_back(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	assert_int_equal(next_card(&f), 1);
	assert_int_equal(next_card(&f), 2);
	deleted(&f, "ann", "Card", "b/2");
	deleted(&f, "ann", "Card", "b/1");
	assert_int_equal(number(item(&f, "Board", "b"), "cards"), 0);
	assert_int_equal(next_card(&f), 3);
	app_fixture_close(&f);
}

static void a_write_that_fails_takes_no_number(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	created(&f, "ann", "Issue", "b/x", NULL);
	create_fails(&f, "ann", "Issue", "b/x", NULL, PROBLEM_EXISTS, NULL);
	create_fails(&f, "ann", "Issue", "b/y", "{\"title\":\"bad\"}", PROBLEM_INVALID, "not such a title");
	create_fails(&f, NULL, "Card", NULL, "{\"board\":\"b\"}", PROBLEM_UNAUTHENTICATED, NULL);
	assert_int_equal(next_card(&f), 2);
	app_fixture_close(&f);
}

static void the_item_with_the_sequence_must_be_there(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	create_fails(&f, "ann", "Card", NULL, "{\"board\":\"none\"}", PROBLEM_NOT_FOUND, "there is no Board none");
	create_fails(&f, NULL, "Card", NULL, "{\"board\":\"none\"}", PROBLEM_UNAUTHENTICATED, NULL);
	create_fails(&f, NULL, "Issue", "none/x", NULL, PROBLEM_NOT_FOUND, "there is no Board none");
	app_fixture_close(&f);
}

static void only_operators_choose_a_number(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	create_fails(&f, "ann", "Issue", "b/x", "{\"number\":7}", PROBLEM_INVALID, "number");
	assert_int_equal(number(created(&f, "!", "Issue", "b/x", "{\"number\":7}"), "number"), 7);
	assert_int_equal(next_card(&f), 8);
	assert_int_equal(number(created(&f, "!", "Issue", "b/y", "{\"number\":3}"), "number"), 3); /* it is past that */
	assert_int_equal(next_card(&f), 9);
	update_fails(&f, "!", "Issue", "b/x", "{\"number\":70}", PROBLEM_INVALID, "cannot change");
	update_fails(&f, "ann", "Board", "b", "{\"numbers\":0}", PROBLEM_INVALID, "numbers");
	app_fixture_close(&f);
}

static void one_item_may_take_several(void **state)
{
	struct app_fixture f;
	struct value p;

	(void)state;
	boards(&f);
	assert_int_equal(next_card(&f), 1);
	p = created(&f, "ann", "Pair", "b/p", NULL);
	assert_int_equal(number(p, "one"), 2);
	assert_int_equal(number(p, "two"), 3);
	assert_int_equal(next_card(&f), 4);
	for (int i = 5; i < 8; i++)
		assert_int_equal(next_card(&f), i);
	created(&f, "ann", "Pair", "b/q", NULL);
	create_fails(&f, "ann", "Pair", "b/r", NULL, PROBLEM_INVALID, "no more numbers");
	app_fixture_close(&f);
}

/* Items that came past the runtime, with numbers that the sequence does not know of. */
static void numbers_in_use_are_passed_over(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct value_member m[4];
	struct dyn_write w = { .kind = DYN_PUT };
	struct dyn_refusal refusal;

	(void)state;
	boards(&f);
	r = app_fixture_run(&f, "!");
	for (int i = 1; i <= 3; i++) {
		m[0] = (struct value_member){ SLICE("PK"), value_make_s(r->arena, SLICE("BOARD#b")) };
		m[1] = (struct value_member){ SLICE("SK"),
					      value_make_s(r->arena, arena_printf(r->arena, "CARD#%06d", i)) };
		m[2] = (struct value_member){ SLICE("board"), value_make_s(r->arena, SLICE("b")) };
		m[3] = (struct value_member){ SLICE("number"), value_make_i64(r->arena, i) };
		w.item = value_make_map(r->arena, m, 4);
		assert_int_equal(dyn_write(r, &w, 1, SLICE(""), &refusal), DYN_DONE);
	}
	assert_true(next_card(&f) > 3);
	assert_int_equal(number(item(&f, "Board", "b"), "cards"), 1);
	app_fixture_close(&f);
}

/* ---- concurrent writes ---- */

struct meddler {
	struct backend backend; /* first */
	struct backend *inner;
	int times; /* that another process takes a number, right before a write */
	bool puts; /* and the first card */
	int writes;
};

static void meddler_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *reply)
{
	static const char move[] =
		"{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"BOARD#b\"},\"SK\":{\"S\":\"BOARD\"}},"
		"\"UpdateExpression\":\"ADD numbers :n\",\"ExpressionAttributeValues\":{\":n\":{\"N\":\"1\"}}}";
	static const char card[] =
		"{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"BOARD#b\"},\"SK\":{\"S\":\"CARD#000001\"}}}";
	struct meddler *m = (struct meddler *)b;

	if (strcmp(operation, "GetItem")) {
		m->writes++;
		if (m->times-- > 0) {
			m->inner->call(m->inner, a, "UpdateItem", slice_str(move), reply);
			assert_int_equal(reply->status, 200);
			if (m->puts)
				m->inner->call(m->inner, a, "PutItem", slice_str(card), reply);
			assert_int_equal(reply->status, 200);
		}
	}
	m->inner->call(m->inner, a, operation, body, reply);
}

static void a_number_that_was_taken_meanwhile_is_not_given_again(void **state)
{
	struct app_fixture f;

	(void)state;
	boards(&f);
	for (int i = 0; i < 2; i++) {
		struct meddler m = { .backend = { .call = meddler_call }, .inner = f.backend, .times = 2 };
		struct run *r = app_fixture_run(&f, "ann");
		struct write_result out = { 0 };

		r->backend = &m.backend;
		must(r,
		     i ? try_create(r, "Card", NULL, "{\"board\":\"b\"}", &out)
		       : try_create(r, "Issue", "b/x", NULL, &out),
		     "taker");
		assert_int_equal(number(out.full, "number"), 3 * (i + 1));
		assert_int_equal(m.writes, 3);
	}
	app_fixture_close(&f);
}

/* The other one has put a card with that number, too: the card is not there already, and the number is not passed
 * over. */
static void a_card_of_another_process_is_no_clash(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out = { 0 };
	struct meddler m = { .backend = { .call = meddler_call }, .times = 1, .puts = true };

	(void)state;
	boards(&f);
	r = app_fixture_run(&f, "ann");
	r->backend = &m.backend;
	m.inner = f.backend;
	must(r, try_create(r, "Card", NULL, "{\"board\":\"b\"}", &out), "Card");
	assert_int_equal(number(out.full, "number"), 2);
	assert_int_equal(m.writes, 2);
	app_fixture_close(&f);
}

static void a_next_try_skips_no_number_that_the_last_one_had(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out = { 0 };
	struct meddler m = { .backend = { .call = meddler_call }, .times = 2 };

	(void)state;
	boards(&f);
	r = app_fixture_run(&f, "ann");
	r->backend = &m.backend;
	m.inner = f.backend;
	must(r, try_create(r, "Desk", "b/d", NULL, &out), "Desk");
	assert_int_equal(m.writes, 3);
	assert_int_equal(number(out.full, "number"), 3);
	assert_int_equal(number(item(&f, "Issue", "b/one"), "number"), 4);
	assert_int_equal(number(item(&f, "Issue", "b/two"), "number"), 5);
	assert_int_equal(next_card(&f), 6);
	app_fixture_close(&f);
}

/* ---- at once ---- */

struct taker {
	struct backend slow; /* first */
	struct app_fixture *fixture;
	int writes;
	struct backend *backend;
	struct arena arena;
	pthread_barrier_t *barrier;
	int which;
	int64_t number;
	char wrong[200];
};

/* Long enough for all writes to read, if none waited for its turn. */
static void slow_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		      struct backend_reply *reply)
{
	struct taker *t = (struct taker *)b;

	if (strcmp(operation, "GetItem")) {
		t->writes++;
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
	t->backend->call(t->backend, a, operation, body, reply);
}

static void *take(void *ctx)
{
	struct taker *t = ctx;
	struct run r = { .app = &t->fixture->app,
			 .design = t->fixture->design,
			 .backend = &t->slow,
			 .arena = &t->arena,
			 .now_ms = APP_FIXTURE_NOW,
			 .caller = { .subject = SLICE("ann") } };
	struct write_result out = { 0 };
	char path[32];
	bool done;

	snprintf(path, sizeof(path), "b/i%d", t->which);
	pthread_barrier_wait(t->barrier);
	done = t->which % 2 ? try_create(&r, "Card", NULL, "{\"board\":\"b\"}", &out)
			    : try_create(&r, "Issue", path, NULL, &out);
	if (done)
		t->number = number(out.full, "number");
	else
		snprintf(t->wrong, sizeof(t->wrong), "%.*s", SLICE_ARG(r.problem.detail));
	return NULL;
}

static void many_at_once_get_one_each_and_leave_no_gap(void **state)
{
	struct taker takers[AT_ONCE] = { 0 };
	bool seen[AT_ONCE + 1] = { false };
	pthread_t threads[AT_ONCE];
	pthread_barrier_t barrier;
	struct app_fixture f;

	(void)state;
	boards(&f);
	pthread_barrier_init(&barrier, NULL, AT_ONCE);
	for (int i = 0; i < AT_ONCE; i++) {
		takers[i] = (struct taker){ .fixture = &f,
					    .backend = backend_local_new(f.api),
					    .barrier = &barrier,
					    .which = i,
					    .slow = { .call = slow_call } };
		arena_init(&takers[i].arena);
		assert_int_equal(pthread_create(&threads[i], NULL, take, &takers[i]), 0);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pthread_join(threads[i], NULL);
		if (takers[i].wrong[0])
			fail_msg("%d: %s", i, takers[i].wrong);
		assert_in_range(takers[i].number, 1, AT_ONCE);
		if (seen[takers[i].number])
			fail_msg("%lld was given twice", (long long)takers[i].number);
		seen[takers[i].number] = true;
		assert_int_equal(takers[i].writes, 1); /* in turn, and so without trying again */
		arena_release(&takers[i].arena);
		backend_free(takers[i].backend);
	}
	pthread_barrier_destroy(&barrier);
	assert_int_equal(number(item(&f, "Board", "b"), "numbers"), AT_ONCE);
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_go_up_and_are_shared),
		cmocka_unit_test(a_deletion_gives_nothing_back),
		cmocka_unit_test(a_write_that_fails_takes_no_number),
		cmocka_unit_test(the_item_with_the_sequence_must_be_there),
		cmocka_unit_test(only_operators_choose_a_number),
		cmocka_unit_test(one_item_may_take_several),
		cmocka_unit_test(numbers_in_use_are_passed_over),
		cmocka_unit_test(a_number_that_was_taken_meanwhile_is_not_given_again),
		cmocka_unit_test(a_card_of_another_process_is_no_clash),
		cmocka_unit_test(a_next_try_skips_no_number_that_the_last_one_had),
		cmocka_unit_test(many_at_once_get_one_each_and_leave_no_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
