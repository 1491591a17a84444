/* Reading through the database's requests: GetItem, Query, BatchGetItem, and their trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"

static void an_item_is_got_by_its_key(void **state)
{
	struct value v;

	put("{'PK':{'S':'a'},'SK':{'S':'b'},'quo\\\"ted':{'S':'x \\\\ \\\" y'},'n':{'N':'1.50'},"
	    "'m':{'M':{'l':{'L':[{'NULL':true}]}}}}");
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'quo\\\"ted':{'S':'x \\\\ \\\" y'},'n':{'N':'1.5'},"
				   "'m':{'M':{'l':{'L':[{'NULL':true}]}}}}");
	assert_true(dyn_get(r, key("a", "c"), false, &v));
	assert_false(value_present(v));
}

static void keys_come_out_of_items(void **state)
{
	struct value v = item("{'PK':{'S':'a'},'SK':{'S':'b'},'GSI1PK':{'S':'c'},'GSI1SK':{'S':'d'},'x':{'S':'y'}}");

	assert_item(dyn_key_of(r, v), "{'PK':{'S':'a'},'SK':{'S':'b'}}");
	assert_item(dyn_start_key_of(r, SLICE(""), v), "{'PK':{'S':'a'},'SK':{'S':'b'}}");
	assert_item(dyn_start_key_of(r, SLICE("GSI1"), v),
		    "{'PK':{'S':'a'},'SK':{'S':'b'},'GSI1PK':{'S':'c'},'GSI1SK':{'S':'d'}}");
}

static void a_refused_get_is_a_problem(void **state)
{
	struct value v;

	assert_false(dyn_get(r, item("{'PK':{'S':'a'}}"), false, &v));
	assert_problem(PROBLEM_INVALID, "the database refuses these values: too long for a key, or out of range");
}

/* ---- Query ---- */

/* a: SK 01 … 09, each with kind odd or even and score. */
static void put_numbers(void)
{
	for (int i = 1; i <= 9; i++)
		put(arena_cstr(r->arena,
			       arena_printf(r->arena,
					    "{'PK':{'S':'a'},'SK':{'S':'0%d'},'kind':{'S':'%s'},'score':{'N':'%d'},"
					    "'GSI1PK':{'S':'%s'},'GSI1SK':{'S':'%d'}}",
					    i, i % 2 ? "odd" : "even", i, i % 2 ? "odd" : "even", 9 - i)));
}

/* The SKs of a page: "01 02". */
static const char *keys_of(const struct dyn_page *p)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; i < p->count; i++) {
		if (i)
			buf_byte(&b, ' ');
		buf_put(&b, value_bytes(value_get(p->items[i], SLICE("SK"))));
	}
	return arena_cstr(r->arena, buf_slice(&b));
}

static void each_operator_finds_its_range(void **state)
{
	static const struct {
		enum where_op op;
		const char *value, *upper, *found;
	} cases[] = {
		{ WHERE_EQ, "03", "", "03" },
		{ WHERE_BEGINS, "0", "", "01 02 03 04 05 06 07 08 09" },
		{ WHERE_BEGINS, "08", "", "08" },
		{ WHERE_BEGINS, "", "", "01 02 03 04 05 06 07 08 09" },
		{ WHERE_BETWEEN, "03", "05", "03 04 05" },
		{ WHERE_BETWEEN, "05", "03", "" },
		{ WHERE_LT, "03", "", "01 02" },
		{ WHERE_LE, "03", "", "01 02 03" },
		{ WHERE_GT, "07", "", "08 09" },
		{ WHERE_GE, "07", "", "07 08 09" },
	};

	put_numbers();
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dyn_condition where[] = {
			{ SLICE("PK"), WHERE_EQ, s("a"), VALUE_ABSENT },
			{ SLICE("SK"), cases[i].op, s(cases[i].value), s(cases[i].upper) },
		};
		struct dyn_page page;

		assert_true(dyn_query(r, &(struct dyn_query){ .where = where, .where_count = 2 }, &page));
		assert_string_equal(keys_of(&page), cases[i].found);
		assert_false(value_present(page.last));
	}
}

static void pages_follow_one_another(void **state)
{
	struct dyn_condition where = { SLICE("GSI1PK"), WHERE_EQ, s("odd"), VALUE_ABSENT };
	struct dyn_query q = { .index = SLICE("GSI1"), .where = &where, .where_count = 1, .limit = 2 };
	struct dyn_page page;

	put_numbers();
	assert_true(dyn_query(r, &q, &page));
	assert_string_equal(keys_of(&page), "09 07");
	assert_item(page.last, "{'PK':{'S':'a'},'SK':{'S':'07'},'GSI1PK':{'S':'odd'},'GSI1SK':{'S':'2'}}");
	assert_true(value_equal(page.last, dyn_start_key_of(r, q.index, page.items[1])));
	q.start = page.last;
	assert_true(dyn_query(r, &q, &page));
	assert_string_equal(keys_of(&page), "05 03");
	q.start = VALUE_ABSENT;
	q.descending = true;
	assert_true(dyn_query(r, &q, &page));
	assert_string_equal(keys_of(&page), "01 03");
}

static void counting_brings_no_items(void **state)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, s("a"), VALUE_ABSENT };
	struct slice names[] = { SLICE("kind") };
	struct dyn_query q = { .where = &where,
			       .where_count = 1,
			       .count_only = true,
			       .consistent = true,
			       .without = names,
			       .without_count = 1,
			       .all = names,
			       .all_count = 1 };
	struct dyn_page page;

	put_numbers();
	assert_true(dyn_query(r, &q, &page));
	assert_int_equal(page.count, 9);
	assert_null(page.items);
}

static void a_filter_leaves_rows_out(void **state)
{
	struct dyn_condition where[] = {
		{ SLICE("PK"), WHERE_EQ, s("a"), VALUE_ABSENT },
		{ SLICE("SK"), WHERE_GT, s("02"), VALUE_ABSENT },
	};
	const struct test *f = filter("kind = 'even' and (score > 5 or score is absent)");
	struct dyn_query q = { .where = where, .where_count = 2, .filter = f };
	struct dyn_page page;

	put_numbers();
	assert_true(dyn_query(r, &q, &page));
	assert_string_equal(keys_of(&page), "06 08");
}

static void what_is_projected_away_stays_there_but_keys_come(void **state)
{
	struct dyn_condition where = { SLICE("GSI1PK"), WHERE_EQ, s("odd"), VALUE_ABSENT };
	struct slice without[] = { SLICE("kind"), SLICE("PK") };
	struct slice all[] = { SLICE("kind"), SLICE("score"), SLICE("PK"), SLICE("score"), SLICE("gone") };
	const struct test *f = filter("kind = 'odd'");
	struct dyn_query q = { .index = SLICE("GSI1"),
			       .where = &where,
			       .where_count = 1,
			       .limit = 1,
			       .filter = f,
			       .without = without,
			       .without_count = 2,
			       .all = all,
			       .all_count = 5 };
	struct dyn_page page;

	put_numbers();
	assert_true(dyn_query(r, &q, &page));
	assert_int_equal(page.count, 1);
	assert_item(page.items[0], "{'PK':{'S':'a'},'SK':{'S':'09'},'GSI1PK':{'S':'odd'},'GSI1SK':{'S':'0'},"
				   "'score':{'N':'9'}}");
}

static void an_index_is_asked_only_for_what_it_holds(void **state)
{
	struct slice include[] = { SLICE("score") };
	struct slice without[] = { SLICE("kind") }, all[] = { SLICE("kind"), SLICE("score"), SLICE("text") };
	struct design_index index = { .name = SLICE("I"),
				      .projection = PROJECT_INCLUDE,
				      .include = include,
				      .include_count = 1,
				      .key = { .hash = { { SLICE("IPK"), VALUE_S } }, .hash_count = 1 } };
	struct dyn_condition where = { SLICE("IPK"), WHERE_EQ, s("x"), VALUE_ABSENT };
	struct dyn_query q = { .index = SLICE("I"),
			       .where = &where,
			       .where_count = 1,
			       .without = without,
			       .without_count = 1,
			       .all = all,
			       .all_count = 3 };
	static const char *const replies[] = { "200 {'Items':[],'Count':0}", NULL };
	struct design d = *r->design;
	struct dyn_page page;
	struct canned c;

	canned_init(&c, replies);
	d.indexes = &index;
	d.index_count = 1;
	r->design = &d;
	assert_true(dyn_query(r, &q, &page));
	assert_has(c.body, "\"ProjectionExpression\":\"#n1,#n2,#n3,#n4\"");
	assert_has(c.body, "\"#n1\":\"PK\",\"#n2\":\"SK\",\"#n3\":\"IPK\",\"#n4\":\"score\"}");
}

/* ---- BatchGetItem ---- */

static void many_keys_with_repetitions_come_in_order(void **state)
{
	struct value keys[250], items[250];

	for (int i = 0; i < 120; i++)
		put(arena_cstr(r->arena,
			       arena_printf(r->arena, "{'PK':{'S':'k%d'},'SK':{'S':'x'},'i':{'N':'%d'}}", i, i)));
	/* 0..119 are there, 120..149 are not, then 0..99 again */
	for (int i = 0; i < 250; i++)
		keys[i] = key(arena_cstr(r->arena, arena_printf(r->arena, "k%d", i % 150)), "x");
	keys[7] = VALUE_ABSENT;
	assert_true(dyn_batch_get(r, keys, 250, true, items));
	for (int i = 0; i < 250; i++) {
		if (i % 150 >= 120 || i == 7)
			assert_false(value_present(items[i]));
		else
			assert_true(value_equal(value_get(items[i], SLICE("i")), n(i % 150)));
	}
	assert_true(dyn_batch_get(r, keys, 0, true, items));
}

static void unprocessed_keys_are_read_again(void **state)
{
	char *large = arena_alloc(r->arena, 390 * 1024);
	struct value keys[60], items[60];
	struct trace trace = { 0 };
	struct dyn_refusal refusal;
	int calls = 0;

	memset(large, 'x', 390 * 1024);
	for (int i = 0; i < 60; i++) {
		keys[i] = key(arena_cstr(r->arena, arena_printf(r->arena, "k%d", i)), "x");
		struct dyn_write w = { .kind = DYN_PUT,
				       .item = value_map_with(r->arena, keys[i], SLICE("large"),
							      value_make_s(r->arena, slice_make(large, 390 * 1024))) };

		assert_int_equal(dyn_write(r, &w, 1, SLICE(""), &refusal), DYN_DONE);
	}
	r->trace = &trace;
	assert_true(dyn_batch_get(r, keys, 60, false, items));
	for (int i = 0; i < 60; i++)
		assert_true(value_equal(value_get(items[i], SLICE("PK")), value_get(keys[i], SLICE("PK"))));
	for (const struct trace_call *c = trace.first; c; c = c->next)
		calls++;
	assert_int_equal(calls, 2);
}

static void repeated_keys_are_read_once_and_unprocessed_ones_again(void **state)
{
	static const char *const replies[] = {
		"200 {'Responses':{'Test':[{'PK':{'S':'a'},'SK':{'S':'1'},'n':{'N':'7'}}]},"
		"'UnprocessedKeys':{'Test':{'Keys':[{'PK':{'S':'b'},'SK':{'S':'1'}}]}}}",
		"200 {'Responses':{'Test':[{'PK':{'S':'b'},'SK':{'S':'1'},'n':{'N':'8'}}]}}", NULL
	};
	struct value keys[6] = { key("a", "1"), key("b", "1"), key("a", "1"), VALUE_ABSENT, key("b", "1"), key("c", "1") },
		     items[6];
	struct canned c;

	canned_init(&c, replies);
	assert_true(dyn_batch_get(r, keys, 6, true, items));
	assert_int_equal(c.calls, 2);
	assert_true(slice_is(c.body, "{\"RequestItems\":{\"Test\":{\"Keys\":[{\"PK\":{\"S\":\"b\"},\"SK\":{\"S\":\"1\"}}],"
				     "\"ConsistentRead\":true}}}"));
	for (int i = 0; i < 6; i++) {
		int64_t wanted = i == 0 || i == 2 ? 7 : i == 1 || i == 4 ? 8 : 0;

		assert_int_equal(value_present(items[i]), wanted != 0);
		assert_true(!wanted || value_equal(value_get(items[i], SLICE("n")), n(wanted)));
	}
}

static void a_database_that_does_nothing_is_busy(void **state)
{
	static const char *const replies[] = {
		"200 {'Responses':{},'UnprocessedKeys':{'Test':{'Keys':[{'PK':{'S':'a'},'SK':{'S':'b'}}]}}}", NULL
	};
	struct value keys[1] = { key("a", "b") }, items[1];
	struct canned c;

	canned_init(&c, replies);
	assert_false(dyn_batch_get(r, keys, 1, false, items));
	assert_int_equal(c.calls, 5);
	assert_problem(PROBLEM_BUSY, "the database has too much to do at the moment");
}

static void replies_that_make_no_sense_are_internal(void **state)
{
	static const char *const query[] = { "200 {}", NULL };
	static const char *const stranger[] = { "200 {'Responses':{'Test':[{'PK':{'S':'x'},'SK':{'S':'y'}}]}}", NULL };
	static const char *const get_[] = { "200 {'Item':{'PK':{'S':1}}}", NULL };
	struct value keys[1] = { key("a", "b") }, items[1];
	struct dyn_page page;
	struct canned c;

	canned_init(&c, query);
	assert_false(dyn_query(r, &(struct dyn_query){ 0 }, &page));
	assert_problem(PROBLEM_INTERNAL, "the database could not answer");
	canned_init(&c, stranger);
	assert_false(dyn_batch_get(r, keys, 1, false, items));
	assert_problem(PROBLEM_INTERNAL, "the database could not answer");
	canned_init(&c, get_);
	assert_false(dyn_get(r, keys[0], false, items));
	assert_problem(PROBLEM_INTERNAL, "the database could not answer");
}

/* ---- the trace ---- */

static void the_trace_has_each_request_and_its_cost(void **state)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, s("a"), VALUE_ABSENT };
	struct value v, items[2], keys[2] = { key("a", "01"), key("a", "02") };
	struct trace trace = { 0 };
	const struct trace_call *c;
	struct dyn_page page;

	put_numbers();
	r->trace = &trace;
	put("{'PK':{'S':'a'},'SK':{'S':'10'}}");
	v = get("a", "10");
	assert_true(dyn_query(r, &(struct dyn_query){ .where = &where, .where_count = 1, .limit = 3 }, &page));
	assert_true(dyn_batch_get(r, keys, 2, false, items));
	assert_false(dyn_get(r, item("{}"), false, &v));
	c = trace.first;
	assert_string_equal(c->operation, "PutItem");
	assert_true(c->write_units == 1 && c->read_units == 0 && c->items == 0 && c->us >= 0);
	assert_has(c->request, "\"Item\":{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"10\"}}");
	assert_has(c->request, "\"ReturnConsumedCapacity\":\"TOTAL\"");
	c = c->next;
	assert_string_equal(c->operation, "GetItem");
	assert_true(c->read_units == 1 && c->write_units == 0 && c->items == 1 && c->status == 200);
	c = c->next;
	assert_string_equal(c->operation, "Query");
	assert_true(c->read_units == 0.5 && c->items == 3);
	assert_has(c->request, "\"KeyConditionExpression\":\"#n0 = :v0\"");
	c = c->next;
	assert_string_equal(c->operation, "BatchGetItem");
	assert_true(c->read_units == 1 && c->items == 2);
	c = c->next;
	assert_int_equal(c->status, 400);
	assert_true(slice_is(c->error, "ValidationException"));
	assert_null(c->next);
}

static void without_a_trace_capacity_is_not_requested(void **state)
{
	static const char *const replies[] = { "200 {}", NULL };
	struct canned c;

	canned_init(&c, replies);
	(void)get("a", "b");
	assert_true(slice_is(c.body, "{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"b\"}},"
				     "\"ConsistentRead\":true}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_item_is_got_by_its_key),
		TEST(keys_come_out_of_items),
		TEST(a_refused_get_is_a_problem),
		TEST(each_operator_finds_its_range),
		TEST(pages_follow_one_another),
		TEST(counting_brings_no_items),
		TEST(a_filter_leaves_rows_out),
		TEST(what_is_projected_away_stays_there_but_keys_come),
		TEST(an_index_is_asked_only_for_what_it_holds),
		TEST(many_keys_with_repetitions_come_in_order),
		TEST(unprocessed_keys_are_read_again),
		TEST(repeated_keys_are_read_once_and_unprocessed_ones_again),
		TEST(a_database_that_does_nothing_is_busy),
		TEST(replies_that_make_no_sense_are_internal),
		TEST(the_trace_has_each_request_and_its_cost),
		TEST(without_a_trace_capacity_is_not_requested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
