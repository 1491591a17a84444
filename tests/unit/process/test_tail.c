/* The one reader of streams: what it hands out whatever the stream does, in which order shards are read, and positions
 * as texts. SPDX-License-Identifier: Apache-2.0 */
#include "fake_stream.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "process/live/live_stream.h"

static const char design[] =
	"entities:\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', kind: string}\n"
	"    keys: {PK: 'N#<id>', SK: N}\n"
	"  Kind:\n"
	"    path: /kinds/<name>\n"
	"    attributes: {name: 'string, required, fixed', notes: counter}\n"
	"    keys: {PK: 'K#<name>', SK: K}\n"
	"processors:\n"
	"  tally: {on: Note created, count: Kind(kind).notes by 1}\n"; /* its positions are near the end */

static struct app_fixture f;
static struct run *r;
static struct tail tail;
static struct tail_cursor cursor;
static struct change_page page;

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, design);
	r = app_fixture_run(&f, "!");
	r->backend = &fake_backend;
	fake = (struct fake){ .page = 3, .latest = 1 };
	fake_add("s1", NULL);
	memset(&cursor, 0, sizeof(cursor));
	assert_true(tail_init(&tail, &fake_database, SLICE("arn:stream"), SLICE("s1")));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tail_release(&tail);
	app_fixture_close(&f);
	return 0;
}

static void write_to(int shard, int first, int last)
{
	for (int i = first; i <= last; i++)
		fake_write(&fake.shards[shard], i);
}

static enum tail_found read_on(void)
{
	r->problem = (struct problem){ 0 };
	tail.next_us = tail.quiet_us = 0;
	return tail_read(&tail, &cursor, r, &page);
}

static void assert_page(int first, int last)
{
	assert_int_equal(page.count, last - first + 1);
	for (int i = first; i <= last; i++)
		assert_string_equal(arena_cstr(&f.arena, page.list[i - first].sequence),
				    arena_printf(&f.arena, "%d%c", i, 0).p);
}

/* ---- a shard from a place on ---- */

static void records_after_the_position_come_in_order_once(void **state)
{
	(void)state;
	write_to(0, 1, 5);
	cursor_set(&cursor, SLICE("1"));
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(2, 4);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(5, 5);
	assert_int_equal(read_on(), TAIL_END);
	assert_true(spot_is(&cursor.at, SLICE("5")));
	assert_int_equal(fake.iterators, 1);
}

static void repeated_records_come_once(void **state)
{
	(void)state;
	write_to(0, 1, 5);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(1, 3);
	fake.repeating = 2;
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(4, 5);
	fake.repeating = 1;
	write_to(0, 6, 6);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(6, 6);
	fake.repeating = 1000;
	assert_int_equal(read_on(), TAIL_LATER); /* not for ever, and not as if that were the end */
	fake.repeating = 0;
	assert_int_equal(read_on(), TAIL_END);
}

static void an_expired_iterator_is_taken_again_after_the_last_record(void **state)
{
	(void)state;
	write_to(0, 1, 5);
	assert_int_equal(read_on(), TAIL_FOUND);
	fake.era++;
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(4, 5);
	assert_false(page.trimmed);
}

static void a_failed_reading_moves_nothing_and_is_tried_later_and_later(void **state)
{
	int64_t waits[3], now;

	(void)state;
	write_to(0, 1, 2);
	for (int i = 0; i < 3; i++) {
		fake.failing = 1;
		cursor.iterator[0] = 0;
		assert_int_equal(read_on(), TAIL_LATER);
		now = clock_monotonic_us();
		waits[i] = tail_next_us(&tail, &cursor) - now;
	}
	assert_true(waits[0] > 0 && waits[1] > waits[0] && waits[2] > waits[1]);
	assert_int_equal(tail_read(&tail, &cursor, r, &page), TAIL_LATER); /* not before its time */
	assert_true(spot_is_empty(&cursor.at));
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(1, 2);
	assert_int_equal(tail.failures, 0);
}

static void trimmed_records_are_reported(void **state)
{
	(void)state;
	write_to(0, 1, 6);
	fake.shards[0].trimmed = 4;
	cursor_set(&cursor, SLICE("2"));
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(5, 6);
	assert_true(page.trimmed);
	assert_true(tail_has_missed(0, 1000));
	assert_true(tail_has_missed(1000, 1000 + 24 * 3600 * 1000));
	assert_false(tail_has_missed(1000, 1000 + 3600 * 1000)); /* at the end an hour ago */
}

static void an_idle_shard_is_not_read(void **state)
{
	int calls;

	(void)state;
	write_to(0, 1, 1);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_int_equal(read_on(), TAIL_END);
	calls = fake.calls;
	for (int i = 0; i < 5; i++)
		assert_int_equal(read_on(), TAIL_END);
	assert_int_equal(fake.calls, calls);
	write_to(0, 2, 2);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(2, 2);
}

static void where_others_write_it_is_looked_at_now_and_then(void **state)
{
	int calls;

	(void)state;
	fake_database.poll_ms = fake_database.poll_most_ms = 1000;
	assert_int_equal(read_on(), TAIL_END);
	calls = fake.calls;
	assert_int_equal(read_on(), TAIL_END);
	assert_int_equal(fake.calls, calls);
	tail.poll_us = 0; /* a second later */
	assert_int_equal(read_on(), TAIL_END);
	assert_int_equal(fake.calls, calls + 1);
	fake_database.poll_ms = fake_database.poll_most_ms = 0;
}

static void a_quiet_shard_is_read_less_often_unless_a_reader_is_eager(void **state)
{
	(void)state;
	assert_int_equal(read_on(), TAIL_END);
	fake.latest++; /* somewhere else */
	tail.quiet_us = clock_monotonic_us() + 1000000;
	assert_int_equal(tail_read(&tail, &cursor, r, &page), TAIL_LATER);
	tail.eager = true;
	assert_int_equal(tail_read(&tail, &cursor, r, &page), TAIL_END);
}

static void from_the_end_on_nothing_is_missed_without_a_word(void **state)
{
	(void)state;
	write_to(0, 1, 2);
	cursor.from_end = true;
	assert_true(tail_begin(&tail, &cursor, r));
	write_to(0, 3, 3);
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_page(3, 3);
	assert_false(page.trimmed);
	cursor_set(&cursor, SLICE(""));
	cursor.from_end = true;
	assert_true(tail_begin(&tail, &cursor, r));
	write_to(0, 4, 4);
	fake.era++; /* and with it what is known of the end */
	(void)read_on();
	assert_true(page.trimmed);
}

static void a_shard_ends_and_a_stream_goes(void **state)
{
	(void)state;
	write_to(0, 1, 2);
	fake.shards[0].closed = true;
	assert_int_equal(read_on(), TAIL_FOUND);
	assert_int_equal(read_on(), TAIL_ENDED);
	assert_int_equal(read_on(), TAIL_ENDED);
	cursor_set(&cursor, SLICE("1"));
	fake.gone = true;
	assert_int_equal(read_on(), TAIL_GONE);
}

/* ---- which shards ---- */

static struct shard_list list;
static char taken[256];
static const char *theirs, *ended_there;
static bool ends_at_once; /* as closed shards do for a reader that begins at the end */

static struct seat *take(void *ctx, struct run *run, const struct shard_list *l, const struct shard *s)
{
	struct seat *seat = mem_zalloc(sizeof(*seat));

	(void)ctx;
	(void)run;
	(void)l;
	seat->shard = mem_strndup(s->id.p, s->id.n);
	atomic_store(&seat->ended, ends_at_once);
	snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), " %s", seat->shard);
	return seat;
}

static void give_up(struct seat *s)
{
	snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), " -%s", s->shard);
	mem_free((char *)s->shard);
	mem_free(s);
}

static bool is_ours(void *ctx, struct slice shard)
{
	(void)ctx;
	return !theirs || !slice_is(shard, theirs);
}

static bool has_ended_there(void *ctx, struct run *run, struct slice shard)
{
	(void)ctx;
	(void)run;
	return ended_there && slice_is(shard, ended_there);
}

static struct seats seats;

static const char *follow(bool *all)
{
	taken[0] = 0;
	assert_true(dyn_list_shards(r, &list));
	*all = seats_follow(&seats, r, &list);
	return taken;
}

static void end_seat(const char *shard)
{
	struct seat *s = seats_find(&seats, slice_str(shard));

	assert_non_null(s);
	atomic_store(&s->ended, true);
	atomic_store(&s->finished, true);
}

static void a_shard_is_read_after_the_one_it_was_made_from(void **state)
{
	bool all;

	(void)state;
	seats = (struct seats){ .begin = take, .free = give_up };
	fake_add("s3", "s2"); /* the list need not be in order */
	fake_add("s2", "s1");
	fake_add("s4", "s1");
	assert_string_equal(follow(&all), " s1");
	assert_false(all);
	end_seat("s1");
	assert_string_equal(follow(&all), " s2 s4"); /* a split */
	assert_false(all);
	end_seat("s2");
	end_seat("s4");
	assert_string_equal(follow(&all), " s3");
	assert_true(all);
	fake.shards[0].hidden = true; /* forgotten by the stream: its seat goes, as does one that failed */
	atomic_store(&seats_find(&seats, SLICE("s3"))->finished, true);
	assert_string_equal(follow(&all), " -s3 -s1 s3");
	seats_clear(&seats);
}

static void a_list_that_is_not_in_order_is_gone_through_at_once(void **state)
{
	bool all;

	(void)state;
	seats = (struct seats){ .begin = take, .free = give_up };
	fake_add("s3", "s2");
	fake_add("s2", "s1");
	ends_at_once = true;
	assert_string_equal(follow(&all), " s1 s2 s3");
	assert_true(all);
	ends_at_once = false;
	seats_clear(&seats);
}

static void shards_of_other_servers_are_left_to_them(void **state)
{
	bool all;

	(void)state;
	seats = (struct seats){
		.begin = take, .free = give_up, .is_ours = is_ours, .has_ended_elsewhere = has_ended_there
	};
	fake_add("s2", "s1");
	theirs = "s1";
	ended_there = NULL;
	assert_string_equal(follow(&all), "");
	assert_false(all);
	ended_there = "s1";
	assert_string_equal(follow(&all), " s2");
	assert_true(all);
	seats_clear(&seats);
}

/* Each of its positions has its own order. */
static void a_consumer_with_several_positions_has_all_shards(void **state)
{
	bool all;

	(void)state;
	seats = (struct seats){ .unordered = true, .begin = take, .free = give_up };
	fake_add("s2", "s1");
	fake_add("s3", "s2");
	assert_string_equal(follow(&all), " s1 s2 s3");
	assert_true(all);
	end_seat("s1");
	assert_string_equal(follow(&all), ""); /* it has ended, and is listed */
	seats_clear(&seats);
}

static void a_list_can_be_put_in_order(void **state)
{
	static const char *const wanted[] = { "s1", "s2", "s4", "s3", "s5" };

	(void)state;
	fake_add("s4", "s2");
	fake_add("s3", "s1");
	fake_add("s2", "s1");
	fake_add("s5", "s0"); /* which is not listed */
	assert_true(dyn_list_shards(r, &list));
	shards_order(&list, r->arena);
	assert_int_equal(list.count, 5);
	for (size_t i = 0; i < list.count; i++)
		assert_true(slice_is(list.list[i].id, wanted[i]));
	/* Two that say they come from each other. */
	fake.shards[0].parent = "s4";
	assert_true(dyn_list_shards(r, &list));
	shards_order(&list, r->arena);
	assert_int_equal(list.count, 5);
	fake.shards[0].parent = NULL;
}

/* ---- marks ---- */

static void a_mark_is_a_text_and_back(void **state)
{
	static const char *const bad[] = { "",
					   "1",
					   "abc",
					   "0123456",
					   "01234567",
					   "01234567-",
					   "01234567-12x",
					   "01234567~",
					   "0123456g_",
					   "01234567_1",
					   "01234567_.",
					   ".01234567_",
					   "01234567_..01234567_",
					   "01234567~1234567890123456",
					   "18446744073709551615" };
	struct mark m = { 0 }, back;
	char text[MARK_TEXT_ROOM], again[MARK_TEXT_ROOM];
	struct mark_part *p = mark_add(&m, SLICE("one"));
	size_t n;

	(void)state;
	p->kind = MARK_AFTER;
	spot_set(&p->at, SLICE("000007527941432997314563"));
	p = mark_add(&m, SLICE("two"));
	p->kind = MARK_SINCE;
	p->since_ms = 1768473000123;
	assert_non_null(mark_add(&m, SLICE("three")));
	n = mark_text(&m, text);
	assert_int_equal(n, strlen(text));
	assert_true(mark_parse(slice_str(text), &back));
	assert_int_equal(mark_text(&back, again), n);
	assert_string_equal(again, text);
	assert_true(spot_is(&mark_find(&back, SLICE("one"))->at, SLICE("000007527941432997314563")));
	assert_int_equal(mark_find(&back, SLICE("two"))->since_ms, 1768473000123);
	assert_null(mark_find(&back, SLICE("four")));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (mark_parse(slice_str(bad[i]), &back))
			fail_msg("'%s' was taken", bad[i]);
}

static void of_too_many_shards_there_is_no_text(void **state)
{
	struct mark m = { 0 }, back;
	char name[24], text[MARK_TEXT_ROOM];
	size_t n;

	(void)state;
	for (int i = 0; i < MARK_MOST; i++) {
		struct mark_part *p;

		snprintf(name, sizeof(name), "shard%d", i);
		p = mark_add(&m, slice_str(name));
		assert_non_null(p);
		p->kind = MARK_AFTER;
		memset(p->at.text, '9', SPOT_ROOM - 1);
	}
	n = mark_text(&m, text);
	assert_int_equal(n, strlen(text));
	assert_true(mark_parse(slice_str(text), &back));
	assert_int_equal(back.count, MARK_MOST);
	assert_null(mark_add(&m, SLICE("one more")));
	assert_int_equal(mark_text(&m, text), 0);
}

/* ---- all shards as one ---- */

static struct live_stream *open_stream(void)
{
	struct live_stream *s = arena_zalloc(&f.arena, sizeof(*s));

	s->database = &fake_database;
	return s;
}

/* What a watcher keeps of it. */
static struct mark kept(const struct live_stream *s)
{
	char text[MARK_TEXT_ROOM];
	struct mark m;

	assert_true(mark_text(&s->mark, text) > 0);
	assert_true(mark_parse(slice_str(text), &m));
	return m;
}

/* "1 2 5", told one after the other. */
static const char *told(struct live_stream *s, bool *is_last)
{
	struct live_round round;
	struct buf b;

	buf_init(&b, &f.arena);
	if (!live_stream_read(s, r, 100, 0, &round))
		fail_msg("%.*s", SLICE_ARG(r->problem.detail));
	for (size_t i = 0; i < round.count; i++) {
		assert_int_equal(round.list[i].sequence, 101 + i);
		buf_printf(&b, "%s%.*s", i ? " " : "", SLICE_ARG(round.list[i].change->sequence));
		live_stream_told(&round.list[i]);
	}
	if (round.trimmed)
		buf_str(&b, " lost");
	if (is_last)
		*is_last = round.is_last;
	return arena_cstr(&f.arena, buf_slice(&b));
}

/* Everything between two marks. */
static const char *between(const struct mark *after, const struct mark *before)
{
	struct live_stream *s = open_stream();
	bool is_last = false;
	struct buf b;

	buf_init(&b, &f.arena);
	assert_true(live_stream_start_between(s, r, after, before));
	for (int i = 0; i < 100 && !is_last; i++) {
		const char *text = told(s, &is_last);

		buf_printf(&b, "%s%s", b.n && text[0] ? " " : "", text);
		if (strstr(text, "lost"))
			break;
	}
	live_stream_stop(s);
	return arena_cstr(&f.arena, buf_slice(&b));
}

static void split(void)
{
	fake.shards[0].closed = true;
	fake_add("s2", "s1");
	fake_add("s3", "s1");
	fake.latest++;
}

static void a_split_is_followed_without_repetition(void **state)
{
	struct live_stream *s = open_stream();

	(void)state;
	write_to(0, 1, 2);
	assert_true(live_stream_start(s, r, 0));
	assert_string_equal(told(s, NULL), "");
	write_to(0, 3, 4);
	split();
	write_to(1, 5, 6);
	write_to(2, 7, 7);
	assert_string_equal(told(s, NULL), "3 4");
	assert_string_equal(told(s, NULL), "5 6 7");
	assert_int_equal(s->mark.count, 2);
	assert_string_equal(told(s, NULL), "");
	live_stream_stop(s);
}

static void a_watcher_that_changes_servers_gets_events_missed_across_a_split(void **state)
{
	struct live_stream *a = open_stream(), *b = open_stream();
	struct mark before, after;

	(void)state;
	write_to(0, 1, 2);
	assert_true(live_stream_start(a, r, 0));
	write_to(0, 3, 3);
	assert_string_equal(told(a, NULL), "3");
	before = kept(a);
	write_to(0, 4, 8);
	split();
	write_to(1, 10, 11);
	write_to(2, 9, 9);
	assert_true(live_stream_start(b, r, 0)); /* both new shards are near their ends */
	write_to(1, 12, 12);                     /* the other one tells it by itself */
	after = kept(b);
	fake.empty = 2; /* pages without anything are no end */
	assert_string_equal(between(&before, &after), "4 5 6 7 8 9 10 11");
	assert_string_equal(between(&before, &before), "");
	assert_string_equal(told(b, NULL), "12");
	after = kept(b);
	assert_string_equal(between(&before, &after), "4 5 6 7 8 9 10 11 12");
	live_stream_stop(a);
	live_stream_stop(b);
}

static void the_end_of_a_shard_is_in_the_mark_until_its_children_are(void **state)
{
	struct live_stream *a = open_stream(), *b = open_stream();
	struct mark m, after;

	(void)state;
	assert_true(live_stream_start(a, r, 0));
	write_to(0, 1, 2);
	fake.shards[0].closed = true;
	assert_string_equal(told(a, NULL), "1 2");
	assert_string_equal(told(a, NULL), "");
	m = kept(a);
	assert_int_equal(m.count, 1);
	fake_add("s2", "s1");
	write_to(1, 3, 3);
	assert_true(live_stream_start(b, r, 0));
	after = kept(b);
	assert_string_equal(between(&m, &after), "3");
	live_stream_stop(a);
	live_stream_stop(b);
}

static void of_a_shard_that_is_gone_or_unknown_the_list_is_read_again(void **state)
{
	struct live_stream *a = open_stream();
	struct mark before, after, odd = { 0 };

	(void)state;
	write_to(0, 1, 1);
	assert_true(live_stream_start(a, r, 0));
	before = kept(a);
	assert_non_null(mark_add(&odd, SLICE("elsewhere")));
	assert_non_null(strstr(between(&odd, &before), "lost"));
	odd = before;
	assert_non_null(mark_add(&odd, SLICE("forgotten"))); /* what was made from it cannot be told */
	assert_non_null(strstr(between(&odd, &before), "lost"));
	write_to(0, 2, 6);
	assert_string_equal(told(a, NULL), "2 3 4 5 6");
	after = kept(a);
	fake.shards[0].trimmed = 4;
	assert_non_null(strstr(between(&before, &after), "lost"));
	live_stream_stop(a);
}

/* Where nothing is near the end, a reader begins there, and knows only since when. */
static void a_shard_with_an_unknown_end_is_not_skipped(void **state)
{
	struct live_stream *a = open_stream(), *b = open_stream();
	struct mark of_a, of_b;

	(void)state;
	fake.page = 1; /* the end is further away than a reader goes to look for it */
	write_to(0, 1, 9);
	assert_true(live_stream_start(a, r, 0));
	assert_int_equal(a->mark.list[0].kind, MARK_SINCE);
	of_a = kept(a);
	assert_string_equal(between(&of_a, &of_a), ""); /* the same reader: nothing has come */
	write_to(0, 10, 10);
	r->now_ms += 5;
	assert_true(live_stream_start(b, r, 0));
	of_b = kept(b);
	assert_non_null(strstr(between(&of_a, &of_b), "lost")); /* up to where is not known */
	write_to(0, 11, 11);
	assert_string_equal(told(b, NULL), "11");
	of_b = kept(b);
	of_a.list[0].since_ms = (1000000 + 10) * INT64_C(1000);
	assert_string_equal(between(&of_a, &of_b), "10 11");
	live_stream_stop(a);
	live_stream_stop(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_after_the_position_come_in_order_once),
		TEST(repeated_records_come_once),
		TEST(an_expired_iterator_is_taken_again_after_the_last_record),
		TEST(a_failed_reading_moves_nothing_and_is_tried_later_and_later),
		TEST(trimmed_records_are_reported),
		TEST(an_idle_shard_is_not_read),
		TEST(where_others_write_it_is_looked_at_now_and_then),
		TEST(a_quiet_shard_is_read_less_often_unless_a_reader_is_eager),
		TEST(from_the_end_on_nothing_is_missed_without_a_word),
		TEST(a_shard_ends_and_a_stream_goes),
		TEST(a_shard_is_read_after_the_one_it_was_made_from),
		TEST(a_list_that_is_not_in_order_is_gone_through_at_once),
		TEST(shards_of_other_servers_are_left_to_them),
		TEST(a_consumer_with_several_positions_has_all_shards),
		TEST(a_list_can_be_put_in_order),
		TEST(a_mark_is_a_text_and_back),
		TEST(of_too_many_shards_there_is_no_text),
		TEST(a_split_is_followed_without_repetition),
		TEST(a_watcher_that_changes_servers_gets_events_missed_across_a_split),
		TEST(the_end_of_a_shard_is_in_the_mark_until_its_children_are),
		TEST(of_a_shard_that_is_gone_or_unknown_the_list_is_read_again),
		TEST(a_shard_with_an_unknown_end_is_not_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
