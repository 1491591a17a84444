/* Permissions of a list and of its rows: both apply. And rows that fit no entity. SPDX-License-Identifier: Apache-2.0
 * */
#include "read_helper.h"

#define DESIGN                                                                                                                                  \
	"callers: {roles: [user, admin]}\n"                                                                                                     \
	"entities:\n"                                                                                                                           \
	"  Task:\n"                                                                                                                             \
	"    path: /tasks/<id>\n"                                                                                                               \
	"    attributes: {id: string, list: string, owner: string, open: boolean, words: list of string, parent: string}\n"                     \
	"    keys: {PK: TASK#<id>, SK: TASK, GSI1PK: LIST#<list>, GSI1SK: TASK#<id>}\n"                                                         \
	"    allow: {read: owner = caller}\n"                                                                                                   \
	"    companions:\n"                                                                                                                     \
	"      - {when: open = true, PK: TASK#<id>, SK: SIGN, GSI1PK: SIGNS#<list>, GSI1SK: <id>, id: <id>}\n"                                  \
	"  Note:\n"                                                                                                                             \
	"    path: /notes/<id>\n"                                                                                                               \
	"    attributes: {id: string, list: string}\n"                                                                                          \
	"    keys: {PK: NOTE#<id>, SK: NOTE, GSI1PK: NOTES#<list>, GSI1SK: <id>}\n"                                                             \
	"    allow: {read: anyone}\n"                                                                                                           \
	"  Pin:\n"                                                                                                                              \
	"    path: /pins/<id>\n"                                                                                                                \
	"    attributes: {id: string, list: string, of: string}\n"                                                                              \
	"    keys: {PK: PIN#<id>, SK: PIN, GSI1PK: PINS#<list>, GSI1SK: <id>}\n"                                                                \
	"    allow: {read: anyone}\n"                                                                                                           \
	"access:\n"                                                                                                                             \
	"  tasks: {path: /t/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, allow: caller is user}\n"                                        \
	"  mine and open: {path: /o/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, allow: open = true and caller is user}\n"                \
	"  all tasks: {path: /a/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, allow: caller is admin, shows: all rows}\n"                  \
	"  all open: {path: /ao/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, allow: open = true and caller is admin, shows: all rows}\n"  \
	"  both: {path: /b/<list>, merge: {of: [tasks, notes], by: id}, allow: caller is user}\n"                                               \
	"  both past: {path: /bp/<list>, merge: {of: [tasks, notes], by: id}, allow: caller is admin, shows: all rows}\n"                       \
	"  notes: {path: /n/<list>, query: GSI1, where: {GSI1PK: NOTES#<list>}}\n"                                                              \
	"  how many tasks: {path: /ct/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, count: true, allow: caller is user}\n"                 \
	"  how many all: {path: /ca/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, count: true, allow: caller is admin, shows: all rows}\n" \
	"  how many notes: {path: /cn/<list>, query: GSI1, where: {GSI1PK: NOTES#<list>}, count: true}\n"                                       \
	"  words: {path: /w/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, unite: words, allow: caller is user}\n"                          \
	"  tree: {path: /tr/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, tree: {parent: parent, by: id}, allow: caller is user}\n"        \
	"  some: {path: /s, batch: Task(id), allow: caller is user}\n"                                                                          \
	"  by keys: {path: /k/<pk>, get: {PK: <pk>, SK: X}, allow: anyone}\n"                                                                   \
	"  signs: {path: /signs/<list>, query: GSI1, where: {GSI1PK: SIGNS#<list>}}\n"                                                          \
	"  signed: {path: /signed/<list>, query: GSI1, where: {GSI1PK: SIGNS#<list>}, then: {get: Task, keys: {PK: TASK#<id>, SK: TASK}}, "     \
	"allow: caller is user}\n"                                                                                                              \
	"  pinned: {path: /pinned/<list>, query: GSI1, where: {GSI1PK: PINS#<list>}, then: {get: Note, keys: {PK: <of>, SK: TASK}}}\n"          \
	"  partition: {path: /part/<id>, query: table, where: {PK: TASK#<id>}, allow: anyone}\n"                                                \
	"  how many there: {path: /partc/<id>, query: table, where: {PK: TASK#<id>}, count: true, allow: anyone}\n"

static struct app_fixture f;

static void put_raw(const char *pk, const char *sk, const char *gsi, const char *gsi_sk, const char *id)
{
	struct run *r = app_fixture_run(&f, "!");
	/* clang-format off */
	struct value_member m[] = {
		{ SLICE("PK"), value_make_s(r->arena, slice_str(pk)) }, { SLICE("SK"), value_make_s(r->arena, slice_str(sk)) },
		{ SLICE("GSI1PK"), value_make_s(r->arena, slice_str(gsi)) }, { SLICE("GSI1SK"), value_make_s(r->arena, slice_str(gsi_sk)) },
		{ SLICE("id"), value_make_s(r->arena, slice_str(id)) }, { SLICE("owner"), value_make_s(r->arena, SLICE("ann")) },
		{ SLICE("words"), value_make_s(r->arena, SLICE("stray")) },
	};
	/* clang-format on */
	struct dyn_write w = { .kind = DYN_PUT, .item = value_make_map(r->arena, m, sizeof(m) / sizeof(*m)) };
	struct dyn_refusal refusal;

	assert_int_equal(dyn_write(r, &w, 1, SLICE(""), &refusal), DYN_DONE);
}

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, DESIGN);
	put(&f, "Task", "id=t1 list=l owner=ann open=true words=a,b");
	put(&f, "Task", "id=t2 list=l owner=bob open=true words=c parent=t1");
	put(&f, "Task", "id=t3 list=l owner=ann open=false words=d parent=t1");
	put(&f, "Note", "id=n1 list=l");
	put(&f, "Note", "id=u1 list=l");
	return 0;
}

/* What an SDK can put beside: keys of an older template, keys of none. */
static void add_strangers(void)
{
	put_raw("TASK#t8", "V1", "LIST#l", "TASK#t8", "t8");
	put_raw("OTHER", "X", "LIST#l", "TASK#t9", "t9");
	put_raw("OLDNOTE#n9", "NOTE", "NOTES#l", "n9", "n9");
	put_raw("TASK#t1", "STRAY", "ELSEWHERE", "x", "x1");
}

static int teardown(void **state)
{
	(void)state;
	app_fixture_close(&f);
	return 0;
}

static const char *read_as(const char *subject, const char *role, const char *name, const char *with)
{
	struct run *r = app_fixture_run(&f, subject);
	struct slice roles[] = { slice_str(role) };
	struct read_result x;
	struct buf b;

	r->caller.roles = roles;
	r->caller.role_count = 1;
	if (read_page(r, name, with, 0, SLICE(""), &x) != 200)
		return arena_cstr(r->arena, arena_printf(r->arena, "%d", problem_status(r->problem.type)));
	buf_init(&b, r->arena);
	for (size_t i = 0; i < x.row_count; i++) {
		if (i)
			buf_byte(&b, ' ');
		put_label(&b, &x.rows[i], SLICE("id"));
	}
	if (x.shape == READ_COUNT)
		buf_i64(&b, x.count);
	for (size_t i = 0; i < x.value_count; i++)
		buf_put(&b, value_bytes(x.values[i]));
	return arena_cstr(r->arena, buf_slice(&b));
}

#define assert_user(subject, name, expected) assert_string_equal(read_as(subject, "user", name, "list=l"), expected)
#define assert_admin(name, expected)         assert_string_equal(read_as("eve", "admin", name, "list=l"), expected)

static void both_rules_hold(void **state)
{
	(void)state;
	assert_user("ann", "tasks", "t1 t3");
	assert_user("bob", "tasks", "t2");
	assert_user("cat", "tasks", "");
	assert_string_equal(read_as(NULL, "user", "tasks", "list=l"), "401");
	assert_user("ann", "mine and open", "t1");
	assert_user("bob", "mine and open", "t2");
	assert_user("ann", "both", "n1 t1 t3 u1");
	assert_user("ann", "how many tasks", "2");
	assert_user("ann", "words", "abd");
	assert_user("ann", "tree", "t1(t3)");
	assert_user("ann", "signed", "t1");
}

static void a_batch_asks_both(void **state)
{
	struct slice ids[] = { SLICE("t1"), SLICE("t2") };
	struct run *r = app_fixture_run(&f, "ann");
	struct read_request q = { .access = pattern(&f, "some"), .ids = ids, .id_count = 2 };
	struct read_result x;

	(void)state;
	assert_true(read_access(r, &q, &x));
	assert_int_equal(x.row_count, 1);
}

static void rows_are_shown_past_their_rules_where_the_pattern_says_so(void **state)
{
	(void)state;
	assert_admin("all tasks", "t1 t2 t3");
	assert_string_equal(read_as("ann", "user", "all tasks", "list=l"), "403");
	assert_admin("all open", "t1 t2");
	assert_user("ann", "all open", "");
	assert_admin("both past", "n1 t1 t2 t3 u1");
	assert_admin("how many all", "3");
}

static void items_that_fit_no_entity_are_for_operators(void **state)
{
	(void)state;
	add_strangers();
	both_rules_hold(state);
	rows_are_shown_past_their_rules_where_the_pattern_says_so(state);
	assert_user("ann", "notes", "n1 u1");
	assert_user("ann", "how many notes", "2");
	assert_string_equal(read_as("!", "user", "notes", "list=l"), "n1 n9 u1");
	assert_string_equal(read_as("!", "user", "how many notes", "list=l"), "3");
	assert_string_equal(read_as("!", "user", "tasks", "list=l"), "t1 t2 t3 t8 t9");
	assert_string_equal(read_as("ann", "user", "by keys", "pk=OTHER"), "404");
	assert_string_equal(read_as("!", "user", "by keys", "pk=OTHER"), "t9");
	/* in the table itself: the item, its companion, and what stands beside them */
	assert_string_equal(read_as("ann", "user", "partition", "id=t1"), "t1 t1");
	assert_string_equal(read_as("ann", "user", "how many there", "id=t1"), "2");
	assert_string_equal(read_as("!", "user", "how many there", "id=t1"), "3");
}

static void companions_are_shown_as_they_are(void **state)
{
	(void)state;
	assert_user("cat", "signs", "t1 t2");
}

/* What a row names may be an item of another entity, whose rules are others. */
static void a_row_leads_to_items_of_the_entity_alone(void **state)
{
	(void)state;
	put(&f, "Pin", "id=p1 list=l of=TASK#t1");
	assert_user("cat", "pinned", "");
	assert_string_equal(read_as("!", "user", "pinned", "list=l"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_rules_hold, setup, teardown),
		cmocka_unit_test_setup_teardown(a_batch_asks_both, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_are_shown_past_their_rules_where_the_pattern_says_so, setup,
						teardown),
		cmocka_unit_test_setup_teardown(items_that_fit_no_entity_are_for_operators, setup, teardown),
		cmocka_unit_test_setup_teardown(companions_are_shown_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(a_row_leads_to_items_of_the_entity_alone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
