/* Writing through the database's requests: each kind alone and in a transaction, conditions, tokens.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"

#define THERE "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'1'},'x':{'S':'y'}}"

static struct dyn_refusal refusals[DYN_MOST_ACTIONS + 1];

static enum dyn_outcome write_one(struct dyn_write w)
{
	return dyn_write(r, &w, 1, SLICE(""), refusals);
}

/* ---- one action ---- */

static void a_put_replaces(void **state)
{
	put(THERE);
	put("{'PK':{'S':'a'},'SK':{'S':'b'},'z':{'S':'new'}}");
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'z':{'S':'new'}}");
}

static void an_update_sets_removes_and_adds(void **state)
{
	struct value_member set[] = { { SLICE("size"), s("reserved") },
				      { SLICE("gone"), VALUE_ABSENT },
				      { SLICE("l"), n(4) } };
	struct value_member add[] = { { SLICE("n"), n(-3) }, { SLICE("m"), n(2) } };
	struct slice remove[] = { SLICE("x") };

	put("{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'1'},'x':{'S':'y'},'gone':{'S':'soon'}}");
	assert_int_equal(write_one((struct dyn_write){ .kind = DYN_UPDATE,
						       .key = key("a", "b"),
						       .set = set,
						       .set_count = 3,
						       .add = add,
						       .add_count = 2,
						       .remove = remove,
						       .remove_count = 1,
						       .must_exist = true }),
			 DYN_DONE);
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'-2'},'m':{'N':'2'},"
				   "'size':{'S':'reserved'},'l':{'N':'4'}}");
}

static void each_clause_of_an_update_can_stand_alone(void **state)
{
	struct value_member gone = { SLICE("x"), VALUE_ABSENT }, add = { SLICE("n"), n(1) };
	struct slice remove = SLICE("n");

	put(THERE);
	assert_int_equal(write_one((struct dyn_write){
				 .kind = DYN_UPDATE, .key = key("a", "b"), .add = &add, .add_count = 1 }),
			 DYN_DONE);
	assert_int_equal(write_one((struct dyn_write){
				 .kind = DYN_UPDATE, .key = key("a", "b"), .set = &gone, .set_count = 1 }),
			 DYN_DONE);
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'2'}}");
	assert_int_equal(write_one((struct dyn_write){
				 .kind = DYN_UPDATE, .key = key("a", "b"), .remove = &remove, .remove_count = 1 }),
			 DYN_DONE);
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'}}");
}

static void a_delete_deletes(void **state)
{
	put(THERE);
	assert_int_equal(write_one((struct dyn_write){ .kind = DYN_DELETE, .key = key("a", "b"), .must_exist = true }),
			 DYN_DONE);
	assert_item(get("a", "b"), NULL);
}

static void a_check_alone_checks(void **state)
{
	struct dyn_write w = { .kind = DYN_CHECK, .key = key("a", "b"), .must_exist = true };

	assert_int_equal(write_one(w), DYN_REFUSED);
	assert_true(refusals[0].failed);
	assert_item(refusals[0].item, NULL);
	put(THERE);
	assert_int_equal(write_one(w), DYN_DONE);
}

static void an_update_that_changes_nothing_only_checks(void **state)
{
	struct dyn_write w[2] = { { .kind = DYN_UPDATE, .key = key("a", "b") },
				  { .kind = DYN_UPDATE, .key = key("a", "c"), .must_exist = true } };

	assert_int_equal(write_one(w[0]), DYN_DONE);
	assert_item(get("a", "b"), NULL);
	assert_int_equal(dyn_write(r, w, 2, SLICE(""), refusals), DYN_REFUSED);
	assert_false(refusals[0].failed);
	assert_true(refusals[1].failed);
}

/* ---- conditions ---- */

static void a_refused_action_returns_the_existing_item(void **state)
{
	struct value_member equal[] = { { SLICE("x"), s("z") } }, set[] = { { SLICE("x"), s("w") } };

	put(THERE);
	assert_int_equal(write_one((struct dyn_write){ .kind = DYN_PUT,
						       .item = item("{'PK':{'S':'a'},'SK':{'S':'b'}}"),
						       .must_not_exist = true }),
			 DYN_REFUSED);
	assert_item(refusals[0].item, THERE);
	assert_int_equal(write_one((struct dyn_write){ .kind = DYN_UPDATE,
						       .key = key("a", "b"),
						       .equal = equal,
						       .equal_count = 1,
						       .set = set,
						       .set_count = 1 }),
			 DYN_REFUSED);
	assert_item(refusals[0].item, THERE);
	assert_int_equal(write_one((struct dyn_write){
				 .kind = DYN_DELETE, .key = key("a", "b"), .equal = equal, .equal_count = 1 }),
			 DYN_REFUSED);
	assert_item(refusals[0].item, THERE);
	assert_int_equal(write_one((struct dyn_write){ .kind = DYN_DELETE, .key = key("a", "c"), .must_exist = true }),
			 DYN_REFUSED);
	assert_true(refusals[0].failed);
	assert_item(refusals[0].item, NULL);
	assert_item(get("a", "b"), THERE);
	assert_int_equal(r->problem.type, PROBLEM_NONE);
}

static void all_conditions_must_hold(void **state)
{
	struct value_member equal[] = { { SLICE("x"), s("y") }, { SLICE("missing"), VALUE_ABSENT } };
	const struct test *either = filter("n > 0 or n is absent");
	struct dyn_write w = { .kind = DYN_DELETE,
			       .key = key("a", "b"),
			       .must_exist = true,
			       .equal = equal,
			       .equal_count = 2,
			       .also = test_join(r->arena, TEST_AND, either, filter("x <> 'q' and n < 2")) };

	put(THERE);
	equal[1].name = SLICE("x");
	assert_int_equal(write_one(w), DYN_REFUSED);
	equal[1].name = SLICE("missing");
	w.also = test_join(r->arena, TEST_AND, either, filter("n < 1"));
	assert_int_equal(write_one(w), DYN_REFUSED);
	w.also = test_join(r->arena, TEST_AND, either, filter("n < 2"));
	assert_int_equal(write_one(w), DYN_DONE);
	assert_item(get("a", "b"), NULL);
}

static void many_equal_attributes_fit_a_condition(void **state)
{
	struct value_member equal[140];

	put(THERE);
	for (int i = 0; i < 140; i++)
		equal[i] = (struct value_member){ arena_printf(r->arena, "attribute_%d", i),
						  i % 2 ? s("x") : VALUE_ABSENT };
	assert_int_equal(write_one((struct dyn_write){
				 .kind = DYN_DELETE, .key = key("a", "b"), .equal = equal, .equal_count = 140 }),
			 DYN_REFUSED);
}

static void an_expired_item_counts_as_none(void **state)
{
	struct dyn_write w = { .kind = DYN_PUT,
			       .item = item("{'PK':{'S':'a'},'SK':{'S':'b'},'new':{'BOOL':true}}"),
			       .must_not_exist = true,
			       .or_expired = SLICE("expires_at") };
	struct value_member equal = { SLICE("x"), s("other") };

	put("{'PK':{'S':'a'},'SK':{'S':'b'},'expires_at':{'N':'1768473001'}}");
	assert_int_equal(write_one(w), DYN_REFUSED);
	put("{'PK':{'S':'a'},'SK':{'S':'b'},'expires_at':{'N':'1768473000'}}");
	w.equal = &equal;
	w.equal_count = 1;
	assert_int_equal(write_one(w), DYN_REFUSED); /* joined by AND */
	w.equal_count = 0;
	assert_int_equal(write_one(w), DYN_DONE);
	assert_int_equal(write_one(w), DYN_REFUSED); /* without an expiry it is there */
	assert_item(refusals[0].item, "{'PK':{'S':'a'},'SK':{'S':'b'},'new':{'BOOL':true}}");
}

/* ---- transactions ---- */

static void a_transaction_does_everything_or_names_the_refused_action(void **state)
{
	struct value_member add = { SLICE("n"), n(1) };
	struct dyn_write w[4] = {
		{ .kind = DYN_PUT, .item = item("{'PK':{'S':'new'},'SK':{'S':'1'}}"), .must_not_exist = true },
		{ .kind = DYN_UPDATE, .key = key("a", "b"), .add = &add, .add_count = 1, .must_exist = true },
		{ .kind = DYN_CHECK, .key = key("other", "1"), .must_exist = true },
		{ .kind = DYN_DELETE, .key = key("old", "1"), .must_exist = true },
	};

	put("{'PK':{'S':'new'},'SK':{'S':'1'},'was':{'S':'there'}}");
	put(THERE);
	put("{'PK':{'S':'old'},'SK':{'S':'1'}}");
	assert_int_equal(dyn_write(r, w, 4, SLICE(""), refusals), DYN_REFUSED);
	assert_true(refusals[0].failed);
	assert_item(refusals[0].item, "{'PK':{'S':'new'},'SK':{'S':'1'},'was':{'S':'there'}}");
	assert_false(refusals[1].failed);
	assert_item(refusals[1].item, NULL);
	assert_true(refusals[2].failed);
	assert_item(refusals[2].item, NULL);
	assert_false(refusals[3].failed);
	assert_item(get("a", "b"), THERE);
	w[0].must_not_exist = false;
	put("{'PK':{'S':'other'},'SK':{'S':'1'}}");
	assert_int_equal(dyn_write(r, w, 4, SLICE(""), refusals), DYN_DONE);
	assert_false(refusals[0].failed);
	assert_item(get("new", "1"), "{'PK':{'S':'new'},'SK':{'S':'1'}}");
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'2'},'x':{'S':'y'}}");
	assert_item(get("old", "1"), NULL);
}

static void a_token_makes_a_repetition_harmless(void **state)
{
	struct value_member add = { SLICE("n"), n(1) };
	struct dyn_write w = { .kind = DYN_UPDATE, .key = key("a", "b"), .add = &add, .add_count = 1 };

	assert_int_equal(dyn_write(r, &w, 1, SLICE("token-1"), refusals), DYN_DONE);
	assert_int_equal(dyn_write(r, &w, 1, SLICE("token-1"), refusals), DYN_DONE);
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'1'}}");
	add.value = n(2);
	assert_int_equal(dyn_write(r, &w, 1, SLICE("token-1"), refusals), DYN_MISMATCH);
	assert_int_equal(dyn_write(r, &w, 1, SLICE("token-2"), refusals), DYN_DONE);
	assert_item(get("a", "b"), "{'PK':{'S':'a'},'SK':{'S':'b'},'n':{'N':'3'}}");
}

static void a_hundred_actions_are_the_most(void **state)
{
	struct dyn_write w[DYN_MOST_ACTIONS + 1];

	for (int i = 0; i <= DYN_MOST_ACTIONS; i++) {
		const char *sk = arena_cstr(r->arena, arena_printf(r->arena, "%d", i));

		w[i] = (struct dyn_write){ .kind = DYN_DELETE, .key = key("a", sk) };
	}
	assert_int_equal(dyn_write(r, w, 0, SLICE(""), refusals), DYN_DONE);
	assert_int_equal(dyn_write(r, w, DYN_MOST_ACTIONS, SLICE(""), refusals), DYN_DONE);
	assert_int_equal(dyn_write(r, w, DYN_MOST_ACTIONS + 1, SLICE(""), refusals), DYN_FAILED);
	assert_problem(PROBLEM_TOO_LARGE, "this would change 101 items at once, and 100 is the most");
}

static void an_item_that_is_too_large_is_a_problem_alone_and_among_others(void **state)
{
	size_t size = 410 * 1024;
	char *large = memset(arena_alloc(r->arena, size), 'x', size);
	struct value_member set = { SLICE("large"), value_make_s(r->arena, slice_make(large, size)) };
	struct dyn_write w[2] = { { .kind = DYN_UPDATE, .key = key("a", "b"), .set = &set, .set_count = 1 },
				  { .kind = DYN_DELETE, .key = key("a", "c") } };

	for (size_t count = 1; count <= 2; count++) {
		assert_int_equal(dyn_write(r, w, count, SLICE(""), refusals), DYN_FAILED);
		assert_problem(PROBLEM_TOO_LARGE, "an item can hold at most 400 KB");
	}
}

static void a_value_no_index_takes_is_invalid_alone_and_among_others(void **state)
{
	struct value_member set = { SLICE("GSI1PK"), n(1) };
	struct dyn_write w[2] = { { .kind = DYN_UPDATE, .key = key("a", "b"), .set = &set, .set_count = 1 },
				  { .kind = DYN_DELETE, .key = key("a", "c") } };

	for (size_t count = 1; count <= 2; count++) {
		assert_int_equal(dyn_write(r, w, count, SLICE(""), refusals), DYN_FAILED);
		assert_int_equal(r->problem.type, PROBLEM_INVALID);
	}
}

static void what_other_databases_may_answer(void **state)
{
	/* clang-format off */
	static const struct {
		const char *reply;
		enum dyn_outcome outcome;
		enum problem_type problem;
	} cases[] = {
		{ "400 TransactionConflictException {}", DYN_CONFLICT, PROBLEM_NONE },
		{ "400 TransactionInProgressException {}", DYN_CONFLICT, PROBLEM_NONE },
		{ "400 ThrottlingException {}", DYN_CONFLICT, PROBLEM_NONE },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'TransactionConflict'},{'Code':'None'}]}",
		  DYN_CONFLICT, PROBLEM_NONE },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'ThrottlingError'},"
		  "{'Code':'ConditionalCheckFailed'}]}", DYN_REFUSED, PROBLEM_NONE },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'TransactionConflict'},"
		  "{'Code':'ItemCollectionSizeLimitExceeded','Message':'m'}]}", DYN_FAILED, PROBLEM_TOO_LARGE },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'None'},"
		  "{'Code':'ValidationError','Message':'m'}]}", DYN_FAILED, PROBLEM_INVALID },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'None'}]}", DYN_FAILED, PROBLEM_INTERNAL },
		{ "400 TransactionCanceledException {}", DYN_FAILED, PROBLEM_INTERNAL },
		{ "400 TransactionCanceledException {'CancellationReasons':[{'Code':'None'},"
		  "{'Code':'ConditionalCheckFailed','Item':{'a':1}}]}", DYN_FAILED, PROBLEM_INTERNAL },
		{ "400 IdempotentParameterMismatchException {}", DYN_MISMATCH, PROBLEM_NONE },
		{ "400 InternalServerError {}", DYN_FAILED, PROBLEM_INTERNAL },
	};
	/* clang-format on */
	struct dyn_write w[2] = { { .kind = DYN_DELETE, .key = key("a", "b") },
				  { .kind = DYN_DELETE, .key = key("a", "c") } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *const replies[] = { cases[i].reply, NULL };
		struct canned c;

		canned_init(&c, replies);
		r->problem = (struct problem){ 0 };
		if (dyn_write(r, w, 2, SLICE(""), refusals) != cases[i].outcome || r->problem.type != cases[i].problem)
			fail_msg("%s: %s", cases[i].reply, problem_name(r->problem.type));
		assert_string_equal(c.operation, "TransactWriteItems");
		assert_true(refusals[1].failed == (cases[i].outcome == DYN_REFUSED));
	}
}

static void the_trace_counts_a_transaction_as_writes(void **state)
{
	struct dyn_write w[2] = { { .kind = DYN_PUT, .item = item(THERE) },
				  { .kind = DYN_DELETE, .key = key("a", "c") } };
	struct trace trace = { 0 };

	r->trace = &trace;
	assert_int_equal(dyn_write(r, w, 2, SLICE("token"), refusals), DYN_DONE);
	assert_string_equal(trace.first->operation, "TransactWriteItems");
	assert_true(trace.first->write_units == 4 && trace.first->read_units == 0);
	assert_has(trace.first->request, "\"ClientRequestToken\":\"token\"");
	assert_lacks(trace.first->request, "ReturnValuesOnConditionCheckFailure");
	assert_null(trace.first->next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_put_replaces),
		TEST(an_update_sets_removes_and_adds),
		TEST(each_clause_of_an_update_can_stand_alone),
		TEST(a_delete_deletes),
		TEST(a_check_alone_checks),
		TEST(an_update_that_changes_nothing_only_checks),
		TEST(a_refused_action_returns_the_existing_item),
		TEST(all_conditions_must_hold),
		TEST(many_equal_attributes_fit_a_condition),
		TEST(an_expired_item_counts_as_none),
		TEST(a_transaction_does_everything_or_names_the_refused_action),
		TEST(a_token_makes_a_repetition_harmless),
		TEST(a_hundred_actions_are_the_most),
		TEST(an_item_that_is_too_large_is_a_problem_alone_and_among_others),
		TEST(a_value_no_index_takes_is_invalid_alone_and_among_others),
		TEST(what_other_databases_may_answer),
		TEST(the_trace_counts_a_transaction_as_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
