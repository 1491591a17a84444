/* Processors at a stream whose shards end and go on in children, as Amazon's do every four hours: one that is paused
 * or lags delays no other, each begins a child when it is done with its parent, and nothing is lost without a word.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>
#include "app_client.h"
#include "process/process_internal.h"
#include "split_stream.h"

#define HOUR    (3600 * INT64_C(1000))
#define SERVERS 2

#define PROCESSORS                                                    \
	"  one: {on: Note created, count: Tally('one').total by 1}\n" \
	"  two: {on: Note created, count: Tally('two').total by 1}\n"
#define LATER_ONE "  three: {on: Note created, count: Tally('three').total by 1}\n"
#define DESIGN                                                                \
	"entities:\n"                                                         \
	"  Note:\n"                                                           \
	"    path: /notes/<id>\n"                                             \
	"    attributes: {id: 'string, required, fixed'}\n"                   \
	"    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"                             \
	"    allow: {read, create: anyone}\n"                                 \
	"  Tally:\n"                                                          \
	"    path: /tallies/<what>\n"                                         \
	"    attributes: {what: 'string, required, fixed', total: counter}\n" \
	"    keys: {PK: 'TALLY#<what>', SK: TALLY}\n"                         \
	"    allow: {read: anyone}\n"                                         \
	"processors:\n"

static struct client c;
static struct server {
	struct app *app;
	struct process *process;
} servers[SERVERS];
static _Atomic int64_t ahead_ms; /* of the system's clock */
static int notes;

static int64_t later(void *ctx)
{
	(void)ctx;
	return clock_now_ms(&clock_system) + ahead_ms;
}
static struct clock clock_moved = { .now_ms = later };

/* ---- servers ---- */

/* In memory that stays when that of the requests is cleared. */
static const struct design *design_of(const char *text)
{
	struct slice whole = arena_printf(&c.f.app.arena, APP_FIXTURE_HEAD "%s", text);

	return app_fixture_design(&c.f.app.arena, whole, SLICE("test.yaml"));
}

static struct app *app_of(const struct design *d)
{
	struct app_options o = { .design = d, .clock = &clock_moved, .database = &c.f.database.base };
	struct app *app;

	memset(o.secret, 9, sizeof(o.secret));
	app = app_new(&o);
	assert_non_null(app);
	return app;
}

static void start_with(int i, const struct design *d)
{
	char why[256] = "";

	servers[i].app = app_of(d);
	servers[i].process = process_new(&(struct process_options){ .app = servers[i].app });
	assert_non_null(servers[i].process);
	if (!process_start(servers[i].process, why, sizeof(why)))
		fail_msg("%s", why);
	app_tick(servers[i].app, c.f.backend, false); /* it knows of no deletions */
}

static void start(int i)
{
	start_with(i, c.f.design);
}

static void stop(int i)
{
	if (!servers[i].process)
		return;
	process_stop(servers[i].process);
	process_free(servers[i].process);
	arena_clear(&c.f.arena);
	app_free(servers[i].app);
	servers[i] = (struct server){ 0 };
	client_as(&c, "!");
}

static int setup(void **state)
{
	(void)state;
	ahead_ms = 0;
	notes = 0;
	client_open_with(&c, DESIGN PROCESSORS, &(struct db_options){ .clock = &clock_moved, .no_background = true });
	split_stream_show(&c.f.database);
	c.f.database.base.poll_ms = 20; /* the end of a shard is not a write: database_latest() does not tell of it */
	c.f.database.base.poll_most_ms = 100;
	backend_free(c.f.backend);
	c.f.backend = database_open(&c.f.database.base);
	app_free(c.app);
	c.f.design = design_of(DESIGN PROCESSORS);
	c.app = app_of(c.f.design);
	c.now_ms = clock_now_ms(&clock_system); /* for tokens */
	client_as(&c, "!");
	return 0;
}

/* The table is elsewhere, and other servers are at it. */
static int setup_elsewhere(void **state)
{
	setup(state);
	app_free(c.app);
	c.f.database.base.is_remote = true;
	c.app = app_of(c.f.design);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < SERVERS; i++)
		stop(i);
	client_close(&c);
	return 0;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

/* ---- requests ---- */

static void ask(int server, enum app_method m, const char *path, const char *body)
{
	struct app *own = c.app;

	c.app = servers[server].app ? servers[server].app : own;
	client_ask(&c, m, path, body);
	c.app = own;
	if (c.reply.status < 200 || c.reply.status > 204)
		fail_msg("%s: %d %.*s", path, c.reply.status, SLICE_ARG(c.reply.body));
}

static void put_notes(int n)
{
	while (n--) {
		char path[32];

		snprintf(path, sizeof(path), "/notes/n%d", notes++);
		ask(0, APP_PUT, path, "{}");
	}
}

static void split(void)
{
	assert_true(split_stream_now(c.f.db, "Test"));
}

static int64_t member(const char *name)
{
	const struct json *j = json_get(json_parse(&c.f.arena, c.reply.body), name);

	return json_is(j, JSON_INT) ? j->integer : 0;
}

static int64_t total(const char *what)
{
	struct slice path = arena_printf(&c.f.arena, "/tallies/%s%c", what, 0);

	client_ask(&c, APP_GET, path.p, NULL);
	return c.reply.status == 404 ? 0 : member("total");
}

static void control(int server, const char *what)
{
	struct slice path = arena_printf(&c.f.arena, "/processors/%s%c", what, 0);

	ask(server, APP_POST, path.p, NULL);
}

static void replay(int server, const char *what)
{
	struct slice path = arena_printf(&c.f.arena, "/processors/%s/replay%c", what, 0);

	ask(server, APP_POST, path.p, "{\"from\":\"2020-01-01\"}");
}

static void await_total(const char *what, int64_t n)
{
	for (int i = 0; i < 4000 && total(what) < n; i++)
		pause_briefly();
	assert_int_equal(total(what), n);
}

static void await_idle(int server)
{
	struct run r = process_run(servers[server].process, c.f.backend, &c.f.arena);

	if (!process_wait_idle(servers[server].process, &r, 20000))
		fail_msg("the processors do not come to an end");
}

static struct process_reading reading_of(int server, const char *what)
{
	struct process *p = servers[server].process;

	for (size_t i = 0; i < process_reading_count(p); i++)
		if (slice_is(process_reading(p, i).name, what))
			return process_reading(p, i);
	fail_msg("there is no %s", what);
	return (struct process_reading){ 0 };
}

/* ---- positions ---- */

static struct run *a_run(void)
{
	struct run *r = app_fixture_run(&c.f, "!");

	r->now_ms = later(NULL);
	return r;
}

static struct position position_of(const char *processor, struct slice shard)
{
	struct position at;

	assert_true(checkpoint_load(a_run(), slice_str(processor), shard, &at));
	return at;
}

/* Nothing is done in a shard before all of its parent is. */
static void is_in_order(const char *processor)
{
	struct shard_list list;
	struct run *r = a_run();

	assert_true(dyn_list_shards(r, &list));
	for (size_t i = 0; i < list.count; i++) {
		const struct shard *s = &list.list[i];

		if (!shard_list_find(&list, s->parent) || !position_of(processor, s->id).sequence.n)
			continue;
		if (!position_of(processor, s->parent).ended)
			fail_msg("%s has begun %.*s before it was done with %.*s", processor, SLICE_ARG(s->id),
				 SLICE_ARG(s->parent));
	}
}

/* ---- tests ---- */

static void a_paused_processor_delays_no_other_when_its_shard_ends(void **state)
{
	(void)state;
	start(0);
	control(0, "one/pause");
	put_notes(10);
	split();
	put_notes(10);
	await_total("two", 20);
	split();
	put_notes(10);
	await_total("two", 30);
	await_idle(0); /* which paused ones are not waited for */
	assert_int_equal(total("one"), 0);
	is_in_order("two");
	assert_true(reading_of(0, "one").backlog > 0 && reading_of(0, "two").backlog == 0);
	control(0, "one/resume");
	await_idle(0);
	assert_int_equal(total("one"), 30);
	assert_int_equal(total("two"), 30);
	is_in_order("one");
	assert_int_equal(reading_of(0, "one").backlog, 0);
}

/* It goes on in order: whatever is there in a child waits for what is left in its parent. */
static void one_that_goes_on_is_done_with_a_parent_before_it_begins_its_children(void **state)
{
	(void)state;
	start(0);
	control(0, "one/pause");
	for (int i = 0; i < 4; i++) {
		put_notes(20);
		split();
	}
	put_notes(20);
	await_total("two", 100);
	control(0, "one/resume");
	for (int i = 0; i < 4000 && total("one") < 100; i++)
		is_in_order("one");
	await_idle(0);
	assert_int_equal(total("one"), 100);
}

static void it_stays_so_through_restarts(void **state)
{
	(void)state;
	start(0);
	put_notes(5);
	await_idle(0);
	control(0, "one/pause");
	for (int i = 0; i < 3; i++) {
		put_notes(10);
		split();
		stop(0);
		start(0);
	}
	await_total("two", 35);
	await_idle(0);
	assert_int_equal(total("one"), 5);
	stop(0);
	start(0);
	control(0, "one/resume");
	await_idle(0);
	assert_int_equal(total("one"), 35);
	assert_int_equal(total("two"), 35);
	is_in_order("one");
}

static void shards_that_are_handed_over_go_on_where_each_processor_was(void **state)
{
	(void)state;
	start(0);
	control(0, "one/pause");
	put_notes(10);
	split();
	start(1); /* takes its part, parents and children alike */
	put_notes(10);
	await_total("two", 20);
	await_idle(0);
	await_idle(1);
	assert_int_equal(total("one"), 0);
	stop(0);
	split();
	put_notes(10);
	await_total("two", 30);
	control(1, "one/resume");
	await_idle(1);
	assert_int_equal(total("one"), 30);
	assert_int_equal(total("two"), 30);
	is_in_order("one");
	is_in_order("two");
}

static void a_replay_begins_in_shards_that_have_ended(void **state)
{
	(void)state;
	start(0);
	put_notes(10);
	split();
	put_notes(10);
	split();
	put_notes(10);
	await_idle(0);
	assert_int_equal(total("one"), 30);
	replay(0, "one");
	await_idle(0);
	assert_int_equal(total("one"), 60);
	assert_int_equal(total("two"), 30);
	is_in_order("one");
	put_notes(1);
	await_idle(0);
	assert_int_equal(total("one"), 61);
}

/* Also where nothing is written that would make the other server look at its positions. */
static void a_replay_at_one_server_is_a_replay_at_all(void **state)
{
	(void)state;
	start(0);
	start(1);
	put_notes(10);
	split();
	put_notes(10);
	await_idle(0);
	await_idle(1);
	assert_int_equal(total("one"), 20);
	for (int i = 1; i < 3; i++) {
		replay(i % SERVERS, "one");
		await_idle(i % SERVERS);
		assert_int_equal(total("one"), 20 + 20 * i);
		await_idle((i + 1) % SERVERS);
	}
	assert_int_equal(total("two"), 20);
	is_in_order("one");
}

static void a_processor_that_is_added_begins_with_what_the_stream_has(void **state)
{
	const struct design *more;

	(void)state;
	start(0);
	control(0, "two/pause");
	put_notes(10);
	split();
	put_notes(10);
	split();
	put_notes(10);
	await_total("one", 30);
	stop(0);
	more = design_of(DESIGN PROCESSORS LATER_ONE);
	start_with(0, more);
	for (int i = 0; i < 4000 && total("three") < 30; i++)
		is_in_order("three");
	await_idle(0);
	assert_int_equal(total("three"), 30);
	assert_int_equal(total("one"), 30);
	assert_int_equal(total("two"), 0);
	/* Taken out again, nothing waits for it. */
	control(0, "three/pause");
	put_notes(5);
	split();
	stop(0);
	start(0);
	put_notes(5);
	await_idle(0);
	assert_int_equal(total("one"), 40);
	control(0, "two/resume");
	await_idle(0);
	assert_int_equal(total("two"), 40);
}

/* As time passes for the database: what is a day old is forgotten. */
static void pass(int64_t ms)
{
	ahead_ms += ms;
	c.now_ms += ms;
	client_as(&c, "!");
	while (db_step(c.f.db))
		;
}

static void what_is_forgotten_while_a_processor_is_paused_is_told_once(void **state)
{
	(void)state;
	start(0);
	put_notes(10);
	await_idle(0);
	control(0, "one/pause");
	put_notes(10);
	for (int i = 0; i < 8; i++) {
		split();
		pass(4 * HOUR);
		put_notes(5);
		await_total("two", 25 + 5 * i);
	}
	await_idle(0);
	control(0, "one/resume");
	await_idle(0);
	assert_true(reading_of(0, "one").lost > 0);
	assert_int_equal(reading_of(0, "two").lost, 0);
	assert_true(total("one") < 60 && total("one") >= 10 + 25);
	is_in_order("one");
	put_notes(5);
	await_idle(0);
	assert_int_equal(total("two"), 65);
	stop(0);
	start(0);
	await_idle(0);
	assert_int_equal(reading_of(0, "one").lost, 0);
}

/* It has done nothing there, so there is no change that its position could be at. */
static void what_is_forgotten_at_the_beginning_of_a_shard_is_told(void **state)
{
	(void)state;
	start(0);
	put_notes(10);
	await_idle(0);
	control(0, "one/pause");
	split();
	put_notes(10);
	await_total("two", 20);
	await_idle(0);
	for (int i = 0; i < 400; i++) { /* positions are stored within a second */
		struct run *r = a_run();
		struct shard_list list;
		size_t stored = 0;

		assert_true(dyn_list_shards(r, &list));
		for (size_t k = 0; k < list.count; k++)
			stored += position_of("one", list.list[k].id).stored;
		if (stored == list.count)
			break;
		pause_briefly();
	}
	stop(0);
	for (int i = 0; i < 8; i++) /* the database does not believe a clock that leaps */
		pass(4 * HOUR);
	start(0);
	control(0, "one/resume");
	await_idle(0);
	assert_int_equal(total("one"), 10);
	assert_true(reading_of(0, "one").lost > 0);
}

/* Nobody was there to see it. */
static void what_is_forgotten_while_no_server_runs_is_told_once(void **state)
{
	uint64_t lost;

	(void)state;
	start(0);
	put_notes(10);
	await_idle(0);
	control(0, "one/pause");
	put_notes(10);
	await_total("two", 20);
	stop(0);
	for (int i = 0; i < 8; i++) {
		split();
		pass(4 * HOUR);
	}
	start(0);
	for (int i = 0; i < 4000 && !reading_of(0, "one").lost; i++)
		pause_briefly();
	lost = reading_of(0, "one").lost;
	assert_true(lost > 0);
	stop(0);
	start(0);
	put_notes(5);
	await_total("two", 25);
	control(0, "one/resume");
	await_idle(0);
	assert_int_equal(total("one"), 15);
	assert_int_equal(reading_of(0, "one").lost, 0);
}

#define HERE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define ELSEWHERE(name)                                                    \
	{                                                                  \
#name ", elsewhere", name, setup_elsewhere, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HERE(a_paused_processor_delays_no_other_when_its_shard_ends),
		ELSEWHERE(a_paused_processor_delays_no_other_when_its_shard_ends),
		HERE(one_that_goes_on_is_done_with_a_parent_before_it_begins_its_children),
		ELSEWHERE(one_that_goes_on_is_done_with_a_parent_before_it_begins_its_children),
		HERE(it_stays_so_through_restarts),
		ELSEWHERE(it_stays_so_through_restarts),
		ELSEWHERE(shards_that_are_handed_over_go_on_where_each_processor_was),
		HERE(a_replay_begins_in_shards_that_have_ended),
		ELSEWHERE(a_replay_begins_in_shards_that_have_ended),
		ELSEWHERE(a_replay_at_one_server_is_a_replay_at_all),
		HERE(a_processor_that_is_added_begins_with_what_the_stream_has),
		ELSEWHERE(a_processor_that_is_added_begins_with_what_the_stream_has),
		ELSEWHERE(what_is_forgotten_while_a_processor_is_paused_is_told_once),
		ELSEWHERE(what_is_forgotten_while_no_server_runs_is_told_once),
		HERE(what_is_forgotten_at_the_beginning_of_a_shard_is_told),
		ELSEWHERE(what_is_forgotten_at_the_beginning_of_a_shard_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
