/* The threads that send: in order, again and again, in the end aside; and where they go on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "send_helper.h"
#include "table/internal.h"

#define WEBHOOK "to: 'http://127.0.0.1:%d/hook'"
#define SEARCH  "opensearch: 'http://127.0.0.1:%d/notes'"

static struct send_runner *runner;
static struct ledger ledger; /* of the runner since its start */

static int setup(void **state)
{
	(void)state;
	receiver_start();
	return 0;
}

static void stop_runner(void)
{
	send_runner_stop(runner);
	send_runner_free(runner);
	runner = NULL;
}

static int teardown(void **state)
{
	(void)state;
	stop_runner();
	app_fixture_close(&f);
	receiver_stop();
	return 0;
}

static void start_runner(void)
{
	ledger_release(&ledger);
	ledger_init(&ledger, SLICE("test"), processor()->name);
	runner = send_runner_new(&f.app, processor(), NULL, &ledger);
	assert_non_null(runner);
	assert_true(send_runner_start(runner));
}

static void open_runner(const char *send, const char *when)
{
	open_notes(send, when);
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	start_runner();
}

struct status {
	uint64_t done, retries;
	int64_t parked, lag_ms;
	bool paused;
};

static struct status status(void)
{
	return (struct status){ .done = atomic_load(&ledger.done),
				.retries = atomic_load(&ledger.retries),
				.parked = atomic_load(&ledger.parked),
				.lag_ms = send_runner_lag_ms(runner),
				.paused = send_runner_is_paused(runner) };
}

static int n_of(size_t i)
{
	const char *new = strstr(receiver.list[i].body, "\"new\":"), *n = new ? strstr(new, "\"n\":") : NULL;

	return n ? (int)strtol(n + 4, NULL, 10) : -1;
}

static size_t parked(struct parked **out)
{
	struct parked_page page;

	assert_true(checkpoint_parked(app_fixture_run(&f, "!"), SLICE("tell"), SLICE(""), 100, &page));
	*out = page.list;
	return page.count;
}

/* ---- tests ---- */

static void changes_of_an_item_arrive_in_order(void **state)
{
	static const char *const owners[] = { "alice", "bob", "carol", "dave", "erin" };
	int last[5] = { 0 };

	(void)state;
	open_runner(WEBHOOK, "");
	for (int n = 1; n <= 20; n++)
		for (size_t i = 0; i < 5; i++)
			put_note(owners[i], "a", n);
	wait_until(receiver_count() == 100);
	for (size_t i = 0; i < 100; i++)
		for (size_t k = 0; k < 5; k++)
			if (strstr(receiver.list[i].body, owners[k])) {
				assert_int_equal(n_of(i), last[k] + 1);
				last[k]++;
			}
	wait_until(status().done == 100 && !status().lag_ms);
	assert_int_equal(status().retries, 0);
}

static void only_matching_changes_are_sent(void **state)
{
	(void)state;
	open_runner(WEBHOOK, "    when: n > 2 and n <> old.n\n");
	for (int n = 1; n <= 3; n++)
		put_note("alice", "a", n);
	put_note("alice", "a", 3);
	put_note("alice", "a", 4);
	wait_until(receiver_count() == 2);
	assert_int_equal(n_of(0), 3);
	assert_int_equal(n_of(1), 4);
}

static int64_t two_days_ahead(void *ctx)
{
	(void)ctx;
	return clock_now_ms(&clock_system) + 48 * 3600 * INT64_C(1000);
}

static void a_clock_that_jumps_takes_no_tries_away(void **state)
{
	static const struct clock ahead = { .now_ms = two_days_ahead };

	(void)state;
	for (int i = 0; i < 3; i++)
		receiver_then(receiver_reply("500 Sorry", "", ""));
	open_notes(WEBHOOK, "");
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	put_note("alice", "a", 1);
	f.app.clock = &ahead;
	start_runner();
	wait_until(status().done == 1);
	assert_int_equal(receiver_count(), 4);
	assert_int_equal(status().parked, 0);
}

/* By the stream's own time, which counts how long the database has been open. */
static void a_change_about_to_be_trimmed_is_tried_once(void **state)
{
	struct parked *list;

	(void)state;
	receiver_then(receiver_reply("500 Sorry", "", ""));
	open_notes(WEBHOOK, "");
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	put_note("alice", "a", 1);
	atomic_store(&f.db->stream_aging, api_stream_latest(f.api));
	start_runner();
	wait_until(status().parked == 1);
	assert_int_equal(parked(&list), 1);
	assert_int_equal(list[0].tries, 1);
}

static void a_refused_change_is_sent_again_before_later_ones(void **state)
{
	char *first, *again;

	(void)state;
	receiver_then(receiver_reply("500 Sorry", "", ""));
	receiver_then(strdup("garbage"));
	receiver_then(receiver_reply("429 Slow down", "Retry-After: 2\r\n", ""));
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	put_note("alice", "a", 2);
	wait_until(receiver_count() == 5);
	first = received_header(&receiver.list[0], "Thorpe-Id");
	again = received_header(&receiver.list[3], "Thorpe-Id");
	assert_string_equal(first, again);
	assert_int_equal(n_of(3), 1);
	assert_int_equal(n_of(4), 2);
	wait_until(status().done == 2);
	assert_int_equal(status().retries, 3);
	assert_int_equal(status().parked, 0);
	free(first);
	free(again);
}

static void after_the_last_try_a_change_is_parked_and_the_next_one_sent(void **state)
{
	struct parked *list;

	(void)state;
	for (int i = 0; i < SEND_TRIES; i++)
		receiver_then(receiver_reply("500 Sorry", "", ""));
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	put_note("alice", "a", 2);
	wait_until(status().done == 1);
	assert_int_equal(receiver_count(), SEND_TRIES + 1);
	assert_int_equal(parked(&list), 1);
	assert_int_equal(list[0].tries, SEND_TRIES);
	assert_string_equal(arena_cstr(&f.arena, list[0].reason), "the receiver answered 500");
	assert_int_equal(status().parked, 1);
}

static void a_parked_change_can_be_sent_by_hand(void **state)
{
	struct run *r;
	struct parked *list;

	(void)state;
	receiver_then(receiver_reply("410 Gone", "", ""));
	receiver_then(receiver_reply("503 Later", "", ""));
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	wait_until(status().parked == 1);
	assert_int_equal(parked(&list), 1);
	assert_int_equal(list[0].tries, 1);
	r = app_fixture_run(&f, "!");
	assert_false(send_parked(r, processor(), &list[0]));
	assert_int_equal(r->problem.type, PROBLEM_BUSY);
	r = app_fixture_run(&f, "!");
	assert_true(send_parked(r, processor(), &list[0]));
	assert_int_equal(n_of(2), 1);
	assert_null(strstr(receiver.list[2].body, "a@b.c")); /* though an operator asked */
	list[0].cut = true;
	assert_false(send_parked(r, processor(), &list[0]));
}

static void a_restart_goes_on_where_it_was(void **state)
{
	(void)state;
	open_runner(WEBHOOK, "");
	for (int n = 1; n <= 3; n++)
		put_note("alice", "a", n);
	wait_until(receiver_count() == 3);
	stop_runner();
	receiver_forget();
	put_note("alice", "a", 4);
	put_note("bob", "a", 5);
	start_runner();
	wait_until(status().done == 2);
	assert_int_equal(receiver_count(), 2);
	assert_int_equal(n_of(0) + n_of(1), 9);
}

static void a_change_refused_before_a_restart_is_sent_after_it(void **state)
{
	(void)state;
	receiver_answer("500 Sorry", "", "");
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	wait_until(receiver_count() > 1);
	stop_runner();
	receiver_forget();
	receiver_answer("200 OK", "", "");
	start_runner();
	wait_until(status().done == 1);
	assert_int_equal(n_of(0), 1);
}

static void switch_to(bool paused, int64_t replay_from_ms)
{
	struct processor_switch s = { .paused = paused, .replay_from_ms = replay_from_ms };

	assert_true(checkpoint_set_switch(app_fixture_run(&f, "!"), SLICE("tell"), &s));
	send_runner_wake(runner);
}

static void a_paused_one_waits_and_says_how_long(void **state)
{
	(void)state;
	open_runner(WEBHOOK, "");
	switch_to(true, 0);
	wait_until(status().paused);
	put_note("alice", "a", 1);
	wait_until(status().lag_ms > 0);
	assert_int_equal(receiver_count(), 0);
	switch_to(false, 0);
	wait_until(receiver_count() == 1);
}

static void a_replay_sends_the_streams_changes_again(void **state)
{
	struct processor_switch s;

	(void)state;
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	put_note("bob", "a", 2);
	wait_until(status().done == 2);
	switch_to(false, 1000);
	wait_until(status().done == 4);
	assert_true(checkpoint_switch(app_fixture_run(&f, "!"), SLICE("tell"), &s));
	assert_int_equal(s.replay_from_ms, 0);
}

static void a_replay_skips_older_changes(void **state)
{
	int64_t from;

	(void)state;
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	wait_until(status().done == 1);
	from = (clock_now_ms(&clock_system) / 1000 + 1) * 1000; /* times in a stream may be whole seconds */
	wait_until(clock_now_ms(&clock_system) > from);
	put_note("alice", "a", 2);
	wait_until(status().done == 2);
	switch_to(false, from);
	wait_until(status().done == 3);
	put_note("alice", "a", 3);
	wait_until(status().done == 4);
	assert_int_equal(n_of(2), 2);
	assert_int_equal(n_of(3), 3);
}

static void a_receiver_that_hangs_does_not_hold_up_the_end(void **state)
{
	int64_t started;

	(void)state;
	receiver.hangs = true;
	open_runner(WEBHOOK, "");
	put_note("alice", "a", 1);
	wait_until(receiver_count() == 1);
	started = clock_monotonic_us();
	stop_runner();
	assert_true(clock_monotonic_us() - started < 5000000); /* of ten */
}

/* ---- OpenSearch ---- */

static int full; /* so many items are refused with 429 */

static char *answer_bulk(const struct received *q)
{
	char *items = strdup(""), *longer;
	bool errors = false;

	for (const char *at = q->body, *end; (end = strchr(at, '\n')); at = end + 1) {
		bool index = !strncmp(at, "{\"index\"", 8), gone = !strncmp(at, "{\"delete\"", 9), refused;

		if (!index && !gone)
			continue;
		refused = full > 0 && full--;
		errors |= refused;
		if (asprintf(&longer, "%s%s{\"%s\":{\"status\":%d}}", items, *items ? "," : "",
			     index ? "index" : "delete", refused ? 429 : 200) < 0)
			abort();
		free(items);
		items = longer;
	}
	if (asprintf(&longer, "{\"errors\":%s,\"items\":[%s]}", errors ? "true" : "false", items) < 0)
		abort();
	free(items);
	return longer;
}

static void many_changes_go_in_one_request(void **state)
{
	(void)state;
	receiver.make = answer_bulk;
	open_notes(SEARCH, "");
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	for (int n = 0; n < 200; n++)
		put_note("alice", "a", n);
	delete_note("alice", "a");
	start_runner();
	wait_until(status().done == 201);
	assert_int_equal(receiver_count(), 1);
}

static void only_those_that_were_not_taken_go_again(void **state)
{
	(void)state;
	receiver.make = answer_bulk;
	full = 2;
	open_notes(SEARCH, "");
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	for (int n = 1; n <= 5; n++)
		put_note("alice", "a", n);
	start_runner();
	wait_until(status().done == 5);
	assert_int_equal(receiver_count(), 2);
	assert_non_null(strstr(receiver.list[1].body, "\"n\":1"));
	assert_non_null(strstr(receiver.list[1].body, "\"n\":2"));
	assert_null(strstr(receiver.list[1].body, "\"n\":3"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(changes_of_an_item_arrive_in_order),
		TEST(only_matching_changes_are_sent),
		TEST(a_refused_change_is_sent_again_before_later_ones),
		TEST(after_the_last_try_a_change_is_parked_and_the_next_one_sent),
		TEST(a_parked_change_can_be_sent_by_hand),
		TEST(a_restart_goes_on_where_it_was),
		TEST(a_change_refused_before_a_restart_is_sent_after_it),
		TEST(a_paused_one_waits_and_says_how_long),
		TEST(a_replay_sends_the_streams_changes_again),
		TEST(a_clock_that_jumps_takes_no_tries_away),
		TEST(a_change_about_to_be_trimmed_is_tried_once),
		TEST(a_replay_skips_older_changes),
		TEST(a_receiver_that_hangs_does_not_hold_up_the_end),
		TEST(many_changes_go_in_one_request),
		TEST(only_those_that_were_not_taken_go_again),
	};

	setenv(SEND_RETRY_ENV, "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
