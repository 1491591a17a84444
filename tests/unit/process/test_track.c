/* A processor at a shard that comes back to a change which it has done in part: the rest is done, the part is not done
 * again.
 *
 * Turn by turn, without the threads, so that positions are saved exactly where it matters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_client.h"
#include "process/process_internal.h"

#define READERS 130                    /* more than one transaction takes */
#define BEGUN   100                    /* of them have had theirs when it goes on */
#define PASSED  (TAIL_PAGE_MOST + 100) /* changes without effect before it: a page of them, and some more */

static const char design[] =
	"entities:\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', rings: 'boolean, default false', text: string}\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Reader:\n"
	"    path: /readers/<name>\n"
	"    attributes: {name: 'string, required, fixed', rung: counter}\n"
	"    keys: {PK: READERS, SK: '<name>'}\n"
	"    allow: {read, create: anyone}\n"
	"access:\n"
	"  readers: {query: table, where: {PK: READERS}}\n"
	"processors:\n"
	"  ring:\n"
	"    on: Note created\n"
	"    when: rings = true\n"
	"    each: reader in readers()\n"
	"    count: Reader(reader.name).rung by 1\n";

static struct client c;
static struct process *process;
static struct reader *reader;
static struct slice stream, shard; /* where the note's changes are */
static struct slice made, rings;   /* sequences: when it was first made, and when it rings */

/* ---- the table before ---- */

static void ask(enum app_method m, const char *path, const char *body)
{
	client_ask(&c, m, path, body);
	assert_in_range(c.reply.status, 200, 204);
}

static struct run run_here(void)
{
	return process_run(process, c.f.backend, &c.f.arena);
}

static void look_at(const struct change *x)
{
	struct value v = value_get(x->new_image, SLICE("rings"));

	if (x->events != ON_CREATED || value_type(v) != VALUE_BOOL)
		return;
	*(value_bool(v) ? &rings : &made) = x->sequence;
}

static bool find_in(struct run *r, const struct shard *s)
{
	struct shard_position at = { .where = AT_OLDEST };
	struct change_page page;
	struct slice iterator;

	assert_true(dyn_take_iterator(r, stream, s->id, &at, &iterator));
	do {
		assert_true(change_read(r, iterator, TAIL_PAGE_MOST, &page));
		for (size_t i = 0; i < page.count; i++)
			look_at(&page.list[i]);
		iterator = page.iterator;
	} while (page.count && iterator.n);
	return rings.n > 0;
}

static void find_changes(void)
{
	struct run r = run_here();
	struct shard_list list;

	made = rings = SLICE("");
	assert_true(dyn_list_shards(&r, &list));
	stream = list.stream_arn;
	for (size_t i = 0; i < list.count && !rings.n; i++)
		if (find_in(&r, &list.list[i]))
			shard = list.list[i].id;
	assert_true(made.n && rings.n);
}

/* The note's changes before it rings are all in one shard, and none of them has an effect. */
static void write_notes(int passed)
{
	ask(APP_PUT, "/notes/n", "{}");
	for (int i = 2; i < passed; i++)
		ask(APP_PATCH, "/notes/n", i % 2 ? "{\"text\":\"tick\"}" : "{\"text\":\"tock\"}");
	ask(APP_DELETE, "/notes/n", NULL);
	ask(APP_PUT, "/notes/n", "{\"rings\":true}");
	find_changes();
}

/* As left by a kill in the middle: that many rows are written, whatever their counters say. */
static void store_begun(struct slice after, int done)
{
	struct run r = run_here();
	struct position at = {
		.processor = SLICE("ring"),
		.shard = shard,
		.sequence = after,
		.progress = arena_printf(&c.f.arena, "1 %.*s %d 0 -", SLICE_ARG(rings), done),
	};

	assert_true(checkpoint_provision(&r));
	assert_true(checkpoint_force(&r, &at));
}

static int setup(void **state)
{
	(void)state;
	client_open_with(&c, design, &(struct db_options){ .no_background = true });
	client_as(&c, "!");
	for (int i = 0; i < READERS; i++)
		ask(APP_PUT, arena_printf(&c.f.arena, "/readers/r%03d%c", i, 0).p, "{}");
	process = process_new(&(struct process_options){ .app = c.app });
	assert_non_null(process);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	reader_free(reader);
	reader = NULL;
	process_free(process);
	client_close(&c);
	return 0;
}

/* ---- turns ---- */

static struct track *start(void)
{
	reader_free(reader);
	reader = reader_new(process, stream, &(struct shard){ .id = shard });
	assert_non_null(reader);
	for (size_t i = 0; i < reader->track_count; i++)
		if (slice_is(reader->tracks[i].station->name, "ring"))
			return &reader->tracks[i];
	fail_msg("nobody rings");
	return NULL;
}

/* To the end, with every position saved that may be. */
static void run_to_end(struct track *t)
{
	while (track_step(t))
		(void)tracks_save(reader, true);
	assert_true(t->loaded && !t->progress);
}

static void the_rest_has_been_rung_once(int done)
{
	for (int i = 0; i < READERS; i++) {
		const struct json *rung;

		ask(APP_GET, arena_printf(&c.f.arena, "/readers/r%03d%c", i, 0).p, NULL);
		rung = json_get(json_parse(&c.f.arena, c.reply.body), "rung");
		assert_non_null(rung);
		if (rung->integer != (i >= done))
			fail_msg("reader %d was rung %lld times", i, (long long)rung->integer);
	}
}

/* ---- a database that is there and does nothing ---- */

struct refusing {
	struct backend backend;
	struct backend *inner;
	struct reply with; /* writes that reach the design's table; status 0: none */
};
static struct refusing refusing;

static void refusing_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			  struct backend_reply *reply)
{
	backend_call(((struct refusing *)b)->inner, a, operation, body, reply);
}

/* Of the table beside it none: parking would be possible. */
static void refusing_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct refusing *x = (struct refusing *)b;

	for (size_t i = 0; q->kind == REQUEST_WRITE && x->with.status && i < q->write.count; i++)
		if (slice_equal(q->write.actions[i].table, process->design->table)) {
			*reply = x->with;
			return;
		}
	backend_execute(x->inner, a, q, reply);
}

/* That many tries of the change, one right after the other. */
static uint64_t parked_after(struct track *t, int tries, struct reply with)
{
	refusing = (struct refusing){ .backend = { .call = refusing_call, .execute = refusing_execute },
				      .inner = reader->backend,
				      .with = with };
	reader->backend = &refusing.backend;
	for (int i = 0; i < tries; i++) {
		t->next_us = 0;
		(void)track_step(t);
	}
	reader->backend = refusing.inner;
	t->next_us = 0;
	return atomic_load(&t->station->ledger.parked);
}

/* ---- tests ---- */

static void a_position_saved_before_a_change_that_is_begun_keeps_how_far_it_is(void **state)
{
	struct track *t;

	(void)state;
	write_notes(PASSED);
	store_begun(SLICE(""), BEGUN);
	t = start();
	assert_true(track_step(t)); /* a page of what has no effect */
	assert_true(slice_cmp(spot_sequence(&t->done), rings) < 0);
	(void)tracks_save(reader, true);
	run_to_end(start());
	the_rest_has_been_rung_once(BEGUN);
}

static void a_reader_interrupted_before_the_end_resumes_there(void **state)
{
	struct track *t;

	(void)state;
	write_notes(3);
	store_begun(SLICE(""), BEGUN);
	t = start();
	atomic_store(&process->stopping, true); /* the first change that is for it is the last of the turn */
	assert_true(track_step(t));
	assert_true(slice_equal(spot_sequence(&t->done), made));
	(void)tracks_save(reader, true);
	atomic_store(&process->stopping, false);
	run_to_end(start());
	the_rest_has_been_rung_once(BEGUN);
}

static void a_reader_that_yields_inside_resumes_without_going_back(void **state)
{
	struct track *t;

	(void)state;
	write_notes(10);
	store_begun(made, BEGUN);
	t = start();
	atomic_store(&process->stopping,
		     true); /* what is not for it is passed, the change itself reached and left at once */
	assert_true(track_step(t));
	assert_true(t->loaded);
	assert_true(slice_cmp(spot_sequence(&t->done), made) > 0);
	assert_true(slice_cmp(spot_sequence(&t->done), rings) < 0);
	(void)tracks_save(reader, true);
	atomic_store(&process->stopping, false);
	run_to_end(start());
	the_rest_has_been_rung_once(BEGUN);
}

static void a_change_of_which_only_the_end_was_missing_is_done(void **state)
{
	struct track *t;

	(void)state;
	write_notes(3);
	store_begun(SLICE(""), READERS);
	t = start();
	run_to_end(t);
	assert_true(slice_equal(spot_sequence(&t->stored), rings));
	run_to_end(start());
	the_rest_has_been_rung_once(READERS);
}

/* What follows it in the stream is forgotten a day after it was made, however late it is done. */
static void a_position_is_as_old_as_the_change_that_is_done(void **state)
{
	struct run r;
	struct position at;
	struct track *t;

	(void)state;
	write_notes(3);
	store_begun(SLICE(""), 0);
	t = start();
	run_to_end(t);
	r = run_here();
	assert_true(checkpoint_load(&r, SLICE("ring"), shard, &at));
	assert_true(slice_equal(at.sequence, rings));
	assert_in_range(clock_now_ms(&clock_system) - at.time_ms, 0, 60000); /* the clock of the app stands still */
}

static void a_database_that_throttles_for_long_says_nothing_about_a_change(void **state)
{
	struct reply_reason reasons[100] = { [0] = { .error = { .code = ERR_THROTTLING } } };
	struct track *t;

	(void)state;
	write_notes(3);
	store_begun(SLICE(""), 0);
	t = start();
	assert_int_equal(parked_after(t, 3 * RETRIES,
				      (struct reply){ .status = 400, .error = SLICE("ThrottlingException") }),
			 0);
	assert_true(t->tries >= RETRIES);
	assert_int_equal(parked_after(t, 3 * RETRIES,
				      (struct reply){ .status = 400,
						      .error = SLICE("TransactionCanceledException"),
						      .reasons = reasons }),
			 0);
	run_to_end(t);
	the_rest_has_been_rung_once(0);
}

/* Tries while the database was not there do not count: the change has all of its own afterwards. */
static void a_change_that_the_database_refuses_is_parked_after_its_tries(void **state)
{
	struct reply throttled = { .status = 400, .error = SLICE("ThrottlingException") };
	struct reply broken = { .status = 500, .error = SLICE("InternalServerError") };
	struct track *t;

	(void)state;
	write_notes(3);
	store_begun(SLICE(""), 0);
	t = start();
	assert_int_equal(parked_after(t, 3 * RETRIES, throttled), 0);
	assert_int_equal(parked_after(t, RETRIES - 1, broken), 0);
	assert_int_equal(parked_after(t, 3, broken), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_position_saved_before_a_change_that_is_begun_keeps_how_far_it_is),
		TEST(a_reader_interrupted_before_the_end_resumes_there),
		TEST(a_reader_that_yields_inside_resumes_without_going_back),
		TEST(a_change_of_which_only_the_end_was_missing_is_done),
		TEST(a_position_is_as_old_as_the_change_that_is_done),
		TEST(a_database_that_throttles_for_long_says_nothing_about_a_change),
		TEST(a_change_that_the_database_refuses_is_parked_after_its_tries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
