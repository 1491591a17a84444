/* What is written together with an item (`also`), at its edges. tests/designs/tenancy has the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"

static const char design[] =
	"entities:\n"
	"  Board:\n"
	"    path: /boards/<board>\n"
	"    attributes:\n"
	"      board: string, required\n"
	"      names: list of string 0..40\n"
	"      stars: counter\n"
	"    keys: {PK: BOARD#<board>, SK: BOARD}\n"
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

/* The children leave room for what is written with the deletion. */
static void a_deletion_with_children_writes_all_that_goes_with_it(void **state)
{
	struct app_fixture f;
	char name[32];
	struct buf b;

	(void)state;
	app_fixture_open(&f, design);
	buf_init(&b, &f.arena);
	for (int i = 0; i < 30; i++)
		buf_printf(&b, "%s\"e%d\"", i ? "," : "", i);
	created(&f, "ann", "Board", "b", arena_printf(&f.arena, "{\"names\":[%.*s]}", SLICE_ARG(buf_slice(&b))).p);
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "b/c%d", i);
		created(&f, "ann", "Card", name, NULL);
	}
	deleted(&f, "ann", "Board", "b");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "ENTRY#e%d", i);
		assert_true(is_stored(&f, name, "ENTRY"));
	}
	for (int i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "CARD#c%d", i);
		assert_false(is_stored(&f, "BOARD#b", name));
	}
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_that_is_added_to_is_not_deleted),
		cmocka_unit_test(a_deletion_with_children_writes_all_that_goes_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
