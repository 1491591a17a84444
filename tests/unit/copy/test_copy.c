/* Copying: stopped at every call, shards in order, iterators that expire, streams that are trimmed, and the state.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include "base/clock.h"
#include "copy_helper.h"

#define ITEMS 60

static const char *key_of(struct fixture *f, int i)
{
	return arena_cstr(&f->arena, arena_printf(&f->arena, "k%d", i));
}

static void fill(struct fixture *f)
{
	for (int i = 0; i < ITEMS; i++)
		put(f, &f->from, key_of(f, i), i);
}

static enum copy_end run(struct fixture *f, enum copy_mode mode)
{
	f->o.mode = mode;
	return copy_run(&f->o, &f->report);
}

static void must_be_done(struct fixture *f)
{
	enum copy_end end = run(f, COPY_SWITCH);

	if (end != COPY_DONE)
		fail_msg("it ended with %d: %s", end, f->report.why);
}

/* ---- stopped anywhere ---- */

/* Changes between two runs: of items that were copied, and of others. */
static void change_some(struct fixture *f, int round)
{
	for (int i = 0; i < 5; i++)
		put(f, &f->from, key_of(f, (round * 7 + i * 11) % ITEMS), 1000 + round);
	drop(f, &f->from, key_of(f, (round * 3) % ITEMS));
	put(f, &f->from, key_of(f, ITEMS + round % 5), round);
}

static const struct json *state_of(struct fixture *f)
{
	return json_get(ask(f, &f->to, "GetItem",
			    "{\"TableName\":\"" TABLE
			    ".thorpe\",\"Key\":{\"PK\":{\"S\":\"COPY\"},\"SK\":{\"S\":\"state\"}}}"),
			"Item");
}

static bool is_there(struct fixture *f, const char *table)
{
	const struct json *names = json_get(ask(f, &f->to, "ListTables", "{}"), "TableNames");

	for (size_t i = 0; i < names->count; i++)
		if (slice_is(names->items[i].string, table))
			return true;
	return false;
}

/* The last thing that was done was to say so, and that was not heard. */
static bool has_switched(struct fixture *f)
{
	return is_there(f, TABLE ".thorpe") && slice_is(json_get_text(json_get(state_of(f), "phase"), "S"), "switched");
}

static void stop_at_each_call(struct fixture *f, struct side_of *of, bool after)
{
	bool ended = false;

	for (int n = 1; !ended; n += n < 10 ? 1 : 3) { /* each takes a while: those that fail wait for an answer */
		enum copy_end end;

		side_close(&f->to);
		side_open(&f->to);
		of->dies_at = n;
		of->dies_after = after;
		atomic_store(&of->calls, 0);
		end = run(f, COPY_SWITCH);
		ended = end == COPY_DONE;
		if (!ended && end != COPY_FAILED)
			fail_msg("call %d: it ended with %d: %s", n, end, f->report.why);
		of->dies_at = 0;
		if (ended)
			break;
		if (!has_switched(f))
			change_some(f, n);
		if (copy_run(&f->o, &f->report) != COPY_DONE)
			fail_msg("after call %d: %s", n, f->report.why);
		assert_same(f);
		arena_clear(&f->arena);
		assert_true(n < 2000);
	}
}

static void wherever_the_target_is_gone_it_goes_on(void **state)
{
	struct fixture *f = *state;

	fill(f);
	stop_at_each_call(f, &f->to, false);
}

static void wherever_a_reply_of_the_target_is_lost_it_goes_on(void **state)
{
	struct fixture *f = *state;

	fill(f);
	stop_at_each_call(f, &f->to, true);
}

static void wherever_the_source_is_gone_it_goes_on(void **state)
{
	struct fixture *f = *state;

	fill(f);
	stop_at_each_call(f, &f->from, false);
}

/* The state is saved right after what was not written: it must not say that it was. */
static void what_is_refused_is_written_by_the_next_run(void **state)
{
	struct fixture *f = *state;

	fill(f);
	/* The other threads may have written all the rest meanwhile: then the run is done. */
	for (int n = 1; n <= 3; n++) {
		atomic_store(&f->to.refuses_in, n);
		if (run(f, COPY_SWITCH) == COPY_FAILED)
			continue;
		assert_int_not_equal(n, 1);
		break;
	}
	atomic_store(&f->to.refuses_in, 0);
	must_be_done(f);
	assert_same(f);

	side_close(&f->to);
	side_open(&f->to);
	f->o.from.is_directory = false;
	assert_int_equal(run(f, COPY_ONCE), COPY_CAUGHT_UP);
	for (int n = 1; n <= 3; n++) {
		change_some(f, n);
		atomic_store(&f->to.refuses_in, n);
		while (run(f, COPY_ONCE) != COPY_FAILED)
			change_some(f, n + 10);
	}
	f->o.from.is_directory = true;
	must_be_done(f);
	assert_same(f);
}

/* ---- a stream that is played ---- */

#define OLD    "shardId-00000000000000000001-00000001"
#define PARENT "shardId-00000000000000000002-00000002"
#define CHILD  "shardId-00000000000000000003-00000003"

static bool mentions(struct slice body, const char *text)
{
	return memmem(body.p, body.n, text, strlen(text)) != NULL;
}

static void records(struct arena *a, struct backend_reply *r, const char *key, int v, const char *sequence,
		    const char *next)
{
	answer(a, r, 200, "",
	       arena_cstr(a,
			  arena_printf(a,
				       "{\"Records\":[{\"eventName\":\"MODIFY\",\"dynamodb\":{\"Keys\":{\"k\":{\"S\":\"%s\"}},\"NewImage\":{\"k\":{\"S\":\"%s\"},\"v\":{\"N\":\"%d\"}},"
				       "\"SequenceNumber\":\"%s\",\"ApproximateCreationDateTime\":%lld}}]%s%s%s}",
				       key, key, v, sequence, (long long)(clock_now_ms(&clock_system) / 1000),
				       next ? ",\"NextShardIterator\":\"" : "", next ? next : "", next ? "\"" : "")));
}

static void nap(int ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000L };

	nanosleep(&t, NULL);
}

/* The child is listed first, and has its change at once; the parent has two pages, and its iterator expires between
 * them. The second one takes long, so that a child that does not wait is done before. */
static bool play_family(struct side_of *s, struct arena *a, const char *operation, struct slice body,
			struct backend_reply *r)
{
	int step = atomic_load(&s->played);

	if (!strcmp(operation, "DescribeStream")) {
		answer(a, r, 200, "",
		       step == 0 ? "{\"StreamDescription\":{\"Shards\":[{\"ShardId\":\"" OLD
				   "\",\"SequenceNumberRange\":{\"StartingSequenceNumber\":\"1\","
				   "\"EndingSequenceNumber\":\"2\"}},{\"ShardId\":\"" PARENT
				   "\",\"ParentShardId\":\"" OLD "\",\"SequenceNumberRange\":{}}]}}"
				 : "{\"StreamDescription\":{\"Shards\":[{\"ShardId\":\"" CHILD
				   "\",\"ParentShardId\":\"" PARENT "\",\"SequenceNumberRange\":{}},"
				   "{\"ShardId\":\"" PARENT "\",\"ParentShardId\":\"" OLD
				   "\",\"SequenceNumberRange\":{\"EndingSequenceNumber\":\"20\"}}]}}");
		return true;
	}
	if (!strcmp(operation, "GetShardIterator")) {
		assert_false(mentions(body, OLD)); /* it was closed when the copy began */
		if (mentions(body, CHILD))
			answer(a, r, 200, "", "{\"ShardIterator\":\"child\"}");
		else if (mentions(body, "\"10\""))
			answer(a, r, 200, "", "{\"ShardIterator\":\"parent after 10\"}");
		else
			answer(a, r, 200, "", "{\"ShardIterator\":\"parent\"}");
		return true;
	}
	if (strcmp(operation, "GetRecords") != 0)
		return false;
	if (step == 0) /* before the scan */
		answer(a, r, 200, "", "{\"Records\":[],\"NextShardIterator\":\"parent\"}");
	else if (mentions(body, "child end"))
		answer(a, r, 200, "", "{\"Records\":[],\"NextShardIterator\":\"child end\"}");
	else if (mentions(body, "child")) {
		atomic_store(&s->child, 1);
		records(a, r, "k1", 3, "30", "child end");
	} else if (mentions(body, "expired"))
		answer(a, r, 400, "ExpiredIteratorException", "{}");
	else if (mentions(body, "parent after 10")) {
		for (int i = 0; i < 40 && !atomic_load(&s->child); i++)
			nap(10);
		if (atomic_load(&s->child))
			nap(100);
		records(a, r, "k1", 2, "20", NULL);
	} else
		records(a, r, "k1", 1, "10", "expired");
	atomic_store(&s->played, 1);
	return true;
}

static void changes_of_a_parent_come_before_those_of_its_child(void **state)
{
	struct fixture *f = *state;

	put(f, &f->from, "k1", 3);
	f->from.play = play_family;
	f->o.parallel = 4;
	if (run(f, COPY_SWITCH) != COPY_DONE)
		fail_msg("%s", f->report.why);
	assert_int_equal(get(f, &f->to, "k1"), 3);
	assert_int_equal(f->report.last.changes, 3);
}

/* ---- trimmed ---- */

/* All shards of the state as if they had been read so long ago, and up to this number (NULL: as it was). */
static void age(struct fixture *f, int64_t hours, bool without_sequence)
{
	struct job j = { .o = &f->o, .table = f->o.table };
	enum state_found found;
	struct buf b;

	pthread_mutex_init(&j.lock, NULL);
	snprintf(j.source, sizeof(j.source), "%.*s", SLICE_ARG(json_get_text(json_get(state_of(f), "source"), "S")));
	snprintf(j.label, sizeof(j.label), "%.*s", SLICE_ARG(json_get_text(json_get(state_of(f), "stream"), "S")));
	assert_true(copy_state_take(&j, state_of(f), &found));
	assert_int_equal(found, STATE_OURS);
	assert_non_null(j.shards);
	for (struct source_shard *s = j.shards; s; s = s->next) {
		s->reached_ms -= hours * 3600000;
		if (without_sequence)
			s->sequence[0] = 0;
	}
	buf_init(&b, &f->arena);
	copy_state_put_item(&b, &j, "");
	ask(f, &f->to, "PutItem", "{\"TableName\":\"" TABLE ".thorpe\",\"Item\":%.*s}", SLICE_ARG(buf_slice(&b)));
	copy_job_release(&j);
}

static enum copy_end caught_up(struct fixture *f)
{
	f->o.from.is_directory = false;
	return run(f, COPY_ONCE);
}

static void a_day_later_without_a_position_it_begins_again_and_sweeps(void **state)
{
	struct fixture *f = *state;

	fill(f);
	assert_int_equal(caught_up(f), COPY_CAUGHT_UP);
	age(f, 25, true);
	put(f, &f->to, "not at the source", 1);
	f->o.from.is_directory = true;
	must_be_done(f);
	assert_non_null(strstr(f->said, "has forgotten changes"));
	assert_int_equal(get(f, &f->to, "not at the source"), -1);
	assert_int_equal(f->report.last.removed, 1);
	assert_same(f);
}

static void an_hour_later_it_goes_on_also_without_a_position(void **state)
{
	struct fixture *f = *state;

	fill(f);
	assert_int_equal(caught_up(f), COPY_CAUGHT_UP);
	age(f, 1, true);
	change_some(f, 1);
	f->o.from.is_directory = true;
	must_be_done(f);
	assert_null(strstr(f->said, "starts over"));
	assert_same(f);
}

/* The first position is said to be trimmed. */
static bool play_trimmed(struct side_of *s, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *r)
{
	if (strcmp(operation, "GetShardIterator") != 0 || !mentions(body, "AFTER_SEQUENCE") ||
	    atomic_load(&s->played) >= 4)
		return false;
	atomic_fetch_add(&s->played, 1);
	answer(a, r, 400, "TrimmedDataAccessException", "{}");
	return true;
}

static void a_trimmed_position_is_no_loss_within_a_day(void **state)
{
	struct fixture *f = *state;

	fill(f);
	assert_int_equal(caught_up(f), COPY_CAUGHT_UP);
	change_some(f, 1);
	f->from.play = play_trimmed;
	f->o.from.is_directory = true;
	must_be_done(f);
	assert_int_equal(atomic_load(&f->from.played), 4);
	assert_null(strstr(f->said, "starts over"));
	assert_same(f);
}

static void a_trimmed_position_is_a_loss_after_a_day(void **state)
{
	struct fixture *f = *state;

	fill(f);
	assert_int_equal(caught_up(f), COPY_CAUGHT_UP);
	age(f, 25, false);
	f->from.play = play_trimmed;
	f->o.from.is_directory = true;
	must_be_done(f);
	assert_non_null(strstr(f->said, "starts over"));
	assert_same(f);
}

/* ---- the state ---- */

static void the_state_is_what_it_was(void **state)
{
	struct fixture *f = *state;
	struct job a = { .o = &f->o, .table = f->o.table, .phase = COPY_SCANNING, .sweeps = true },
		   b = { .o = &f->o, .table = f->o.table };
	struct source_shard shard = { .id = (char *)PARENT,
				      .parent = (char *)OLD,
				      .sequence = "00123",
				      .reached_ms = 1234567890123,
				      .is_old = true };
	struct segment segments[3] = { { .done = true }, { .at = (char *)"{\"k\":{\"S\":\"\\u0000\\\"x\"}}" }, { 0 } };
	enum state_found found;
	struct buf out;

	pthread_mutex_init(&a.lock, NULL);
	pthread_mutex_init(&b.lock, NULL);
	snprintf(a.source, sizeof(a.source), "table-1");
	snprintf(b.source, sizeof(b.source), "table-1");
	a.shards = &shard;
	a.segments = segments;
	a.segment_count = 3;
	atomic_store(&a.items, 77);
	buf_init(&out, &f->arena);
	copy_state_put_item(&out, &a, "me");
	assert_true(copy_state_take(&b, json_parse(&f->arena, buf_slice(&out)), &found));
	assert_int_equal(found, STATE_OURS);
	assert_int_equal(b.phase, COPY_SCANNING);
	assert_true(b.sweeps);
	assert_int_equal(atomic_load(&b.items), 77);
	assert_int_equal(b.segment_count, 3);
	assert_true(b.segments[0].done && !b.segments[1].done && !b.segments[2].at);
	assert_string_equal(b.segments[1].at, segments[1].at);
	assert_string_equal(b.shards->id, PARENT);
	assert_string_equal(b.shards->parent, OLD);
	assert_string_equal(b.shards->sequence, "00123");
	assert_int_equal(b.shards->reached_ms, 1234567890123);
	assert_true(b.shards->is_old && !b.shards->ended && !b.shards->next);
	copy_job_release(&b);

	b = (struct job){ .o = &f->o, .table = f->o.table, .source = "table-2" };
	pthread_mutex_init(&b.lock, NULL);
	assert_true(copy_state_take(&b, json_parse(&f->arena, buf_slice(&out)), &found));
	assert_int_equal(found, STATE_OTHER);
	assert_true(copy_state_take(&b, json_parse(&f->arena, SLICE("{\"layout\":{\"N\":\"2\"}}")), &found));
	assert_int_equal(found, STATE_NEWER);
	copy_job_release(&b);
}

static void of_the_runtimes_table_only_state_of_the_data_is_copied(void **state)
{
	/* clang-format off */
	static const struct { const char *pk, *sk; bool goes; } items[] = {
		{ "DELETING#User", "id=1", true }, { "PARKED#feed", "123", true }, { "PROCESSOR", "feed", true }, { "REPLY#ab", "-", true },
		{ "LOGIN#ab", "-", true }, { "SECRET", "token", true }, { "POSITION#feed", "retry#123", true }, { "later", "?", true },
		{ "POSITION#feed", PARENT, false }, { "POSITION#keeper", "seen#" PARENT, false }, { "ENDED", PARENT, false },
		{ "ENDED#feed", PARENT, false }, { "LEASE", "server#x", false }, { "COPY", "state", false },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		assert_int_equal(copy_beside_goes_along(slice_str(items[i].pk), slice_str(items[i].sk)), items[i].goes);
}

static void a_pace_is_kept(void **state)
{
	struct fixture *f = *state;
	int64_t began = clock_monotonic_us();

	fill(f);
	f->o.units = ITEMS / 2; /* a second's worth at once, the other in a second */
	must_be_done(f);
	assert_true(clock_monotonic_us() - began > 700000);
}

static void the_target_has_neither_stream_nor_ttl_until_the_switch(void **state)
{
	struct fixture *f = *state;
	const struct json *table;

	fill(f);
	ask(f, &f->from, "UpdateTimeToLive",
	    "{\"TableName\":\"" TABLE "\",\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":\"e\"}}");
	ask(f, &f->to, "CreateTable", CREATE);
	ask(f, &f->to, "UpdateTimeToLive",
	    "{\"TableName\":\"" TABLE "\",\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":\"e\"}}");
	assert_int_equal(caught_up(f), COPY_CAUGHT_UP);
	table = json_get(ask(f, &f->to, "DescribeTable", "{\"TableName\":\"" TABLE "\"}"), "Table");
	assert_null(json_get(table, "StreamSpecification"));
	table = json_get(ask(f, &f->to, "DescribeTimeToLive", "{\"TableName\":\"" TABLE "\"}"), "TimeToLiveDescription");
	assert_true(slice_is(json_get_text(table, "TimeToLiveStatus"), "DISABLED"));
	f->o.from.is_directory = true;
	must_be_done(f);
	table = json_get(ask(f, &f->to, "DescribeTable", "{\"TableName\":\"" TABLE "\"}"), "Table");
	assert_true(slice_is(json_get_text(json_get(table, "StreamSpecification"), "StreamViewType"), "NEW_IMAGE"));
	table = json_get(ask(f, &f->to, "DescribeTimeToLive", "{\"TableName\":\"" TABLE "\"}"), "TimeToLiveDescription");
	assert_true(slice_is(json_get_text(table, "TimeToLiveStatus"), "ENABLED"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(wherever_the_target_is_gone_it_goes_on),
		TEST(wherever_a_reply_of_the_target_is_lost_it_goes_on),
		TEST(wherever_the_source_is_gone_it_goes_on),
		TEST(what_is_refused_is_written_by_the_next_run),
		TEST(changes_of_a_parent_come_before_those_of_its_child),
		TEST(a_day_later_without_a_position_it_begins_again_and_sweeps),
		TEST(an_hour_later_it_goes_on_also_without_a_position),
		TEST(a_trimmed_position_is_no_loss_within_a_day),
		TEST(a_trimmed_position_is_a_loss_after_a_day),
		TEST(the_state_is_what_it_was),
		TEST(of_the_runtimes_table_only_state_of_the_data_is_copied),
		TEST(a_pace_is_kept),
		TEST(the_target_has_neither_stream_nor_ttl_until_the_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
