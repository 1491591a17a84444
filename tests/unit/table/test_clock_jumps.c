/* A wall clock that jumps, while the database is open, between two openings, and with a kill in between.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/wait.h>
#include "fixture.h"
#include "base/clock.h"
#include "table/layout.h"
#include "table/timekeeper.h"
#include "writes.h"

#define MINUTE_MS 60000LL
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)
#define YEAR_MS   (365 * DAY_MS)
#define NOW_S     (FIXTURE_START_MS / 1000)

static int64_t steady(void *ctx)
{
	return ((struct fixture *)ctx)->steady_ms;
}

static void start(struct fixture *f)
{
	f->clock.steady_ms = steady;
	f->steady_ms = 5 * MINUTE_MS;
	db_close(f->db);
	fixture_open(f);
}

static int setup(void **state)
{
	(void)fixture_setup(state);
	start(*state);
	return 0;
}

static int setup_on_disk(void **state)
{
	(void)fixture_setup_on_disk(state);
	start(*state);
	return 0;
}

/* Time passes by both clocks, and the background works every minute. */
static void work_for(struct fixture *f, int64_t ms)
{
	for (int64_t passed = 0; passed < ms; passed += MINUTE_MS) {
		(void)db_step(f->db);
		f->now_ms += MINUTE_MS;
		f->steady_ms += MINUTE_MS;
	}
	while (db_step(f->db))
		;
}

/* The wall clock is set; the background sees it. */
static void jump(struct fixture *f, int64_t ms)
{
	f->now_ms += ms;
	while (db_step(f->db))
		;
}

/* ---- streams ---- */

struct seen {
	uint64_t last;
	int64_t last_created_ms;
	size_t count;
};

static void see(void *ctx, const struct stream_record *r)
{
	struct seen *s = ctx;

	assert_true(!s->count || r->sequence > s->last);
	s->last = r->sequence;
	s->last_created_ms = r->created_ms;
	s->count++;
}

static struct seen read_from(struct fixture *f, uint64_t from, uint64_t *next)
{
	const struct stream *st = table_of(f, "t")->stream;
	struct seen s = { 0 };
	struct error e = { 0 };
	uint64_t unused;

	if (!db_stream_read(f->db, &(struct stream_read){ st, stream_shard_of(st, SLICE("a")), from, 0, see, &s },
			    &f->arena, next ? next : &unused, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	return s;
}

static size_t records(struct fixture *f)
{
	return read_from(f, 0, NULL).count;
}

static size_t stored_records(struct fixture *f)
{
	struct slice prefix = layout_id(&f->arena, table_of(f, "t")->stream->id);
	struct store_iter *it =
		store_iter(&(struct store_at){ db_store(f->db), NULL, STORE_STREAM },
			   &(struct store_walk){ prefix, layout_after_prefix(&f->arena, prefix) }, &f->arena);
	size_t n = 0;

	while (store_iter_next(it))
		n++;
	store_iter_close(it);
	return n;
}

static void change(struct fixture *f)
{
	putf(f, "t", "{'pk':{'S':'a'},'n':{'N':'%llu'}}", (unsigned long long)db_stream_latest(f->db));
}

static void make_stream(struct fixture *f)
{
	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	change(f);
}

static void what_is_a_day_old_is_trimmed_and_nothing_else(void **state)
{
	struct fixture *f = *state;

	make_stream(f);
	work_for(f, 12 * HOUR_MS);
	change(f);
	work_for(f, 12 * HOUR_MS - 2 * MINUTE_MS);
	assert_int_equal(records(f), 2);
	work_for(f, 12 * MINUTE_MS);
	assert_int_equal(records(f), 1);
	assert_int_equal(stored_records(f), 1);
	work_for(f, 12 * HOUR_MS);
	assert_int_equal(stored_records(f), 0);
}

static void what_will_soon_be_trimmed_is_known(void **state)
{
	struct fixture *f = *state;
	uint64_t first;

	make_stream(f);
	first = db_stream_latest(f->db) - 1;
	work_for(f, 10 * HOUR_MS);
	change(f);
	jump(f, YEAR_MS);
	work_for(f, 9 * HOUR_MS);
	assert_int_equal(db_stream_aging(f->db), 0); /* a year by the wall clock, 19 hours at work */
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(db_stream_aging(f->db), first);
	assert_int_equal(records(f), 2);
	work_for(f, 10 * HOUR_MS);
	assert_int_equal(db_stream_aging(f->db), db_stream_latest(f->db) - 1);
}

static void a_jump_ahead_trims_nothing(void **state)
{
	struct fixture *f = *state;

	make_stream(f);
	work_for(f, HOUR_MS);
	jump(f, YEAR_MS);
	assert_int_equal(records(f), 1);
	change(f);
	work_for(f, 22 * HOUR_MS);
	assert_int_equal(records(f), 2);
	jump(f, -YEAR_MS);
	assert_int_equal(records(f), 2);
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(records(f), 1); /* the first one, after its day */
	work_for(f, HOUR_MS);
	assert_int_equal(stored_records(f), 0); /* and the one from the future after its */
}

static void what_comes_after_a_jump_ahead_and_back_is_trimmed_in_time(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	uint64_t future;

	make_stream(f);
	jump(f, 9 * YEAR_MS);
	change(f);
	future = db_stream_latest(f->db) - 1;
	jump(f, -9 * YEAR_MS);
	change(f);
	s = read_from(f, 0, NULL);
	assert_int_equal(s.count, 3);
	assert_true(s.last == future + 1); /* goes on rising, by counting */
	assert_int_equal(s.last_created_ms, f->now_ms);
	work_for(f, DAY_MS - 10 * MINUTE_MS);
	assert_int_equal(records(f), 3);
	work_for(f, 20 * MINUTE_MS);
	assert_int_equal(stored_records(f), 0);
	assert_verified(f);
}

static void a_busy_stream_is_trimmed_a_little_at_a_time(void **state)
{
	struct fixture *f = *state;

	make_stream(f);
	for (int i = 0; i < 26 * 60; i++) {
		change(f);
		work_for(f, MINUTE_MS);
		arena_clear(&f->arena);
	}
	assert_in_range(stored_records(f), 24 * 60, 24 * 60 + 7);
}

static void an_idle_database_writes_once_an_hour(void **state)
{
	struct fixture *f = *state;
	uint64_t batches;

	make_stream(f);
	work_for(f, DAY_MS + HOUR_MS);
	batches = db_metrics(f->db).batches;
	work_for(f, 3 * HOUR_MS);
	assert_int_equal(db_metrics(f->db).batches, batches + 3);
}

static void a_clock_set_back_keeps_nothing_longer(void **state)
{
	struct fixture *f = *state;

	make_stream(f);
	work_for(f, HOUR_MS);
	jump(f, -DAY_MS);
	work_for(f, 22 * HOUR_MS);
	assert_int_equal(records(f), 1);
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(stored_records(f), 0);
}

static void a_reader_goes_on_where_it_was(void **state)
{
	struct fixture *f = *state;
	uint64_t at = 0, latest;

	make_stream(f);
	assert_int_equal(read_from(f, at, &at).count, 1);
	for (int i = 0; i < 6; i++) {
		latest = db_stream_latest(f->db);
		if (i % 3 == 2)
			fixture_reopen(f);
		jump(f, i % 2 ? -YEAR_MS - DAY_MS : YEAR_MS);
		assert_true(db_stream_latest(f->db) == latest);
		assert_true(at >= db_stream_horizon(f->db, table_of(f, "t")->stream)); /* not trimmed */
		change(f);
		change(f);
		assert_int_equal(read_from(f, latest, NULL).count, 2);
		assert_int_equal(read_from(f, at, &at).count, 2);
		assert_int_equal(read_from(f, at, &at).count, 0);
	}
}

static void a_clock_out_of_its_mind_does_not_use_up_the_numbers(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	make_stream(f);
	before = db_stream_latest(f->db);
	f->now_ms = ((int64_t)1 << 42) - 1; /* in 2109 the milliseconds fill their bits */
	change(f);
	assert_true(db_stream_latest(f->db) == before + 1);
	f->now_ms = -1;
	change(f);
	assert_true(db_stream_latest(f->db) == before + 2);
	f->now_ms = FIXTURE_START_MS + HOUR_MS;
	change(f);
	assert_true(db_stream_latest(f->db) > before + HOUR_MS);
}

static void a_restart_in_the_wrong_year_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t latest;

	make_stream(f);
	work_for(f, 12 * HOUR_MS);
	f->now_ms += YEAR_MS;
	f->steady_ms = 0; /* another machine's, or this one's after booting */
	fixture_reopen(f);
	work_for(f, 2 * MINUTE_MS);
	assert_int_equal(records(f), 1);
	change(f);
	latest = db_stream_latest(f->db);
	f->now_ms -= YEAR_MS;
	f->steady_ms = 0;
	fixture_reopen(f);
	assert_true(db_stream_latest(f->db) == latest);
	change(f);
	work_for(f, 11 * HOUR_MS);
	assert_int_equal(records(f), 3);
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(records(f), 2);
	work_for(f, 12 * HOUR_MS);
	assert_int_equal(stored_records(f), 0);
	assert_verified(f);
}

static void a_day_off_forgets_nothing(void **state)
{
	struct fixture *f = *state;

	make_stream(f);
	work_for(f, HOUR_MS);
	f->now_ms += 7 * DAY_MS;
	f->steady_ms += 7 * DAY_MS; /* a machine that slept, or went on without us */
	(void)db_step(f->db);
	assert_int_equal(records(f), 1);
	fixture_reopen(f);
	f->now_ms += 7 * DAY_MS;
	f->steady_ms += 7 * DAY_MS;
	fixture_reopen(f);
	work_for(f, 22 * HOUR_MS);
	assert_int_equal(records(f), 1);
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(stored_records(f), 0);
}

/* What a process that is killed has done: here a child that leaves without closing. */
static void killed(struct fixture *f, void (*body)(struct fixture *))
{
	int status = 0;
	pid_t pid;

	arena_clear(&f->arena);
	db_close(f->db);
	f->db = NULL;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fixture_open(f);
		body(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	fixture_open(f);
}

static void write_in_the_future(struct fixture *f)
{
	f->now_ms += YEAR_MS;
	work_for(f, 10 * MINUTE_MS);
	change(f);
	work_for(f, 12 * HOUR_MS);
}

static void a_kill_in_the_wrong_year_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t latest;

	make_stream(f);
	latest = db_stream_latest(f->db);
	killed(f, write_in_the_future);
	assert_true(db_stream_latest(f->db) > latest + (uint64_t)YEAR_MS);
	latest = db_stream_latest(f->db);
	change(f);
	assert_true(db_stream_latest(f->db) == latest + 1);
	assert_int_equal(records(f), 3);
	work_for(f, 11 * HOUR_MS);
	assert_int_equal(records(f), 3);
	work_for(f, 2 * HOUR_MS); /* what the killed one had saved of its time counts */
	assert_int_equal(records(f), 1);
	work_for(f, 12 * HOUR_MS);
	assert_int_equal(stored_records(f), 0);
	assert_verified(f);
}

static void work_until_trimmed(struct fixture *f)
{
	for (int i = 0; i < 25 * 60 && stored_records(f); i++)
		work_for(f, MINUTE_MS);
}

/* A slow reader must get an error: the records it lacks were trimmed. */
static void a_kill_after_trimming_leaves_it_known_what_is_gone(void **state)
{
	struct fixture *f = *state;
	uint64_t last;

	make_stream(f);
	last = read_from(f, 0, NULL).last;
	work_for(f, 2 * MINUTE_MS); /* so that marks and saves fall on different minutes */
	killed(f, work_until_trimmed);
	assert_int_equal(stored_records(f), 0);
	assert_true(db_stream_horizon(f->db, table_of(f, "t")->stream) > last);
}

static void a_database_without_a_timeline_is_trimmed_a_day_later(void **state)
{
	struct fixture *f = *state;
	struct store_batch *b = store_batch_new();
	struct error e = { 0 };

	make_stream(f);
	jump(f, 9 * YEAR_MS);
	change(f);
	jump(f, -9 * YEAR_MS);
	store_batch_delete(b, db_store(f->db), STORE_META, SLICE("timeline")); /* as older versions left it */
	assert_true(store_write(db_store(f->db), b, true, &f->arena, &e));
	store_batch_free(b);
	fixture_reopen(f);
	work_for(f, 23 * HOUR_MS);
	assert_int_equal(records(f), 2);
	work_for(f, HOUR_MS + 10 * MINUTE_MS);
	assert_int_equal(stored_records(f), 0);
}

static void a_damaged_timeline_is_refused(void **state)
{
	struct fixture *f = *state;
	struct db_options o = { .dir = f->dir, .clock = &f->clock, .no_background = true };
	struct store_batch *b = store_batch_new();
	struct error e = { 0 };
	char why[256] = "";

	store_batch_put(b, db_store(f->db), STORE_META, SLICE("timeline"), SLICE("123456789 123456789 12345"));
	assert_true(store_write(db_store(f->db), b, true, &f->arena, &e));
	store_batch_free(b);
	db_close(f->db);
	assert_int_equal(db_open(&o, &f->db, why, sizeof(why)), STORE_DAMAGED);
	assert_string_equal(why, "The record of its own time is damaged.");
}

static void set_stream(struct fixture *f, enum stream_view view)
{
	struct table_change tc = { .has_stream = true, .stream = view };
	struct control c = { .kind = CONTROL_UPDATE_TABLE, .table = SLICE("t"), .change = &tc };

	run_control(f, &c);
}

static void streams_of_a_table_are_named_in_order(void **state)
{
	struct fixture *f = *state;
	const struct table *t;

	make_stream(f);
	set_stream(f, STREAM_NONE);
	jump(f, -YEAR_MS);
	set_stream(f, STREAM_KEYS_ONLY);
	t = table_of(f, "t");
	assert_true(slice_cmp(t->stream->label, t->closed_streams[0].label) > 0);
	assert_true(t->stream->created_ms > t->closed_streams[0].created_ms);
	work_for(f, DAY_MS + 10 * MINUTE_MS);
	assert_int_equal(table_of(f, "t")->closed_stream_count, 0);
}

/* ---- tokens ---- */

static bool is_replayed(struct fixture *f, const char *token)
{
	struct write_action w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'}}");
	struct write_request r = {
		.arena = &f->arena, .mode = REQUEST_ALL, .actions = &w, .action_count = 1, .token = slice_str(token)
	};

	db_submit_wait(f->db, &r);
	assert_int_equal(r.error.code, ERR_NONE);
	return r.replayed;
}

static void a_token_counts_for_ten_minutes_whatever_the_clock_does(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	assert_false(is_replayed(f, "one"));
	jump(f, YEAR_MS);
	assert_true(is_replayed(f, "one"));
	assert_false(is_replayed(f, "two"));
	fixture_reopen(f);
	assert_true(is_replayed(f, "one"));
	jump(f, -YEAR_MS - DAY_MS);
	assert_true(is_replayed(f, "one"));
	assert_true(is_replayed(f, "two"));
	work_for(f, 11 * MINUTE_MS);
	assert_false(is_replayed(f, "one"));
	assert_false(is_replayed(f, "two"));
}

/* ---- TTL ---- */

static void make_ttl_table(struct fixture *f)
{
	struct control c = {
		.kind = CONTROL_UPDATE_TTL, .table = SLICE("t"), .ttl_enable = true, .ttl_attribute = SLICE("ttl")
	};

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	run_control(f, &c);
	while (db_step(f->db))
		;
}

static void put_expiring(struct fixture *f, const char *pk, int64_t at)
{
	putf(f, "t", "{'pk':{'S':'%s'},'ttl':{'N':'%lld'}}", pk, (long long)at);
}

static bool is_there(struct fixture *f, const char *pk)
{
	return get(f, "t", arena_cstr(&f->arena, arena_printf(&f->arena, "{'pk':{'S':'%s'}}", pk)));
}

static void a_clock_briefly_ahead_deletes_nothing(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "soon", NOW_S + 120);
	put_expiring(f, "later", NOW_S + 30 * 86400);
	jump(f, YEAR_MS);
	work_for(f, 5 * MINUTE_MS);
	assert_false(is_there(f, "soon")); /* the time before goes on */
	assert_true(is_there(f, "later"));
	jump(f, DAY_MS); /* one more */
	work_for(f, 12 * MINUTE_MS);
	jump(f, -YEAR_MS - DAY_MS);
	work_for(f, DAY_MS);
	assert_true(is_there(f, "later"));
	work_for(f, 29 * DAY_MS);
	assert_false(is_there(f, "later"));
}

static void a_clock_that_stays_ahead_is_believed(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S + 30 * 86400);
	jump(f, YEAR_MS);
	work_for(f, TTL_HOLD_MS - MINUTE_MS);
	assert_true(is_there(f, "a"));
	work_for(f, 2 * MINUTE_MS);
	assert_false(is_there(f, "a"));
}

static void a_clock_set_back_expires_later(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S + 120);
	jump(f, -HOUR_MS);
	work_for(f, HOUR_MS);
	assert_true(is_there(f, "a"));
	jump(f, YEAR_MS);
	jump(f, -YEAR_MS - HOUR_MS); /* ahead before, and further back */
	work_for(f, 10 * MINUTE_MS);
	assert_true(is_there(f, "a"));
	work_for(f, HOUR_MS);
	assert_false(is_there(f, "a"));
}

static void a_machine_that_slept_long_waits_before_it_deletes(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S + 86400);
	work_for(f, 10 * MINUTE_MS);
	f->now_ms += YEAR_MS;
	f->steady_ms += YEAR_MS;
	work_for(f, 5 * MINUTE_MS);
	assert_true(is_there(f, "a"));
	work_for(f, 15 * MINUTE_MS);
	assert_false(is_there(f, "a"));
}

static void a_start_much_later_waits_before_it_deletes(void **state)
{
	struct fixture *f = *state;

	make_ttl_table(f);
	put_expiring(f, "a", NOW_S + 86400);
	work_for(f, 10 * MINUTE_MS);
	f->now_ms += YEAR_MS;
	for (int i = 0; i < 5; i++) { /* also when it is started again and again */
		fixture_reopen(f);
		work_for(f, 7 * MINUTE_MS);
		assert_true(is_there(f, "a"));
	}
	f->now_ms -= YEAR_MS; /* it was wrong */
	fixture_reopen(f);
	work_for(f, HOUR_MS);
	assert_true(is_there(f, "a"));
	f->now_ms += 2 * DAY_MS; /* it was right */
	fixture_reopen(f);
	work_for(f, 20 * MINUTE_MS);
	assert_false(is_there(f, "a"));
}

/* ---- what the log says ---- */

static char *log_of(void (*body)(struct fixture *), struct fixture *f)
{
	static char text[4096];
	FILE *to = tmpfile();
	int stderr_was = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(to);
	fflush(stderr);
	dup2(fileno(to), STDERR_FILENO);
	body(f);
	fflush(stderr);
	dup2(stderr_was, STDERR_FILENO);
	close(stderr_was);
	rewind(to);
	n = fread(text, 1, sizeof(text) - 1, to);
	text[n] = 0;
	fclose(to);
	return text;
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void go_ahead_and_back(struct fixture *f)
{
	work_for(f, 10 * MINUTE_MS);
	jump(f, YEAR_MS);
	work_for(f, 10 * MINUTE_MS);
	jump(f, -YEAR_MS);
	work_for(f, 10 * MINUTE_MS);
	jump(f, MINUTE_MS - 1);
	jump(f, -MINUTE_MS + 1);
}

static void sleep_a_night(struct fixture *f)
{
	f->now_ms += 8 * HOUR_MS;
	f->steady_ms += 8 * HOUR_MS;
	work_for(f, HOUR_MS);
}

static void start_before_the_end(struct fixture *f)
{
	f->now_ms -= 3 * HOUR_MS;
	fixture_reopen(f);
}

static void each_jump_is_one_line(void **state)
{
	struct fixture *f = *state;
	const char *text = log_of(go_ahead_and_back, f);

	assert_int_equal(lines_of(text), 2);
	assert_non_null(
		strstr(text, "the clock has jumped ahead by 365 days; TTL uses the time before the jump for 15 minutes"));
	assert_non_null(strstr(text, "the clock was set back by 365 days\n"));
	assert_string_equal(log_of(sleep_a_night, f), "");
	assert_non_null(strstr(log_of(start_before_the_end, f),
			       "the clock is 3:00:00 hours behind the time when this database last worked"));
}

int main(void)
{
#define TEST(name)      cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, setup_on_disk, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_a_day_old_is_trimmed_and_nothing_else),
		TEST(what_will_soon_be_trimmed_is_known),
		TEST(a_jump_ahead_trims_nothing),
		TEST(what_comes_after_a_jump_ahead_and_back_is_trimmed_in_time),
		TEST(a_busy_stream_is_trimmed_a_little_at_a_time),
		TEST(an_idle_database_writes_once_an_hour),
		TEST(a_clock_set_back_keeps_nothing_longer),
		DISK_TEST(a_reader_goes_on_where_it_was),
		TEST(a_clock_out_of_its_mind_does_not_use_up_the_numbers),
		DISK_TEST(a_restart_in_the_wrong_year_changes_nothing),
		DISK_TEST(a_day_off_forgets_nothing),
		DISK_TEST(a_kill_in_the_wrong_year_changes_nothing),
		DISK_TEST(a_kill_after_trimming_leaves_it_known_what_is_gone),
		DISK_TEST(a_database_without_a_timeline_is_trimmed_a_day_later),
		DISK_TEST(a_damaged_timeline_is_refused),
		TEST(streams_of_a_table_are_named_in_order),
		DISK_TEST(a_token_counts_for_ten_minutes_whatever_the_clock_does),
		TEST(a_clock_briefly_ahead_deletes_nothing),
		TEST(a_clock_that_stays_ahead_is_believed),
		TEST(a_clock_set_back_expires_later),
		TEST(a_machine_that_slept_long_waits_before_it_deletes),
		DISK_TEST(a_start_much_later_waits_before_it_deletes),
		DISK_TEST(each_jump_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
