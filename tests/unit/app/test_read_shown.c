/* `show`: parts of other items in rows, read together, by the rules of those items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read_helper.h"

#define DESIGN                                                                                                              \
	"callers: {roles: [user]}\n"                                                                                        \
	"entities:\n"                                                                                                       \
	"  User:\n"                                                                                                         \
	"    path: /users/<id>\n"                                                                                           \
	"    attributes:\n"                                                                                                 \
	"      id: string\n"                                                                                                \
	"      name: string\n"                                                                                              \
	"      boss: string\n"                                                                                              \
	"      phone: string, private\n"                                                                                    \
	"    keys: {PK: USER#<id>, SK: USER}\n"                                                                             \
	"    allow: {read: name <> 'Secret' or id = caller, update: id = caller}\n"                                         \
	"    show: {boss_name: User(boss).name}\n"                                                                          \
	"  Safe:\n"                                                                                                         \
	"    path: /safes/<id>\n"                                                                                           \
	"    attributes: {id: string, code: string}\n"                                                                      \
	"    keys: {PK: SAFE#<id>, SK: SAFE}\n"                                                                             \
	"  Post:\n"                                                                                                         \
	"    path: /posts/<id>\n"                                                                                           \
	"    attributes: {id: string, list: string, by: string, n: number, parent: string}\n"                               \
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: LIST#<list>, GSI1SK: POST#<id>}\n"                                     \
	"    allow: {read: anyone}\n"                                                                                       \
	"access:\n"                                                                                                         \
	"  posts: {path: /l/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, without: [by], show: {name: User(by).name, " \
	"boss: User(User(by).boss).name, phone: User(by).phone, safe: exists Safe(by), big: n > 5}}\n"                      \
	"  tree: {path: /t/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, without: [by, n, list], "                     \
	"tree: {parent: parent, by: id}, show: {name: User(by).name}}\n"                                                    \
	"  one: {path: /o/<id>, get: Post(id), without: [by, n, list], show: {name: User(by).name}}\n"                      \
	"  plain: {path: /p/<list>, query: GSI1, where: {GSI1PK: LIST#<list>}, show: {twice: n + n}}\n"

static struct app_fixture f;

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, DESIGN);
	put(&f, "User", "id=ann name=Ann phone=1 boss=bob");
	put(&f, "User", "id=bob name=Bob boss=dan");
	put(&f, "User", "id=dan name=Secret");
	put(&f, "Safe", "id=ann code=1234");
	put(&f, "Post", "id=p1 list=l by=ann n=9");
	put(&f, "Post", "id=p2 list=l by=bob n=1 parent=p1");
	put(&f, "Post", "id=p3 list=l by=eve parent=p1");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	app_fixture_close(&f);
	return 0;
}

static const char *shown(const char *subject, const char *name, const char *with, size_t *requests)
{
	struct run *r = app_fixture_run(&f, subject);
	const struct access *a = pattern(&f, name);
	struct read_request q = { .access = a, .params = params(r, a, with), .shows = true };
	struct trace trace = { 0 };
	struct read_result x;
	struct buf b;

	r->trace = &trace;
	if (!read_access(r, &q, &x))
		fail_msg("%s: %s %.*s", name, problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
	*requests = 0;
	for (const struct trace_call *c = trace.first; c; c = c->next)
		++*requests;
	buf_init(&b, r->arena);
	assert_true(read_output(r, a, &x, &b));
	return arena_cstr(r->arena, buf_slice(&b));
}

static void rows_show_what_the_caller_may_read(void **state)
{
	size_t n;

	(void)state;
	assert_string_equal(
		shown("ann", "posts", "list=l", &n),
		"{\"items\":[{\"id\":\"p1\",\"list\":\"l\",\"n\":9,\"name\":\"Ann\",\"boss\":\"Bob\","
		"\"phone\":\"1\",\"safe\":false,\"big\":true},"
		"{\"id\":\"p2\",\"list\":\"l\",\"n\":1,\"parent\":\"p1\",\"name\":\"Bob\",\"safe\":false,\"big\":false},"
		"{\"id\":\"p3\",\"list\":\"l\",\"parent\":\"p1\",\"safe\":false,\"big\":false}]}");
	assert_int_equal(n, 3); /* the list, those it names, and those that these name */
	assert_non_null(strstr(shown("dan", "posts", "list=l", &n), "\"boss\":\"Secret\""));
	assert_null(strstr(shown("dan", "posts", "list=l", &n), "phone"));
	assert_non_null(strstr(shown("!", "posts", "list=l", &n), "\"safe\":true")); /* an operator */
}

static void trees_and_single_items_show_them_too(void **state)
{
	size_t n;

	(void)state;
	assert_string_equal(
		shown("ann", "tree", "list=l", &n),
		"{\"items\":[{\"id\":\"p1\",\"name\":\"Ann\",\"children\":[{\"id\":\"p2\",\"parent\":\"p1\",\"name\":\"Bob\","
		"\"children\":[]},{\"id\":\"p3\",\"parent\":\"p1\",\"children\":[]}]}]}");
	assert_string_equal(shown("ann", "one", "id=p2", &n), "{\"id\":\"p2\",\"parent\":\"p1\",\"name\":\"Bob\"}");
	assert_int_equal(n, 2);
}

static void an_item_shows_them_by_its_path(void **state)
{
	const struct entity *e = design_entity(f.design, SLICE("User"));
	struct run *r = app_fixture_run(&f, "ann");
	struct value id = value_make_s(r->arena, SLICE("ann"));
	struct row item;
	struct buf b;

	(void)state;
	assert_true(read_item(r, e, &id, 1, &item));
	assert_true(read_shown(r, &item));
	buf_init(&b, r->arena);
	assert_true(read_output_item(r, &item, &b));
	assert_string_equal(arena_cstr(r->arena, buf_slice(&b)),
			    "{\"id\":\"ann\",\"name\":\"Ann\",\"boss\":\"bob\",\"phone\":\"1\",\"boss_name\":\"Bob\"}");
}

static void answers_depend_on_the_caller_as_far_as_other_items_do(void **state)
{
	struct run *r = app_fixture_run(&f, "ann");

	(void)state;
	assert_true(read_depends_on_caller(r, pattern(&f, "posts")));
	assert_true(read_depends_on_caller(r, pattern(&f, "one")));
	assert_false(read_depends_on_caller(r, pattern(&f, "plain")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_show_what_the_caller_may_read, setup, teardown),
		cmocka_unit_test_setup_teardown(trees_and_single_items_show_them_too, setup, teardown),
		cmocka_unit_test_setup_teardown(an_item_shows_them_by_its_path, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_depend_on_the_caller_as_far_as_other_items_do, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
