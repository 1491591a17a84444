/* Session and numbers, of a design's app on a database of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>
#include "console_json.h"
#include "app_client.h"
#include "base/alloc.h"
#include "console/console.h"

static const char yaml[] = "entities:\n"
			   "  Note:\n"
			   "    path: /notes/<id>\n"
			   "    attributes: {id: 'string, required, fixed', text: string}\n"
			   "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
			   "access:\n"
			   "  note again: {path: '/again/<id>', query: table, where: {PK: 'NOTE#<id>'}}\n"
			   "  some: {path: /some, batch: Note(id)}\n";

static struct client c;
static struct console *console;
static const struct json *doc;

static struct console *open_console(void)
{
	struct app *const *apps = &c.app;

	return console_new(&(struct console_options){ .db = c.f.db, .in_memory = true, .apps = apps, .app_count = 1 });
}

static int setup(void **state)
{
	(void)state;
	client_open(&c, yaml);
	console = open_console();
	assert_non_null(console);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	console_free(console);
	client_close(&c);
	return 0;
}

#define SAYS(path, expected) json_says(&c.f.arena, doc, path, expected)

static void the_session_has_tokens_that_open_the_design(void **state)
{
	(void)state;
	doc = json_parse(&c.f.arena, console_session(console, &c.f.arena, SLICE("http://localhost:1"), false));
	assert_non_null(doc);
	SAYS("auth", "\"none\"");
	SAYS("region", "\"us-east-1\"");
	SAYS("endpoint", "\"http://localhost:1\"");
	SAYS("durability", "\"memory\"");
	SAYS("designs[test].base", "\"/api/test\"");
	SAYS("designs[test].expires_at", "1768476600000"); /* APP_FIXTURE_NOW and an hour */

	client_ask(&c, APP_PUT, "/notes/a", "{}");
	client_is(&c, 401);
	c.authorization =
		arena_printf(&c.f.arena, "Bearer %.*s", SLICE_ARG(json_at(doc, "designs[test].token")->string));
	client_ask(&c, APP_PUT, "/notes/a", "{}"); /* no rule allows it: an operator may */
	client_is(&c, 201);
	c.now_ms += (CONSOLE_TOKEN_SECONDS + 600) * INT64_C(1000);
	client_ask(&c, APP_GET, "/notes/a", NULL);
	client_is(&c, 401);
}

static void a_server_with_keys_says_so(void **state)
{
	(void)state;
	doc = json_parse(&c.f.arena, console_session(console, &c.f.arena, SLICE("https://x"), true));
	SAYS("auth", "\"keys\"");
}

/* ---- numbers ---- */

static void take_stats(void)
{
	struct console_server s = { .uptime_ms = 5, .memory_bytes = 6, .connections = 7 };

	doc = json_parse(&c.f.arena, console_stats(console, &c.f.arena, &s));
	assert_non_null(doc);
}

static int64_t number(const char *path)
{
	assert_non_null(json_at(doc, path));
	return json_at(doc, path)->integer;
}

/* The difference in reads and writes since `reads` and `writes`, which are then what they are now. */
static void moved(int64_t reads, int64_t writes)
{
	static int64_t r, w;

	take_stats();
	if (reads >= 0) {
		assert_int_equal(number("tables[Test].reads") - r, reads);
		assert_int_equal(number("tables[Test].writes") - w, writes);
	}
	r = number("tables[Test].reads");
	w = number("tables[Test].writes");
}

static void call(const char *operation, const char *body)
{
	struct api_thread *t = api_thread_new(c.f.api);
	struct api_call q = { .arena = &c.f.arena, .target = api_target(&c.f.arena, operation), .body = slice_str(body) };

	assert_non_null(t);
	api_call_wait(c.f.api, t, &q);
	assert_int_not_equal(q.status, 0);
	api_thread_free(t);
}

static void numbers_of_the_server_are_passed_on(void **state)
{
	(void)state;
	take_stats();
	assert_int_equal(number("uptime_ms"), 5);
	assert_int_equal(number("memory_bytes"), 6);
	assert_int_equal(number("connections"), 7);
	SAYS("health", "\"ok\"");
	SAYS("tables[Test].design", "\"test\"");
	SAYS("tables[Test].indexes", "2");
	SAYS("tables[Test].stream", "true");
	SAYS("processors", "[]");
}

#define KEY(id) "{\"PK\":{\"S\":\"NOTE#" id "\"},\"SK\":{\"S\":\"NOTE\"}}"

static void dynamodbs_requests_count_the_items_they_are_about(void **state)
{
	(void)state;
	moved(-1, 0);
	call("PutItem", "{\"TableName\":\"Test\",\"Item\":" KEY("a") "}");
	moved(0, 1);
	call("BatchWriteItem", "{\"RequestItems\":{\"Test\":[{\"PutRequest\":{\"Item\":" KEY(
				       "b") "}},"
					    "{\"DeleteRequest\":{\"Key\":" KEY("c") "}}]}}");
	moved(0, 2);
	call("GetItem", "{\"TableName\":\"Test\",\"Key\":" KEY("nothing") "}");
	moved(1, 0);
	call("BatchGetItem", "{\"RequestItems\":{\"Test\":{\"Keys\":[" KEY("a") "," KEY("b") "," KEY("z") "]}}}");
	moved(3, 0);
	call("TransactGetItems", "{\"TransactItems\":[{\"Get\":{\"TableName\":\"Test\",\"Key\":" KEY(
					 "a") "}},"
					      "{\"Get\":{\"TableName\":\"Test\",\"Key\":" KEY("b") "}}]}");
	moved(2, 0);
	call("Scan", "{\"TableName\":\"Test\"}");
	moved(2, 0);
	call("Query", "{\"TableName\":\"Test\",\"KeyConditionExpression\":\"PK = :p\","
		      "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"no\"}}}");
	moved(1, 0); /* looking in vain is reading, too */
}

static void refused_writes_do_not_count(void **state)
{
	(void)state;
	call("PutItem", "{\"TableName\":\"Test\",\"Item\":" KEY("a") "}");
	moved(-1, 0);
	call("PutItem",
	     "{\"TableName\":\"Test\",\"Item\":" KEY("a") ",\"ConditionExpression\":\"attribute_not_exists(PK)\"}");
	moved(0, 0);
	call("TransactWriteItems",
	     "{\"TransactItems\":[{\"Put\":{\"TableName\":\"Test\",\"Item\":" KEY(
		     "b") "}},"
			  "{\"ConditionCheck\":{\"TableName\":\"Test\",\"Key\":" KEY(
				  "a") ",\"ConditionExpression\":\"attribute_not_exists(PK)\"}}]}");
	moved(0, 0);
	call("TransactWriteItems", "{\"TransactItems\":[{\"Put\":{\"TableName\":\"Test\",\"Item\":" KEY(
					   "b") "}},"
						"{\"ConditionCheck\":{\"TableName\":\"Test\",\"Key\":" KEY(
							"a") ",\"ConditionExpression\":\"attribute_exists(PK)\"}}]}");
	moved(0, 1); /* the check writes nothing */
}

static void requests_to_the_design_count_as_well(void **state)
{
	(void)state;
	client_as(&c, "!");
	moved(-1, 0);
	client_ask(&c, APP_PUT, "/notes/a", "{}");
	client_is(&c, 201);
	take_stats();
	moved(-1, 0);
	client_ask(&c, APP_GET, "/notes/a", NULL);
	client_is(&c, 200);
	moved(1, 0);
	client_ask(&c, APP_GET, "/again/a", NULL);
	client_is(&c, 200);
	moved(1, 0);
	client_ask(&c, APP_GET, "/some?id=a&id=b", NULL);
	client_is(&c, 200);
	moved(2, 0);
}

static void a_refusing_disk_is_reported_until_it_accepts_writes(void **state)
{
	(void)state;
	/* Reads come before the write, and how many does not matter here. A thread in the background may meet the
	 * fault instead: again. */
	for (int tries = 0;; tries++) {
		store_fail_after(db_store(c.f.db), tries % 20);
		call("PutItem", "{\"TableName\":\"Test\",\"Item\":" KEY("a") "}");
		store_fail_after(db_store(c.f.db), -1);
		take_stats();
		if (!slice_is(json_at(doc, "health")->string, "ok"))
			break;
		assert_true(tries < 1000);
	}
	call("PutItem", "{\"TableName\":\"Test\",\"Item\":" KEY("a") "}");
	take_stats();
	SAYS("health", "\"ok\"");
}

/* ---- designs ---- */

static void a_designs_document_is_made_once(void **state)
{
	const struct console_document *first;
	bool missing = true;

	(void)state;
	first = console_design(console, SLICE("test"), &missing);
	assert_non_null(first);
	assert_false(missing);
	assert_non_null(json_parse(&c.f.arena, first->body));
	assert_ptr_equal(console_design(console, SLICE("test"), &missing), first);
	assert_null(console_design(console, SLICE("other"), &missing));
	assert_true(missing);
}

static void memory_that_runs_out_leaves_a_console_that_works(void **state)
{
	bool missing = false;

	(void)state;
	for (long n = 0;; n++) {
		const struct console_document *d;

		alloc_fail_after(n);
		d = console_design(console, SLICE("test"), &missing);
		alloc_fail_never();
		if (d)
			break;
		assert_false(missing);
		assert_true(n < 1000);
	}
	for (long n = 0;; n++) {
		struct console *other;

		alloc_fail_after(n);
		other = open_console();
		alloc_fail_never();
		if (other) {
			console_free(other);
			break;
		}
	}
}

/* ---- the oracle ---- */

static void ask_oracle(bool start)
{
	doc = json_parse(&c.f.arena, console_verification(console, &c.f.arena, SLICE("test"), start));
	assert_non_null(doc);
}

static void put_raw(const char *item)
{
	struct backend_reply reply;

	backend_call(c.f.backend, &c.f.arena, "PutItem",
		     arena_printf(&c.f.arena, "{\"TableName\":\"Test\",\"Item\":%s}", item), &reply);
	assert_int_equal(reply.status, 200);
}

static void the_items_of_a_design_are_compared_when_asked(void **state)
{
	(void)state;
	assert_int_equal(console_verification(console, &c.f.arena, SLICE("nothing"), true).n, 0);
	ask_oracle(false);
	SAYS("state", "\"never\"");
	SAYS("findings", "[]");
	put_raw("{\"PK\":{\"S\":\"NOTE#bad\"},\"SK\":{\"S\":\"NOTE\"},\"id\":{\"S\":\"bad\"},\"text\":{\"N\":\"1\"}}");
	put_raw("{\"PK\":{\"S\":\"WHO\"},\"SK\":{\"S\":\"KNOWS\"}}");
	ask_oracle(true);
	ask_oracle(true); /* one at a time */
	for (int i = 0; i < 2000 && slice_is(json_get(doc, "state")->string, "running"); i++) {
		usleep(5000);
		ask_oracle(false);
	}
	SAYS("state", "\"done\"");
	SAYS("differences", "1");
	SAYS("notes", "1");
	SAYS("kinds.attribute-unfit", "1");
	SAYS("kinds.stranger", "1");
	assert_int_equal(json_get(doc, "findings")->count, 2);
	ask_oracle(true); /* and is ended when the console goes */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_session_has_tokens_that_open_the_design),
		TEST(a_server_with_keys_says_so),
		TEST(numbers_of_the_server_are_passed_on),
		TEST(dynamodbs_requests_count_the_items_they_are_about),
		TEST(refused_writes_do_not_count),
		TEST(requests_to_the_design_count_as_well),
		TEST(a_refusing_disk_is_reported_until_it_accepts_writes),
		TEST(a_designs_document_is_made_once),
		TEST(the_items_of_a_design_are_compared_when_asked),
		TEST(memory_that_runs_out_leaves_a_console_that_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
