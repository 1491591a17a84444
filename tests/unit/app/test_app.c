/* Requests to an app and what they are answered with: reading, paging, caching, problems.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"

static void open_notes(struct client *c)
{
	client_open(c, CLIENT_NOTES);
	client_ask(c, APP_POST, "/users",
		   "{\"user\":\"alice\",\"email\":\"Alice@example.org\",\"name\":\"Alice\","
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

static void an_item_is_shown_to_callers_that_may_read_it(void **state)
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

static void hidden_and_private_attributes_are_not_shown(void **state)
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
	client_header(&c, "Cache-Control: private, no-cache\r\n");
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
	static const char *const wrong[] = { "/users/alice/notes?limit=0",
					     "/users/alice/notes?limit=1001",
					     "/users/alice/notes?limit=x",
					     "/users/alice/notes?state=open",
					     "/open?since=yesterday",
					     "/open?since=2026-01-01T00:00:00Z&since=2026-01-02T00:00:00Z",
					     NULL };
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
	static const char *const wrong[] = { "/users/%",     "/users/%4",      "/users/%zz", "/users/%ff%fe",
					     "/users/a%00b", "/open?since=%e", NULL };
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

static void the_index_lists_entities_and_patterns(void **state)
{
	struct client c;
	const struct json *index;
	struct buf b;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "", NULL);
	client_is(&c, 200);
	client_says(&c, "\"design\":\"test\"");
	client_says(&c,
		    "{\"name\":\"Note\",\"path\":\"/users/<user>/notes/<note>\",\"collection\":\"/users/<user>/notes\","
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

/* ---- lists that are kept ---- */

#define CACHED                                                                                                                                      \
	"entities:\n"                                                                                                                               \
	"  Leaf:\n"                                                                                                                                 \
	"    path: /leaves/<id>\n"                                                                                                                  \
	"    attributes: {id: string, tree: string, owner: 'string, the caller', secret: 'string, private', day: string, made: 'timestamp, now'}\n" \
	"    keys: {PK: LEAF#<id>, SK: LEAF, GSI1PK: TREE#<tree>, GSI1SK: LEAF#<id>}\n"                                                             \
	"    allow: {create, read: anyone}\n"                                                                                                       \
	"  Root:\n"                                                                                                                                 \
	"    path: /roots/<id>\n"                                                                                                                   \
	"    attributes: {id: string, tree: string, owner: 'string, the caller', secret: 'string, private'}\n"                                      \
	"    keys: {PK: ROOT#<id>, SK: ROOT, GSI1PK: ROOTS#<tree>, GSI1SK: <id>}\n"                                                                 \
	"    allow: {create, read: anyone, update: owner = caller}\n"                                                                               \
	"access:\n"                                                                                                                                 \
	"  leaves: {path: /trees/<tree>/leaves, query: GSI1, where: {GSI1PK: TREE#<tree>}, limit: 2, cache: 30 s}\n"                                \
	"  plain: {path: /trees/<tree>/plain, query: GSI1, where: {GSI1PK: TREE#<tree>}, limit: 2}\n"                                               \
	"  roots: {path: /trees/<tree>/roots, query: GSI1, where: {GSI1PK: ROOTS#<tree>}, cache: 30 s}\n"                                           \
	"  own: {path: /trees/<tree>/own, query: GSI1, where: {GSI1PK: TREE#<tree>}, allow: caller is user}\n"                                      \
	"  some: {path: /trees/<tree>/some, merge: {of: [own, plain], by: id}, cache: 30 s}\n"                                                      \
	"  all: {path: /trees/<tree>/all, merge: {of: [leaves, roots], by: id}, limit: 2, cache: 30 s}\n"                                           \
	"  twice: {path: /trees/<tree>/twice, merge: {of: [leaves, plain], by: id}, limit: 2, cache: 30 s}\n"                                       \
	"  fresh: {path: /trees/<tree>/fresh, query: GSI1, where: {GSI1PK: TREE#<tree>}, limit: 2, rank: {by: age}, cache: 30 s}\n"                 \
	"  dated: {path: /trees/<tree>/dated, with: {day: 'string, default today'}, query: GSI1, where: {GSI1PK: TREE#<tree>}, "                    \
	"filter: day is absent or day = input.day, limit: 2, cache: 30 s}\n"

static struct slice header_of(struct client *c, const char *name)
{
	const char *at = memmem(c->reply.headers.p, c->reply.headers.n, name, strlen(name)), *end;

	if (!at)
		return SLICE("");
	at += strlen(name);
	end = memmem(at, (size_t)(c->reply.headers.p + c->reply.headers.n - at), "\r\n", 2);
	return arena_copy(&c->f.arena, slice_make(at, (size_t)(end - at)));
}

static void a_list_with_more_pages_is_the_same_each_time(void **state)
{
	static const char *const lists[] = { "leaves", "plain", "all", "twice", "dated" };
	struct client c;
	char path[512];

	(void)state;
	client_open(&c, CACHED);
	client_as(&c, "ann");
	for (int i = 0; i < 7; i++) {
		snprintf(path, sizeof(path), "{\"id\":\"l%d\",\"tree\":\"t\"}", i);
		client_ask(&c, APP_POST, "/leaves", path);
		client_is(&c, 201);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct slice etag, next;

		snprintf(path, sizeof(path), "/trees/t/%s", lists[i]);
		for (int page = 0; page < 2; page++) {
			client_ask(&c, APP_GET, path, NULL);
			client_is(&c, 200);
			etag = header_of(&c, "ETag: ");
			assert_true(etag.n);
			next = json_get(json_parse(&c.f.arena, c.reply.body), "next")->string;
			c.now_ms += 1234;                   /* time goes by */
			client_as(&c, page ? NULL : "bob"); /* and another asks */
			c.q.if_none_match = etag;
			client_ask(&c, APP_GET, path, NULL);
			client_is(&c, 304);
			snprintf(path, sizeof(path), "/trees/t/%s?after=%.*s", lists[i], SLICE_ARG(next));
		}
	}
	client_ask(&c, APP_POST, "/leaves", "{\"id\":\"l00\",\"tree\":\"t\"}");
	client_is(&c, 201);
	client_ask(&c, APP_GET, "/trees/t/leaves", NULL);
	client_says(&c, "l00");
	/* a ranking by age is another one each second, and its pages still fit together */
	client_ask(&c, APP_GET, "/trees/t/fresh", NULL);
	snprintf(path, sizeof(path), "/trees/t/fresh?after=%.*s",
		 SLICE_ARG(json_get(json_parse(&c.f.arena, c.reply.body), "next")->string));
	c.now_ms += 5000;
	client_ask(&c, APP_GET, path, NULL);
	client_is(&c, 200);
	client_close(&c);
}

static void caches_share_replies_that_are_the_same_for_all_callers(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, CACHED);
	for (int i = 0; i < 2; i++) { /* logged in, or not */
		client_as(&c, i ? "ann" : NULL);
		client_ask(&c, APP_GET, "/trees/t/leaves", NULL);
		client_header(&c, "Cache-Control: public, max-age=30\r\n");
		assert_false(client_has(c.reply.headers, "Vary"));
		client_ask(&c, APP_GET, "/trees/t/roots", NULL); /* the owner sees the secret */
		client_header(&c,
			      i ? "Cache-Control: private, max-age=30\r\n" : "Cache-Control: public, max-age=30\r\n");
		client_header(&c, "Vary: Authorization\r\n");
		client_ask(&c, APP_GET, "/trees/t/some", NULL); /* a part of it is not for everybody */
		client_header(&c, "Vary: Authorization\r\n");
		client_ask(&c, APP_GET, "/trees/t/all", NULL); /* has those among its rows */
		client_header(&c, "Vary: Authorization\r\n");
	}
	client_as(&c, "!");
	client_ask(&c, APP_GET, "/trees/t/leaves", NULL);
	client_header(&c, "Cache-Control: private, max-age=30\r\n");
	client_header(&c, "Vary: Authorization\r\n");
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_with_more_pages_is_the_same_each_time),
		cmocka_unit_test(caches_share_replies_that_are_the_same_for_all_callers),
		cmocka_unit_test(an_item_is_shown_to_callers_that_may_read_it),
		cmocka_unit_test(hidden_and_private_attributes_are_not_shown),
		cmocka_unit_test(the_same_etag_is_not_sent_again),
		cmocka_unit_test(lists_come_in_pages),
		cmocka_unit_test(parameters_are_checked_and_named),
		cmocka_unit_test(many_by_id),
		cmocka_unit_test(cached_lists_say_for_how_long),
		cmocka_unit_test(addresses_that_cannot_be_read),
		cmocka_unit_test(addresses_and_methods_that_are_not_there),
		cmocka_unit_test(internal_entities_are_for_operators),
		cmocka_unit_test(the_index_lists_entities_and_patterns),
		cmocka_unit_test(simple_reads_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
