/* Writes through an app: what they answer, what they refuse, what is done once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"

#define ALICE "{\"user\":\"alice\",\"email\":\"alice@example.org\",\"password\":\"long enough\"}"

static void open_notes(struct client *c)
{
	client_open(c, CLIENT_NOTES);
	client_ask(c, APP_POST, "/users", ALICE);
	client_is(c, 201);
	client_as(c, "alice");
}

static void put_note(struct client *c)
{
	client_ask(c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\",\"stars\":3}");
	client_is(c, 201);
}

static int notes_count(struct client *c)
{
	client_ask(c, APP_GET, "/users/alice", NULL);
	return (int)json_get(json_parse(&c->f.arena, c->reply.body), "notes_count")->integer;
}

static void creating_tells_where(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, CLIENT_NOTES);
	client_ask(&c, APP_POST, "/users", ALICE);
	client_is(&c, 201);
	client_header(&c, "Location: /api/test/users/alice\r\n");
	client_header(&c, "ETag: \"");
	client_as(&c, "alice");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"one\"}");
	client_is(&c, 201);
	client_says(&c, "\"user\":\"alice\"");
	assert_true(slice_starts(client_value(&c, "Location"), SLICE("/api/test/users/alice/notes/")));
	put_note(&c);
	client_header(&c, "Location: /api/test/users/alice/notes/n1\r\n");
	assert_int_equal(notes_count(&c), 2);
	client_close(&c);
}

static void an_item_that_the_caller_may_not_read_is_created_but_not_shown(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_PUT, "/slips/s1", "{\"text\":\"x\"}");
	client_is(&c, 201);
	client_header(&c, "Location: /api/test/slips/s1\r\n");
	assert_int_equal(c.reply.body.n, 0);
	client_close(&c);
}

static void the_body_must_not_contradict_the_address(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\",\"note\":\"n2\"}");
	client_is(&c, 422);
	client_says(&c, "\"attribute\":\"note\"");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\",\"note\":\"n1\"}");
	client_is(&c, 201);
	client_close(&c);
}

static void a_caller_cannot_write_as_another(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_as(&c, "bob");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\"}");
	client_is(&c, 403);
	client_says(&c, "urn:thorpe:forbidden");
	client_ask(&c, APP_PATCH, "/users/alice", "{\"name\":\"Bob\"}");
	client_is(&c, 403);
	client_as(&c, NULL);
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\"}");
	client_is(&c, 401);
	client_header(&c, "WWW-Authenticate: Bearer\r\n");
	client_as(&c, "!");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"one\"}");
	client_is(&c, 201);
	client_close(&c);
}

static void bodies_that_are_no_objects(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":");
	client_is(&c, 400);
	client_ask(&c, APP_POST, "/users/alice/notes", "[1]");
	client_is(&c, 400);
	c.q.content_type = SLICE("text/plain");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"x\"}");
	client_is(&c, 415);
	client_says(&c, "urn:thorpe:media-type");
	c.q.content_type = SLICE("Application/JSON; charset=utf-8");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"x\"}");
	client_is(&c, 201);
	c.q.content_type = SLICE("application/merge-patch+json");
	client_ask(&c, APP_PATCH, "/users/alice", "{\"name\":\"A\"}");
	client_is(&c, 200);
	client_ask(&c, APP_POST, "/users/alice/notes", "");
	client_is(&c, 422);
	client_says(&c, "{\"attribute\":\"title\"");
	client_close(&c);
}

#define COPIES                                                                                                \
	"entities:\n"                                                                                         \
	"  Text:\n"                                                                                           \
	"    path: /texts/<text>\n"                                                                           \
	"    attributes: {text: string, title: string, state: 'open | shut, default open', marks: counter}\n" \
	"    keys: {PK: TEXT#<text>, SK: TEXT}\n"                                                             \
	"    allow: {create, read, update: anyone}\n"                                                         \
	"  Mark:\n"                                                                                           \
	"    path: /marks/<id>\n"                                                                             \
	"    attributes:\n"                                                                                   \
	"      id: string\n"                                                                                  \
	"      text: string, required\n"                                                                      \
	"      title: copy of Text(text).title if state = 'open', kept by marks of text\n"                    \
	"    keys: {PK: MARK#<id>, SK: MARK, GSI1PK: TEXT#<text>, GSI1SK: <id>}\n"                            \
	"    counts: [Text(text).marks]\n"                                                                    \
	"    allow: {create, read: anyone}\n"                                                                 \
	"access:\n"                                                                                           \
	"  marks of text: {path: /texts/<text>/marks, query: GSI1, where: {GSI1PK: TEXT#<text>}}\n"

static void set_text(struct client *c, const char *body)
{
	client_ask(c, APP_PATCH, "/texts/t", body);
	client_is(c, 200);
}

static void mark_shows(struct client *c, const char *id, const char *title)
{
	char path[32], text[64];

	snprintf(path, sizeof(path), "/marks/%s", id);
	client_ask(c, APP_GET, path, NULL);
	client_is(c, 200);
	snprintf(text, sizeof(text), "\"title\":\"%s\"", title ? title : "");
	if (title)
		client_says(c, text);
	else
		assert_false(client_has(c->reply.body, "title"));
}

static void a_copy_of_a_withdrawn_source_is_empty(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, COPIES);
	client_ask(&c, APP_POST, "/texts", "{\"text\":\"t\",\"title\":\"one\"}");
	client_is(&c, 201);
	client_ask(&c, APP_POST, "/marks", "{\"id\":\"m\",\"text\":\"t\"}");
	client_is(&c, 201);
	mark_shows(&c, "m", "one");
	set_text(&c, "{\"title\":\"two\"}");
	mark_shows(&c, "m", "two");
	set_text(&c, "{\"state\":\"shut\"}");
	mark_shows(&c, "m", NULL);
	set_text(&c, "{\"title\":\"secret\"}");
	mark_shows(&c, "m", NULL);
	client_ask(&c, APP_POST, "/marks", "{\"id\":\"n\",\"text\":\"t\"}"); /* made meanwhile */
	client_is(&c, 201);
	mark_shows(&c, "n", NULL);
	set_text(&c, "{\"state\":\"open\"}");
	mark_shows(&c, "m", "secret");
	mark_shows(&c, "n", "secret");
	set_text(&c, "{\"state\":\"shut\",\"title\":\"three\"}"); /* both at once */
	mark_shows(&c, "m", NULL);
	client_close(&c);
}

#define PLACES                                    \
	"entities:\n"                             \
	"  Place:\n"                              \
	"    path: /places/<id>\n"                \
	"    attributes:\n"                       \
	"      id: string\n"                      \
	"      address: map 1..3\n"               \
	"      notes: map, compressed\n"          \
	"      tags: list of string\n"            \
	"    keys: {PK: PLACE#<id>, SK: PLACE}\n" \
	"    allow: {create, read, update: anyone}\n"

/* The appendix of RFC 7396, as far as its documents are objects in an object. */
static void maps_are_merged_as_the_rfc_says(void **state)
{
	/* clang-format off */
	static const struct {
		const char *was, *patch, *is;
	} cases[] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}" },
		{ "{\"z\":1}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}},\"z\":1}" },
		{ "{\"b\":1,\"d\":2}", "{\"a\":0,\"b\":null,\"c\":[null],\"d\":{\"x\":1}}", "{\"a\":0,\"c\":[null],\"d\":{\"x\":1}}" },
	};
	/* clang-format on */
	struct client c;
	char text[512];

	(void)state;
	client_open(&c, PLACES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int k = 0; k < 2; k++) { /* plain, and compressed */
			const char *name = k ? "notes" : "address";

			snprintf(text, sizeof(text), "{\"id\":\"p%zu%d\",\"%s\":%s}", i, k, name, cases[i].was);
			client_ask(&c, APP_POST, "/places", text);
			client_is(&c, 201);
			snprintf(text, sizeof(text), "{\"%s\":%s}", name, cases[i].patch);
			c.q.content_type = i % 2 ? SLICE("application/json") : SLICE("application/merge-patch+json");
			client_ask(&c, APP_PATCH,
				   arena_cstr(&c.f.arena, arena_printf(&c.f.arena, "/places/p%zu%d", i, k)), text);
			client_is(&c, 200);
			snprintf(text, sizeof(text), "\"%s\":%s", name, cases[i].is);
			client_says(&c, text);
		}
	client_close(&c);
}

static void limits_are_those_of_the_merged_map(void **state)
{
	struct client c;

	(void)state;
	client_open(&c, PLACES);
	client_ask(&c, APP_POST, "/places", "{\"id\":\"p\",\"address\":{\"a\":1,\"b\":2}}");
	client_is(&c, 201);
	client_ask(&c, APP_PATCH, "/places/p", "{\"address\":{\"c\":3,\"d\":4}}");
	client_is(&c, 422);
	client_says(&c, "members");
	client_ask(&c, APP_PATCH, "/places/p", "{\"address\":{\"a\":null,\"b\":null}}");
	client_is(&c, 422);
	client_ask(&c, APP_PATCH, "/places/p",
		   "{\"address\":{\"a\":null,\"c\":3}}"); /* each by itself would be too few or too many */
	client_is(&c, 200);
	client_says(&c, "\"address\":{\"b\":2,\"c\":3}");
	client_ask(&c, APP_PATCH, "/places/p", "{\"address\":null}");
	client_is(&c, 200);
	assert_false(client_has(c.reply.body, "address"));
	client_ask(&c, APP_PATCH, "/places/p", "{\"address\":{\"n\":{\"x\":null,\"y\":1}}}"); /* of nothing */
	client_is(&c, 200);
	client_says(&c, "\"address\":{\"n\":{\"y\":1}}");
	client_ask(&c, APP_PATCH, "/places/p", "{\"address\":[1]}");
	client_is(&c, 422);
	client_close(&c);
}

static void created_twice_and_taken(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	put_note(&c);
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"two\"}");
	client_is(&c, 409);
	client_says(&c, "urn:thorpe:already-exists");
	client_ask(&c, APP_POST, "/users",
		   "{\"user\":\"bob\",\"email\":\"ALICE@example.org\",\"password\":\"long enough\"}");
	client_is(&c, 409);
	client_says(&c, "urn:thorpe:taken");
	client_says(&c, "\"attribute\":\"email\"");
	client_close(&c);
}

static void changing_and_removing(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	put_note(&c);
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"title\":\"two\",\"stars\":null}");
	client_is(&c, 200);
	client_says(&c, "\"title\":\"two\"");
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"stars\":9,\"titel\":\"x\"}");
	client_is(&c, 422);
	client_says(&c, "\"attribute\":\"stars\"");
	client_says(&c, "\"attribute\":\"titel\"");
	client_ask(&c, APP_PATCH, "/users/alice/notes/n9", "{\"title\":\"two\"}");
	client_is(&c, 404);
	client_ask(&c, APP_DELETE, "/users/alice/notes/n1", NULL);
	client_is(&c, 204);
	assert_int_equal(c.reply.body.n, 0);
	client_ask(&c, APP_DELETE, "/users/alice/notes/n1", NULL);
	client_is(&c, 404);
	assert_int_equal(notes_count(&c), 0);
	client_close(&c);
}

static void too_large_for_an_item(void **state)
{
	struct client c;
	struct buf b;

	(void)state;
	open_notes(&c);
	buf_init(&b, &c.f.arena);
	buf_lit(&b, "{\"title\":\"x\",\"text\":\"");
	for (int i = 0; i < 399000; i++)
		buf_lit(&b, "é");
	buf_lit(&b, "\"}");
	client_ask(&c, APP_POST, "/users/alice/notes", arena_cstr(&c.f.arena, buf_slice(&b)));
	client_is(&c, 413);
	client_says(&c, "urn:thorpe:too-large");
	client_close(&c);
}

static void a_concurrent_change_is_not_overwritten(void **state)
{
	struct client c;
	struct slice etag;

	(void)state;
	open_notes(&c);
	put_note(&c);
	etag = client_value(&c, "ETag");
	c.now_ms += 5000;
	c.q.if_match = etag;
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"title\":\"two\"}");
	client_is(&c, 200);
	c.q.if_match = etag;
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"title\":\"three\"}");
	client_is(&c, 412);
	client_says(&c, "urn:thorpe:changed");
	c.q.if_match = SLICE("\"2026-01-15T10:30:05Z\"");
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"title\":\"three\"}");
	client_is(&c, 200);
	c.q.if_match = SLICE("\"2020-01-01T00:00:00Z\"");
	client_ask(&c, APP_DELETE, "/users/alice/notes/n1", NULL);
	client_is(&c, 412);
	client_close(&c);
}

static void counters_do_not_affect_if_match(void **state)
{
	struct client c;
	struct slice etag;

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_GET, "/users/alice", NULL);
	etag = client_value(&c, "ETag");
	put_note(&c);
	c.q.if_match = etag;
	client_ask(&c, APP_PATCH, "/users/alice", "{\"name\":\"Alice\"}");
	client_is(&c, 200);
	client_says(&c, "\"notes_count\":1");
	client_close(&c);
}

static void put_with_if_match_replaces(void **state)
{
	struct client c;
	struct slice etag, body;

	(void)state;
	open_notes(&c);
	put_note(&c);
	client_ask(&c, APP_PATCH, "/users/alice/notes/n1", "{\"text\":\"long\"}");
	client_is(&c, 200);
	etag = client_value(&c, "ETag");
	body = c.reply.body;
	c.q.if_match = etag;
	client_ask(&c, APP_PUT, "/users/alice/notes/n1",
		   arena_cstr(&c.f.arena, body)); /* what was read may be sent back */
	client_is(&c, 200);
	client_says(&c, "\"text\":\"long\"");
	client_says(&c, "\"stars\":3");
	c.q.if_match = SLICE("*");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"new\"}");
	client_is(&c, 200);
	client_says(&c, "\"title\":\"new\"");
	client_says(&c, "\"stars\":1"); /* as when nobody says it */
	client_says(&c, "\"state\":\"draft\"");
	assert_false(client_has(c.reply.body, "\"text\""));
	c.q.if_match = SLICE("*");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"new\",\"note\":\"n2\"}");
	client_is(&c, 422);
	c.q.if_match = SLICE("*");
	client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{}");
	client_is(&c, 422);
	client_close(&c);
}

static void actions_and_states(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	put_note(&c);
	client_ask(&c, APP_POST, "/users/alice/notes/n1/publish", NULL);
	client_is(&c, 200);
	client_says(&c, "\"state\":\"open\"");
	client_ask(&c, APP_POST, "/users/alice/notes/n1/publish", NULL);
	client_is(&c, 409);
	client_says(&c, "urn:thorpe:conflict");
	client_says(&c, "only a draft can be published");
	client_ask(&c, APP_POST, "/users/alice/notes/n1/publish", "{\"title\":\"x\"}");
	client_is(&c, 422);
	client_as(&c, NULL);
	client_ask(&c, APP_POST, "/users/alice/notes/n1/view", NULL);
	client_is(&c, 202);
	client_ask(&c, APP_POST, "/users/alice/notes/n1/view", NULL);
	client_is(&c, 202);
	app_tick(c.app, c.f.backend, true);
	client_ask(&c, APP_GET, "/users/alice/notes/n1", NULL);
	client_says(&c, "\"views\":2");
	client_close(&c);
}

static int64_t no_time_passes(void *ctx)
{
	(void)ctx;
	return 0;
}

static void a_key_counts_also_when_the_clock_jumps(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	c.clock.steady_ms = no_time_passes;
	c.q.idempotency_key = SLICE("k1");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"one\"}");
	client_is(&c, 201);
	c.now_ms += 24 * 3600 * INT64_C(1000);
	client_as(&c, "alice");
	c.q.idempotency_key = SLICE("k1");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"one\"}");
	client_is(&c, 201);
	client_header(&c, "Idempotency-Replayed: true\r\n");
	assert_int_equal(notes_count(&c), 1);
	client_close(&c);
}

static void the_same_key_does_it_once(void **state)
{
	struct client c;
	struct slice first;

	(void)state;
	open_notes(&c);
	c.q.idempotency_key = SLICE("k1");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"one\"}");
	client_is(&c, 201);
	assert_int_equal(client_value(&c, "Idempotency-Replayed").n, 0);
	first = client_value(&c, "Location");
	c.q.idempotency_key = SLICE("k1");
	client_ask(&c, APP_POST, "/users/alice/notes", " {\"title\":  \"one\"}");
	client_is(&c, 201);
	client_header(&c, "Idempotency-Replayed: true\r\n");
	client_header(&c, "ETag: \"");
	assert_true(slice_equal(client_value(&c, "Location"), first));
	c.q.idempotency_key = SLICE("k1");
	client_ask(&c, APP_POST, "/users/alice/notes", "{\"title\":\"two\"}");
	client_is(&c, 422);
	assert_int_equal(notes_count(&c), 1);
	c.q.idempotency_key = SLICE("k1"); /* another caller's is another key */
	client_as(&c, "!");
	client_ask(&c, APP_PUT, "/audits/a", "{}");
	client_is(&c, 201);
	client_close(&c);
}

static void a_key_with_a_refusal_is_refused_again(void **state)
{
	struct client c;

	(void)state;
	open_notes(&c);
	put_note(&c);
	for (int i = 0; i < 2; i++) {
		c.q.idempotency_key = SLICE("k2");
		client_ask(&c, APP_PUT, "/users/alice/notes/n1", "{\"title\":\"two\"}");
		client_is(&c, 409);
		assert_true(slice_is(c.reply.type, "application/problem+json"));
	}
	client_header(&c, "Idempotency-Replayed: true\r\n");
	client_close(&c);
}

static void a_batch_does_each_by_itself(void **state)
{
	struct client c;
	const struct json *responses;
	static const int statuses[] = { 201, 409, 200, 404, 422, 422, 400, 400, 204, 405 };

	(void)state;
	open_notes(&c);
	client_ask(&c, APP_POST, "/batch",
		   "{\"requests\":["
		   "{\"method\":\"PUT\",\"path\":\"/users/alice/notes/n1\",\"body\":{\"title\":\"one\"}},"
		   "{\"method\":\"PUT\",\"path\":\"/users/alice/notes/n1\",\"body\":{\"title\":\"one\"}},"
		   "{\"method\":\"GET\",\"path\":\"/users/alice/notes?limit=1\"},"
		   "{\"method\":\"GET\",\"path\":\"/nothing\"},"
		   "{\"method\":\"POST\",\"path\":\"/batch\",\"body\":{\"requests\":[]}},"
		   "{\"method\":\"POST\",\"path\":\"/login\",\"body\":{}},"
		   "{\"method\":\"FETCH\",\"path\":\"/x\"},"
		   "{\"method\":\"GET\",\"pfad\":\"/x\"},"
		   "{\"method\":\"DELETE\",\"path\":\"/users/alice/notes/n1\",\"if_match\":\"*\",\"idempotency_key\":\"k\"},"
		   "{\"method\":\"POST\",\"path\":\"/users/alice\"}"
		   "]}");
	client_is(&c, 200);
	responses = json_get(json_parse(&c.f.arena, c.reply.body), "responses");
	assert_int_equal(responses->count, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(json_get(&responses->items[i], "status")->integer, statuses[i]);
	assert_true(slice_is(json_get(&responses->items[0], "location")->string, "/api/test/users/alice/notes/n1"));
	assert_true(slice_is(json_get(json_get(&responses->items[0], "body"), "title")->string, "one"));
	assert_true(slice_is(json_get(json_get(&responses->items[1], "body"), "type")->string,
			     "urn:thorpe:already-exists"));
	assert_null(json_get(&responses->items[8], "body"));
	client_ask(&c, APP_POST, "/batch", "{\"requests\":{}}");
	client_is(&c, 400);
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creating_tells_where),
		cmocka_unit_test(an_item_that_the_caller_may_not_read_is_created_but_not_shown),
		cmocka_unit_test(the_body_must_not_contradict_the_address),
		cmocka_unit_test(a_caller_cannot_write_as_another),
		cmocka_unit_test(bodies_that_are_no_objects),
		cmocka_unit_test(a_copy_of_a_withdrawn_source_is_empty),
		cmocka_unit_test(maps_are_merged_as_the_rfc_says),
		cmocka_unit_test(limits_are_those_of_the_merged_map),
		cmocka_unit_test(created_twice_and_taken),
		cmocka_unit_test(changing_and_removing),
		cmocka_unit_test(too_large_for_an_item),
		cmocka_unit_test(a_concurrent_change_is_not_overwritten),
		cmocka_unit_test(counters_do_not_affect_if_match),
		cmocka_unit_test(put_with_if_match_replaces),
		cmocka_unit_test(actions_and_states),
		cmocka_unit_test(a_key_counts_also_when_the_clock_jumps),
		cmocka_unit_test(the_same_key_does_it_once),
		cmocka_unit_test(a_key_with_a_refusal_is_refused_again),
		cmocka_unit_test(a_batch_does_each_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
