/* Checks of items whose counters move, identities that the server counts, and what a body is not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"

static const char design[] =
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<id>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      stock: counter\n"
	"      used: counter\n"
	"      red: counter\n"
	"      blue: counter\n"
	"      both: = red + blue\n"
	"      most: integer, default 3\n"
	"      room: integer, default 4\n"
	"    keys: {PK: SHELF#<id>, SK: SHELF}\n"
	"    check:\n"
	"      stock >= 0: there are not so many left\n"
	"      used <= most: used up\n"
	"      both <= room: no more of both\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n"
	"      use: {add: {used: 1}}\n"
	"      note: {add: {used: 1}, set: {most: most}}\n"
	"      grow: {add: {used: 1}, set: {most: most + 1}}\n"
	"      paint: {add: {red: 1}, set: {room: room + 1}}\n"
	"  Move:\n"
	"    path: /shelves/<id>/moves/<name>\n"
	"    attributes:\n      id: string, required\n      name: string, required\n      by: integer, required\n"
	"    keys: {PK: SHELF#<id>, SK: MOVE#<name>}\n"
	"    counts: [Shelf(id).stock by by]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Use:\n"
	"    path: /shelves/<id>/uses/<name>\n"
	"    attributes:\n      id: string, required\n      name: string, required\n      colour: red | blue\n"
	"    keys: {PK: SHELF#<id>, SK: USE#<name>}\n"
	"    counts:\n"
	"      - Shelf(id).used when colour is absent\n"
	"      - Shelf(id).red when colour = 'red'\n"
	"      - Shelf(id).blue when colour = 'blue'\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Board:\n"
	"    path: /boards/<board>\n"
	"    attributes:\n      board: string, required\n      cards: counter\n"
	"    keys: {PK: BOARD#<board>, SK: BOARD}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Card:\n"
	"    path: /boards/<board>/cards/<no>\n"
	"    attributes:\n"
	"      board: string, required\n"
	"      no: integer, default Board(board).cards + 1\n"
	"      owner: string\n"
	"      other: integer\n"
	"    keys: {PK: BOARD#<board>, SK: 'CARD#<no:06>'}\n"
	"    counts: [Board(board).cards]\n"
	"    requires: [{Card(board, other) when other is present: there is no such card}]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions:\n"
	"      take: {allow: owner = caller, input: [owner]}\n"
	"      claim: {when: owner is absent, otherwise: it has an owner, input: [owner]}\n";

static int setup(void **state)
{
	static struct app_fixture fixture;

	app_fixture_open(&fixture, design);
	*state = &fixture;
	created(*state, "ann", "Shelf", NULL, "{\"id\":\"s\"}");
	created(*state, "ann", "Board", NULL, "{\"board\":\"b\"}");
	return 0;
}

static int teardown(void **state)
{
	app_fixture_close(*state);
	return 0;
}

static void a_count_does_not_go_below_what_a_check_says(void **state)
{
	struct app_fixture *f = *state;

	created(f, "ann", "Move", "s/in", "{\"by\":5}");
	created(f, "ann", "Move", "s/out", "{\"by\":-3}");
	create_fails(f, "ann", "Move", "s/more", "{\"by\":-3}", PROBLEM_CONFLICT, "there are not so many left");
	update_fails(f, "ann", "Move", "s/out", "{\"by\":-6}", PROBLEM_CONFLICT, "there are not so many left");
	delete_fails(f, "ann", "Move", "s/in", PROBLEM_CONFLICT, "there are not so many left");
	assert_int_equal(number(item(f, "Shelf", "s"), "stock"), 2);
	updated(f, "ann", "Move", "s/out", "{\"by\":-5}");
	assert_int_equal(number(item(f, "Shelf", "s"), "stock"), 0);
	deleted(f, "ann", "Move", "s/out");
	assert_int_equal(number(item(f, "Shelf", "s"), "stock"), 5);
}

static void away_from_a_limit_it_may_go_from_anywhere(void **state)
{
	struct app_fixture *f = *state;
	struct run *r;
	struct backend_reply reply;

	created(f, "ann", "Move", "s/in", "{\"by\":1}");
	r = app_fixture_run(f, "!");
	backend_call(
		r->backend, r->arena, "UpdateItem",
		arena_printf(
			r->arena,
			"{\"TableName\":\"%.*s\",\"Key\":{\"PK\":{\"S\":\"SHELF#s\"},\"SK\":{\"S\":\"SHELF\"}},"
			"\"UpdateExpression\":\"SET stock = :n\",\"ExpressionAttributeValues\":{\":n\":{\"N\":\"-9\"}}}",
			SLICE_ARG(r->design->table)),
		&reply);
	assert_int_equal(reply.status, 200);
	updated(f, "ann", "Move", "s/in", "{\"by\":3}");
	assert_int_equal(number(item(f, "Shelf", "s"), "stock"), -7);
	update_fails(f, "ann", "Move", "s/in", "{\"by\":2}", PROBLEM_CONFLICT, "not so many");
}

static void a_limit_may_be_another_attribute(void **state)
{
	struct app_fixture *f = *state;

	created(f, "ann", "Use", "s/1", "{}");
	created(f, "ann", "Use", "s/2", "{}");
	created(f, "ann", "Use", "s/3", "{}");
	create_fails(f, "ann", "Use", "s/4", "{}", PROBLEM_CONFLICT, "used up");
	updated(f, "ann", "Shelf", "s", "{\"most\":4}");
	created(f, "ann", "Use", "s/4", "{}");
	update_fails(f, "ann", "Shelf", "s", "{\"most\":2}", PROBLEM_INVALID, "used up");
	deleted(f, "ann", "Use", "s/1");
	assert_int_equal(number(item(f, "Shelf", "s"), "used"), 3);
}

static void an_addition_holds_the_checks(void **state)
{
	struct app_fixture *f = *state;

	acted(f, "ann", "Shelf", "s", "use", NULL);
	acted(f, "ann", "Shelf", "s", "note", NULL);
	acted(f, "ann", "Shelf", "s", "use", NULL);
	action_fails(f, "ann", "Shelf", "s", "use", PROBLEM_CONFLICT, "used up");
	action_fails(f, "ann", "Shelf", "s", "note", PROBLEM_CONFLICT, "used up");
	assert_int_equal(number(item(f, "Shelf", "s"), "used"), 3);
}

/* The condition is on the item as it was, the check about what it becomes. */
static void an_addition_may_move_its_limit_too(void **state)
{
	struct app_fixture *f = *state;

	for (int i = 1; i <= 5; i++) {
		acted(f, "ann", "Shelf", "s", "grow", NULL);
		acted(f, "ann", "Shelf", "s", "paint", NULL);
	}
	assert_int_equal(number(item(f, "Shelf", "s"), "used"), 5);
	assert_int_equal(number(item(f, "Shelf", "s"), "most"), 8);
	assert_int_equal(number(item(f, "Shelf", "s"), "red"), 5);
	assert_int_equal(number(item(f, "Shelf", "s"), "room"), 9);
}

static void a_check_of_what_follows_from_counters_holds(void **state)
{
	struct app_fixture *f = *state;

	created(f, "ann", "Use", "s/1", "{\"colour\":\"red\"}");
	created(f, "ann", "Use", "s/2", "{\"colour\":\"blue\"}");
	created(f, "ann", "Use", "s/3", "{\"colour\":\"blue\"}");
	created(f, "ann", "Use", "s/4", "{\"colour\":\"blue\"}");
	create_fails(f, "ann", "Use", "s/5", "{\"colour\":\"red\"}", PROBLEM_CONFLICT, "no more of both");
	updated(f, "ann", "Use", "s/4", "{\"colour\":\"red\"}");
	deleted(f, "ann", "Use", "s/1");
	created(f, "ann", "Use", "s/5", "{\"colour\":\"red\"}");
	assert_int_equal(number(item(f, "Shelf", "s"), "both"), 4);
}

static void the_next_number_is_taken_from_a_counter(void **state)
{
	struct app_fixture *f = *state;

	assert_int_equal(number(created(f, "ann", "Card", NULL, "{\"board\":\"b\"}"), "no"), 1);
	assert_int_equal(number(created(f, "ann", "Card", NULL, "{\"board\":\"b\"}"), "no"), 2);
	/* 4 is there already, and will be at the next try: that is told */
	created(f, "ann", "Card", NULL, "{\"board\":\"b\",\"no\":4}");
	create_fails(f, "ann", "Card", NULL, "{\"board\":\"b\"}", PROBLEM_EXISTS, "there is a Card b/4 already");
	create_fails(f, "ann", "Card", NULL, "{\"board\":\"none\"}", PROBLEM_INVALID, "no");
}

static void a_rule_does_not_read_the_body_for_an_attribute(void **state)
{
	struct app_fixture *f = *state;
	struct write_result out;
	struct run *r;

	created(f, "ann", "Card", NULL, "{\"board\":\"b\"}");
	r = app_fixture_run(f, "eve");
	assert_false(try_action(r, "Card", "b/1", "take", "{\"owner\":\"eve\"}", &out));
	assert_problem(r, PROBLEM_FORBIDDEN, NULL);
	acted(f, "eve", "Card", "b/1", "claim", "{\"owner\":\"eve\"}");
	r = app_fixture_run(f, "ann");
	assert_false(try_action(r, "Card", "b/1", "claim", "{\"owner\":\"ann\"}", &out));
	assert_problem(r, PROBLEM_CONFLICT, "it has an owner");
}

static void a_missing_item_named_in_the_body_is_the_bodys_fault(void **state)
{
	struct app_fixture *f = *state;
	struct write_result out;
	struct run *r;

	created(f, "ann", "Card", NULL, "{\"board\":\"b\"}");
	r = app_fixture_run(f, "ann");
	assert_false(try_update(r, "Card", "b/1", "{\"other\":7}", NULL, &out));
	assert_problem(r, PROBLEM_INVALID, "there is no such card");
	create_fails(f, "ann", "Use", "none/1", "{}", PROBLEM_NOT_FOUND, "there is no Shelf none");
}

/* A backend that lets another program make the shelf before the first write. */
struct maker {
	struct backend backend; /* first */
	struct backend *real;
	const char *body;
	bool made;
};

static void make_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		      struct backend_reply *reply)
{
	struct maker *m = (struct maker *)b;
	struct backend_reply made;

	if (!m->made && strcmp(operation, "GetItem")) {
		m->made = true;
		m->real->call(m->real, a, "PutItem", slice_str(m->body), &made);
		assert_int_equal(made.status, 200);
	}
	m->real->call(m->real, a, operation, body, reply);
}

static void one_that_comes_before_the_commit_is_checked(void **state)
{
	struct app_fixture *f = *state;
	struct maker m = { .backend = { .call = make_call }, .real = f->backend };
	struct run r = *app_fixture_run(f, "ann");
	struct write_result out;

	m.body = arena_cstr(
		r.arena,
		arena_printf(
			r.arena,
			"{\"TableName\":\"%.*s\",\"Item\":{\"PK\":{\"S\":\"SHELF#new\"},\"SK\":{\"S\":\"SHELF\"},"
			"\"id\":{\"S\":\"new\"},\"stock\":{\"N\":\"2\"},\"used\":{\"N\":\"0\"},\"most\":{\"N\":\"3\"}}}",
			SLICE_ARG(r.design->table)));
	r.backend = &m.backend;
	assert_false(try_create(&r, "Move", "new/out", "{\"by\":-3}", &out));
	assert_true(m.made);
	assert_problem(&r, PROBLEM_CONFLICT, "there are not so many left");
	assert_int_equal(number(item(f, "Shelf", "new"), "stock"), 2);
	created(f, "ann", "Move", "new/out", "{\"by\":-2}");
	create_fails(f, "ann", "Move", "none/out", "{\"by\":-3}", PROBLEM_NOT_FOUND, "there is no Shelf none");
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HELD(a_count_does_not_go_below_what_a_check_says),
		HELD(away_from_a_limit_it_may_go_from_anywhere),
		HELD(a_limit_may_be_another_attribute),
		HELD(an_addition_holds_the_checks),
		HELD(an_addition_may_move_its_limit_too),
		HELD(a_check_of_what_follows_from_counters_holds),
		HELD(the_next_number_is_taken_from_a_counter),
		HELD(a_rule_does_not_read_the_body_for_an_attribute),
		HELD(a_missing_item_named_in_the_body_is_the_bodys_fault),
		HELD(one_that_comes_before_the_commit_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
