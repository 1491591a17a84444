/* Processors that run: each change once, through stops, pauses, failures and rivals.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include "app_client.h"
#include "process/checkpoint.h"
#include "process/process.h"
#include "process/process_internal.h"

static const char design[] =
	"entities:\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      divides: boolean, default false\n"
	"      spreads: boolean, default false\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Reader:\n"
	"    path: /readers/<name>\n"
	"    attributes: {name: 'string, required, fixed'}\n"
	"    keys: {PK: READERS, SK: '<name>'}\n"
	"    allow: {read, create: anyone}\n"
	"  Copy:\n"
	"    path: /readers/<name>/copies/<id>\n"
	"    attributes: {name: 'string, required, fixed', id: 'string, required, fixed'}\n"
	"    keys: {PK: 'COPIES#<id>', SK: '<name>'}\n"
	"    allow: {read: anyone}\n"
	"  Setting:\n"
	"    path: /settings/<name>\n"
	"    attributes: {name: 'string, required, fixed', divisor: number}\n"
	"    keys: {PK: 'SETTING#<name>', SK: SETTING}\n"
	"    allow: {read, create, update: anyone}\n"
	"  Tally:\n"
	"    path: /tallies/<what>\n"
	"    attributes: {what: 'string, required, fixed', total: counter}\n"
	"    keys: {PK: 'TALLY#<what>', SK: TALLY}\n"
	"    allow: {read: anyone}\n"
	"access:\n"
	"  readers: {query: table, where: {PK: READERS}}\n"
	"  copies of note: {path: '/notes/<id>/copies', query: table, where: {PK: 'COPIES#<id>'}, count: true}\n"
	"processors:\n"
	"  count notes:\n"
	"    on: Note created\n"
	"    count: Tally('notes').total by 1\n"
	"  divide:\n"
	"    on: Note created\n"
	"    when: divides = true\n"
	"    count: Tally('divided').total by 100 / Setting('x').divisor\n"
	"  spread:\n"
	"    on: Note created\n"
	"    when: spreads = true\n"
	"    each: reader in readers()\n"
	"    put: Copy\n"
	"    with: {name: reader.name, id: id}\n"
	"  hourly:\n"
	"    every: hour\n"
	"    count: Tally('hours').total by 100 / Setting('hour').divisor\n";

static struct client c;
static struct process *process;
static _Atomic int64_t db_ms, app_ms; /* what their clocks are ahead */

static int64_t later(void *ctx)
{
	return clock_now_ms(&clock_system) + *(_Atomic int64_t *)ctx;
}
static struct clock db_clock_moved = { .now_ms = later, .ctx = &db_ms };

static int64_t really(void *ctx)
{
	(void)ctx;
	return clock_steady_ms(&clock_system);
}

static struct process *start(void)
{
	struct process *p = process_new(&(struct process_options){ .app = c.app });
	char why[256] = "";

	assert_non_null(p);
	if (!process_start(p, why, sizeof(why)))
		fail_msg("%s", why);
	return p;
}

static void stop(void)
{
	process_stop(process);
	process_free(process);
	process = NULL;
}

/* A database that does not tell positions. */
static struct damaged {
	struct backend backend; /* first */
	struct backend *real;
	atomic_bool works;
} damaged;

static int setup(void **state)
{
	(void)state;
	db_ms = app_ms = 0;
	db_clock_moved.steady_ms = NULL;
	client_open_with(&c, design, &(struct db_options){ .clock = &db_clock_moved, .no_background = true });
	c.clock = (struct clock){ .now_ms = later, .ctx = &app_ms };
	c.now_ms = clock_now_ms(&clock_system); /* for tokens */
	client_as(&c, "!");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	process_stop(process);
	if (process && damaged.real) /* a test has put it there */
		process->backend = damaged.real;
	stop();
	damaged.real = NULL;
	client_close(&c);
	return 0;
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

/* Until everything written so far has been processed. */
static void await_idle(void)
{
	for (int i = 0; i < 10000; i++, pause_briefly())
		if (process_is_idle(process))
			return;
	fail_msg("the processors do not come to an end");
}

static void put(const char *path, const char *body)
{
	client_ask(&c, APP_PUT, path, body);
	assert_in_range(c.reply.status, 200, 201);
}

static void put_notes(int from, int to, const char *body)
{
	for (int i = from; i < to; i++)
		put(arena_printf(&c.f.arena, "/notes/n%d%c", i, 0).p, body);
}

static int64_t member(const char *name)
{
	const struct json *j = json_get(json_parse(&c.f.arena, c.reply.body), name);

	return json_is(j, JSON_INT) ? j->integer : 0;
}

static int64_t total(const char *what)
{
	client_ask(&c, APP_GET, arena_printf(&c.f.arena, "/tallies/%s%c", what, 0).p, NULL);
	return c.reply.status == 404 ? 0 : member("total");
}

static void control(const char *path)
{
	client_ask(&c, APP_POST, path, NULL);
	client_is(&c, 200);
}

static int64_t parked(void)
{
	client_ask(&c, APP_GET, "/processors/divide", NULL);
	client_is(&c, 200);
	return member("parked");
}

static void await_parked(int64_t n)
{
	for (int i = 0; i < 10000 && parked() != n; i++)
		pause_briefly();
	assert_int_equal(parked(), n);
}

static struct slice first_parked(void)
{
	const struct json *items;

	client_ask(&c, APP_GET, "/processors/divide/parked", NULL);
	client_is(&c, 200);
	items = json_get(json_parse(&c.f.arena, c.reply.body), "items");
	assert_true(json_is(items, JSON_ARRAY) && items->count);
	return json_get(&items->items[0], "sequence")->string;
}

static void settle(const char *verb)
{
	struct slice path =
		arena_printf(&c.f.arena, "/processors/divide/parked/%.*s/%s%c", SLICE_ARG(first_parked()), verb, 0);

	client_ask(&c, APP_POST, path.p, NULL);
}

/* ---- tests ---- */

static void changes_before_and_after_the_start_take_effect_once(void **state)
{
	(void)state;
	put_notes(0, 10, "{}");
	process = start();
	await_idle();
	assert_int_equal(total("notes"), 10);
	put_notes(10, 30, "{}");
	await_idle();
	assert_int_equal(total("notes"), 30);
	for (int i = 0; i < 3; i++) {
		stop();
		put_notes(100 + i, 101 + i, "{}");
		process = start();
		await_idle();
		assert_int_equal(total("notes"), 31 + i);
	}
}

static void two_at_one_stream_do_everything_once(void **state)
{
	struct process *rival;

	(void)state;
	process = start();
	rival = start();
	put_notes(0, 200, "{}");
	for (int i = 0; i < 10000 && !process_is_idle(rival); i++)
		pause_briefly();
	await_idle();
	process_stop(rival);
	process_free(rival);
	assert_int_equal(total("notes"), 200);
}

static void a_paused_processor_stands_still_and_the_others_go_on(void **state)
{
	(void)state;
	put("/settings/x", "{\"divisor\":5}");
	process = start();
	control("/processors/count%20notes/pause");
	client_says(&c, "\"paused\":true");
	put_notes(0, 5, "{\"divides\":true}");
	await_idle();
	assert_int_equal(total("notes"), 0);
	assert_int_equal(total("divided"), 100);
	stop();
	process = start(); /* it stays paused */
	await_idle();
	assert_int_equal(total("notes"), 0);
	control("/processors/count%20notes/resume");
	await_idle();
	assert_int_equal(total("notes"), 5);
	assert_int_equal(total("divided"), 100);
}

static void a_change_that_fails_is_parked_and_can_be_done_again(void **state)
{
	(void)state;
	put("/settings/x", "{\"divisor\":1e-125}");
	process = start();
	put_notes(0, 2, "{\"divides\":true}");
	await_parked(2);
	await_idle();
	assert_int_equal(total("notes"), 2);
	assert_int_equal(total("divided"), 0);
	client_ask(&c, APP_GET, "/processors/divide/parked?limit=1", NULL);
	client_is(&c, 200);
	client_says(&c, "\"reason\":");
	client_says(&c, "\"next\":");
	client_says(&c, "\"entity\":\"Note\"");
	settle("retry"); /* still zero */
	client_is(&c, 422);
	assert_int_equal(parked(), 2);
	client_ask(&c, APP_PATCH, "/settings/x", "{\"divisor\":4}");
	client_is(&c, 200);
	settle("retry");
	client_is(&c, 200);
	assert_int_equal(parked(), 1);
	assert_int_equal(total("divided"), 25);
	settle("drop");
	client_is(&c, 200);
	assert_int_equal(parked(), 0);
	assert_int_equal(total("divided"), 25);
	client_ask(&c, APP_POST, "/processors/divide/parked/1/retry", NULL);
	client_is(&c, 404);
}

/* Its position says that it was done: the process died before removing it from the list. */
static void a_parked_change_that_was_done_is_only_taken_off_the_list(void **state)
{
	struct run r = {
		.app = c.app, .design = c.f.design, .backend = c.f.backend, .arena = &c.f.arena, .now_ms = c.now_ms
	};
	struct position done = { .processor = SLICE("divide") };

	(void)state;
	put("/settings/x", "{\"divisor\":1e-125}");
	process = start();
	put_notes(0, 1, "{\"divides\":true}");
	await_parked(1);
	client_ask(&c, APP_PATCH, "/settings/x", "{\"divisor\":4}");
	client_is(&c, 200);
	done.sequence = first_parked();
	done.shard = arena_printf(&c.f.arena, "retry#%.*s", SLICE_ARG(done.sequence));
	assert_true(checkpoint_force(&r, &done));
	settle("retry");
	client_is(&c, 200);
	assert_int_equal(parked(), 0);
	assert_int_equal(total("divided"), 0);
}

static void a_replay_repeats_later_changes(void **state)
{
	(void)state;
	process = start();
	put_notes(0, 3, "{}");
	await_idle();
	client_ask(&c, APP_POST, "/processors/count%20notes/replay", "{\"from\":\"2020-01-01\"}");
	client_is(&c, 200);
	await_idle();
	for (int i = 0; i < 5000 && total("notes") < 6; i++)
		pause_briefly();
	assert_int_equal(total("notes"), 6);
	client_ask(&c, APP_POST, "/processors/count%20notes/replay", "{\"from\":\"2999-01-01\"}");
	client_is(&c, 200);
	await_idle();
	assert_int_equal(total("notes"), 6);
	client_ask(&c, APP_POST, "/processors/count%20notes/replay", "{\"from\":\"yesterday\"}");
	client_is(&c, 400);
}

static const char club[] =
	"entities:\n"
	"  Club:\n"
	"    path: /clubs/<id>\n"
	"    attributes: {id: 'string, required, fixed', members: counter}\n"
	"    keys: {PK: 'CLUB#<id>', SK: CLUB}\n"
	"    allow: {read, create: anyone}\n"
	"  Member:\n"
	"    path: /clubs/<club>/members/<who>\n"
	"    attributes: {club: 'string, required, fixed', who: 'string, required, fixed', expires_at: epoch}\n"
	"    keys: {PK: 'CLUB#<club>', SK: 'MEMBER#<who>'}\n"
	"    counts: [Club(club).members]\n"
	"    allow: {read, create, delete: anyone}\n";

static int64_t members(void)
{
	client_ask(&c, APP_GET, "/clubs/go", NULL);
	client_is(&c, 200);
	return member("members");
}

static void replay_keeper(void)
{
	client_ask(&c, APP_POST, "/processors/keeper/replay", "{\"from\":\"2020-01-01\"}");
	client_is(&c, 200);
	await_idle();
}

static void add_member(const char *who, int64_t expires_in)
{
	int64_t at = clock_now_ms(&clock_system) / 1000 + expires_in;

	put(arena_printf(&c.f.arena, "/clubs/go/members/%s%c", who, 0).p,
	    arena_printf(&c.f.arena, "{\"expires_at\":%lld}%c", (long long)at, 0).p);
}

/* What has expired by now goes, as the background would have it. */
static void sweep(void)
{
	while (db_step(c.f.db))
		;
	await_idle();
}

static void a_replay_of_the_keeper_counts_nothing_off_again(void **state)
{
	(void)state;
	client_close(&c);
	client_open_with(&c, club, &(struct db_options){ .clock = &db_clock_moved, .no_background = true });
	c.clock = (struct clock){ .now_ms = later, .ctx = &app_ms };
	c.now_ms = clock_now_ms(&clock_system);
	client_as(&c, "!");
	process = start();
	put("/clubs/go", "{}");
	add_member("ann", 600);
	add_member("bob", 600);
	add_member("cid", 6000);
	add_member("dan", 100000);
	assert_int_equal(members(), 4);
	db_ms = 1000000;
	sweep();
	assert_int_equal(members(), 2);
	replay_keeper();
	assert_int_equal(members(), 2);
	/* While it is paused another one goes; going back twice does not make it forget that this one is still to be
	 * counted off. */
	control("/processors/keeper/pause");
	db_ms = 10000000;
	sweep();
	replay_keeper();
	replay_keeper();
	assert_int_equal(members(), 2);
	control("/processors/keeper/resume");
	await_idle();
	assert_int_equal(members(), 1);
	stop();
	process = start();
	replay_keeper();
	assert_int_equal(members(), 1);
}

static struct processor_switch switch_of(const char *name)
{
	struct run *r = app_fixture_run(&c.f, "!");
	struct processor_switch w;

	assert_true(checkpoint_switch(r, slice_str(name), &w));
	return w;
}

static void a_replay_without_a_stream_is_refused_and_leaves_nothing_behind(void **state)
{
	struct processor_switch w = { .paused = true, .replay_from_ms = 1700000000000 };
	char text[sizeof(design) + 200];

	(void)state;
	client_close(&c);
	snprintf(text, sizeof(text), "design: test\ntitle: Test\ntable: Test\nkey: [PK, SK]\nstream: off\n%s", design);
	client_open(&c, text);
	client_as(&c, "!");
	process = start();
	client_ask(&c, APP_POST, "/processors/count%20notes/replay", "{\"from\":\"2020-01-01\"}");
	client_is(&c, 404);
	client_says(&c, "has no stream");
	assert_int_equal(switch_of("count notes").replay_from_ms, 0);
	stop();
	/* A leftover one does not prevent a start, and is not done later. */
	assert_true(checkpoint_set_switch(app_fixture_run(&c.f, "!"), SLICE("count notes"), &w));
	process = start();
	assert_int_equal(switch_of("count notes").replay_from_ms, 0);
	assert_true(switch_of("count notes").paused);
}

static void damaged_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *reply)
{
	struct damaged *d = (struct damaged *)b;

	if (atomic_load(&d->works) || strcmp(operation, "GetItem")) {
		backend_call(d->real, a, operation, body, reply);
		return;
	}
	*reply = (struct backend_reply){ .status = 500,
					 .body = json_parse(a, SLICE("{}")),
					 .error = SLICE("InternalServerError"),
					 .message = SLICE("damaged") };
}

static struct slice metrics(void)
{
	struct buf b;

	buf_init(&b, &c.f.arena);
	process_metrics(&process, 1, &b);
	return buf_slice(&b);
}

static void processors_whose_positions_cannot_be_read_stand_still_and_say_so(void **state)
{
	char why[256] = "";

	(void)state;
	process = process_new(&(struct process_options){ .app = c.app });
	damaged = (struct damaged){ .backend = { .call = damaged_call }, .real = process->backend };
	process->backend = &damaged.backend;
	process->begin_every_us = 20000;
	assert_true(process_start(process, why, sizeof(why)));
	put_notes(0, 3, "{}"); /* everything else goes on */
	client_ask(&c, APP_GET, "/processors/count%20notes", NULL);
	client_is(&c, 200);
	client_says(&c, "\"stands_still\":\"the processors of test: ");
	client_says(&c, "\"last_problem\":\"stands still: the processors of test: ");
	assert_true(client_has(metrics(), "thorpe_processor_stands_still{design=\"test\",processor=\"count notes\"} 1"));
	assert_false(process_is_idle(process));
	assert_int_equal(total("notes"), 0);
	atomic_store(&damaged.works, true);
	await_idle();
	assert_int_equal(total("notes"), 3);
	assert_true(client_has(metrics(), "thorpe_processor_stands_still{design=\"test\",processor=\"count notes\"} 0"));
	client_ask(&c, APP_GET, "/processors/count%20notes", NULL);
	assert_false(client_has(c.reply.body, "stands_still"));
}

static void processors_that_stand_still_can_be_stopped(void **state)
{
	char why[256] = "";

	(void)state;
	process = process_new(&(struct process_options){ .app = c.app });
	damaged = (struct damaged){ .backend = { .call = damaged_call }, .real = process->backend };
	process->backend = &damaged.backend;
	process->begin_every_us = 100;
	assert_true(process_start(process, why, sizeof(why)));
	process_stop(process);
	assert_false(c.app->keeper_runs);
}

static void a_fan_out_reaches_everyone_once_though_it_is_interrupted(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++)
		put(arena_printf(&c.f.arena, "/readers/r%03d%c", i, 0).p, "{}");
	process = start();
	await_idle();
	put_notes(0, 3, "{\"spreads\":true}");
	for (int i = 0; i < 5; i++) { /* in the middle of it, if it is still going on */
		pause_briefly();
		stop();
		process = start();
	}
	await_idle();
	for (int i = 0; i < 3; i++) {
		client_ask(&c, APP_GET, arena_printf(&c.f.arena, "/notes/n%d/copies%c", i, 0).p, NULL);
		client_is(&c, 200);
		assert_int_equal(member("count"), 500);
	}
}

static uint64_t records_read(void)
{
	static const char name[] = "thorpe_requests_total{operation=\"GetRecords\",outcome=\"ok\"} ";
	struct buf b;
	char *at;

	buf_init(&b, &c.f.arena);
	api_metrics(c.f.api, &b);
	buf_byte(&b, 0);
	at = strstr(b.p, name);
	assert_non_null(at);
	return strtoull(at + sizeof(name) - 1, NULL, 10);
}

static void nothing_is_read_while_nothing_is_written(void **state)
{
	uint64_t before;

	(void)state;
	process = start();
	put_notes(0, 10, "{}");
	await_idle();
	before = records_read();
	for (int i = 0; i < 100; i++)
		pause_briefly();
	assert_int_equal(records_read(), before);
}

static void writers_are_slowed_when_a_processor_lags(void **state)
{
	int64_t delay = 0;
	struct buf b;

	(void)state;
	for (int i = 0; i < 300; i++)
		put(arena_printf(&c.f.arena, "/readers/r%d%c", i, 0).p, "{}");
	process = start();
	await_idle();
	assert_int_equal(process_delay_ms(process), 0);
	app_ms = -2000; /* times are told to the second */
	stop();
	process = start();
	await_idle();
	put_notes(0, 600, "{\"spreads\":true}"); /* together they take a while on any machine */
	app_ms = 31000;
	for (int i = 0; i < 5000 && !delay; i++, pause_briefly())
		delay = process_delay_ms(process);
	assert_in_range(delay, 1, 1000);
	buf_init(&b, &c.f.arena);
	process_metrics(&process, 1, &b);
	assert_true(client_has(buf_slice(&b), "thorpe_writers_slowed_total{design=\"test\"} 1"));
	assert_true(client_has(buf_slice(&b), "thorpe_processor_lag_seconds{design=\"test\",processor=\"spread\"} "));
	control("/processors/spread/pause"); /* on purpose: nobody is slowed for that */
	for (int i = 0; i < 5000 && delay; i++, pause_briefly())
		delay = process_delay_ms(process);
	assert_int_equal(delay, 0);
}

static void a_change_waiting_for_a_retry_does_not_slow_writers(void **state)
{
	(void)state;
	put("/settings/x", "{\"divisor\":1e-125}");
	app_ms = -2000;
	process = start();
	await_idle();
	put_notes(0, 8, "{\"divides\":true}");
	do { /* all of them have failed, or wait behind one that has */
		pause_briefly();
		client_ask(&c, APP_GET, "/processors/divide", NULL);
	} while (member("retries") < 6);
	app_ms = 31000;
	while (parked() < 8) {
		assert_int_equal(process_delay_ms(process), 0);
		pause_briefly();
	}
}

static void trimmed_changes_are_counted(void **state)
{
	(void)state;
	process = start();
	put_notes(0, 8, "{}");
	await_idle();
	stop();
	(void)db_step(c.f.db);
	db_ms = app_ms = 30 * 3600 * INT64_C(1000);
	(void)db_step(c.f.db);
	c.now_ms += app_ms;
	client_as(&c, "!");
	put_notes(100, 140, "{}");
	process = start();
	await_idle();
	assert_int_equal(total("notes"), 48);
	client_ask(&c, APP_GET, "/processors/count%20notes", NULL);
	assert_in_range(member("lost"), 1, 4);
	client_ask(&c, APP_GET, "/processors/spread", NULL);
	assert_in_range(member("lost"), 1, 4); /* though another one has read the page */
}

static int setup_jumping(void **state)
{
	(void)setup(state);
	db_clock_moved.steady_ms = really;
	return 0;
}

/* Everyone's wall clock is so much ahead from now on; no time has passed. */
static void clocks_jump_to(int64_t ahead_ms)
{
	c.now_ms += ahead_ms - app_ms;
	db_ms = app_ms = ahead_ms;
	client_as(&c, "!");
	while (db_step(c.f.db))
		;
}

static void a_clock_that_jumps_loses_and_repeats_nothing(void **state)
{
	const int64_t year = 365 * 24 * 3600 * INT64_C(1000);
	const int64_t jumps[] = { year, 0, -2 * year / 365, year, 0 };
	int notes = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		put_notes(notes, notes + 8, "{}"); /* nobody has seen them yet */
		notes += 8;
		clocks_jump_to(jumps[i]);
		process = start();
		await_idle();
		assert_int_equal(total("notes"), notes);
		put_notes(notes, notes + 8, "{}");
		notes += 8;
		clocks_jump_to(jumps[i] + 3600 * 1000);
		put_notes(notes, notes + 8, "{}");
		notes += 8;
		await_idle();
		assert_int_equal(total("notes"), notes);
		client_ask(&c, APP_GET, "/processors/count%20notes", NULL);
		assert_int_equal(member("lost"), 0);
		stop();
	}
	process = start(); /* teardown stops it */
	await_idle();
	assert_int_equal(total("notes"), notes);
}

static void operators_alone_have_processors(void **state)
{
	(void)state;
	process = start();
	client_ask(&c, APP_GET, "/processors", NULL);
	client_is(&c, 200);
	client_says(
		&c,
		"\"processors\":[{\"name\":\"count notes\",\"on\":\"Note created\",\"effect\":\"count\",\"paused\":false");
	client_ask(&c, APP_DELETE, "/processors", NULL);
	client_is(&c, 405);
	client_header(&c, "Allow: GET");
	client_ask(&c, APP_GET, "/processors/nothing", NULL);
	client_is(&c, 404);
	client_ask(&c, APP_POST, "/processors/divide/explode", NULL);
	client_is(&c, 404);
	client_as(&c, "alice");
	client_ask(&c, APP_GET, "/processors", NULL);
	client_is(&c, 404);
	client_as(&c, NULL);
	client_ask(&c, APP_POST, "/processors/divide/pause", NULL);
	client_is(&c, 404);
}

/* ---- schedules ---- */

#define DAY_MS (24 * 3600 * INT64_C(1000))

static struct station *hourly(void)
{
	return process_station(process, SLICE("hourly"));
}

static int64_t ran_ms(void)
{
	return atomic_load(&hourly()->ran_ms);
}

static void await_first_look(void)
{
	for (int i = 0; i < 10000 && !ran_ms(); i++)
		pause_briefly();
	assert_true(ran_ms() > 0);
}

static void a_schedule_that_was_run_in_the_future_begins_anew(void **state)
{
	(void)state;
	put("/settings/hour", "{\"divisor\":100}");
	app_ms = 40 * DAY_MS;
	process = start();
	await_first_look();
	assert_true(ran_ms() > clock_now_ms(&clock_system) + 39 * DAY_MS);
	stop();
	app_ms = 0;
	process = start();
	await_first_look();
	assert_true(ran_ms() <= clock_now_ms(&clock_system));
	assert_int_equal(total("hours"), 0);
	app_ms = 3600 * INT64_C(1000);
	schedule_wake(process);
	for (int i = 0; i < 10000 && !total("hours"); i++)
		pause_briefly();
	assert_int_equal(total("hours"), 1);
	app_ms = 40 * DAY_MS; /* while it runs */
	schedule_wake(process);
	for (int i = 0; i < 10000 && total("hours") < 2; i++)
		pause_briefly();
	assert_true(ran_ms() > clock_now_ms(&clock_system) + 39 * DAY_MS);
	app_ms = 3600 * INT64_C(1000);
	schedule_wake(process);
	for (int i = 0; i < 10000 && ran_ms() > clock_now_ms(&clock_system) + DAY_MS; i++)
		pause_briefly();
	assert_true(ran_ms() <= clock_now_ms(&clock_system) + DAY_MS);
}

/* Asks for a run, whose first try fails, and pauses. */
static void fail_once(void)
{
	uint64_t before = atomic_load(&hourly()->ledger.retries);

	client_ask(&c, APP_PATCH, "/settings/hour", "{\"divisor\":1e-125}");
	client_is(&c, 200);
	control("/processors/hourly/run");
	for (int i = 0; i < 10000 && atomic_load(&hourly()->ledger.retries) == before; i++)
		pause_briefly();
	control("/processors/hourly/pause");
}

static void a_run_that_was_asked_for_is_tried_again_though_it_has_not_begun(void **state)
{
	(void)state;
	put("/settings/hour", "{\"divisor\":1e-125}");
	process = start();
	await_first_look();
	for (int i = 0; i < 20 && total("hours") < 1; i++) { /* it is given up after some tries: then once more */
		fail_once();
		await_idle(); /* what is paused does not wait */
		client_ask(&c, APP_PATCH, "/settings/hour", "{\"divisor\":100}");
		client_is(&c, 200);
		control("/processors/hourly/resume");
		await_idle();
	}
	assert_int_equal(total("hours"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_before_and_after_the_start_take_effect_once),
		TEST(two_at_one_stream_do_everything_once),
		TEST(a_paused_processor_stands_still_and_the_others_go_on),
		TEST(a_change_that_fails_is_parked_and_can_be_done_again),
		TEST(a_parked_change_that_was_done_is_only_taken_off_the_list),
		TEST(a_replay_repeats_later_changes),
		TEST(a_replay_of_the_keeper_counts_nothing_off_again),
		TEST(processors_whose_positions_cannot_be_read_stand_still_and_say_so),
		TEST(processors_that_stand_still_can_be_stopped),
		TEST(a_replay_without_a_stream_is_refused_and_leaves_nothing_behind),
		TEST(a_fan_out_reaches_everyone_once_though_it_is_interrupted),
		TEST(nothing_is_read_while_nothing_is_written),
		TEST(writers_are_slowed_when_a_processor_lags),
		TEST(a_change_waiting_for_a_retry_does_not_slow_writers),
		TEST(trimmed_changes_are_counted),
		cmocka_unit_test_setup_teardown(a_clock_that_jumps_loses_and_repeats_nothing, setup_jumping, teardown),
		TEST(a_schedule_that_was_run_in_the_future_begins_anew),
		TEST(a_run_that_was_asked_for_is_tried_again_though_it_has_not_begun),
		TEST(operators_alone_have_processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
