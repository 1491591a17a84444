/* Writing with requests, and with the documents that they are spelt as: the same outcomes, in the same words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"
#include "request/document.h"

/* ---- a backend that counts how it was asked, and may answer by documents only ---- */

static struct {
	struct backend real;
	int documents, writes;
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
	asked.writes += q->kind == REQUEST_WRITE;
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
	fixture.backend->call = count_call;
	fixture.backend->execute = count_execute;
	return 0;
}

#define COUNTED(name) cmocka_unit_test_setup_teardown(name, setup_counting, teardown)

static enum dyn_outcome write_one(const struct dyn_write *w, struct dyn_refusal *refusal)
{
	return dyn_write(r, w, 1, SLICE(""), refusal);
}

/* ---- each in both ways ---- */

static const char before[] =
	"{'PK':{'S':'p'},'SK':{'S':'s'},'kind':{'S':'x'},'score':{'N':'5'},'expires_at':{'N':'100'},"
	"'tags':{'SS':['a','b']},'list':{'L':[{'M':{'deep':{'BOOL':true}}},{'NULL':true}]}}";

static void set_up_item(bool there)
{
	struct dyn_write w = { .kind = DYN_DELETE, .key = key("p", "s") };
	struct dyn_refusal refusal;

	if (there)
		w = (struct dyn_write){ .kind = DYN_PUT, .item = item(before) };
	assert_int_equal(write_one(&w, &refusal), DYN_DONE);
}

static void assert_same_refusals(const struct dyn_refusal *x, const struct dyn_refusal *y, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(x[i].failed, y[i].failed);
		assert_int_equal(value_present(x[i].item), value_present(y[i].item));
		assert_true(!value_present(x[i].item) || value_equal(x[i].item, y[i].item));
	}
}

/* Alone, and in a transaction with another one. */
static void assert_same(const struct dyn_write *w, bool there)
{
	struct dyn_write both[2] = { *w,
				     { .kind = DYN_PUT, .item = item("{'PK':{'S':'q'},'SK':{'S':'s'},'a':{'S':''}}") } };
	struct dyn_refusal x[2], y[2];

	for (size_t count = 1; count <= 2; count++) {
		enum dyn_outcome directly, with_document;
		struct value after, other;
		int documents, writes;

		set_up_item(there);
		documents = asked.documents;
		writes = asked.writes;
		directly = dyn_write(r, both, count, SLICE(""), x);
		assert_int_equal(asked.writes, writes + 1);
		assert_int_equal(asked.documents, documents);
		after = get("p", "s");
		set_up_item(there);
		asked.by_document = true;
		with_document = dyn_write(r, both, count, SLICE(""), y);
		asked.by_document = false;
		assert_int_equal(asked.documents, documents + 1);
		other = get("p", "s");
		assert_int_equal(directly, with_document);
		assert_same_refusals(x, y, count);
		assert_int_equal(value_present(after), value_present(other));
		assert_true(!value_present(after) || value_equal(after, other));
	}
}

static void every_write_has_the_effect_of_its_document(void **state)
{
	struct value_member set[] = { { SLICE("score"), n(7) },
				      { SLICE("kind"), VALUE_ABSENT },
				      { SLICE("odd \"name"), s("é\n") } };
	struct value_member add[] = { { SLICE("score2"), n(-3) } };
	struct value_member right[] = { { SLICE("kind"), s("x") }, { SLICE("none"), VALUE_ABSENT } };
	struct value_member wrong[] = { { SLICE("kind"), s("y") } };
	struct slice gone[] = { SLICE("list"), SLICE("nothing") };
	const struct test *also =
		test_join(r->arena, TEST_AND, filter("score > 3 and kind in ('x', 'y')"), filter("kind <> 'z'"));
	/* clang-format off */
	const struct dyn_write writes[] = {
		{ .kind = DYN_PUT, .item = item(before) },
		{ .kind = DYN_PUT, .item = item(before), .must_not_exist = true },
		{ .kind = DYN_PUT, .item = item(before), .must_not_exist = true, .or_expired = SLICE("expires_at") },
		{ .kind = DYN_PUT, .item = item(before), .must_exist = true, .equal = right, .equal_count = 2 },
		{ .kind = DYN_DELETE, .key = key("p", "s") },
		{ .kind = DYN_DELETE, .key = key("p", "s"), .equal = wrong, .equal_count = 1 },
		{ .kind = DYN_DELETE, .key = key("p", "s"), .also = also },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .set = set, .set_count = 3, .add = add, .add_count = 1 },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .remove = gone, .remove_count = 2, .must_exist = true,
		  .also = also },
	};
	/* clang-format on */

	for (size_t i = 0; i < COUNT(writes); i++) {
		assert_same(&writes[i], true);
		assert_same(&writes[i], false);
	}
}

static void refusals_have_the_same_message(void **state)
{
	struct value_member nameless = { SLICE(""), n(1) };
	struct value map = value_make_map(r->arena, &nameless, 1), deep = n(1);
	struct value_member of_key[] = { { SLICE("SK"), s("t") } }, of_index[] = { { SLICE("GSI1PK"), n(1) } };
	struct value_member bad[] = { { SLICE("tags"), map } }, text[] = { { SLICE("kind"), n(1) } };
	struct value_member whole[] = { { SLICE("PK"), s("p") }, { SLICE("SK"), s("s") }, { SLICE("x"), map } };
	/* clang-format off */
	const struct dyn_write writes[] = {
		{ .kind = DYN_PUT, .item = item("{'PK':{'S':'p'}}") },
		{ .kind = DYN_PUT, .item = item("{'PK':{'S':''},'SK':{'S':'s'}}") },
		{ .kind = DYN_PUT, .item = item("{'PK':{'S':'p'},'SK':{'S':'s'},'GSI1PK':{'N':'1'}}") },
		{ .kind = DYN_PUT, .item = value_make_map(r->arena, whole, 3) },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .set = of_key, .set_count = 1 },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .set = of_index, .set_count = 1 },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .set = bad, .set_count = 1 },
		{ .kind = DYN_UPDATE, .key = key("p", "s"), .add = text, .add_count = 1 }, /* of an S: known only by the writer */
	};
	/* clang-format on */
	struct dyn_refusal refusal;
	struct dyn_write w;

	set_up_item(true);
	for (size_t i = 0; i < COUNT(writes); i++) {
		for (int by_document = 0; by_document < 2; by_document++) {
			asked.by_document = by_document;
			assert_int_equal(write_one(&writes[i], &refusal), DYN_FAILED);
			assert_int_equal(r->problem.type, PROBLEM_INVALID);
			r->problem = (struct problem){ 0 };
		}
	}
	for (int i = 0; i < 40; i++)
		deep = value_make_list(r->arena, &deep, 1);
	whole[2].value = deep;
	w = (struct dyn_write){ .kind = DYN_PUT, .item = value_make_map(r->arena, whole, 3) };
	assert_int_equal(write_one(&w, &refusal), DYN_FAILED);
	assert_item(get("p", "s"), before);
}

/* Reads the reason in both ways. */
static void assert_same_words(const struct request *q, const char *words)
{
	struct reply x, y;

	asked.by_document = false;
	assert_false(dyn_execute(r, q, &x));
	asked.by_document = true;
	assert_false(dyn_execute(r, q, &y));
	assert_int_equal(x.status, y.status);
	assert_true(slice_equal(x.error, y.error));
	if (!slice_equal(x.message, y.message) || !slice_is(x.message, words))
		fail_msg("%.*s; %.*s", SLICE_ARG(x.message), SLICE_ARG(y.message));
	assert_int_equal(!x.reasons, !y.reasons);
	for (size_t i = 0; x.reasons && i < q->write.count; i++) {
		assert_int_equal(x.reasons[i].error.code, y.reasons[i].error.code);
		assert_true(slice_equal(x.reasons[i].error.message, y.reasons[i].error.message));
		assert_int_equal(value_present(x.reasons[i].item), value_present(y.reasons[i].item));
	}
}

static void both_ways_have_one_set_of_words(void **state)
{
	const struct condition *there;
	struct error e = { 0 };
	struct request_action actions[2] = {
		{ .kind = WRITE_DELETE, .table = SLICE("Test"), .key = key("p", "s"), .return_old_on_failure = true },
		{ .kind = WRITE_PUT, .table = SLICE("Test"), .item = item("{'PK':{'S':'q'},'SK':{'S':'s'}}") },
	};
	struct request q = { .kind = REQUEST_WRITE, .write = { .actions = actions, .count = 1 } };

	set_up_item(true);
	assert_true(condition_of(r->arena, CONDITION_EXPRESSION,
				 test_attribute(r->arena, TEST_EXISTS, SLICE("nothing"), VALUE_ABSENT), &there, &e));
	actions[0].condition = there;
	assert_same_words(&q, "The conditional request failed");
	q.write.count = 2;
	assert_same_words(
		&q,
		"Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed, None]");
	actions[1].item = item("{'PK':{'S':'q'},'SK':{'S':'s'},'GSI1PK':{'N':'1'}}");
	assert_same_words(
		&q,
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]");
	actions[1].table = SLICE("Nowhere");
	assert_same_words(&q, "Requested resource not found");
	actions[1] = actions[0];
	assert_same_words(&q, "Transaction request cannot include multiple operations on one item");
}

/* A transaction is the same to the database whichever way it comes. */
static void a_token_is_known_in_both_ways(void **state)
{
	struct dyn_write w = { .kind = DYN_PUT, .item = item(before) },
			 other = { .kind = DYN_DELETE, .key = key("p", "s") };
	struct dyn_refusal refusal;

	assert_int_equal(dyn_write(r, &w, 1, SLICE("token"), &refusal), DYN_DONE);
	assert_int_equal(write_one(&other, &refusal), DYN_DONE);
	assert_int_equal(asked.documents, 0);
	asked.by_document = true;
	assert_int_equal(dyn_write(r, &w, 1, SLICE("token"), &refusal), DYN_DONE);
	assert_item(get("p", "s"), NULL); /* it was a repetition */
	asked.by_document = false;
	assert_int_equal(dyn_write(r, &other, 1, SLICE("token"), &refusal), DYN_MISMATCH);
}

static void a_write_that_was_started_is_waited_for(void **state)
{
	struct dyn_write w = { .kind = DYN_PUT, .item = item(before), .must_not_exist = true };
	struct dyn_started *first = dyn_write_start(r, &w, 1), *second = dyn_write_start(r, &w, 1);

	assert_non_null(first);
	assert_non_null(second);
	assert_true(dyn_write_end(first));
	assert_false(dyn_write_end(second));
	assert_item(get("p", "s"), before);
	w.item = item("{'PK':{'S':'p'}}");
	assert_null(dyn_write_start(r, &w, 1));
}

static void writes_are_counted_as_their_operations(void **state)
{
	struct dyn_write w[] = { { .kind = DYN_PUT, .item = item(before), .must_not_exist = true },
				 { .kind = DYN_DELETE, .key = key("q", "s") } };
	struct dyn_refusal refusals[2];
	struct buf b;

	assert_int_equal(write_one(&w[0], refusals), DYN_DONE);
	assert_int_equal(write_one(&w[0], refusals), DYN_REFUSED);
	assert_int_equal(write_one(&w[1], refusals), DYN_DONE);
	assert_int_equal(dyn_write(r, w, 2, SLICE(""), refusals), DYN_REFUSED);
	buf_init(&b, r->arena);
	api_metrics(fixture.api, &b);
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"PutItem\",outcome=\"ok\"} 1\n");
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"PutItem\",outcome=\"client_error\"} 1\n");
	assert_has(buf_slice(&b), "thorpe_requests_total{operation=\"DeleteItem\",outcome=\"ok\"} 1\n");
	assert_has(buf_slice(&b),
		   "thorpe_requests_total{operation=\"TransactWriteItems\",outcome=\"client_error\"} 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COUNTED(every_write_has_the_effect_of_its_document),
		COUNTED(refusals_have_the_same_message),
		COUNTED(both_ways_have_one_set_of_words),
		COUNTED(a_token_is_known_in_both_ways),
		COUNTED(a_write_that_was_started_is_waited_for),
		COUNTED(writes_are_counted_as_their_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
