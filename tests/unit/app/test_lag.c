/* How late indexes are, as a server sees it: at a table whose index shows nothing until the test says so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"
#include "app/db/lag.h"
#include "app/db/late.h"

#define NOTHING                                                                      \
	"{\"TableName\":\"Test\",\"IndexName\":\"GSI1\",\"KeyConditionExpression\":" \
	"\"GSI1PK = :p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"nothing\"}}}"

static const char entities[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes: {id: 'string, required, fixed'}\n"
	"    keys: {PK: 'USER#<id>', SK: USER}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    %s\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', owner: 'string, required', text: string}\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE, GSI1PK: 'BY#<owner>', GSI1SK: 'NOTE#<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  notes of user: {query: GSI1, path: '/users/<id>/notes', where: {GSI1PK: 'BY#<id>'}}\n"
	"  own item: {query: table, path: '/users/<id>/own', where: {PK: 'USER#<id>', SK: USER}}\n"
	"  both of user: {path: '/users/<id>/both', merge: {of: [notes of user, own item], by: id}}\n";

static struct client c;
static struct app *app; /* at a distance */
static struct backend far;
static bool shows, fails;
static unsigned queries;
static int64_t slow_ms; /* how long the next transaction is tried before it is done */

static void far_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *r)
{
	static const struct json empty = { .type = JSON_OBJECT };
	bool asks = !strcmp(operation, "Query") && client_has(body, "GSI1");

	(void)b;
	queries += asks;
	if (!strcmp(operation, "TransactWriteItems")) {
		c.now_ms += slow_ms;
		slow_ms = 0;
	}
	if (asks && fails)
		*r = (struct backend_reply){ .status = 500, .body = &empty, .error = SLICE("InternalServerError") };
	else
		backend_call(c.f.backend, a, operation, asks && !shows ? SLICE(NOTHING) : body, r);
}

static void far_free(struct backend *b)
{
	(void)b;
}

static struct backend *far_open(struct database *d)
{
	(void)d;
	return NULL;
}

static uint64_t far_latest(struct database *d)
{
	(void)d;
	return 0;
}

static struct database away = { .open = far_open, .latest = far_latest, .is_remote = true };

static void open_design(const char *rule)
{
	char text[2048];
	struct app_options o = { .database = &away };
	struct error e = { 0 };

	snprintf(text, sizeof(text), entities, rule);
	client_open(&c, text);
	assert_true(provision_beside(c.f.backend, c.f.design, &c.f.arena, &e));
	o.design = c.f.design;
	o.clock = &c.clock;
	memset(o.secret, 9, sizeof(o.secret));
	app = app_new(&o);
	assert_non_null(app);
	far = (struct backend){ .call = far_call, .free = far_free };
	shows = true;
	fails = false;
	queries = 0;
	slow_ms = 0;
}

static int setup(void **state)
{
	(void)state;
	open_design("delete: {then remove: [notes of user]}");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_clear(&c.f.arena);
	app_free(app);
	client_close(&c);
	return 0;
}

static void ask(enum app_method m, const char *path, const char *body, int status)
{
	struct app_request q = { .method = m,
				 .path = slice_str(path),
				 .body = slice_str(body ? body : ""),
				 .base = SLICE("/api/test"),
				 .client = SLICE("127.0.0.1") };
	struct app_reply reply = { 0 };

	app_handle(app, &far, &c.f.arena, &q, &reply);
	if (reply.status != status)
		fail_msg("%s %d: %.*s", path, reply.status, SLICE_ARG(reply.body));
}

static void note(const char *id)
{
	ask(APP_POST, "/notes", arena_printf(&c.f.arena, "{\"id\":\"%s\",\"owner\":\"ann\"}", id).p, 201);
}

/* After so long. */
static int64_t tick(int64_t ms)
{
	c.now_ms += ms;
	return app_tick(app, &far, false);
}

static void nothing_is_known_before_an_item_was_seen(void **state)
{
	(void)state;
	assert_int_equal(late_ms(app), LAG_UNKNOWN_MS);
	assert_true(tick(100) < 1000); /* so that the first is not missed */
	assert_int_equal(queries, 0);
	assert_int_equal(late_ms(app), LAG_UNKNOWN_MS);
	note("a");
	tick(100);
	assert_int_equal(queries, 1);
	assert_int_equal(late_ms(app), LAG_LEAST_MS);
}

static void an_item_that_is_missing_makes_everything_wait_for_longer(void **state)
{
	int64_t age = 0;

	(void)state;
	note("a");
	tick(100);
	assert_int_equal(late_ms(app), LAG_LEAST_MS);
	tick(LAG_EVERY_MS);
	shows = false;
	note("b");
	while (age < 2000) {
		int64_t next = tick(250);

		age += 250;
		assert_true(next < 1000);
		assert_true(late_ms(app) > age);
	}
	shows = true;
	tick(250);
	assert_int_equal(late_ms(app), 2250 + 2250 / 2);
}

static void a_long_delay_is_remembered_for_a_while(void **state)
{
	(void)state;
	shows = false;
	note("a");
	tick(2000);
	shows = true;
	tick(0);
	assert_int_equal(late_ms(app), 3000);
	for (int i = 0; i < 4; i++) {
		tick(LAG_MEMORY_MS / 4);
		note(arena_printf(&c.f.arena, "b%d", i).p);
		tick(10);
		assert_int_equal(late_ms(app), 3000);
	}
	for (int i = 0; i < 6; i++) {
		tick(LAG_MEMORY_MS / 4);
		note(arena_printf(&c.f.arena, "c%d", i).p);
		tick(10);
	}
	assert_int_equal(late_ms(app), LAG_LEAST_MS);
}

static void it_is_never_longer_than_the_most(void **state)
{
	(void)state;
	shows = false;
	note("a");
	for (int i = 0; i < 30; i++)
		tick(1000);
	assert_int_equal(late_ms(app), LAG_MOST_MS);
	shows = true;
	tick(1000);
	assert_int_equal(late_ms(app), LAG_MOST_MS);
}

static void an_item_that_is_deleted_before_it_is_seen_says_nothing(void **state)
{
	(void)state;
	shows = false;
	note("a");
	ask(APP_DELETE, "/notes/a", NULL, 204);
	tick(5000);
	assert_int_equal(late_ms(app), LAG_UNKNOWN_MS);
	assert_int_equal(queries, 1);
	shows = true;
	tick(100);
	note("b");
	tick(100);
	assert_int_equal(late_ms(app), LAG_LEAST_MS);
}

static void an_item_that_moves_in_the_index_before_it_is_seen_says_nothing(void **state)
{
	(void)state;
	shows = false;
	note("a");
	ask(APP_PATCH, "/notes/a", "{\"owner\":\"bob\"}", 200);
	tick(5000);
	assert_int_equal(late_ms(app), LAG_UNKNOWN_MS);
	tick(100);
	assert_int_equal(queries, 1);
}

static void a_failed_query_is_repeated(void **state)
{
	(void)state;
	fails = true;
	note("a");
	tick(100);
	tick(100);
	assert_int_equal(queries, 2);
	assert_int_equal(late_ms(app), LAG_UNKNOWN_MS);
	fails = false;
	tick(100);
	assert_int_equal(late_ms(app), LAG_LEAST_MS);
}

static void it_is_looked_only_now_and_then(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		note(arena_printf(&c.f.arena, "a%d", i).p);
		tick(1000);
	}
	assert_in_range(queries, 3, 4);
}

static void a_pattern_that_is_made_of_several_reads_their_indexes(void **state)
{
	const struct access *parts[] = { design_access(c.f.design, SLICE("notes of user")),
					 design_access(c.f.design, SLICE("own item")),
					 design_access(c.f.design, SLICE("both of user")) };
	bool marked[1] = { false };

	(void)state;
	assert_true(late_reads_index(parts[0]));
	assert_false(late_reads_index(parts[1]));
	assert_true(late_reads_index(parts[2]));
	teardown(NULL);
	open_design("delete: {then remove: both of user}");
	late_indexes(c.f.design, marked);
	assert_true(marked[0]);
}

static void a_table_whose_indexes_decide_nothing_is_not_asked(void **state)
{
	(void)state;
	teardown(NULL);
	open_design("delete: {}");
	note("a");
	assert_int_equal(tick(1000), 1000);
	assert_int_equal(queries, 0);
}

/* ---- what hangs on it: markers (deleting.h M4) ---- */

static bool is_there(const char *path)
{
	client_ask(&c, APP_GET, path, NULL);
	return c.reply.status == 200;
}

/* A note that no index shows yet; then its owner goes. */
static void delete_ann(int64_t takes_ms)
{
	ask(APP_PUT, "/users/ann", "{}", 201);
	note("a");
	tick(100);
	shows = false;
	note("b");
	slow_ms = takes_ms;
	ask(APP_DELETE, "/users/ann", NULL, 204);
}

static void let_time_pass(int64_t ms)
{
	for (int64_t at_ms = 0; at_ms < ms; at_ms += 100)
		tick(100);
}

static void a_cascade_waits_for_the_index(void **state)
{
	(void)state;
	delete_ann(0);
	let_time_pass(LAG_LEAST_MS - 200);
	shows = true;
	let_time_pass(3000);
	assert_false(is_there("/notes/b"));
}

/* Its marker was made before its transaction, which was tried for longer than indexes are late. */
static void a_cascade_waits_from_when_it_was_put(void **state)
{
	(void)state;
	delete_ann(LAG_LEAST_MS + 5000);
	let_time_pass(LAG_LEAST_MS - 200);
	shows = true;
	let_time_pass(3000);
	assert_false(is_there("/notes/b"));
}

/* Another server's, or this one's before a start: it is not known for how long it has been there. */
static void a_cascade_that_is_met_waits_from_then(void **state)
{
	struct app_options o = { .database = &away, .clock = &c.clock };

	(void)state;
	delete_ann(LAG_LEAST_MS + 5000);
	app_free(app);
	o.design = c.f.design;
	memset(o.secret, 9, sizeof(o.secret));
	app = app_new(&o);
	assert_non_null(app);
	ask(APP_PUT, "/users/ann", "{}", 503);
	let_time_pass(LAG_LEAST_MS - 200);
	shows = true;
	let_time_pass(LAG_UNKNOWN_MS + 3000);
	assert_false(is_there("/notes/b"));
}

/* What waits for it waits no longer than that. */
static void a_cascade_comes_to_its_end(void **state)
{
	(void)state;
	delete_ann(0);
	shows = true;
	let_time_pass(LAG_LEAST_MS + 500);
	ask(APP_PUT, "/users/ann", "{}", 201);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_is_known_before_an_item_was_seen),
		T(an_item_that_is_missing_makes_everything_wait_for_longer),
		T(a_long_delay_is_remembered_for_a_while),
		T(it_is_never_longer_than_the_most),
		T(an_item_that_is_deleted_before_it_is_seen_says_nothing),
		T(an_item_that_moves_in_the_index_before_it_is_seen_says_nothing),
		T(a_failed_query_is_repeated),
		T(it_is_looked_only_now_and_then),
		T(a_pattern_that_is_made_of_several_reads_their_indexes),
		T(a_table_whose_indexes_decide_nothing_is_not_asked),
		T(a_cascade_waits_for_the_index),
		T(a_cascade_waits_from_when_it_was_put),
		T(a_cascade_that_is_met_waits_from_then),
		T(a_cascade_comes_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
