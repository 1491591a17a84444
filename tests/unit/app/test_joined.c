/* `refuse while` at a table elsewhere (app/write/joined.h): how many round trips a deletion makes, and that nothing
 * that joins the item is left without it, whenever it comes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"
#include "app/db/late.h"

#define NOTHING                                                                                         \
	"{\"TableName\":\"Test\",\"KeyConditionExpression\":\"PK = :p\",\"ExpressionAttributeValues\":" \
	"{\":p\":{\"S\":\"nothing\"}}}"

static const char entities[] =
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<id>\n"
	"    attributes: {id: 'string, required, fixed', gone: 'boolean, default false'}\n"
	"    keys: {PK: 'SHELF#<id>', SK: SHELF}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {%srefuse while: [books on shelf]}\n"
	"  Book:\n"
	"    path: /shelves/<shelf>/books/<id>\n"
	"    attributes: {shelf: 'string, required, fixed', id: 'string, required, fixed', text: string}\n"
	"    keys: {PK: 'BOOKS#<shelf>', SK: '<id>', GSI1PK: 'ON#<shelf>', GSI1SK: '<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    requires: [Shelf(shelf)]\n"
	"access:\n"
	"  books on shelf: {query: %s, where: {%s: '%s#<id>'}}\n";

static struct client c; /* another server: its app is at the same table, and near */
static struct app *app; /* at a distance */
static struct backend far;
static unsigned reads, queries, writes; /* of the last request */
static unsigned blind;                  /* so many Queries see a past without books */
static void (*before_read)(void), (*before_write)(void);

static void meddle(void (**hook)(void))
{
	void (*f)(void) = *hook;

	*hook = NULL;
	if (f)
		f();
}

static void far_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *r)
{
	bool asks = !strcmp(operation, "Query");
	bool reads_items = !strcmp(operation, "GetItem") || !strcmp(operation, "BatchGetItem");
	bool sees = !asks || !blind;

	(void)b;
	queries += asks;
	reads += reads_items;
	writes += !asks && !reads_items;
	blind -= !sees;
	if (reads_items)
		meddle(&before_read);
	if (!asks && !reads_items)
		meddle(&before_write);
	backend_call(c.f.backend, a, operation, sees ? body : SLICE(NOTHING), r);
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

static void open_shelves(bool softly, bool by_index)
{
	char text[2048];
	struct app_options o = { .database = &away };
	struct error e = { 0 };

	snprintf(text, sizeof(text), entities, softly ? "set: {gone: true}, " : "", by_index ? "GSI1" : "table",
		 by_index ? "GSI1PK" : "PK", by_index ? "ON" : "BOOKS");
	client_open(&c, text);
	assert_true(provision_beside(c.f.backend, c.f.design, &c.f.arena, &e));
	o.design = c.f.design;
	o.clock = &c.clock;
	memset(o.secret, 9, sizeof(o.secret));
	app = app_new(&o);
	assert_non_null(app);
	far = (struct backend){ .call = far_call, .free = far_free };
	blind = 0;
	before_read = before_write = NULL;
}

static void close_shelves(void)
{
	arena_clear(&c.f.arena);
	app_free(app);
	client_close(&c);
}

/* At the distant server. */
static int ask(enum app_method m, const char *path)
{
	struct app_request q = {
		.method = m, .path = slice_str(path), .base = SLICE("/api/test"), .client = SLICE("127.0.0.1")
	};
	struct app_reply reply = { 0 };

	reads = queries = writes = 0;
	app_handle(app, &far, &c.f.arena, &q, &reply);
	return reply.status;
}

/* At the near one. */
static void tell(enum app_method m, const char *path, const char *body, int status)
{
	client_ask(&c, m, path, body);
	client_is(&c, status);
}

static void put_book(void)
{
	tell(APP_PUT, "/shelves/s/books/b", "{}", 201);
}

/* A shelf that something has joined, and left again. */
static void put_shelf(void)
{
	tell(APP_PUT, "/shelves/s", "{}", 201);
	put_book();
	tell(APP_DELETE, "/shelves/s/books/b", NULL, 204);
}

static bool is_there(const char *path)
{
	client_ask(&c, APP_GET, path, NULL);
	return c.reply.status == 200 && !client_has(c.reply.body, "\"gone\":true");
}

static void assert_trips(unsigned times_asked)
{
	assert_int_equal(reads, 1);
	assert_int_equal(queries, times_asked);
	assert_int_equal(writes, 1);
}

static void what_nothing_has_joined_is_asked_once(void **state)
{
	(void)state;
	open_shelves(false, true);
	tell(APP_PUT, "/shelves/s", "{}", 201);
	assert_int_equal(ask(APP_DELETE, "/shelves/s"), 204);
	assert_trips(1);
	close_shelves();
}

static void what_is_known_as_it_is_is_asked_once(void **state)
{
	(void)state;
	open_shelves(false, false);
	put_shelf();
	assert_int_equal(ask(APP_GET, "/shelves/s"), 200);
	c.now_ms += 1;
	assert_int_equal(ask(APP_DELETE, "/shelves/s"), 204);
	assert_trips(1);
	close_shelves();
}

static void what_is_not_known_is_asked_twice(void **state)
{
	(void)state;
	open_shelves(false, false);
	put_shelf();
	assert_int_equal(ask(APP_DELETE, "/shelves/s"), 204);
	assert_trips(2);
	close_shelves();
}

static void an_index_is_asked_when_it_shows_what_joined_last(void **state)
{
	(void)state;
	for (int known_ms = -5; known_ms <= 1; known_ms += 6) {
		open_shelves(false, true);
		put_shelf();
		assert_int_equal(ask(APP_GET, "/shelves/s"), 200);
		c.now_ms += 1;
		assert_int_equal(ask(APP_GET, "/shelves/s"), 200); /* known since the first */
		c.now_ms += late_ms(app) + known_ms - 1;
		assert_int_equal(ask(APP_DELETE, "/shelves/s"), 204);
		assert_trips(known_ms > 0 ? 1 : 2);
		close_shelves();
	}
}

/* The patterns are asked, then a book comes, then the item is read: all of one round trip. */
static void what_joins_between_the_question_and_the_reading_is_seen(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool softly = i % 2, known = i / 2;

		open_shelves(softly, false);
		put_shelf();
		if (known)
			assert_int_equal(ask(APP_GET, "/shelves/s"), 200);
		c.now_ms += 1000;
		before_read = put_book;
		blind = 1;
		assert_int_equal(ask(APP_DELETE, "/shelves/s"), 409);
		assert_int_equal(queries, 2);
		assert_int_equal(writes, 0);
		assert_true(is_there("/shelves/s"));
		close_shelves();
	}
}

static void what_joins_between_the_reading_and_the_end_is_seen(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool softly = i % 2, first = i / 2;

		open_shelves(softly, false);
		if (first)
			tell(APP_PUT, "/shelves/s", "{}", 201);
		else
			put_shelf();
		assert_int_equal(ask(APP_GET, "/shelves/s"), 200);
		c.now_ms += 1000;
		before_write = put_book;
		assert_int_equal(ask(APP_DELETE, "/shelves/s"), 409);
		assert_true(is_there("/shelves/s"));
		close_shelves();
	}
}

static void what_hangs_on_it_is_told_at_once(void **state)
{
	(void)state;
	open_shelves(false, true);
	tell(APP_PUT, "/shelves/s", "{}", 201);
	put_book();
	assert_int_equal(ask(APP_DELETE, "/shelves/s"), 409);
	assert_int_equal(queries, 1);
	assert_int_equal(writes, 0);
	close_shelves();
}

/* Only what begins to hang on it: its changes and its end do not. */
static void a_change_does_not_join(void **state)
{
	(void)state;
	open_shelves(false, false);
	tell(APP_PUT, "/shelves/s", "{}", 201);
	put_book();
	assert_int_equal(ask(APP_GET, "/shelves/s"), 200);
	c.now_ms += 1;
	tell(APP_PATCH, "/shelves/s/books/b", "{\"text\":\"x\"}", 200);
	tell(APP_DELETE, "/shelves/s/books/b", NULL, 204);
	assert_int_equal(ask(APP_DELETE, "/shelves/s"), 204);
	assert_trips(1);
	close_shelves();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nothing_has_joined_is_asked_once),
		cmocka_unit_test(what_is_known_as_it_is_is_asked_once),
		cmocka_unit_test(what_is_not_known_is_asked_twice),
		cmocka_unit_test(an_index_is_asked_when_it_shows_what_joined_last),
		cmocka_unit_test(what_joins_between_the_question_and_the_reading_is_seen),
		cmocka_unit_test(what_joins_between_the_reading_and_the_end_is_seen),
		cmocka_unit_test(what_hangs_on_it_is_told_at_once),
		cmocka_unit_test(a_change_does_not_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
