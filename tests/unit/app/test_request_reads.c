/* Reading with requests, and with the documents that they are spelt as: the same answers, in the same words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"
#include "request/document.h"

/* ---- a backend that counts how it was asked, and may answer by documents only ---- */

static struct {
	struct backend real;
	int documents, requests;
	bool by_document;
} asked;

static void count_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		       struct backend_reply *reply)
{
	asked.documents++;
	asked.real.call(b, a, operation, body, reply);
}

static void count_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	asked.requests++;
	if (asked.by_document)
		request_by_document(b, a, q, reply);
	else
		asked.real.execute(b, a, q, reply);
}

static int setup_counting(void **state)
{
	setup(state);
	memset(&asked, 0, sizeof(asked));
	asked.real = *fixture.backend;
	for (int i = 1; i <= 30; i++) {
		const char *kind = i % 2 ? "odd" : "even";
		struct slice text =
			arena_printf(r->arena,
				     "{'PK':{'S':'p%d'},'SK':{'S':'%02d'},'kind':{'S':'%s'},'score':{'N':'%d'},"
				     "'GSI1PK':{'S':'%s'},'GSI1SK':{'S':'%02d'},'odd \\\"name':{'L':[{'BOOL':true}]}}",
				     i % 3, i, kind, i, kind, 30 - i);

		put(arena_cstr(r->arena, text));
	}
	*fixture.backend = (struct backend){ .call = count_call, .execute = count_execute, .free = asked.real.free };
	return 0;
}

#define COUNTED(name) cmocka_unit_test_setup_teardown(name, setup_counting, teardown)

/* ---- items ---- */

static void an_item_comes_without_a_document(void **state)
{
	assert_true(value_equal(value_get(get("p1", "04"), SLICE("score")), n(4)));
	assert_item(get("p1", "nothing"), NULL);
	assert_int_equal(asked.requests, 2);
	assert_int_equal(asked.documents, 0);
}

static void a_trace_shows_the_documents_of_what_is_asked_without_any(void **state)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, s("p1"), VALUE_ABSENT };
	struct value keys[1] = { key("p1", "04") }, items[1];
	struct trace trace = { 0 };
	struct dyn_page page;

	r->trace = &trace;
	(void)get("p1", "04");
	assert_true(dyn_query(r, &(struct dyn_query){ .where = &where, .where_count = 1 }, &page));
	assert_true(dyn_batch_get(r, keys, 1, false, items));
	assert_int_equal(asked.requests, 3);
	assert_int_equal(asked.documents, 0);
	assert_true(trace.first->read_units == 1);
	assert_has(trace.first->request, "\"Key\":{\"PK\":{\"S\":\"p1\"},\"SK\":{\"S\":\"04\"}}");
	assert_has(trace.first->next->request, "\"KeyConditionExpression\":\"#n0 = :v0\"");
	assert_has(trace.first->next->next->request, "\"RequestItems\":{\"Test\":{\"Keys\":[");
}

static void keys_in_any_number_come_from_one_place_each(void **state)
{
	struct value keys[230], items[230];

	for (int i = 0; i < 230; i++)
		keys[i] = i % 7 ? key(arena_cstr(r->arena, arena_printf(r->arena, "p%d", i % 3)),
				      arena_cstr(r->arena, arena_printf(r->arena, "%02d", i)))
				: VALUE_ABSENT;
	assert_true(dyn_batch_get(r, keys, 230, true, items));
	for (int i = 0; i < 230; i++)
		assert_int_equal(value_present(items[i]), i % 7 && i <= 30);
	assert_int_equal(asked.requests, 2); /* 196 distinct ones */
	assert_int_equal(asked.documents, 0);
}

/* ---- queries: each in both ways ---- */

static void assert_same_page(const struct dyn_query *q)
{
	struct dyn_page x, y;
	int before = asked.documents;

	assert_true(dyn_query(r, q, &x));
	assert_int_equal(asked.documents, before);
	asked.by_document = true;
	assert_true(dyn_query(r, q, &y));
	asked.by_document = false;
	assert_int_equal(asked.documents, before + 1);
	assert_int_equal(x.count, y.count);
	for (size_t i = 0; i < x.count && !q->count_only; i++)
		assert_true(value_equal(x.items[i], y.items[i]));
	assert_int_equal(value_present(x.last), value_present(y.last));
	assert_true(!value_present(x.last) || value_equal(x.last, y.last));
}

/* All its pages, in both directions. */
static void assert_same_pages(struct dyn_query q)
{
	struct dyn_page page;

	for (int descending = 0; descending < 2; descending++) {
		q.descending = descending;
		q.start = VALUE_ABSENT;
		do {
			assert_same_page(&q);
			assert_true(dyn_query(r, &q, &page));
			q.start = page.last;
		} while (value_present(page.last));
	}
}

static void every_query_has_the_result_of_its_document(void **state)
{
	static const enum where_op ops[] = { WHERE_EQ, WHERE_LT,     WHERE_LE,     WHERE_GT,
					     WHERE_GE, WHERE_BEGINS, WHERE_BETWEEN };
	static const char *const filters[] = { NULL, "score > 10", "kind = 'odd' and score in (3, 9, 21)",
					       "nothing is present" };
	struct slice without[] = { SLICE("kind"), SLICE("PK") };
	struct slice all[] = { SLICE("kind"), SLICE("score"), SLICE("PK"), SLICE("score"), SLICE("gone") };

	for (size_t op = 0; op <= COUNT(ops); op++)
		for (size_t f = 0; f < COUNT(filters); f++)
			for (int i = 0; i < 8; i++) {
				bool index = i & 1;
				enum where_op with = op < COUNT(ops) ? ops[op] : WHERE_EQ;
				struct dyn_condition where[] = {
					{ SLICE("PK"), WHERE_EQ, s("p1"), VALUE_ABSENT },
					{ SLICE("SK"), with, s(with == WHERE_BEGINS ? "1" : "13"), s("21") },
				};
				struct dyn_query q = { .index = index ? SLICE("GSI1") : SLICE(""),
						       .where = where,
						       .where_count = op < COUNT(ops) ? 2 : 1,
						       .limit = i & 2 ? 2 : 0,
						       .consistent = !index && f };

				if (index) {
					where[0].attribute = SLICE("GSI1PK");
					where[0].value = s("odd");
					where[1].attribute = SLICE("GSI1SK");
				}
				if (filters[f])
					q.filter = filter(filters[f]);
				if (i & 4) {
					q.without = without;
					q.without_count = COUNT(without);
					q.all = all;
					q.all_count = COUNT(all);
				}
				assert_same_pages(q);
				q.count_only = true;
				assert_same_pages(q);
			}
}

static void refusals_have_the_same_message(void **state)
{
	struct dyn_condition right = { SLICE("PK"), WHERE_EQ, s("p1"), VALUE_ABSENT };
	struct dyn_condition number = { SLICE("PK"), WHERE_EQ, n(1), VALUE_ABSENT };
	struct dyn_condition empty = { SLICE("PK"), WHERE_EQ, s(""), VALUE_ABSENT };
	struct dyn_condition range = { SLICE("PK"), WHERE_GT, s("p1"), VALUE_ABSENT };
	struct dyn_condition other = { SLICE("kind"), WHERE_EQ, s("odd"), VALUE_ABSENT };
	struct dyn_condition twice[] = { right, right };
	struct dyn_condition beside[] = { right, other };
	struct dyn_condition of_index = { SLICE("GSI1PK"), WHERE_EQ, s("odd"), VALUE_ABSENT };
	const struct dyn_query refused[] = {
		{ .where = &number, .where_count = 1 },
		{ .where = &empty, .where_count = 1 },
		{ .where = &range, .where_count = 1 },
		{ .where = &other, .where_count = 1 },
		{ .where = twice, .where_count = 2 },
		{ .where = beside, .where_count = 2 },
		{ .where = &right },
		{ .where = &right, .where_count = 1, .index = SLICE("GSI9") },
		{ .where = &of_index, .where_count = 1, .index = SLICE("GSI1"), .consistent = true },
		{ .where = &right, .where_count = 1, .filter = filter("SK > '05'") },
		{ .where = &right, .where_count = 1, .start = item("{'PK':{'S':'p1'}}") },
		{ .where = &right, .where_count = 1, .start = item("{'PK':{'S':'p2'},'SK':{'S':'05'}}") },
		{ .where = &right, .where_count = 1, .start = item("{'PK':{'S':'p1'},'SK':{'N':'5'}}") },
		{ .where = &right, .where_count = 1, .start = item("{'PK':{'S':'p1'},'SK':{'S':'5'},'kind':{'S':'x'}}") },
		{ .where = &of_index, .where_count = 1, .index = SLICE("GSI1"), .start = key("p1", "05") },
	};
	struct value bad = item("{'PK':{'S':'p1'}}");
	struct request gets[2] = {
		{ .kind = REQUEST_GET, .get = { .table = SLICE("Test"), .key = bad } },
		{ .kind = REQUEST_BATCH_GET, .batch = { .table = SLICE("Test"), .keys = &bad, .count = 1 } },
	};
	struct dyn_page page;

	for (size_t i = 0; i < COUNT(refused); i++)
		for (int by_document = 0; by_document < 2; by_document++) {
			asked.by_document = by_document;
			assert_false(dyn_query(r, &refused[i], &page));
			/* A missing index is the table's fault, not the request's. */
			assert_int_equal(r->problem.type,
					 slice_is(refused[i].index, "GSI9") ? PROBLEM_INTERNAL : PROBLEM_INVALID);
			r->problem = (struct problem){ 0 };
		}
	for (size_t i = 0; i < COUNT(gets); i++) {
		struct reply x, y;

		asked.by_document = false;
		assert_false(dyn_execute(r, &gets[i], &x));
		asked.by_document = true;
		assert_false(dyn_execute(r, &gets[i], &y));
		assert_int_equal(x.status, y.status);
		assert_true(slice_equal(x.error, y.error) && slice_equal(x.message, y.message));
		assert_true(slice_is(x.message, "The provided key element does not match the schema"));
	}
}

static void a_table_that_is_not_there_is_an_error_of_the_database(void **state)
{
	struct design d = *r->design;
	struct value v;

	d.table = SLICE("Nowhere");
	r->design = &d;
	assert_false(dyn_get(r, key("p1", "04"), true, &v));
	assert_int_equal(asked.documents, 0);
	assert_int_equal(r->problem.type, PROBLEM_INTERNAL);
}

static void reads_are_counted_as_their_operations(void **state)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, s("p1"), VALUE_ABSENT };
	struct value keys[2] = { key("p1", "04"), key("p1", "07") }, items[2];
	struct dyn_page page;
	struct buf b;

	(void)get("p1", "04");
	assert_true(dyn_query(r, &(struct dyn_query){ .where = &where, .where_count = 1 }, &page));
	assert_true(dyn_batch_get(r, keys, 2, false, items));
	buf_init(&b, r->arena);
	api_metrics(fixture.api, &b);
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"GetItem\",outcome=\"ok\"} 1\n");
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"Query\",outcome=\"ok\"} 1\n");
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"BatchGetItem\",outcome=\"ok\"} 1\n");
}

/* ---- changes ---- */

static struct slice records; /* what GetRecords answers with */

static void answer_records(struct backend *b, struct arena *a, const char *operation, struct slice body,
			   struct backend_reply *reply)
{
	(void)b;
	(void)operation;
	(void)body;
	*reply = (struct backend_reply){ .status = 200, .body = json_parse(a, records) };
	assert_non_null(reply->body);
}

static struct reply read_changes(struct slice document)
{
	struct backend b = { .call = answer_records };
	struct request q = { .kind = REQUEST_RECORDS, .records = { .iterator = SLICE("i") } };
	struct reply reply;

	records = document;
	request_by_document(&b, r->arena, &q, &reply);
	return reply;
}

static struct reply read_insert(const char *m)
{
	return read_changes(
		arena_printf(r->arena,
			     "{\"Records\":[{\"eventName\":\"INSERT\",\"dynamodb\":{\"SequenceNumber\":\"1\","
			     "\"Keys\":{\"PK\":{\"S\":\"a\"}},\"NewImage\":{\"PK\":{\"S\":\"a\"},\"m\":%s}}}]}",
			     m));
}

static struct reply_record read_removal(const char *event, const char *more)
{
	struct reply reply =
		read_changes(arena_printf(r->arena,
					  "{\"Records\":[{\"eventName\":\"%s\",\"dynamodb\":{\"SequenceNumber\":\"1\","
					  "\"Keys\":{\"PK\":{\"S\":\"a\"}},\"OldImage\":{\"PK\":{\"S\":\"a\"}}}%s}]}",
					  event, more));

	assert_int_equal(reply.status, 200);
	assert_int_equal(reply.count, 1);
	assert_int_equal(reply.records[0].event, EVENT_REMOVE);
	return reply.records[0];
}

static void an_empty_map_is_read_though_dynamodb_local_leaves_out_its_type(void **state)
{
	static const char *const pairs[][2] = {
		{ "{\"M\":{}}", "{}" },
		{ "{\"M\":{\"x\":{\"M\":{}},\"y\":{\"S\":\"\"}}}", "{\"M\":{\"x\":{},\"y\":{\"S\":\"\"}}}" },
		{ "{\"L\":[{\"M\":{}},{\"L\":[]}]}", "{\"L\":[{},{\"L\":[]}]}" },
	};
	struct reply is, should;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		should = read_insert(pairs[i][0]);
		is = read_insert(pairs[i][1]);
		assert_int_equal(is.status, 200);
		assert_int_equal(is.count, 1);
		assert_true(value_equal(is.records[0].new_image, should.records[0].new_image));
	}
	is = read_insert("{\"X\":1}");
	assert_int_equal(is.status, 500);
	assert_true(slice_is(is.error, "UnreadableReply"));
}

static void a_removal_by_time_to_live_is_known_though_dynamodb_local_has_another_name_for_it(void **state)
{
	(void)state;
	assert_false(read_removal("REMOVE", "").by_ttl);
	assert_true(read_removal("REMOVE",
				 ",\"userIdentity\":{\"Type\":\"Service\",\"PrincipalId\":\"dynamodb.amazonaws.com\"}")
			    .by_ttl);
	assert_true(read_removal("UNKNOWN_TO_SDK_VERSION", "").by_ttl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTED(an_item_comes_without_a_document),
		COUNTED(a_trace_shows_the_documents_of_what_is_asked_without_any),
		COUNTED(keys_in_any_number_come_from_one_place_each),
		COUNTED(every_query_has_the_result_of_its_document),
		COUNTED(refusals_have_the_same_message),
		COUNTED(a_table_that_is_not_there_is_an_error_of_the_database),
		COUNTED(reads_are_counted_as_their_operations),
		cmocka_unit_test_setup_teardown(
			a_removal_by_time_to_live_is_known_though_dynamodb_local_has_another_name_for_it, setup,
			teardown),
		cmocka_unit_test_setup_teardown(an_empty_map_is_read_though_dynamodb_local_leaves_out_its_type, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
