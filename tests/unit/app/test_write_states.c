/* Writing over a lifetime: votes that change, requirements, soft deletion, drafts, passwords, what has expired.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"
#include "app/auth/caller.h"

static const char design[] =
	"callers:\n  roles: [user, admin]\n"
	"entities:\n"
	"  Account:\n"
	"    path: /accounts/<name>\n"
	"    attributes:\n"
	"      name: string 1..20, required, lower\n"
	"      unread: counter\n"
	"      updated_at: timestamp, touched\n"
	"    keys: {PK: ACCOUNT#<name>, SK: ACCOUNT}\n"
	"    login: {by: [name], secret: {PK: ACCOUNT#<name>, SK: AUTH}, subject: name}\n"
	"    allow: {create, read: anyone, update, delete: name = caller}\n"
	"  Credentials:\n"
	"    internal: true\n"
	"    path: /accounts/<name>/auth\n"
	"    attributes:\n      name: string, from the key\n      hash: string, hidden\n      changed_at: timestamp, touched\n"
	"    keys: {PK: ACCOUNT#<name>, SK: AUTH}\n"
	"  Member:\n"
	"    path: /members/<name>\n"
	"    attributes:\n      name: string, required\n      hash: string, hidden\n"
	"    keys: {PK: MEMBER#<name>, SK: MEMBER}\n"
	"    login: {by: [name], password: hash, subject: name}\n"
	"    allow: {create, read: anyone, update, delete: name = caller}\n"
	"  Category:\n"
	"    path: /categories/<id>\n"
	"    attributes:\n      id: string, required\n      parent: string\n      cards: counter\n"
	"    keys: {PK: CATEGORY#<id>, SK: CATEGORY}\n"
	"    requires:\n"
	"      - {Category(parent) when parent is present if parent is absent: a subcategory hangs on a main category}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    delete: {refuse while: [cards of category]}\n"
	"  Card:\n"
	"    path: /cards/<id>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      category: string, required\n"
	"      owner: string, the caller, fixed\n"
	"      state: draft | open, default draft, managed\n"
	"      opened_at: timestamp, managed\n"
	"      note: string\n"
	"      votes: counter\n"
	"      ups: counter\n"
	"      talk: counter\n"
	"      updated_at: timestamp, touched\n"
	"      expires_at: epoch, 1 days after updated_at, when state = 'draft'\n"
	"    keys: {PK: CARD#<id>, SK: CARD}\n"
	"    keys when state = 'open': {GSI1PK: CATEGORY#<category>, GSI1SK: '<votes:+6>#<id>'}\n"
	"    keys when state = 'draft': {GSI2PK: DRAFTS#<owner>, GSI2SK: <id>}\n"
	"    companions:\n"
	"      - {unique: note, when: note is present, PK: NOTE#<note>, SK: NOTE}\n"
	"    counts: [Category(category).cards when state = 'open']\n"
	"    requires: [{Category(category) when state = 'open': there is no such category}]\n"
	"    allow:\n"
	"      create: caller is user\n"
	"      read: state = 'open' or owner = caller\n"
	"      update, delete: owner = caller\n"
	"    actions:\n"
	"      open:\n"
	"        when: state = 'draft'\n"
	"        otherwise: it is open already\n"
	"        set: {state: open, opened_at: now}\n"
	"        input: [note]\n"
	"        requires: [{Category(category) if parent is present: a card belongs to a subcategory}]\n"
	"      close: {set: {state: draft}, remove: [opened_at]}\n"
	"      star: {when: state = 'open', otherwise: not open, allow: anyone, add: {ups: 2}}\n"
	"  Vote:\n"
	"    path: /cards/<id>/votes/<voter>\n"
	"    attributes:\n      id: string, required, fixed\n      voter: string, the caller, fixed\n"
	"      value: integer -1..1, required\n"
	"    keys: {PK: CARD#<id>, SK: VOTE#<voter>}\n"
	"    counts:\n"
	"      - Card(id).votes by value if state = 'open'\n"
	"      - Card(id).ups when value = 1\n"
	"    check: {value <> 0: a vote is 1 or -1}\n"
	"    allow: {create, update, delete: voter = caller, read: anyone}\n"
	"  Comment:\n"
	"    path: /cards/<id>/comments/<number>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n      number: string, required, fixed\n      text: text 0..100, required\n"
	"      parent: string, default null, fixed\n      replies: counter\n"
	"      is_deleted: boolean, default false, managed\n"
	"    keys: {PK: CARD#<id>, SK: COMMENT#<number>}\n"
	"    counts:\n"
	"      - Card(id).talk when not is_deleted\n"
	"      - Comment(id, parent).replies when parent <> null and not is_deleted if is_deleted = false\n"
	"    allow:\n"
	"      create: caller is user and visible Card(id)\n"
	"      read: visible Card(id)\n"
	"      update, delete: not is_deleted and caller is user\n"
	"    delete: {set: {is_deleted: true, text: ''}}\n"
	"access:\n"
	"  cards of category: {query: GSI1, where: {GSI1PK: CATEGORY#<id>}}\n";

static void cards(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "ann", "Category", "main", NULL);
	created(f, "ann", "Category", "sub", "{\"parent\":\"main\"}");
	created(f, "ann", "Card", "c1", "{\"category\":\"sub\"}");
	acted(f, "ann", "Card", "c1", "open", NULL);
}

static int64_t of_card(struct app_fixture *f, const char *name)
{
	return number(item(f, "Card", "c1"), name);
}

/* ---- counts by a value ---- */

static void a_vote_that_changes_moves_the_difference(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	created(&f, "bob", "Vote", "c1/bob", "{\"value\":1}");
	created(&f, "cid", "Vote", "c1/cid", "{\"value\":1}");
	assert_int_equal(of_card(&f, "votes"), 2);
	assert_text(stored(&f, "CARD#c1", "CARD"), "GSI1SK", "500002#c1");
	updated(&f, "bob", "Vote", "c1/bob", "{\"value\":-1}");
	assert_int_equal(of_card(&f, "votes"), 0);
	assert_int_equal(of_card(&f, "ups"), 1);
	deleted(&f, "bob", "Vote", "c1/bob");
	assert_int_equal(of_card(&f, "votes"), 1);
	assert_text(stored(&f, "CARD#c1", "CARD"), "GSI1SK", "500001#c1");
	update_fails(&f, "cid", "Vote", "c1/cid", "{\"value\":0}", PROBLEM_INVALID, "1 or -1");
	create_fails(&f, "bob", "Vote", "none/bob", "{\"value\":1}", PROBLEM_NOT_FOUND, "there is no Card none");
	app_fixture_close(&f);
}

static void a_vote_starts_only_where_it_may(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	created(&f, "bob", "Vote", "c1/bob", "{\"value\":1}");
	acted(&f, "ann", "Card", "c1", "close", NULL);
	create_fails(&f, "cid", "Vote", "c1/cid", "{\"value\":1}", PROBLEM_CONFLICT, "Card c1");
	updated(&f, "bob", "Vote", "c1/bob", "{\"value\":-1}");
	assert_int_equal(of_card(&f, "votes"), -1);
	assert_int_equal(of_card(&f, "ups"), 0);
	app_fixture_close(&f);
}

/* ---- states ---- */

static void opening_a_card_changes_its_keys_and_counts(void **state)
{
	struct app_fixture f;
	struct value c;

	(void)state;
	cards(&f);
	c = stored(&f, "CARD#c1", "CARD");
	assert_text(c, "opened_at", "2026-01-15T10:30:00Z");
	assert_text(c, "GSI1PK", "CATEGORY#sub");
	assert_false(value_present(value_get(c, SLICE("GSI2PK"))));
	assert_false(value_present(value_get(c, SLICE("expires_at"))));
	assert_int_equal(number(item(&f, "Category", "sub"), "cards"), 1);
	action_fails(&f, "ann", "Card", "c1", "open", PROBLEM_CONFLICT, "open already");
	action_fails(&f, "bob", "Card", "c1", "open", PROBLEM_FORBIDDEN, NULL);
	acted(&f, "ann", "Card", "c1", "close", NULL);
	c = stored(&f, "CARD#c1", "CARD");
	assert_false(value_present(value_get(c, SLICE("opened_at"))));
	assert_false(value_present(value_get(c, SLICE("GSI1PK"))));
	assert_true(value_present(value_get(c, SLICE("expires_at"))));
	assert_int_equal(number(item(&f, "Category", "sub"), "cards"), 0);
	action_fails(&f, "bob", "Card", "c1", "open", PROBLEM_NOT_FOUND, NULL);
	app_fixture_close(&f);
}

static void requirements_are_checked_when_they_matter(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	created(&f, "ann", "Card", "c2", "{\"category\":\"none\"}");
	action_fails(&f, "ann", "Card", "c2", "open", PROBLEM_INVALID, "no such category");
	updated(&f, "ann", "Card", "c2", "{\"category\":\"main\"}");
	action_fails(&f, "ann", "Card", "c2", "open", PROBLEM_CONFLICT, "belongs to a subcategory");
	assert_int_equal(number(item(&f, "Category", "main"), "cards"), 0);
	updated(&f, "ann", "Card", "c2", "{\"category\":\"sub\"}");
	acted(&f, "ann", "Card", "c2", "open", NULL);
	assert_int_equal(number(item(&f, "Category", "sub"), "cards"), 2);
	updated(&f, "ann", "Card", "c2", "{\"category\":\"main\"}");
	assert_int_equal(number(item(&f, "Category", "sub"), "cards"), 1);
	assert_int_equal(number(item(&f, "Category", "main"), "cards"), 1);
	update_fails(&f, "ann", "Card", "c2", "{\"category\":\"none\"}", PROBLEM_INVALID, NULL);
	create_fails(&f, "ann", "Category", "deep", "{\"parent\":\"sub\"}", PROBLEM_CONFLICT, "main category");
	create_fails(&f, "ann", "Category", "own", "{\"parent\":\"own\"}", PROBLEM_INVALID, "below itself");
	app_fixture_close(&f);
}

static void an_action_takes_its_input(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	cards(&f);
	created(&f, "ann", "Card", "c2", "{\"category\":\"sub\",\"note\":\"n1\"}");
	acted(&f, "ann", "Card", "c2", "open", "{\"note\":\"n2\"}");
	assert_false(is_stored(&f, "NOTE#n1", "NOTE"));
	assert_true(is_stored(&f, "NOTE#n2", "NOTE"));
	r = app_fixture_run(&f, "ann");
	acted(&f, "ann", "Card", "c1", "close", NULL);
	assert_false(try_action(r, "Card", "c1", "open", "{\"note\":\"n2\"}", &out));
	assert_problem(r, PROBLEM_TAKEN, "n2");
	assert_false(try_action(app_fixture_run(&f, "ann"), "Card", "c1", "open", "{\"category\":\"main\"}", &out));
	app_fixture_close(&f);
}

static void an_addition_asks_its_condition(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	acted(&f, "bob", "Card", "c1", "star", NULL);
	assert_int_equal(of_card(&f, "ups"), 2);
	acted(&f, "ann", "Card", "c1", "close", NULL);
	action_fails(&f, "ann", "Card", "c1", "star", PROBLEM_CONFLICT, "not open");
	assert_int_equal(of_card(&f, "ups"), 2);
	app_fixture_close(&f);
}

/* ---- deletion ---- */

static void a_soft_deletion_counts_down_once(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	created(&f, "bob", "Comment", "c1/1", "{\"text\":\"hi\"}");
	created(&f, "bob", "Comment", "c1/2", "{\"text\":\"ho\",\"parent\":\"1\"}");
	assert_int_equal(of_card(&f, "talk"), 2);
	assert_int_equal(number(item(&f, "Comment", "c1/1"), "replies"), 1);
	deleted(&f, "bob", "Comment", "c1/2");
	assert_int_equal(of_card(&f, "talk"), 1);
	assert_int_equal(number(item(&f, "Comment", "c1/1"), "replies"), 0);
	assert_text(item(&f, "Comment", "c1/2"), "text", "");
	delete_fails(&f, "bob", "Comment", "c1/2", PROBLEM_FORBIDDEN, NULL);
	assert_int_equal(of_card(&f, "talk"), 1);
	deleted(&f, "bob", "Comment", "c1/1");
	create_fails(&f, "bob", "Comment", "c1/3", "{\"text\":\"ho\",\"parent\":\"1\"}", PROBLEM_CONFLICT, NULL);
	create_fails(&f, "bob", "Comment", "c1/3", "{\"text\":\"ho\",\"parent\":\"9\"}", PROBLEM_INVALID,
		     "Comment c1/9");
	assert_int_equal(of_card(&f, "talk"), 0);
	app_fixture_close(&f);
}

static void invisible_items_count_as_missing(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	acted(&f, "ann", "Card", "c1", "close", NULL);
	create_fails(&f, "bob", "Comment", "c1/1", "{\"text\":\"hi\"}", PROBLEM_NOT_FOUND, "there is no Card c1");
	create_fails(&f, "bob", "Comment", "none/1", "{\"text\":\"hi\"}", PROBLEM_NOT_FOUND, "there is no Card none");
	create_fails(&f, NULL, "Comment", "c1/1", "{}", PROBLEM_UNAUTHENTICATED, NULL);
	created(&f, "ann", "Comment", "c1/1", "{\"text\":\"hi\"}");
	app_fixture_close(&f);
}

static void a_category_with_cards_stays(void **state)
{
	struct app_fixture f;

	(void)state;
	cards(&f);
	delete_fails(&f, "ann", "Category", "sub", PROBLEM_CONFLICT, "still has cards of category");
	deleted(&f, "ann", "Card", "c1");
	deleted(&f, "ann", "Category", "sub");
	assert_false(is_stored(&f, "CATEGORY#sub", "CATEGORY"));
	app_fixture_close(&f);
}

static void what_has_expired_is_replaced(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct write_result out;

	(void)state;
	cards(&f);
	created(&f, "ann", "Card", "c2", "{\"category\":\"sub\",\"note\":\"old\"}");
	r = app_fixture_run(&f, "bob");
	r->now_ms += 2 * 86400000;
	assert_false(try_update(r, "Card", "c2", "{\"note\":\"x\"}", NULL, &out));
	assert_problem(r, PROBLEM_NOT_FOUND, NULL);
	r->problem = (struct problem){ 0 };
	assert_false(try_create(r, "Vote", "c2/bob", "{\"value\":1}", &out));
	assert_problem(r, PROBLEM_NOT_FOUND, NULL);
	r->problem = (struct problem){ 0 };
	must(r, try_create(r, "Card", "c2", "{\"category\":\"sub\",\"note\":\"new\"}", &out), "again");
	assert_text(item(&f, "Card", "c2"), "owner", "bob");
	assert_false(is_stored(&f, "NOTE#old", "NOTE"));
	assert_true(is_stored(&f, "NOTE#new", "NOTE"));
	app_fixture_close(&f);
}

/* ---- passwords ---- */

static bool opens(struct value secret, const char *password)
{
	return caller_check_password(slice_str(password), value_bytes(value_get(secret, SLICE("hash"))));
}

static void passwords_are_hashed_beside_the_account(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, design);
	create_fails(&f, NULL, "Account", "ann", "{}", PROBLEM_INVALID, "password");
	create_fails(&f, NULL, "Account", "ann", "{\"password\":\"short\"}", PROBLEM_INVALID, "password");
	created(&f, NULL, "Account", "ann", "{\"password\":\"correct horse\"}");
	assert_false(value_present(value_get(stored(&f, "ACCOUNT#ann", "ACCOUNT"), SLICE("password"))));
	assert_true(opens(stored(&f, "ACCOUNT#ann", "AUTH"), "correct horse"));
	assert_text(stored(&f, "ACCOUNT#ann", "AUTH"), "changed_at", "2026-01-15T10:30:00Z");
	update_fails(&f, "ann", "Account", "ann", "{\"password\":\"battery staple\"}", PROBLEM_INVALID,
		     "current_password");
	update_fails(&f, "ann", "Account", "ann",
		     "{\"password\":\"battery staple\",\"current_password\":\"wrong horse\"}", PROBLEM_INVALID,
		     "current_password");
	updated(&f, "ann", "Account", "ann", "{\"password\":\"battery staple\",\"current_password\":\"correct horse\"}");
	assert_true(opens(stored(&f, "ACCOUNT#ann", "AUTH"), "battery staple"));
	updated(&f, "ann", "Account", "ann", "{\"name\":\"anna\"}");
	assert_false(is_stored(&f, "ACCOUNT#ann", "AUTH"));
	assert_true(opens(stored(&f, "ACCOUNT#anna", "AUTH"), "battery staple"));
	deleted(&f, "anna", "Account", "anna");
	assert_false(is_stored(&f, "ACCOUNT#anna", "AUTH"));
	created(&f, "!", "Account", "robot", "{}");
	assert_false(is_stored(&f, "ACCOUNT#robot", "AUTH"));
	updated(&f, "!", "Account", "robot", "{\"password\":\"battery staple\"}");
	assert_true(opens(stored(&f, "ACCOUNT#robot", "AUTH"), "battery staple"));
	app_fixture_close(&f);
}

static void passwords_are_hashed_inside_the_account(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, design);
	created(&f, NULL, "Member", "ann", "{\"password\":\"correct horse\"}");
	assert_true(opens(stored(&f, "MEMBER#ann", "MEMBER"), "correct horse"));
	updated(&f, "ann", "Member", "ann", "{\"password\":\"battery staple\",\"current_password\":\"correct horse\"}");
	assert_true(opens(stored(&f, "MEMBER#ann", "MEMBER"), "battery staple"));
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vote_that_changes_moves_the_difference),
		cmocka_unit_test(a_vote_starts_only_where_it_may),
		cmocka_unit_test(opening_a_card_changes_its_keys_and_counts),
		cmocka_unit_test(requirements_are_checked_when_they_matter),
		cmocka_unit_test(an_action_takes_its_input),
		cmocka_unit_test(an_addition_asks_its_condition),
		cmocka_unit_test(a_soft_deletion_counts_down_once),
		cmocka_unit_test(invisible_items_count_as_missing),
		cmocka_unit_test(a_category_with_cards_stays),
		cmocka_unit_test(what_has_expired_is_replaced),
		cmocka_unit_test(passwords_are_hashed_beside_the_account),
		cmocka_unit_test(passwords_are_hashed_inside_the_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
