/* Requests to an app and what they are answered with: reading, paging, caching, problems.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"

static void open_notes(struct client *c)
{
	client_open(c, CLIENT_NOTES);
	client_ask(c, APP_POST, "/users", "{\"user\":\"alice\",\"email\":\"Alice@example.org\",\"name\":\"Alice\","
					  "\"password\":\"long enough\"}");
	client_is(c, 201);
}

static void write_notes(struct client *c, int n)
{
	client_as(c, "alice");
	for (int i = 1; i <= n; i++) {
		struct slice path = arena_printf(&c->f.arena, "/users/alice/notes/n%d", i);

		client_ask(c, APP_PUT, arena_cstr(&c->f.arena, path), "{\"title\":\"a note\"}");
		client_is(c, 201);
	}
}

static void an_item_is_shown_to_who_may_read_it(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	write_notes(&c, 1);
	client_ask(&c, APP_GET, "/users/alice/notes/n1", NULL);
	client_is(&c, 200);
	client_says(&c, "\"title\":\"a note\"");
	client_header(&c, "ETag: \"");
	client_header(&c, "Cache-Control: private, no-cache\r\n");
	assert_true(slice_is(c.reply.type, "application/json"));
	client_ask(&c, APP_GET, "/users/alice/notes/n1/", NULL);
	client_is(&c, 200);
	client_ask(&c, APP_HEAD, "/users/alice/notes/%6e1", NULL);
	client_is(&c, 200);
	client_as(&c, NULL);
	client_ask(&c, APP_GET, "/users/alice/notes/n1", NULL);
	client_is(&c, 404);
	client_says(&c, "urn:thorpe:not-found");
	client_as(&c, "bob");
	client_ask(&c, APP_GET, "/users/alice/notes/n1", NULL);
	client_is(&c, 404);
	client_close(&c);
}

static void what_is_hidden_or_private_stays(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	assert_false(client_has(c.reply.body, "password"));
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 200);
	assert_false(client_has(c.reply.body, "password"));
	assert_false(client_has(c.reply.body, "email"));
	client_as(&c, "alice");
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_says(&c, "\"email\":\"alice@example.org\"");
	client_as(&c, "!");
	client_ask(&c, APP_GET, "/users/alice", NULL);
	assert_false(client_has(c.reply.body, "password"));
	client_close(&c);
}

static void the_same_etag_is_not_sent_again(void **state)
{
	struct client c;
	struct slice etag;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "/users/alice", NULL);
	etag = client_value(&c, "ETag");
	c.q.if_none_match = arena_printf(&c.f.arena, "\"other\", W/%.*s", SLICE_ARG(etag));
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 304);
	assert_int_equal(c.reply.body.n, 0);
	assert_int_equal(c.reply.type.n, 0);
	assert_true(slice_equal(client_value(&c, "ETag"), etag));
	client_as(&c, "alice"); /* who sees more */
	c.q.if_none_match = etag;
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 200);
	client_as(&c, NULL);
	write_notes(&c, 1); /* moves a counter */
	client_as(&c, NULL);
	c.q.if_none_match = etag;
	client_ask(&c, APP_GET, "/users/alice", NULL);
	client_is(&c, 200);
	client_says(&c, "\"notes_count\":1");
	client_close(&c);
}

static void lists_come_in_pages(void **state)
{
	struct client c;
	const struct json *page;
	struct slice next;
	int seen = 0, pages = 0;

	(void)state;
	open_notes(&c);
	write_notes(&c, 5);
	client_ask(&c, APP_GET, "/users/alice/notes", NULL);
	client_header(&c, "Cache-Control: no-store\r\n");
	for (;;) {
		client_is(&c, 200);
		page = json_parse(&c.f.arena, c.reply.body);
		seen += (int)json_get(page, "items")->count;
		pages++;
		if (!json_get(page, "next"))
			break;
		next = json_get(page, "next")->string;
		next = arena_printf(&c.f.arena, "/users/alice/notes?after=%.*s&limit=2", SLICE_ARG(next));
		client_ask(&c, APP_GET, arena_cstr(&c.f.arena, next), NULL);
	}
	assert_int_equal(seen, 5);
	assert_int_equal(pages, 3);
	client_ask(&c, APP_GET, "/users/alice/notes?limit=4", NULL);
	assert_int_equal(json_get(json_parse(&c.f.arena, c.reply.body), "items")->count, 4);
	client_ask(&c, APP_GET, "/users/alice/notes?after=made-up", NULL);
	client_is(&c, 400);
	client_close(&c);
}

static void parameters_are_checked_and_named(void **state)
{
	static const char *const wrong[] = { "/users/alice/notes?limit=0", "/users/alice/notes?limit=1001",
					     "/users/alice/notes?limit=x", "/users/alice/notes?state=open",
					     "/open?since=yesterday",
					     "/open?since=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z", NULL };
	struct client c;

	(void)state;
	open_notes(&c);
	for (size_t i = 0; wrong[i]; i++) {
		client_ask(&c, APP_GET, wrong[i], NULL);
		client_is(&c, 422);
		client_says(&c, "\"errors\":[{\"attribute\":\"");
	}
	client_ask(&c, APP_GET, "/open?limt=3&sinse=x", NULL);
	client_says(&c, "did you mean limit?");
	client_says(&c, "did you mean since?");
	client_ask(&c, APP_GET, "/open?since=&limit=3", NULL);
	client_is(&c, 200);
	client_close(&c);
}

static void many_by_id(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_POST, "/users", "{\"user\":\"bob\",\"password\":\"long enough\"}");
	client_is(&c, 201);
	client_ask(&c, APP_GET, "/some-users?id=alice,nobody&id=b%6fb", NULL);
	client_is(&c, 200);
	assert_int_equal(json_get(json_parse(&c.f.arena, c.reply.body), "items")->count, 2);
	client_close(&c);
}

static void cached_lists_say_for_how_long(void **state)
{
	struct client c;
	struct slice etag;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "/open", NULL);
	client_header(&c, "Cache-Control: public, max-age=30\r\n");
	client_header(&c, "Vary: Authorization\r\n");
	etag = client_value(&c, "ETag");
	assert_true(etag.n > 2);
	c.q.if_none_match = etag;
	client_ask(&c, APP_GET, "/open", NULL);
	client_is(&c, 304);
	write_notes(&c, 1);
	client_ask(&c, APP_POST, "/users/alice/notes/n1/publish", NULL);
	client_is(&c, 200);
	c.q.if_none_match = etag;
	client_ask(&c, APP_GET, "/open", NULL);
	client_is(&c, 200);
	client_header(&c, "Cache-Control: private, max-age=30\r\n");
	client_close(&c);
}

static void addresses_that_cannot_be_read(void **state)
{
	static const char *const wrong[] = { "/users/%", "/users/%4", "/users/%zz", "/users/%ff%fe", "/users/a%00b",
					     "/open?since=%e", NULL };
	struct client c;

	(void)state;
	open_notes(&c);
	for (size_t i = 0; wrong[i]; i++) {
		client_ask(&c, APP_GET, wrong[i], NULL);
		client_is(&c, 400);
		client_says(&c, "urn:thorpe:malformed");
		assert_true(slice_is(c.reply.type, "application/problem+json"));
	}
	client_close(&c);
}

static void addresses_and_methods_that_are_not_there(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "/nothing", NULL);
	client_is(&c, 404);
	client_ask(&c, APP_GET, "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/a/b/c/d/e/f/g/h/i/j", NULL);
	client_is(&c, 404);
	client_ask(&c, APP_DELETE, "/users/alice/notes", NULL);
	client_is(&c, 405);
	client_says(&c, "urn:thorpe:method-not-allowed");
	client_header(&c, "Allow: GET, HEAD, POST\r\n");
	client_ask(&c, APP_OTHER, "/users/alice", NULL);
	client_header(&c, "Allow: GET, HEAD, PUT, PATCH, DELETE\r\n");
	client_ask(&c, APP_GET, "/users/x", NULL); /* no user has so short a name */
	client_is(&c, 404);
	client_close(&c);
}

static void internal_entities_are_for_operators(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_as(&c, "alice");
	client_ask(&c, APP_PUT, "/audits/a1", "{}");
	client_is(&c, 404);
	client_as(&c, "!");
	client_ask(&c, APP_PUT, "/audits/a1", "{\"text\":\"seen\"}");
	client_is(&c, 201);
	client_ask(&c, APP_GET, "/audits/a1", NULL);
	client_is(&c, 200);
	client_ask(&c, APP_GET, "/slips", NULL);
	client_is(&c, 200);
	client_as(&c, NULL);
	client_ask(&c, APP_GET, "/slips", NULL);
	assert_true(c.reply.status == 401 || c.reply.status == 404);
	client_ask(&c, APP_GET, "/audits/a1", NULL);
	client_is(&c, 404);
	client_close(&c);
}

static void the_index_tells_what_there_is(void **state)
{
	struct client c;
	const struct json *index;
	struct buf b;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "", NULL);
	client_is(&c, 200);
	client_says(&c, "\"design\":\"test\"");
	client_says(&c, "{\"name\":\"Note\",\"path\":\"/users/<user>/notes/<note>\",\"collection\":\"/users/<user>/notes\","
		    "\"methods\":[\"GET\",\"PUT\",\"PATCH\",\"DELETE\"],\"actions\":[\"publish\",\"view\"]}");
	client_says(&c, "\"ids\":[\"N-1\"]");
	assert_false(client_has(c.reply.body, "Audit"));
	index = json_parse(&c.f.arena, c.reply.body);
	assert_int_equal(json_get(index, "entities")->count, 3);
	assert_int_equal(json_get(index, "access")->count, 5);
	buf_init(&b, &c.f.arena);
	app_summary(c.app, &b);
	assert_true(json_is(json_parse(&c.f.arena, buf_slice(&b)), JSON_OBJECT));
	client_ask(&c, APP_GET, "/openapi.json", NULL);
	client_is(&c, 200);
	client_says(&c, "\"openapi\":\"3.1");
	client_close(&c);
}

static bool quick(struct client *c, enum app_method m, const char *path, const char *query)
{
	struct app_request q = { .method = m, .path = slice_str(path), .query = slice_str(query) };

	return app_is_quick(c->app, &q);
}

static void simple_reads_are_quick(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	assert_true(quick(&c, APP_GET, "/users/alice", ""));
	assert_true(quick(&c, APP_HEAD, "/users/alice/", ""));
	assert_true(quick(&c, APP_GET, "/users/alice/notes", ""));
	assert_true(quick(&c, APP_GET, "/users/alice/notes", "limit=200"));
	assert_false(quick(&c, APP_GET, "/users/alice/notes", "after=x&limit=201"));
	assert_false(quick(&c, APP_GET, "/users/alice/notes", "limit=1000"));
	assert_false(quick(&c, APP_GET, "/users/alice/notes", "%6cimit=1000"));
	assert_false(quick(&c, APP_GET, "/emails/a", ""));
	assert_false(quick(&c, APP_GET, "/some-users", "id=a"));
	assert_false(quick(&c, APP_PATCH, "/users/alice", ""));
	assert_false(quick(&c, APP_POST, "/login", ""));
	assert_false(quick(&c, APP_GET, "/openapi.json", ""));
	assert_false(quick(&c, APP_GET, "/nothing", ""));
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_is_shown_to_who_may_read_it),
		cmocka_unit_test(what_is_hidden_or_private_stays),
		cmocka_unit_test(the_same_etag_is_not_sent_again),
		cmocka_unit_test(lists_come_in_pages),
		cmocka_unit_test(parameters_are_checked_and_named),
		cmocka_unit_test(many_by_id),
		cmocka_unit_test(cached_lists_say_for_how_long),
		cmocka_unit_test(addresses_that_cannot_be_read),
		cmocka_unit_test(addresses_and_methods_that_are_not_there),
		cmocka_unit_test(internal_entities_are_for_operators),
		cmocka_unit_test(the_index_tells_what_there_is),
		cmocka_unit_test(simple_reads_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
