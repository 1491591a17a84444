/* Records from server to server: rings and what they answer, what goes over the wire, and tails that ask a source
 * first. SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include "fake_stream.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "process/lease_internal.h"
#include "process/relay/relay_internal.h"

static const char design[] = "entities:\n"
			     "  Note:\n"
			     "    path: /notes/<id>\n"
			     "    attributes: {id: 'string, required, fixed'}\n"
			     "    keys: {PK: 'N#<id>', SK: N}\n";

static struct app_fixture f;
static struct rings rings;
static struct backend opened = { .call = fake_call };

static void nap_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void keep(struct backend *b)
{
	(void)b;
}

static struct backend *open_fake(struct database *d)
{
	(void)d;
	opened.free = keep;
	return &opened;
}

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, design);
	fake = (struct fake){ .page = 3, .latest = 1 };
	fake_add("s1", NULL);
	fake_database.open = open_fake;
	fake_database.poll_ms = 60000;
	f.app.database = &fake_database;
	f.app.clock = &clock_system;
	rings_init(&rings, &f.app);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rings_release(&rings);
	f.app.database = &f.database.base;
	app_fixture_close(&f);
	return 0;
}

static void write_to(int first, int last)
{
	for (int i = first; i <= last; i++)
		fake_write(&fake.shards[0], i);
}

/* What a ring says: "2 3 4", "2 3 ended", "lost", "later", "cannot"; trimmed: "trimmed 2 3". */
static const char *said(struct slice bytes)
{
	static const char *const words[] = {
		[PAGE_LATER] = "later", [PAGE_LOST] = "lost", [PAGE_NOT_OWNER] = "not the owner", [PAGE_CANNOT] = "cannot"
	};
	struct tail_page page;
	enum page_kind kind;
	struct buf b;

	assert_true(page_read(&f.arena, bytes, &kind, &page));
	if (kind != PAGE_RECORDS)
		return words[kind];
	buf_init(&b, &f.arena);
	buf_str(&b, page.trimmed ? "trimmed" : "");
	for (size_t i = 0; i < page.count; i++)
		buf_printf(&b, "%s%.*s", b.n ? " " : "", SLICE_ARG(page.list[i].sequence));
	if (page.ended)
		buf_printf(&b, "%sended", b.n ? " " : "");
	return arena_cstr(&f.arena, buf_slice(&b));
}

static struct tail_ask ask_after(const char *after, bool look)
{
	return (struct tail_ask){ SLICE("arn:stream"), SLICE("s1"), slice_str(after), look };
}

static const char *ask(const char *after, bool look)
{
	struct tail_ask q = ask_after(after, look);

	return said(rings_answer(&rings, &f.arena, &q));
}

/* ---- rings ---- */

static void a_page_is_read_once_for_all_readers(void **state)
{
	(void)state;
	write_to(1, 3);
	assert_string_equal(ask("", false), "1 2 3");
	assert_int_equal(fake.calls, 1);
	for (int i = 0; i < 5; i++)
		assert_string_equal(ask("", false), "1 2 3");
	assert_string_equal(ask("1", false), "2 3");
	assert_int_equal(fake.calls, 1);
	assert_string_equal(ask("3", false), ""); /* the last reading found something: there may be more */
	assert_int_equal(fake.calls, 2);
	for (int i = 0; i < 5; i++)
		assert_string_equal(ask("3", false), "");
	assert_int_equal(fake.calls, 2); /* too soon */
	write_to(4, 4);
	for (int i = 0; i < 5; i++) { /* of which the requester does not know */
		nap_us(20000);
		assert_string_equal(ask("3", false), "");
	}
	assert_int_equal(fake.calls, 2);
	while (!strcmp(ask("3", true), "later"))
		nap_us(1000);
	assert_string_equal(ask("3", true), "4");
	assert_int_equal(fake.calls, 3);
}

static void records_before_the_ring_are_not_skipped(void **state)
{
	(void)state;
	write_to(1, 6);
	assert_string_equal(ask("3", false), "4 5 6");
	assert_string_equal(ask("2", false), "lost");
	assert_string_equal(ask("", false), "lost");
	assert_string_equal(ask("4", false), "5 6");
}

static void one_that_is_further_is_reached_or_begins_it_anew(void **state)
{
	(void)state;
	write_to(1, 3);
	assert_string_equal(ask("", false), "1 2 3");
	write_to(4, 9);
	assert_string_equal(ask("7", false), "8 9"); /* and what the others have not read is there */
	assert_string_equal(ask("3", false), "4 5 6 7 8 9");
	write_to(10, 40);
	assert_string_equal(ask("38", false), "later");
	assert_string_equal(ask("38", false), "39 40");
	assert_string_equal(ask("9", false), "lost");
}

static void memory_is_bounded_and_a_slow_reader_learns_it(void **state)
{
	size_t one;

	(void)state;
	write_to(1, 3);
	assert_string_equal(ask("", false), "1 2 3");
	one = rings.bytes / 3;
	rings.ring_bytes = 4 * one + one / 2;
	write_to(4, 6);
	assert_string_equal(ask("3", true), "4 5 6");
	assert_true(rings.bytes <= rings.ring_bytes);
	assert_string_equal(ask("1", false), "lost");
	assert_string_equal(ask("2", false), "3 4 5 6");
	rings.ring_bytes = RING_BYTES;
	rings.all_bytes = one / 2; /* nothing fits: then nobody gets anything, and nobody a gap */
	write_to(7, 7);
	assert_string_equal(ask("6", true), "lost");
	assert_int_equal(rings.bytes, 0);
	assert_string_equal(ask("7", false), "");
}

static void a_shard_ends_after_its_last_record(void **state)
{
	(void)state;
	write_to(1, 2);
	fake.shards[0].closed = true;
	assert_string_equal(ask("", false), "1 2 ended");
	assert_string_equal(ask("1", false), "2 ended");
	assert_string_equal(ask("2", false), "ended");
	assert_int_equal(fake.calls, 1);
}

static void trimmed_records_are_reported(void **state)
{
	(void)state;
	write_to(1, 5);
	fake.shards[0].trimmed = 3;
	assert_string_equal(ask("1", false), "trimmed 4 5");
	assert_string_equal(ask("4", false), "5"); /* of one that was there nothing is lost */
	assert_string_equal(ask("1", false), "trimmed 4 5");
}

static void repeated_records_are_passed_on_once(void **state)
{
	(void)state;
	write_to(1, 3);
	assert_string_equal(ask("", false), "1 2 3");
	fake.repeating = 1;
	write_to(4, 5);
	assert_string_equal(ask("3", true), "4 5");
	assert_string_equal(ask("", false), "1 2 3 4 5");
}

static void a_stream_that_fails_is_waited_for_and_then_left_to_others(void **state)
{
	(void)state;
	write_to(1, 3);
	fake.failing = 1000;
	assert_string_equal(ask("", true), "later");
	assert_string_equal(ask("", true), "later");
	fake.failing = 0;
	while (!strcmp(ask("", true), "later"))
		nap_us(5000);
	assert_string_equal(ask("", true), "1 2 3");
	fake.gone = true;
	assert_string_equal(ask("3", true), "cannot");
}

static void an_unused_relay_is_dropped(void **state)
{
	(void)state;
	write_to(1, 3);
	assert_string_equal(ask("", false), "1 2 3");
	rings_sweep(&rings, clock_monotonic_us() + RING_IDLE_US / 2);
	assert_string_equal(ask("1", false), "2 3");
	rings_sweep(&rings, clock_monotonic_us() + RING_IDLE_US + 1000000);
	assert_null(rings.first);
	assert_int_equal(rings.bytes, 0);
	assert_string_equal(ask("2", false), "3"); /* anew */
}

/* ---- bytes ---- */

static void bytes_that_were_changed_are_no_page(void **state)
{
	struct tail_ask q = ask_after("", false);
	struct slice bytes;
	struct tail_page page;
	enum page_kind kind;

	(void)state;
	write_to(1, 3);
	bytes = rings_answer(&rings, &f.arena, &q);
	for (size_t n = 0; n < bytes.n; n++)
		assert_false(page_read(&f.arena, slice_make(arena_copy(&f.arena, slice_make(bytes.p, n)).p, n), &kind,
				       &page));
	for (size_t i = 0; i < bytes.n; i++) /* none of them may read past the end: ASan looks */
		for (int bit = 0; bit < 8; bit++) {
			char *copy = mem_alloc(bytes.n);

			memcpy(copy, bytes.p, bytes.n);
			copy[i] = (char)(copy[i] ^ (1 << bit));
			(void)!page_read(&f.arena, slice_make(copy, bytes.n), &kind, &page);
			mem_free(copy);
		}
}

static void what_is_sealed_is_opened_with_the_same_secret_about_the_same_thing(void **state)
{
	struct slice text = SLICE("what is said"), sealed, again, out;
	struct sealer one, two, other;

	(void)state;
	assert_true(sealer_init(&one, SLICE("secret")) && sealer_init(&two, SLICE("secret")) &&
		    sealer_init(&other, SLICE("another")));
	sealed = seal(&one, &f.arena, SLICE("x"), text);
	again = seal(&one, &f.arena, SLICE("x"), text);
	assert_true(seal_open(&two, &f.arena, SLICE("x"), sealed, &out));
	assert_true(slice_equal(out, text));
	assert_int_equal(seal_number(again), seal_number(sealed) + 1);
	assert_memory_equal(seal_salt(again).p, seal_salt(sealed).p, SEAL_SALT);
	assert_memory_not_equal(again.p + SEAL_HEAD, sealed.p + SEAL_HEAD, text.n);
	assert_false(seal_open(&two, &f.arena, SLICE("y"), sealed, &out));
	assert_false(seal_open(&other, &f.arena, SLICE("x"), sealed, &out));
	for (size_t i = 0; i < sealed.n; i++) {
		struct slice bad = arena_copy(&f.arena, sealed);

		((char *)bad.p)[i] ^= 1;
		assert_false(seal_open(&two, &f.arena, SLICE("x"), bad, &out));
		assert_false(seal_open(&two, &f.arena, SLICE("x"), slice_make(sealed.p, i), &out));
	}
	sealer_release(&one);
	sealer_release(&two);
	sealer_release(&other);
}

/* ---- a server that is asked ---- */

static struct slice question(struct sealer *s, int64_t at_ms, const char *table)
{
	return seal(s, &f.arena, arena_printf(&f.arena, "ask %s", table),
		    arena_printf(&f.arena,
				 "{\"at\":%lld,\"stream\":\"arn:stream\",\"shard\":\"s1\",\"after\":\"1\",\"look\":false}",
				 (long long)at_ms));
}

static int answered(struct relay *y, struct sealer *s, struct slice body, const char **out)
{
	struct slice reply, text;
	struct buf about;
	int status = relay_answer(y, &f.arena, body, &reply);

	*out = "";
	if (status != 200)
		return status;
	buf_init(&about, &f.arena);
	buf_lit(&about, "answer ");
	buf_add(&about, body.p, SEAL_HEAD);
	assert_true(seal_open(s, &f.arena, buf_slice(&about), reply, &text));
	*out = said(text);
	return status;
}

static void a_question_is_answered_once_and_only_to_servers_of_the_table(void **state)
{
	struct leases *leases = lease_new(1);
	struct relay *y = relay_new(&f.app, leases, true);
	char *table = arena_cstr(&f.arena, app_design(&f.app)->table), shard[] = "s1";
	char *mine[] = { shard };
	int64_t now = app_now_ms(&f.app);
	struct sealer s, stranger;
	struct slice q;
	const char *out;

	(void)state;
	assert_non_null(y);
	assert_true(sealer_init(&s, slice_make(app_secret(&f.app), CALLER_SECRET_BYTES)) &&
		    sealer_init(&stranger, SLICE("another")));
	write_to(1, 3);
	assert_int_equal(answered(y, &s, question(&s, now, table), &out), 200);
	assert_string_equal(out, "not the owner");
	leases->mine = mine;
	leases->count = 1;
	leases->beat_us = clock_monotonic_us();
	q = question(&s, now, table);
	assert_int_equal(answered(y, &s, question(&s, now, table), &out), 200);
	assert_string_equal(out, "2 3");
	assert_int_equal(answered(y, &s, q, &out), 403); /* one that was made before */
	q = question(&s, now, table);
	assert_int_equal(answered(y, &s, q, &out), 200);
	assert_int_equal(answered(y, &s, q, &out), 403); /* said again */
	assert_int_equal(answered(y, &s, question(&s, now - RELAY_SKEW_MS - 1000, table), &out), 403);
	assert_int_equal(answered(y, &s, question(&s, now + RELAY_SKEW_MS + 1000, table), &out), 403);
	assert_int_equal(answered(y, &s, question(&s, now, "Another"), &out), 403);
	assert_int_equal(answered(y, &s, question(&stranger, now, table), &out), 403);
	assert_int_equal(answered(y, &s, SLICE(""), &out), 403);
	assert_int_equal(relay_numbers(y).refused, 7);
	leases->beat_us -= LEASE_EXPIRE_MS * INT64_C(1000); /* it could not say that it lives */
	assert_int_equal(answered(y, &s, question(&s, now, table), &out), 200);
	assert_string_equal(out, "not the owner");
	leases->mine = NULL;
	leases->count = 0;
	relay_free(y);
	lease_free(leases);
	sealer_release(&s);
	sealer_release(&stranger);
}

/* ---- a tail with a source ---- */

static struct told_source {
	struct tail_source base;
	enum tail_answer answer;
	struct tail_page page;
	struct tail_ask asked;
	int count;
} source;

static enum tail_answer read_source(struct tail_source *s, struct run *r, const struct tail_ask *q,
				    struct tail_page *out)
{
	struct told_source *x = (struct told_source *)s;

	x->asked = *q;
	x->asked.after = arena_copy(r->arena, q->after);
	x->count++;
	*out = x->page;
	return x->answer;
}

static struct reply_record record(struct arena *a, int sequence)
{
	struct value_member key[] = { { SLICE("PK"), value_make_s(a, SLICE("N#1")) },
				      { SLICE("SK"), value_make_s(a, SLICE("N")) } };

	return (struct reply_record){ .sequence = arena_printf(a, "%d", sequence),
				      .event = EVENT_INSERT,
				      .keys = value_make_map(a, key, 2) };
}

static void a_source_is_read_first_and_the_stream_for_the_rest(void **state)
{
	struct run *r = app_fixture_run(&f, "!");
	struct tail_cursor c = { 0 };
	struct reply_record list[3];
	struct change_page page;
	struct tail t;

	(void)state;
	r->backend = &fake_backend;
	assert_true(tail_init(&t, &fake_database, SLICE("arn:stream"), SLICE("s1")));
	source = (struct told_source){ .base = { read_source }, .answer = TAIL_ANSWER_NONE };
	t.source = &source.base;
	t.eager = true;
	write_to(1, 6);
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND); /* the stream: 1 2 3 */
	assert_int_equal(page.count, 3);

	for (int i = 0; i < 3; i++)
		list[i] = record(r->arena, 3 + i); /* 3 is repeated */
	source.answer = TAIL_ANSWER_PAGE;
	source.page = (struct tail_page){ .list = list, .count = 3 };
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND);
	assert_true(slice_is(source.asked.after, "3"));
	assert_int_equal(page.count, 2);
	assert_true(spot_is(&c.at, SLICE("5")));

	source.answer = TAIL_ANSWER_LATER;
	source.page = (struct tail_page){ .wait_ms = 60000 };
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_LATER);
	assert_int_equal(tail_look(&t, &c), TAIL_LATER);
	assert_int_equal(t.failures, 0);
	t.next_us = 0;

	source.answer = TAIL_ANSWER_NONE; /* from there on, and not from where the stream was read last */
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND);
	assert_int_equal(page.count, 1);
	assert_true(slice_is(page.list[0].sequence, "6"));

	source.answer = TAIL_ANSWER_PAGE;
	source.page = (struct tail_page){ .ended = true };
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_ENDED);
	tail_release(&t);
}

/* And not from where it was read last: after much from a source that would be all of it once more. */
static void after_a_source_the_stream_is_read_on_from_there(void **state)
{
	struct run *r = app_fixture_run(&f, "!");
	struct tail_cursor c = { 0 };
	struct reply_record list[40];
	struct change_page page;
	struct tail t;

	(void)state;
	r->backend = &fake_backend;
	assert_true(tail_init(&t, &fake_database, SLICE("arn:stream"), SLICE("s1")));
	source = (struct told_source){ .base = { read_source }, .answer = TAIL_ANSWER_NONE };
	t.source = &source.base;
	t.eager = true;
	write_to(1, 45);
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND); /* the stream: 1 2 3 */
	for (int i = 0; i < 40; i++)
		list[i] = record(r->arena, 4 + i);
	source.answer = TAIL_ANSWER_PAGE;
	source.page = (struct tail_page){ .list = list, .count = 40 };
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND);
	assert_true(spot_is(&c.at, SLICE("43")));
	source.answer = TAIL_ANSWER_NONE;
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND);
	assert_int_equal(page.count, 2);
	assert_true(spot_is(&c.at, SLICE("45")));
	assert_int_equal(fake.calls, 2);
	tail_release(&t);
}

static void a_source_is_not_asked_for_an_end_that_it_cannot_know(void **state)
{
	struct run *r = app_fixture_run(&f, "!");
	struct tail_cursor c = { .from_end = true };
	struct change_page page;
	struct tail t;

	(void)state;
	r->backend = &fake_backend;
	assert_true(tail_init(&t, &fake_database, SLICE("arn:stream"), SLICE("s1")));
	source = (struct told_source){ .base = { read_source }, .answer = TAIL_ANSWER_PAGE };
	t.source = &source.base;
	t.eager = true;
	write_to(1, 2);
	assert_true(tail_begin(&t, &c, r));
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_END);
	write_to(3, 3);
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_FOUND);
	assert_int_equal(source.count, 0);
	write_to(4, 4);
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_END); /* the source says so */
	assert_int_equal(source.count, 1);
	assert_true(source.asked.look);
	fake_database.poll_ms = 1; /* it looks now and then, and says that it knows of nothing */
	fake_database.poll_most_ms = 1;
	t.poll_us = 0;
	assert_int_equal(tail_read(&t, &c, r, &page), TAIL_END);
	assert_int_equal(source.count, 2);
	assert_false(source.asked.look);
	tail_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_page_is_read_once_for_all_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(records_before_the_ring_are_not_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_further_is_reached_or_begins_it_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_bounded_and_a_slow_reader_learns_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_shard_ends_after_its_last_record, setup, teardown),
		cmocka_unit_test_setup_teardown(trimmed_records_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(repeated_records_are_passed_on_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stream_that_fails_is_waited_for_and_then_left_to_others, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_unused_relay_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_that_were_changed_are_no_page, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_sealed_is_opened_with_the_same_secret_about_the_same_thing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_question_is_answered_once_and_only_to_servers_of_the_table, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_source_is_read_first_and_the_stream_for_the_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(after_a_source_the_stream_is_read_on_from_there, setup, teardown),
		cmocka_unit_test_setup_teardown(a_source_is_not_asked_for_an_end_that_it_cannot_know, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
