/* What is written together with an item (`also`), at its edges. tests/designs/tenancy has the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"

static const char design[] = "entities:\n"
			     "  Team:\n"
			     "    path: /teams/<team>\n"
			     "    attributes: {team: 'string, required'}\n"
			     "    keys: {PK: TEAM#<team>, SK: TEAM}\n"
			     "    delete: {then remove: [boards]}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Board:\n"
			     "    path: /boards/<board>\n"
			     "    attributes:\n"
			     "      board: string, required\n"
			     "      team: string\n"
			     "      names: list of string 0..40\n"
			     "      stars: counter\n"
			     "    keys: {PK: BOARD#<board>, SK: BOARD, GSI1PK: TEAM#<team>, GSI1SK: <board>}\n"
			     "    also:\n"
			     "      - {on: deleted, for: one in names, put: Entry, with: {entry: one, board: board}}\n"
			     "    delete: {then remove: [cards]}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Star:\n"
			     "    path: /boards/<board>/stars/<name>\n"
			     "    attributes: {board: 'string, required', name: 'string, required'}\n"
			     "    keys: {PK: STAR#<board>, SK: STAR#<name>}\n"
			     "    also:\n"
			     "      - {on: created, update: Board(board), add: {stars: 1}}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Leaf:\n" /* its items are updated only by what other entities write */
			     "    path: /leaves/<leaf>\n"
			     "    attributes: {leaf: 'string, required', hits: counter}\n"
			     "    keys: {PK: LEAF#<leaf>, SK: LEAF}\n"
			     "    also:\n"
			     "      - {on: deleted, put: Entry, with: {entry: leaf, board: leaf}}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Hit:\n"
			     "    path: /leaves/<leaf>/hits/<name>\n"
			     "    attributes: {leaf: 'string, required', name: 'string, required'}\n"
			     "    keys: {PK: HIT#<leaf>, SK: HIT#<name>}\n"
			     "    also:\n"
			     "      - {on: created, update: Leaf(leaf), add: {hits: 1}}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Card:\n"
			     "    path: /boards/<board>/cards/<card>\n"
			     "    attributes: {board: 'string, required', card: 'string, required'}\n"
			     "    keys: {PK: BOARD#<board>, SK: CARD#<card>}\n"
			     "    companions:\n"
			     "      - {PK: LIST#<board>, SK: ONE#<card>, card: <card>}\n"
			     "      - {PK: LIST#<board>, SK: TWO#<card>, card: <card>}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Entry:\n"
			     "    path: /entries/<entry>\n"
			     "    attributes: {entry: 'string, required', board: 'string, required'}\n"
			     "    keys: {PK: ENTRY#<entry>, SK: ENTRY}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "  Ticket:\n"
			     "    path: /tickets/<ticket>\n"
			     "    attributes: {ticket: 'string, required', expires_at: epoch, text: string}\n"
			     "    keys: {PK: TICKET#<ticket>, SK: TICKET}\n"
			     "    allow: {create, read, update, delete: anyone}\n"
			     "access:\n"
			     "  boards:\n"
			     "    path: /teams/<team>/boards\n"
			     "    query: GSI1\n"
			     "    where: {GSI1PK: TEAM#<team>}\n"
			     "  cards:\n"
			     "    path: /boards/<board>/cards\n"
			     "    query: table\n"
			     "    where: {PK: BOARD#<board>, SK: begins with CARD#}\n"
			     "    limit: 100\n";

/* An update that only adds is no event of the item: it has no rules of its own, least of all those of a deletion. */
static void an_item_that_is_added_to_is_not_deleted(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, design);
	created(&f, "ann", "Leaf", "l", NULL);
	created(&f, "ann", "Hit", "l/one", NULL);
	created(&f, "ann", "Hit", "l/two", NULL);
	assert_int_equal(number(item(&f, "Leaf", "l"), "hits"), 2);
	assert_false(is_stored(&f, "ENTRY#l", "ENTRY"));
	created(&f, "ann", "Board", "b", "{\"names\":[\"x\"]}");
	created(&f, "ann", "Star", "b/one", NULL);
	assert_int_equal(number(item(&f, "Board", "b"), "stars"), 1);
	deleted(&f, "ann", "Leaf", "l");
	assert_true(is_stored(&f, "ENTRY#l", "ENTRY"));
	app_fixture_close(&f);
}

/* A board of the team with 24 cards; 30 entries are written when it is deleted. */
static void create_board(struct app_fixture *f)
{
	char name[32];
	struct buf b;

	buf_init(&b, &f->arena);
	buf_lit(&b, "{\"team\":\"t\",\"names\":[\"e0\"");
	for (int i = 1; i < 30; i++)
		buf_printf(&b, ",\"e%d\"", i);
	buf_lit(&b, "]}");
	created(f, "ann", "Board", "b", arena_printf(&f->arena, "%.*s", SLICE_ARG(buf_slice(&b))).p);
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "b/c%d", i);
		created(f, "ann", "Card", name, NULL);
	}
}

static void assert_board_is_gone(struct app_fixture *f)
{
	char name[32];

	assert_false(is_stored(f, "BOARD#b", "BOARD"));
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "ENTRY#e%d", i);
		assert_true(is_stored(f, name, "ENTRY"));
	}
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "CARD#c%d", i);
		assert_false(is_stored(f, "BOARD#b", name));
	}
}

/* The children leave room for what is written with the deletion. */
static void a_deletion_with_children_writes_all_that_goes_with_it(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, design);
	create_board(&f);
	deleted(&f, "ann", "Board", "b");
	assert_board_is_gone(&f);
	app_fixture_close(&f);
}

static void so_does_a_cascade(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, design);
	created(&f, "ann", "Team", "t", NULL);
	create_board(&f);
	deleted(&f, "ann", "Team", "t");
	assert_board_is_gone(&f);
	app_fixture_close(&f);
}

struct watcher {
	struct backend backend; /* first */
	struct backend *inner;
	int apart; /* times that the position was committed without the new item */
};

static void watcher_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *reply)
{
	struct watcher *w = (struct watcher *)b;

	w->inner->call(w->inner, a, operation, body, reply);
	if (reply->status == 200 && memmem(body.p, body.n, "POSITION", 8) && !memmem(body.p, body.n, "fresh", 5))
		w->apart++;
}

/* What rides on a write (a processor's position) is committed with it, and not with the removal of an expired item that
 * is in its place. */
static void riders_wait_for_their_own_write(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out = { 0 };
	struct value_member key[] = { { SLICE("PK"), VALUE_ABSENT }, { SLICE("SK"), VALUE_ABSENT } };
	struct value_member by[] = { { SLICE("n"), VALUE_ABSENT } };
	struct watcher w = { .backend = { .call = watcher_call } };
	struct dyn_write rider = { .kind = DYN_UPDATE, .add = by, .add_count = 1 };

	(void)state;
	app_fixture_open_still(&f, design);
	created(&f, "ann", "Ticket", "t", "{\"expires_at\":1768472000,\"text\":\"old\"}");
	r = app_fixture_run(&f, "ann");
	key[0].value = key[1].value = value_make_s(r->arena, SLICE("POSITION"));
	by[0].value = value_make_i64(r->arena, 1);
	rider.key = value_make_map(r->arena, key, 2);
	w.inner = f.backend;
	r->backend = &w.backend;
	r->riders = &rider;
	r->rider_count = 1;
	must(r, try_create(r, "Ticket", "t", "{\"text\":\"fresh\"}", &out), "Ticket");
	assert_null(r->riders);
	assert_int_equal(w.apart, 0);
	assert_text(item(&f, "Ticket", "t"), "text", "fresh");
	assert_int_equal(number(stored(&f, "POSITION", "POSITION"), "n"), 1);
	app_fixture_close(&f);
}

static const char club[] =
	"entities:\n"
	"  Club:\n"
	"    path: /clubs/<club>\n"
	"    attributes: {club: 'string, required', owners: counter}\n"
	"    keys: {PK: CLUB#<club>, SK: CLUB}\n"
	"    check: {owners >= 1: a club keeps an owner}\n"
	"    also:\n"
	"      - {on: created, when: club <> 'empty', put: Member, with: {club: club, name: caller, role: owner}}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Member:\n"
	"    path: /clubs/<club>/members/<name>\n"
	"    attributes: {club: 'string, required', name: 'string, required', role: owner | guest}\n"
	"    keys: {PK: CLUB#<club>, SK: MEMBER#<name>}\n"
	"    counts: [\"Club(club).owners when role = 'owner'\"]\n"
	"    allow: {create: input.role = 'guest', read: anyone, update, delete: input.role <> 'owner'}\n";

/* The check of a counter is that of the item with all that is written together with it. */
static void a_new_item_is_checked_with_what_it_comes_with(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, club);
	created(&f, "ann", "Club", "chess", NULL);
	assert_int_equal(number(item(&f, "Club", "chess"), "owners"), 1);
	create_fails(&f, "ann", "Club", "empty", NULL, PROBLEM_CONFLICT, NULL);
	assert_false(is_stored(&f, "CLUB#empty", "CLUB"));
	delete_fails(&f, "ann", "Member", "chess/ann", PROBLEM_CONFLICT, NULL);
	app_fixture_close(&f);
}

/* input.x in a rule of create, update and delete is the body, as in that of an action. */
static void a_rule_sees_the_body(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, club);
	created(&f, "ann", "Club", "chess", NULL);
	create_fails(&f, "bob", "Member", "chess/bob", "{\"role\":\"owner\"}", PROBLEM_FORBIDDEN, NULL);
	created(&f, "bob", "Member", "chess/bob", "{\"role\":\"guest\"}");
	update_fails(&f, "bob", "Member", "chess/bob", "{\"role\":\"owner\"}", PROBLEM_FORBIDDEN, NULL);
	updated(&f, "bob", "Member", "chess/bob", "{\"role\":\"guest\"}");
	deleted(&f, "bob", "Member", "chess/bob");
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_that_is_added_to_is_not_deleted),
		cmocka_unit_test(a_deletion_with_children_writes_all_that_goes_with_it),
		cmocka_unit_test(so_does_a_cascade),
		cmocka_unit_test(riders_wait_for_their_own_write),
		cmocka_unit_test(a_new_item_is_checked_with_what_it_comes_with),
		cmocka_unit_test(a_rule_sees_the_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
