/* Which path and method leads where.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/rest/routes.h"

static const char yaml[] =
	APP_FIXTURE_HEAD "entities:\n"
			 "  Note:\n"
			 "    path: /users/<user>/notes/<note>\n"
			 "    attributes: {user: string, note: string, stars: integer}\n"
			 "    keys: {PK: 'USER#<user>', SK: 'NOTE#<note>'}\n"
			 "    allow: {create: anyone, read: anyone}\n"
			 "    actions:\n"
			 "      pin: {set: {stars: 5}}\n"
			 "  Secret:\n"
			 "    path: /users/<owner>/secret\n"
			 "    attributes: {owner: string, x: string}\n"
			 "    keys: {PK: 'USER#<owner>', SK: SECRET}\n"
			 "    internal: true\n"
			 "  Edition:\n"
			 "    path: /editions/v<major>.<minor>\n"
			 "    attributes: {major: integer, minor: integer}\n"
			 "    keys: {PK: 'EDITION#<major>', SK: 'EDITION#<minor>'}\n"
			 "    allow: {create: anyone, read: anyone}\n"
			 "  Me:\n"
			 "    path: /me/<name>\n"
			 "    attributes: {name: string}\n"
			 "    keys: {PK: 'ME#<name>', SK: ME, GSI1PK: 'ME#<name>', GSI1SK: X, GSI2PK: ME, GSI2SK: X}\n"
			 "    allow: {create: anyone, read: anyone}\n"
			 "access:\n"
			 "  notes:\n"
			 "    path: /users/<user>/notes\n"
			 "    query: table\n"
			 "    where: {PK: 'USER#<user>', SK: begins with NOTE#}\n"
			 "  pinned:\n"
			 "    path: /users/<user>/notes/pinned\n"
			 "    query: table\n"
			 "    where: {PK: 'USER#<user>', SK: begins with NOTE#}\n"
			 "    filter: stars = 5\n"
			 "  ranked:\n"
			 "    path: /users/<user>/notes/ranked\n"
			 "    query: table\n"
			 "    where: {PK: 'USER#<user>', SK: begins with NOTE#}\n"
			 "    rank: {by: stars}\n"
			 "  best:\n"
			 "    path: /users/<user>/notes/best\n"
			 "    query: table\n"
			 "    where: {PK: 'USER#<user>', SK: begins with NOTE#}\n"
			 "    limit: 1000\n"
			 "    rank: {by: stars, keep: 5}\n"
			 "  batch:\n"
			 "    path: /batch\n"
			 "    query: GSI2\n"
			 "    where: {GSI2PK: ME}\n"
			 "  own description:\n"
			 "    path: /openapi.json\n"
			 "    query: GSI2\n"
			 "    where: {GSI2PK: ME}\n";

struct tree {
	struct arena arena;
	const struct design *design;
	const struct route_table *routes;
	struct route_match match;
};

static void open_tree(struct tree *t)
{
	arena_init(&t->arena);
	t->design = app_fixture_design(&t->arena, slice_str(yaml), SLICE("test.yaml"));
	t->routes = routes_new(&t->arena, t->design);
}

/* The path is split here at its slashes. */
static const struct route *find(struct tree *t, enum app_method m, const char *path, bool operator_)
{
	struct slice segments[ROUTE_MOST_SEGMENTS];
	size_t n = 0;

	while (*path) {
		size_t length = strcspn(++path, "/");

		segments[n++] = slice_make(path, length);
		path += length;
	}
	routes_find(t->routes, segments, n, m, operator_, &t->match);
	return t->match.route;
}

static void an_item_and_its_collection(void **state)
{
	struct tree t;
	const struct route *r;

	(void)state;
	open_tree(&t);
	r = find(&t, APP_GET, "/users/alice/notes/n1", false);
	assert_int_equal(r->kind, ROUTE_ITEM);
	assert_true(r->quick);
	assert_int_equal(t.match.count, 2);
	assert_true(slice_is(t.match.values[0], "alice"));
	assert_true(slice_is(t.match.values[1], "n1"));
	assert_true(slice_is(r->names[1], "note"));
	assert_int_equal(find(&t, APP_HEAD, "/users/alice/notes/n1", false)->kind, ROUTE_ITEM);
	assert_int_equal(find(&t, APP_PUT, "/users/alice/notes/n1", false)->kind, ROUTE_PUT);
	assert_int_equal(find(&t, APP_PATCH, "/users/alice/notes/n1", false)->kind, ROUTE_PATCH);
	assert_int_equal(find(&t, APP_DELETE, "/users/alice/notes/n1", false)->kind, ROUTE_DELETE);
	assert_int_equal(find(&t, APP_POST, "/users/alice/notes/n1/pin", false)->kind, ROUTE_ACTION);
	r = find(&t, APP_POST, "/users/alice/notes", false);
	assert_int_equal(r->kind, ROUTE_CREATE);
	assert_int_equal(t.match.count, 1);
	assert_int_equal(find(&t, APP_GET, "/users/alice/notes", false)->kind, ROUTE_ACCESS);
	arena_release(&t.arena);
}

/* What is ranked inside its page is a page like any other; the best of very many are not. */
static void ranks_are_quick_where_pages_are_small(void **state)
{
	struct tree t;

	(void)state;
	open_tree(&t);
	assert_true(find(&t, APP_GET, "/users/alice/notes", false)->quick);
	assert_true(find(&t, APP_GET, "/users/alice/notes/ranked", false)->quick);
	assert_false(find(&t, APP_GET, "/users/alice/notes/best", false)->quick);
	arena_release(&t.arena);
}

static void literals_win_for_the_methods_they_have(void **state)
{
	struct tree t;

	(void)state;
	open_tree(&t);
	assert_int_equal(find(&t, APP_GET, "/users/alice/notes/pinned", false)->kind, ROUTE_ACCESS);
	assert_int_equal(find(&t, APP_DELETE, "/users/alice/notes/pinned", false)->kind, ROUTE_DELETE);
	arena_release(&t.arena);
}

static void a_method_that_is_not_there_tells_those_that_are(void **state)
{
	struct tree t;

	(void)state;
	open_tree(&t);
	assert_null(find(&t, APP_DELETE, "/users/alice/notes", false));
	assert_int_equal(t.match.allow, 1u << APP_GET | 1u << APP_POST);
	assert_null(find(&t, APP_OTHER, "/users/alice/notes/n1", false));
	assert_int_equal(t.match.allow, 1u << APP_GET | 1u << APP_PUT | 1u << APP_PATCH | 1u << APP_DELETE);
	assert_null(find(&t, APP_GET, "/users/alice", false));
	assert_int_equal(t.match.allow, 0);
	assert_null(find(&t, APP_GET, "/users//notes", false));
	assert_int_equal(t.match.allow, 0);
	arena_release(&t.arena);
}

static void internal_entities_are_there_for_operators(void **state)
{
	struct tree t;

	(void)state;
	open_tree(&t);
	assert_null(find(&t, APP_GET, "/users/alice/secret", false));
	assert_int_equal(t.match.allow, 0);
	assert_int_equal(find(&t, APP_GET, "/users/alice/secret", true)->kind, ROUTE_ITEM);
	assert_int_equal(find(&t, APP_POST, "/users/alice/secret", true)->kind, ROUTE_CREATE);
	arena_release(&t.arena);
}

static void a_segment_may_be_text_and_placeholders(void **state)
{
	struct tree t;
	const struct route *r;

	(void)state;
	open_tree(&t);
	r = find(&t, APP_GET, "/editions/v2.17", false);
	assert_int_equal(r->kind, ROUTE_ITEM);
	assert_int_equal(t.match.count, 2);
	assert_true(slice_is(t.match.values[0], "2"));
	assert_true(slice_is(t.match.values[1], "17"));
	assert_int_equal(r->types[1]->type, ATTR_INTEGER);
	assert_null(find(&t, APP_GET, "/editions/2.17", false));
	arena_release(&t.arena);
}

static void a_designs_own_paths_win_but_over_openapi(void **state)
{
	struct tree t;

	(void)state;
	open_tree(&t);
	assert_int_equal(find(&t, APP_GET, "/batch", false)->kind, ROUTE_ACCESS);
	assert_int_equal(find(&t, APP_POST, "/batch", false)->kind, ROUTE_BATCH);
	assert_int_equal(find(&t, APP_GET, "/openapi.json", false)->kind, ROUTE_OPENAPI);
	assert_int_equal(find(&t, APP_GET, "/me", false)->kind, ROUTE_ME);
	assert_int_equal(find(&t, APP_POST, "/me", false)->kind, ROUTE_CREATE);
	assert_int_equal(find(&t, APP_GET, "", false)->kind, ROUTE_INDEX);
	assert_null(find(&t, APP_POST, "/login", false)); /* nobody has an account */
	arena_release(&t.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_and_its_collection),
		cmocka_unit_test(ranks_are_quick_where_pages_are_small),
		cmocka_unit_test(literals_win_for_the_methods_they_have),
		cmocka_unit_test(a_method_that_is_not_there_tells_those_that_are),
		cmocka_unit_test(internal_entities_are_there_for_operators),
		cmocka_unit_test(a_segment_may_be_text_and_placeholders),
		cmocka_unit_test(a_designs_own_paths_win_but_over_openapi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
