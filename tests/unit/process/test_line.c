/* No change stops the line: one that cannot be done is parked after its tries, whatever is before and behind it, and
 * what can be done is done. Turn by turn, without threads, on a database that fails wherever something is poisoned.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "app_client.h"
#include "base/clock.h"
#include "process/process_internal.h"

#define SHARDS 8

static const char design[] =
	"entities:\n"
	"  Author:\n"
	"    path: /authors/<id>\n"
	"    attributes: {id: 'string, required, fixed', name: string, age: integer}\n"
	"    keys: {PK: 'AUTHOR#<id>', SK: AUTHOR}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Book:\n"
	"    path: /books/<isbn>\n"
	"    attributes:\n"
	"      isbn: string, required, fixed\n"
	"      author: string, required, fixed\n"
	"      author_name: copy of Author(author).name, kept by books of author\n"
	"    keys: {PK: 'BOOK#<isbn>', SK: BOOK, GSI1PK: 'AUTHOR#<author>', GSI1SK: 'BOOK#<isbn>'}\n"
	"    allow: {read, create: anyone}\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', text: string}\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
	"    allow: {read: anyone}\n"
	"access:\n"
	"  books of author: {query: GSI1, where: {GSI1PK: 'AUTHOR#<id>'}}\n"
	"processors:\n"
	"  note:\n"
	"    on: Author updated\n"
	"    put: Note\n"
	"    with: {id: id, text: name}\n"
	"  missing:\n"
	"    on: Author updated\n"
	"    update: Note(name)\n"
	"    with: {text: name}\n";

static struct client c;
static struct process *process;
static struct reader *readers[SHARDS];
static size_t reader_count;

/* ---- a database that fails ---- */

static struct poisoned {
	struct backend backend; /* first */
	struct backend *real;
} poisoned[SHARDS];
static int failures;
static bool poison_works; /* not while what is to fail is made */

/* A read of a poisoned book, which the keeper wants; a write of a poisoned note, which the processor makes. */
static bool is_poisoned(const char *operation, struct slice body)
{
	const char *what = strcmp(operation, "GetItem") ? "NOTE#poison" : "BOOK#poison";

	return poison_works && memmem(body.p, body.n, what, strlen(what)) != NULL;
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply)
{
	struct backend *real = ((struct poisoned *)b)->real;

	if (!is_poisoned(operation, body)) {
		backend_call(real, a, operation, body, reply);
		return;
	}
	failures++;
	*reply = (struct backend_reply){ .status = 500,
					 .body = json_parse(a, SLICE("{}")),
					 .error = SLICE("InternalServerError"),
					 .message = SLICE("poisoned") };
}

/* ---- readers ---- */

static void open_readers(void)
{
	struct run r = process_run(process, c.f.backend, &c.f.arena);
	struct shard_list list;

	assert_true(checkpoint_provision(&r));
	assert_true(dyn_list_shards(&r, &list));
	assert_true(list.count <= SHARDS);
	reader_count = list.count;
	for (size_t i = 0; i < reader_count; i++) {
		readers[i] = reader_new(process, list.stream_arn, &list.list[i]);
		assert_non_null(readers[i]);
		poisoned[i] = (struct poisoned){ .backend = { .call = call }, .real = readers[i]->backend };
		readers[i]->backend = &poisoned[i].backend;
	}
}

static void close_readers(void)
{
	for (size_t i = 0; i < reader_count; i++) {
		readers[i]->backend = poisoned[i].real;
		reader_free(readers[i]);
	}
	reader_count = 0;
}

static int setup(void **state)
{
	(void)state;
	client_open_with(&c, design, &(struct db_options){ .no_background = true });
	client_as(&c, "!");
	process = process_new(&(struct process_options){ .app = c.app });
	assert_non_null(process);
	app_set_keeper_runs(c.app, true); /* writers leave copies to it */
	failures = 0;
	poison_works = false;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_readers();
	process_free(process);
	client_close(&c);
	return 0;
}

/* Every track has a turn, also those that would wait. Whether any did something. */
static bool turns(void)
{
	bool worked = false;

	for (size_t i = 0; i < reader_count; i++) {
		readers[i]->tail.next_us = readers[i]->tail.quiet_us = 0;
		for (size_t k = 0; k < readers[i]->track_count; k++) {
			readers[i]->tracks[k].next_us = 0;
			worked |= track_step(&readers[i]->tracks[k]);
		}
	}
	return worked;
}

/* Until there is nothing left to do. */
static void run_through(int most)
{
	for (int i = 0; i < most; i++)
		if (!turns())
			return;
	fail_msg("the line stands still");
}

static struct station *station(const char *name)
{
	struct station *s = process_station(process, slice_str(name));

	assert_non_null(s);
	return s;
}

/* ---- what is written ---- */

static void ask(enum app_method m, const char *path, const char *body)
{
	client_ask(&c, m, path, body);
	assert_in_range(c.reply.status, 200, 204);
}

#define TEXT(...) arena_cstr(&c.f.arena, arena_printf(&c.f.arena, __VA_ARGS__))

static void make_author(const char *id)
{
	ask(APP_PUT, TEXT("/authors/%s", id), "{\"name\":\"old\"}");
	ask(APP_PUT, TEXT("/books/%s", id), TEXT("{\"author\":\"%s\"}", id));
}

static void rename_author(const char *id, const char *name)
{
	ask(APP_PATCH, TEXT("/authors/%s", id), TEXT("{\"name\":\"%s\"}", name));
}

static bool book_says(const char *id, const char *name)
{
	client_ask(&c, APP_GET, TEXT("/books/%s", id), NULL);
	client_is(&c, 200);
	return client_has(c.reply.body, TEXT("\"author_name\":\"%s\"", name));
}

/* ---- tests ---- */

static void those_that_cannot_be_done_are_parked_and_all_others_are_done(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++) {
		make_author(TEXT("good%d", i));
		if (i % 2)
			make_author(TEXT("poison%d", i));
	}
	open_readers();
	run_through(100);
	poison_works = true;
	for (int i = 0; i < 12; i++) {
		rename_author(TEXT("good%d", i), "new");
		if (i % 2)
			rename_author(TEXT("poison%d", i), "new");
	}
	run_through(1000);
	assert_int_equal(atomic_load(&station("keeper")->ledger.parked), 6);
	assert_int_equal(atomic_load(&station("note")->ledger.parked), 6);
	assert_int_equal(atomic_load(&station("keeper")->ledger.retries), 6 * RETRIES);
	assert_int_equal(atomic_load(&station("note")->ledger.retries), 6 * RETRIES);
	for (int i = 0; i < 12; i++) {
		assert_true(book_says(TEXT("good%d", i), "new"));
		ask(APP_GET, TEXT("/notes/good%d", i), NULL);
	}
	assert_true(book_says("poison1", "old"));
}

static void nothing_but_what_cannot_be_done(void **state)
{
	(void)state;
	make_author("poison");
	open_readers();
	run_through(100);
	poison_works = true;
	for (int i = 0; i < 20; i++)
		rename_author("poison", i % 2 ? "this" : "that");
	run_through(1000);
	assert_int_equal(atomic_load(&station("keeper")->ledger.parked), 20);
	assert_int_equal(atomic_load(&station("note")->ledger.parked), 20);
	make_author("good");
	rename_author("good", "new");
	run_through(100);
	assert_true(book_says("good", "new"));
}

static struct track *failing_keeper(void)
{
	for (size_t i = 0; i < reader_count; i++) {
		struct track *t = &readers[i]->tracks[readers[i]->track_count - 1];

		assert_true(slice_is(t->station->name, "keeper"));
		if (!spot_is_empty(&t->failing))
			return t;
	}
	return NULL;
}

/* What was passed before it is not looked at again, though its position was not due to be saved. */
static void a_new_start_begins_with_the_one_that_failed(void **state)
{
	struct track *t;
	struct position at;
	struct run r;

	(void)state;
	make_author("poison");
	open_readers();
	run_through(100);
	poison_works = true;
	for (size_t i = 0; i < reader_count; i++)
		(void)tracks_save(readers[i], true);
	for (int i = 0; i < 5; i++)
		ask(APP_PATCH, "/authors/poison", TEXT("{\"age\":%d}", i));
	rename_author("poison", "new");
	while (!(t = failing_keeper()))
		assert_true(turns());
	r = process_run(process, c.f.backend, &c.f.arena);
	assert_true(checkpoint_load(&r, SLICE("keeper"), slice_str(t->reader->tail.shard), &at));
	assert_true(spot_is(&t->done, at.sequence));
	assert_true(spot_compare(&t->failing, at.sequence) > 0);
	assert_int_equal(atomic_load(&station("keeper")->ledger.done), 2 + 5); /* the author, the book, five birthdays */
	close_readers();
	open_readers();
	run_through(1000);
	assert_int_equal(atomic_load(&station("keeper")->ledger.parked), 1);
	assert_int_equal(atomic_load(&station("keeper")->ledger.done), 2 + 5);
}

static void skipped_effects_are_counted(void **state)
{
	struct ledger_texts t;

	(void)state;
	make_author("good");
	rename_author("good", "new");
	open_readers();
	run_through(100);
	ledger_read(&station("missing")->ledger, &t);
	assert_int_equal(t.passed_over.count[PASSED_OVER_GONE], 1);
	assert_string_equal(t.passed_over.last, "there is no Note to update at NOTE#new, NOTE");
	assert_int_equal(atomic_load(&station("missing")->ledger.retries), 0);
	assert_int_equal(atomic_load(&station("missing")->ledger.parked), 0);
	ledger_read(&station("note")->ledger, &t);
	assert_int_equal(t.passed_over.count[PASSED_OVER_GONE], 0);
	assert_int_equal(atomic_load(&station("note")->ledger.done), 1);
}

/* ---- writers ---- */

static void only_work_that_can_be_done_slows_writers(void **state)
{
	struct track *t;

	(void)state;
	make_author("good");
	open_readers();
	run_through(100);
	process->readers.first = &readers[0]->seat;
	t = &readers[0]->tracks[0];
	atomic_store(&t->since_ms, 1);
	atomic_store(&t->oldest_ms, app_now_ms(c.app) - 60000);
	atomic_store(&t->worked_us, clock_monotonic_us());
	assert_in_range(process_find_delay_ms(process), 900, 1000);
	atomic_store(&t->is_retrying, true);
	assert_int_equal(process_find_delay_ms(process), 0);
	atomic_store(&t->is_retrying, false);
	atomic_store(&t->worked_us, clock_monotonic_us() - 6000000); /* it comes no further */
	assert_int_equal(process_find_delay_ms(process), 0);
	atomic_store(&t->worked_us, clock_monotonic_us());
	assert_in_range(process_find_delay_ms(process), 900, 1000);
	atomic_store(&t->station->paused, true);
	assert_int_equal(process_find_delay_ms(process), 0);
	process->readers.first = NULL;
}

static int64_t ten_minutes_behind(struct database *d)
{
	(void)d;
	return -600000;
}

/* By the stream's clock, which this machine's is ahead of. */
static void a_change_s_age_is_by_the_clock_that_dates_it(void **state)
{
	struct track *t;

	(void)state;
	make_author("good");
	open_readers();
	run_through(100);
	process->readers.first = &readers[0]->seat;
	t = &readers[0]->tracks[0];
	process->database->clock_off_ms = ten_minutes_behind;
	atomic_store(&t->since_ms, 1);
	atomic_store(&t->oldest_ms, app_now_ms(c.app) - 600000);
	atomic_store(&t->worked_us, clock_monotonic_us());
	assert_int_equal(process_find_delay_ms(process), 0);
	atomic_store(&t->oldest_ms, app_now_ms(c.app) - 660000);
	assert_in_range(process_find_delay_ms(process), 900, 1000);
	process->readers.first = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_that_cannot_be_done_are_parked_and_all_others_are_done),
		TEST(nothing_but_what_cannot_be_done),
		TEST(a_new_start_begins_with_the_one_that_failed),
		TEST(skipped_effects_are_counted),
		TEST(only_work_that_can_be_done_slows_writers),
		TEST(a_change_s_age_is_by_the_clock_that_dates_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
