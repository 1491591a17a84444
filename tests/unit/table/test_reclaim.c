/* Dropped tables and indexes give their room back, also when the process ended in between.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "table/control/reclaim.h"

#define ITEMS 300
#define VALUE 10000

static void fill(struct fixture *f, const char *table)
{
	static char value[VALUE + 1];
	uint32_t noise = 1;

	for (int i = 0; i < ITEMS; i++) {
		for (size_t k = 0; k < VALUE; k++) {
			noise = noise * 1664525u + 1013904223u;
			value[k] = (char)('a' + (noise >> 24) % 26);
		}
		putf(f, table, "{'pk':{'S':'k%d'},'g':{'S':'g%d'},'v':{'S':'%s'}}", i, i % 7, value);
	}
}

static void drop(struct fixture *f, const char *table)
{
	struct control c = { .kind = CONTROL_DELETE_TABLE, .table = slice_str(table) };

	run_control(f, &c);
}

static size_t notes(struct fixture *f)
{
	struct store_iter *it = store_iter(&(struct store_at){ db_store(f->db), NULL, STORE_META },
					   &(struct store_walk){ SLICE("reclaim"), SLICE("reclain") }, &f->arena);
	size_t n = 0;

	while (store_iter_next(it))
		n++;
	store_iter_close(it);
	return n;
}

static void make_and_fill(struct fixture *f, const char *table)
{
	struct index by_g = index_of("byG", "g:S", true, PROJECT_ALL);

	make_table(f, table, "pk:S", &by_g, 1, STREAM_NEW_AND_OLD);
	fill(f, table);
}

static void a_dropped_table_gives_its_room_back(void **state)
{
	struct fixture *f = *state;
	uint64_t before;
	bool worked;

	make_and_fill(f, "kept");
	make_and_fill(f, "gone");
	fixture_reopen(f); /* all of it is in files */
	before = store_disk_bytes(db_store(f->db));
	assert_true(before > 12 * ITEMS * VALUE / 4);
	drop(f, "gone");
	assert_int_equal(notes(f), 4); /* items, TTL, the index, the stream */
	assert_true(reclaim_step(f->db, &worked));
	assert_true(worked);
	assert_int_equal(notes(f), 0);
	assert_true(reclaim_step(f->db, &worked));
	assert_false(worked);
	fixture_reopen(f);
	assert_true(store_disk_bytes(db_store(f->db)) < before / 3 * 2);
	assert_int_equal(table_of(f, "kept")->stats->items, ITEMS);
	assert_non_null(get(f, "kept", "{'pk':{'S':'k7'}}"));
	assert_verified(f);
}

static void what_a_crash_cut_short_is_done_after_the_next_start(void **state)
{
	struct fixture *f = *state;
	bool worked;

	make_and_fill(f, "gone");
	drop(f, "gone");
	fixture_reopen(f);
	assert_int_equal(notes(f), 4);
	make_and_fill(f, "gone"); /* the same name again, another id */
	assert_true(reclaim_step(f->db, &worked));
	assert_int_equal(notes(f), 0);
	assert_int_equal(table_of(f, "gone")->stats->items, ITEMS);
	assert_non_null(get(f, "gone", "{'pk':{'S':'k299'}}"));
	assert_verified(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_dropped_table_gives_its_room_back, fixture_setup_on_disk,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_a_crash_cut_short_is_done_after_the_next_start,
						fixture_setup_on_disk, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
