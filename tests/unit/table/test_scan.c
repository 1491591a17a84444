/* Scan: everything once, in segments or not, of tables and of indexes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "table/bounds.h"
#include "value/key.h"

#define ITEMS 60

static void fill(struct fixture *f, const struct index *indexes, size_t n)
{
	make_table(f, "t", "pk:S", indexes, n, STREAM_NONE);
	for (int i = 0; i < ITEMS; i++)
		putf(f, "t", "{'pk':{'S':'k%d'},'n':{'N':'%d'},'g':{'S':'g%d'}}", i, i, i % 7);
}

/* Pages through a scan and counts how often each item comes. */
static void scan_all(struct fixture *f, struct page_request r, int *seen)
{
	struct page page;

	do {
		char *text = read_page(f, &r, "n", &page), *next = text;

		for (char *word = text; *word; word = next) {
			long n = strtol(word, &next, 10);

			assert_ptr_not_equal(next, word);
			assert_true(n >= 0 && n < ITEMS);
			seen[n]++;
		}
		r.start = page.last_key;
		assert_true(page_start_in_segment(&r, &f->arena));
	} while (value_present(page.last_key));
}

static void assert_all_once(const int *seen)
{
	for (int i = 0; i < ITEMS; i++)
		assert_int_equal(seen[i], 1);
}

static void a_scan_sees_every_item_of_its_table_once(void **state)
{
	struct fixture *f = *state;
	struct page_request r = { 0 };
	int seen[ITEMS] = { 0 };

	fill(f, NULL, 0);
	make_table(f, "other", "pk:S", NULL, 0, STREAM_NONE);
	put(f, "other", "{'pk':{'S':'k1'},'n':{'N':'1'}}");
	r.table = table_of(f, "t");
	scan_all(f, r, seen);
	assert_all_once(seen);
	memset(seen, 0, sizeof(seen));
	r.limit = 7;
	scan_all(f, r, seen);
	assert_all_once(seen);
}

static void segments_are_disjoint_and_complete(void **state)
{
	static const uint32_t totals[] = { 1, 2, 3, 4, 7, 64, 1000000 };
	struct fixture *f = *state;

	fill(f, NULL, 0);
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals) - 1; i++) {
		int seen[ITEMS] = { 0 };

		for (uint32_t s = 0; s < totals[i]; s++)
			scan_all(f,
				 (struct page_request){ .table = table_of(f, "t"),
							.segment = s,
							.total_segments = totals[i],
							.limit = 3 },
				 seen);
		assert_all_once(seen);
	}
	for (int i = 0; i < ITEMS; i++) {
		struct slice pk = arena_printf(&f->arena, "k%d", i);
		struct page_request r = { .table = table_of(f, "t"),
					  .total_segments = 1000000,
					  .segment = bounds_segment_of_hash(key_hash(pk), 1000000) };
		char *got = read_page(f, &r, "pk", NULL);

		assert_true(slice_is(pk, got));
	}
}

static void segment_bounds_meet(void **state)
{
	static const uint32_t totals[] = { 1, 2, 3, 5, 4096, 999999, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++)
		for (uint32_t s = 1; s < totals[i]; s += 1 + totals[i] / 50) {
			uint64_t first;

			assert_true(bounds_segment_hash(s, totals[i], &first));
			assert_int_equal(bounds_segment_of_hash(first, totals[i]), s);
			assert_int_equal(bounds_segment_of_hash(first - 1, totals[i]), s - 1);
		}
	assert_int_equal(bounds_segment_of_hash(UINT64_MAX, 1000000), 999999);
}

static void a_start_key_of_another_segment_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint32_t own;

	fill(f, NULL, 0);
	own = bounds_segment_of_hash(key_hash(SLICE("k1")), 4);
	for (uint32_t s = 0; s < 4; s++) {
		struct page_request r = { .table = table_of(f, "t"),
					  .segment = s,
					  .total_segments = 4,
					  .start = item_of(f, "{'pk':{'S':'k1'}}") };

		assert_int_equal(page_start_in_segment(&r, &f->arena), s == own);
		assert_int_equal(page_start_in_bounds(&r, &f->arena), s == own);
	}
}

static void an_index_is_scanned_in_segments_too(void **state)
{
	struct fixture *f = *state;
	struct index gsi = index_of("g", "g:S | n:N", true, PROJECT_ALL);
	int seen[ITEMS] = { 0 };

	fill(f, &gsi, 1);
	for (uint32_t s = 0; s < 3; s++) {
		const struct table *t = table_of(f, "t");

		scan_all(f,
			 (struct page_request){
				 .table = t, .index = &t->indexes[0], .segment = s, .total_segments = 3, .limit = 4 },
			 seen);
	}
	assert_all_once(seen);
	assert_verified(f);
}

static void a_sparse_index_shows_only_what_it_holds(void **state)
{
	struct fixture *f = *state;
	struct index gsi = index_of("g", "a:S b:S | c:S", true, PROJECT_KEYS_ONLY);
	struct page page;

	make_table(f, "t", "pk:S", &gsi, 1, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'1'},'a':{'S':'x'},'b':{'S':'x'},'c':{'S':'x'},'d':{'S':'y'}}");
	put(f, "t", "{'pk':{'S':'2'},'a':{'S':'x'},'b':{'S':'x'}}");
	put(f, "t", "{'pk':{'S':'3'},'b':{'S':'x'},'c':{'S':'x'}}");
	const struct table *t = table_of(f, "t");
	struct page_request r = { .table = t, .index = &t->indexes[0] };

	assert_string_equal(read_page(f, &r, "pk", &page), "1");
	assert_string_equal(read_page(f, &r, "d", &page), "-");
	assert_true(page.capacity.index_units[0] == 0.5 && page.capacity.table_units == 0);
	r.limit = 1;
	read_page(f, &r, "pk", &page);
	assert_string_equal(item_text(f, page.last_key), "{'a':{'S':'x'},'b':{'S':'x'},'c':{'S':'x'},'pk':{'S':'1'}}");
	assert_verified(f);
}

static void a_scan_goes_on_although_its_start_item_is_gone(void **state)
{
	struct fixture *f = *state;
	struct page_request r = { .limit = 10 };
	struct page page;
	char *rest;

	fill(f, NULL, 0);
	r.table = table_of(f, "t");
	read_page(f, &r, "n", &page);
	r.start = page.last_key;
	r.limit = 0;
	rest = read_page(f, &r, "n", NULL);
	del(f, "t", item_text(f, page.last_key));
	assert_string_equal(read_page(f, &r, "n", &page), rest);
	assert_int_equal(page.count, ITEMS - 10);
}

static void an_empty_table_ends_at_once(void **state)
{
	struct fixture *f = *state;
	struct page_request r = { .limit = 1 };
	struct page page;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	r.table = table_of(f, "t");
	assert_string_equal(read_page(f, &r, "pk", &page), "");
	assert_false(value_present(page.last_key));
	assert_int_equal(page.scanned, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_scan_sees_every_item_of_its_table_once),
		TEST(segments_are_disjoint_and_complete),
		cmocka_unit_test(segment_bounds_meet),
		TEST(a_start_key_of_another_segment_is_noticed),
		TEST(an_index_is_scanned_in_segments_too),
		TEST(a_sparse_index_shows_only_what_it_holds),
		TEST(a_scan_goes_on_although_its_start_item_is_gone),
		TEST(an_empty_table_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
