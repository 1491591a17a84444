/* A new index on a table with items: filled while writes go on; and what db_verify() notices.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include "fixture.h"
#include "table/layout.h"

#define ITEMS 500

static void fill(struct fixture *f)
{
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < ITEMS; i++)
		putf(f, "t", "{'pk':{'S':'k%d'},'g':{'S':'g'},'n':{'N':'%d'}}", i, i);
}

static const struct index *index_now(struct fixture *f)
{
	return &table_of(f, "t")->indexes[0];
}

static int64_t entries_seen(struct fixture *f)
{
	struct key_term g = term(f, "g", KEY_EQ, "{'S':'g'}", NULL);
	const struct table *t = table_of(f, "t");
	struct page_request r = { .table = t, .index = &t->indexes[0], .terms = &g, .term_count = 1 };
	struct page page;

	read_page(f, &r, "n", &page);
	return page.count;
}

static void an_index_is_creating_until_it_is_filled(void **state)
{
	struct fixture *f = *state;
	int steps = 0;

	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	assert_int_equal(index_now(f)->status, STATUS_CREATING);
	assert_true(index_now(f)->backfilling);
	while (db_step(f->db)) {
		steps++;
		assert_verified(f);
	}
	assert_true(steps > 2);
	assert_int_equal(index_now(f)->status, STATUS_ACTIVE);
	assert_false(index_now(f)->backfilling);
	assert_int_equal(index_now(f)->stats->items, ITEMS);
	assert_int_equal(entries_seen(f), ITEMS);
	assert_verified(f);
}

static void writes_go_on_between_chunks(void **state)
{
	struct fixture *f = *state;
	int step = 0;

	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	do {
		for (int i = step; i < ITEMS; i += 9) {
			if (i % 3 == 0)
				putf(f, "t", "{'pk':{'S':'k%d'},'g':{'S':'g'},'n':{'N':'%d'}}", i, -i);
			else if (i % 3 == 1)
				putf(f, "t", "{'pk':{'S':'k%d'},'n':{'N':'%d'}}", i, i);
			else
				write_one(f, WRITE_DELETE, "t",
					  value_make_map(&f->arena,
							 &(struct value_member){
								 SLICE("pk"),
								 value_make_s(&f->arena,
									      arena_printf(&f->arena, "k%d", i)) },
							 1));
		}
		putf(f, "t", "{'pk':{'S':'new%d'},'g':{'S':'g'},'n':{'N':'1'}}", step++);
		assert_verified(f);
	} while (db_step(f->db));
	assert_int_equal(index_now(f)->status, STATUS_ACTIVE);
	assert_verified(f);
}

static void items_that_do_not_fit_are_left_out(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'fits'},'g':{'S':'g'},'n':{'N':'1'}}");
	put(f, "t", "{'pk':{'S':'type'},'g':{'N':'1'},'n':{'N':'1'}}");
	put(f, "t", "{'pk':{'S':'type2'},'g':{'S':'g'},'n':{'S':'1'}}");
	put(f, "t", "{'pk':{'S':'empty'},'g':{'S':''},'n':{'N':'1'}}");
	put(f, "t", "{'pk':{'S':'absent'},'g':{'S':'g'}}");
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	while (db_step(f->db))
		;
	assert_int_equal(index_now(f)->status, STATUS_ACTIVE);
	assert_int_equal(entries_seen(f), 1);
	assert_verified(f);
}

static void an_empty_table_has_its_index_at_once(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	add_index(f, "t", index_of("g", "g:S", true, PROJECT_KEYS_ONLY));
	while (db_step(f->db))
		;
	assert_int_equal(index_now(f)->status, STATUS_ACTIVE);
}

static void a_restart_resumes_the_backfill(void **state)
{
	struct fixture *f = *state;

	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_KEYS_ONLY));
	assert_true(db_step(f->db));
	assert_int_equal(index_now(f)->status, STATUS_CREATING);
	fixture_reopen(f);
	assert_int_equal(index_now(f)->status, STATUS_CREATING);
	assert_verified(f);
	while (db_step(f->db))
		;
	assert_int_equal(index_now(f)->status, STATUS_ACTIVE);
	assert_int_equal(index_now(f)->stats->items, ITEMS);
	assert_verified(f);
}

static void a_table_deleted_meanwhile_ends_it(void **state)
{
	struct fixture *f = *state;
	struct control c = { .kind = CONTROL_DELETE_TABLE, .table = SLICE("t") };

	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	assert_true(db_step(f->db));
	run_control(f, &c);
	assert_false(db_step(f->db));
	assert_verified(f);
}

static void a_failing_disk_puts_it_off(void **state)
{
	struct fixture *f = *state;

	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	for (long n = 0; n < 6; n++) {
		store_fail_after(db_store(f->db), n);
		(void)db_step(f->db);
		store_fail_after(db_store(f->db), -1);
		assert_verified(f);
	}
	while (db_step(f->db))
		;
	assert_int_equal(entries_seen(f), ITEMS);
	assert_verified(f);
}

/* The thread itself, without calls of db_step(). */
static void the_background_thread_needs_no_asking(void **state)
{
	struct fixture *f = *state;
	struct db_options o = { .clock = &f->clock, .ttl_sweep_ms = 1 };
	char why[256] = "";

	db_close(f->db);
	assert_int_equal(db_open(&o, &f->db, why, sizeof(why)), STORE_OPENED);
	fill(f);
	add_index(f, "t", index_of("g", "g:S | n:N", true, PROJECT_ALL));
	set_ttl(f, "t", "ttl", true);
	putf(f, "t", "{'pk':{'S':'k0'},'ttl':{'N':'%lld'}}", FIXTURE_START_MS / 1000 - 1);
	for (;;) {
		const struct table *t = table_of(f, "t");

		if (t->indexes[0].status == STATUS_ACTIVE && !t->ttl_backfilling && t->stats->items == ITEMS - 1)
			break;
		arena_clear(&f->arena);
		sched_yield();
	}
	assert_verified(f);
}

/* ---- db_verify() ---- */

static void tamper(struct fixture *f, enum store_family family, struct slice key, const char *value)
{
	struct store_batch *b = store_batch_new();
	struct error e = { 0 };

	assert_non_null(b);
	if (value)
		store_batch_put(b, db_store(f->db), family, key, slice_str(value));
	else
		store_batch_delete(b, db_store(f->db), family, key);
	assert_true(store_write(db_store(f->db), b, false, &f->arena, &e));
	store_batch_free(b);
}

static void assert_noticed(struct fixture *f, const char *what)
{
	struct buf report;

	buf_init(&report, &f->arena);
	assert_false(db_verify(f->db, &report));
	buf_byte(&report, 0);
	if (!strstr(report.p, what))
		fail_msg("no \"%s\" in: %s", what, report.p);
}

static void tampering_is_detected(void **state)
{
	struct fixture *f = *state;
	struct index indexes[] = { index_of("g", "g:S", true, PROJECT_ALL),
				   index_of("l", "pk:S g:S", false, PROJECT_ALL) };
	struct item_key k = { SLICE("p"), SLICE("s") };
	const char *text = "{'pk':{'S':'p'},'sk':{'S':'s'},'g':{'S':'g'},'ttl':{'N':'1900000000'}}";
	const struct table *t;

	make_table(f, "t", "pk:S sk:S", indexes, 2, STREAM_NONE);
	set_ttl(f, "t", "ttl", true);
	while (db_step(f->db))
		;
	put(f, "t", text);
	assert_verified(f);
	t = table_of(f, "t");
	tamper(f, STORE_INDEX, layout_index_key(&f->arena, &t->indexes[0], item_of(f, text), k), NULL);
	assert_noticed(f, "index g lacks");
	put(f, "t", text);
	del(f, "t", "{'pk':{'S':'p'},'sk':{'S':'s'}}");
	put(f, "t", text);
	assert_verified(f);
	tamper(f, STORE_TTL, layout_ttl_key(&f->arena, t->id, 5, k), "");
	assert_noticed(f, "TTL entries");
	tamper(f, STORE_TTL, layout_ttl_key(&f->arena, t->id, 5, k), NULL);
	tamper(f, STORE_STATS, layout_collection_key(&f->arena, t->id, k.pk), "12345678");
	assert_noticed(f, "collection");
	tamper(f, STORE_INDEX, layout_id(&f->arena, 4711), "");
	assert_noticed(f, "id 4711");
}

int main(void)
{
#define TEST(name)      cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_on_disk, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_index_is_creating_until_it_is_filled),
		TEST(writes_go_on_between_chunks),
		TEST(items_that_do_not_fit_are_left_out),
		TEST(an_empty_table_has_its_index_at_once),
		DISK_TEST(a_restart_resumes_the_backfill),
		TEST(a_table_deleted_meanwhile_ends_it),
		TEST(a_failing_disk_puts_it_off),
		TEST(the_background_thread_needs_no_asking),
		TEST(tampering_is_detected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
