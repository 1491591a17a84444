/* Query: which items a key condition selects, in which order, and where a page ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "base/alloc.h"

static void make_letters(struct fixture *f)
{
	static const char *const letters[] = { "a", "ab", "abc", "ac", "b", "c" };

	make_table(f, "t", "pk:S sk:S", NULL, 0, STREAM_NONE);
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		putf(f, "t", "{'pk':{'S':'p'},'sk':{'S':'%s'}}", letters[i]);
	put(f, "t", "{'pk':{'S':'o'},'sk':{'S':'a'}}");
	put(f, "t", "{'pk':{'S':'pp'},'sk':{'S':'a'}}");
}

/* Both directions; the second argument is what comes forwards. */
static void assert_query(struct fixture *f, const char *table, const char *index, const char *attribute,
			 const struct key_term *terms, size_t n, const char *expected)
{
	const struct table *t = table_of(f, table);
	struct page_request r = { .table = t, .terms = terms, .term_count = n };
	struct buf reversed;
	char *got;

	if (index)
		r.index = table_index(t, slice_str(index));
	assert_string_equal(read_page(f, &r, attribute, NULL), expected);
	r.backwards = true;
	got = read_page(f, &r, attribute, NULL);
	buf_init(&reversed, &f->arena);
	for (char *end = got + strlen(got); end > got;) {
		char *word = end;

		while (word > got && word[-1] != ' ')
			word--;
		if (reversed.n)
			buf_byte(&reversed, ' ');
		buf_add(&reversed, word, (size_t)(end - word));
		end = word > got ? word - 1 : got;
	}
	buf_byte(&reversed, 0);
	assert_string_equal(reversed.p, expected);
}

static void assert_letters(struct fixture *f, enum key_op op, const char *v, const char *upper, const char *expected)
{
	struct key_term terms[] = {
		term(f, "sk", op, v, upper),
		term(f, "pk", KEY_EQ, "{'S':'p'}", NULL),
	};

	assert_query(f, "t", NULL, "sk", terms, 2, expected);
}

static void every_operator_selects_exactly(void **state)
{
	struct fixture *f = *state;

	make_letters(f);
	struct key_term all = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct key_term none = term(f, "pk", KEY_EQ, "{'S':'q'}", NULL);

	assert_query(f, "t", NULL, "sk", &all, 1, "a ab abc ac b c");
	assert_query(f, "t", NULL, "sk", &none, 1, "");
	assert_letters(f, KEY_EQ, "{'S':'ab'}", NULL, "ab");
	assert_letters(f, KEY_EQ, "{'S':'aba'}", NULL, "");
	assert_letters(f, KEY_LT, "{'S':'ac'}", NULL, "a ab abc");
	assert_letters(f, KEY_LE, "{'S':'ac'}", NULL, "a ab abc ac");
	assert_letters(f, KEY_GT, "{'S':'ab'}", NULL, "abc ac b c");
	assert_letters(f, KEY_GE, "{'S':'ab'}", NULL, "ab abc ac b c");
	assert_letters(f, KEY_BETWEEN, "{'S':'ab'}", "{'S':'b'}", "ab abc ac b");
	assert_letters(f, KEY_BETWEEN, "{'S':'b'}", "{'S':'ab'}", "");
	assert_letters(f, KEY_BEGINS_WITH, "{'S':'ab'}", NULL, "ab abc");
	assert_letters(f, KEY_BEGINS_WITH, "{'S':'x'}", NULL, "");
}

static void numbers_are_ordered_by_value(void **state)
{
	static const char *const numbers[] = { "10", "9", "-1", "-10", "0", "1.5", "1.25", "1e20", "-0.5" };
	struct fixture *f = *state;

	make_table(f, "n", "pk:N sk:N", NULL, 0, STREAM_NONE);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		putf(f, "n", "{'pk':{'N':'7'},'sk':{'N':'%s'}}", numbers[i]);
	struct key_term terms[] = { term(f, "pk", KEY_EQ, "{'N':'7.0'}", NULL),
				    term(f, "sk", KEY_GT, "{'N':'-1'}", NULL) };

	assert_query(f, "n", NULL, "sk", terms, 1, "-10 -1 -0.5 0 1.25 1.5 9 10 100000000000000000000");
	assert_query(f, "n", NULL, "sk", terms, 2, "-0.5 0 1.25 1.5 9 10 100000000000000000000");
	terms[1] = term(f, "sk", KEY_BETWEEN, "{'N':'-1'}", "{'N':'1.5'}");
	assert_query(f, "n", NULL, "sk", terms, 2, "-1 -0.5 0 1.25 1.5");
	terms[1] = term(f, "sk", KEY_EQ, "{'N':'1'}", NULL);
	assert_query(f, "n", NULL, "sk", terms, 2, "");
}

static void binaries_begin_with_any_byte(void **state)
{
	struct fixture *f = *state;

	make_table(f, "b", "pk:S sk:B", NULL, 0, STREAM_NONE);
	put(f, "b", "{'pk':{'S':'p'},'sk':{'B':'/w=='}}"); /* ff */
	put(f, "b", "{'pk':{'S':'p'},'sk':{'B':'//8='}}"); /* ffff */
	put(f, "b", "{'pk':{'S':'p'},'sk':{'B':'//8A'}}"); /* ffff00 */
	put(f, "b", "{'pk':{'S':'p'},'sk':{'B':'AA=='}}"); /* 00 */
	put(f, "b", "{'pk':{'S':'p'},'sk':{'B':'fw=='}}"); /* 7f */
	struct key_term terms[] = { term(f, "pk", KEY_EQ, "{'S':'p'}", NULL),
				    term(f, "sk", KEY_BEGINS_WITH, "{'B':'//8='}", NULL) };

	assert_query(f, "b", NULL, "sk", terms, 1, "00 7f ff ffff ffff00");
	assert_query(f, "b", NULL, "sk", terms, 2, "ffff ffff00");
	terms[1] = term(f, "sk", KEY_LE, "{'B':'//8='}", NULL);
	assert_query(f, "b", NULL, "sk", terms, 2, "00 7f ff ffff");
}

static void a_limit_gives_a_last_key_even_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct page page;

	make_letters(f);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1, .limit = 4 };

	assert_string_equal(read_page(f, &r, "sk", &page), "a ab abc ac");
	assert_string_equal(item_text(f, page.last_key), "{'pk':{'S':'p'},'sk':{'S':'ac'}}");
	assert_int_equal(page.scanned, 4);
	r.limit = 6;
	assert_string_equal(read_page(f, &r, "sk", &page), "a ab abc ac b c");
	assert_string_equal(item_text(f, page.last_key), "{'pk':{'S':'p'},'sk':{'S':'c'}}");
	r.start = page.last_key;
	assert_string_equal(read_page(f, &r, "sk", &page), "");
	assert_false(value_present(page.last_key));
	r.start = VALUE_ABSENT;
	r.limit = 7;
	read_page(f, &r, "sk", &page);
	assert_false(value_present(page.last_key));
}

static void a_start_key_is_a_place_not_an_item(void **state)
{
	struct fixture *f = *state;

	make_letters(f);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1 };

	r.start = item_of(f, "{'pk':{'S':'p'},'sk':{'S':'abc'}}");
	assert_string_equal(read_page(f, &r, "sk", NULL), "ac b c");
	del(f, "t", "{'pk':{'S':'p'},'sk':{'S':'abc'}}");
	assert_string_equal(read_page(f, &r, "sk", NULL), "ac b c");
	r.backwards = true;
	assert_string_equal(read_page(f, &r, "sk", NULL), "ab a");
	r.start = item_of(f, "{'pk':{'S':'p'},'sk':{'S':'A'}}");
	assert_string_equal(read_page(f, &r, "sk", NULL), "");
}

static void a_start_key_outside_the_terms_has_its_own_error(void **state)
{
	struct fixture *f = *state;

	make_letters(f);
	struct key_term terms[] = { term(f, "pk", KEY_EQ, "{'S':'p'}", NULL), term(f, "sk", KEY_GT, "{'S':'b'}", NULL) };
	struct page_request r = { .table = table_of(f, "t"), .terms = terms, .term_count = 1 };

	r.start = item_of(f, "{'pk':{'S':'p'},'sk':{'S':'a'}}");
	assert_int_equal(page_start_check(&r), PAGE_START_FITS);
	r.start = item_of(f, "{'pk':{'S':'q'},'sk':{'S':'a'}}");
	assert_int_equal(page_start_check(&r), PAGE_START_OUTSIDE);
	r.term_count = 2;
	assert_int_equal(page_start_check(&r), PAGE_START_NOT_IN_RANGE);
	r.start = item_of(f, "{'pk':{'S':'q'},'sk':{'S':'c'}}");
	assert_int_equal(page_start_check(&r), PAGE_START_NOT_RESTARTABLE);
	r.start = item_of(f, "{'pk':{'S':'p'},'sk':{'S':'c'}}");
	assert_int_equal(page_start_check(&r), PAGE_START_FITS);
	assert_true(page_start_in_bounds(&r, &f->arena));
}

static void a_page_ends_with_the_item_that_reaches_a_megabyte(void **state)
{
	struct fixture *f = *state;
	char *big = arena_alloc(&f->arena, 60001);
	struct page page;

	memset(big, 'x', 60000);
	big[60000] = 0;
	make_table(f, "t", "pk:S sk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 20; i++)
		putf(f, "t", "{'pk':{'S':'p'},'sk':{'S':'%02d'},'x':{'S':'%s'}}", i, big);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1, .consistent = true };

	read_page(f, &r, "sk", &page);
	assert_int_equal(page.count, 18);
	assert_string_equal(item_text(f, page.last_key), "{'pk':{'S':'p'},'sk':{'S':'17'}}");
	/* 18 * (60000 + 1 + 2 + 1 + 2 + 2) bytes, rounded once */
	assert_true(page.capacity.table_units == 264);
	r.start = page.last_key;
	assert_string_equal(read_page(f, &r, "sk", &page), "18 19");
	assert_false(value_present(page.last_key));
}

/* Where DynamoDB was measured to end its pages. */
static void a_megabyte_is_measured_as_stored(void **state)
{
	struct fixture *f = *state;
	char *e = arena_alloc(&f->arena, 41647);
	struct page page;

	memset(e, 'e', 41646);
	e[41646] = 0;
	make_table(f, "t", "a:S b:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 25; i++) {
		putf(f, "t", "{'a':{'S':'0123456789'},'b':{'S':'%02d'},'e':{'S':'%.*s'}}", i, 41645, e);
		putf(f, "t", "{'a':{'S':'9876543210'},'b':{'S':'%02d'},'e':{'S':'%.*s'}}", i, i == 24 ? 41646 : 41645,
		     e);
	}
	struct key_term under = term(f, "a", KEY_EQ, "{'S':'0123456789'}", NULL);
	struct key_term over = term(f, "a", KEY_EQ, "{'S':'9876543210'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &under, .term_count = 1 };

	read_page(f, &r, "b", &page);
	assert_int_equal(page.count, 25);
	assert_false(value_present(page.last_key));
	r.terms = &over;
	read_page(f, &r, "b", &page);
	assert_int_equal(page.count, 25);
	assert_true(value_present(page.last_key));
	assert_true(page.capacity.table_units == 127.5);
}

static void a_filter_comes_after_the_limit(void **state)
{
	struct fixture *f = *state;
	const struct condition *filter;
	struct expr_bindings *b;
	struct error e = { 0 };
	struct page page;

	make_table(f, "t", "pk:S sk:N", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 10; i++)
		putf(f, "t", "{'pk':{'S':'p'},'sk':{'N':'%d'},'odd':{'N':'%d'}}", i, i % 2);
	assert_true(expr_bindings_new(&f->arena, NULL, NULL, json_of(f, "{':one':{'N':'1'}}"), &b, &e));
	assert_true(condition_compile(b, FILTER_EXPRESSION, SLICE("odd = :one"), &filter, &e));
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1, .limit = 5, .filter = filter };

	assert_string_equal(read_page(f, &r, "sk", &page), "1 3");
	assert_int_equal(page.count, 2);
	assert_int_equal(page.scanned, 5);
	assert_string_equal(item_text(f, page.last_key), "{'pk':{'S':'p'},'sk':{'N':'4'}}");
}

static void capacity_is_rounded_once_and_halved(void **state)
{
	struct fixture *f = *state;
	struct page page;

	make_letters(f);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct key_term none = term(f, "pk", KEY_EQ, "{'S':'q'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1 };

	read_page(f, &r, "sk", &page);
	assert_true(page.capacity.table_units == 0.5 && page.capacity.read);
	r.consistent = true;
	read_page(f, &r, "sk", &page);
	assert_true(page.capacity.table_units == 1);
	r.terms = &none;
	read_page(f, &r, "sk", &page);
	assert_true(page.capacity.table_units == 1);
}

static void a_local_index_sorts_and_fetches(void **state)
{
	struct fixture *f = *state;
	struct index lsi = index_of("by-c", "pk:S c:S", false, PROJECT_KEYS_ONLY);
	struct page page;

	make_table(f, "t", "pk:S sk:S", &lsi, 1, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'p'},'sk':{'S':'1'},'c':{'S':'z'},'x':{'S':'one'}}");
	put(f, "t", "{'pk':{'S':'p'},'sk':{'S':'2'},'c':{'S':'y'},'x':{'S':'two'}}");
	put(f, "t", "{'pk':{'S':'p'},'sk':{'S':'3'},'x':{'S':'three'}}");
	put(f, "t", "{'pk':{'S':'p'},'sk':{'S':'4'},'c':{'S':'y'},'x':{'S':'four'}}");
	struct key_term terms[] = { term(f, "pk", KEY_EQ, "{'S':'p'}", NULL), term(f, "c", KEY_LE, "{'S':'y'}", NULL) };
	const struct table *t = table_of(f, "t");
	struct page_request r = {
		.table = t, .index = &t->indexes[0], .terms = terms, .term_count = 1, .consistent = true
	};

	assert_query(f, "t", "by-c", "sk", terms, 1, "2 4 1");
	assert_query(f, "t", "by-c", "sk", terms, 2, "2 4");
	assert_string_equal(read_page(f, &r, "x", &page), "- - -");
	assert_true(page.capacity.table_units == 0 && page.capacity.index_units[0] == 1);
	r.fetch_items = true;
	r.limit = 2;
	assert_string_equal(read_page(f, &r, "x", &page), "two four");
	assert_true(page.capacity.table_units == 2 && page.capacity.index_units[0] == 1);
	assert_string_equal(item_text(f, page.last_key), "{'c':{'S':'y'},'pk':{'S':'p'},'sk':{'S':'4'}}");
	r.start = item_of(f, "{'c':{'S':'y'},'pk':{'S':'p'},'sk':{'S':'3'}}");
	assert_string_equal(read_page(f, &r, "x", &page), "four one");
	assert_verified(f);
}

static void put_event(struct fixture *f, int id, const char *tenant, const char *region, const char *status, int year,
		      const char *city)
{
	putf(f, "m",
	     "{'id':{'N':'%d'},'tenant':{'S':'%s'},'region':{'S':'%s'},'status':{'S':'%s'},"
	     "'year':{'N':'%d'},'city':{'S':'%s'}}",
	     id, tenant, region, status, year, city);
}

static void a_multi_attribute_index_goes_left_to_right(void **state)
{
	struct fixture *f = *state;
	struct index gsi = index_of("m1", "tenant:S region:S | status:S year:N city:S", true, PROJECT_ALL);

	make_table(f, "m", "id:N", &gsi, 1, STREAM_NONE);
	put_event(f, 1, "t", "eu", "open", 2024, "Bern");
	put_event(f, 2, "t", "eu", "open", 2023, "Rom");
	put_event(f, 3, "t", "eu", "open", 2024, "Basel");
	put_event(f, 4, "t", "eu", "done", 2024, "Bern");
	put_event(f, 5, "t", "eu", "opened", 2022, "Bern");
	put_event(f, 6, "te", "u", "open", 2024, "Bern");
	put_event(f, 7, "t", "eu", "open", 9, "Bern");
	put(f, "m", "{'id':{'N':'8'},'tenant':{'S':'t'},'region':{'S':'eu'},'status':{'S':'open'}}");
	/* clang-format off */
	struct key_term k[] = {
		term(f, "region", KEY_EQ, "{'S':'eu'}", NULL),
		term(f, "tenant", KEY_EQ, "{'S':'t'}", NULL),
		term(f, "status", KEY_EQ, "{'S':'open'}", NULL),
		term(f, "year", KEY_EQ, "{'N':'2024'}", NULL),
		term(f, "city", KEY_BEGINS_WITH, "{'S':'Ba'}", NULL),
	};
	/* clang-format on */

	assert_query(f, "m", "m1", "id", k, 2, "4 7 2 3 1 5");
	assert_query(f, "m", "m1", "id", k, 3, "7 2 3 1");
	assert_query(f, "m", "m1", "id", k, 4, "3 1");
	assert_query(f, "m", "m1", "id", k, 5, "3");
	k[3].op = KEY_LT;
	assert_query(f, "m", "m1", "id", k, 4, "7 2");
	k[3].op = KEY_GE;
	assert_query(f, "m", "m1", "id", k, 4, "3 1");
	k[2].op = KEY_BEGINS_WITH;
	assert_query(f, "m", "m1", "id", k, 3, "7 2 3 1 5");
	k[2].op = KEY_GT;
	assert_query(f, "m", "m1", "id", k, 3, "5");
	k[2].op = KEY_LE;
	assert_query(f, "m", "m1", "id", k, 3, "4 7 2 3 1");
	assert_verified(f);
}

static void an_index_page_continues_after_its_start_key(void **state)
{
	struct fixture *f = *state;
	struct index gsi = index_of("g", "g:S", true, PROJECT_KEYS_ONLY);
	struct page page;

	make_table(f, "t", "pk:S sk:N", &gsi, 1, STREAM_NONE);
	for (int i = 0; i < 9; i++)
		putf(f, "t", "{'pk':{'S':'p%d'},'sk':{'N':'%d'},'g':{'S':'same'}}", i % 3, i);
	struct key_term g = term(f, "g", KEY_EQ, "{'S':'same'}", NULL);
	const struct table *t = table_of(f, "t");
	struct page_request r = { .table = t, .index = &t->indexes[0], .terms = &g, .term_count = 1, .limit = 2 };
	int seen = 0;

	do {
		read_page(f, &r, "sk", &page);
		seen += (int)page.count;
		r.start = page.last_key;
		assert_true(page.capacity.index_units[0] == 0.5 && page.capacity.table_units == 0);
	} while (value_present(page.last_key));
	assert_int_equal(seen, 9);
}

static void strings_with_zero_bytes_sort_in_an_index(void **state)
{
	struct fixture *f = *state;
	struct index gsi = index_of("g", "g:S | r:S r2:S", true, PROJECT_ALL);

	make_table(f, "t", "pk:S", &gsi, 1, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'1'},'g':{'S':'g'},'r':{'S':'a'},'r2':{'S':'z'}}");
	put(f, "t", "{'pk':{'S':'2'},'g':{'S':'g'},'r':{'S':'a\\u0000'},'r2':{'S':'a'}}");
	put(f, "t", "{'pk':{'S':'3'},'g':{'S':'g'},'r':{'S':'a\\u0000b'},'r2':{'S':'a'}}");
	put(f, "t", "{'pk':{'S':'4'},'g':{'S':'g'},'r':{'S':'a\\u0001'},'r2':{'S':'a'}}");
	struct key_term k[] = { term(f, "g", KEY_EQ, "{'S':'g'}", NULL),
				term(f, "r", KEY_BEGINS_WITH, "{'S':'a\\u0000'}", NULL) };

	assert_query(f, "t", "g", "pk", k, 1, "1 2 3 4");
	assert_query(f, "t", "g", "pk", k, 2, "2 3");
	k[1].op = KEY_EQ;
	assert_query(f, "t", "g", "pk", k, 2, "2");
	k[1].op = KEY_GT;
	assert_query(f, "t", "g", "pk", k, 2, "3 4");
	k[1].op = KEY_LT;
	assert_query(f, "t", "g", "pk", k, 2, "1");
}

static void a_failing_disk_is_an_error_not_an_end(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };
	struct page page;

	make_letters(f);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	struct page_request r = { .table = table_of(f, "t"), .terms = &pk, .term_count = 1 };

	store_fail_after(db_store(f->db), 0);
	assert_false(db_page(f->db, &r, &f->arena, &page, &e));
	assert_int_equal(e.code, ERR_INTERNAL);
	store_fail_after(db_store(f->db), -1);
	assert_true(db_page(f->db, &r, &f->arena, &page, &e));
}

/* Every allocation of a page fails once: a clean way out, nothing leaked, and the next one works. */
static void a_page_survives_running_out_of_memory(void **state)
{
	struct fixture *f = *state;
	struct index lsi = index_of("by-c", "pk:S c:S", false, PROJECT_KEYS_ONLY);
	volatile bool finished = false;

	make_table(f, "t", "pk:S sk:S", &lsi, 1, STREAM_NONE);
	putf(f, "t", "{'pk':{'S':'p'},'sk':{'S':'1'},'c':{'S':'z'},'x':{'S':'%05000d'}}", 1);
	putf(f, "t", "{'pk':{'S':'p'},'sk':{'S':'2'},'c':{'S':'y'},'x':{'S':'%05000d'}}", 2);
	struct key_term pk = term(f, "pk", KEY_EQ, "{'S':'p'}", NULL);
	const struct table *t = table_of(f, "t");
	struct page_request r = {
		.table = t, .index = &t->indexes[0], .terms = &pk, .term_count = 1, .limit = 2, .fetch_items = true
	};

	for (long n = 0; !finished; n++) {
		struct error e = { 0 };
		struct arena a;
		struct page page;

		arena_init(&a);
		alloc_fail_after(n);
		ARENA_TRY(&a, {
			finished = db_page(f->db, &r, &a, &page, &e) && !alloc_has_failed();
		}, {
			assert_true(alloc_has_failed());
		});
		alloc_fail_never();
		if (finished)
			assert_int_equal(page.count, 2);
		arena_release(&a);
		assert_true(n < 1000);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_operator_selects_exactly),
		TEST(numbers_are_ordered_by_value),
		TEST(binaries_begin_with_any_byte),
		TEST(a_limit_gives_a_last_key_even_at_the_end),
		TEST(a_start_key_is_a_place_not_an_item),
		TEST(a_start_key_outside_the_terms_has_its_own_error),
		TEST(a_page_ends_with_the_item_that_reaches_a_megabyte),
		TEST(a_megabyte_is_measured_as_stored),
		TEST(a_filter_comes_after_the_limit),
		TEST(capacity_is_rounded_once_and_halved),
		TEST(a_local_index_sorts_and_fetches),
		TEST(a_multi_attribute_index_goes_left_to_right),
		TEST(an_index_page_continues_after_its_start_key),
		TEST(strings_with_zero_bytes_sort_in_an_index),
		TEST(a_failing_disk_is_an_error_not_an_end),
		TEST(a_page_survives_running_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
