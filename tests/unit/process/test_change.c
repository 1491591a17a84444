/* The stream as processors read it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include "app_client.h"
#include "process/tail/change.h"

static const char notes[] = "entities:\n"
			    "  Note:\n"
			    "    path: /notes/<id>\n"
			    "    attributes: {id: 'string, required, fixed', text: string, expires_at: epoch}\n"
			    "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
			    "    allow: {read, create, update, delete: anyone}\n";

static struct client c;
static int64_t db_ms; /* what the database's clock is ahead */

static int64_t later(void *ctx)
{
	(void)ctx;
	return clock_now_ms(&clock_system) + db_ms;
}
static struct clock moved = { .now_ms = later };

static int64_t really(void *ctx)
{
	(void)ctx;
	return clock_steady_ms(&clock_system);
}

static int setup(void **state)
{
	(void)state;
	db_ms = 0;
	moved.steady_ms = NULL;
	client_open_with(&c, notes, &(struct db_options){ .clock = &moved, .stream_shards = 1, .no_background = true });
	client_as(&c, "alice");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	client_close(&c);
	return 0;
}

static struct run *run(void)
{
	return app_fixture_run(&c.f, "!");
}

static void write_note(const char *id, const char *text)
{
	client_ask(&c, APP_PUT, arena_printf(&c.f.arena, "/notes/%s%c", id, 0).p,
		   arena_printf(&c.f.arena, "{\"text\":\"%s\"}%c", text, 0).p);
	assert_in_range(c.reply.status, 200, 201);
}

static struct slice begin(struct run *r, struct shard_position at, struct shard_list *shards)
{
	struct slice iterator;

	assert_true(dyn_list_shards(r, shards));
	assert_int_equal(shards->count, 1);
	assert_true(dyn_take_iterator(r, shards->stream_arn, shards->list[0].id, &at, &iterator));
	return iterator;
}

static struct change_page from_oldest(struct run *r, int limit)
{
	struct shard_list shards;
	struct change_page page;

	assert_true(change_read(r, begin(r, (struct shard_position){ .where = AT_OLDEST }, &shards), limit, &page));
	return page;
}

/* ---- tests ---- */

static void changes_have_their_images_and_their_entity(void **state)
{
	struct change_page page;
	struct run *r = run();

	(void)state;
	write_note("a", "one");
	client_ask(&c, APP_PATCH, "/notes/a", "{\"text\":\"two\"}");
	client_ask(&c, APP_DELETE, "/notes/a", NULL);
	assert_int_equal(c.reply.status, 204);
	page = from_oldest(r, 1000);
	assert_int_equal(page.count, 3);
	assert_int_equal(page.list[0].events, ON_CREATED);
	assert_int_equal(page.list[1].events, ON_UPDATED);
	assert_int_equal(page.list[2].events, ON_DELETED);
	for (size_t i = 0; i < 3; i++) {
		assert_non_null(page.list[i].entity);
		assert_true(slice_is(page.list[i].entity->name, "Note"));
		assert_false(page.list[i].by_ttl);
		assert_true(slice_is(value_bytes(value_get(page.list[i].key, SLICE("PK"))), "NOTE#a"));
		assert_true(page.list[i].created_ms > 1700000000000);
	}
	assert_false(value_present(page.list[0].old_image));
	assert_true(slice_is(value_bytes(value_get(page.list[1].old_image, SLICE("text"))), "one"));
	assert_true(slice_is(value_bytes(value_get(page.list[1].new_image, SLICE("text"))), "two"));
	assert_false(value_present(page.list[2].new_image));
	assert_true(slice_cmp(page.list[0].sequence, page.list[1].sequence) < 0);
	assert_true(page.iterator.n);
}

static void reading_goes_on_where_it_was(void **state)
{
	struct shard_position after = { .where = AFTER_SEQUENCE };
	struct change_page page, next;
	struct shard_list shards;
	struct run *r = run();

	(void)state;
	for (int i = 0; i < 5; i++)
		write_note(arena_printf(&c.f.arena, "n%d%c", i, 0).p, "x");
	page = from_oldest(r, 2);
	assert_int_equal(page.count, 2);
	assert_true(change_read(r, page.iterator, 1000, &next));
	assert_int_equal(next.count, 3);
	after.sequence = page.list[0].sequence;
	assert_true(change_read(r, begin(r, after, &shards), 1000, &next));
	assert_int_equal(next.count, 4);
	assert_true(change_read(r, begin(r, (struct shard_position){ .where = AT_LATEST }, &shards), 1000, &next));
	assert_int_equal(next.count, 0);
	write_note("late", "x");
	assert_true(change_read(r, next.iterator, 1000, &next));
	assert_int_equal(next.count, 1);
}

static void trimmed_changes_are_reported(void **state)
{
	struct shard_position after = { .where = AFTER_SEQUENCE };
	struct change_page page;
	struct shard_list shards;
	struct slice iterator, old;
	struct run *r = run();

	(void)state;
	write_note("a", "x");
	write_note("b", "x");
	page = from_oldest(r, 1);
	after.sequence = page.list[0].sequence;
	old = page.iterator;
	(void)db_step(c.f.db);
	db_ms = 25 * 3600 * INT64_C(1000);
	(void)db_step(c.f.db);
	assert_true(dyn_list_shards(r, &shards));
	assert_true(dyn_take_iterator(r, shards.stream_arn, shards.list[0].id, &after, &iterator));
	assert_int_equal(iterator.n, 0);
	/* An iterator of old has expired before that matters. */
	assert_false(change_read(r, old, 10, &page));
	assert_int_equal(r->problem.type, PROBLEM_BUSY);
	write_note("c", "x");
	page = from_oldest(r, 10);
	assert_int_equal(page.count, 1);
}

static void an_iterator_outlives_a_jump_of_the_clock(void **state)
{
	struct change_page page;
	struct run *r = run();

	(void)state;
	moved.steady_ms = really;
	(void)db_step(c.f.db);
	write_note("a", "x");
	write_note("b", "x");
	page = from_oldest(r, 1);
	db_ms = 365 * 24 * 3600 * INT64_C(1000);
	(void)db_step(c.f.db);
	assert_true(change_read(r, page.iterator, 1, &page));
	assert_int_equal(page.count, 1);
	db_ms = -db_ms;
	(void)db_step(c.f.db);
	write_note("c", "x");
	assert_true(change_read(r, page.iterator, 1, &page));
	assert_int_equal(page.count, 1);
}

static void an_expired_item_goes_by_ttl(void **state)
{
	struct change_page page;

	(void)state;
	client_ask(&c, APP_PUT, "/notes/a", "{\"expires_at\":2000000000}");
	assert_int_equal(c.reply.status, 201);
	db_ms = INT64_C(2000000000000) - clock_now_ms(&clock_system) + 10000;
	while (db_step(c.f.db))
		;
	page = from_oldest(run(), 10);
	assert_true(page.count >= 1);
	assert_int_equal(page.list[page.count - 1].events, ON_DELETED);
	assert_true(page.list[page.count - 1].by_ttl);
}

static void a_table_without_a_stream_is_reported(void **state)
{
	struct backend_reply reply;
	struct shard_list shards;
	struct run *r = run();

	(void)state;
	backend_call(c.f.backend, &c.f.arena, "DeleteTable", SLICE("{\"TableName\":\"Test\"}"), &reply);
	assert_int_equal(reply.status, 200);
	while (db_step(c.f.db))
		;
	assert_false(dyn_list_shards(r, &shards));
	assert_int_equal(r->problem.type, PROBLEM_NOT_FOUND);
}

static void sequence_numbers_are_compared_as_numbers(void **state)
{
	(void)state;
	assert_true(sequence_compare(SLICE("000000000000000000009"), SLICE("000000000000000000010")) < 0);
	assert_true(sequence_compare(SLICE("9"), SLICE("10")) < 0);
	assert_true(sequence_compare(SLICE("10"), SLICE("9")) > 0);
	assert_true(sequence_compare(SLICE("0010"), SLICE("9")) > 0);
	assert_true(sequence_compare(SLICE("111649900000000017498439937"), SLICE("99999999999999999999999999")) > 0);
	assert_int_equal(sequence_compare(SLICE("7"), SLICE("007")), 0);
	assert_true(sequence_compare(SLICE(""), SLICE("0")) < 0);
	assert_true(sequence_compare(SLICE("1"), SLICE("")) > 0);
	assert_int_equal(sequence_compare(SLICE(""), SLICE("")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequence_numbers_are_compared_as_numbers),
		cmocka_unit_test_setup_teardown(changes_have_their_images_and_their_entity, setup, teardown),
		cmocka_unit_test_setup_teardown(reading_goes_on_where_it_was, setup, teardown),
		cmocka_unit_test_setup_teardown(trimmed_changes_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(an_iterator_outlives_a_jump_of_the_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(an_expired_item_goes_by_ttl, setup, teardown),
		cmocka_unit_test_setup_teardown(a_table_without_a_stream_is_reported, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
